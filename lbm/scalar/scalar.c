/* SPDX-License-Identifier: Apache-2.0 */
/* A scalar that a flow carries: its fields, its coupling with the flow and its steps. */
#include "lbm/scalar/scalar_impl.h"

#include "lbm/lbm_impl.h"
#include "lbm/observe/stress_impl.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- coupling with the flow */

static bool drives(const gab_lbm_scalar_options *options)
{
  return options->buoyancy[0] != 0 || options->buoyancy[1] != 0 || options->buoyancy[2] != 0;
}

static void force_of_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                         double *const force[3])
{
  for (const gab_lbm_scalar *it = user; it; it = it->before) {
    const double *t = scalar_row(gab_block_data(block, it->now), first[1], first[2]) + first[0];
    for (int axis = 0; axis < it->dimension; axis++)
      for (int32_t i = 0; it->options.buoyancy[axis] != 0 && i < count; i++)
        force[axis][i] += it->options.buoyancy[axis] * (t[i] - it->options.reference);
  }
}

enum { ROW = 64 };

/* Momentum with half of the local force; the stored populations include the whole force. */
static void put_momentum(const gab_lbm_scalar *it, const gab_block *block, const int32_t at[3],
                         const double *density, const double *velocity, int32_t count)
{
  const gab_local_force *local = it->lbm->model.local_force;
  const double half = ldexp(0.5, -gab_block_level(it->forest, block));
  gab_field *now = gab_block_data(block, it->now);
  double force[3][ROW];
  double *const to[3] = {force[0], force[1], force[2]};
  if (local) {
    for (int axis = 0; axis < 3; axis++) memset(force[axis], 0, (size_t)count * sizeof **force);
    local->row(local->user, block, at, count, to);
  }
  for (int axis = 0; axis < it->dimension; axis++) {
    double *j = (double *)now->data + gab_field_index(&now->map, at[0], at[1], at[2], SCALAR_MOMENTUM + axis);
    for (int32_t i = 0; i < count; i++) j[i] = density[i] * velocity[3 * i + axis];
    for (int32_t i = 0; local && i < count; i++) j[i] -= half * force[axis][i];
  }
}

static gab_status take_momentum(const gab_lbm_scalar *it, const gab_block *block)
{
  const gab_field *now = gab_block_data(block, it->now);
  const int32_t *cells = now->shape.cells;
  double density[ROW], velocity[3 * ROW];
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x += ROW) {
        const int32_t left = cells[0] - x, count = left < ROW ? left : ROW;
        const gab_box row = {{x, y, z}, {x + count, y + 1, z + 1}};
        GAB_TRY(gab_lbm_macroscopic(it->lbm, block, &row, density, velocity));
        put_momentum(it, block, (const int32_t[3]){x, y, z}, density, velocity, count);
      }
  return GAB_OK;
}

/* The eddy viscosity that the next step of the flow will have. */
static gab_status take_eddies(const gab_lbm_scalar *it)
{
  const int component = scalar_eddies(it);
  if (!component) return GAB_OK;
  GAB_TRY(gab_lbm_fill_arrivals(it->lbm));
#pragma omp parallel for schedule(dynamic)
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const double scale =
        ldexp(1 / it->options.turbulent_prandtl, -gab_block_level(it->forest, block)); /* to level 0 */
    gab_field *now = gab_block_data(block, it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_fill(now, component, &box, 0);
    gab_lbm_fill_eddy_viscosity(it->lbm, block, now, component);
    for (int32_t z = 0; z < now->shape.cells[2]; z++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++) {
        double *eddies = (double *)now->data + gab_field_index(&now->map, 0, y, z, component);
        for (int32_t x = 0; x < now->shape.cells[0]; x++) eddies[x] *= scale;
      }
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- a step */

static void take_next(const gab_lbm_scalar *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *now = gab_block_data(block, it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_copy_component(now, &box, SCALAR_VALUE, gab_block_data(block, it->next), &box, SCALAR_VALUE);
  }
}

/* Heun's method as two steps of Euler and a mean, which stays in the bounds of both (Shu & Osher 1988). The start is kept next to the
 * values of the next step. */
static void keep_start(const gab_lbm_scalar *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *now = gab_block_data(block, it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_copy_component(gab_block_data(block, it->next), &box, SCALAR_MOMENTUM, now, &box, SCALAR_VALUE);
  }
}

static void take_mean(const gab_lbm_scalar *it)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *next = gab_block_data(block, it->next);
    gab_field *now = gab_block_data(block, it->now);
    for (int32_t z = 0; z < now->shape.cells[2]; z++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++) {
        const double *later = scalar_row(next, y, z),
                     *start = later + SCALAR_MOMENTUM * next->map.component_stride;
        double *t = (double *)now->data + gab_field_index(&now->map, 0, y, z, SCALAR_VALUE);
        for (int32_t x = 0; x < now->shape.cells[0]; x++) t[x] = 0.5 * (start[x] + later[x]);
      }
  }
}

gab_status gab_lbm_scalar_step(gab_lbm_scalar *it)
{
  const size_t count = gab_forest_block_count(it->forest);
  const double start = (double)gab_lbm_get_step(it->lbm) - 1; /* the flow has done its step */
  for (size_t b = 0; b < count; b++) GAB_TRY(take_momentum(it, gab_forest_block(it->forest, b)));
  GAB_TRY(take_eddies(it));
  for (int part = 0; part < it->substeps; part++) {
    if (it->options.bounded) keep_start(it);
    GAB_TRY(gab_lbm_scalar_find_next(it, start, start + (double)part / it->substeps));
    take_next(it);
    if (!it->options.bounded) continue;
    GAB_TRY(gab_lbm_scalar_find_next(it, start, start + (double)(part + 1) / it->substeps));
    take_mean(it);
  }
  return GAB_OK;
}

void gab_lbm_scalar_fill(gab_lbm_scalar *it, double value)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    gab_field *now = gab_block_data(gab_forest_block(it->forest, b), it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_fill(now, SCALAR_VALUE, &box, value);
  }
}

void gab_lbm_scalar_set(gab_lbm_scalar *it, gab_lbm_scalar_fn *value, void *user)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const scalar_cells *cells = gab_block_data(block, it->cells);
    gab_field *now = gab_block_data(block, it->now);
    size_t index = 0;
    for (int32_t z = 0; z < now->shape.cells[2]; z++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++)
        for (int32_t x = 0; x < now->shape.cells[0]; x++, index++) {
          double centre[3];
          if (scalar_is_empty(cells, index)) continue;
          gab_block_cell_centre(it->forest, block, x, y, z, centre);
          gab_field_set(now, x, y, z, SCALAR_VALUE, value(user, centre, 0));
        }
  }
}

gab_data_id gab_lbm_scalar_data(const gab_lbm_scalar *it) { return it->now; }

gab_ghost_kind gab_lbm_scalar_fields(const gab_lbm_scalar *it, gab_data_id data[2])
{
  data[0] = it->now;
  data[1] = it->next;
  return gab_block_field_ghosts(&it->shape);
}

/* ---------------------------------------------------------------- made and unmade */

gab_status gab_lbm_scalar_check_stable(double diffusivity, int dimension, int finest, double speed)
{
  const double least = speed * speed / 2, in_finest = ldexp(diffusivity, 2 * finest);
  if (!(in_finest <= 0.5 / dimension))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "a diffusivity of %.3g in the finest cells is unstable above 1/%d: fewer cells or levels, or a slower flow",
        in_finest, 2 * dimension);
  if (!(diffusivity > 0 && diffusivity >= least))
    GAB_FAIL(GAB_ERR_INPUT, "a diffusivity of %.3g is unstable below %.3g: more cells, or a slower flow",
             diffusivity, least);
  return GAB_OK;
}

int gab_lbm_scalar_substeps(double diffusivity, int dimension, int finest, double speed)
{
  const double conducted = ldexp(diffusivity, 2 * finest) * 2 * dimension,
               carried = speed * speed / (2 * diffusivity);
  const double least = ceil(fmax(1, fmax(conducted, carried)));
  return least < 1e6 ? (int)least : 1000000;
}

/* A line that reaches the wall at once has the whole conductance of a cell of the body, and the fluid cell takes it up, too; half-way it has at
 * most twice that of the fluid, as a wall with a value. */
double gab_lbm_scalar_body_diffusivity(double diffusivity, const gab_lbm_scalar_wall *wall,
                                       bool is_interpolated)
{
  if (wall->kind != GAB_SCALAR_CONDUCTS) return diffusivity;
  const double inside = wall->conductivity / wall->capacity, most = fmax(1, wall->conductivity);
  return diffusivity * (is_interpolated ? most * fmax(1, 1 / wall->capacity) : fmax(1, inside));
}

double gab_lbm_scalar_eddy_diffusivity(double constant, double turbulent_prandtl, int finest, double speed)
{
  return turbulent_prandtl > 0 ? ldexp(constant * constant * 2 * speed / turbulent_prandtl, -finest) : 0;
}

int gab_lbm_scalar_bounded_substeps(double diffusivity, int dimension, int finest, double speed)
{
  const double least = ceil(
      fmax(1, ldexp(diffusivity, 2 * finest) * 2 * dimension + ldexp(speed, finest + 1) * sqrt(dimension)));
  return least < 1e6 ? (int)least : 1000000;
}

static gab_status check_body(const gab_lbm_scalar *it, size_t index)
{
  const gab_lbm_scalar_options *options = &it->options;
  const gab_lbm_scalar_wall *wall = &options->bodies[index];
  const gab_body *body = gab_geometry_body(gab_lbm_get_geometry(it->lbm), index);
  if (wall->kind != GAB_SCALAR_CONDUCTS) return GAB_OK;
  if (!(wall->conductivity > 0 && wall->capacity > 0 && isfinite(wall->source)))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: %s conducts with the conductivity %g, capacity %g and source %g",
             options->name, body->name, wall->conductivity, wall->capacity, wall->source);
  if (!body->keeps_blocks)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: %s conducts, but does not keep its blocks", options->name, body->name);
  const double diffusivity = gab_lbm_scalar_body_diffusivity(options->diffusivity / it->substeps, wall,
                                                             body->wall == GAB_WALL_INTERPOLATED);
  const gab_status status = gab_lbm_scalar_check_stable(diffusivity, it->dimension, it->finest, 0);
  if (status != GAB_OK)
    GAB_FAIL(status, "%s: in %s, %g times that of the fluid: more sub-steps are needed", options->name,
             body->name, diffusivity * it->substeps / options->diffusivity);
  return GAB_OK;
}

static gab_status check(const gab_lbm_scalar *it)
{
  const gab_lbm_scalar_options *options = &it->options;
  const gab_local_force *local = it->lbm->model.local_force;
  if (!options->name) GAB_FAIL(GAB_ERR_ARGUMENT, "a scalar without a name");
  if (options->substeps < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: %d sub-steps in a step", options->name, options->substeps);
  GAB_TRY(gab_lbm_scalar_check_stable(options->diffusivity / it->substeps, it->dimension, it->finest, 0));
  for (size_t i = 0; options->bodies && i < gab_geometry_body_count(gab_lbm_get_geometry(it->lbm)); i++)
    GAB_TRY(check_body(it, i));
  for (int side = 0; side < 2 * it->dimension; side++)
    if (options->sides[side].kind == GAB_SCALAR_CONDUCTS)
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s: bodies conduct, sides do not", options->name);
  if (!(options->turbulent_prandtl >= 0))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: a turbulent Prandtl number of %g", options->name,
             options->turbulent_prandtl);
  if (options->turbulent_prandtl > 0 && it->lbm->model.options.collision != &gab_collision_smagorinsky)
    GAB_FAIL(GAB_ERR_INPUT,
             "%s: a turbulent Prandtl number needs the eddy viscosity of collision smagorinsky, not %s",
             options->name, it->lbm->model.options.collision->name);
  if (drives(options) && local && local->row != force_of_row)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s drives a flow that has the local force %s already", options->name,
             local->name);
  return GAB_OK;
}

/* Names of block data are unique in a forest. */
static gab_status add_data(gab_lbm_scalar *it)
{
  char next_name[128], cells_name[128];
  snprintf(next_name, sizeof next_name, "next %s", it->options.name);
  snprintf(cells_name, sizeof cells_name, "cells of %s", it->options.name);
  const gab_block_data_kind now = gab_block_field_data(&it->shape, it->options.name),
                            next = gab_block_field_scratch(&it->shape, next_name);
  gab_block_data_kind cells = gab_lbm_scalar_cells_kind(it);
  cells.name = cells_name;
  GAB_TRY(gab_forest_add_data(it->forest, &now, &it->now));
  GAB_TRY(gab_forest_add_data(it->forest, &next, &it->next));
  return gab_forest_add_data(it->forest, &cells, &it->cells);
}

static gab_status make(gab_lbm_scalar *it)
{
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  const int32_t layers = it->options.bounded ? 2 : 1;
  GAB_TRY(check(it));
  it->shape =
      (gab_block_field){.shape = {.cells = {grid->cells[0], grid->cells[1], grid->cells[2]},
                                  .ghosts = {layers, layers, it->dimension == 3 ? layers : 0},
                                  .components = SCALAR_MOMENTUM + it->dimension + (scalar_eddies(it) > 0)},
                        .faces_only = true,
                        .linear_split = true};
  it->force = (gab_local_force){.name = it->options.name, .user = it, .row = force_of_row};
  if (drives(&it->options)) {
    const gab_local_force *local = it->lbm->model.local_force;
    if (local) it->before = local->user;
    GAB_TRY(gab_lbm_set_local_force(it->lbm, &it->force));
  }
  GAB_TRY(add_data(it));
  return gab_lbm_scalar_borders_create(it);
}

gab_status gab_lbm_scalar_create(gab_forest *forest, gab_lbm *lbm, const gab_lbm_scalar_options *options,
                                 int finest, gab_lbm_scalar **scalar)
{
  *scalar = NULL;
  gab_lbm_scalar *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_lbm_scalar){.options = *options,
                           .forest = forest,
                           .lbm = lbm,
                           .finest = finest,
                           .substeps = options->substeps > 0 ? options->substeps : 1,
                           .revision = UINT64_MAX,
                           .dimension = gab_forest_get_options(forest)->grid.dimension};
  gab_status status = make(made);
  if (status != GAB_OK) gab_lbm_scalar_destroy(&made);
  *scalar = made;
  return status;
}

/* The others of the flow still drive it. */
static void take_off(gab_lbm_scalar *gone)
{
  gab_lbm_model *model = &gone->lbm->model;
  if (model->local_force == &gone->force) {
    model->local_force = gone->before ? &gone->before->force : NULL;
    return;
  }
  if (!model->local_force || model->local_force->row != force_of_row) return;
  for (gab_lbm_scalar *it = model->local_force->user; it; it = it->before)
    if (it->before == gone) it->before = gone->before;
}

void gab_lbm_scalar_destroy(gab_lbm_scalar **scalar)
{
  gab_lbm_scalar *gone = *scalar;
  if (!gone) return;
  take_off(gone);
  gab_lbm_scalar_borders_destroy(gone);
  gab_free(scalar);
}
