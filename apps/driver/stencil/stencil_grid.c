/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of a stencil: the initial grid, and its adaptation to fields. */
#include "apps/driver/stencil/stencil_impl.h"

#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

static int dimension_of(const stencil_case *which) { return which->base.grid.grid.dimension; }

/* ---------------------------------------------------------------- initial state */

static void start_at(const stencil_case *which, const double position[3], double *values)
{
  for (int f = 0; f < gab_app_stencil_field_count(); f++) values[f] = 0;
  if (gab_app_stencil->start) gab_app_stencil->start(which->base.config, position, values);
  gab_app_stencil_initial_cell(which, position, values);
}

static void start_finest(const stencil_case *which, const int64_t cell[3], double *values)
{
  const gab_forest_options *grid = &which->base.grid;
  const double half = ldexp(grid->dx, -(which->finest + 1));
  double centre[3];
  for (int axis = 0; axis < 3; axis++)
    centre[axis] = grid->origin[axis] + (double)(2 * cell[axis] + 1) * half;
  start_at(which, centre, values);
  for (int f = 0; gab_app_stencil_is_staggered() && f < gab_app_stencil_field_count(); f++) {
    double position[3], found[GAB_STENCIL_MOST_FIELDS];
    for (int axis = 0; axis < 3; axis++)
      position[axis] = centre[axis] - (gab_app_stencil_is_on_face(f, axis) ? half : 0);
    start_at(which, position, found);
    values[f] = found[f];
  }
}

/* Summed in pairs, level by level, as in a merge of blocks: equal values give exactly that value. */
void gab_app_stencil_start_cell(const stencil_case *which, int level, const int64_t cell[3], double *values)
{
  const int parts = 1 << dimension_of(which), fields = gab_app_stencil_field_count();
  double all[8][GAB_STENCIL_MOST_FIELDS];
  if (level == which->finest) {
    start_finest(which, cell, values);
    return;
  }
  for (int part = 0; part < parts; part++) {
    int64_t child[3];
    for (int axis = 0; axis < 3; axis++)
      child[axis] = axis < dimension_of(which) ? 2 * cell[axis] + (part >> axis & 1) : cell[axis];
    gab_app_stencil_start_cell(which, level + 1, child, all[part]);
  }
  for (int f = 0; f < fields; f++) {
    for (int pairs = parts / 2; pairs > 0; pairs /= 2)
      for (int i = 0; i < pairs; i++) all[i][f] = all[2 * i][f] + all[2 * i + 1][f];
    values[f] = all[0][f] / parts;
  }
}

/* ---------------------------------------------------------------- marks */

static gab_mark mark_of(const stencil_case *which, int level, const gab_field *now)
{
  bool refine = false, coarsen = true;
  for (size_t i = 0; i < which->rule_count; i++) {
    const stencil_rule *rule = &which->rules[i];
    const double found = rule->criterion->measure(now, rule->field);
    refine |= found > rule->above;
    coarsen &= found < rule->below;
  }
  if (refine && level < which->finest) return GAB_MARK_REFINE;
  return coarsen && level > 0 ? GAB_MARK_COARSEN : GAB_MARK_KEEP;
}

static gab_status mark_block(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const stencil_run *it = user;
  *mark = mark_of(it->parameters, gab_block_level(forest, block), gab_block_data(block, it->now));
  return GAB_OK;
}

/* Initial values in a block at a place, with ghosts beyond its faces. */
static void fill_start(const stencil_case *which, int level, const int64_t first[3], gab_field *now)
{
  const gab_forest_options *grid = &which->base.grid;
  const gab_box whole = gab_field_whole(now);
  int32_t at[3];
  for (at[2] = (int32_t)whole.lo[2]; at[2] < whole.hi[2]; at[2]++)
    for (at[1] = (int32_t)whole.lo[1]; at[1] < whole.hi[1]; at[1]++)
      for (at[0] = (int32_t)whole.lo[0]; at[0] < whole.hi[0]; at[0]++) {
        int64_t cell[3] = {0, 0, 0};
        double values[GAB_STENCIL_MOST_FIELDS];
        int outside = 0;
        for (int axis = 0; axis < dimension_of(which); axis++) {
          const int64_t cells = ((int64_t)grid->grid.roots[axis] * grid->cells[axis]) << level;
          cell[axis] = (first[axis] + at[axis] + cells) % cells;
          outside += at[axis] < 0 || at[axis] >= grid->cells[axis];
        }
        if (outside > 1) continue;
        gab_app_stencil_start_cell(which, level, cell, values);
        for (int f = 0; f < now->shape.components; f++) gab_field_set(now, at[0], at[1], at[2], f, values[f]);
      }
  gab_app_stencil_fill_sides(which, now, first, level);
}

/* Whether a criterion requires smaller cells in a block at a place, or in a part of it with cells down to the finest:
 * small structures must not vanish in the mean of a wide cell. */
static bool wants_finer(const stencil_case *which, int level, const int64_t place[3], gab_field *now)
{
  int64_t first[3];
  for (int axis = 0; axis < 3; axis++) first[axis] = place[axis] * which->base.grid.cells[axis];
  fill_start(which, level, first, now);
  for (size_t i = 0; i < which->rule_count; i++)
    if (which->rules[i].criterion->measure(now, which->rules[i].field) > which->rules[i].above) return true;
  for (int part = 0; level < which->finest && part < 1 << dimension_of(which); part++) {
    int64_t child[3];
    for (int axis = 0; axis < 3; axis++)
      child[axis] = axis < dimension_of(which) ? 2 * place[axis] + (part >> axis & 1) : place[axis];
    if (wants_finer(which, level + 1, child, now)) return true;
  }
  return false;
}

/* Context for marking places of the initial grid. */
typedef struct placing {
  const stencil_case *which;
  gab_status status; /* of reserving memory, on this process */
} placing;

static gab_mark mark_place(void *user, int level, const gab_box *cells)
{
  placing *by = user;
  const gab_forest_options *grid = &by->which->base.grid;
  const gab_field_shape shape = {.cells = {grid->cells[0], grid->cells[1], grid->cells[2]},
                                 .ghosts = {1, 1, dimension_of(by->which) == 3},
                                 .components = gab_app_stencil_field_count()};
  int64_t place[3];
  gab_field *now = NULL;
  for (int axis = 0; axis < 3; axis++) place[axis] = cells->lo[axis] / grid->cells[axis];
  const gab_status status = gab_field_create(&shape, &now);
  if (status != GAB_OK) {
#pragma omp critical(gab_stencil_placing)
    by->status = status;
    return GAB_MARK_KEEP;
  }
  const bool finer = wants_finer(by->which, level, place, now);
  gab_field_destroy(&now);
  return finer ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* ---------------------------------------------------------------- initial grid */

static gab_status fill_blocks(stencil_run *it)
{
  for (size_t i = 0; i < gab_forest_block_count(it->base.forest); i++) {
    const gab_block *block = gab_forest_block(it->base.forest, i);
    const int level = gab_block_level(it->base.forest, block);
    const gab_box cells = gab_block_cells(it->base.forest, block);
    gab_field *now = gab_block_data(block, it->now);
    for (int32_t z = 0; z < now->shape.cells[2]; z++)
      for (int32_t y = 0; y < now->shape.cells[1]; y++)
        for (int32_t x = 0; x < now->shape.cells[0]; x++) {
          double values[GAB_STENCIL_MOST_FIELDS];
          const int64_t cell[3] = {cells.lo[0] + x, cells.lo[1] + y, cells.lo[2] + z};
          gab_app_stencil_start_cell(it->parameters, level, cell, values);
          for (int f = 0; f < now->shape.components; f++) gab_field_set(now, x, y, z, f, values[f]);
        }
  }
  return GAB_OK;
}

gab_status gab_app_stencil_build_grid(stencil_run *it)
{
  const int finest = it->parameters->finest;
  placing by = {.which = it->parameters};
  GAB_TRY(gab_forest_build(it->base.forest, finest > 0 ? mark_place : NULL, &by, finest,
                           gab_app_run_distribute_first, it, NULL));
  GAB_TRY(gab_world_reduce_status(it->base.world, by.status));
  return gab_app_stencil->start || it->parameters->has_initial ? fill_blocks(it) : GAB_OK;
}

gab_status gab_app_stencil_refine(const stencil_case *which, gab_proxies *proxies)
{
  placing by = {.which = which};
  if (which->finest > 0) GAB_TRY(gab_proxies_refine_places(proxies, mark_place, &by, which->finest, NULL));
  return by.status;
}

/* ---------------------------------------------------------------- adaptation */

/* Criteria read ghosts beyond the faces of blocks. */
static gab_status fill_ghosts(gab_app_run *run)
{
  stencil_run *it = (stencil_run *)run;
  return gab_app_stencil_exchange(it, gab_app_stencil_time(it, gab_world_step(run->world)));
}

gab_status gab_app_stencil_add_adaptation(stencil_run *it)
{
  const gab_app_adaptation how = {.every = it->parameters->every,
                                  .finest = it->parameters->finest,
                                  .mark = mark_block,
                                  .prepare = fill_ghosts};
  return gab_app_run_add_adaptation(&it->base, &how);
}
