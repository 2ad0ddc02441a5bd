/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/consistent.h"

#include "blockforest/elliptic/elliptic.h"
#include "blockforest/exchange/level_ghosts.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"
#include "lbm/sides/side_impl.h"
#include "lbm/setup/flow_state.h"

#include <math.h>
#include <string.h>

enum { RIGHT = 0, SOLUTION, VELOCITY, COMPONENTS = VELOCITY + 3 };

struct gab_consistent {
  gab_forest *forest;
  gab_consistent_options options;
  int dimension;
  gab_block_field shape;
  gab_data_id data;
  gab_level_ghosts *ghosts;
  gab_elliptic *potential, *pressure; /* NULL: not needed */
  gab_resampler *resampler;
};

/* ------------------------------------------------------------------------------------------ life */

/* What the sides mean for a potential or a pressure. */
static gab_status create_solver(gab_consistent *it, bool is_pressure, gab_elliptic **solver)
{
  gab_elliptic_options options = {.operation = {.beta = 1}, .tolerance = 1e-11, .finest = it->options.finest};
  for (int side = 0; side < 2 * it->dimension; side++) {
    const gab_side *given = &it->options.flow->sides[side];
    const bool is_value = gab_side_kind_is_open(given->kind);
    options.sides[side].kind = is_value ? GAB_ELLIPTIC_VALUE : GAB_ELLIPTIC_GRADIENT;
    if (is_value && is_pressure)
      options.sides[side].value = gab_units_pressure_to_physical(
          &it->options.units, 1 + (given->density - 1) * gab_side_factor_at(given, 0, NULL));
  }
  return gab_elliptic_create(it->forest, &options, solver);
}

gab_status gab_consistent_create(gab_forest *forest, const gab_consistent_options *options,
                                 gab_consistent **consistent)
{
  const gab_forest_options *grid = gab_forest_get_options(forest);
  gab_consistent *made;
  *consistent = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_consistent){.forest = forest,
                           .options = *options,
                           .dimension = grid->grid.dimension,
                           .shape = {.shape = {.cells = {grid->cells[0], grid->cells[1], grid->cells[2]},
                                               .ghosts = {1, 1, grid->grid.dimension == 2 ? 0 : 1},
                                               .components = COMPONENTS},
                                     .faces_only = true}};
  const gab_block_data_kind kind = gab_block_field_data(&made->shape, "consistent");
  gab_status status = gab_forest_add_data(forest, &kind, &made->data);
  if (status == GAB_OK)
    status = gab_level_ghosts_create(forest, made->data, &made->shape, options->finest, &made->ghosts);
  if (status == GAB_OK)
    status = gab_resampler_create(forest, gab_lbm_state_values(made->dimension), &made->resampler);
  if (status == GAB_OK && options->projects) status = create_solver(made, false, &made->potential);
  if (status == GAB_OK && options->solves) status = create_solver(made, true, &made->pressure);
  *consistent = made;
  if (status != GAB_OK) gab_consistent_destroy(consistent);
  return status;
}

void gab_consistent_destroy(gab_consistent **consistent)
{
  gab_consistent *gone = *consistent;
  if (!gone) return;
  gab_elliptic_destroy(&gone->pressure);
  gab_elliptic_destroy(&gone->potential);
  gab_resampler_destroy(&gone->resampler);
  gab_level_ghosts_destroy(&gone->ghosts);
  gab_free(consistent);
}

gab_resampler *gab_consistent_resampler(const gab_consistent *consistent) { return consistent->resampler; }

/* ------------------------------------------------------------------------------------------ cells */

/* A cell that is looked at. */
typedef struct place {
  const gab_consistent *it;
  const gab_block *block;
  gab_field *field;
  int32_t at[3];
  int64_t first[3], end[3]; /* cells of the block, and of the domain on its level */
  double width;
} place;

typedef void cell_fn(const place *here, void *user);

/* Calls a function for all cells of this process. */
static void for_cells(const gab_consistent *it, cell_fn *call, void *user)
{
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    place here = {.it = it, .block = gab_forest_block(it->forest, b)};
    const gab_box cells = gab_block_cells(it->forest, here.block);
    const int level = gab_block_level(it->forest, here.block);
    here.field = gab_block_data(here.block, it->data);
    here.width = gab_forest_dx(it->forest, level);
    for (int axis = 0; axis < 3; axis++) {
      here.first[axis] = cells.lo[axis];
      here.end[axis] = (int64_t)grid->grid.roots[axis] * grid->cells[axis]
                       << (axis < it->dimension ? level : 0);
    }
    for (here.at[2] = 0; here.at[2] < grid->cells[2]; here.at[2]++)
      for (here.at[1] = 0; here.at[1] < grid->cells[1]; here.at[1]++)
        for (here.at[0] = 0; here.at[0] < grid->cells[0]; here.at[0]++) call(&here, user);
  }
}

static double value_of(const place *here, int component)
{
  return gab_field_get(here->field, here->at[0], here->at[1], here->at[2], component);
}

static double beside(const place *here, int axis, int by, int component)
{
  int32_t at[3] = {here->at[0], here->at[1], here->at[2]};
  at[axis] += by;
  return gab_field_get(here->field, at[0], at[1], at[2], component);
}

/* Whether the domain ends beyond a face of a cell. @param[in] by  -1 or 1 */
static bool is_at_end(const place *here, int axis, int by)
{
  const int64_t cell = here->first[axis] + here->at[axis];
  const bool periodic = gab_forest_get_options(here->it->forest)->periodic[axis];
  return !periodic && (by < 0 ? cell == 0 : cell == here->end[axis] - 1);
}

/* Velocity across a closed side in the middle of a face of a cell, when the run starts. */
static double side_velocity(const place *here, int axis, int by)
{
  const gab_consistent_options *options = &here->it->options;
  const int index = 2 * axis + (by > 0);
  const gab_side *side = &options->flow->sides[index];
  const double velocity = gab_units_velocity_to_physical(&options->units, side->velocity[axis]);
  double share[3], shape[2], turn[2];
  if (velocity == 0) return 0;
  for (int k = 0; k < 3; k++)
    share[k] = k == axis ? by > 0 : ((double)(here->first[k] + here->at[k]) + 0.5) / (double)here->end[k];
  gab_side_shape_at(side, index, options->domain, share, shape);
  gab_side_turn_at(side, 0, turn);
  return velocity * gab_side_factor_at(side, 0, NULL) * (shape[0] * turn[0] + shape[1] * turn[1]);
}

/* Velocity along an axis at a face: the mean of both cells; at a side that of the side, or of the cell where it is open. */
static double face_velocity(const place *here, int axis, int by)
{
  const double inside = value_of(here, VELOCITY + axis);
  if (!is_at_end(here, axis, by)) return 0.5 * (inside + beside(here, axis, by, VELOCITY + axis));
  const gab_side *side = &here->it->options.flow->sides[2 * axis + (by > 0)];
  return gab_side_kind_is_open(side->kind) ? inside : side_velocity(here, axis, by);
}

/* du_i/dx_j: central, one-sided at sides. */
static double slope(const place *here, int i, int j)
{
  const bool low = !is_at_end(here, j, -1), high = !is_at_end(here, j, 1);
  const double u = value_of(here, VELOCITY + i);
  const double below = low ? beside(here, j, -1, VELOCITY + i) : u,
               above = high ? beside(here, j, 1, VELOCITY + i) : u;
  return (above - below) / ((low + high) * here->width);
}

static void set(const place *here, int component, double value)
{
  gab_field_set(here->field, here->at[0], here->at[1], here->at[2], component, value);
}

/* ------------------------------------------------------------------------------------------ in all cells */

static void put_velocity(const place *here, void *user)
{
  const gab_consistent_options *options = user;
  double centre[3], velocity[3] = {0, 0, 0};
  gab_block_cell_centre(here->it->forest, here->block, here->at[0], here->at[1], here->at[2], centre);
  options->velocity(options->user, centre, velocity);
  for (int axis = 0; axis < 3; axis++) set(here, VELOCITY + axis, velocity[axis]);
}

static void put_divergence(const place *here, void *user)
{
  double sum = 0;
  (void)user;
  for (int axis = 0; axis < here->it->dimension; axis++)
    sum += face_velocity(here, axis, 1) - face_velocity(here, axis, -1);
  set(here, RIGHT, -sum / here->width);
}

/* The gradient of the potential at both faces, which vanishes at sides with a velocity; where it is 0 at the side, by the distance of
 * half a cell. */
static void correct(const place *here, void *user)
{
  (void)user;
  const double phi = value_of(here, SOLUTION);
  for (int axis = 0; axis < here->it->dimension; axis++) {
    double gradient = 0;
    for (int by = -1; by <= 1; by += 2) {
      const gab_side *side = &here->it->options.flow->sides[2 * axis + (by > 0)];
      if (!is_at_end(here, axis, by)) gradient += by * (beside(here, axis, by, SOLUTION) - phi);
      else if (gab_side_kind_is_open(side->kind)) gradient -= by * 2 * phi;
    }
    set(here, VELOCITY + axis, value_of(here, VELOCITY + axis) - 0.5 * gradient / here->width);
  }
}

static void put_source(const place *here, void *user)
{
  const gab_consistent *it = here->it;
  double sum = 0;
  (void)user;
  for (int i = 0; i < it->dimension; i++)
    for (int j = 0; j < it->dimension; j++) sum += slope(here, i, j) * slope(here, j, i);
  set(here, RIGHT, it->options.units.density * sum);
}

static void put_state(const place *here, void *user)
{
  const gab_consistent *it = here->it;
  gab_field *to = gab_resampler_field(it->resampler, here->block);
  int component = 0;
  double values[16];
  (void)user;
  values[component++] = 0;
  values[component++] = it->pressure ? value_of(here, SOLUTION) : 0;
  for (int i = 0; i < it->dimension; i++) values[component++] = value_of(here, VELOCITY + i);
  for (int i = 0; i < it->dimension; i++)
    for (int j = i; j < it->dimension; j++)
      values[component++] = 0.5 * (slope(here, i, j) + slope(here, j, i));
  for (int k = 0; k < component; k++) gab_field_set(to, here->at[0], here->at[1], here->at[2], k, values[k]);
}

/* ------------------------------------------------------------------------------------------ sums */

enum { DIVERGENCE = 0, GRADIENT, ENERGY, VOLUME, SUMS };

typedef struct sums {
  gab_exact_sum sum[SUMS];
  double speed, least, most;
} sums;

static void add_cell(const place *here, void *user)
{
  sums *all = user;
  const int dimension = here->it->dimension;
  const double volume = pow(here->width, dimension);
  double divergence = 0, gradient = 0, square = 0;
  for (int i = 0; i < dimension; i++) {
    const double u = value_of(here, VELOCITY + i);
    square += u * u;
    divergence += (face_velocity(here, i, 1) - face_velocity(here, i, -1)) / here->width;
    for (int j = 0; j < dimension; j++) gradient += slope(here, i, j) * slope(here, i, j);
  }
  gab_exact_add(&all->sum[DIVERGENCE], volume * divergence * divergence);
  gab_exact_add(&all->sum[GRADIENT], volume * gradient);
  gab_exact_add(&all->sum[ENERGY], volume * 0.5 * square);
  gab_exact_add(&all->sum[VOLUME], volume);
  all->speed = fmax(all->speed, sqrt(square));
  all->least = fmin(all->least, value_of(here, SOLUTION));
  all->most = fmax(all->most, value_of(here, SOLUTION));
}

static gab_status measure(const gab_consistent *it, int when, gab_consistent_report *report)
{
  gab_world *world = gab_forest_world(it->forest);
  sums all = {.least = INFINITY, .most = -INFINITY};
  for (int i = 0; i < SUMS; i++) gab_exact_clear(&all.sum[i]);
  for_cells(it, add_cell, &all);
  double extremes[3] = {all.speed, -all.least, all.most};
  GAB_TRY(gab_world_sum_exact(world, all.sum, SUMS));
  GAB_TRY(gab_world_max_f64(world, extremes, 3));
  const double gradient = gab_exact_value(&all.sum[GRADIENT]);
  report->divergence[when] = gradient > 0 ? sqrt(gab_exact_value(&all.sum[DIVERGENCE]) / gradient) : 0;
  report->energy[when] = gab_exact_value(&all.sum[ENERGY]) / gab_exact_value(&all.sum[VOLUME]);
  report->speed = extremes[0];
  report->pressure[0] = it->pressure ? -extremes[1] : 0;
  report->pressure[1] = it->pressure ? extremes[2] : 0;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ all of it */

static gab_status bring_ghosts(const gab_consistent *it)
{
  GAB_TRY(gab_level_ghosts_start(it->ghosts));
  return gab_level_ghosts_finish(it->ghosts);
}

static gab_status solve(const gab_consistent *it, gab_elliptic *solver)
{
  const gab_block_component right = {it->data, RIGHT}, solution = {it->data, SOLUTION};
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    gab_field *field = gab_block_data(gab_forest_block(it->forest, b), it->data);
    const gab_box whole = gab_field_whole(field);
    gab_field_fill(field, SOLUTION, &whole, 0);
  }
  GAB_TRY(gab_elliptic_solve(solver, right, solution, NULL));
  return bring_ghosts(it);
}

/* Cells are corrected by the mean of both faces, so that a part of the divergence is left, which becomes smaller each time. */
static gab_status project(const gab_consistent *it)
{
  enum { TIMES = 3 };
  for (int i = 0; i < TIMES; i++) {
    for_cells(it, put_divergence, NULL);
    GAB_TRY(solve(it, it->potential));
    for_cells(it, correct, NULL);
    GAB_TRY(bring_ghosts(it));
  }
  return GAB_OK;
}

gab_status gab_consistent_solve(gab_consistent *it, gab_consistent_report *report)
{
  gab_consistent_report found = {.speed = 0};
  for_cells(it, put_velocity, &it->options);
  GAB_TRY(bring_ghosts(it));
  GAB_TRY(measure(it, 0, &found));
  if (it->potential) GAB_TRY(project(it));
  if (it->pressure) {
    for_cells(it, put_source, NULL);
    GAB_TRY(solve(it, it->pressure));
  }
  GAB_TRY(measure(it, 1, &found));
  gab_resampler_clear(it->resampler);
  for_cells(it, put_state, NULL);
  if (report) *report = found;
  return gab_resampler_spread(it->resampler);
}
