/* SPDX-License-Identifier: Apache-2.0 */
/* A scalar that a flow carries: its fields and its steps. */
#include "lbm/scalar/scalar_impl.h"

#include "lbm/lbm_impl.h"

/* ---------------------------------------------------------------- coupling with the flow */

static bool drives(const gab_lbm_scalar_options *options)
{
  return options->buoyancy[0] != 0 || options->buoyancy[1] != 0 || options->buoyancy[2] != 0;
}

static void force_of_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                         double *const force[3])
{
  const gab_lbm_scalar *it = user;
  const double *t = scalar_row(gab_block_data(block, it->now), first[1], first[2]) + first[0];
  for (int axis = 0; axis < it->dimension; axis++)
    for (int32_t i = 0; it->options.buoyancy[axis] != 0 && i < count; i++)
      force[axis][i] = it->options.buoyancy[axis] * (t[i] - it->options.reference);
}

/* Momentum with half of the force of buoyancy; the stored populations include the whole force. */
static void put_momentum(const gab_lbm_scalar *it, gab_field *now, int level, const int32_t at[3],
                         const double *density, const double *velocity, int32_t count)
{
  for (int axis = 0; axis < it->dimension; axis++) {
    const double half = ldexp(it->options.buoyancy[axis] / 2, -level);
    for (int32_t i = 0; i < count; i++) {
      double momentum = density[i] * velocity[3 * i + axis];
      if (half != 0)
        momentum -=
            half * (gab_field_get(now, at[0] + i, at[1], at[2], SCALAR_VALUE) - it->options.reference);
      gab_field_set(now, at[0] + i, at[1], at[2], SCALAR_MOMENTUM + axis, momentum);
    }
  }
}

static gab_status take_momentum(const gab_lbm_scalar *it, const gab_block *block)
{
  enum { ROW = 64 };
  gab_field *now = gab_block_data(block, it->now);
  const int32_t *cells = now->shape.cells;
  double density[ROW], velocity[3 * ROW];
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x += ROW) {
        const int32_t left = cells[0] - x, count = left < ROW ? left : ROW;
        const gab_box row = {{x, y, z}, {x + count, y + 1, z + 1}};
        GAB_TRY(gab_lbm_macroscopic(it->lbm, block, &row, density, velocity));
        put_momentum(it, now, gab_block_level(it->forest, block), (const int32_t[3]){x, y, z}, density,
                     velocity, count);
      }
  return GAB_OK;
}

/* ---------------------------------------------------------------- a step */

/* Ghosts beyond a side: the mean of ghost and cell is the value of the side, and no fluid crosses it. */
static void fill_side(const gab_lbm_scalar *it, gab_field *now, int side)
{
  const gab_lbm_scalar_side *at = &it->options.sides[side];
  const int axis = side / 2;
  gab_box cells = gab_field_interior(now);
  cells.lo[axis] = side % 2 ? cells.hi[axis] - 1 : 0;
  cells.hi[axis] = cells.lo[axis] + 1;
  for (int64_t z = cells.lo[2]; z < cells.hi[2]; z++)
    for (int64_t y = cells.lo[1]; y < cells.hi[1]; y++)
      for (int64_t x = cells.lo[0]; x < cells.hi[0]; x++) {
        const int32_t cell[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
        int32_t to[3] = {cell[0], cell[1], cell[2]};
        to[axis] += side % 2 ? 1 : -1;
        for (int c = 0; c < now->shape.components; c++) {
          const double here = gab_field_get(now, cell[0], cell[1], cell[2], c);
          double beyond = -here;
          if (c == SCALAR_VALUE) beyond = at->kind == GAB_SCALAR_FIXED ? 2 * at->value - here : here;
          gab_field_set(now, to[0], to[1], to[2], c, beyond);
        }
      }
}

static void fill_sides(const gab_lbm_scalar *it, const gab_block *block)
{
  const gab_box cells = gab_block_cells(it->forest, block), domain = scalar_domain(it, block);
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  for (int side = 0; side < 2 * it->dimension; side++) {
    const int axis = side / 2;
    const bool here = side % 2 ? cells.hi[axis] == domain.hi[axis] : cells.lo[axis] == domain.lo[axis];
    if (here && !grid->periodic[axis]) fill_side(it, gab_block_data(block, it->now), side);
  }
}

/* Advances a row of cells by one step. */
static void move_row(const double *t, const gab_field_map *map, int dimension, scalar_rates at, int32_t count,
                     double *later)
{
  const ptrdiff_t row = map->stride[1], layer = map->stride[2], component = map->component_stride;
  const double *jx = t + component, *jy = jx + component, *jz = jy + component;
#pragma omp simd
  for (int32_t x = 0; x < count; x++)
    later[x] = t[x] + (scalar_flux(t + x, jx + x, -1, at) - scalar_flux(t + x + 1, jx + x + 1, -1, at)) +
               (scalar_flux(t + x, jy + x, -row, at) - scalar_flux(t + x + row, jy + x + row, -row, at));
  if (dimension < 3) return;
#pragma omp simd
  for (int32_t x = 0; x < count; x++)
    later[x] +=
        scalar_flux(t + x, jz + x, -layer, at) - scalar_flux(t + x + layer, jz + x + layer, -layer, at);
}

static void move_block(const gab_lbm_scalar *it, const gab_block *block)
{
  const gab_field *now = gab_block_data(block, it->now);
  gab_field *next = gab_block_data(block, it->next);
  for (int32_t z = 0; z < now->shape.cells[2]; z++)
    for (int32_t y = 0; y < now->shape.cells[1]; y++)
      move_row(scalar_row(now, y, z), &now->map, it->dimension, scalar_rates_of(it, block),
               now->shape.cells[0],
               (double *)next->data + gab_field_index(&next->map, 0, y, z, SCALAR_VALUE));
}

gab_status gab_lbm_scalar_find_next(const gab_lbm_scalar *it)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->forest);
  GAB_TRY(gab_level_ghosts_start(it->ghosts));
  GAB_TRY(gab_level_ghosts_finish(it->ghosts));
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t b = 0; b < count; b++) {
    const gab_block *block = gab_forest_block(it->forest, (size_t)b);
    fill_sides(it, block);
    move_block(it, block);
  }
  return GAB_OK;
}

gab_status gab_lbm_scalar_step(gab_lbm_scalar *it)
{
  const size_t count = gab_forest_block_count(it->forest);
  for (size_t b = 0; b < count; b++) GAB_TRY(take_momentum(it, gab_forest_block(it->forest, b)));
  GAB_TRY(gab_lbm_scalar_find_next(it));
  for (size_t b = 0; b < count; b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *now = gab_block_data(block, it->now);
    const gab_box box = gab_field_interior(now);
    gab_field_copy_component(now, &box, SCALAR_VALUE, gab_block_data(block, it->next), &box, SCALAR_VALUE);
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

static gab_status check(const gab_lbm_scalar *it, int finest)
{
  const gab_lbm_scalar_options *options = &it->options;
  if (!options->name) GAB_FAIL(GAB_ERR_ARGUMENT, "a scalar without a name");
  GAB_TRY(gab_lbm_scalar_check_stable(options->diffusivity, it->dimension, finest, 0));
  for (int side = 0; side < 2 * it->dimension; side++) {
    if (gab_side_kind_passes_fluid(gab_lbm_get_options(it->lbm)->sides[side].kind))
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s: sides must be periodic or walls at rest", options->name);
  }
  if (gab_geometry_body_count(gab_lbm_get_geometry(it->lbm)) > 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: there may be no bodies in the flow", options->name);
  if (drives(options) && it->lbm->model.local_force)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s drives a flow that has a local force already", options->name);
  return GAB_OK;
}

static gab_status make(gab_lbm_scalar *it, int finest)
{
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  GAB_TRY(check(it, finest));
  it->shape = (gab_block_field){.shape = {.cells = {grid->cells[0], grid->cells[1], grid->cells[2]},
                                          .ghosts = {1, 1, it->dimension == 3},
                                          .components = SCALAR_MOMENTUM + it->dimension},
                                .faces_only = true,
                                .linear_split = true};
  it->force = (gab_local_force){.name = it->options.name, .user = it, .row = force_of_row};
  if (drives(&it->options)) GAB_TRY(gab_lbm_set_local_force(it->lbm, &it->force));
  const gab_block_data_kind now = gab_block_field_data(&it->shape, it->options.name),
                            next = gab_block_field_scratch(&it->shape, "next");
  GAB_TRY(gab_forest_add_data(it->forest, &now, &it->now));
  GAB_TRY(gab_forest_add_data(it->forest, &next, &it->next));
  return gab_level_ghosts_create(it->forest, it->now, &it->shape, finest, &it->ghosts);
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
                           .dimension = gab_forest_get_options(forest)->grid.dimension};
  gab_status status = make(made, finest);
  if (status != GAB_OK) gab_lbm_scalar_destroy(&made);
  *scalar = made;
  return status;
}

void gab_lbm_scalar_destroy(gab_lbm_scalar **scalar)
{
  gab_lbm_scalar *gone = *scalar;
  if (!gone) return;
  if (gone->lbm->model.local_force == &gone->force) gone->lbm->model.local_force = NULL;
  gab_level_ghosts_destroy(&gone->ghosts);
  gab_free(scalar);
}
