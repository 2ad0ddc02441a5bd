/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/observe/wall_fit_impl.h"

#include "lbm/setup/units.h"

#include <math.h>
#include <string.h>

/* Kind of a cell of a block or its ghosts, relative to a body. */
typedef struct gab_wall_place {
  double distance, normal[3]; /* of the body's surface where it is nearest */
  int body;                   /* that the others are of; FRESH: not known yet */
  bool has_normal;
} gab_wall_place;
enum { FRESH = -1 };

enum {
  REACH = GAB_WALL_FIT_REACH,
  WIDTH = 2 * REACH + 1,
  TERMS = 4,  /* s, s^2, s t_1, s t_2 */
  VALUES = 4, /* three components of velocity, viscosity */
  MOST_CELLS = WIDTH * WIDTH * WIDTH
};

bool gab_wall_fit_has_use(const gab_geometry *geometry)
{
  for (size_t body = 0; body < gab_geometry_body_count(geometry); body++)
    if (gab_geometry_body(geometry, body)->wall == GAB_WALL_INTERPOLATED) return true;
  return false;
}

gab_status gab_wall_fit_open(const gab_lbm *lbm, const gab_block *block, const gab_field *state,
                             gab_wall_fit *fit)
{
  const gab_lbm_model *model = &lbm->model;
  *fit = (gab_wall_fit){0};
  if (!state || !gab_wall_fit_has_use(model->geometry)) return GAB_OK;
  size_t count = 1;
  for (int axis = 0; axis < 3; axis++) {
    const int32_t ghosts = state->shape.ghosts[axis];
    if (axis < model->lattice->dimension && ghosts < REACH) return GAB_OK;
    count *= (size_t)(state->shape.cells[axis] + 2 * ghosts);
  }
  const int level = gab_block_level(lbm->forest, block);
  gab_box around = gab_block_cells(lbm->forest, block);
  for (int axis = 0; axis < model->lattice->dimension; axis++) {
    around.lo[axis]--;
    around.hi[axis]++;
  }
  if (gab_geometry_is_clear(model->geometry, level, &around)) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&fit->places, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) fit->places[i].body = FRESH;
  fit->model = model;
  fit->block = gab_lbm_block_of(lbm, block);
  fit->state = state;
  return GAB_OK;
}

void gab_wall_fit_close(gab_wall_fit *fit) { gab_free(&fit->places); }

static const gab_wall_place *look_up(const gab_wall_fit *fit, const int32_t at[3], int body)
{
  const gab_field_shape *shape = &fit->state->shape;
  size_t index = 0;
  for (int axis = 2; axis >= 0; axis--)
    index = index * (size_t)(shape->cells[axis] + 2 * shape->ghosts[axis]) +
            (size_t)(at[axis] + shape->ghosts[axis]);
  gab_wall_place *place = &fit->places[index];
  if (place->body == body) return place;
  const int64_t cell[3] = {fit->block->first[0] + at[0], fit->block->first[1] + at[1],
                           fit->block->first[2] + at[2]};
  place->body = body;
  place->has_normal = gab_geometry_normal(fit->model->geometry, fit->block->at->level, cell, body,
                                          place->normal, &place->distance);
  return place;
}

/* ------------------------------------------------------------------------------------------ cells around */

static bool is_fluid(const gab_field *state, const int32_t at[3])
{
  for (int axis = 0; axis < 3; axis++)
    if (at[axis] < -state->shape.ghosts[axis] ||
        at[axis] >= state->shape.cells[axis] + state->shape.ghosts[axis])
      return false;
  return !isnan(gab_field_get(state, at[0], at[1], at[2], GAB_WALL_STATE_DENSITY));
}

static int number_of(const int32_t offset[3])
{
  return ((offset[2] + REACH) * WIDTH + offset[1] + REACH) * WIDTH + offset[0] + REACH;
}

/* Fluid cells within reach that are connected with the cell through faces within reach; excludes those behind a thin
 * wall.
 * @param[out] found  offsets, the cell itself first, in an order that only depends on them @return their number */
static int collect(const gab_wall_fit *fit, const int32_t at[3], int32_t found[MOST_CELLS][3])
{
  bool seen[MOST_CELLS] = {false};
  int count = 1;
  memset(found[0], 0, sizeof found[0]);
  seen[number_of(found[0])] = true;
  for (int next = 0; next < count; next++)
    for (int face = 0; face < 2 * fit->model->lattice->dimension; face++) {
      int32_t offset[3] = {found[next][0], found[next][1], found[next][2]};
      offset[face / 2] += face % 2 ? 1 : -1;
      if (offset[face / 2] < -REACH || offset[face / 2] > REACH || seen[number_of(offset)]) continue;
      seen[number_of(offset)] = true;
      const int32_t there[3] = {at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]};
      if (is_fluid(fit->state, there)) memcpy(found[count++], offset, sizeof offset);
    }
  return count;
}

/* ------------------------------------------------------------------------------------------ least squares */

/* Normal equations, the lower triangle, with right-hand sides. */
typedef struct equations {
  double matrix[TERMS][TERMS], right[TERMS][VALUES];
} equations;

static void add_row(equations *to, int terms, const double term[TERMS], const double value[VALUES],
                    double weight)
{
  for (int i = 0; i < terms; i++) {
    for (int j = 0; j <= i; j++) to->matrix[i][j] += weight * term[i] * term[j];
    for (int k = 0; k < VALUES; k++) to->right[i][k] += weight * term[i] * value[k];
  }
}

/* The first unknown is in right[0]. @return false if the cells do not determine all unknowns */
static bool solve(equations *of, int terms)
{
  double diagonal[TERMS];
  for (int i = 0; i < terms; i++) diagonal[i] = of->matrix[i][i];
  for (int i = 0; i < terms; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = of->matrix[i][j];
      for (int k = 0; k < j; k++) sum -= of->matrix[i][k] * of->matrix[j][k];
      if (i == j && !(sum > 1e-6 * diagonal[i])) return false;
      of->matrix[i][j] = i == j ? sqrt(sum) : sum / of->matrix[j][j];
    }
    for (int k = 0; k < VALUES; k++) {
      for (int j = 0; j < i; j++) of->right[i][k] -= of->matrix[i][j] * of->right[j][k];
      of->right[i][k] /= of->matrix[i][i];
    }
  }
  for (int i = terms - 1; i >= 0; i--)
    for (int k = 0; k < VALUES; k++) {
      for (int j = i + 1; j < terms; j++) of->right[i][k] -= of->matrix[j][i] * of->right[j][k];
      of->right[i][k] /= of->matrix[i][i];
    }
  return true;
}

/* Two directions along the wall. */
static void find_frame(const double n[3], int dimension, double t[2][3])
{
  const int least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0
                    : fabs(n[1]) <= fabs(n[2])                           ? 1
                                                                         : 2;
  double length = 0;
  memset(t, 0, 2 * sizeof t[0]);
  if (dimension == 2) {
    t[0][0] = -n[1];
    t[0][1] = n[0];
    return;
  }
  for (int axis = 0; axis < 3; axis++) {
    t[0][axis] = (axis == least) - n[least] * n[axis];
    length += t[0][axis] * t[0][axis];
  }
  for (int axis = 0; axis < 3; axis++) t[0][axis] /= sqrt(length);
  for (int axis = 0; axis < 3; axis++) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    t[1][axis] = n[b] * t[0][c] - n[c] * t[0][b];
  }
}

static double product(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double gab_wall_viscosity(const gab_lbm_model *model, const gab_level_model *at, double shear_rate,
                          double otherwise)
{
  const gab_collision *collision = model->options.collision;
  if (!collision->rate_of_strain) return otherwise;
  return gab_viscosity_of_omega(collision->rate_of_strain(&at->rates, ldexp(shear_rate, at->level)));
}

bool gab_wall_fit_slope(gab_wall_fit *fit, const int32_t at[3], int body, const double normal[3],
                        double distance, double slope[3], double *viscosity)
{
  if (!fit->places || body < 0 ||
      gab_geometry_body(fit->model->geometry, (size_t)body)->wall != GAB_WALL_INTERPOLATED)
    return false;
  const int dimension = fit->model->lattice->dimension, level = fit->block->at->level;
  const int64_t cell[3] = {fit->block->first[0] + at[0], fit->block->first[1] + at[1],
                           fit->block->first[2] + at[2]};
  int32_t cells[MOST_CELLS][3];
  double along[2][3];
  equations velocity = {0}, turbulent = {0};
  const int count = collect(fit, at, cells);
  find_frame(normal, dimension, along);
  for (int k = 0; k < count; k++) {
    const int32_t there[3] = {at[0] + cells[k][0], at[1] + cells[k][1], at[2] + cells[k][2]};
    const double offset[3] = {cells[k][0], cells[k][1], cells[k][2]};
    const gab_wall_place *place = look_up(fit, there, body);
    /* Around an edge of the body another face is nearest. */
    if (!place->has_normal || product(place->normal, normal) < 0.5) continue;
    if (product(offset, normal) + distance <= 0) continue;
    double wall[3], value[VALUES], t[2];
    gab_geometry_wall_velocity(fit->model->geometry, level, cell, body, offset, wall);
    for (int axis = 0; axis < 3; axis++)
      value[axis] = gab_field_get(fit->state, there[0], there[1], there[2], GAB_WALL_STATE_VELOCITY + axis) -
                    wall[axis];
    value[3] = gab_field_get(fit->state, there[0], there[1], there[2], GAB_WALL_STATE_VISCOSITY);
    for (int i = 0; i < 2; i++) t[i] = product(offset, along[i]);
    const double s = place->distance, r2 = s * s + t[0] * t[0] + t[1] * t[1], s4 = s * s * s * s;
    const double damping = s4 / (1 + s4), weight = damping * damping / ((1 + r2) * (1 + r2) * (1 + r2));
    add_row(&velocity, dimension + 1, (double[]){s, s * s, s * t[0], s * t[1]}, value, weight);
    add_row(&turbulent, dimension + 1, (double[]){1, s, t[0], t[1]}, value, weight);
  }
  if (!solve(&velocity, dimension + 1) || !solve(&turbulent, dimension + 1)) return false;
  for (int axis = 0; axis < 3; axis++) slope[axis] = velocity.right[0][axis];
  const double across = product(slope, normal);
  for (int axis = 0; axis < 3; axis++) slope[axis] -= across * normal[axis];
  *viscosity =
      gab_wall_viscosity(fit->model, fit->block->at, sqrt(product(slope, slope)), turbulent.right[0][3]);
  return *viscosity > 0;
}
