/* SPDX-License-Identifier: Apache-2.0 */
/* A phase field on a forest of several levels, for the tests. */
#ifndef GABION_TESTS_PHASEFIELD_LEVELS_COMMON_H
#define GABION_TESTS_PHASEFIELD_LEVELS_COMMON_H

#include "core/messages/collective.h"
#include "tests/phasefield/phase_common.h"
#include "phasefield/levels/refinement.h"

/* The forest of a case given in cells of its finest level. */
static inline phase_run levels_create(gab_world *world, const phase_case *given)
{
  const int levels = given->options.levels;
  phase_run made = {.dx = given->dx};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = ldexp(given->dx, levels)};
  for (int axis = 0; axis < 3; axis++) {
    const int32_t widest = given->block[axis] << (axis < given->dimension ? levels : 0);
    REQUIRE(given->cells[axis] % widest == 0);
    options.grid.roots[axis] = given->cells[axis] / widest;
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_PHASEFIELD_PERIODIC;
    made.cells[axis] = given->cells[axis];
  }
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_phasefield_create(made.forest, &given->options, &made.model));
  return made;
}

static inline phase_run levels_open(gab_world *world, const phase_case *given,
                                    const gab_phasefield_grid *grid)
{
  phase_run made = levels_create(world, given);
  REQUIRE_OK(gab_phasefield_build(made.model, grid, NULL));
  return made;
}

/* Blocks of each level, of all processes. */
static inline void levels_count(const phase_run *it, uint64_t blocks[GAB_PHASEFIELD_MOST_LEVELS + 1])
{
  memset(blocks, 0, (GAB_PHASEFIELD_MOST_LEVELS + 1) * sizeof *blocks);
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++)
    blocks[gab_block_level(it->forest, gab_forest_block(it->forest, i))]++;
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(it->forest), blocks, GAB_PHASEFIELD_MOST_LEVELS + 1));
}

static inline uint64_t levels_checksum(const phase_run *it)
{
  uint64_t checksum;
  REQUIRE_OK(gab_forest_checksum(it->forest, &checksum));
  return checksum;
}

#endif
