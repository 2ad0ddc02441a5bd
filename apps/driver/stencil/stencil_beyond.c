/* SPDX-License-Identifier: Apache-2.0 */
/* Ghosts of a stencil, from neighbours and beyond sides of the domain. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>

/* A formula without a finite value. If several threads find one, any of these. */
typedef struct stencil_wrong {
  const gab_expression *formula; /* NULL: none */
  int side, field;
  double values[4], result;
} stencil_wrong;

/* A side of a block for filling its ghosts. */
typedef struct filling {
  const stencil_case *which;
  const stencil_side *side;
  int number, axis; /* of the side */
  gab_field *now;
  const int64_t *first;
  double half; /* width of a cell */
  double time;
  double place[3];   /* on the side, next to a ghost */
  bool only_on_side; /* sets fields on the side only */
  stencil_wrong *wrong;
} filling;

/* ---------------------------------------------------------------- one ghost */

static double evaluate(const filling *by, int field)
{
  const gab_expression *formula = by->side->values[field];
  if (gab_expression_is_constant(formula)) return gab_expression_at(formula, NULL);
  double values[4] = {by->place[0], by->place[1], by->place[2], by->time};
  for (int axis = 0; axis < 3; axis++)
    if (axis != by->axis && gab_app_stencil_is_on_face(field, axis)) values[axis] -= by->half;
  const double result = gab_expression_at(formula, values);
  if (isfinite(result)) return result;
#pragma omp critical(gab_stencil_wrong)
  *by->wrong =
      (stencil_wrong){formula, by->number, field, {values[0], values[1], values[2], values[3]}, result};
  return result;
}

/* The ghost of a layer, 0 next to the side, from its mirror cell inside: a value is the mean of both, a gradient
 * their difference. */
static double beyond(const filling *by, int field, double inside, int32_t layer)
{
  if (by->side->kind == STENCIL_SIDE_VALUE) return 2 * evaluate(by, field) - inside;
  if (by->side->kind == STENCIL_SIDE_GRADIENT)
    return inside + (2 * layer + 1) * (2 * by->half) * evaluate(by, field);
  return by->side->is_odd[field] ? -inside : inside;
}

static void fill_ghost(filling *by, const int32_t ghost[3], const int32_t inside[3], int32_t layer)
{
  const int fields = by->now->shape.components;
  double here[GAB_STENCIL_MOST_FIELDS], found[GAB_STENCIL_MOST_FIELDS];
  for (int f = 0; f < fields; f++)
    found[f] = here[f] = gab_field_get(by->now, inside[0], inside[1], inside[2], f);
  if (by->side->kind == STENCIL_SIDE_OWN)
    gab_app_stencil->beyond(&(gab_stencil_ghost){.config = by->which->base.config,
                                                 .side = by->number,
                                                 .place = {by->place[0], by->place[1], by->place[2]},
                                                 .time = by->time,
                                                 .distance = (2 * layer + 1) * by->half,
                                                 .inside = here},
                            found);
  else
    for (int f = 0; f < fields; f++) found[f] = beyond(by, f, here[f], layer);
  for (int f = 0; f < fields; f++)
    if (!gab_app_stencil_is_on_face(f, by->axis))
      gab_field_set(by->now, ghost[0], ghost[1], ghost[2], f, found[f]);
}

/* ---------------------------------------------------------------- a side */

static void set_place(filling *by, const int32_t cell[3], bool is_upper)
{
  const gab_forest_options *grid = &by->which->base.grid;
  const int32_t end = is_upper ? by->now->shape.cells[by->axis] : 0;
  for (int axis = 0; axis < 3; axis++) {
    const int64_t halves =
        axis == by->axis ? 2 * (by->first[axis] + end) : 2 * (by->first[axis] + cell[axis]) + 1;
    by->place[axis] = grid->origin[axis] + (double)halves * by->half;
  }
}

/* @param[in] user  a filling */
static double value_on_side(void *user, int field, const int32_t cell[3])
{
  filling *by = user;
  if (by->side->kind != STENCIL_SIDE_VALUE) return 0;
  set_place(by, cell, by->number % 2 == 1);
  return evaluate(by, field);
}

static void fill_side(filling *by, bool is_upper)
{
  /* Edges and corners: x before y before z; each axis includes the ghosts of the others, so that later axes use
   * earlier ghosts. */
  gab_box box = gab_app_stencil->diagonals ? gab_field_whole(by->now) : gab_field_interior(by->now);
  const int axis = by->axis;
  const int32_t cells = by->now->shape.cells[axis];
  for (int f = 0; f < by->now->shape.components; f++)
    if (gab_app_stencil_is_on_face(f, axis))
      gab_app_stencil_fill_on_side(by->now, &box, f, axis, is_upper, value_on_side, by);
  if (by->only_on_side) return;
  box.lo[axis] = 0;
  box.hi[axis] = by->now->shape.ghosts[axis];
  for (int32_t z = (int32_t)box.lo[2]; z < box.hi[2]; z++)
    for (int32_t y = (int32_t)box.lo[1]; y < box.hi[1]; y++)
      for (int32_t x = (int32_t)box.lo[0]; x < box.hi[0]; x++) {
        int32_t inside[3] = {x, y, z}, ghost[3] = {x, y, z};
        const int32_t layer = inside[axis];
        ghost[axis] = is_upper ? cells + layer : -1 - layer;
        inside[axis] = is_upper ? cells - 1 - layer : layer;
        if (by->side->varies) set_place(by, ghost, is_upper);
        fill_ghost(by, ghost, inside, layer);
      }
}

/* @param[in] first  cell of the block in its level */
static void fill_sides(const stencil_case *which, gab_field *now, const int64_t first[3], int level,
                       double time, bool only_on_side, stencil_wrong *wrong)
{
  const gab_forest_options *grid = &which->base.grid;
  filling by = {.which = which,
                .now = now,
                .first = first,
                .half = ldexp(grid->dx, -level - 1),
                .time = time,
                .only_on_side = only_on_side,
                .wrong = wrong};
  for (int axis = 0; axis < grid->grid.dimension; axis++) {
    const int64_t end = (int64_t)(grid->grid.roots[axis] * (int64_t)grid->cells[axis]) << level;
    const bool is_at[2] = {first[axis] == 0, first[axis] + grid->cells[axis] == end};
    by.axis = axis;
    for (int upper = 0; upper < 2; upper++) {
      by.number = 2 * axis + upper;
      by.side = &which->sides[by.number];
      if (is_at[upper] && by.side->kind != STENCIL_SIDE_PERIODIC) fill_side(&by, upper == 1);
    }
  }
}

static gab_status tell(const stencil_case *which, const stencil_wrong *wrong)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const double *at = wrong->values;
  if (!wrong->formula) return GAB_OK;
  gab_config_path(path, "%s.%s", gab_app_stencil_side_path(wrong->side),
                  gab_app_stencil->fields[wrong->field]);
  return gab_config_fail(which->base.config, path, "the formula '%s' is %g at (%g, %g, %g), time %g",
                         gab_expression_text(wrong->formula), wrong->result, at[0], at[1], at[2], at[3]);
}

/* Formulas without a finite value are reported by the first exchange. */
void gab_app_stencil_fill_sides(const stencil_case *which, gab_field *now, const int64_t first[3], int level)
{
  stencil_wrong wrong = {0};
  fill_sides(which, now, first, level, 0, false, &wrong);
}

static gab_status fill_all(stencil_run *it, double time, bool only_on_side)
{
  const gab_forest *forest = it->base.forest;
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(forest);
  stencil_wrong wrong = {0};
#pragma omp parallel for schedule(static)
  for (ptrdiff_t i = 0; i < count; i++) {
    const gab_block *block = gab_forest_block(forest, (size_t)i);
    const gab_box cells = gab_block_cells(forest, block);
    fill_sides(it->parameters, gab_block_data(block, it->now), cells.lo, gab_block_level(forest, block), time,
               only_on_side, &wrong);
  }
  return tell(it->parameters, &wrong);
}

gab_status gab_app_stencil_set_on_sides(stencil_run *it, double time)
{
  return gab_app_stencil_is_staggered() ? fill_all(it, time, true) : GAB_OK;
}

/* Set first: neighbours receive values on sides from this block. */
gab_status gab_app_stencil_exchange(stencil_run *it, double time)
{
  GAB_TRY(gab_app_stencil_set_on_sides(it, time));
  GAB_TRY(gab_level_ghosts_start(it->ghosts));
  GAB_TRY(gab_level_ghosts_finish(it->ghosts));
  return fill_all(it, time, false);
}
