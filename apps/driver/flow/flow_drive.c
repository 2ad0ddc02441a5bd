/* SPDX-License-Identifier: Apache-2.0 */
/* A body force that holds the mean velocity along periodic axes (fluid.mean_velocity). */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

#include <math.h>

static bool is_due(const void *user, gab_step step)
{
  const simulation *which = user;
  return step % which->parameters->setup.mean_velocity_every == 0;
}

/* The force is corrected by the mean velocity extrapolated to the next adjustment from the last interval: a + (U - (2
 * u - u_before)) / interval (Benocci & Pinelli 1990), half of it, since the first interval does not show the
 * friction. */
static gab_status adjust(void *user, gab_step step)
{
  simulation *which = user;
  const gab_lbm_setup *setup = &which->parameters->setup;
  mean_drive *drive = &which->drive;
  gab_lbm_integrals now;
  if (step == drive->step) return GAB_OK; /* a run that is resumed has done it */
  GAB_TRY(gab_lbm_integrate(which->lbm, false, &now));
  for (int axis = 0; axis < 3; axis++) {
    const double mean = now.momentum[axis] / now.mass;
    const double before = drive->step < 0 ? mean : drive->mean[axis];
    if (setup->mean_velocity[axis] != 0)
      drive->force[axis] +=
          0.5 * (setup->mean_velocity[axis] - (2 * mean - before)) / (double)setup->mean_velocity_every;
    drive->mean[axis] = mean;
  }
  drive->step = step;
  return gab_lbm_set_force(which->lbm, drive->force);
}

gab_status gab_app_drive_add(simulation *which, gab_timeloop *loop)
{
  const gab_lbm_options *options = &which->parameters->setup.options;
  if (!options->force_varies) return GAB_OK;
  return gab_timeloop_add_action(loop, "mean velocity", is_due, adjust, which);
}

gab_status gab_app_drive_pack(const simulation *which, gab_buffer *out)
{
  if (!which->parameters->setup.options.force_varies) return GAB_OK;
  GAB_TRY(gab_put_i64(out, which->drive.step));
  GAB_TRY(gab_put_f64s(out, which->drive.force, 3));
  return gab_put_f64s(out, which->drive.mean, 3);
}

gab_status gab_app_drive_unpack(simulation *which, gab_reader *in)
{
  mean_drive drive;
  if (!which->parameters->setup.options.force_varies) return GAB_OK;
  GAB_TRY(gab_get_i64(in, &drive.step));
  GAB_TRY(gab_get_f64s(in, drive.force, 3));
  GAB_TRY(gab_get_f64s(in, drive.mean, 3));
  which->drive = drive;
  return gab_lbm_set_force(which->lbm, drive.force);
}

void gab_app_drive_report(const simulation *which)
{
  const gab_lbm_setup *setup = &which->parameters->setup;
  const double to_physical = setup->units.dx / (setup->units.dt * setup->units.dt);
  if (!setup->options.force_varies) return;
  for (int axis = 0; axis < which->parameters->domain.dimension; axis++)
    if (setup->mean_velocity[axis] != 0)
      gab_log(GAB_LOG_INFO, "  mean velocity along %c %.6g m/s, held by an acceleration of %.6g m/s^2",
              (int)"xyz"[axis], gab_units_velocity_to_physical(&setup->units, which->drive.mean[axis]),
              which -> drive.force[axis] * to_physical);
}
