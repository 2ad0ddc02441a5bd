/* SPDX-License-Identifier: Apache-2.0 */
/** @file units.h
 *  @brief Physical and lattice units, and checks of a flow in lattice units.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_UNITS_H
#define GABION_LBM_UNITS_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One cell is dx long, one step takes dt, density 1 is `density`. All in units of the user's choice (SI). */
typedef struct gab_units {
  double dx, dt, density;
  bool are_given; /**< by the user: quantities have units even if all three are 1, as in lattice units */
} gab_units;

/** From cell width and time step. @return ::GAB_ERR_INPUT unless all are positive */
gab_status gab_units_from_dt(double dx, double dt, double density, gab_units *units);
/** From cell width, a reference velocity and its value on the lattice: dt = dx * lattice_velocity /
 * velocity. */
gab_status gab_units_from_velocity(double dx, double velocity, double lattice_velocity, double density,
                                   gab_units *units);
/** nu = velocity * length / Re. @return ::GAB_ERR_INPUT unless all are positive */
gab_status gab_viscosity_from_reynolds(double reynolds, double velocity, double length, double *viscosity);

/** Whether numbers in these units have physical ones: they were given, or are not those of the lattice. Pure. */
GAB_EXTENDER bool gab_units_are_physical(const gab_units *units);
double gab_units_velocity_to_lattice(const gab_units *units, double velocity);
double gab_units_velocity_to_physical(const gab_units *units, double velocity);
double gab_units_viscosity_to_lattice(const gab_units *units, double viscosity);
/** Acceleration (m/s^2) to force per volume at density 1. */
double gab_units_acceleration_to_lattice(const gab_units *units, double acceleration);
/** Pressure difference to the reference pressure, from density: c_s^2 (rho - 1) in physical units. */
double gab_units_pressure_to_physical(const gab_units *units, double density);
double gab_units_pressure_to_density(const gab_units *units, double pressure);
/** Force on a body; `dimension` 2 gives force per length. */
double gab_units_force_to_physical(const gab_units *units, int dimension, double force);
/** Relaxation rate of a viscosity in lattice units: 1 / (3 nu + 1/2), and back. */
double gab_omega_of_viscosity(double lattice_viscosity);
double gab_viscosity_of_omega(double omega);

/** Parameters of a flow in lattice units, for gab_flow_check(). */
typedef struct gab_flow_scales {
  double velocity; /**< largest expected */
  double omega;
  double resolution; /**< cells across the smallest body or gap; 0: nothing to resolve */
  const char *what;  /**< name of that body, for the message; may be NULL */
} gab_flow_scales;

/** Checks a flow; the message gives the numbers and a remedy. Refused: Mach number u/c_s above 0.35, omega outside (0,
 *  2), fewer than 2 cells across a body. Warned of in the log: Mach number above 0.17, omega below 0.5 or above 1.98,
 *  fewer than 8 cells. @return GAB_OK or ::GAB_ERR_INPUT */
GAB_EXTENDER gab_status gab_flow_check(const gab_flow_scales *scales);

#ifdef __cplusplus
}
#endif
#endif
