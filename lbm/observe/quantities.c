/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities of a flow on blocks; solid cells have no value (NaN). */
#include "lbm/observe/quantities_impl.h"

#include "lbm/collision/rheology.h"
#include "lbm/step/local_force.h"

#include <math.h>
#include <string.h>

static size_t cells_of(const gab_forest *forest)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  return (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
}

/* Reserved on demand: a run may end without output, and blocks can be large. */
static gab_status reserve_capacity(gab_lbm_quantities *view)
{
  const size_t cells = cells_of(view->forest);
  if (view->fluid) return GAB_OK;
  gab_free(&view->velocity); /* of an attempt without enough memory */
  gab_free(&view->density);
  GAB_TRY(GAB_NEW_ARRAY(&view->velocity, cells * 3, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&view->density, cells, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&view->fluid, cells, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static gab_status evaluate_moments(gab_lbm_quantities *view, const gab_block *block, double *density,
                                   double *velocity)
{
  const int32_t *cells = gab_forest_get_options(view->forest)->cells;
  gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  GAB_TRY(reserve_capacity(view));
  const bool is_driven = velocity && view->lbm->model.local_force;
  if (is_driven && !density) density = view->density;
  GAB_TRY(gab_lbm_macroscopic(view->lbm, block, &box, density, velocity));
  if (is_driven) gab_lbm_take_half_force(view->lbm, block, &box, density, velocity);
  return gab_lbm_fluid_mask(view->lbm, block, &box, view->fluid);
}

/* ---------------------------------------------------------------- density, pressure, velocity */

static gab_status evaluate_density(void *user, const gab_forest *forest, const gab_block *block,
                                   double *values)
{
  gab_lbm_quantities *view = user;
  GAB_TRY(evaluate_moments(view, block, values, NULL));
  for (size_t i = 0; i < cells_of(forest); i++)
    values[i] = view->fluid[i] ? values[i] * view->units.density : NAN;
  return GAB_OK;
}

static gab_status evaluate_pressure(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  gab_lbm_quantities *view = user;
  GAB_TRY(evaluate_moments(view, block, values, NULL));
  for (size_t i = 0; i < cells_of(forest); i++)
    values[i] = view->fluid[i] ? gab_units_pressure_to_physical(&view->units, values[i]) : NAN;
  return GAB_OK;
}

static gab_status evaluate_velocity(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  gab_lbm_quantities *view = user;
  GAB_TRY(evaluate_moments(view, block, NULL, values));
  for (size_t i = 0; i < 3 * cells_of(forest); i++)
    values[i] = view->fluid[i / 3] ? gab_units_velocity_to_physical(&view->units, values[i]) : NAN;
  return GAB_OK;
}

static gab_status evaluate_speed(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  gab_lbm_quantities *view = user;
  GAB_TRY(reserve_capacity(view));
  GAB_TRY(evaluate_moments(view, block, NULL, view->velocity));
  for (size_t i = 0; i < cells_of(forest); i++) {
    const double *u = view->velocity + 3 * i;
    double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    values[i] = view->fluid[i] ? gab_units_velocity_to_physical(&view->units, speed) : NAN;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- gradients */

/* Of a fluid cell, du_i/dx_j in physical units. */
static void gradient_at(const gab_field *u, const int32_t at[3], double per_cell, bool flat,
                        double gradient[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) gradient[i][j] = flat && j == 2 ? 0 : gab_lbm_slope(u, at, i, j) * per_cell;
}

typedef double *(*put_gradient)(bool flat, double gradient[3][3], double *values);

static double *put_vorticity(bool flat, double gradient[3][3], double *values)
{
  for (int k = flat ? 2 : 0; k < 3; k++) {
    const int next = (k + 1) % 3, last = (k + 2) % 3;
    *values++ = gradient[last][next] - gradient[next][last];
  }
  return values;
}

/* |Omega|^2 - |S|^2 is -sum du_i/dx_j du_j/dx_i. */
static double *put_q_criterion(bool flat, double gradient[3][3], double *values)
{
  double sum = 0;
  (void)flat;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += gradient[i][j] * gradient[j][i];
  *values++ = -0.5 * sum;
  return values;
}

static double *put_shear_rate(bool flat, double gradient[3][3], double *values)
{
  (void)flat;
  *values++ = isnan(gradient[0][0]) ? NAN : gab_lbm_shear_rate(gradient);
  return values;
}

double gab_lbm_viscosity_at(const gab_lbm *lbm, const gab_units *units, double shear_rate)
{
  const gab_lbm_model *model = &lbm->model;
  const double to_physical = units->dx * units->dx / units->dt;
  if (model->options.collision != &gab_collision_rheology) return gab_lbm_viscosity(lbm) * to_physical;
  const gab_rheology fluid = gab_rheology_of(model->options.numbers);
  return gab_rheology_viscosity(&fluid, shear_rate * units->dt) * to_physical;
}

static double viscosity_at(const gab_lbm_quantities *view, double shear_rate)
{
  return gab_lbm_viscosity_at(view->lbm, &view->units, shear_rate);
}

static gab_status evaluate_gradient(void *user, const gab_forest *forest, const gab_block *block,
                                    put_gradient put, double *values)
{
  const gab_lbm_quantities *view = user;
  GAB_TRY(gab_lbm_check_updated(view, forest, GAB_LBM_NEEDS_GRADIENT));
  const gab_field *u = gab_block_data(block, view->velocities.data);
  const int32_t *cells = u->shape.cells;
  const bool flat = gab_forest_get_options(forest)->grid.dimension == 2;
  const double per_cell = ldexp(1 / view->units.dt, gab_block_level(forest, block));
  double none[3][3];
  for (int k = 0; k < 9; k++) none[k / 3][k % 3] = NAN;
  int32_t at[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++) {
        double gradient[3][3];
        const bool fluid = !isnan(gab_field_get(u, at[0], at[1], at[2], 0));
        if (fluid) gradient_at(u, at, per_cell, flat, gradient);
        values = put(flat, fluid ? gradient : none, values);
      }
  return GAB_OK;
}

static gab_status evaluate_vorticity(void *user, const gab_forest *forest, const gab_block *block,
                                     double *values)
{
  return evaluate_gradient(user, forest, block, put_vorticity, values);
}

static gab_status evaluate_q_criterion(void *user, const gab_forest *forest, const gab_block *block,
                                       double *values)
{
  return evaluate_gradient(user, forest, block, put_q_criterion, values);
}

static gab_status evaluate_shear_rate(void *user, const gab_forest *forest, const gab_block *block,
                                      double *values)
{
  return evaluate_gradient(user, forest, block, put_shear_rate, values);
}

static gab_status evaluate_viscosity(void *user, const gab_forest *forest, const gab_block *block,
                                     double *values)
{
  GAB_TRY(evaluate_gradient(user, forest, block, put_shear_rate, values));
  for (size_t i = 0; i < cells_of(forest); i++)
    if (!isnan(values[i])) values[i] = viscosity_at(user, values[i]);
  return GAB_OK;
}

static const char own_quantities[] = "flow";

const gab_lbm_quantity *gab_lbm_quantity_at(int index)
{
  const gab_quantity *own = gab_own_quantity_at(own_quantities, index);
  return own ? own->user : NULL;
}

/* `velocity.x' is of velocity. */
static bool is_of(const char *name, const char *quantity)
{
  const size_t length = strlen(quantity);
  return strncmp(name, quantity, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

unsigned gab_lbm_quantity_needs(const char *name)
{
  const gab_lbm_quantity *own;
  if (is_of(name, "wall_shear_stress")) return GAB_LBM_NEEDS_STRESS;
  static const char *const of_gradient[] = {"vorticity", "q_criterion", "shear_rate", "viscosity"};
  for (size_t i = 0; i < sizeof of_gradient / sizeof of_gradient[0]; i++)
    if (is_of(name, of_gradient[i])) return GAB_LBM_NEEDS_GRADIENT;
  for (int i = 0; (own = gab_lbm_quantity_at(i)); i++)
    if (is_of(name, own->name))
      return (own->gradient ? GAB_LBM_NEEDS_GRADIENT : 0u) | (own->stress ? GAB_LBM_NEEDS_STRESS : 0u);
  return 0;
}

/* ---------------------------------------------------------------- of a program's own */

/* Values that are equal for all cells of a block. */
static gab_lbm_cell cell_of_block(const gab_lbm_quantities *view, const gab_block *block)
{
  const gab_forest_options *grid = gab_forest_get_options(view->forest);
  const int level = gab_block_level(view->forest, block);
  return (gab_lbm_cell){.dimension = grid->grid.dimension,
                        .level = level,
                        .dx = ldexp(grid->dx, -level),
                        .viscosity = viscosity_at(view, 0)};
}

static gab_status evaluate_own(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const gab_own_quantity *own = user;
  const gab_lbm_quantity *quantity = own->descriptor;
  gab_lbm_quantities *view = own->of;
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  const int components = quantity->components;
  const double per_cell = ldexp(1 / view->units.dt, gab_block_level(forest, block));
  if (quantity->gradient) GAB_TRY(gab_lbm_check_updated(view, forest, GAB_LBM_NEEDS_GRADIENT));
  if (quantity->stress) GAB_TRY(gab_lbm_check_updated(view, forest, GAB_LBM_NEEDS_STRESS));
  const gab_field *u = quantity->gradient ? gab_block_data(block, view->velocities.data) : NULL;
  gab_lbm_cell cell = cell_of_block(view, block);
  const bool has_walls = quantity->stress && gab_lbm_has_walls(view->lbm, block);
  gab_wall_fit fit = {0};
  GAB_TRY(reserve_capacity(view));
  GAB_TRY(evaluate_moments(view, block, view->density, view->velocity));
  if (has_walls) GAB_TRY(gab_lbm_open_wall_fit(view, block, &fit));
  int32_t at[3];
  size_t i = 0;
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++, i++, values += components) {
        for (int k = 0; k < components; k++) values[k] = NAN;
        if (!view->fluid[i]) continue;
        gab_block_cell_centre(forest, block, at[0], at[1], at[2], cell.centre);
        if (cell.dimension == 2) cell.centre[2] = 0;
        cell.density = view->density[i] * view->units.density;
        cell.pressure = gab_units_pressure_to_physical(&view->units, view->density[i]);
        for (int k = 0; k < 3; k++)
          cell.velocity[k] = gab_units_velocity_to_physical(&view->units, view->velocity[3 * i + (size_t)k]);
        if (u) {
          gradient_at(u, at, per_cell, cell.dimension == 2, cell.gradient);
          cell.viscosity = viscosity_at(view, gab_lbm_shear_rate(cell.gradient));
        }
        if (quantity->stress) gab_lbm_fill_cell_stress(view, block, at, has_walls ? &fit : NULL, &cell);
        quantity->evaluate(&cell, values);
      }
  gab_wall_fit_close(&fit);
  return GAB_OK;
}

/* Velocities of fluid cells. */
static gab_status fill_velocity(gab_lbm_quantities *view, const gab_block *block, gab_field *u)
{
  const int32_t *cells = u->shape.cells;
  size_t i = 0;
  GAB_TRY(reserve_capacity(view));
  GAB_TRY(evaluate_moments(view, block, NULL, view->velocity));
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++, i++)
        for (int k = 0; k < 3 && view->fluid[i]; k++)
          gab_field_set(u, x, y, z, k, view->velocity[3 * i + (size_t)k]);
  return GAB_OK;
}

static bool has_own_rates(const gab_lbm_quantities *view)
{
  const gab_lbm_model *model = &view->lbm->model;
  return model->options.collision->rate_of_stress || model->options.collision->cell || model->sponges != 0;
}

/* Density, velocity and viscosity of fluid cells. */
static gab_status fill_walls(gab_lbm_quantities *view, const gab_block *block, gab_field *state)
{
  const int32_t *cells = state->shape.cells;
  const int last = GAB_WALL_STATE_VISCOSITY;
  const double usual = gab_lbm_block_of(view->lbm, block)->at->rates.even;
  size_t i = 0;
  GAB_TRY(reserve_capacity(view));
  GAB_TRY(evaluate_moments(view, block, view->density, view->velocity));
  if (has_own_rates(view)) gab_lbm_fill_rate(view->lbm, block, state, last);
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++, i++) {
        if (!view->fluid[i]) continue;
        const double rate = has_own_rates(view) ? gab_field_get(state, x, y, z, last) : usual;
        gab_field_set(state, x, y, z, GAB_WALL_STATE_DENSITY, view->density[i] - 1);
        for (int k = 0; k < 3; k++)
          gab_field_set(state, x, y, z, GAB_WALL_STATE_VELOCITY + k, view->velocity[3 * i + (size_t)k]);
        gab_field_set(state, x, y, z, last, gab_viscosity_of_omega(rate));
      }
  return GAB_OK;
}

static gab_status update_around(gab_lbm_quantities *view, around *what)
{
  for (size_t b = 0; b < gab_forest_block_count(view->forest); b++) {
    const gab_block *block = gab_forest_block(view->forest, b);
    gab_field *field = gab_block_data(block, what->data);
    const gab_box whole = gab_field_whole(field);
    gab_field_fill(field, -1, &whole, NAN);
    if (what == &view->stresses) gab_lbm_fill_stress(view->lbm, block, field);
    else if (what == &view->walls) GAB_TRY(fill_walls(view, block, field));
    else GAB_TRY(fill_velocity(view, block, field));
  }
  GAB_TRY(gab_exchange_start(what->exchange));
  return gab_exchange_finish(what->exchange);
}

gab_status gab_lbm_quantities_update_walls(gab_lbm_quantities *view)
{
  if (has_own_rates(view)) GAB_TRY(gab_lbm_fill_arrivals(view->lbm));
  return update_around(view, &view->walls);
}

gab_status gab_lbm_quantities_update(gab_lbm_quantities *view)
{
  if (view->wanted & GAB_LBM_NEEDS_GRADIENT) GAB_TRY(update_around(view, &view->velocities));
  if (view->wanted & GAB_LBM_NEEDS_STRESS) {
    GAB_TRY(gab_lbm_fill_arrivals(view->lbm));
    GAB_TRY(update_around(view, &view->stresses));
    if (view->walls.exchange) GAB_TRY(update_around(view, &view->walls));
  }
  view->updated = gab_forest_revision(view->forest);
  view->updated_step = gab_world_step(gab_forest_world(view->forest));
  return GAB_OK;
}

/* ---------------------------------------------------------------- the view */

/* @param[in] layers  of ghosts, as far as blocks have as many cells; with one, those of faces only */
static gab_status add_around(gab_lbm_quantities *view, const char *name, int components, int layers,
                             around *made)
{
  const gab_forest_options *options = gab_forest_get_options(view->forest);
  const bool is_cross = layers == 1;
  for (int axis = 0; axis < options->grid.dimension; axis++)
    layers = options->cells[axis] < layers ? options->cells[axis] : layers;
  made->field =
      (gab_block_field){.shape = {.cells = {options->cells[0], options->cells[1], options->cells[2]},
                                  .ghosts = {layers, layers, options->grid.dimension == 2 ? 0 : layers},
                                  .components = components},
                        .faces_only = is_cross};
  const gab_block_data_kind kind = gab_block_field_scratch(&made->field, name);
  GAB_TRY(gab_forest_add_data(view->forest, &kind, &made->data));
  gab_ghost_kind ghost = gab_block_field_ghosts(&made->field);
  ghost.coupled = true; /* next to other levels they stay NaN, and slopes are one-sided */
  return gab_exchange_create(view->forest, made->data, &ghost, &made->exchange);
}

gab_status gab_lbm_quantities_create(gab_forest *forest, gab_lbm *lbm, const gab_units *units, unsigned needs,
                                     gab_lbm_quantities **quantities)
{
  gab_lbm_quantities *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_lbm_quantities){.forest = forest, .lbm = lbm, .units = *units, .wanted = needs};
  gab_status status = GAB_OK;
  if (needs & GAB_LBM_NEEDS_GRADIENT)
    status = add_around(made, "velocity with ghosts", 3, 1, &made->velocities);
  const int moments = gab_forest_get_options(forest)->grid.dimension == 2 ? 3 : 6;
  if (status == GAB_OK && needs & GAB_LBM_NEEDS_STRESS)
    status = add_around(made, "stress with ghosts", moments, 1, &made->stresses);
  const bool has_fits = needs & GAB_LBM_NEEDS_STRESS && gab_wall_fit_has_use(lbm->model.geometry);
  if (status == GAB_OK && (has_fits || needs & GAB_LBM_NEEDS_WALLS))
    status = add_around(made, "flow with ghosts", GAB_WALL_STATE_SIZE, GAB_WALL_STATE_LAYERS, &made->walls);
  if (status != GAB_OK) gab_lbm_quantities_destroy(&made);
  *quantities = made;
  return status;
}

int gab_lbm_quantities_data(const gab_lbm_quantities *quantities, gab_data_id data[GAB_LBM_MOST_NEEDS])
{
  int count = 0;
  if (quantities->wanted & GAB_LBM_NEEDS_GRADIENT) data[count++] = quantities->velocities.data;
  if (quantities->wanted & GAB_LBM_NEEDS_STRESS) data[count++] = quantities->stresses.data;
  if (quantities->walls.exchange) data[count++] = quantities->walls.data;
  return count;
}

void gab_lbm_quantities_destroy(gab_lbm_quantities **quantities)
{
  gab_lbm_quantities *gone = *quantities;
  if (!gone) return;
  gab_exchange_destroy(&gone->velocities.exchange);
  gab_exchange_destroy(&gone->stresses.exchange);
  gab_exchange_destroy(&gone->walls.exchange);
  gab_free(&gone->velocity);
  gab_free(&gone->density);
  gab_free(&gone->fluid);
  gab_free(quantities);
}

gab_quantity_list gab_lbm_quantities_list(gab_lbm_quantities *quantities, int dimension,
                                          gab_quantity items[GAB_LBM_MOST_QUANTITIES])
{
  const gab_quantity own[] = {
      {.name = "density",
       .doc = "of a flow",
       .unit = "kg/m^3",
       .components = 1,
       .pointwise = true,
       .evaluate = evaluate_density},
      {.name = "pressure",
       .doc = "of a flow: difference to the reference pressure",
       .unit = "Pa",
       .components = 1,
       .diverging = true,
       .pointwise = true,
       .evaluate = evaluate_pressure},
      {.name = "velocity",
       .doc = "of a flow",
       .unit = "m/s",
       .components = 3,
       .pointwise = true,
       .evaluate = evaluate_velocity},
      {.name = "speed",
       .doc = "of a flow: absolute value of velocity",
       .unit = "m/s",
       .components = 1,
       .pointwise = true,
       .evaluate = evaluate_speed},
      {.name = "vorticity",
       .doc = "of a flow: curl of velocity",
       .unit = "1/s",
       .components = dimension == 2 ? 1 : 3,
       .diverging = true,
       .evaluate = evaluate_vorticity},
      {.name = "q_criterion",
       .doc = "of a flow: positive where rotation dominates strain",
       .unit = "1/s^2",
       .components = 1,
       .diverging = true,
       .evaluate = evaluate_q_criterion},
      {.name = "shear_rate",
       .doc = "of a flow: sqrt(2 S:S) of the strain rate S",
       .unit = "1/s",
       .components = 1,
       .evaluate = evaluate_shear_rate},
      {.name = "viscosity",
       .doc = "of a flow: kinematic, by fluid.model at the shear rate",
       .unit = "m^2/s",
       .components = 1,
       .evaluate = evaluate_viscosity},
      {.name = "wall_shear_stress",
       .doc = "of a flow: friction on an adjacent wall; too small on a staircase",
       .unit = "Pa",
       .components = 3,
       .evaluate = gab_lbm_evaluate_wall_shear},
  };
  const bool is_physical = !quantities || gab_units_are_physical(&quantities->units);
  size_t count = 0;
  for (; count < sizeof own / sizeof own[0]; count++) {
    items[count] = own[count];
    items[count].user = quantities;
    if (!is_physical) items[count].unit = NULL;
  }
  items[count] = *gab_quantity_owner();
  items[count++].doc = "of a flow: rank that owns the block";
  items[count] = *gab_quantity_level();
  items[count++].doc = "of a flow: level of refinement of the block";
  count = gab_own_quantities_append(own_quantities, quantities, quantities ? quantities->own : NULL, items,
                                    count);
  return (gab_quantity_list){items, count};
}

gab_config_choice gab_lbm_quantity_choice(int index)
{
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity_list all = gab_lbm_quantities_list(NULL, 3, items);
  if ((size_t)index >= all.count) return (gab_config_choice){0};
  return (gab_config_choice){.name = items[index].name, .doc = items[index].doc};
}

gab_status gab_lbm_quantity_register(const gab_lbm_quantity *quantity)
{
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity own = {.name = quantity->name,
                            .doc = quantity->doc,
                            .unit = quantity->unit,
                            .components = quantity->components,
                            .diverging = quantity->diverging,
                            .pointwise = !quantity->gradient && !quantity->stress,
                            .evaluate = quantity->evaluate ? evaluate_own : NULL,
                            .user = (void *)(uintptr_t)quantity}; /* only read */
  return gab_own_quantity_register(own_quantities, &own, gab_lbm_quantities_list(NULL, 2, items));
}
