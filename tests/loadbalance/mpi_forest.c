/* SPDX-License-Identifier: Apache-2.0 */
/* Forests of several levels are built and distributed by every strategy; after blocks were scattered the same
 * strategy puts them right with their data, and nothing about the state depends on who has what. */
/* gabion-test: np=1,2,4,7 quick=4 timeout=60 */
#include "blockforest/adaptation/adapt.h"
#include "tests/loadbalance/proxies_common.h"

enum { GRIDS = 4, DEEPEST = 2 };

static gab_mark mark_place(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2]);
  return gab_hash_counter(domain->seed, 70 + (uint64_t)level, place) % 4 == 0 ? GAB_MARK_REFINE
                                                                              : GAB_MARK_KEEP;
}

static void scatter(gab_forest *forest, uint64_t seed)
{
  random_owners owners = owners_make(gab_forest_world(forest), seed);
  gab_rank *targets = malloc((gab_forest_block_count(forest) + 1) * sizeof *targets);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    targets[i] = random_owner(&owners, gab_block_get_id(gab_forest_block(forest, i)));
  REQUIRE_OK(gab_forest_migrate(forest, targets));
  free(targets);
}

static void require_promises(gab_forest *forest, bool per_level, const gab_balance_report *report)
{
  gab_proxies *proxies;
  gab_world *world = gab_forest_world(forest);
  REQUIRE_OK(gab_proxies_of_forest(forest, &proxies));
  listing all = listing_make(proxies, &gab_curve_morton, NULL, per_level);
  if (gab_world_is_root(world))
    check_promises(&all, gab_members_count(gab_world_members(world)), per_level, report);
  free(all.block);
  gab_proxies_destroy(&proxies);
}

/* @return the checksum */
static uint64_t try_strategy(gab_world *world, random_domain *domain, const gab_balance_options *options)
{
  gab_forest *forest;
  gab_balance_report report;
  uint64_t before, after, seed = domain->seed;
  REQUIRE_OK(gab_forest_create(world, &domain->options, &forest));
  const gab_data_id id = stones_register(forest, &seed);
  REQUIRE_OK(gab_forest_build(forest, mark_place, domain, DEEPEST, gab_balance_distribute,
                              (void *)(uintptr_t)options, NULL));
  REQUIRE_OK(gab_forest_checksum(forest, &before));
  scatter(forest, seed);
  REQUIRE_OK(gab_balance_forest(forest, options, &report));
  REQUIRE(gab_forest_is_valid(forest));
  signs_check(forest, id);
  require_promises(forest, options->by == GAB_BALANCE_PER_LEVEL, &report);
  REQUIRE_OK(gab_forest_checksum(forest, &after));
  REQUIRE(before == after);
  gab_forest_destroy(&forest);
  return after;
}

static void try_grid(gab_world *world, uint64_t seed)
{
  random_domain domain;
  uint64_t first = 0;
  domain_make(&domain, seed);
  domain.options.exists = NULL;
  for (int axis = 0; axis < domain.options.grid.dimension; axis++) domain.options.cells[axis] = 4;
  if (grid_has_weights(&domain)) domain.options.weight = grid_weight;
  for (int k = 0; gab_balancer_at(k); k++)
    for (int by = GAB_BALANCE_PER_LEVEL; by <= GAB_BALANCE_TOTAL; by++) {
      gab_balance_options options = {.balancer = gab_balancer_at(k), .by = (gab_balance_by)by};
      if (!options.balancer->is_built) continue;
      uint64_t checksum = try_strategy(world, &domain, &options);
      REQUIRE(first == 0 || checksum == first);
      first = checksum;
    }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < GRIDS; seed++) try_grid(world, seed);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
