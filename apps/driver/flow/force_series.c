/* SPDX-License-Identifier: Apache-2.0 */
/* Series of forces on bodies and of integrals over the flow, and what is said of them at the end. */
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
  GAB_TRY(GAB_NEW_ARRAY(&which->forces, bodies, GAB_MEMORY_OTHER));
  which->forces_step = -1;
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
  for (size_t i = 0; i < which->parameters->setup.body_count; i++)
    for (int d = 0; d < 3; d++) which->forces[i][d] = 0;
  if (step > 0)
    GAB_TRY(gab_lbm_forces(which->lbm, which->forces)); /* before the first step nothing has flown */
  which->forces_step = step;
  return GAB_OK;
}

gab_status gab_app_forces_row(void *user, gab_step step, double time, double *values)
{
  simulation *which = user;
  const gab_lbm_setup *setup = &which->parameters->setup;
  const double *row = values;
  int dimension = which->parameters->domain.dimension;
  const bool is_due = gab_schedule_due(which->parameters->output.forces, step);
  if (is_due || which->forces_step != step) GAB_TRY(gab_app_forces_last(which, step));
  for (size_t i = 0; i < setup->body_count; i++) {
    double c[3];
    for (int d = 0; d < 3; d++) c[d] = which->forces[i][d] * which->force_scale;
    for (int d = 0; d < dimension; d++)
      *values++ = gab_units_force_to_physical(&setup->units, dimension, which->forces[i][d]);
    for (int d = 0; d < dimension && which->force_scale > 0; d++) *values++ = c[d];
    if (is_due && 2 * step >= which->parameters->base.steps && step > 0)
      note_coefficients(&which->records[i], time, c);
  }
  if (is_due) gab_app_flow_converged_note(&which->until, step, row);
  return GAB_OK;
}

static void report_frequency(const gab_lbm_setup *setup, const char *name, const body_record *record)
{
  /* Rounding also changes its sign now and then. */
  const bool swings = record->most[1] - record->least[1] > 1e-4 * fabs(record->sum[0] / record->count);
  const lift_periods *lift = &record->lift;
  if (!swings || lift->crossings < 3 || !(setup->reference_length > 0)) return;
  if (periods_have_settled(lift))
    gab_log(GAB_LOG_INFO, "  %s: Strouhal number %.4f from %.0f periods of c_y", name,
            periods_frequency(lift) * setup->reference_length / setup->reference_velocity, lift->settled);
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

/* Of which steps the coefficients were noted, one row after the other. A run that was continued to another number of
 * steps still has those of what was its second half then. */
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

void gab_app_forces_report(const simulation *which)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  if (which->parameters->output.forces.every == 0 || which->force_scale <= 0) return;
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

/* The record is plain doubles: packed as such. */
enum { RECORD_VALUES = sizeof(body_record) / sizeof(double) };

gab_status gab_app_forces_pack(const simulation *which, gab_buffer *out)
{
  const size_t bodies = which->parameters->setup.body_count;
  for (size_t i = 0; i < bodies; i++) GAB_TRY(gab_put_f64s(out, &which->records[i].count, RECORD_VALUES));
  if (!gab_app_forces_last_due(which, which->forces_step)) return GAB_OK;
  GAB_TRY(gab_put_i64(out, which->forces_step));
  return gab_put_f64s(out, which->forces[0], 3 * bodies);
}

gab_status gab_app_forces_unpack(simulation *which, gab_reader *in)
{
  for (size_t i = 0; i < which->parameters->setup.body_count; i++) {
    body_record *record = &which->records[i];
    GAB_TRY(gab_get_f64s(in, &record->count, RECORD_VALUES));
    /* What a shorter run noted in its second half may all lie in the first one of a run that goes on for longer. */
    if (2 * step_of(which, record->lift.last_time) < which->parameters->base.steps)
      *record = (body_record){0};
  }
  which->forces_step = -1;
  if (gab_reader_left(in) == 0) return GAB_OK; /* but at the last step of a run */
  GAB_TRY(gab_get_i64(in, &which->forces_step));
  return gab_get_f64s(in, which->forces[0], 3 * which->parameters->setup.body_count);
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
