/* SPDX-License-Identifier: Apache-2.0 */
/* Series of forces on bodies and of integrals over the flow, and their summary at the end. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- forces */

static double reference_area(const flow_case *which)
{
  if (gab_config_is_set(which->base.config, "output.forces.area"))
    return gab_config_real(which->base.config, "output.forces.area");
  return which->domain.dimension == 2 ? which->setup.reference_length : 0;
}

gab_status gab_app_forces_prepare(simulation *which)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  int dimension = which->parameters->domain.dimension;
  size_t bodies = setup->body_count;
  GAB_TRY(GAB_NEW_ARRAY(&which->loads, bodies, GAB_MEMORY_OTHER));
  which->forces_step = -1;
  if (which->parameters->output.parts) GAB_TRY(GAB_NEW_ARRAY(&which->parts, bodies, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&which->records, bodies, GAB_MEMORY_OTHER));
  double u = setup->reference_velocity, area = reference_area(which->parameters);
  if (u > 0 && area > 0)
    which->force_scale = gab_units_force_to_physical(&setup->units, dimension, 1) /
                         (0.5 * setup->units.density * u * u * area);
  return GAB_OK;
}

static void note_coefficients(body_record *record, double time, const double coefficients[3])
{
  periods_note(&record->lift, time, coefficients[1]);
  for (int d = 0; d < 3; d++) {
    double c = coefficients[d];
    record->sum[d] += c;
    if (record->count == 0 || c < record->least[d]) record->least[d] = c;
    if (record->count == 0 || c > record->most[d]) record->most[d] = c;
  }
  record->count += 1;
}

bool gab_app_forces_wanted(const simulation *which, gab_step steps_done)
{
  const gab_schedule schedule = which->parameters->output.forces;
  return schedule.every > 0 &&
         (steps_done == which->parameters->base.steps || gab_schedule_due(schedule, steps_done) ||
          gab_app_until_due(&which->parameters->until, steps_done));
}

bool gab_app_forces_last_due(const void *user, gab_step step)
{
  const simulation *which = user;
  return step > 0 && gab_app_forces_wanted(which, step) &&
         !gab_schedule_due(which->parameters->output.forces, step);
}

gab_status gab_app_forces_last(void *user, gab_step step)
{
  simulation *which = user;
  for (size_t i = 0; i < which->parameters->setup.body_count; i++) which->loads[i] = (gab_body_load){0};
  if (step > 0)
    GAB_TRY(gab_lbm_loads(which->lbm, which->loads)); /* before the first step nothing has flown */
  which->forces_step = step;
  return GAB_OK;
}

/* ---------------------------------------------------------------- torques */

static double to_newton(const simulation *which, double force)
{
  return gab_units_force_to_physical(&which->parameters->setup.units, which->parameters->domain.dimension,
                                     force);
}

static double to_newton_metre(const simulation *which, double torque)
{
  return to_newton(which, torque) * which->parameters->setup.units.dx;
}

/* The point of the line along which the force alone would have the torque across it that is nearest to the torque point; NaN without
 * a force. */
static void find_centre(const simulation *which, size_t body, double centre[3])
{
  const double *f = which->loads[body].force, *t = which->loads[body].torque;
  const double square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
  gab_geometry_torque_point(which->geometry, body, centre);
  for (int axis = 0; axis < 3; axis++) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    centre[axis] +=
        square > 0 ? (f[b] * t[c] - f[c] * t[b]) / square * which->parameters->setup.units.dx : NAN;
  }
}

/* Forces and coefficients have the axes of the domain, in 2D torques have z. */
static int first_axis_of_torque(const simulation *which)
{
  return which->parameters->domain.dimension == 2 ? 2 : 0;
}

static int name_columns(const simulation *which, const char *what, bool is_torque,
                        char names[][FORCES_COLUMN_CAPACITY])
{
  const int first = is_torque ? first_axis_of_torque(which) : 0,
            last = is_torque ? 3 : which->parameters->domain.dimension;
  for (int axis = first; axis < last; axis++)
    snprintf(names[axis - first], FORCES_COLUMN_CAPACITY, "%s%c", what, "xyz"[axis]);
  return last - first;
}

int gab_app_forces_columns(const simulation *which, char names[][FORCES_COLUMN_CAPACITY])
{
  int count = name_columns(which, "f", false, names);
  if (which->force_scale > 0) count += name_columns(which, "c", false, names + count);
  count += name_columns(which, "t", true, names + count);
  count += name_columns(which, "centre_", false, names + count);
  if (!which->parts) return count;
  count += name_columns(which, "pressure_f", false, names + count);
  count += name_columns(which, "friction_f", false, names + count);
  count += name_columns(which, "pressure_t", true, names + count);
  return count + name_columns(which, "friction_t", true, names + count);
}

static double *put_force(const simulation *which, const double force[3], double *values)
{
  for (int d = 0; d < which->parameters->domain.dimension; d++) *values++ = to_newton(which, force[d]);
  return values;
}

static double *put_torque(const simulation *which, const double torque[3], double *values)
{
  for (int d = first_axis_of_torque(which); d < 3; d++) *values++ = to_newton_metre(which, torque[d]);
  return values;
}

gab_status gab_app_forces_row(void *user, gab_step step, double time, double *values)
{
  simulation *which = user;
  const gab_lbm_setup *setup = &which->parameters->setup;
  const double *row = values;
  int dimension = which->parameters->domain.dimension;
  const bool is_due = gab_schedule_due(which->parameters->output.forces, step);
  if (is_due || which->forces_step != step) GAB_TRY(gab_app_forces_last(which, step));
  if (which->parts) GAB_TRY(gab_lbm_wall_loads(which->view, which->parts));
  for (size_t i = 0; i < setup->body_count; i++) {
    double c[3], centre[3];
    const double *force = which->loads[i].force;
    find_centre(which, i, centre);
    for (int d = 0; d < 3; d++) c[d] = force[d] * which->force_scale;
    values = put_force(which, force, values);
    for (int d = 0; d < dimension && which->force_scale > 0; d++) *values++ = c[d];
    values = put_torque(which, which->loads[i].torque, values);
    for (int d = 0; d < dimension; d++) *values++ = centre[d];
    if (which->parts) {
      values = put_force(which, which->parts[i].pressure, values);
      values = put_force(which, which->parts[i].friction, values);
      values = put_torque(which, which->parts[i].pressure_torque, values);
      values = put_torque(which, which->parts[i].friction_torque, values);
    }
    if (is_due && 2 * step >= which->parameters->base.steps && step > 0)
      note_coefficients(&which->records[i], time, c);
  }
  if (is_due) gab_app_flow_converged_note(&which->until, step, row);
  if (is_due) gab_app_flow_periodic_note(&which->until, step, row);
  return GAB_OK;
}

/* Whether there are periods of the lift: rounding also changes its sign now and then. */
static bool swings(const body_record *record)
{
  return record->most[1] - record->least[1] > 1e-4 * fabs(record->sum[0] / record->count) &&
         record->lift.crossings >= 3;
}

static double strouhal(const gab_lbm_setup *setup, const body_record *record)
{
  return periods_frequency(&record->lift) * setup->reference_length / setup->reference_velocity;
}

static void report_frequency(const gab_lbm_setup *setup, const char *name, const body_record *record)
{
  const lift_periods *lift = &record->lift;
  if (!swings(record) || !(setup->reference_length > 0)) return;
  if (periods_have_settled(lift))
    gab_log(GAB_LOG_INFO, "  %s: Strouhal number %.4f from %.0f periods of c_y", name,
            strouhal(setup, record), lift->settled);
  else
    gab_log(
        GAB_LOG_INFO,
        "  %s: no Strouhal number: of %.0f periods of c_y the last %.0f are alike (length within 2 %%, range "
        "within 5 %%), fewer than %d",
        name, lift->crossings - 1, lift->settled, PERIODS_ENOUGH);
}

static gab_step step_of(const simulation *which, double time)
{
  return llround(time / which->parameters->setup.units.dt);
}

/* Steps of the recorded coefficients, one row after the other. After a continuation to another number of steps the
 * record also has the second half of the earlier run. */
static void name_steps(const simulation *which, const body_record *record, char *text, size_t size)
{
  const gab_schedule schedule = which->parameters->output.forces;
  const gab_step half = (which->parameters->base.steps + 1) / 2;
  const gab_step last = step_of(which, record->lift.last_time);
  const gab_step since =
      gab_schedule_step(schedule, gab_schedule_count(schedule, last) - ((int64_t)record->count - 1));
  const gab_step first = gab_schedule_step(schedule, gab_schedule_count(schedule, half > 0 ? half : 1));
  if (since == first) snprintf(text, size, "second half of the run");
  else snprintf(text, size, "steps %" GAB_PRI_STEP " to %" GAB_PRI_STEP, since, last);
}

/* "(0.2, 0.1)", or in 2D of a torque one number */
static const char *vector_text(const double *value, int first, int last, char text[96])
{
  size_t used = 0;
  for (int axis = first; axis < last; axis++)
    used += (size_t)snprintf(text + used, 96 - used, "%s%.4g",
                             axis > first       ? ", "
                             : last - first > 1 ? "("
                                                : "",
                             value[axis]);
  snprintf(text + used, 96 - used, "%s", last - first > 1 ? ")" : "");
  return text;
}

/* Of the last row. */
static void report_torque(const simulation *which, size_t body)
{
  const int dimension = which->parameters->domain.dimension;
  const bool is_flat = dimension == 2;
  const char *name = gab_geometry_body(which->geometry, body)->name;
  double torque[3], point[3], centre[3];
  char texts[3][96];
  (void)put_torque(which, which->loads[body].torque, torque);
  gab_geometry_torque_point(which->geometry, body, point);
  find_centre(which, body, centre);
  gab_log(GAB_LOG_INFO, "  %s, last row: torque %s %s about %s%s%s", name,
          vector_text(torque, 0, is_flat ? 1 : 3, texts[0]), is_flat ? "N m per m" : "N m",
          vector_text(point, 0, dimension, texts[1]), isnan(centre[0]) ? "" : ", centre of pressure ",
          isnan(centre[0]) ? "" : vector_text(centre, 0, dimension, texts[2]));
  if (!which->parts) return;
  const gab_wall_load *parts = &which->parts[body];
  double pressure[3], friction[3];
  (void)put_force(which, parts->pressure, pressure);
  (void)put_force(which, parts->friction, friction);
  gab_log(GAB_LOG_INFO, "  %s, last row: pressure %s, friction %s %s; y+ %.3g, %.3g to %.3g", name,
          vector_text(pressure, 0, dimension, texts[0]), vector_text(friction, 0, dimension, texts[1]),
          is_flat ? "N/m" : "N", parts->y_plus_mean, parts->y_plus_least, parts->y_plus_most);
}

static void put_vector(gab_json *json, const char *key, const double *value, int first, int last)
{
  gab_json_list(json, key);
  for (int axis = first; axis < last; axis++) gab_json_real(json, NULL, value[axis]);
  gab_json_close(json);
}

static void put_named_force(const simulation *which, gab_json *json, const char *key, const double force[3])
{
  const int dimension = which->parameters->domain.dimension;
  char text[64];
  double values[3];
  (void)put_force(which, force, values);
  snprintf(text, sizeof text, "%s_%s", key, dimension == 2 ? "N_per_m" : "N");
  put_vector(json, text, values, 0, dimension);
}

static void put_named_torque(const simulation *which, gab_json *json, const char *key, const double torque[3])
{
  const bool is_flat = which->parameters->domain.dimension == 2;
  char text[64];
  double values[3];
  (void)put_torque(which, torque, values);
  snprintf(text, sizeof text, "%s_%s", key, is_flat ? "N_m_per_m" : "N_m");
  put_vector(json, text, values, 0, is_flat ? 1 : 3);
}

static void put_coefficients(const simulation *which, gab_json *json, const char *key, const double force[3])
{
  const int dimension = which->parameters->domain.dimension;
  double values[3];
  if (which->force_scale <= 0) return;
  for (int axis = 0; axis < 3; axis++) values[axis] = force[axis] * which->force_scale;
  put_vector(json, key, values, 0, dimension);
}

static void put_parts(const simulation *which, gab_json *json, const gab_wall_load *parts)
{
  put_named_force(which, json, "pressure_force", parts->pressure);
  put_named_force(which, json, "friction_force", parts->friction);
  put_named_torque(which, json, "pressure_torque", parts->pressure_torque);
  put_named_torque(which, json, "friction_torque", parts->friction_torque);
  put_coefficients(which, json, "pressure_coefficient", parts->pressure);
  put_coefficients(which, json, "friction_coefficient", parts->friction);
  gab_json_real(json, "y_plus_min", parts->y_plus_least);
  gab_json_real(json, "y_plus_mean", parts->y_plus_mean);
  gab_json_real(json, "y_plus_max", parts->y_plus_most);
}

/* Over the second half of the run. */
static void put_record(const simulation *which, gab_json *json, const body_record *record)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  const int dimension = which->parameters->domain.dimension;
  double mean[3];
  if (record->count < 1) return;
  for (int axis = 0; axis < 3; axis++) mean[axis] = record->sum[axis] / record->count;
  put_vector(json, "force_coefficient_mean", mean, 0, dimension);
  put_vector(json, "force_coefficient_min", record->least, 0, dimension);
  put_vector(json, "force_coefficient_max", record->most, 0, dimension);
  if (swings(record) && setup->reference_length > 0 && periods_have_settled(&record->lift))
    gab_json_real(json, "strouhal", strouhal(setup, record));
}

void gab_app_forces_put(const simulation *which, gab_json *json)
{
  const int dimension = which->parameters->domain.dimension;
  if (which->parameters->output.forces.every == 0 || which->forces_step < 0) return;
  gab_json_list(json, "bodies");
  for (size_t i = 0; i < which->parameters->setup.body_count; i++) {
    double point[3], centre[3];
    gab_geometry_torque_point(which->geometry, i, point);
    find_centre(which, i, centre);
    gab_json_object(json, NULL);
    gab_json_text(json, "name", gab_geometry_body(which->geometry, i)->name);
    put_named_force(which, json, "force", which->loads[i].force);
    put_coefficients(which, json, "force_coefficient", which->loads[i].force);
    put_named_torque(which, json, "torque", which->loads[i].torque);
    put_vector(json, "torque_point_m", point, 0, dimension);
    if (!isnan(centre[0])) put_vector(json, "centre_of_pressure_m", centre, 0, dimension);
    if (which->parts) put_parts(which, json, &which->parts[i]);
    if (which->force_scale > 0) put_record(which, json, &which->records[i]);
    gab_json_close(json);
  }
  gab_json_close(json);
}

void gab_app_forces_report(const simulation *which)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  if (which->parameters->output.forces.every == 0) return;
  for (size_t i = 0; which->forces_step >= 0 && i < setup->body_count; i++) report_torque(which, i);
  if (which->force_scale <= 0) return;
  for (size_t i = 0; i < setup->body_count; i++) {
    const body_record *record = &which->records[i];
    if (record->count < 1) continue;
    const char *name = gab_geometry_body(which->geometry, i)->name;
    char steps[64];
    name_steps(which, record, steps, sizeof steps);
    gab_log(GAB_LOG_INFO, "  %s, %s: c_x %.4f (%.4f to %.4f), c_y %.4f (%.4f to %.4f)", name, steps,
            record->sum[0] / record->count, record->least[0], record->most[0], record->sum[1] / record->count,
            record->least[1], record->most[1]);
    report_frequency(setup, name, record);
  }
}

/* Records and loads are plain doubles: packed as such. */
enum {
  SIDE_VALUES = GAB_MOST_CONDITIONS * sizeof(gab_side_load) / sizeof(double),
  RECORD_VALUES = sizeof(body_record) / sizeof(double),
  LOAD_VALUES = sizeof(gab_body_load) / sizeof(double)
};

gab_status gab_app_forces_pack(const simulation *which, gab_buffer *out)
{
  const size_t bodies = which->parameters->setup.body_count;
  for (size_t i = 0; i < bodies; i++) GAB_TRY(gab_put_f64s(out, &which->records[i].count, RECORD_VALUES));
  const bool has_forces = gab_app_forces_last_due(which, which->forces_step),
             has_sides = gab_app_side_series_last_due(which, which->side_loads_step);
  if (!has_forces && !has_sides) return GAB_OK;
  GAB_TRY(gab_put_i64(out, has_forces ? which->forces_step : -1));
  GAB_TRY(gab_put_f64s(out, which->loads[0].force, LOAD_VALUES * bodies));
  GAB_TRY(gab_put_i64(out, has_sides ? which->side_loads_step : -1));
  return gab_put_f64s(out, &which->side_loads[0].area, SIDE_VALUES);
}

gab_status gab_app_forces_unpack(simulation *which, gab_reader *in)
{
  for (size_t i = 0; i < which->parameters->setup.body_count; i++) {
    body_record *record = &which->records[i];
    GAB_TRY(gab_get_f64s(in, &record->count, RECORD_VALUES));
    /* The second half of a shorter run may be entirely in the first half of a longer one. */
    if (2 * step_of(which, record->lift.last_time) < which->parameters->base.steps)
      *record = (body_record){0};
  }
  which->forces_step = which->side_loads_step = -1;
  if (gab_reader_left(in) == 0) return GAB_OK; /* but at the last step of a run */
  GAB_TRY(gab_get_i64(in, &which->forces_step));
  GAB_TRY(gab_get_f64s(in, which->loads[0].force, LOAD_VALUES * which->parameters->setup.body_count));
  GAB_TRY(gab_get_i64(in, &which->side_loads_step));
  return gab_get_f64s(in, &which->side_loads[0].area, SIDE_VALUES);
}

/* ---------------------------------------------------------------- integrals */

const char *const gab_app_integrals_columns[6] = {"mass",       "momentum.x",     "momentum.y",
                                                  "momentum.z", "kinetic_energy", "max_speed"};

/* Means over the fluid, in physical units; mass as mean density, so that 1e-12 of it can be read off.
 */
gab_status gab_app_integrals_row(void *user, gab_step step, double time, double *values)
{
  (void)step;
  (void)time;
  const simulation *which = user;
  const gab_units *units = &which->parameters->setup.units;
  gab_lbm_integrals sums;
  GAB_TRY(gab_lbm_integrate(which->lbm, which->parameters->output.strain, &sums));
  const double cells = sums.volume, speed = units->dx / units->dt;
  values[0] = sums.mass / cells * units->density;
  for (int d = 0; d < 3; d++) values[1 + d] = sums.momentum[d] / cells * units->density * speed;
  values[4] = sums.kinetic_energy / cells * units->density * speed * speed;
  values[5] = sums.max_velocity * speed;
  if (which->parameters->output.strain) values[6] = sums.strain / cells / (units->dt * units->dt);
  return GAB_OK;
}
