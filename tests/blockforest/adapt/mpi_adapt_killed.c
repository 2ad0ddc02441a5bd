/* SPDX-License-Identifier: Apache-2.0 */
/* Processes are killed at each fault point of an adaptation in turn; the next rank adopts the image of the old grid,
 * and the survivors adapt again.
 * gabion-test: np=5 timeout=90 needs=ulfm labels=quick */
#include "core/messages/port.h"
#include "tests/blockforest/adapt/adapting.h"

typedef struct subject {
  random_domain domain;
  random_marks marks;
  uint64_t owners; /* seed */
  adapting_fields fields;
  gab_forest *forest;
} subject;

static gab_fault_point deadly = GAB_FAULT_POINT_COUNT; /* fault point at which this process dies */

static void phase_entered(void *user, gab_world *world, gab_fault_point point)
{
  (void)user, (void)world;
  if (point == deadly) raise(SIGKILL);
}

/* Blocks move to any living rank. */
static gab_status distribute(void *context, gab_proxies *proxies)
{
  const subject *it = context;
  const gab_members *members = gab_world_members(gab_proxies_world(proxies));
  uint64_t living = (uint64_t)gab_members_count(members);
  size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) {
    uint64_t draw = gab_hash_counter(it->owners, 80, gab_proxies_get(proxies, i)->id);
    targets[i] = gab_members_rank(members, (int32_t)(draw % living));
  }
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

static gab_status adapt(subject *it)
{
  gab_adapt_options options = {.max_level = 2,
                               .mark = random_mark,
                               .user = &it->marks,
                               .distribute = distribute,
                               .distribute_context = it};
  return gab_forest_adapt(it->forest, &options, NULL);
}

static uint64_t checksum_of(gab_forest *forest)
{
  uint64_t checksum;
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  return checksum;
}

/* ---- the next rank keeps the image */

typedef struct kept {
  gab_rank before, behind; /* in the ring of survivors */
  gab_buffer mine, other;
} kept;

static void keep(gab_forest *forest, gab_port *port, kept *images)
{
  gab_world *world = gab_forest_world(forest);
  const gab_members *members = gab_world_members(world);
  int32_t count = gab_members_count(members), me = gab_members_index(members, gab_world_rank(world));
  *images = (kept){gab_members_rank(members, (me + count - 1) % count),
                   gab_members_rank(members, (me + 1) % count),
                   {0},
                   {0}};
  REQUIRE_OK(gab_message_begin(&images->mine));
  REQUIRE_OK(gab_forest_pack(forest, &images->mine));
  REQUIRE_OK(gab_port_receive(port, images->before, &images->other, GAB_SIZE_UNKNOWN));
  REQUIRE_OK(gab_port_send(port, images->behind, &images->mine));
  REQUIRE_OK(gab_port_finish(port));
}

typedef struct heir {
  gab_rank dead, rank;
} heir;

static gab_rank owner_now(void *context, gab_rank owner)
{
  const heir *change = context;
  return owner == change->dead ? change->rank : owner;
}

static void restore(subject *it, const kept *images, heir change)
{
  gab_reader in[2] = {gab_message_reader(&images->mine)};
  size_t count = 1;
  if (images->before == change.dead) in[count++] = gab_message_reader(&images->other);
  REQUIRE_OK(gab_forest_restore(it->forest, in, count, owner_now, &change));
}

/* ---- */

static void lose_one(subject *it, gab_port *port, gab_fault_point point)
{
  gab_world *world = gab_forest_world(it->forest);
  const gab_members *members = gab_world_members(world);
  int32_t count = gab_members_count(members), which = (int32_t)point % count;
  heir change = {gab_members_rank(members, which), gab_members_rank(members, (which + 1) % count)};
  kept images;
  gab_status abort_request;
  keep(it->forest, port, &images);
  uint64_t before = checksum_of(it->forest);
  REQUIRE_OK(adapt(it));
  uint64_t adapted = checksum_of(it->forest);
  restore(it, &images, (heir){GAB_NO_RANK, GAB_NO_RANK});
  REQUIRE(checksum_of(it->forest) == before);
  REQUIRE_OK(gab_world_barrier(world));
  test_doom(change.dead);
  if (gab_world_rank(world) == change.dead) deadly = point;
  gab_status status = adapt(it);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK && gab_members_count(gab_world_members(world)) == count - 1);
  restore(it, &images, change);
  grid_check(it->forest);
  REQUIRE(checksum_of(it->forest) == before);
  REQUIRE_OK(adapt(it));
  grid_check(it->forest);
  REQUIRE(checksum_of(it->forest) == adapted);
  gab_buffer_release(&images.mine);
  gab_buffer_release(&images.other);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_port *port;
  subject it = {
      .domain.options = {.grid = {2, {3, 3, 1}}, .cells = {4, 4, 1}, .periodic = {true, true}, .dx = 1},
      .marks = {11, 0},
      .owners = 12};
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_port_create(world, "images", &port));
  gab_world_set_fault_point_hook(world, phase_entered, NULL);
  REQUIRE_OK(gab_forest_create(world, &it.domain.options, &it.forest));
  fields_register(it.forest, &it.fields);
  REQUIRE_OK(gab_forest_build(it.forest, random_mark_place, &it.marks, 1, distribute, &it, NULL));
  for (int point = GAB_FAULT_POINT_ADAPT_MARK; point <= GAB_FAULT_POINT_ADAPT_REBUILD; point++) {
    it.marks.round++;
    it.owners++;
    lose_one(&it, port, (gab_fault_point)point);
  }
  gab_forest_destroy(&it.forest);
  gab_port_destroy(&port);
  return test_end(&world);
}
