/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/units.h"

#include "core/base/log.h"

#include <math.h>

static gab_status check_positive(const char *what, double value)
{
  if (!(value > 0 && isfinite(value))) GAB_FAIL(GAB_ERR_INPUT, "%s must be positive, not %g", what, value);
  return GAB_OK;
}

gab_status gab_units_from_dt(double dx, double dt, double density, gab_units *units)
{
  GAB_TRY(check_positive("the width of a cell", dx));
  GAB_TRY(check_positive("the time step", dt));
  GAB_TRY(check_positive("the density", density));
  *units = (gab_units){.dx = dx, .dt = dt, .density = density};
  return GAB_OK;
}

gab_status gab_units_from_velocity(double dx, double velocity, double lattice_velocity, double density,
                                   gab_units *units)
{
  GAB_TRY(check_positive("the reference velocity", velocity));
  GAB_TRY(check_positive("the velocity on the lattice", lattice_velocity));
  return gab_units_from_dt(dx, dx * lattice_velocity / velocity, density, units);
}

gab_status gab_viscosity_from_reynolds(double reynolds, double velocity, double length, double *viscosity)
{
  GAB_TRY(check_positive("the Reynolds number", reynolds));
  GAB_TRY(check_positive("the reference velocity", velocity));
  GAB_TRY(check_positive("the reference length", length));
  *viscosity = velocity * length / reynolds;
  return GAB_OK;
}

bool gab_units_are_physical(const gab_units *units)
{
  return units->are_given || units->dx != 1 || units->dt != 1 || units->density != 1;
}

double gab_units_velocity_to_lattice(const gab_units *units, double velocity)
{
  return velocity * (units->dt / units->dx);
}
double gab_units_velocity_to_physical(const gab_units *units, double velocity)
{
  return velocity * (units->dx / units->dt);
}
double gab_units_viscosity_to_lattice(const gab_units *units, double viscosity)
{
  return viscosity * (units->dt / (units->dx * units->dx));
}
double gab_units_acceleration_to_lattice(const gab_units *units, double acceleration)
{
  return acceleration * (units->dt * units->dt / units->dx);
}

static double pressure_unit(const gab_units *units)
{
  double speed = units->dx / units->dt;
  return units->density * speed * speed;
}
double gab_units_pressure_to_physical(const gab_units *units, double density)
{
  return (density - 1) / 3 * pressure_unit(units);
}
double gab_units_pressure_to_density(const gab_units *units, double pressure)
{
  return 1 + 3 * pressure / pressure_unit(units);
}
double gab_units_force_to_physical(const gab_units *units, int dimension, double force)
{
  return force * pressure_unit(units) * units->dx * (dimension == 3 ? units->dx : 1);
}

double gab_omega_of_viscosity(double lattice_viscosity) { return 1 / (3 * lattice_viscosity + 0.5); }
double gab_viscosity_of_omega(double omega) { return (1 / omega - 0.5) / 3; }

static gab_status check_mach(double velocity)
{
  const double warned = 0.17, refused = 0.35;
  double mach = fabs(velocity) * sqrt(3.0);
  if (!(mach <= refused))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "the Mach number on the lattice is %.3g (velocity %.3g cells per step), more than %.2f: shorten the "
        "time step at least by a factor of %.3g",
        mach, velocity, refused, mach / warned);
  if (mach > warned)
    gab_log(GAB_LOG_WARNING,
            "the Mach number on the lattice is %.3g (velocity %.3g cells per step): above %.2f "
            "compressibility errors "
            "of some per cent show",
            mach, velocity, warned);
  return GAB_OK;
}

static gab_status check_omega(double omega)
{
  const double warned = 1.98, small = 0.5;
  if (!(omega > 0 && omega < 2))
    GAB_FAIL(GAB_ERR_INPUT, "omega is %.6g, outside (0, 2): the viscosity must be positive", omega);
  if (omega > warned)
    gab_log(GAB_LOG_WARNING,
            "omega is %.6g (viscosity %.3g on the lattice), close to 2: the flow may become unstable; use "
            "more cells or "
            "a larger viscosity",
            omega, gab_viscosity_of_omega(omega));
  if (omega < small)
    gab_log(
        GAB_LOG_WARNING,
        "omega is %.6g (viscosity %.3g on the lattice), below %g: errors of the collision and at walls grow with "
        "the viscosity; shorten the time step at least by a factor of %.3g",
        omega, gab_viscosity_of_omega(omega), small,
        gab_viscosity_of_omega(omega) / gab_viscosity_of_omega(small));
  return GAB_OK;
}

gab_status gab_flow_check(const gab_flow_scales *scales)
{
  const double warned = 8, refused = 2;
  const char *what = scales->what ? scales->what : "the smallest body";
  GAB_TRY(check_mach(scales->velocity));
  GAB_TRY(check_omega(scales->omega));
  if (scales->resolution == 0) return GAB_OK;
  if (!(scales->resolution >= refused))
    GAB_FAIL(GAB_ERR_INPUT, "%s is only %.3g cells across, fewer than %g: use smaller cells", what,
             scales->resolution, refused);
  if (scales->resolution < warned)
    gab_log(GAB_LOG_WARNING, "%s is only %.3g cells across, fewer than %g: its flow will be coarse", what,
            scales->resolution, warned);
  return GAB_OK;
}
