/* SPDX-License-Identifier: Apache-2.0 */
/** @file turbulence.h
 *  @brief Isotropic turbulence with a given spectrum: a sum of Fourier modes in a periodic box.
 *
 *  A mode with wave vector k has a random direction across it (Rogallo 1981) and random phases, from a hash of seed and wave
 *  numbers, so that they depend on nothing else. It lies across sin(k dx)/dx: central differences on cells of width dx find no divergence. The
 *  modes of a shell of width 2 pi / (longest side) have together exactly the energy of the spectrum in the shell, alike for each.
 *  Spectra, with the wave number k_0 of their maximum:
 *  - ::GAB_SPECTRUM_VON_KARMAN: E ~ k^4 / (1 + (k/k_e)^2)^(17/6), k_0 = sqrt(12/5) k_e: falls with k^(-5/3);
 *  - ::GAB_SPECTRUM_PASSOT_POUQUET: E ~ k^4 exp(-2 (k/k_0)^2) (Passot & Pouquet 1987).
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_TURBULENCE_H
#define GABION_LBM_TURBULENCE_H

#include "core/base/status.h"

#include <complex.h>

typedef enum gab_spectrum { GAB_SPECTRUM_VON_KARMAN = 0, GAB_SPECTRUM_PASSOT_POUQUET } gab_spectrum;

enum { GAB_TURBULENCE_MOST_WAVES = 64 }; /**< along a side of the box */

typedef struct gab_turbulence_options {
  int dimension;
  double origin[3], length[3]; /**< of the box */
  double dx;
  gab_spectrum spectrum;
  double rms;      /**< of a component of the velocity */
  double peak;     /**< wave length of the maximum of the spectrum */
  double shortest; /**< wave length, at least 4 dx */
  double mean[3];
  uint64_t seed;
} gab_turbulence_options;

typedef struct gab_turbulence gab_turbulence;

/** Local. @return ::GAB_ERR_ARGUMENT for more waves than #GAB_TURBULENCE_MOST_WAVES, or none */
gab_status gab_turbulence_create(const gab_turbulence_options *options, gab_turbulence **turbulence);
void gab_turbulence_destroy(gab_turbulence **turbulence);
/** A gab_velocity_fn. Fast where calls follow each other along x, then y: sums over the other axes are kept. One thread at a time.
 *  @param[in] user  a gab_turbulence */
void gab_turbulence_velocity(void *user, const double centre[3], double velocity[3]);
/** Integral length scale of the longitudinal correlation: in 3D pi / (2 u'^2) times the integral of E / k, in 2D 2 / u'^2. Pure. */
double gab_turbulence_integral_length(const gab_turbulence *turbulence);
/** Modes, each with its opposite one. Pure. */
int64_t gab_turbulence_modes(const gab_turbulence *turbulence);

#endif
