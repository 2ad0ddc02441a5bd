/* SPDX-License-Identifier: Apache-2.0 */
/* Places that are fluid in fine resolution where the coarse cell is solid by an interpolated body: levels_interpolated.c. */
#include "lbm/levels/level_interface_impl.h"

#include <string.h>

/* Whether a coarse cell belongs to a block of the coarser level, for the fine or the coarse block. */
static bool is_of_coarser(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                          const int32_t coarse[3])
{
  int offset[3] = {0, 0, 0};
  for (int axis = 0; axis < model->lattice->dimension; axis++) {
    const int32_t at = as_coarse ? coarse[axis] : 2 * coarse[axis];
    offset[axis] = at < 0 ? -1 : at >= model->cells[axis] ? 1 : 0;
  }
  const int direction = gab_direction_of(offset[0], offset[1], offset[2]);
  if (direction == GAB_DIRECTION_CENTRE) return as_coarse;
  return block->beside.kind[direction] == (as_coarse ? GAB_BESIDE_SAME : GAB_BESIDE_COARSER);
}

static int32_t half_of(int32_t fine) { return (fine - (fine & 1)) / 2; }

bool gab_level_find_base(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                         const int32_t place[3], int32_t base[3])
{
  const int dimension = model->lattice->dimension, level = block->at->level + as_coarse;
  int32_t parent[3], nearest = INT32_MAX;
  int64_t fine[3], first[3], solid[3];
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < dimension;
    parent[axis] = refines ? half_of(place[axis]) : place[axis];
    first[axis] = refines && !as_coarse ? block->first[axis] / 2 : block->first[axis];
    fine[axis] = (refines ? 2 * first[axis] : first[axis]) + place[axis];
    solid[axis] = first[axis] + parent[axis];
  }
  if (!is_of_coarser(model, block, as_coarse, parent)) return false;
  const int body = gab_geometry_cell(model->geometry, level - 1, solid);
  if (body < 0 || gab_geometry_body(model->geometry, (size_t)body)->wall != GAB_WALL_INTERPOLATED ||
      gab_geometry_cell(model->geometry, level, fine) != GAB_CELL_FLUID)
    return false;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    int32_t coarse[3], square = 0;
    int64_t cell[3];
    gab_direction_offset(direction, offset);
    if (dimension == 2 && offset[2] != 0) continue;
    for (int axis = 0; axis < 3; axis++) {
      coarse[axis] = parent[axis] + offset[axis];
      cell[axis] = first[axis] + coarse[axis];
      const int32_t away = axis < dimension ? 2 * place[axis] + 1 - (4 * coarse[axis] + 2) : 0;
      square += away * away;
    }
    if (square >= nearest || !is_of_coarser(model, block, as_coarse, coarse) ||
        gab_geometry_cell(model->geometry, level - 1, cell) != GAB_CELL_FLUID)
      continue;
    nearest = square;
    memcpy(base, coarse, sizeof coarse);
  }
  return nearest < INT32_MAX;
}

bool gab_level_is_open_place(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t place[3],
                             int32_t base[3])
{
  int32_t found[3];
  if (block->at->level == 0 || gab_level_is_too_fast(model, block->at->level - 1) ||
      !gab_level_find_base(model, block, false, place, found))
    return false;
  if (base) memcpy(base, found, sizeof found);
  return true;
}
