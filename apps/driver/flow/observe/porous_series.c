/* SPDX-License-Identifier: Apache-2.0 */
/* Porous regions of a run: their drag on the grid, porous.csv and the results at the end. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- check */

enum { LEVELS = GAB_BALANCE_LEVELS };

/* Its outlet and its place in the file. */
static gab_status check_outlets(const simulation *which, int level, const gab_box *box)
{
  char path[GAB_CONFIG_PATH_CAPACITY], key[GAB_CONFIG_PATH_CAPACITY];
  const gab_lbm_setup *setup = &which->parameters->setup;
  size_t region;
  const char *place;
  if (!gab_lbm_porous_meets_outlet(which->lbm, level, box, &region, &place)) return GAB_OK;
  gab_config_path(key, "porous.%zu", setup->porous[region].shape.item);
  return gab_config_fail(
      which->parameters->base.config, gab_config_path(path, "%s.type", place),
      "is an outlet that takes the drag of %s for pressure: choose pressure, or end the region %s a cell before it",
      key, setup->porous[region].shape.name);
}

static gab_status count_cells(const simulation *which, gab_proxies *proxies, uint64_t (*counts)[LEVELS])
{
  const gab_forest_options *grid = &which->parameters->base.grid;
  const gab_forest *forest = which->base.forest;
  const size_t regions = which->parameters->setup.porous_count;
  const bool is_built = !proxies && gab_forest_revision(forest) > 0;
  const size_t all = proxies    ? gab_proxies_count(proxies)
                     : is_built ? gab_forest_block_count(forest)
                                : (size_t)gab_app_root_count(grid);
  uint64_t *cells;
  gab_status status = GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&cells, regions, GAB_MEMORY_OTHER));
  for (size_t b = 0; b < all; b++) {
    const gab_block *block = is_built ? gab_forest_block(forest, b) : NULL;
    const gab_block_id id = proxies ? gab_proxies_get(proxies, b)->id : (gab_block_id){0};
    const int level = proxies ? gab_proxies_level(proxies, id) : block ? gab_block_level(forest, block) : 0;
    const gab_box box = proxies ? gab_proxies_cells(proxies, id)
                        : block ? gab_block_cells(forest, block)
                                : gab_app_root_cells(grid, (int64_t)b);
    memset(cells, 0, regions * sizeof *cells);
    if (status == GAB_OK) status = check_outlets(which, level, &box);
    gab_lbm_count_porous(which->lbm, level, &box, cells);
    for (size_t i = 0; i < regions; i++) counts[i][level] += cells[i];
  }
  gab_free(&cells);
  return status;
}

static const char *key_of(const simulation *which, size_t region, const char *key, char *path)
{
  return gab_config_path(path, "porous.%zu.%s", which->parameters->setup.porous[region].shape.item, key);
}

static gab_status check_level(const simulation *which, size_t region, int level)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const gab_config *config = which->parameters->base.config;
  const gab_lbm_setup *setup = &which->parameters->setup;
  const gab_porous_region *given = &setup->porous[region];
  const double drag = gab_porous_drag_on(given, level, 0),
               slope = gab_porous_drag_on(given, level, setup->speed);
  if (drag > GAB_POROUS_MOST_DRAG)
    return gab_config_fail(
        config, key_of(which, region, "permeability", path),
        "gives a drag of %.3g of the momentum in a step of level %d, more than %g: shorten units.dt to %.3g s, "
        "or make the region a body",
        drag, level, GAB_POROUS_MOST_DRAG, setup->units.dt * GAB_POROUS_MOST_DRAG / drag);
  if (slope > GAB_POROUS_MOST_DRAG)
    return gab_config_fail(
        config, key_of(which, region, "forchheimer", path),
        "gives a drag that grows by %.3g of the momentum in a step of level %d at the speed %.3g m/s, more than %g: shorten units.dt to %.3g s",
        slope, level, gab_units_velocity_to_physical(&setup->units, setup->speed), GAB_POROUS_MOST_DRAG,
        setup->units.dt * GAB_POROUS_MOST_DRAG / slope);
  return GAB_OK;
}

/* "1e-9" or "1e-9, 1e-8, 1e-8". */
static void put_axes(const double values[3], int dimension, double factor, bool inverts, char text[96])
{
  const bool is_one = values[1] == values[0] && (dimension == 2 || values[2] == values[0]);
  size_t used = 0;
  for (int axis = 0; axis < (is_one ? 1 : dimension); axis++)
    used += (size_t)snprintf(text + used, 96 - used, "%s%.4g", axis > 0 ? ", " : "",
                             inverts ? factor / values[axis] : factor * values[axis]);
}

static void describe(const simulation *which, size_t region, const uint64_t counts[LEVELS])
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  const gab_porous_region *given = &setup->porous[region];
  const int dimension = which->parameters->domain.dimension;
  char permeability[96], beta[96], drag[64], darcy[64] = "", cells[128] = "";
  int coarsest = -1;
  put_axes(given->linear, dimension, setup->viscosity * setup->units.dt, true, permeability);
  put_axes(given->quadratic, dimension, 1 / setup->units.dx, false, beta);
  for (int level = 0; level < LEVELS; level++) {
    const size_t used = strlen(cells);
    if (counts[level] == 0) continue;
    if (coarsest < 0) coarsest = level;
    snprintf(cells + used, sizeof cells - used, "%s%" PRIu64, used > 0 ? " + " : "", counts[level]);
  }
  snprintf(drag, sizeof drag, "%.3g", gab_porous_drag_on(given, coarsest, 0));
  if (setup->reference_length > 0)
    snprintf(darcy, sizeof darcy, ", Darcy number %.3g",
             setup->viscosity * setup->units.dt / given->linear[0] / setup->reference_length /
                 setup->reference_length);
  gab_log(
      GAB_LOG_INFO,
      "  porous region %s: permeability %s m^2%s, Forchheimer %s 1/m, %s cells; the drag takes %s of the momentum in a step "
      "(at most %g)",
      given->shape.name, permeability, darcy, beta, cells, drag, GAB_POROUS_MOST_DRAG);
}

static gab_status judge(const simulation *which, size_t region, const uint64_t counts[LEVELS], bool describes)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  uint64_t all = 0;
  for (int level = 0; level < LEVELS; level++) {
    all += counts[level];
    if (counts[level] > 0) GAB_TRY(check_level(which, region, level));
  }
  if (all == 0)
    return gab_config_fail(
        which->parameters->base.config,
        gab_config_path(path, "porous.%zu", which->parameters->setup.porous[region].shape.item),
        "covers no centre of a fluid cell: it lies outside of the domain, in bodies or other regions, or is smaller "
        "than a cell");
  if (describes) describe(which, region, counts);
  return GAB_OK;
}

gab_status gab_app_porous_check(simulation *which, gab_proxies *proxies, bool describes)
{
  const size_t regions = which->parameters->setup.porous_count;
  uint64_t(*counts)[LEVELS];
  if (regions == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&counts, regions, GAB_MEMORY_OTHER));
  gab_status status = count_cells(which, proxies, counts);
  if (!proxies) status = gab_world_reduce_status(which->base.world, status);
  if (!proxies && status == GAB_OK)
    status = gab_world_sum_u64(which->base.world, counts[0], regions * LEVELS);
  for (size_t i = 0; status == GAB_OK && i < regions; i++) status = judge(which, i, counts[i], describes);
  gab_free(&counts);
  return status;
}

/* Blocks refuse the same, but do not know the file. Each process visits a part of the blocks. */
gab_status gab_app_porous_check_first(const simulation *which)
{
  const gab_forest_options *grid = &which->parameters->base.grid;
  const int64_t roots = gab_app_root_count(grid);
  const gab_members *members = gab_world_members(which->base.world);
  gab_status status = GAB_OK;
  if (which->parameters->setup.porous_count == 0 || which->parameters->refinement.max_level > 0)
    return GAB_OK;
  for (size_t i = 0; i < which->parameters->setup.porous_count; i++) GAB_TRY(check_level(which, i, 0));
  for (int64_t root = gab_world_rank(which->base.world); status == GAB_OK && root < roots;
       root += members->ranks) {
    const gab_box box = gab_app_root_cells(grid, root);
    status = check_outlets(which, 0, &box);
  }
  return gab_world_reduce_status(which->base.world, status);
}

/* ---------------------------------------------------------------- series */

static double newton(const simulation *which, double force)
{
  return gab_units_force_to_physical(&which->parameters->setup.units, which->parameters->domain.dimension,
                                     force);
}

static double speed_of(const simulation *which, double velocity)
{
  return gab_units_velocity_to_physical(&which->parameters->setup.units, velocity);
}

static double watt(const simulation *which, double power) { return speed_of(which, newton(which, power)); }

static gab_status porous_row(void *user, gab_step step, double time, double *values)
{
  simulation *which = user;
  const int dimension = which->parameters->domain.dimension;
  (void)step;
  (void)time;
  GAB_TRY(gab_lbm_porous_loads(which->lbm, which->porous));
  for (size_t i = 0; i < which->parameters->setup.porous_count; i++) {
    const gab_porous_load *load = &which->porous[i];
    for (int axis = 0; axis < dimension; axis++) *values++ = newton(which, load->force[axis]);
    for (int axis = 0; axis < dimension; axis++) *values++ = speed_of(which, load->velocity[axis]);
    *values++ = watt(which, load->power);
  }
  return GAB_OK;
}

gab_status gab_app_porous_add(simulation *which)
{
  enum { CAPACITY = GAB_BODY_NAME_LENGTH + 16, EACH = 7 };
  const size_t regions = which->parameters->setup.porous_count;
  const int dimension = which->parameters->domain.dimension;
  char names[GAB_MOST_POROUS * EACH][CAPACITY];
  const char *columns[GAB_MOST_POROUS * EACH];
  size_t count = 0;
  if (which->parameters->output.porous.every == 0) return GAB_OK;
  for (size_t i = 0; i < regions; i++) {
    const char *name = which->parameters->setup.porous[i].shape.name;
    for (int axis = 0; axis < dimension; axis++)
      snprintf(names[count++], CAPACITY, "%.31s.f%c", name, "xyz"[axis]);
    for (int axis = 0; axis < dimension; axis++)
      snprintf(names[count++], CAPACITY, "%.31s.velocity.%c", name, "xyz"[axis]);
    snprintf(names[count++], CAPACITY, "%.31s.power", name);
  }
  for (size_t i = 0; i < count; i++) columns[i] = names[i];
  return gab_app_blame(which->parameters->base.config, "output.porous",
                       gab_output_add_series(which->base.output, which->parameters->output.porous, "porous",
                                             columns, count, porous_row, which, NULL));
}

/* ---------------------------------------------------------------- results */

gab_status gab_app_porous_finish(simulation *which)
{
  return gab_lbm_porous_loads(which->lbm, which->porous);
}

void gab_app_porous_report(const simulation *which)
{
  const int dimension = which->parameters->domain.dimension;
  for (size_t i = 0; i < which->parameters->setup.porous_count; i++) {
    const gab_porous_load *load = &which->porous[i];
    const char *name = which->parameters->setup.porous[i].shape.name;
    char force[96] = "", velocity[96] = "";
    for (int axis = 0; axis < dimension; axis++) {
      size_t used = strlen(force);
      snprintf(force + used, sizeof force - used, "%s%.4g", axis > 0 ? ", " : "",
               newton(which, load->force[axis]));
      used = strlen(velocity);
      snprintf(velocity + used, sizeof velocity - used, "%s%.4g", axis > 0 ? ", " : "",
               speed_of(which, load->velocity[axis]));
    }
    gab_log(GAB_LOG_INFO, "  porous region %s: force (%s) %s, mean superficial velocity (%s) m/s", name,
            force, dimension == 2 ? "N per m" : "N", velocity);
    if (load->beyond > 0)
      gab_log(
          GAB_LOG_WARNING,
          "porous region %s: in %" PRIu64
          " cells the flow is too fast for the time step, and Forchheimer's term too small: shorten units.dt",
          name, load->beyond);
  }
}

static void put_vector(gab_json *json, const char *key, int dimension, const double values[3])
{
  gab_json_list(json, key);
  for (int axis = 0; axis < dimension; axis++) gab_json_real(json, NULL, values[axis]);
  gab_json_close(json);
}

void gab_app_porous_put(const simulation *which, gab_json *json)
{
  const int dimension = which->parameters->domain.dimension;
  const double cell = pow(which->parameters->setup.units.dx, dimension);
  if (which->parameters->setup.porous_count == 0) return;
  gab_json_list(json, "porous");
  for (size_t i = 0; i < which->parameters->setup.porous_count; i++) {
    const gab_porous_load *load = &which->porous[i];
    double force[3], velocity[3], gradient[3];
    for (int axis = 0; axis < 3; axis++) {
      force[axis] = newton(which, load->force[axis]);
      velocity[axis] = speed_of(which, load->velocity[axis]);
      gradient[axis] = load->volume > 0 ? force[axis] / (load->volume * cell) : 0;
    }
    gab_json_object(json, NULL);
    gab_json_text(json, "name", which->parameters->setup.porous[i].shape.name);
    gab_json_real(json, dimension == 2 ? "area_m2" : "volume_m3", load->volume * cell);
    put_vector(json, dimension == 2 ? "force_N_per_m" : "force_N", dimension, force);
    put_vector(json, "superficial_velocity_m_per_s", dimension, velocity);
    put_vector(json, "pressure_gradient_Pa_per_m", dimension, gradient);
    gab_json_real(json, dimension == 2 ? "power_W_per_m" : "power_W", watt(which, load->power));
    gab_json_real(json, "drag_max", load->most_drag);
    gab_json_close(json);
  }
  gab_json_close(json);
}
