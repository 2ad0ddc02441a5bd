/* SPDX-License-Identifier: Apache-2.0 */
/** @file plane_flow.h
 *  @brief Flow rate, mean velocity and mean pressure across a plane of the grid.
 *
 *  The sums are over the fluid cells that the plane crosses, each with the area of its own face, so that one plane may
 *  cross levels. A plane between two layers of cells crosses the upper ones, at the end of the domain the last ones.
 *
 *  The flow is that of the mass. With half-way walls, away from level borders, it is the mean of the masses that the
 *  populations carry through both faces of the layer: in a steady flow it is the same for all layers between two
 *  places where fluid enters or leaves.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_PLANE_FLOW_H
#define GABION_LBM_PLANE_FLOW_H

#include "lbm/lbm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In lattice units of level 0. Without fluid: zeros. */
typedef struct gab_plane_flow {
  double area;     /**< of the faces of fluid cells */
  double flow;     /**< mass per step along the axis, in units of a cell at density 1 */
  double velocity; /**< along the axis, mean over the area */
  double pressure; /**< mean over the area, relative to density 1 */
} gab_plane_flow;

/** Finds them in the present state, by exact sums (independent of order). Collective.
 *  @param[in] position  on the axis, in the units of the domain; outside of it there is no fluid
 *  @return on all ranks the same */
gab_status gab_lbm_plane_flow(const gab_lbm *lbm, int axis, double position, gab_plane_flow *flow);

#ifdef __cplusplus
}
#endif
#endif
