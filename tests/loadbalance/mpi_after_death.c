/* SPDX-License-Identifier: Apache-2.0 */
/* Processes die; the survivors, whose ranks have gaps now, hold everything unevenly (one has adopted the
 * blocks of the dead) and distribute it by every strategy: bounds are kept and nobody is empty. */
/* gabion-test: np=2,4,7 quick=4 timeout=60 needs=ulfm */
#include "tests/loadbalance/proxies_common.h"

#include <unistd.h>

/* As after a restore: the blocks of each of the gone are with the member behind it. */
static void adopt(gab_proxies *proxies)
{
  gab_world *world = gab_proxies_world(proxies);
  const gab_members *members = gab_world_members(world);
  size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) {
    gab_rank rank = (gab_rank)(gab_proxies_get(proxies, i)->id % (uint64_t)members->ranks);
    while (!gab_members_has(members, rank)) rank = (rank + 1) % members->ranks;
    targets[i] = rank;
  }
  REQUIRE_OK(gab_proxies_move(proxies, targets));
  free(targets);
}

static void try_all(gab_world *world, uint64_t seed)
{
  random_domain domain;
  gab_proxies *proxies = grid_make(world, &domain, seed, (int)(seed % 3));
  int32_t parts = gab_members_count(gab_world_members(world));
  for (int k = 0; gab_balancer_at(k); k++)
    for (int by = GAB_BALANCE_PER_LEVEL; by <= GAB_BALANCE_TOTAL; by++) {
      gab_balance_options options = {.balancer = gab_balancer_at(k), .by = (gab_balance_by)by};
      gab_balance_report report;
      if (!options.balancer->is_built) continue;
      adopt(proxies);
      REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
      listing all = listing_make(proxies, &gab_curve_morton, NULL, by == GAB_BALANCE_PER_LEVEL);
      if (gab_world_is_root(world)) check_promises(&all, parts, by == GAB_BALANCE_PER_LEVEL, &report);
      free(all.block);
    }
  gab_proxies_destroy(&proxies);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_status abort_request;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_rank ranks = gab_world_members(world)->ranks;
  for (gab_rank victim = 0; victim < ranks - 1 && victim <= 4; victim += 2) {
    test_kill(world, victim);
    while (gab_world_barrier(world) == GAB_OK) usleep(1000);
    REQUIRE_OK(gab_world_repair(world, &abort_request));
    for (uint64_t seed = 0; seed < 4; seed++) try_all(world, seed);
    const gab_status met = gab_world_barrier(world); /* the next victim may be through and gone */
    REQUIRE(met == GAB_OK || met == GAB_ERR_FAULT);
  }
  return test_end(&world);
}
