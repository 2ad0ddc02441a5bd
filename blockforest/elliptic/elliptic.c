/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/elliptic/elliptic_impl.h"

#include "blockforest/forest/direction.h"
#include "blockforest/forest/topology_impl.h"
#include "core/base/exact_sum.h"
#include "core/messages/collective.h"

#include <math.h>

/* ---------------------------------------------------------------- options */

static gab_status check_operator(const gab_elliptic_operator *a)
{
  if (a->apply || (a->alpha >= 0 && a->beta >= 0 && a->alpha + a->beta > 0 && isfinite(a->alpha + a->beta)))
    return GAB_OK;
  GAB_FAIL(GAB_ERR_ARGUMENT,
           "an elliptic operator with alpha %g and beta %g: neither may be negative, and not both 0",
           a->alpha, a->beta);
}

static gab_status check_options(const gab_elliptic_options *options)
{
  GAB_TRY(check_operator(&options->operation));
  if (!(options->tolerance >= 0 && options->tolerance < 1))
    GAB_FAIL(GAB_ERR_ARGUMENT, "the tolerance of an elliptic solver is %g: it must be in 0 to 1",
             options->tolerance);
  if (options->sweeps < 0 || options->sweeps > 8)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d sweeps of an elliptic solver: 1 to 8 are possible", options->sweeps);
  if (options->finest < 0 || options->finest > GAB_ELLIPTIC_MOST_FINEST)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a finest level %d of an elliptic solver: 0 to %d are possible",
             options->finest, GAB_ELLIPTIC_MOST_FINEST);
  const bool is_conjugate =
      options->method == GAB_ELLIPTIC_CONJUGATE || options->method == GAB_ELLIPTIC_CONJUGATE_MULTIGRID;
  if (options->finest > 0 && is_conjugate)
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "an elliptic solver with a finest level %d: conjugate gradients need a symmetric operator, which is not "
        "symmetric at borders of levels; use BiCGStab with a V-cycle, multigrid, or finest 0",
        options->finest);
  if (options->most < 0) GAB_FAIL(GAB_ERR_ARGUMENT, "%d iterations of an elliptic solver", options->most);
  for (int i = 0; i < 6; i++)
    if (!isfinite(options->sides[i].value))
      GAB_FAIL(GAB_ERR_ARGUMENT, "side %c%c of an elliptic solver has the value %g", "-+"[i % 2],
               "xyz"[i / 2], options -> sides[i].value);
  return GAB_OK;
}

static bool has_value_side(const gab_elliptic *elliptic)
{
  for (int axis = 0; axis < elliptic->dimension; axis++)
    for (int upper = 0; upper < 2 && !elliptic->periodic[axis]; upper++)
      if (elliptic->options.sides[2 * axis + upper].kind == GAB_ELLIPTIC_VALUE) return true;
  return false;
}

static void use_operator(gab_elliptic *elliptic)
{
  const gab_elliptic_operator *a = &elliptic->options.operation;
  elliptic->is_singular = a->apply ? a->is_singular : a->alpha == 0 && !has_value_side(elliptic);
}

static void set_defaults(gab_elliptic_options *options)
{
  if (options->tolerance == 0) options->tolerance = 1e-10;
  if (options->sweeps == 0) options->sweeps = 3;
  const bool has_cycles = options->method != GAB_ELLIPTIC_CONJUGATE && options->method != GAB_ELLIPTIC_JACOBI;
  if (options->most == 0) options->most = has_cycles ? 100 : 100000;
}

/* Inverse roots of the Chebyshev polynomial over [1/dimension, 2], the part of the spectrum of D^-1 A that the coarse level cannot
 * represent. */
static void set_weights(gab_elliptic *elliptic)
{
  const double lowest = 1.0 / elliptic->dimension, highest = 2;
  const double middle = (highest + lowest) / 2, half = (highest - lowest) / 2;
  const int count = elliptic->options.sweeps;
  for (int k = 0; k < count; k++)
    elliptic->weights[k] = 1 / (middle + half * cos(acos(-1) * (2 * k + 1) / (2.0 * count)));
}

/* ---------------------------------------------------------------- made and unmade */

gab_status gab_elliptic_create(gab_forest *forest, const gab_elliptic_options *options,
                               gab_elliptic **elliptic)
{
  static int number;
  const gab_forest_options *grid = gab_forest_get_options(forest);
  *elliptic = NULL;
  GAB_TRY(check_options(options));
  gab_elliptic *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_elliptic){.forest = forest, .number = number++, .options = *options, .all = 1};
  made->dimension = grid->grid.dimension;
  for (int axis = 0; axis < 3; axis++) {
    made->periodic[axis] = grid->periodic[axis];
    made->origin[axis] = grid->origin[axis];
    made->roots[axis] = axis < made->dimension ? (int32_t)grid->grid.roots[axis] : 1;
    made->all *= (uint64_t)made->roots[axis] * (uint64_t)grid->cells[axis];
  }
  made->levels[0].width = ldexp(grid->dx, -options->finest);
  set_defaults(&made->options);
  use_operator(made);
  set_weights(made);
  const gab_status status = gab_elliptic_levels_create(made);
  if (status != GAB_OK) gab_elliptic_destroy(&made);
  *elliptic = made;
  return status;
}

void gab_elliptic_destroy(gab_elliptic **elliptic)
{
  if (!*elliptic) return;
  gab_elliptic_levels_destroy(*elliptic);
  gab_free(elliptic);
}

gab_status gab_elliptic_set(gab_elliptic *elliptic, double alpha, double beta)
{
  gab_elliptic_operator changed = elliptic->options.operation;
  if (changed.apply) GAB_FAIL(GAB_ERR_ARGUMENT, "alpha and beta of an operator of the program");
  changed.alpha = alpha;
  changed.beta = beta;
  GAB_TRY(check_operator(&changed));
  elliptic->options.operation = changed;
  use_operator(elliptic);
  return GAB_OK;
}

/* ---------------------------------------------------------------- a solve */

/* Blocks of the least size, of a face of a block, that its neighbours cover. */
static int covered(const gab_elliptic *elliptic, const gab_block *block, int direction)
{
  const gab_root_grid *grid = &gab_forest_topology(elliptic->forest)->grid;
  const int parts = 1 << (elliptic->dimension - 1), level = gab_block_level(elliptic->forest, block);
  int found = 0;
  for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
    const gab_neighbour *row = &gab_block_neighbours(block)[r];
    if (row->direction == direction) found += gab_block_id_level(grid, row->id) > level ? 1 : parts;
  }
  return found;
}

/* Local: a rank that rolls back alone (strategy `local') must call the same collectives as in the run before. A hole in the grid is next
 * to a block of some rank, which finds it. @param[out] deepest  level of blocks here */
static gab_status check_blocks(const gab_elliptic *elliptic, int *deepest)
{
  const gab_topology *topology = gab_forest_topology(elliptic->forest);
  const int finest = elliptic->options.finest, parts = 1 << (elliptic->dimension - 1);
  *deepest = 0;
  for (size_t i = 0; i < gab_forest_block_count(elliptic->forest); i++) {
    const gab_block *block = gab_forest_block(elliptic->forest, i);
    const gab_block_id id = gab_block_get_id(block);
    const int level = gab_block_level(elliptic->forest, block);
    *deepest = level > *deepest ? level : *deepest;
    if (level > finest)
      GAB_FAIL(GAB_ERR_STATE,
               "an elliptic solver for blocks up to level %d: " GAB_PRI_BLOCK
               " is of level %d; set gab_elliptic_options.finest",
               finest, id, level);
    for (int axis = 0; axis < elliptic->dimension; axis++)
      for (int upper = 0; upper < 2; upper++) {
        int offset[3] = {0, 0, 0};
        offset[axis] = upper ? 1 : -1;
        const int direction = gab_direction_of(offset[0], offset[1], offset[2]);
        const gab_block_id next = gab_topology_next_to(topology, id, direction);
        if (next != GAB_NO_BLOCK && covered(elliptic, block, direction) < parts)
          GAB_FAIL(GAB_ERR_STATE,
                   "an elliptic solver needs a grid without holes: " GAB_PRI_BLOCK
                   " or a part of it is missing",
                   next);
      }
  }
  return GAB_OK;
}

static gab_status check_component(const gab_elliptic *elliptic, gab_block_component which)
{
  if (gab_forest_block_count(elliptic->forest) == 0) return GAB_OK;
  const gab_field *field = gab_block_data(gab_forest_block(elliptic->forest, 0), which.data);
  if (!field) GAB_FAIL(GAB_ERR_ARGUMENT, "an elliptic solver was given data that the forest does not have");
  if (which.component < 0 || which.component >= field->shape.components)
    GAB_FAIL(GAB_ERR_ARGUMENT, "an elliptic solver was given component %d: the field has %d", which.component,
             field->shape.components);
  return GAB_OK;
}

/* Between a field of the program and one of level 0. */
static void copy(const gab_elliptic *elliptic, gab_block_component outside, elliptic_field inside, bool in)
{
  const ptrdiff_t blocks = (ptrdiff_t)gab_forest_block_count(elliptic->forest);
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < blocks; i++) {
    gab_field *own = gab_elliptic_piece(elliptic, &elliptic->levels[0], i, inside);
    gab_field *other = gab_block_data(gab_forest_block(elliptic->forest, (size_t)i), outside.data);
    for (int32_t z = 0; z < own->shape.cells[2]; z++)
      for (int32_t y = 0; y < own->shape.cells[1]; y++)
        for (int32_t x = 0; x < own->shape.cells[0]; x++) {
          if (in) gab_field_set(own, x, y, z, 0, gab_field_get(other, x, y, z, outside.component));
          else gab_field_set(other, x, y, z, outside.component, gab_field_get(own, x, y, z, 0));
        }
  }
}

static void subtract(const gab_elliptic *elliptic, elliptic_field which, double value)
{
  const ptrdiff_t blocks = (ptrdiff_t)gab_forest_block_count(elliptic->forest);
#pragma omp parallel for schedule(dynamic)
  for (ptrdiff_t i = 0; i < blocks; i++) {
    gab_field *field = gab_elliptic_piece(elliptic, &elliptic->levels[0], i, which);
    for (int32_t z = 0; z < field->shape.cells[2]; z++)
      for (int32_t y = 0; y < field->shape.cells[1]; y++)
        for (int32_t x = 0; x < field->shape.cells[0]; x++)
          gab_field_set(field, x, y, z, 0, gab_field_get(field, x, y, z, 0) - value);
  }
}

static void set_zero(const gab_elliptic *elliptic)
{
  for (ptrdiff_t i = 0; i < gab_elliptic_pieces(elliptic, &elliptic->levels[0]); i++) {
    gab_field *u = gab_elliptic_piece(elliptic, &elliptic->levels[0], i, FIELD_U);
    const gab_box whole = gab_field_whole(u);
    gab_field_fill(u, 0, &whole, 0);
  }
}

/* Weighted by the volume of cells, a power of two. */
static void add_cells(const gab_elliptic *elliptic, ptrdiff_t piece, elliptic_field which, gab_exact_sum *sum)
{
  const elliptic_level *level = &elliptic->levels[0];
  const gab_field *field = gab_elliptic_piece(elliptic, level, piece, which);
  const double volume = ldexp(1, -elliptic->dimension * gab_elliptic_block_level(elliptic, level, piece));
  for (int32_t z = 0; z < field->shape.cells[2]; z++)
    for (int32_t y = 0; y < field->shape.cells[1]; y++)
      for (int32_t x = 0; x < field->shape.cells[0]; x++)
        gab_exact_add(sum, volume * gab_field_get(field, x, y, z, 0));
}

static gab_status mean_of(gab_elliptic *elliptic, elliptic_field which, double *mean)
{
  const ptrdiff_t pieces = gab_elliptic_pieces(elliptic, &elliptic->levels[0]);
  gab_exact_sum sum;
  gab_exact_clear(&sum);
#pragma omp parallel
  {
    gab_exact_sum mine;
    gab_exact_clear(&mine);
#pragma omp for schedule(dynamic) nowait
    for (ptrdiff_t i = 0; i < pieces; i++) add_cells(elliptic, i, which, &mine);
#pragma omp critical(gab_elliptic_mean)
    gab_exact_merge(&sum, &mine);
  }
  GAB_TRY(gab_world_sum_exact(gab_forest_world(elliptic->forest), &sum, 1));
  *mean = gab_exact_value(&sum) / (double)elliptic->all;
  return GAB_OK;
}

static gab_status find_residual(gab_elliptic *elliptic, double *largest)
{
  GAB_TRY(gab_elliptic_fill_ghosts(elliptic, &elliptic->levels[0], false));
  gab_elliptic_residual(elliptic, &elliptic->levels[0]);
  return gab_elliptic_largest(elliptic, FIELD_NEXT, largest);
}

/* The right-hand side with what the sides add to it, made solvable if A is singular. @param[out] scale  its largest value */
static gab_status prepare(gab_elliptic *elliptic, gab_block_component f, double *scale)
{
  double mean;
  for (int i = 0; i < elliptic->level_count; i++) gab_elliptic_find_diagonal(elliptic, &elliptic->levels[i]);
  copy(elliptic, f, FIELD_F, true);
  set_zero(elliptic);
  GAB_TRY(find_residual(elliptic, scale));
  if (!elliptic->is_singular || !isfinite(*scale)) return GAB_OK;
  GAB_TRY(mean_of(elliptic, FIELD_NEXT, &mean));
  subtract(elliptic, FIELD_F, mean);
  subtract(elliptic, FIELD_NEXT, mean);
  return gab_elliptic_largest(elliptic, FIELD_NEXT, scale);
}

static gab_status iterate(gab_elliptic *elliptic, double limit, gab_elliptic_result *result)
{
  const gab_elliptic_options *options = &elliptic->options;
  if (options->method == GAB_ELLIPTIC_CONJUGATE)
    return gab_elliptic_conjugate(elliptic, options->most, limit, &result->iterations, &result->residual);
  if (options->method == GAB_ELLIPTIC_CONJUGATE_MULTIGRID)
    return gab_elliptic_conjugate_multigrid(elliptic, options->most, limit, &result->iterations,
                                            &result->residual);
  if (options->method == GAB_ELLIPTIC_BICGSTAB_MULTIGRID)
    return gab_elliptic_bicgstab(elliptic, options->most, limit, &result->iterations, &result->residual);
  while (result->iterations < options->most && result->residual > limit && isfinite(result->residual)) {
    if (options->method == GAB_ELLIPTIC_JACOBI) {
      GAB_TRY(gab_elliptic_sweep(elliptic, &elliptic->levels[0], 2.0 / 3));
    } else {
      GAB_TRY(gab_elliptic_cycle(elliptic, 0, false, false));
    }
    GAB_TRY(find_residual(elliptic, &result->residual));
    result->iterations++;
  }
  return GAB_OK;
}

static gab_status report(const gab_elliptic *elliptic, double limit, gab_elliptic_result *result)
{
  if (result->iterations > 0 && result->first > 0)
    result->factor = pow(result->residual / result->first, 1.0 / result->iterations);
  if (result->residual <= limit) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_DIVERGED,
      "the elliptic solver has a residual of %g after %d iterations, at first %g: the tolerance %g asks for %g",
      result->residual, result->iterations, result->first, elliptic->options.tolerance, limit);
}

gab_status gab_elliptic_solve(gab_elliptic *elliptic, gab_block_component f, gab_block_component u,
                              gab_elliptic_result *result)
{
  gab_elliptic_result found = {0};
  double scale, mean, deepest = 0;
  int here = 0;
  gab_status status = check_component(elliptic, f);
  if (status == GAB_OK) status = check_component(elliptic, u);
  if (status == GAB_OK) status = check_blocks(elliptic, &here);
  if (status != GAB_OK) return gab_world_raise(gab_forest_world(elliptic->forest), status);
  if (elliptic->options.finest > 0) {
    deepest = here;
    GAB_TRY(gab_world_max_f64(gab_forest_world(elliptic->forest), &deepest, 1));
    elliptic->unused = elliptic->options.finest - (int)deepest;
  }
  GAB_TRY(prepare(elliptic, f, &scale));
  const double limit = isfinite(scale) ? elliptic->options.tolerance * scale : 0;
  copy(elliptic, u, FIELD_U, true);
  GAB_TRY(find_residual(elliptic, &found.first));
  found.residual = found.first;
  GAB_TRY(iterate(elliptic, limit, &found));
  if (elliptic->is_singular) {
    GAB_TRY(mean_of(elliptic, FIELD_U, &mean));
    subtract(elliptic, FIELD_U, mean);
  }
  copy(elliptic, u, FIELD_U, false);
  status = report(elliptic, limit, &found);
  if (result) *result = found;
  return status;
}
