/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of a flow: the list output.planes. Each has its samples in NAME.h5 and its integrals in NAME.csv. */
#include "apps/driver/flow/simulation.h"
#include "apps/driver/run/run_impl.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/resilience_config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *key_of(char path[GAB_CONFIG_PATH_CAPACITY], size_t index, const char *key)
{
  return gab_config_path(path, "output.planes.%zu.%s", index, key);
}

static gab_status read_schedule(const flow_case *which, size_t index, gab_schedule *schedule)
{
  char item[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(item, "output.planes.%zu", index);
  GAB_TRY(gab_app_schedule_read(which->base.config, item, which->setup.units.dt, schedule));
  return schedule->every > 0 ? GAB_OK
                             : gab_config_fail(which->base.config, item, "every or interval is needed");
}

static gab_status check_one(const flow_case *which, size_t index, gab_quantity_list list)
{
  const gab_config *config = which->base.config;
  const gab_domain *domain = &which->domain;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  size_t count;
  GAB_TRY(read_schedule(which, index, &schedule));
  const char *const *names = gab_config_strings(config, key_of(path, index, "quantities"), &count);
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_app_blame(config, path, gab_quantity_find(list, names[i], &found)));
  }
  const char *name = gab_config_string(config, key_of(path, index, "name"));
  GAB_TRY(gab_app_blame(config, path, gab_output_name_check(name)));
  const int axis = gab_config_choice_index(config, key_of(path, index, "axis"));
  if (axis >= domain->dimension)
    return gab_config_fail(config, path, "in 2D there is no axis z: give x or y");
  const double at = gab_config_real(config, key_of(path, index, "position")), lower = domain->origin[axis],
               upper = lower + (double)domain->cells[axis] * domain->dx;
  if (!(at >= lower && at <= upper))
    return gab_config_fail(config, path, "%c = %g is outside the domain, which ranges from %g to %g",
                           (int)"xyz"[axis], at, lower, upper);
  return GAB_OK;
}

gab_status gab_app_planes_check(const flow_case *which, gab_quantity_list list)
{
  for (size_t i = 0; i < gab_config_count(which->base.config, "output.planes"); i++)
    GAB_TRY(check_one(which, i, list));
  return GAB_OK;
}

/* A hash of the parameters that the state depends on. */
static gab_status find_identity(const gab_config *config, char text[32])
{
  gab_buffer state = {0};
  const gab_status status = gab_resilience_state_text(config, &state);
  snprintf(text, 32, "%016" PRIx64, gab_hash64(state.data, state.size, 0));
  gab_buffer_release(&state);
  return status;
}

static gab_status add_samples(simulation *which, size_t index, const char *identity)
{
  const flow_case *found = which->parameters;
  const gab_config *config = found->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_quantity picked[GAB_APP_MOST_PICKED];
  gab_schedule schedule;
  gab_plane_options options = {.quantities = picked,
                               .identity = identity,
                               .spacing = ldexp(found->domain.dx, -found->refinement.max_level)};
  GAB_TRY(read_schedule(found, index, &schedule));
  options.name = gab_config_string(config, key_of(path, index, "name"));
  options.axis = gab_config_choice_index(config, key_of(path, index, "axis"));
  options.position = gab_config_real(config, key_of(path, index, "position"));
  if (gab_config_is_set(config, key_of(path, index, "spacing")))
    options.spacing = gab_config_real(config, path);
  GAB_TRY(gab_app_run_pick(&which->base, key_of(path, index, "quantities"), picked, &options.quantity_count));
  /* Lattice units have no names. */
  options.time_unit = gab_units_are_physical(&found->setup.units) ? "s" : "";
  gab_config_path(path, "output.planes.%zu", index);
  return gab_app_blame(config, path, gab_output_add_plane(which->base.output, schedule, &options));
}

/* ---------------------------------------------------------------- integrals */

/* Volume per time at the reference density. */
static double flow_rate(const simulation *which, const flow_plane *plane)
{
  const gab_units *units = &which->parameters->setup.units;
  return plane->found.flow * pow(units->dx, which->parameters->domain.dimension) / units->dt;
}

static double velocity(const simulation *which, const flow_plane *plane)
{
  const gab_units *units = &which->parameters->setup.units;
  return plane->found.area > 0 ? plane->found.velocity * units->dx / units->dt : NAN;
}

static double pressure(const simulation *which, const flow_plane *plane)
{
  return plane->found.area > 0
             ? gab_units_pressure_to_physical(&which->parameters->setup.units, 1 + 3 * plane->found.pressure)
             : NAN;
}

static double area(const simulation *which, const flow_plane *plane)
{
  return plane->found.area * pow(which->parameters->setup.units.dx, which->parameters->domain.dimension - 1);
}

static gab_status find(flow_plane *plane)
{
  return gab_lbm_plane_flow(plane->of->lbm, plane->axis, plane->position, &plane->found);
}

static gab_status row(void *user, gab_step step, double time, double *values)
{
  (void)step;
  (void)time;
  flow_plane *plane = user;
  GAB_TRY(find(plane));
  values[0] = flow_rate(plane->of, plane);
  values[1] = velocity(plane->of, plane);
  values[2] = pressure(plane->of, plane);
  values[3] = area(plane->of, plane);
  return GAB_OK;
}

static gab_status add_integrals(simulation *which, size_t index)
{
  static const char *const columns[] = {"flow", "velocity", "pressure", "area"};
  const gab_config *config = which->parameters->base.config;
  flow_plane *plane = &which->planes[index];
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_schedule schedule;
  GAB_TRY(read_schedule(which->parameters, index, &schedule));
  schedule.last = true; /* as all tables of a flow */
  *plane = (flow_plane){.of = which,
                        .name = gab_config_string(config, key_of(path, index, "name")),
                        .axis = gab_config_choice_index(config, key_of(path, index, "axis")),
                        .position = gab_config_real(config, key_of(path, index, "position"))};
  gab_series *series;
  GAB_TRY(gab_app_blame(config, key_of(path, index, "name"),
                        gab_output_add_series(which->base.output, schedule, plane->name, columns,
                                              sizeof columns / sizeof columns[0], row, plane, &series)));
  const double place[2] = {plane->axis, plane->position};
  gab_series_depend_on(series, place, sizeof place);
  return GAB_OK;
}

gab_status gab_app_planes_finish(simulation *which)
{
  for (size_t i = 0; i < which->plane_count; i++) GAB_TRY(find(&which->planes[i]));
  which->has_plane_results = which->plane_count > 0;
  return GAB_OK;
}

void gab_app_planes_put(const simulation *which, gab_json *json)
{
  const bool is_flat = which->parameters->domain.dimension == 2;
  if (!which->has_plane_results) return;
  gab_json_list(json, "planes");
  for (size_t i = 0; i < which->plane_count; i++) {
    const flow_plane *plane = &which->planes[i];
    gab_json_object(json, NULL);
    gab_json_text(json, "name", plane->name);
    gab_json_real(json, is_flat ? "flow_rate_m2_per_s" : "flow_rate_m3_per_s", flow_rate(which, plane));
    gab_json_real(json, "velocity_m_per_s", velocity(which, plane));
    gab_json_real(json, "pressure_Pa", pressure(which, plane));
    gab_json_real(json, is_flat ? "area_m" : "area_m2", area(which, plane));
    gab_json_close(json);
  }
  gab_json_close(json);
}

/* ---------------------------------------------------------------- all */

gab_status gab_app_planes_add(simulation *which)
{
  const size_t count = gab_config_count(which->parameters->base.config, "output.planes");
  char identity[32];
  if (count == 0) return GAB_OK;
  GAB_TRY(find_identity(which->parameters->base.config, identity));
  GAB_TRY(GAB_NEW_ARRAY(&which->planes, count, GAB_MEMORY_OTHER));
  which->plane_count = count;
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(add_samples(which, i, identity));
    GAB_TRY(add_integrals(which, i));
  }
  return GAB_OK;
}

void gab_app_planes_report(const simulation *which)
{
  const char *unit = which->parameters->domain.dimension == 2 ? "m^2/s" : "m^3/s";
  for (size_t i = 0; i < which->plane_count; i++) {
    const flow_plane *plane = &which->planes[i];
    char last[96] = "";
    if (which->has_plane_results)
      snprintf(last, sizeof last, "; at the end: flow rate %.4g %s, mean pressure %.4g Pa",
               flow_rate(which, plane), unit, pressure(which, plane));
    gab_log(GAB_LOG_INFO, "  plane: %s/%s.h5, %s.csv%s", which->base.folder, plane->name, plane->name, last);
  }
}
