/* SPDX-License-Identifier: Apache-2.0 */
/* Open and velocity sides: their flow rates on the grid of a run, and their numbers. */
#include "apps/driver/flow/simulation.h"

#include "apps/driver/case/case_impl.h"
#include "core/base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[GAB_SIDE_COUNT] = {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};

/* "boundaries.x_min", "boundaries.x_min.patches.0" */
static const char *path_of(const gab_lbm_options *options, int condition, char path[GAB_CONFIG_PATH_CAPACITY])
{
  if (condition >= GAB_SIDE_COUNT) return options->patches->list[condition - GAB_SIDE_COUNT].path;
  return gab_config_path(path, "boundaries.%s", names[condition]);
}

const char *gab_app_side_name(const simulation *which, int condition)
{
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  return condition < GAB_SIDE_COUNT ? names[condition]
                                    : options->patches->list[condition - GAB_SIDE_COUNT].name;
}

/* ---------------------------------------------------------------- flow rates */

gab_status gab_app_sides_set(simulation *which, const gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  char path[GAB_CONFIG_PATH_CAPACITY], of[GAB_CONFIG_PATH_CAPACITY];
  int failed = 0;
  memcpy(which->sides, sums, sizeof which->sides);
  GAB_TRY(gab_lbm_setup_check_patches(which->parameters->base.config, which->geometry,
                                      &which->parameters->setup, sums));
  const gab_status status = gab_lbm_set_flow_rates(which->lbm, sums, &failed);
  if (status != GAB_ERR_INPUT) return status;
  return gab_app_blame(
      which->parameters->base.config,
      gab_config_path(path, "%s.flow_rate", path_of(gab_lbm_get_options(which->lbm), failed, of)), status);
}

gab_status gab_app_sides_find(simulation *which)
{
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  GAB_TRY(gab_lbm_sum_sides(which->lbm, sums));
  return gab_app_sides_set(which, sums);
}

void gab_app_sides_warn(simulation *which)
{
  gab_lbm_setup_warn_of_levels(which->parameters->base.config, which->geometry, &which->parameters->setup,
                               which->sides, &which->warned);
}

/* ---------------------------------------------------------------- statistics */

static bool is_measured_after(const void *user, gab_step step)
{
  const simulation *which = user;
  return step > 0 && step % which->parameters->setup.statistics_every == 0;
}

static gab_status measure(void *user, gab_step step)
{
  const simulation *which = user;
  (void)step;
  return gab_lbm_measure_statistics(which->lbm, &which->parameters->setup.units);
}

bool gab_app_statistics_wanted(const simulation *which, gab_step steps_done)
{
  bool of_sides;
  return gab_lbm_uses_statistics(&which->parameters->setup.options, &of_sides) && of_sides &&
         is_measured_after(which, steps_done);
}

gab_status gab_app_statistics_add(simulation *which, gab_timeloop *loop)
{
  if (!gab_lbm_uses_statistics(&which->parameters->setup.options, NULL)) return GAB_OK;
  return gab_timeloop_add_action(loop, "statistics of sides", is_measured_after, measure, which);
}

/* What the factors of sides depend on. */
static void describe_factors(const simulation *which)
{
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *side = gab_lbm_condition(options, k);
    if (side->is_measured)
      gab_log(GAB_LOG_INFO,
              "  %s: factor '%s', at most %g, of statistics measured every %" GAB_PRI_STEP " steps",
              gab_app_side_name(which, k), gab_expression_text(side->factor), side->factor_limit,
              which->parameters->setup.statistics_every);
  }
}

/* ---------------------------------------------------------------- in words */

typedef struct side_numbers {
  double area, diameter;    /**< diameter: hydraulic; 0: no walls around */
  double at_start, at_peak; /**< flow rates into the domain */
} side_numbers;

static bool is_on_body(const simulation *which, int condition)
{
  return gab_lbm_condition_side(gab_lbm_get_options(which->lbm), condition) == GAB_PATCH_ON_BODY;
}

static const char *owner_of(const simulation *which, int condition)
{
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  if (!is_on_body(which, condition)) return names[gab_lbm_condition_side(options, condition)];
  return gab_geometry_body(which->geometry, options->patches->list[condition - GAB_SIDE_COUNT].body)->name;
}

/* Of a patch of a body the diameter is that of a circle of its area. */
static side_numbers numbers_of(const simulation *which, int condition)
{
  const gab_units *units = &which->parameters->setup.units;
  const int dimension = which->parameters->domain.dimension;
  const double pi = 3.14159265358979323846;
  const double area = gab_exact_value(&which->sides[condition].area),
               wetted = gab_exact_value(&which->sides[condition].wetted);
  const double flow = gab_exact_value(&which->sides[condition].flow) * pow(units->dx, dimension) / units->dt;
  return (side_numbers){.area = area * pow(units->dx, dimension - 1),
                        .diameter = wetted > 0 ? 4 * area / wetted * units->dx
                                    : is_on_body(which, condition) && dimension == 3
                                        ? sqrt(4 * area / pi) * units->dx
                                        : 0,
                        .at_start = flow * gab_lbm_side_factor(which->lbm, condition, 0),
                        .at_peak = flow * gab_lbm_side_peak(which->lbm, condition)};
}

static void append(char *text, size_t capacity, const char *format, ...) GAB_PRINTF(3, 4);
static void append(char *text, size_t capacity, const char *format, ...)
{
  const size_t used = strlen(text);
  va_list values;
  va_start(values, format);
  vsnprintf(text + used, capacity - used, format, values);
  va_end(values);
}

/* "flow rate 0.004 m^2/s in, mean velocity 0.2 m/s, Re 80" */
static void describe_flow(const simulation *which, const side_numbers *it, double flow, char *text,
                          size_t capacity)
{
  const double mean = it->area > 0 ? fabs(flow) / it->area : 0;
  append(text, capacity, ", flow rate %.4g %s %s, mean velocity %.4g m/s", fabs(flow),
         which->parameters->domain.dimension == 2 ? "m^2/s" : "m^3/s", flow < 0 ? "out" : "in", mean);
  if (it->diameter > 0)
    append(text, capacity, ", Re %.4g", mean * it->diameter / which->parameters->setup.viscosity);
}

void gab_app_sides_describe(const simulation *which)
{
  const flow_case *flow = which->parameters;
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    char text[512] = "", path[GAB_CONFIG_PATH_CAPACITY], of[GAB_CONFIG_PATH_CAPACITY];
    const bool is_patch = k >= GAB_SIDE_COUNT;
    const char *patch = is_patch ? options->patches->list[k - GAB_SIDE_COUNT].name : "";
    if (!gab_lbm_passes_fluid(which->lbm, k)) continue;
    const side_numbers it = numbers_of(which, k);
    append(text, sizeof text, "area %.4g %s", it.area, flow->domain.dimension == 2 ? "m" : "m^2");
    if (it.diameter > 0)
      append(text, sizeof text, ", %s %.4g m",
             is_on_body(which, k) ? "diameter of its area" : "hydraulic diameter", it.diameter);
    if (!gab_side_kind_is_open(gab_lbm_condition(options, k)->kind))
      describe_flow(which, &it, it.at_peak, text, sizeof text);
    if (it.at_start != it.at_peak) {
      append(text, sizeof text, " at its peak; at the start");
      describe_flow(which, &it, it.at_start, text, sizeof text);
    }
    gab_log(GAB_LOG_INFO, "  %s%s%s (%s): %s", owner_of(which, k), is_patch ? " patch " : "", patch,
            gab_config_string(flow->base.config, gab_config_path(path, "%s.type", path_of(options, k, of))),
            text);
  }
  describe_factors(which);
}

/* Flow rate and Reynolds number at the peak; only of a given velocity. */
static void put_flow(const simulation *which, const side_numbers *it, gab_json *json)
{
  const bool is_flat = which->parameters->domain.dimension == 2;
  const double mean = it->area > 0 ? fabs(it->at_peak) / it->area : 0;
  gab_json_real(json, is_flat ? "flow_rate_m2_per_s" : "flow_rate_m3_per_s", it->at_peak);
  gab_json_real(json, "mean_velocity_m_per_s", mean);
  if (it->diameter > 0)
    gab_json_real(json, "reynolds", mean * it->diameter / which->parameters->setup.viscosity);
}

void gab_app_sides_put(const simulation *which, gab_json *json)
{
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  const bool is_flat = which->parameters->domain.dimension == 2;
  if (!options->patches) return;
  gab_json_list(json, "patches");
  for (int k = GAB_SIDE_COUNT; k < gab_lbm_condition_count(options); k++) {
    const gab_patch *patch = &options->patches->list[k - GAB_SIDE_COUNT];
    char path[GAB_CONFIG_PATH_CAPACITY];
    const side_numbers it = numbers_of(which, k);
    gab_json_object(json, NULL);
    gab_json_text(json, "name", patch->name);
    gab_json_text(json, is_on_body(which, k) ? "body" : "side", owner_of(which, k));
    gab_json_text(
        json, "type",
        gab_config_string(which->parameters->base.config, gab_config_path(path, "%s.type", patch->path)));
    if (gab_lbm_passes_fluid(which->lbm, k)) {
      gab_json_real(json, is_flat ? "area_m" : "area_m2", it.area);
      if (it.diameter > 0) gab_json_real(json, "hydraulic_diameter_m", it.diameter);
      if (!gab_side_kind_is_open(patch->condition.kind)) put_flow(which, &it, json);
    }
    gab_json_close(json);
  }
  gab_json_close(json);
}
