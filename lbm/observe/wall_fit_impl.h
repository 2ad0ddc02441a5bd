/* SPDX-License-Identifier: Apache-2.0 */
/** @file wall_fit_impl.h
 *  @brief The slope of the velocity on an interpolated wall, by a least-squares fit to the cells around.
 *
 *  In the frame of a rigid wall the velocity vanishes on it. With s the distance from the wall, t the position along
 *  it from the point of the wall nearest to a cell, and g the normal gradient at that point,
 *  @code
 *    u(s, t) = s (g + a s + b t)
 *  @endcode
 *  up to terms of third order, for any curvature of the wall. g, a and b fit the fluid cells at most two cells away,
 *  with the weight (1 + r^2)^-3/2 s^4 / (1 + s^4), r^2 = s^2 + t^2 in cells. Cells next to the wall have small
 *  weights, since they have the slip of the interpolation: an error of second order, which the gradient would turn
 *  into one of first order.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_WALL_FIT_IMPL_H
#define GABION_LBM_WALL_FIT_IMPL_H

#include "lbm/lbm_impl.h"

/** Components of the field that fits take, with ghosts: density - 1, velocity, viscosity, in the lattice units of the level. NaN: no fluid. */
enum { GAB_WALL_STATE_DENSITY, GAB_WALL_STATE_VELOCITY, GAB_WALL_STATE_VISCOSITY = 4, GAB_WALL_STATE_SIZE };

/** Distances from walls in a block and its ghosts, found where a fit needs them. Owned; may be all zero before gab_wall_fit_open(). */
typedef struct gab_wall_fit {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  const gab_field *state; /**< GAB_WALL_STATE_..., with at least GAB_WALL_FIT_REACH layers of ghosts */
  struct gab_wall_place *places;
} gab_wall_fit;
enum { GAB_WALL_FIT_REACH = 2 /**< cells */ };

/** Whether any body has an interpolated wall. Pure. */
bool gab_wall_fit_has_use(const gab_geometry *geometry);
/** Starts fits in a block. Without effect where the block has no interpolated wall near it, or fewer cells than a fit reaches.
 *  @param[in] state  of the block; NULL: without effect */
gab_status gab_wall_fit_open(const gab_lbm *lbm, const gab_block *block, const gab_field *state,
                             gab_wall_fit *fit);
void gab_wall_fit_close(gab_wall_fit *fit);

/** The normal gradient at the wall next to a fluid cell. @param[in] at  the cell @param[in] body  of all its links to
 *  walls; -1: none
 *  @param[in] normal,distance  from gab_lbm_wall_beside() @param[out] slope  of the velocity along the wall, per cell
 *  @param[out] viscosity  at the wall, in lattice units @return false if no fit is possible: staircases, flat sides,
 *  corners, too few cells */
bool gab_wall_fit_slope(gab_wall_fit *fit, const int32_t at[3], int body, const double normal[3],
                        double distance, double slope[3], double *viscosity);

/** Viscosity at a wall, where the shear rate is the absolute value of the slope; in lattice units of the level. Pure.
 *  @param[in] shear_rate  per step of the level @param[in] otherwise  for collisions without gab_collision.rate_of_strain */
double gab_wall_viscosity(const gab_lbm_model *model, const gab_level_model *at, double shear_rate,
                          double otherwise);

#endif
