/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/position.h"

#include "blockforest/forest/forest_impl.h"

#include <math.h>

bool gab_cells_contain(const gab_forest *forest, int level, const gab_box *cells, const double at[3])
{
  for (int axis = 0; axis < forest->options.grid.dimension; axis++) {
    const double cell = floor(gab_position_in_cells(forest, level, at, axis));
    if (!(cell >= (double)cells->lo[axis] && cell < (double)cells->hi[axis])) return false;
  }
  return true;
}

bool gab_forest_wrap(const gab_forest *forest, double at[3])
{
  const gab_forest_options *options = &forest->options;
  const gab_box all = gab_forest_domain_cells(forest);
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double cells = (double)all.hi[axis];
    double cell = gab_position_in_cells(forest, 0, at, axis);
    if (!isfinite(cell)) return false;
    if (cell >= 0 && cell < cells) continue;
    if (!options->periodic[axis]) return false;
    at[axis] = options->origin[axis] + (cell - cells * floor(cell / cells)) * options->dx;
    cell = gab_position_in_cells(forest, 0, at, axis);
    if (!(cell >= 0 && cell < cells)) at[axis] = options->origin[axis]; /* rounded up to the other side */
  }
  return true;
}

gab_block *gab_forest_block_at(const gab_forest *forest, const double at[3])
{
  const gab_forest_options *options = &forest->options;
  const int deepest = gab_root_grid_max_level(&options->grid);
  const gab_box all = gab_forest_domain_cells(forest);
  if (forest->block_count == 0 || !gab_cells_contain(forest, 0, &all, at)) return NULL;
  for (int level = 0; level <= deepest; level++) {
    gab_block_place place = {.level = level};
    for (int axis = 0; axis < options->grid.dimension; axis++)
      place.at[axis] =
          (int32_t)((int64_t)floor(gab_position_in_cells(forest, level, at, axis)) / options->cells[axis]);
    gab_block *found = gab_forest_find(forest, gab_block_id_of(&options->grid, place));
    if (found) return found;
  }
  return NULL;
}

const gab_neighbour *gab_block_neighbour_at(const gab_forest *forest, const gab_block *block,
                                            const double at[3])
{
  for (size_t r = 0; r < block->neighbour_count; r++) {
    const gab_neighbour *row = &block->neighbours[r];
    const gab_box cells = gab_forest_place_cells(forest, row->id);
    if (gab_cells_contain(forest, gab_block_id_level(&forest->options.grid, row->id), &cells, at)) return row;
  }
  return NULL;
}
