/* SPDX-License-Identifier: Apache-2.0 */
/* Random refinement, merging and moves of proxies give the result of a comparison of all blocks with all others.
 * Arguments: number of seeds, first seed. */
/* gabion-test: np=1,2,3,4,7 quick=3 timeout=120 args=12 */
#include "tests/blockforest/adapt/proxy_sequence.h"
#include "tests/mpi_test.h"

#ifndef PROXIES_STEPS
#define PROXIES_STEPS       9
#define PROXIES_MOST_LEAVES 120
#endif

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  for (uint64_t seed = first; seed < first + seeds; seed++)
    REQUIRE(try_sequence(world, seed, PROXIES_STEPS, PROXIES_MOST_LEAVES));
  return test_end(&world);
}
