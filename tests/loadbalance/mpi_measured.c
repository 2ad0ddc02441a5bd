/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4,7 quick=4 timeout=60 */
/* Blocks are shared out by what they took; what was not measured counts as the mean of what was; then
 * counting starts anew. */
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/blockforest/random_domain.h"

#include <math.h>

enum { UNMEASURED = 5 };

/* What a block "took" follows from its id: some much more than others, some nothing. */
static uint64_t work_of(gab_block_id id)
{
  const uint64_t draw = gab_hash_counter(77, 1, id);
  return draw % UNMEASURED == 0 ? 0 : draw % 3 == 0 ? 100000 + draw % 1000 : 1000 + draw % 100;
}

typedef struct laden {
  uint64_t work;
} laden;

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user, (void)forest, (void)block;
  return gab_alloc(sizeof(laden), GAB_MEMORY_OTHER, data);
}
static void destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}
static gab_status initialise(void *user, const gab_forest *forest, const gab_block *block, void *data)
{
  (void)user, (void)forest;
  ((laden *)data)->work = work_of(gab_block_get_id(block));
  return GAB_OK;
}
static size_t packed_size(void *user, const void *data)
{
  (void)user, (void)data;
  return 0;
}
static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  (void)user, (void)data, (void)out;
  return GAB_OK;
}
static gab_status unpack(void *user, void *data, gab_reader *in)
{
  (void)user, (void)data, (void)in;
  return GAB_OK;
}
static uint64_t work(void *user, void *data, bool forget)
{
  laden *it = data;
  const uint64_t taken = it->work;
  (void)user;
  if (forget) it->work = 0;
  return taken;
}

typedef struct expected {
  uint64_t blocks, measured, total, heaviest; /* total: with those that were not measured, at the mean */
  uint64_t taken;                             /* by those that were */
} expected;

static expected expect_of(gab_forest *forest)
{
  gab_world *world = gab_forest_world(forest);
  uint64_t sums[3] = {0, 0, 0}, heaviest = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const uint64_t taken = work_of(gab_block_get_id(gab_forest_block(forest, i)));
    sums[0]++;
    sums[1] += taken > 0;
    sums[2] += taken;
    if (taken > heaviest) heaviest = taken;
  }
  REQUIRE_OK(gab_world_sum_u64(world, sums, 3));
  REQUIRE_OK(gab_world_max_u64(world, &heaviest, 1));
  const uint64_t mean = (uint64_t)ceil((double)sums[2] / (double)sums[1]);
  return (expected){sums[0], sums[1], sums[2] + (sums[0] - sums[1]) * mean, heaviest, sums[2]};
}

/* Any strategy leaves the mean and the heaviest block to one at most, of a total in which blocks that were not measured count;
 * in the unevenness they do not. */
static double worst_left(const expected *due, double members)
{
  return ((double)due->total + members * (double)due->heaviest) / (double)due->taken;
}

/* The busiest over the mean, from what is here now. @param[in] missing  what blocks count that were not measured */
static double unevenness_with(gab_forest *forest, uint64_t missing)
{
  uint64_t most = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const uint64_t taken = work_of(gab_block_get_id(gab_forest_block(forest, i)));
    most += taken > 0 ? taken : missing;
  }
  uint64_t sum = most;
  gab_world *world = gab_forest_world(forest);
  REQUIRE_OK(gab_world_max_u64(world, &most, 1));
  REQUIRE_OK(gab_world_sum_u64(world, &sum, 1));
  return (double)most * (double)gab_members_count(gab_world_members(world)) / (double)sum;
}

static double unevenness_of(gab_forest *forest) { return unevenness_with(forest, 0); }

static gab_forest *open_forest(gab_world *world, const gab_balance_options *balance)
{
  const gab_forest_options options = {
      .grid = {.dimension = 2, .roots = {12, 9, 1}}, .cells = {4, 4, 1}, .dx = 1};
  const gab_block_data_kind kind = {.name = "laden",
                                    .create = create,
                                    .destroy = destroy,
                                    .initialise = initialise,
                                    .packed_size = packed_size,
                                    .pack = pack,
                                    .unpack = unpack,
                                    .work = work};
  gab_forest *forest;
  gab_data_id id;
  gab_balance_report report;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  REQUIRE_OK(gab_balance_initial(forest, balance, &report));
  REQUIRE(report.weight_total == 12 * 9); /* nothing is known yet */
  return forest;
}

static void try_strategy(gab_world *world, const gab_balancer *balancer)
{
  const gab_balance_options balance = {.balancer = balancer, .measured = true};
  gab_forest *forest = open_forest(world, &balance);
  gab_balance_report report;
  double ratio;
  const expected due = expect_of(forest);
  REQUIRE(due.measured > 0 && due.measured < due.blocks);

  REQUIRE_OK(gab_balance_unevenness(forest, balance.by, &ratio));
  REQUIRE(fabs(ratio - unevenness_of(forest)) < 1e-12);
  REQUIRE_OK(gab_balance_forest(forest, &balance, &report));
  const double members = (double)gab_members_count(gab_world_members(world)),
               mean = (double)due.total / members;
  REQUIRE(report.weight_total == due.total);
  REQUIRE((double)report.weight_max <= mean + (double)due.heaviest);
  REQUIRE(unevenness_of(forest) <= worst_left(&due, members) + 1e-12);

  /* Forgotten. */
  REQUIRE_OK(gab_balance_unevenness(forest, balance.by, &ratio));
  REQUIRE(ratio == 1);
  REQUIRE_OK(gab_balance_forest(forest, &balance, &report));
  REQUIRE(report.weight_total == due.blocks);
  gab_forest_destroy(&forest);
}

/* Nothing moves below the bound, where nothing was measured, or for less than a twentieth. */
static void try_improving(gab_world *world, const gab_balancer *balancer)
{
  const gab_balance_options balance = {.balancer = balancer, .measured = true};
  gab_balance_gain gain;
  gab_forest *forest = open_forest(world, &balance);
  const double uneven = unevenness_of(forest);
  const expected due = expect_of(forest);
  const uint64_t revision = gab_forest_revision(forest);
  REQUIRE_OK(gab_balance_improve(forest, &balance, 1, &gain));
  REQUIRE(fabs(gain.before - uneven) < 1e-12);
  REQUIRE(gain.moved || (gain.after == gain.before && gab_forest_revision(forest) == revision));
  if (gain.moved) {
    const uint64_t mean = (due.total - due.taken) / (due.blocks - due.measured);
    REQUIRE(gain.after < 0.95 * gain.before);
    REQUIRE(fabs(gain.after - unevenness_with(forest, mean)) < 1e-12);
  }
  /* Where it was worse than any strategy leaves it, mean + heaviest block, by more than a twentieth. */
  const double members = (double)gab_members_count(gab_world_members(world));
  const double bound = worst_left(&due, members);
  if (members == 1) REQUIRE(!gain.moved);
  if (members > 1 && 0.95 * gain.before > bound) REQUIRE(gain.moved);
  REQUIRE_OK(gab_balance_improve(forest, &balance, 1, &gain));
  REQUIRE(!gain.moved && gain.before == 1); /* forgotten */
  gab_forest_destroy(&forest);

  forest = open_forest(world, &balance);
  REQUIRE_OK(gab_balance_improve(forest, &balance, 1000, &gain));
  REQUIRE(!gain.moved && fabs(gain.before - uneven) < 1e-12);
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int k = 0; gab_balancer_at(k); k++)
    if (gab_balancer_at(k)->is_built) {
      try_strategy(world, gab_balancer_at(k));
      try_improving(world, gab_balancer_at(k));
    }
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
