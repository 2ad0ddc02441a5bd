/* SPDX-License-Identifier: Apache-2.0 */
/* Ten thousand random grids and numbers of parts: graph partitioning survives them all and keeps its bounds.
 */
/* gabion-test: np=1 timeout=3000 labels=long args=10000 */
#include "tests/loadbalance/proxies_common.h"

static void try_parts(gab_proxies *proxies, int32_t parts, gab_balance_by by)
{
  const size_t count = gab_proxies_count(proxies);
  int32_t *plan = calloc(count + 1, sizeof *plan);
  gab_balance_options options = {.balancer = &gab_balancer_graph, .by = by, .plan = plan, .parts = parts};
  gab_balance_report report;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  REQUIRE(report.blocks == count && (report.least_blocks > 0 || count < (size_t)parts));
  for (int l = 0; l < report.levels && by == GAB_BALANCE_PER_LEVEL; l++) {
    const gab_balance_share *share = &report.level[l];
    REQUIRE(share->weight_max * (uint64_t)parts <= share->weight_total + share->heaviest * (uint64_t)parts);
  }
  REQUIRE(report.weight_total >= report.weight_max);
  free(plan);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint64_t graphs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  for (uint64_t seed = 0, done = 0; done < graphs && gab_balancer_graph.is_built; seed++) {
    random_domain domain;
    gab_proxies *proxies = grid_make(world, &domain, seed, (int)(seed % 4));
    const uint64_t most = gab_proxies_count(proxies) < 3000 ? 8 : 0; /* small ones: they are the hard ones */
    for (uint64_t k = 0; k < most && done < graphs; k++, done++) {
      const int32_t parts = 1 + (int32_t)(gab_hash_counter(seed, 63, k) % (k % 2 ? 6 : 40));
      try_parts(proxies, parts, k % 4 == 3 ? GAB_BALANCE_TOTAL : GAB_BALANCE_PER_LEVEL);
    }
    gab_proxies_destroy(&proxies);
  }
  return test_end(&world);
}
