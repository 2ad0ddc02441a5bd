/* Quantities of a flow on blocks; solid cells have no value (NaN). */
#include "apps/driver/quantities.h"

#include <math.h>

static size_t cells_of(const gab_forest *forest)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  return (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
}

static gab_status look(flow_view *view, const gab_block *block, double *density, double *velocity)
{
  const int32_t *cells = gab_forest_get_options(view->forest)->cells;
  gab_box box = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
  GAB_TRY(gab_lbm_macroscopic(view->lbm, block, &box, density, velocity));
  return gab_lbm_fluid_mask(view->lbm, block, &box, view->fluid);
}

/* ---------------------------------------------------------------- density, pressure, velocity */

static gab_status evaluate_density(void *user, const gab_forest *forest, const gab_block *block,
                                   double *values)
{
  flow_view *view = user;
  GAB_TRY(look(view, block, values, NULL));
  for (size_t i = 0; i < cells_of(forest); i++)
    values[i] = view->fluid[i] ? values[i] * view->units.density : NAN;
  return GAB_OK;
}

static gab_status evaluate_pressure(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  flow_view *view = user;
  GAB_TRY(look(view, block, values, NULL));
  for (size_t i = 0; i < cells_of(forest); i++)
    values[i] = view->fluid[i] ? gab_units_pressure_to_physical(&view->units, values[i]) : NAN;
  return GAB_OK;
}

static gab_status evaluate_velocity(void *user, const gab_forest *forest, const gab_block *block,
                                    double *values)
{
  flow_view *view = user;
  GAB_TRY(look(view, block, NULL, values));
  for (size_t i = 0; i < 3 * cells_of(forest); i++)
    values[i] = view->fluid[i / 3] ? gab_units_velocity_to_physical(&view->units, values[i]) : NAN;
  return GAB_OK;
}

static gab_status evaluate_speed(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  flow_view *view = user;
  GAB_TRY(look(view, block, NULL, view->velocity));
  for (size_t i = 0; i < cells_of(forest); i++) {
    const double *u = view->velocity + 3 * i;
    double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    values[i] = view->fluid[i] ? gab_units_velocity_to_physical(&view->units, speed) : NAN;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- vorticity */

/* The derivative of one velocity component along an axis: central, one-sided beside cells without fluid,
 * which hold NaN. */
static double slope(const gab_field *u, const int32_t at[3], int component, int axis)
{
  int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
  low[axis]--;
  high[axis]++;
  double here = gab_field_get(u, at[0], at[1], at[2], component);
  double below = gab_field_get(u, low[0], low[1], low[2], component);
  double above = gab_field_get(u, high[0], high[1], high[2], component);
  if (!isnan(below) && !isnan(above)) return 0.5 * (above - below);
  if (!isnan(above)) return above - here;
  return isnan(below) ? 0 : here - below;
}

static gab_status evaluate_vorticity(void *user, const gab_forest *forest, const gab_block *block,
                                     double *values)
{
  const flow_view *view = user;
  const gab_field *u = gab_block_data(block, view->neighbourhood);
  const int32_t *cells = u->shape.cells;
  bool flat = gab_forest_get_options(forest)->grid.dimension == 2;
  const double per_cell = ldexp(1 / view->units.dt, gab_block_level(forest, block));
  int32_t at[3];
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++) {
        bool fluid = !isnan(gab_field_get(u, at[0], at[1], at[2], 0));
        for (int k = flat ? 2 : 0; k < 3; k++) {
          int next = (k + 1) % 3, last = (k + 2) % 3;
          *values++ = fluid ? (slope(u, at, last, next) - slope(u, at, next, last)) * per_cell : NAN;
        }
      }
  return GAB_OK;
}

gab_status flow_view_update(flow_view *view)
{
  if (!view->has_vorticity) return GAB_OK;
  const int32_t *cells = view->ghosts.shape.cells;
  for (size_t b = 0; b < gab_forest_block_count(view->forest); b++) {
    const gab_block *block = gab_forest_block(view->forest, b);
    gab_field *u = gab_block_data(block, view->neighbourhood);
    GAB_TRY(look(view, block, NULL, view->velocity));
    gab_box whole = gab_field_whole(u);
    gab_field_fill(u, -1, &whole, NAN);
    size_t i = 0;
    for (int32_t z = 0; z < cells[2]; z++)
      for (int32_t y = 0; y < cells[1]; y++)
        for (int32_t x = 0; x < cells[0]; x++, i++)
          for (int k = 0; k < 3 && view->fluid[i]; k++)
            gab_field_set(u, x, y, z, k, view->velocity[3 * i + (size_t)k]);
  }
  GAB_TRY(gab_exchange_start(view->exchange));
  return gab_exchange_finish(view->exchange);
}

/* ---------------------------------------------------------------- the view */

static gab_status add_neighbourhood(flow_view *view)
{
  const gab_forest_options *options = gab_forest_get_options(view->forest);
  view->ghosts =
      (gab_block_field){.shape = {.cells = {options->cells[0], options->cells[1], options->cells[2]},
                                  .ghosts = {1, 1, options->grid.dimension == 2 ? 0 : 1},
                                  .components = 3},
                        .faces_only = true};
  const gab_block_data_kind kind = gab_block_field_scratch(&view->ghosts, "velocity with ghosts");
  GAB_TRY(gab_forest_add_data(view->forest, &kind, &view->neighbourhood));
  gab_ghost_kind ghost = gab_block_field_ghosts(&view->ghosts);
  ghost.coupled = true; /* beside other levels they stay NaN, and slopes are one-sided */
  return gab_exchange_create(view->forest, view->neighbourhood, &ghost, &view->exchange);
}

gab_status flow_view_create(gab_forest *forest, const gab_lbm *lbm, const gab_units *units,
                            bool with_vorticity, flow_view *view)
{
  *view = (flow_view){.forest = forest, .lbm = lbm, .units = *units, .has_vorticity = with_vorticity};
  void *memory;
  GAB_TRY(gab_alloc(cells_of(forest) * 3 * sizeof(double), GAB_MEMORY_OTHER, &memory));
  view->velocity = memory;
  GAB_TRY(gab_alloc(cells_of(forest), GAB_MEMORY_OTHER, &memory));
  view->fluid = memory;
  return with_vorticity ? add_neighbourhood(view) : GAB_OK;
}

void flow_view_release(flow_view *view)
{
  gab_exchange_destroy(&view->exchange);
  gab_free(&view->velocity);
  gab_free(&view->fluid);
}

gab_quantity_list flow_quantity_list(flow_view *view, int dimension, gab_quantity items[FLOW_MOST_QUANTITIES])
{
  const gab_quantity own[] = {
      {.name = "density", .components = 1, .evaluate = evaluate_density, .user = view},
      {.name = "pressure", .components = 1, .diverging = true, .evaluate = evaluate_pressure, .user = view},
      {.name = "velocity", .components = 3, .evaluate = evaluate_velocity, .user = view},
      {.name = "speed", .components = 1, .evaluate = evaluate_speed, .user = view},
      {.name = "vorticity",
       .components = dimension == 2 ? 1 : 3,
       .diverging = true,
       .evaluate = evaluate_vorticity,
       .user = view},
  };
  size_t count = 0;
  for (; count < sizeof own / sizeof own[0]; count++) items[count] = own[count];
  items[count++] = *gab_quantity_owner();
  items[count++] = *gab_quantity_level();
  return (gab_quantity_list){items, count};
}
