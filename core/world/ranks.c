/* SPDX-License-Identifier: Apache-2.0 */
/** @file ranks.c
 *  @brief Process of each rank, its rank in the communicator, and participants of collective calls: the base of all
 *  other parts of the world. */
#include "core/world/world_impl.h"

gab_status gab_array_reserve(void **array, size_t *capacity, size_t count, size_t element_bytes)
{
  if (count <= *capacity) return GAB_OK;
  size_t more = *capacity ? *capacity : 4;
  while (more < count) more *= 2;
  GAB_TRY(gab_realloc(more * element_bytes, GAB_MEMORY_OTHER, array));
  *capacity = more;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ ranks in the communicator */

int gab_world_comm_rank(const gab_world *world, gab_rank rank)
{
  const bool is_spare = rank >= world->members.ranks;
  return gab_members_index(&world->processes,
                           is_spare ? (gab_process)rank : gab_members_process(&world->members, rank));
}

gab_process gab_world_process_of_comm_rank(const gab_world *world, int comm_rank)
{
  return gab_members_rank(&world->processes, comm_rank);
}

const gab_members *gab_world_living_processes(const gab_world *world) { return &world->processes; }

static int32_t spare_count(const gab_world *world)
{
  return gab_members_count(&world->processes) - gab_members_count(&world->members);
}

bool gab_world_has_benches(const gab_world *world)
{
  return world->processes.ranks != world->members.ranks || world->members.return_count > 0;
}

gab_process gab_world_spare(const gab_world *world, int32_t index)
{
  for (gab_process process = world->members.ranks; process < world->processes.ranks; process++)
    if (gab_members_has(&world->processes, process) &&
        gab_members_rank_of_process(&world->members, process) == GAB_NO_RANK && index-- == 0)
      return process;
  return GAB_NO_PROCESS;
}

/* ------------------------------------------------------------------------------------ who takes part */

int32_t gab_world_participants(const gab_world *world)
{
  return gab_members_count(&world->members) + (world->resting ? 0 : spare_count(world));
}

int32_t gab_world_my_place(const gab_world *world)
{
  if (!gab_world_is_spare(world)) return gab_members_index(&world->members, world->rank);
  if (world->resting) return -1;
  int32_t index = 0;
  while (gab_world_spare(world, index) != world->process) index++;
  return gab_members_count(&world->members) + index;
}

gab_rank gab_world_participant(const gab_world *world, int32_t place)
{
  const int32_t members = gab_members_count(&world->members);
  return place < members ? gab_members_rank(&world->members, place)
                         : (gab_rank)gab_world_spare(world, place - members);
}

/* The lowest spare at most `farthest` away from the dead process. */
static gab_process spare_near(const gab_world *world, gab_rank rank, int farthest)
{
  const gab_process dead = gab_members_last_process(&world->members, rank);
  if (!world->distance) return gab_world_spare(world, 0);
  for (int32_t i = 0; i < spare_count(world); i++) {
    const gab_process process = gab_world_spare(world, i);
    if (world->distance(world->distance_user, dead, process) <= farthest) return process;
  }
  return GAB_NO_PROCESS;
}

static gab_status call_within(gab_world *world, int farthest)
{
  for (int32_t i = 0; i < world->members.gone_count && spare_count(world) > 0;) {
    const gab_rank rank = world->members.gone[i];
    const gab_process process =
        gab_members_has(&world->whole, rank) ? spare_near(world, rank, farthest) : GAB_NO_PROCESS;
    if (process == GAB_NO_PROCESS) {
      i++;
      continue;
    }
    GAB_TRY(gab_members_return(&world->members, rank, process)); /* removes the rank from that list */
    if (process == world->process) world->rank = rank;
  }
  return GAB_OK;
}

gab_status gab_world_call_spares(gab_world *world)
{
  for (int farthest = world->distance ? 0 : GAB_FARTHEST; farthest <= GAB_FARTHEST; farthest++)
    GAB_TRY(call_within(world, farthest));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ facts */

gab_rank gab_world_rank(const gab_world *world) { return world->rank; }
gab_process gab_world_process(const gab_world *world) { return world->process; }
gab_process gab_world_processes(const gab_world *world) { return world->processes.ranks; }
gab_process gab_world_first_processes(const gab_world *world) { return world->first_processes; }
const gab_members *gab_world_members(const gab_world *world) { return &world->members; }
bool gab_world_is_spare(const gab_world *world) { return world->rank >= world->members.ranks; }
int32_t gab_world_spares(const gab_world *world) { return spare_count(world); }
int32_t gab_world_spares_per_node(const gab_world *world) { return world->spares_per_node; }

gab_incarnation gab_world_incarnation(const gab_world *world, gab_rank rank)
{
  const gab_incarnation known = gab_members_incarnation(&world->members, rank);
  return world->has_claim && rank == world->claim.rank ? known + world->claim.taken : known;
}

gab_epoch gab_world_epoch(const gab_world *world) { return world->epoch; }
gab_rank gab_world_root(const gab_world *world) { return gab_members_rank(&world->members, 0); }
bool gab_world_is_root(const gab_world *world) { return world->rank == gab_world_root(world); }
void gab_world_set_step(gab_world *world, gab_step step) { world->step = step; }
gab_step gab_world_step(const gab_world *world) { return world->step; }

void gab_world_enter(gab_world *world, gab_fault_point point)
{
  world->point = point;
  if (world->hook) world->hook(world->hook_user, world, point);
}

gab_fault_point gab_world_fault_point(const gab_world *world) { return world->point; }

void gab_world_set_fault_point_hook(gab_world *world, gab_fault_point_hook hook, void *user)
{
  world->hook = hook;
  world->hook_user = user;
}

void gab_world_set_policy(gab_world *world, gab_policy policy) { world->policy = policy; }
gab_policy gab_world_get_policy(const gab_world *world) { return world->policy; }
void gab_world_set_replacement(gab_world *world, gab_replacement replacement)
{
  world->replacement = replacement;
}

void gab_world_set_distance(gab_world *world, gab_distance_fn distance, const void *user)
{
  world->distance = distance;
  world->distance_user = user;
}

gab_repair_times gab_world_repair_times(const gab_world *world) { return world->times; }
