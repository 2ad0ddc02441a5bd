/* SPDX-License-Identifier: Apache-2.0 */
/** @file thermo.h
 *  @brief Free energies of the phases and derived quantities.
 *
 *  Each phase has a parabolic free energy density of the K-1 independent concentrations c,
 *  @code
 *    f(c, T) = c . Xi c + xi(T) . c + X(T)
 *  @endcode
 *  so that with the chemical potentials mu = df/dc everything is in closed form (Choudhury & Nestler 2012,
 *  Hötzer et al. 2015):
 *  @code
 *    c(mu, T) = Xi^-1 (mu - xi) / 2 = chi mu + c_0(T),   chi = dc/dmu = Xi^-1 / 2,   c_0 = -chi xi
 *    psi(mu, T) = f - mu . c = -(mu - xi) . Xi^-1 (mu - xi) / 4 + X
 *  @endcode
 *  Everything here is local and without state.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_PHASEFIELD_THERMO_H
#define GABION_PHASEFIELD_THERMO_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GAB_MOST_PHASES = 8,       /**< N */
  GAB_MOST_COMPONENTS = 4,   /**< K */
  GAB_MOST_INDEPENDENTS = 3, /**< K - 1: concentrations and chemical potentials */
  GAB_PHASE_NAME_LENGTH = 24,
  GAB_THERMO_TABLE_LENGTH = 64
};

/** A number that depends on the temperature: value + slope * T, or, if `count` > 0, linear between the points of a
 *  table and beyond its ends with the slope of the first and last piece. */
typedef struct gab_of_temperature {
  double value, slope;
  int count;                                    /**< points: 0, or at least 2 */
  double temperatures[GAB_THERMO_TABLE_LENGTH]; /**< ascending */
  double values[GAB_THERMO_TABLE_LENGTH];
} gab_of_temperature;

double gab_of_temperature_at(const gab_of_temperature *what, double temperature);

/** The free energy of a phase, and its diffusivity. */
typedef struct gab_phase_energy {
  char name[GAB_PHASE_NAME_LENGTH];
  double curvature[GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS]; /**< Xi; symmetric, positive definite */
  gab_of_temperature linear[GAB_MOST_INDEPENDENTS];               /**< xi */
  gab_of_temperature constant;                                    /**< X */
  double diffusivity;                                             /**< D >= 0 */
} gab_phase_energy;

/** The phases of a system; the last one is the melt. */
typedef struct gab_thermo {
  int phases;       /**< N, 2 … 8 */
  int independents; /**< K - 1, 1 … 3 */
  gab_phase_energy phase[GAB_MOST_PHASES];
  /** chi of each phase, made by gab_thermo_prepare(). */
  double susceptibility[GAB_MOST_PHASES][GAB_MOST_INDEPENDENTS][GAB_MOST_INDEPENDENTS];
} gab_thermo;

/** Checks and completes. @return ::GAB_ERR_INPUT with the numbers if Xi of a phase is not symmetric and positive
 *  definite, a diffusivity is negative, a table does not ascend, or a name is repeated */
GAB_STABLE gab_status gab_thermo_prepare(gab_thermo *thermo);

/** Quantities of a phase at one temperature. */
typedef struct gab_phase_state {
  double xi[GAB_MOST_INDEPENDENTS];
  double offset[GAB_MOST_INDEPENDENTS]; /**< c_0: the concentrations at mu = 0 */
  double constant;                      /**< X */
} gab_phase_state;

GAB_STABLE gab_phase_state gab_thermo_state(const gab_thermo *thermo, int phase, double temperature);

/** c(mu, T) of a phase. @param[out] c  K-1 values, as mu */
void gab_thermo_concentration(const gab_thermo *thermo, int phase, double temperature, const double *mu,
                              double *c);
/** mu(c, T) = 2 Xi c + xi of a phase. */
void gab_thermo_chemical_potential(const gab_thermo *thermo, int phase, double temperature, const double *c,
                                   double *mu);
/** psi(mu, T) of a phase. */
double gab_thermo_grand_potential(const gab_thermo *thermo, int phase, double temperature, const double *mu);

/** Equilibrium of all phases: N = K + 1 of them at one temperature and mu (Newton's method).
 *  @param[in,out] temperature  a guess, then T_E  @param[in,out] mu  a guess, then mu_E
 *  @return ::GAB_ERR_INPUT, with the last iterate, if N is not K + 1 or no such state is found near the guess */
GAB_STABLE gab_status gab_thermo_eutectic(const gab_thermo *thermo, double *temperature, double *mu);

/** A tie line: equilibrium of two phases at a temperature, next to a given mu.
 *  @param[in,out] mu  a guess, then the common chemical potentials; their concentrations follow from it
 *  @return ::GAB_ERR_INPUT if there is no equilibrium nearby */
gab_status gab_thermo_tie_line(const gab_thermo *thermo, int a, int b, double temperature, double *mu);

/** A solid that melts by a linearised phase diagram: next to T_E, melt of c_melt + dT / (m . Dc) Dc is in equilibrium
 *  with solid of c_solid + dT / (m . Dc) Dc, Dc = c_melt - c_solid, m the liquidus slopes. Sets xi and X of the solid;
 *  Xi is that of the melt, whose xi and X must be 0.
 *  @param[in] slopes  m, K-1 values, temperature per concentration
 *  @return ::GAB_ERR_INPUT if m . Dc is not negative (the solid would melt on cooling) */
gab_status gab_thermo_linear_solid(gab_thermo *thermo, int solid, double eutectic_temperature,
                                   const double *c_solid, const double *c_melt, const double *slopes);

/** The interpolation function h that distributes bulk quantities over an interface. */
typedef enum gab_interpolation {
  GAB_INTERPOLATION_MOELANS = 0, /**< phi_a^2 / sum_b phi_b^2 (Moelans 2011) */
  GAB_INTERPOLATION_CUBIC        /**< 3 phi^2 - 2 phi^3 + 2 phi_a sum_{b<c, not a} phi_b phi_c */
} gab_interpolation;

/** The potential that keeps interfaces thin. */
typedef enum gab_potential {
  GAB_POTENTIAL_OBSTACLE =
      0,             /**< 16/pi^2 sum gamma_ab phi_a phi_b on the simplex: interfaces of finite width */
  GAB_POTENTIAL_WELL /**< 9 sum gamma_ab phi_a^2 phi_b^2 */
} gab_potential;

/** m = integral of h (1 - h) over the coordinate x / epsilon of a plane interface at rest: the kinetics of the thin
 *  interface cancels it. 0.22168 for the cubic h, 0.18067 for Moelans, with the obstacle. */
double gab_thermo_interface_integral(gab_interpolation interpolation, gab_potential potential);

/** tau of a solid and the melt without interface kinetics (thin interface limit, Karma & Rappel 1998, for the
 *  grand potential Choudhury & Nestler 2012): epsilon m Dc . (D chi)^-1 Dc, with D and chi of the melt.
 *  @return ::GAB_ERR_INPUT if the melt has no diffusivity or the compositions are equal */
GAB_STABLE gab_status gab_thermo_kinetics_free_tau(const gab_thermo *thermo, int solid, double temperature,
                                                   const double *mu, double epsilon,
                                                   gab_interpolation interpolation, gab_potential potential,
                                                   double *tau);

/** The largest diffusivity of the chemical potentials anywhere in an interface: D chi of one phase against
 *  chi of another. The explicit step is stable up to dx^2 / (2 dimension * this). */
double gab_thermo_fastest_diffusion(const gab_thermo *thermo);

#ifdef __cplusplus
}
#endif
#endif
