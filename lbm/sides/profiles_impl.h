/* SPDX-License-Identifier: Apache-2.0 */
/** @file profiles_impl.h
 *  @brief Profiles of the velocity over a side, in the coordinates of their section.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_PROFILES_IMPL_H
#define GABION_LBM_PROFILES_IMPL_H

#include <complex.h>

/** Bessel function of the first kind, of order 0 or 1. Pure.
 *  @param[in] z  |imaginary part| up to 700; relative error 1e-11 or less where |z| <= 700 and |real part| = |imaginary part| */
double _Complex gab_bessel_j(int order, double _Complex z);

/** Flow in a rectangular duct over that in its middle: White, Viscous Fluid Flow, eq. 3-48. Pure.
 *  @param[in] y,z  from the middle @param[in] a,b  half widths; 0 at the wall and beyond */
double gab_profile_duct(double y, double z, double a, double b);

/** Oscillating flow over the amplitude of its mean: real and imaginary part of the amplitude at a place. Womersley 1955. Pure.
 *  @param[in] tube  a round tube, else a channel between two plates @param[in] alpha  half height or radius times sqrt(omega / viscosity)
 *  @param[in] place  distance from the middle over half height or radius; at 1 and beyond it is 0 */
double _Complex gab_profile_womersley(bool tube, double alpha, double place);

#endif
