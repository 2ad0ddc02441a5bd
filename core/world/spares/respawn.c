/* SPDX-License-Identifier: Apache-2.0 */
/** @file respawn.c
 * @brief Respawn: a repair starts processes for the ranks of dead ones and merges them into the world.
 *
 *      ---------- where replacement processes are to sit (nodes.c) ----------
 *      the lowest survivor                   the other survivors       a replacement
 *      MPI_Comm_spawn over MPI_COMM_SELF                               MPI_Init
 *      merge: the bridge (spawn.c)                                     merge
 *      what it has to know, over the bridge
 *      ---------- agreement on `comm` ---------
 *      MPI_Intercomm_create over `comm` and the bridge, merge: the new communicator of everybody
 *      ---------- agreement on `comm` ---------
 *      "you are received", over the bridge                             its set-up, alone (replay.c)
 *      communicators of the active processes and the application; the last agreement of the repair, by all
 *
 * Open MPI 5.0 detects the death of a spawned process only after it shares an intracommunicator; a wait before that
 * never ends (doc/ulfm.md). So one process alone waits there, under a time limit of the kernel that ends it: the
 * others detect its death and repeat the attempt. A spawn over the communicator of all survivors would need fewer
 * steps, but sometimes left all of them hanging. */
#include "core/base/log.h"
#include "core/world/spares/respawn_impl.h"

#include <stdlib.h>
#include <string.h>

const char *gab_world_why_no_respawn(const gab_world *world)
{
#ifdef GAB_HAVE_ULFM
  if (!getenv("PRTE_LAUNCHED"))
    return "the program was not started by gabion-launch or mpirun, and nobody else can start processes "
           "later";
  if (world->replay.state == GAB_REPLAY_NONE)
    return "the program was started by mpirun without gabion-launch, and GABION_RESPAWN=1 was not set for it";
  return world->replay.state == GAB_REPLAY_LOST ? world->replay.why_lost : NULL;
#else
  (void)world;
  return "this MPI has no fault tolerance (ULFM)";
#endif
}

/* ------------------------------------------------------------------------------------ arrivals */

void gab_arrival_destroy(gab_arrival **arrival_pointer)
{
  gab_arrival *arrival = *arrival_pointer;
  if (!arrival) return;
  gab_members_release(&arrival->processes);
  gab_members_release(&arrival->members);
  gab_members_release(&arrival->whole);
  gab_free(&arrival->origins);
  gab_free(arrival_pointer);
}

#ifdef GAB_HAVE_ULFM

/* ------------------------------------------------------------------------------------ the bridge */

/* Determines over the bridge whether all replacement processes are on the requested nodes. */
static bool ask_places(MPI_Comm bridge, bool mine, bool *all)
{
  unsigned char in_place = mine;
  const int code = MPI_Allreduce(MPI_IN_PLACE, &in_place, 1, MPI_UNSIGNED_CHAR, MPI_MIN, bridge);
  *all = in_place;
  return code == MPI_SUCCESS;
}

/* @param[out] in_place all are on the requested nodes */
static bool welcome(const gab_world *world, const gab_replacement_plan *plan, MPI_Comm bridge, bool *in_place)
{
  gab_buffer facts;
  gab_buffer_init(&facts, GAB_MEMORY_OTHER);
  const bool good = gab_facts_put(world, plan, &facts) == GAB_OK && gab_spawn_spread(bridge, &facts) &&
                    ask_places(bridge, true, in_place);
  gab_buffer_release(&facts);
  return good;
}

/* Creates the communicator of the replacement processes, ordered by number; the first one leads. */
static bool make_crew(MPI_Comm bridge, int32_t group_count, int number, MPI_Comm *crew)
{
  MPI_Comm made;
  *crew = MPI_COMM_NULL;
  if (group_count == 1 && number >= 0) *crew = MPI_COMM_WORLD;
  if (group_count == 1) return true;
  if (MPI_Comm_split(bridge, number < 0 ? MPI_UNDEFINED : 0, number, &made) != MPI_SUCCESS) return false;
  *crew = made;
  if (made != MPI_COMM_NULL) MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return true;
}

/* ------------------------------------------------------------------------------------ one communicator for
 * all */

enum { MOST_SPAWNS = 3 };

/* Agreement of the survivors. @param[in,out] in_place the replacement processes are on the requested nodes, as far
 * as all know @return true, on all, if all have passed true and no process has died */
static bool all_have(gab_world *world, bool mine, bool *in_place)
{
  int bits = (mine ? GAB_AGREE_SPAWNED : 0) | (*in_place ? GAB_AGREE_IN_PLACE : 0);
  bool deaths;
  const gab_status status = gab_comm_agree(world->comm, &bits, &deaths);
  *in_place = bits & GAB_AGREE_IN_PLACE;
  return status == GAB_OK && !deaths && (bits & GAB_AGREE_SPAWNED);
}

/* Records the nodes of the replacement processes. */
static gab_status add_origins(gab_world *world, const gab_process *origins, int32_t count, bool in_place)
{
  GAB_TRY(GAB_RESIZE_ARRAY(&world->origins, (size_t)(world->origin_count + count), GAB_MEMORY_OTHER));
  for (int32_t i = 0; i < count; i++)
    world->origins[world->origin_count++] = in_place ? origins[i] : GAB_NO_PROCESS;
  return GAB_OK;
}

/* Moves the world to the wider communicator, which the replacement processes join after their set-up. */
static gab_status receive_replacements(gab_world *world, MPI_Comm wide, const gab_replacement_plan *plan,
                                       bool in_place)
{
  GAB_TRY(add_origins(world, plan->origins, plan->count, in_place));
  gab_comm_retire(world->comm);
  world->comm = wide;
  gab_world_watch_comm(wide);
  world->processes.ranks += plan->count;
  return gab_world_call_spares(world);
}

/* On the spawning process, which alone reports errors. The last attempt does not request nodes. */
static bool start_replacements(gab_world *world, const gab_replacement_plan *plan, MPI_Comm *bridge,
                               bool *in_place)
{
  const char *why_not = gab_world_why_no_respawn(world);
  MPI_Comm crew;
  gab_status status = why_not ? gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__, "%s", why_not) : GAB_OK;
  if (status == GAB_OK) status = gab_spawn_replacements(plan, world->spawns == MOST_SPAWNS, bridge);
  if (status == GAB_OK &&
      !(welcome(world, plan, *bridge, in_place) && make_crew(*bridge, plan->group_count, -1, &crew)))
    status =
        gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__, "a replacement process died before all had met it");
  if (status != GAB_OK) gab_log_all(GAB_LOG_WARNING, "respawning: %s", gab_error_message());
  return status == GAB_OK;
}

/* Replacement processes of a failed attempt wait in it, and their messages may still arrive. The revocation releases
 * them. The communicators of the attempt are not freed, since MPI would reuse their contexts and deliver these
 * messages to the next communicator. */
static void dismiss_bridge(MPI_Comm bridge, bool good)
{
  unsigned char received = 1;
  if (!good) {
    gab_comm_revoke(bridge);
    return;
  }
  MPI_Bcast(&received, 1, MPI_BYTE, 0, bridge);
  gab_comm_retire(bridge);
}

/* @param[out] good false: repeat the attempt */
static gab_status try_to_respawn(gab_world *world, const gab_replacement_plan *plan, bool planned, bool *good)
{
  MPI_Comm bridge = MPI_COMM_NULL, wide = MPI_COMM_NULL;
  int comm_rank;
  bool here = planned, in_place = true;
  MPI_Comm_rank(world->comm, &comm_rank);
  if (!here) gab_comm_revoke(world->comm); /* others may wait for this process in the plan */
  if (here && comm_rank == 0) here = start_replacements(world, plan, &bridge, &in_place);
  *good = all_have(world, here, &in_place);
  if (*good) {
    here = gab_spawn_widen(world->comm, bridge, 1, false, &wide);
    if (!here) gab_comm_revoke(world->comm); /* others may wait for this process in it */
    bool nothing = true;
    *good = all_have(world, here, &nothing);
  }
  if (bridge != MPI_COMM_NULL) dismiss_bridge(bridge, *good);
  if (!*good) return GAB_OK;
  if (!in_place)
    gab_log(GAB_LOG_WARNING,
            "respawned processes do not sit where they were to: each counts as a node of its own");
  return receive_replacements(world, wide, plan, in_place);
}

gab_status gab_world_respawn(gab_world *world, bool *good)
{
  gab_replacement_plan plan = {.count = 0};
  const int32_t count = gab_world_vacancies(world);
  if (!*good || !world->resting || !(world->replacement & GAB_REPLACEMENT_RESPAWN) || count == 0)
    return GAB_OK;
  if ((world->abort_request != GAB_OK && world->abort_request != GAB_ERR_SUSPECT) ||
      world->spawns >= MOST_SPAWNS)
    return GAB_OK;
  world->spawns++;
  world->has_spawned = true;
  gab_world_enter(world, GAB_FAULT_POINT_RESPAWN);
  const bool planned = gab_nodes_plan(world, &plan) == GAB_OK;
  const gab_status status = try_to_respawn(world, &plan, planned, good);
  gab_replacement_plan_release(&plan);
  if (status == GAB_OK && !*good)
    gab_log(GAB_LOG_WARNING, "%" PRId32 " process%s could not be respawned (attempt %" PRId32 " of %d)",
            count, count == 1 ? "" : "es", world->spawns, (int)MOST_SPAWNS);
  return status;
}

/* ------------------------------------------------------------------------------------ replacement process */

/* During its set-up the world looks as at the start, with one more spare. */
static gab_status pose_as_spare(gab_world *world)
{
  world->process = world->arrival->processes.ranks + world->arrival->number;
  world->rank = (gab_rank)world->process;
  gab_members_init(&world->processes, world->first_processes);
  gab_members_init(&world->members, world->arrival->members.ranks);
  world->resting = true;
  return GAB_OK;
}

/* If the placement is unknown, so are the origins of all replacement processes of an attempt. */
static void forget_origins(gab_arrival *arrival, int32_t before)
{
  for (int32_t i = 0; i < arrival->replacements; i++) arrival->origins[before + i] = GAB_NO_PROCESS;
}

static bool is_told(gab_world *world, MPI_Comm bridge, int32_t group)
{
  char host[MPI_MAX_PROCESSOR_NAME] = "", here[MPI_MAX_PROCESSOR_NAME];
  gab_buffer facts;
  bool all;
  gab_buffer_init(&facts, GAB_MEMORY_OTHER);
  const bool told =
      gab_spawn_spread(bridge, &facts) &&
      gab_facts_take(world, world->arrival, group, host, gab_reader_of_buffer(&facts)) == GAB_OK;
  gab_buffer_release(&facts);
  gab_node_name(here);
  if (!told || !ask_places(bridge, host[0] == '\0' || strcmp(host, here) == 0, &all)) return false;
  if (!all) forget_origins(world->arrival, world->origin_count);
  return true;
}

static bool is_received(gab_world *world, MPI_Comm parent, MPI_Comm *bridge)
{
  unsigned char received = 0;
  int32_t group, group_count;
  MPI_Comm crew;
  if (!gab_spawn_meet(parent, bridge, &group, &group_count) || !is_told(world, *bridge, group)) return false;
  if (!make_crew(*bridge, group_count, world->arrival->number, &crew)) return false;
  if (!gab_spawn_widen(crew, *bridge, 0, true, &world->comm)) return false;
  if (crew != MPI_COMM_WORLD) gab_comm_retire(crew);
  return MPI_Bcast(&received, 1, MPI_BYTE, 0, *bridge) == MPI_SUCCESS && received;
}

static void tell_where(const gab_world *world)
{
  char host[MPI_MAX_PROCESSOR_NAME];
  gab_node_name(host);
  gab_log_all(GAB_LOG_INFO, "process %" GAB_PRI_PROCESS " was respawned on %s", world->process, host);
}

/* Others of the same group may still need it to create the wide communicator, hence the barrier; the first ones to
 * leave it may end it for the rest. */
static gab_status close_comm_world(gab_world *world)
{
  (void)MPI_Barrier(MPI_COMM_WORLD);
  gab_comm_revoke(MPI_COMM_WORLD);
  return gab_comm_world_guard(world);
}

gab_status gab_world_arrive(gab_world *world)
{
  MPI_Comm parent, bridge = MPI_COMM_NULL;
  GAB_TRY(GAB_NEW(&world->arrival, GAB_MEMORY_OTHER));
  *world->arrival = (gab_arrival){.epoch = 0};
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    GAB_FAIL(GAB_ERR_STATE, "GABION_SPAWNED is set, but nobody has spawned this process");
  if (!is_received(world, parent, &bridge)) {
    (void)gab_error_set(GAB_ERR_FAULT, __FILE__, __LINE__,
                        "those who have started it do not wait for it any more");
    gab_world_leave();
  }
  gab_comm_retire(bridge);
  gab_spawn_limit_end();
  GAB_TRY(close_comm_world(world));
  GAB_TRY(pose_as_spare(world));
  tell_where(world);
  return GAB_OK;
}

gab_status gab_world_appear(gab_world *world)
{
  gab_arrival *arrival = world->arrival;
  gab_members_release(&world->processes);
  gab_members_release(&world->members);
  gab_members_release(&world->whole);
  world->processes = arrival->processes;
  world->members = arrival->members;
  world->whole = arrival->whole;
  world->epoch = arrival->epoch;
  if (world->next_context < arrival->next_context) world->next_context = arrival->next_context;
  world->origins = arrival->origins;
  world->origin_count += arrival->replacements;
  world->processes.ranks += arrival->replacements;
  gab_free(&world->arrival);
  world->meets_on_active = false;
  world->active_comm = MPI_COMM_NULL;
  world->replay.state = GAB_REPLAY_OVER; /* the record stays for later replacement processes */
  gab_world_watch_comm(world->comm);
  return gab_world_call_spares(world);
}

#else

gab_status gab_world_arrive(gab_world *world)
{
  (void)world;
  GAB_FAIL(GAB_ERR_STATE, "without fault tolerance nobody is respawned");
}

gab_status gab_world_appear(gab_world *world) { return gab_world_arrive(world); }

#endif
