/* SPDX-License-Identifier: Apache-2.0 */
/* Surroundings of a block at the resolution of the finer of two levels: its own cells, and those of neighbours from the
 * geometry at their level. */
#include "lbm/levels/level_interface_impl.h"

#include <string.h>

enum { RIM_OF_FINE = 4, RIM_OF_COARSE = 6, UNKNOWN = 255 };

gab_beside gab_beside_of(const gab_forest *forest, const gab_block *block)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  gab_beside beside;
  memset(&beside, 0, sizeof beside);
  int level = gab_block_level(forest, block);
  for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
    const gab_neighbour *row = &gab_block_neighbours(block)[r];
    gab_block_place place = gab_block_id_place(grid, row->id);
    beside.kind[row->direction] = (uint8_t)(place.level == level  ? GAB_BESIDE_SAME
                                            : place.level < level ? GAB_BESIDE_COARSER
                                                                  : GAB_BESIDE_FINER);
    int child = (place.at[0] & 1) + 2 * (place.at[1] & 1) + 4 * (place.at[2] & 1);
    if (place.level > level) beside.finer[row->direction] |= (uint8_t)(1 << child);
  }
  return beside;
}

gab_status gab_level_view_make(const gab_lbm_model *model, const gab_lbm_block *block, bool as_coarse,
                               gab_level_view *view)
{
  *view = (gab_level_view){.model = model, .block = block, .as_coarse = as_coarse};
  view->level = block->at->level + as_coarse;
  view->rim = as_coarse ? RIM_OF_COARSE : RIM_OF_FINE;
  size_t count = 1;
  for (int axis = 0; axis < 3; axis++) {
    bool refines = axis < model->lattice->dimension;
    int times = as_coarse && refines ? 2 : 1;
    view->origin[axis] = times * block->first[axis];
    view->size[axis] = times * model->cells[axis];
    view->stride[axis] = refines ? (ptrdiff_t)count : 0;
    view->centre += view->rim * view->stride[axis];
    count *= (size_t)(view->size[axis] + (refines ? 2 * view->rim : 0));
  }
  GAB_TRY(GAB_NEW_ARRAY(&view->known, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) view->known[i].kind = UNKNOWN;
  return GAB_OK;
}

void gab_level_view_release(gab_level_view *view) { gab_free(&view->known); }

/* Direction from the block to a place. */
static int direction_to(const gab_level_view *view, const int32_t cell[3])
{
  int offset[3];
  for (int axis = 0; axis < 3; axis++)
    offset[axis] = cell[axis] < 0 ? -1 : cell[axis] >= view->size[axis] ? 1 : 0;
  return gab_direction_of(offset[0], offset[1], offset[2]);
}

/* Places beyond the domain, as in links. @return false if the place is inside */
static bool look_outside(const gab_level_view *view, const int32_t cell[3], gab_path_place *place)
{
  const gab_domain *domain = gab_geometry_domain(view->model->geometry);
  bool is_outside = false, is_wall = false, is_open = false;
  int64_t global[3];
  for (int axis = 0; axis < 3; axis++) global[axis] = view->origin[axis] + cell[axis];
  *place = (gab_path_place){.kind = GAB_PATH_SLIP};
  for (int axis = 0; axis < domain->dimension; axis++) {
    if (domain->periodic[axis] || (global[axis] >= 0 && global[axis] < domain->cells[axis] << view->level))
      continue;
    is_outside = true;
    const gab_side *side = gab_side_at(view->model, view->level, global, 2 * axis + (global[axis] >= 0));
    is_wall = is_wall || gab_side_bounces(side);
    is_open = is_open || gab_side_is_open(side);
    if (gab_side_reflects(side)) place->flip |= (uint8_t)(1 << axis);
  }
  if (is_wall) place->kind = GAB_PATH_WALL;
  else if (is_open) place->kind = GAB_PATH_OPEN;
  return is_outside;
}

static bool is_fluid_at(const gab_level_view *view, const int32_t cell[3], int levels_up)
{
  int64_t at[3];
  for (int axis = 0; axis < 3; axis++) {
    at[axis] = view->origin[axis] + cell[axis];
    if (axis < view->model->lattice->dimension) at[axis] >>= levels_up;
  }
  return gab_geometry_cell(view->model->geometry, view->level - levels_up, at) == GAB_CELL_FLUID;
}

bool gab_is_in_finer(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t cell[3],
                     int direction)
{
  int child = 0;
  for (int axis = 0; axis < model->lattice->dimension; axis++) {
    const int32_t size = model->cells[axis];
    int32_t within = cell[axis] < 0 ? cell[axis] + size : cell[axis] >= size ? cell[axis] - size : cell[axis];
    child |= (within >= size / 2) << axis;
  }
  return block->beside.finer[direction] >> child & 1;
}

static gab_path_kind look_as_coarse(const gab_level_view *view, const int32_t cell[3], int direction)
{
  const gab_beside *beside = &view->block->beside;
  if (direction == GAB_DIRECTION_CENTRE || beside->kind[direction] == GAB_BESIDE_SAME)
    return is_fluid_at(view, cell, 1) ? GAB_PATH_COARSE : GAB_PATH_WALL;
  if (beside->kind[direction] == GAB_BESIDE_COARSER)
    return is_fluid_at(view, cell, 2) ? GAB_PATH_COARSE : GAB_PATH_WALL;
  int32_t coarse[3];
  for (int axis = 0; axis < 3; axis++)
    coarse[axis] = axis < view->model->lattice->dimension ? (cell[axis] - (cell[axis] & 1)) / 2 : cell[axis];
  if (!gab_is_in_finer(view->model, view->block, coarse, direction)) return GAB_PATH_WALL;
  return is_fluid_at(view, cell, 0) ? GAB_PATH_FINE : GAB_PATH_FINE_WALL;
}

static gab_path_kind look_as_fine(const gab_level_view *view, const int32_t cell[3], int direction)
{
  const gab_beside *beside = &view->block->beside;
  if (direction == GAB_DIRECTION_CENTRE || beside->kind[direction] == GAB_BESIDE_SAME)
    return is_fluid_at(view, cell, 0) ? GAB_PATH_FINE : GAB_PATH_FINE_WALL;
  if (beside->kind[direction] == GAB_BESIDE_COARSER)
    return is_fluid_at(view, cell, 1) ? GAB_PATH_COARSE : GAB_PATH_WALL;
  return beside->kind[direction] == GAB_BESIDE_FINER ? GAB_PATH_FINE_WALL : GAB_PATH_WALL;
}

gab_path_place gab_level_view_look(const void *user, const int32_t cell[3])
{
  const gab_level_view *view = user;
  const ptrdiff_t index =
      view->centre + cell[0] * view->stride[0] + cell[1] * view->stride[1] + cell[2] * view->stride[2];
  gab_path_place *place = &view->known[index];
  if (place->kind != UNKNOWN || look_outside(view, cell, place)) return *place;
  int direction = direction_to(view, cell);
  *place = (gab_path_place){.kind = (uint8_t)(view->as_coarse ? look_as_coarse(view, cell, direction)
                                                              : look_as_fine(view, cell, direction))};
  return *place;
}
