/* SPDX-License-Identifier: Apache-2.0 */
/* The series of loads of sides and patches, and its last row in the log and in summary.json. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of each side and patch: flow rate and pressure if fluid passes it, force on request. */
typedef struct side_columns {
  bool flows, forces, torques;
} side_columns;

static side_columns columns_of(const simulation *which, int condition)
{
  const gab_lbm_options *options = gab_lbm_get_options(which->lbm);
  const gab_domain *domain = &which->parameters->domain;
  const int axis = gab_lbm_condition_side(options, condition) / 2;
  if (gab_lbm_condition_side(options, condition) == GAB_PATCH_ON_BODY)
    return (side_columns){.flows = gab_lbm_passes_fluid(which->lbm, condition),
                          .forces = which->parameters->output.side_forces,
                          .torques = which->parameters->output.side_forces};
  if (axis >= domain->dimension || domain->periodic[axis] || !gab_lbm_condition_has_faces(options, condition))
    return (side_columns){false, false, false};
  return (side_columns){.flows = gab_lbm_passes_fluid(which->lbm, condition),
                        .forces = which->parameters->output.side_forces};
}

/* ---------------------------------------------------------------- rows */

bool gab_app_side_series_wanted(const simulation *which, gab_step steps_done)
{
  const gab_schedule schedule = which->parameters->output.sides;
  return schedule.every > 0 &&
         (steps_done == which->parameters->base.steps || gab_schedule_due(schedule, steps_done) ||
          gab_app_until_due(&which->parameters->until, steps_done));
}

bool gab_app_side_series_last_due(const void *user, gab_step step)
{
  const simulation *which = user;
  return step > 0 && gab_app_side_series_wanted(which, step) &&
         !gab_schedule_due(which->parameters->output.sides, step);
}

gab_status gab_app_side_series_last(void *user, gab_step step)
{
  simulation *which = user;
  for (int k = 0; k < GAB_MOST_CONDITIONS; k++) which->side_loads[k] = (gab_side_load){.pressure = NAN};
  if (step > 0) GAB_TRY(gab_lbm_side_loads(which->lbm, which->side_loads));
  which->side_loads_step = step;
  return GAB_OK;
}

/* Volume per time at the reference density, and Pa. */
static double flow_rate(const simulation *which, int condition)
{
  const gab_units *units = &which->parameters->setup.units;
  return which->side_loads[condition].flow * pow(units->dx, which->parameters->domain.dimension) / units->dt;
}

static double pressure(const simulation *which, int condition)
{
  return gab_units_pressure_to_physical(&which->parameters->setup.units,
                                        1 + 3 * which->side_loads[condition].pressure);
}

static double force(const simulation *which, int condition, int axis)
{
  return gab_units_force_to_physical(&which->parameters->setup.units, which->parameters->domain.dimension,
                                     which->side_loads[condition].force[axis]);
}

static double torque(const simulation *which, int condition, int axis)
{
  const gab_units *units = &which->parameters->setup.units;
  return gab_units_force_to_physical(units, which->parameters->domain.dimension,
                                     which->side_loads[condition].torque[axis]) *
         units->dx;
}

static int first_axis_of_torque(const simulation *which)
{
  return which->parameters->domain.dimension == 2 ? 2 : 0;
}

static gab_status side_row(void *user, gab_step step, double time, double *values)
{
  (void)time;
  simulation *which = user;
  if (gab_schedule_due(which->parameters->output.sides, step) || which->side_loads_step != step)
    GAB_TRY(gab_app_side_series_last(which, step));
  for (int k = 0; k < gab_lbm_condition_count(gab_lbm_get_options(which->lbm)); k++) {
    const side_columns has = columns_of(which, k);
    if (has.flows) *values++ = flow_rate(which, k);
    if (has.flows) *values++ = pressure(which, k);
    for (int axis = 0; has.forces && axis < which->parameters->domain.dimension; axis++)
      *values++ = force(which, k, axis);
    for (int axis = first_axis_of_torque(which); has.torques && axis < 3; axis++)
      *values++ = torque(which, k, axis);
  }
  return GAB_OK;
}

gab_status gab_app_side_series_add(simulation *which)
{
  enum { CAPACITY = GAB_PATCH_NAME + 12, EACH = 8 };
  char names[GAB_MOST_CONDITIONS * EACH][CAPACITY];
  const char *columns[GAB_MOST_CONDITIONS * EACH];
  size_t count = 0;
  which->side_loads_step = -1;
  if (which->parameters->output.sides.every == 0) return GAB_OK;
  for (int k = 0; k < gab_lbm_condition_count(gab_lbm_get_options(which->lbm)); k++) {
    const side_columns has = columns_of(which, k);
    const char *name = gab_app_side_name(which, k);
    if (has.flows) snprintf(names[count++], CAPACITY, "%.31s.flow", name);
    if (has.flows) snprintf(names[count++], CAPACITY, "%.31s.pressure", name);
    for (int axis = 0; has.forces && axis < which->parameters->domain.dimension; axis++)
      snprintf(names[count++], CAPACITY, "%.31s.f%c", name, "xyz"[axis]);
    for (int axis = first_axis_of_torque(which); has.torques && axis < 3; axis++)
      snprintf(names[count++], CAPACITY, "%.31s.t%c", name, "xyz"[axis]);
  }
  for (size_t i = 0; i < count; i++) columns[i] = names[i];
  if (count == 0)
    return gab_config_fail(which->parameters->base.config, "output.sides",
                           "fluid passes no side; set forces for the forces on walls");
  return gab_app_blame(which->parameters->base.config, "output.sides",
                       gab_output_add_series(which->base.output, which->parameters->output.sides, "sides",
                                             columns, count, side_row, which, NULL));
}

/* ---------------------------------------------------------------- in words */

static bool has_row(const simulation *which)
{
  return which->parameters->output.sides.every > 0 && which->side_loads_step > 0;
}

void gab_app_side_series_report(const simulation *which)
{
  const bool is_flat = which->parameters->domain.dimension == 2;
  for (int k = 0; has_row(which) && k < gab_lbm_condition_count(gab_lbm_get_options(which->lbm)); k++) {
    const double rate = flow_rate(which, k);
    if (columns_of(which, k).flows)
      gab_log(GAB_LOG_INFO, "  %s, last row: flow rate %.4g %s %s, mean pressure %.4g Pa",
              gab_app_side_name(which, k), fabs(rate), is_flat ? "m^2/s" : "m^3/s", rate < 0 ? "out" : "in",
              pressure(which, k));
  }
}

void gab_app_side_series_put(const simulation *which, gab_json *json)
{
  const int dimension = which->parameters->domain.dimension;
  if (!has_row(which)) return;
  gab_json_list(json, "sides");
  for (int k = 0; k < gab_lbm_condition_count(gab_lbm_get_options(which->lbm)); k++) {
    const side_columns has = columns_of(which, k);
    if (!has.flows && !has.forces) continue;
    gab_json_object(json, NULL);
    gab_json_text(json, "name", gab_app_side_name(which, k));
    if (has.flows) {
      gab_json_real(json, dimension == 2 ? "flow_rate_m2_per_s" : "flow_rate_m3_per_s", flow_rate(which, k));
      gab_json_real(json, "pressure_Pa", pressure(which, k));
    }
    if (has.forces) {
      gab_json_list(json, dimension == 2 ? "force_N_per_m" : "force_N");
      for (int axis = 0; axis < dimension; axis++) gab_json_real(json, NULL, force(which, k, axis));
      gab_json_close(json);
    }
    if (has.torques) {
      gab_json_list(json, dimension == 2 ? "torque_N_m_per_m" : "torque_N_m");
      for (int axis = first_axis_of_torque(which); axis < 3; axis++)
        gab_json_real(json, NULL, torque(which, k, axis));
      gab_json_close(json);
    }
    gab_json_close(json);
  }
  gab_json_close(json);
}
