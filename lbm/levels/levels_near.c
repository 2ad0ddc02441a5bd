/* SPDX-License-Identifier: Apache-2.0 */
/* Which coarse cells are next to an interpolated wall, and of which body: for levels_interpolated.c. */
#include "lbm/levels/levels_lists_impl.h"

/* Whether a coarse cell, or one of the fine cells in its place, is solid by an interpolated body. */
static bool has_interpolated(const gab_level_maker *by, const int64_t coarse[3])
{
  const gab_geometry *geometry = by->model->geometry;
  const int dimension = by->model->lattice->dimension;
  if (gab_level_is_interpolated(by, gab_geometry_cell(geometry, by->view.level - 1, coarse))) return true;
  for (int child = 0; child < 1 << dimension; child++) {
    int64_t fine[3];
    for (int axis = 0; axis < 3; axis++)
      fine[axis] = axis < dimension ? 2 * coarse[axis] + (child >> axis & 1) : coarse[axis];
    if (gab_level_is_interpolated(by, gab_geometry_cell(geometry, by->view.level, fine))) return true;
  }
  return false;
}

bool gab_level_is_near_interpolated(const gab_level_maker *by, const int32_t coarse[3])
{
  const bool deep = by->model->lattice->dimension == 3;
  int64_t centre[3];
  gab_box box;
  if (gab_geometry_body_count(by->model->geometry) == 0 ||
      gab_level_is_too_fast(by->model, by->view.level - 1))
    return false;
  gab_level_coarse_of_domain(by, coarse, centre);
  for (int axis = 0; axis < 3; axis++) {
    const int reach = axis < 2 || deep;
    box.lo[axis] = centre[axis] - reach;
    box.hi[axis] = centre[axis] + reach + 1;
  }
  if (gab_geometry_is_clear(by->model->geometry, by->view.level - 1, &box)) return false;
  int64_t cell[3];
  for (cell[2] = box.lo[2]; cell[2] < box.hi[2]; cell[2]++)
    for (cell[1] = box.lo[1]; cell[1] < box.hi[1]; cell[1]++)
      for (cell[0] = box.lo[0]; cell[0] < box.hi[0]; cell[0]++)
        if (has_interpolated(by, cell)) return true;
  return false;
}

int gab_level_body_near(const gab_level_maker *by, const int32_t coarse[3])
{
  const int dimension = by->model->lattice->dimension;
  int64_t centre[3];
  gab_level_coarse_of_domain(by, coarse, centre);
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    if (dimension == 2 && offset[2] != 0) continue;
    for (int child = -1; child < 1 << dimension; child++) {
      int64_t cell[3];
      for (int axis = 0; axis < 3; axis++) {
        cell[axis] = centre[axis] + offset[axis];
        if (child >= 0 && axis < dimension) cell[axis] = 2 * cell[axis] + (child >> axis & 1);
      }
      const int body = gab_geometry_cell(by->model->geometry, by->view.level - (child < 0), cell);
      if (gab_level_is_interpolated(by, body)) return body;
    }
  }
  return -1;
}

gab_status gab_level_add_wall(gab_level_maker *by, const int32_t coarse[3], bool *is_found)
{
  /* Half a cell further from the wall the velocity is at most three times that of the cell. */
  const double least_distance = 0.25;
  gab_level_interface *interface = by->interface;
  gab_level_interface_wall made = {.cell = gab_level_index_of(by, coarse)};
  double distance;
  int64_t cell[3];
  *is_found = interface->wall_count > 0 && interface->walls[interface->wall_count - 1].cell == made.cell;
  if (*is_found) return GAB_OK;
  gab_level_coarse_of_domain(by, coarse, cell);
  const int body = gab_level_body_near(by, coarse);
  if (body < 0 ||
      !gab_geometry_normal(by->model->geometry, by->view.level - 1, cell, body, made.normal, &distance) ||
      !(distance >= least_distance))
    return GAB_OK;
  double offset[3];
  for (int axis = 0; axis < 3; axis++) {
    offset[axis] = -made.normal[axis] * distance;
    made.normal[axis] /= distance;
  }
  gab_geometry_wall_velocity(by->model->geometry, by->view.level - 1, cell, body, offset, made.velocity);
  void *items = interface->walls;
  GAB_TRY(gab_level_list_grow(&items, interface->wall_count, &by->wall_capacity, sizeof made));
  interface->walls = items;
  interface->walls[interface->wall_count++] = made;
  *is_found = true;
  return GAB_OK;
}
