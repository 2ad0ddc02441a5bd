/* SPDX-License-Identifier: Apache-2.0 */
/* After a world broke during an adaptation, at any fault point and for any reason, images restore the old grid. A
 * repeated adaptation gives the undisturbed result.
 * gabion-test: np=1,2,3,4 quick=2 timeout=90 needs=ulfm */
#include "tests/blockforest/adapt/adapting.h"

#include <stdatomic.h>

/* ---- failures of one rank */

typedef enum failure {
  FAIL_MARK,
  FAIL_CREATE,
  FAIL_PACK,
  FAIL_UNPACK,
  FAIL_SPLIT,
  FAIL_MERGE,
  FAIL_DISTRIBUTE,
  FAIL_IN_PHASES, /* and the next ones, one for each fault point of adapting */
  FAIL_COUNT = FAIL_IN_PHASES + 4
} failure;

enum { ROUNDS = 3 * FAIL_COUNT };

static struct {
  bool armed;
  failure what;
  atomic_int calls; /* successful calls before the failure; several threads pack blocks */
  atomic_bool happened;
} trap;

static bool springs(failure what)
{
  if (!trap.armed || trap.what != what || trap.calls-- != 0) return false;
  trap.happened = true;
  return true;
}

#define MAY_FAIL(what)                                                                                       \
  if (springs(what)) GAB_FAIL(GAB_ERR_MEMORY, "a trap was set here")

static gab_block_data_kind good; /* the original callbacks, called unless they fail */

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  MAY_FAIL(FAIL_CREATE);
  return good.create(user, forest, block, data);
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  MAY_FAIL(FAIL_PACK);
  return good.pack(user, data, out);
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  MAY_FAIL(FAIL_UNPACK);
  return good.unpack(user, data, in);
}

static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  MAY_FAIL(FAIL_SPLIT);
  return good.split(user, forest, parent, parent_data, children, children_data);
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  MAY_FAIL(FAIL_MERGE);
  return good.merge(user, forest, children, children_data, parent, parent_data);
}

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  MAY_FAIL(FAIL_MARK);
  return random_mark(user, forest, block, mark);
}

static void phase_entered(void *user, gab_world *world, gab_fault_point point)
{
  (void)user;
  if (point < GAB_FAULT_POINT_ADAPT_MARK || point > GAB_FAULT_POINT_ADAPT_REBUILD) return;
  if (springs((failure)(FAIL_IN_PHASES + (point - GAB_FAULT_POINT_ADAPT_MARK)))) {
    (void)gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "a trap was set here");
    (void)gab_world_raise(world, GAB_ERR_MEMORY);
  }
}

static gab_status distribute(void *context, gab_proxies *proxies)
{
  if (springs(FAIL_DISTRIBUTE)) {
    (void)gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "a trap was set here");
    return gab_world_raise(gab_proxies_world(proxies), GAB_ERR_MEMORY);
  }
  return distribute_by_rule(context, proxies);
}

/* ---- the subject */

typedef struct subject {
  random_domain domain;
  random_owners owners;
  random_marks marks;
  gab_block_field field;
  gab_forest *forest;
} subject;

static void build(subject *it, gab_world *world, int dimension)
{
  it->domain.options =
      (gab_forest_options){.grid = {dimension, {3, 2, dimension == 3 ? 2 : 1}}, .periodic = {true}, .dx = 1};
  it->field.shape.components = 1;
  for (int axis = 0; axis < 3; axis++)
    it->field.shape.cells[axis] = it->domain.options.cells[axis] = axis < dimension ? 4 : 1;
  it->owners = (random_owners){5, gab_world_members(world)->ranks, 0};
  it->marks = (random_marks){6, 0};
  good = gab_block_field_data(&it->field, "field");
  gab_block_data_kind kind = good;
  gab_data_id id;
  kind.create = create;
  kind.initialise = field_start;
  kind.pack = pack;
  kind.unpack = unpack;
  kind.split = split;
  kind.merge = merge;
  REQUIRE_OK(gab_forest_create(world, &it->domain.options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &kind, &id));
  REQUIRE_OK(gab_forest_build(it->forest, random_mark_place, &it->marks, 1, distribute, &it->owners, NULL));
}

static gab_status adapt(subject *it)
{
  gab_adapt_options options = {.max_level = 2,
                               .mark = mark_block,
                               .user = &it->marks,
                               .distribute = distribute,
                               .distribute_context = &it->owners};
  return gab_forest_adapt(it->forest, &options, NULL);
}

static uint64_t checksum_of(gab_forest *forest)
{
  uint64_t checksum;
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  return checksum;
}

static void restore(subject *it, const gab_buffer *image, uint64_t expected)
{
  gab_reader in = gab_reader_of_buffer(image);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  grid_check(it->forest);
  REQUIRE(checksum_of(it->forest) == expected);
}

/* @return whether it broke */
static bool break_it(subject *it, gab_world *world, uint64_t round)
{
  gab_status abort_request, met = gab_world_barrier(world);
  REQUIRE(met == GAB_OK || met == GAB_ERR_FAULT); /* the first rank may fail before the others know */
  trap.armed = (gab_rank)(round % (uint64_t)it->owners.ranks) == gab_world_rank(world);
  trap.what = (failure)(round % FAIL_COUNT);
  trap.calls = trap.what < FAIL_DISTRIBUTE ? (int)(round / FAIL_COUNT) : 0;
  trap.happened = false;
  gab_status status = adapt(it);
  trap.armed = false;
  REQUIRE(trap.happened ? status == GAB_ERR_FAULT : status == GAB_OK || status == GAB_ERR_FAULT);
  /* The forest is torn while data moves; before that it is unchanged. */
  if (trap.happened)
    REQUIRE(gab_forest_is_valid(it->forest) == (trap.what >= FAIL_DISTRIBUTE || trap.what == FAIL_MARK));
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  uint64_t broke = trap.happened;
  REQUIRE_OK(gab_world_sum_u64(world, &broke, 1));
  REQUIRE(abort_request == (broke ? GAB_ERR_MEMORY : GAB_OK));
  if (broke) REQUIRE(strstr(gab_error_message(), "a trap was set here")); /* all ranks have the reason */
  return broke;
}

static void run(gab_world *world, int dimension, bool seen[FAIL_COUNT])
{
  subject it = {0};
  build(&it, world, dimension);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    gab_buffer image;
    it.marks.round = round;
    gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
    REQUIRE_OK(gab_forest_pack(it.forest, &image));
    uint64_t earlier = checksum_of(it.forest);
    REQUIRE_OK(adapt(&it));
    uint64_t later = checksum_of(it.forest);
    restore(&it, &image, earlier);
    if (break_it(&it, world, round)) seen[round % FAIL_COUNT] = true;
    restore(&it, &image, earlier);
    REQUIRE_OK(adapt(&it));
    grid_check(it.forest);
    REQUIRE(checksum_of(it.forest) == later);
    gab_buffer_release(&image);
  }
  gab_forest_destroy(&it.forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  bool seen[FAIL_COUNT] = {false};
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_world_set_fault_point_hook(world, phase_entered, NULL);
  size_t held = 0;
  for (int dimension = 3; dimension > 1; dimension--) {
    run(world, dimension, seen);
    if (dimension == 2) REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) <= held);
    held = gab_memory_now(GAB_MEMORY_USE_COUNT);
  }
  for (int what = 0; what < FAIL_COUNT; what++)
    REQUIRE(seen[what] ||
            ((what == FAIL_PACK || what == FAIL_UNPACK) && gab_world_members(world)->ranks == 1));
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
