/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of several levels, distributed as they come: a curve is cut as a list of all blocks would be,
 * level by level or at once; every strategy keeps its bounds, leaves nobody empty, loses nothing, and
 * gives the same again. */
/* gabion-test: np=1,2,4,7 quick=4 timeout=60 args=12 */
#include "tests/loadbalance/proxies_common.h"
#include "blockforest/adaptation/proxy_impl.h"

/* ---- the cut from scratch: one block after another */

static void cut_level(listing *all, const promise *level, int64_t parts, bool spread)
{
  uint64_t before = 0;
  int64_t upto = -1, count = (int64_t)level->count;
  for (int64_t j = 0; j < count; j++) {
    listed *block = &all->block[level->first + (size_t)j];
    int64_t starts_in = (int64_t)(before * (uint64_t)parts / level->total);
    before += block->weight;
    block->part = (int32_t)starts_in;
    if (spread && count < parts) continue;
    upto = starts_in < upto + 1 || j == 0 ? starts_in : upto + 1;
    int64_t part = upto;
    if (count >= parts && part < parts - (count - j)) part = parts - (count - j);
    block->part = (int32_t)part;
  }
}

static void cut_listing(listing *all, int64_t parts, bool per_level)
{
  size_t most = 0;
  for (size_t first = 0; first < all->count;) {
    promise level = promise_of(all, first);
    cut_level(all, &level, parts, per_level);
    if (level.count > most) most = level.count;
    first += level.count;
  }
  if (per_level && most < (size_t)parts && all->count >= (size_t)parts)
    for (size_t j = 0; j < all->count; j++) all->block[j].part = (int32_t)((int64_t)j % parts);
}

/* ---- the tests */

static void require_equal(const listing *a, const listing *b)
{
  REQUIRE(a->count == b->count);
  for (size_t j = 0; j < a->count; j++) {
    REQUIRE(a->block[j].id == b->block[j].id);
    REQUIRE(a->block[j].weight == b->block[j].weight);
    REQUIRE(a->block[j].part == b->block[j].part);
  }
}

static void try_curve(gab_proxies *proxies, const gab_balancer *balancer, const gab_curve *curve,
                      gab_balance_by by)
{
  gab_balance_options options = {.balancer = balancer, .by = by};
  gab_balance_report report;
  bool per_level = by == GAB_BALANCE_PER_LEVEL;
  int32_t parts = gab_members_count(gab_world_members(gab_proxies_world(proxies)));
  listing expected = listing_make(proxies, curve, NULL, per_level);
  cut_listing(&expected, parts, per_level);
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  listing found = listing_make(proxies, curve, NULL, per_level);
  if (gab_world_is_root(gab_proxies_world(proxies))) {
    require_equal(&expected, &found);
    check_promises(&found, parts, per_level, &report);
  }
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  REQUIRE(report.blocks_moved == 0);
  free(expected.block);
  free(found.block);
}

static void try_strategy(gab_proxies *proxies, const gab_balancer *balancer, gab_balance_by by, uint64_t seed)
{
  gab_balance_options options = {.balancer = balancer, .by = by};
  gab_balance_report report;
  bool per_level = by == GAB_BALANCE_PER_LEVEL;
  int32_t parts = gab_members_count(gab_world_members(gab_proxies_world(proxies)));
  grid_scatter(proxies, seed);
  REQUIRE_OK(gab_balance_distribute(&options, proxies));
  listing first = listing_make(proxies, &gab_curve_morton, NULL, per_level);
  grid_scatter(proxies, seed);
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  REQUIRE(gab_proxies_are_valid(proxies));
  listing again = listing_make(proxies, &gab_curve_morton, NULL, per_level);
  if (gab_world_is_root(gab_proxies_world(proxies))) {
    require_equal(&first, &again);
    check_promises(&first, parts, per_level, &report);
  }
  free(first.block);
  free(again.block);
}

static void try_grid(gab_world *world, uint64_t seed)
{
  random_domain domain;
  gab_proxies *proxies = grid_make(world, &domain, seed, (int)(seed % 4));
  for (int by = GAB_BALANCE_PER_LEVEL; by <= GAB_BALANCE_TOTAL; by++) {
    grid_scatter(proxies, gab_hash_counter(seed, 42, (uint64_t)by));
    try_curve(proxies, &gab_balancer_morton, &gab_curve_morton, (gab_balance_by)by);
    try_curve(proxies, &gab_balancer_hilbert, &gab_curve_hilbert, (gab_balance_by)by);
    try_strategy(proxies, &gab_balancer_diffusion, (gab_balance_by)by, seed);
    if (gab_balancer_graph.is_built) try_strategy(proxies, &gab_balancer_graph, (gab_balance_by)by, seed);
  }
  gab_proxies_destroy(&proxies);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  uint64_t grids = argc > 1 ? strtoull(argv[1], NULL, 10) : 12;
  for (uint64_t seed = 0; seed < grids; seed++) try_grid(world, seed);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
