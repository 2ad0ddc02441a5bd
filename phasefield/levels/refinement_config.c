/* SPDX-License-Identifier: Apache-2.0 */
/* The section `phasefield.refinement`. */
#include "phasefield/levels/refinement.h"

#include "phasefield/phasefield_impl.h"

#include <math.h>

/* clang-format off */
static const gab_config_key keys[] = {
    {.name = "levels", .type = GAB_CONFIG_INT, .min = 0, .max = GAB_PHASEFIELD_MOST_LEVELS, .default_text = "0",
     .doc = "Number of coarser levels; each doubles the width of cells. Interfaces have cells of "
            "domain.cells, which must be whole blocks of the coarsest cells. All levels take the same"
            " time step. 0: one grid."},
    {.name = "every", .type = GAB_CONFIG_INT, .min = 1, .max = 1e9, .unit = "steps", .default_text = "20",
     .doc = "Interval of adaptations, in steps."},
    {.name = "margin", .type = GAB_CONFIG_INT, .min = 2, .max = 1e9, .unit = "cells", .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Fine cells around interfaces. Must exceed the motion of an interface between two "
            "adaptations, and of the window in one move (2^levels rows); a run ends if an interface "
            "reaches coarser cells. Default: 4 + 2^levels, with a window 4 + 2^(levels+1), at most "
            "the capacity of blocks."},
    {.name = "steepest", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .default_text = "0",
     .doc = "Also refine blocks in which a chemical potential changes by more than this between "
            "adjacent cells, and merge them below a quarter of it. 0: only interfaces count."},
};
/* clang-format on */

static const gab_config_section section = {
    .path = "phasefield.refinement",
    .doc = "Adaptive grid: wider cells in blocks of one phase away from interfaces.",
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
};

gab_status gab_phasefield_refinement_declare(gab_config *config)
{
  return gab_config_declare(config, &section);
}

/* Fewer blocks of as many cells, wider by 2^levels. */
static gab_status coarsen(const gab_config *config, int levels, gab_forest_options *forest)
{
  for (int axis = 0; axis < forest->grid.dimension; axis++) {
    if (forest->cells[axis] % 2 != 0 || forest->cells[axis] < 4 || forest->cells[axis] < 1 << levels)
      return gab_config_fail(config, "phasefield.refinement.levels",
                             "blocks of %" PRId32
                             " cells along %c cannot be split %d times: an even number is needed, "
                             "4 or more, and at least %d",
                             forest->cells[axis], (int)"xyz"[axis], levels, 1 << levels);
    if (forest->grid.roots[axis] % (1 << levels) != 0)
      return gab_config_fail(config, "phasefield.refinement.levels",
                             "%" PRId32 " blocks along %c are not a multiple of blocks %d times as wide",
                             forest->grid.roots[axis], (int)"xyz"[axis], 1 << levels);
    forest->grid.roots[axis] >>= levels;
  }
  forest->dx = ldexp(forest->dx, levels);
  return GAB_OK;
}

gab_status gab_phasefield_refinement_from_config(const gab_config *config, bool window,
                                                 gab_forest_options *forest,
                                                 gab_phasefield_refinement_setup *setup)
{
  static const char margin[] = "phasefield.refinement.margin";
  *setup = (gab_phasefield_refinement_setup){
      .levels = (int)gab_config_int(config, "phasefield.refinement.levels"),
      .every = gab_config_int(config, "phasefield.refinement.every"),
      .steepest = gab_config_real(config, "phasefield.refinement.steepest"),
  };
  if (setup->levels == 0) return GAB_OK;
  GAB_TRY(coarsen(config, setup->levels, forest));
  int32_t capacity = forest->cells[0];
  for (int axis = 1; axis < forest->grid.dimension; axis++)
    if (forest->cells[axis] < capacity) capacity = forest->cells[axis];
  capacity -= 2;
  const bool given = gab_config_is_set(config, margin);
  setup->margin = given ? (int)gab_config_int(config, margin) : 4 + (1 << (setup->levels + window));
  if (setup->margin > capacity) {
    if (given)
      return gab_config_fail(config, margin,
                             "%d cells are too many for blocks of %" PRId32 ": at most %" PRId32,
                             setup->margin, capacity + 2, capacity);
    setup->margin = capacity;
  }
  return GAB_OK;
}
