/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/observe/wall_loads.h"

#include "core/messages/collective.h"
#include "lbm/boundaries/body_sums_impl.h"
#include "lbm/observe/quantities_impl.h"

#include <math.h>

/* A share of a body's wall: sums over links. */
typedef struct wall_sums {
  gab_exact_sum area, y_plus; /* y_plus: times area */
  gab_exact_sum pressure[3], friction[3], pressure_torque[3], friction_torque[3];
} wall_sums;
enum { SUMS = sizeof(wall_sums) / sizeof(gab_exact_sum) };

typedef struct wall_search {
  const gab_lbm_quantities *view;
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  const gab_field *state; /* of the block, with ghosts: GAB_WALL_STATE_... */
  double scale;           /* area of a face of a cell */
  gab_wall_fit fit;       /* of the block */
  wall_sums *sums;        /* by body */
  double *least, *most;   /* of y+, by body */
} wall_search;

/* A link from a cell to the wall. */
typedef struct wall_link {
  int32_t at[3]; /* the cell */
  int64_t cell[3];
  const int8_t *c;      /* from the wall */
  double weight, delta; /* 6 w_q; distance of the wall, of the link */
  int body;
} wall_link;

/* ------------------------------------------------------------------------------------------ along a link */

enum { NODES = GAB_WALL_STATE_LAYERS + 1 };

/* Values of the fluid cells at, at + c, at + 2 c, ... up to the first that is none. @return their number */
static int read_along(const wall_search *by, const wall_link *link, int component, double value[NODES])
{
  int count = 0;
  for (; count < NODES; count++) {
    const int32_t x = link->at[0] + count * link->c[0], y = link->at[1] + count * link->c[1],
                  z = link->at[2] + count * link->c[2];
    bool is_there = true;
    for (int axis = 0; axis < 3; axis++) {
      const int32_t place = link->at[axis] + count * link->c[axis], ghosts = by->state->shape.ghosts[axis];
      is_there = is_there && place >= -ghosts && place < by->state->shape.cells[axis] + ghosts;
    }
    value[count] = is_there ? gab_field_get(by->state, x, y, z, component) : NAN;
    if (isnan(value[count])) break;
  }
  return count;
}

/* Value on the wall, at the distance d before the first of the nodes, by the parabola through the last three of them. The
 * wall and, with four nodes, the cell next to it are excluded. There pressure and velocity have errors of the wall
 * interpolation, of second order in the velocity, which slopes would turn into errors of first order. */
static double value_at_wall(const double value[NODES], int count, double d)
{
  if (count < 3) return count == 2 ? value[0] * (1 + d) - value[1] * d : value[0];
  const double *last = value + count - 3, at = d + count - 3;
  return last[0] * (1 + at) * (2 + at) / 2 - last[1] * at * (2 + at) + last[2] * at * (1 + at) / 2;
}

/* With fewer nodes the value at the wall, 0, replaces one. */
static double slope_at_wall(const double value[NODES], int count, double d)
{
  const double a = d, b = d + 1;
  if (count < 3) return count == 2 ? (value[0] * b * b - value[1] * a * a) / (a * b) : value[0] / d;
  const double *last = value + count - 3, at = d + count - 3;
  return (last[2] - last[0]) / 2 - (1 + at) * (last[0] - 2 * last[1] + last[2]);
}

/* ------------------------------------------------------------------------------------------ sums */

static void add_vector(gab_exact_sum sum[3], const double value[3])
{
  for (int axis = 0; axis < 3; axis++)
    if (value[axis] != 0) gab_exact_add(&sum[axis], value[axis]);
}

static void add_force(gab_exact_sum force[3], gab_exact_sum torque[3], const double arm[3], const double f[3])
{
  double t[3];
  for (int axis = 0; axis < 3; axis++) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    t[axis] = arm[b] * f[c] - arm[c] * f[b];
  }
  add_vector(force, f);
  add_vector(torque, t);
}

/* Velocities of the nodes relative to the wall, as a rigid body continued into the fluid: its own stress is zero.
 * @return the number of nodes */
static int read_velocity(const wall_search *by, const wall_link *link, int axis, double value[NODES])
{
  const int count = read_along(by, link, GAB_WALL_STATE_VELOCITY + axis, value);
  for (int k = 0; k < count; k++) {
    const double offset[3] = {k * link->c[0], k * link->c[1], k * link->c[2]};
    double wall[3];
    gab_geometry_wall_velocity(by->model->geometry, by->block->at->level, link->cell, link->body, offset,
                               wall);
    value[k] -= wall[axis];
  }
  return count;
}

/* That of the cell; if it follows from the shear rate, at the wall, where (c grad) u = (c n) (n grad) u. Links nearly along the wall
 * do not tell (n grad) u. */
static double viscosity_of_link(const wall_search *by, const wall_link *link, const double place[3],
                                const double slope[3])
{
  const double along = 0.3;
  const int level = by->block->at->level;
  double normal[3], point[3], across = 0, length = 0;
  const double usual =
      gab_field_get(by->state, link->at[0], link->at[1], link->at[2], GAB_WALL_STATE_VISCOSITY);
  if (!by->model->options.collision->rate_of_strain) return usual;
  for (int axis = 0; axis < 3; axis++) point[axis] = ldexp(place[axis], -level);
  if (!gab_geometry_normal_at(by->model->geometry, point, link->body, normal)) return usual;
  for (int axis = 0; axis < 3; axis++) {
    across += link->c[axis] * normal[axis];
    length += slope[axis] * slope[axis];
  }
  if (!(fabs(across) > along)) return usual;
  return gab_wall_viscosity(by->model, by->block->at, sqrt(length) / fabs(across), usual);
}

/* Per area the wall has n c_q links of direction q, so the sum of 6 w_q c_q g over them is the integral of n g, and that of
 * 6 w_q (c_q grad) u the integral of (n grad) u: next to a rigid wall the viscous stress on it, divided by the viscosity. */
static void add_link(const wall_search *by, const wall_link *link)
{
  const int level = by->block->at->level, dimension = by->model->lattice->dimension;
  const double share = by->scale * link->weight;
  double value[NODES], place[3], arm[3], pressure[3], friction[3] = {0, 0, 0};
  wall_sums *to = &by->sums[link->body];
  for (int axis = 0; axis < 3; axis++)
    place[axis] = (double)link->cell[axis] + 0.5 - link->delta * link->c[axis];
  gab_geometry_arm(by->model->geometry, level, (size_t)link->body, place, arm);
  int count = read_along(by, link, GAB_WALL_STATE_DENSITY, value);
  const double p = value_at_wall(value, count, link->delta) / 3;
  for (int axis = 0; axis < 3; axis++) pressure[axis] = -share * link->c[axis] * p;
  for (int axis = 0; axis < dimension; axis++) {
    count = read_velocity(by, link, axis, value);
    friction[axis] = slope_at_wall(value, count, link->delta);
  }
  const double viscosity = viscosity_of_link(by, link, place, friction);
  for (int axis = 0; axis < dimension; axis++) friction[axis] *= share * viscosity * (1 + 3 * p);
  add_force(to->pressure, to->pressure_torque, arm, pressure);
  add_force(to->friction, to->friction_torque, arm, friction);
}

/* y+ of a cell: its distance from the wall over viscosity / friction velocity. Without a fit as if the velocity were linear up to it. */
static void add_y_plus(wall_search *by, const gab_block *place, const wall_link *link, const double sum[3])
{
  static const double nowhere[3] = {0, 0, 0};
  double normal[3], distance, wall[3], u[3], across = 0, square = 0, area = 0, slope[3], viscosity;
  int beside;
  if (!gab_lbm_wall_beside(by->view->lbm, place, link->at, normal, &distance, &beside)) return;
  gab_geometry_wall_velocity(by->model->geometry, by->block->at->level, link->cell, link->body, nowhere,
                             wall);
  for (int axis = 0; axis < 3; axis++) {
    u[axis] =
        gab_field_get(by->state, link->at[0], link->at[1], link->at[2], GAB_WALL_STATE_VELOCITY + axis) -
        wall[axis];
    across += u[axis] * normal[axis];
    area += by->scale * sum[axis] * normal[axis];
  }
  for (int axis = 0; axis < 3; axis++)
    square += (u[axis] - across * normal[axis]) * (u[axis] - across * normal[axis]);
  if (gab_wall_fit_slope(&by->fit, link->at, beside, normal, distance, slope, &viscosity))
    square = distance * distance * (slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
  else viscosity = gab_field_get(by->state, link->at[0], link->at[1], link->at[2], GAB_WALL_STATE_VISCOSITY);
  const double found = sqrt(distance * sqrt(square) / viscosity);
  const int body = link->body;
  if (area <= 0) return;
  gab_exact_add(&by->sums[body].area, area);
  gab_exact_add(&by->sums[body].y_plus, area * found);
  by->least[body] = fmin(by->least[body], found);
  by->most[body] = fmax(by->most[body], found);
}

static void add_cell(wall_search *by, const gab_block *place, const int32_t at[3])
{
  wall_link link = {.at = {at[0], at[1], at[2]}, .body = -1}, last = link;
  double sum[3] = {0, 0, 0};
  for (int axis = 0; axis < 3; axis++) link.cell[axis] = by->block->first[axis] + at[axis];
  for (int q = 1; q < by->model->lattice->q; q++) {
    int32_t there[3];
    int64_t solid[3];
    link.c = by->model->lattice->c[q];
    for (int axis = 0; axis < 3; axis++) {
      there[axis] = at[axis] - link.c[axis];
      solid[axis] = link.cell[axis] - link.c[axis];
    }
    if (!gab_lbm_leads_to_wall(by->model, by->block, there, solid, &link.body) || link.body < 0) continue;
    link.weight = 6 * by->model->lattice->weight[q];
    link.delta =
        gab_geometry_wall_distance(by->model->geometry, by->block->at->level, solid, link.body, link.c);
    add_link(by, &link);
    for (int axis = 0; axis < 3; axis++) sum[axis] += link.weight * link.c[axis];
    last = link;
  }
  if (last.body >= 0) add_y_plus(by, place, &last, sum);
}

static void add_block(wall_search *by, const gab_block *place)
{
  const int32_t *cells = by->state->shape.cells;
  int32_t at[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++)
        if (!isnan(gab_field_get(by->state, at[0], at[1], at[2], GAB_WALL_STATE_DENSITY)))
          add_cell(by, place, at);
}

static gab_status add_all(const gab_lbm_quantities *view, wall_search *by)
{
  for (size_t b = 0; b < gab_forest_block_count(view->forest); b++) {
    const gab_block *place = gab_forest_block(view->forest, b);
    if (!gab_lbm_has_walls(view->lbm, place)) continue;
    by->block = gab_lbm_block_of(view->lbm, place);
    by->state = gab_block_data(place, view->walls.data);
    by->scale = ldexp(1, -by->block->at->level * (by->model->lattice->dimension - 1));
    GAB_TRY(gab_wall_fit_open(view->lbm, place, by->state, &by->fit));
    add_block(by, place);
    gab_wall_fit_close(&by->fit);
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all of a flow */

static void take_values(const gab_exact_sum sum[3], double value[3])
{
  for (int axis = 0; axis < 3; axis++) value[axis] = gab_exact_value(&sum[axis]);
}

static gab_status reduce(gab_world *world, wall_search *by, size_t bodies, gab_wall_load *loads)
{
  GAB_TRY(gab_world_sum_exact(world, &by->sums[0].area, bodies * SUMS));
  GAB_TRY(gab_world_min_f64(world, by->least, bodies));
  GAB_TRY(gab_world_max_f64(world, by->most, bodies));
  for (size_t k = 0; k < bodies; k++) {
    const wall_sums *from = &by->sums[k];
    const double area = gab_exact_value(&from->area);
    loads[k] = (gab_wall_load){.y_plus_least = area > 0 ? by->least[k] : 0,
                               .y_plus_mean = area > 0 ? gab_exact_value(&from->y_plus) / area : 0,
                               .y_plus_most = by->most[k]};
    take_values(from->pressure, loads[k].pressure);
    take_values(from->friction, loads[k].friction);
    take_values(from->pressure_torque, loads[k].pressure_torque);
    take_values(from->friction_torque, loads[k].friction_torque);
  }
  return GAB_OK;
}

gab_status gab_lbm_wall_loads(gab_lbm_quantities *quantities, gab_wall_load *loads)
{
  wall_search by = {.view = quantities, .model = &quantities->lbm->model};
  const size_t bodies = gab_geometry_body_count(by.model->geometry);
  if (!(quantities->wanted & GAB_LBM_NEEDS_WALLS))
    GAB_FAIL(GAB_ERR_STATE, "walls were not asked for when the quantities were made");
  GAB_TRY(gab_lbm_quantities_update_walls(quantities));
  if (bodies == 0) return GAB_OK;
  gab_status status = GAB_NEW_ARRAY(&by.sums, bodies, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&by.least, bodies, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&by.most, bodies, GAB_MEMORY_OTHER);
  for (size_t k = 0; status == GAB_OK && k < bodies; k++) by.least[k] = INFINITY;
  if (status == GAB_OK) status = add_all(quantities, &by);
  status = gab_world_reduce_status(quantities->lbm->world, status);
  if (status == GAB_OK) status = reduce(quantities->lbm->world, &by, bodies, loads);
  gab_free(&by.sums);
  gab_free(&by.least);
  gab_free(&by.most);
  return status;
}
