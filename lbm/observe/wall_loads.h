/* SPDX-License-Identifier: Apache-2.0 */
/** @file wall_loads.h
 *  @brief Pressure and friction on the walls of bodies: the parts of their forces and torques.
 *
 *  Momentum exchange (gab_lbm_loads()) gives the whole force, but not its parts. The parts are integrals over the wall
 *  of the pressure and of the viscous stress, from density and velocity of the cells along each link that the wall
 *  cuts. Links sample the wall: there are n c_q of them per area in direction q, so the sum of 6 w_q c_q over links is
 *  the integral of the normal, without areas or normals of cells, also on staircases and voxels. Derivation, orders
 *  and errors: doc/flow.md, "Pressure and friction".
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_WALL_LOADS_H
#define GABION_LBM_WALL_LOADS_H

#include "lbm/observe/quantities.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Of a body, in the units of gab_body_load. */
typedef struct gab_wall_load {
  double pressure[3], friction[3];               /**< forces */
  double pressure_torque[3], friction_torque[3]; /**< about gab_geometry_torque_point() */
  double y_plus_least, y_plus_mean, y_plus_most; /**< of the cells next to the wall; 0 without any */
} gab_wall_load;

/** Finds them in the present state. Collective. @param[in] quantities  made with ::GAB_LBM_NEEDS_WALLS
 *  @param[out] loads  gab_geometry_body_count() of them @return ::GAB_ERR_STATE without ::GAB_LBM_NEEDS_WALLS */
gab_status gab_lbm_wall_loads(gab_lbm_quantities *quantities, gab_wall_load *loads);

#ifdef __cplusplus
}
#endif
#endif
