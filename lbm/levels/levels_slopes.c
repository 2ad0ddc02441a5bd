/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of children: levels_slopes_impl.h. */
#include "lbm/levels/levels_slopes_impl.h"

#include <stdlib.h>
#include <string.h>

void gab_level_find_entries(const gab_level_maker *by, const int32_t coarse[3], int q,
                            gab_level_entry entries[GAB_CHILD_COUNT_MAX])
{
  const int dimension = by->model->lattice->dimension;
  for (int child = 0; child < 1 << dimension; child++) {
    gab_path_state start = {.q = q}, middle, end;
    gab_path_step before;
    gab_level_entry *found = &entries[child];
    gab_path_child(&by->paths, coarse, child, start.cell);
    gab_path_kind kind = gab_path_forth(&by->paths, &start, &middle);
    *found = (gab_level_entry){.sub = kind == GAB_PATH_FINE ? 1 : 0};
    memcpy(found->cell, middle.cell, sizeof found->cell);
    if (found->sub == 1) {
      gab_path_back(&by->paths, &start, &before);
      found->is_open = before.kind == GAB_PATH_OPEN;
      continue;
    }
    if (kind == GAB_PATH_COARSE) kind = gab_path_forth(&by->paths, &middle, &end);
    found->leaves = kind == GAB_PATH_OPEN;
    if (kind != GAB_PATH_FINE) continue;
    found->sub = 2;
    memcpy(found->cell, end.cell, sizeof found->cell);
  }
}

int gab_level_entry_weight(const gab_level_maker *by, const gab_level_entry *found, int child, int q,
                           int axis)
{
  const int half = (child >> axis & 1) ? 1 : -1, c = by->model->lattice->c[q][axis];
  return half + (found->sub == 1 ? -c : c);
}

/* Whether a place bounces back exactly the populations that are sent to it. */
static bool is_halfway_wall(const gab_level_maker *by, const int32_t place[3])
{
  int64_t global[3];
  const int kind = gab_level_view_look(&by->view, place).kind;
  if (kind != GAB_PATH_WALL && kind != GAB_PATH_FINE_WALL) return false;
  for (int axis = 0; axis < 3; axis++) global[axis] = by->view.origin[axis] + place[axis];
  const int body = gab_lbm_body_at(by->model, by->view.level, global);
  return body < 0 || gab_geometry_body(by->model->geometry, (size_t)body)->wall != GAB_WALL_INTERPOLATED;
}

/* Whether the target cell of (X, q) contains a half-way wall, also of finer cells, or consists of walls. */
static bool goes_to_wall(const gab_level_maker *by, const int32_t coarse[3], int q)
{
  const int dimension = by->model->lattice->dimension;
  const int8_t *c = by->model->lattice->c[q];
  bool all = true;
  for (int child = 0; child < 1 << dimension; child++) {
    int32_t place[3];
    for (int axis = 0; axis < 3; axis++)
      place[axis] = axis < dimension ? 2 * (coarse[axis] + c[axis]) + (child >> axis & 1) : coarse[axis];
    const int kind = gab_level_view_look(&by->view, place).kind;
    if (is_halfway_wall(by, place)) return true;
    all = all && (kind == GAB_PATH_WALL || kind == GAB_PATH_FINE_WALL);
  }
  return all;
}

/* Usable neighbours of X along an axis: bit 0 before, bit 1 behind. @return false if one is finer */
static bool look_along(const gab_level_maker *by, const int32_t coarse[3], int axis, uint8_t *usable)
{
  bool is_free = true;
  *usable = 0;
  for (int side = 0; side < 2; side++) {
    int32_t beside[3] = {coarse[0], coarse[1], coarse[2]}, place[3];
    beside[axis] += side == 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) place[k] = k < by->model->lattice->dimension ? 2 * beside[k] : beside[k];
    const int kind = gab_level_view_look(&by->view, place).kind;
    const bool is_here = beside[axis] >= 0 && beside[axis] < by->model->cells[axis];
    is_free = is_free && kind != GAB_PATH_FINE && kind != GAB_PATH_FINE_WALL;
    if (kind == GAB_PATH_COARSE && is_here) *usable |= (uint8_t)(1 << side);
  }
  return is_free;
}

/* Whether the cell is a coarse fluid cell of this block. */
static bool is_readable(const gab_level_maker *by, const int32_t coarse[3])
{
  int32_t place[3];
  for (int axis = 0; axis < 3; axis++)
    if (coarse[axis] < 0 || coarse[axis] >= by->model->cells[axis]) return false;
  gab_path_child(&by->paths, coarse, 0, place);
  return gab_level_view_look(&by->view, place).kind == GAB_PATH_COARSE;
}

/* The neighbour of X, at the same position along an axis, that has a slope along it: nearest, then first by direction. */
static uint8_t find_via(const gab_level_maker *by, const int32_t coarse[3], int axis, uint8_t *usable)
{
  for (int steps = 1; steps <= 2; steps++)
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      int offset[3];
      gab_direction_offset(direction, offset);
      const int32_t cell[3] = {coarse[0] + offset[0], coarse[1] + offset[1], coarse[2] + offset[2]};
      if (offset[axis] != 0 || abs(offset[0]) + abs(offset[1]) + abs(offset[2]) != steps ||
          (by->model->lattice->dimension == 2 && offset[2] != 0) || !is_readable(by, cell))
        continue;
      (void)look_along(by, cell, axis, usable);
      if (*usable != 0) return (uint8_t)(1 + direction);
    }
  return 0;
}

gab_status gab_level_find_usable(gab_level_maker *by, const int32_t coarse[3], uint8_t *before,
                                 uint8_t *behind, uint8_t via[3])
{
  *before = *behind = 0;
  for (int axis = 0; axis < by->model->lattice->dimension; axis++) {
    uint8_t usable;
    (void)look_along(by, coarse, axis, &usable);
    via[axis] = usable == 0 ? find_via(by, coarse, axis, &usable) : 0;
    if (usable == 0) {
      bool is_found;
      GAB_TRY(gab_level_add_wall(by, coarse, &is_found));
      if (is_found) via[axis] = GAB_SLOPE_BY_WALL;
    }
    *before |= (uint8_t)((usable & 1) << axis);
    *behind |= (uint8_t)((usable >> 1) << axis);
  }
  return GAB_OK;
}

void gab_level_find_slopes(const gab_level_maker *by, const int32_t coarse[3], int q,
                           const gab_level_entry entries[GAB_CHILD_COUNT_MAX], gab_level_slopes *slopes)
{
  const int dimension = by->model->lattice->dimension;
  bool returns = false, leaves = false; /* if all enter, none is left to lend */
  *slopes = (gab_level_slopes){0};
  for (int child = 0; child < 1 << dimension; child++) {
    returns = returns || entries[child].sub == 0;
    leaves = leaves || entries[child].leaves;
  }
  returns = returns && goes_to_wall(by, coarse, q);
  for (int axis = 0; axis < dimension; axis++) {
    int sum = 0;
    uint8_t usable;
    for (int child = 0; child < 1 << dimension; child++)
      if (entries[child].sub > 0) sum += gab_level_entry_weight(by, &entries[child], child, q, axis);
    if (!look_along(by, coarse, axis, &usable) || (sum != 0 && !returns && !leaves)) continue;
    slopes->before |= (uint8_t)((usable & 1) << axis);
    slopes->behind |= (uint8_t)((usable >> 1) << axis);
    slopes->lent[axis] = (int8_t)sum;
  }
}

void gab_level_find_lent(const gab_level_maker *by, gab_level_interface_arrival *arrival,
                         const int32_t coarse[3])
{
  const int sent = gab_lattice_opposite(arrival->q);
  gab_level_entry entries[GAB_CHILD_COUNT_MAX];
  gab_level_slopes slopes;
  if (!goes_to_wall(by, coarse, sent)) return;
  gab_level_find_entries(by, coarse, sent, entries);
  gab_level_find_slopes(by, coarse, sent, entries, &slopes);
  for (int axis = 0; axis < 3; axis++) {
    if (slopes.lent[axis] == 0) continue;
    arrival->before |= (uint8_t)(slopes.before & 1 << axis);
    arrival->behind |= (uint8_t)(slopes.behind & 1 << axis);
    arrival->lent[axis] = slopes.lent[axis];
  }
}
