/* SPDX-License-Identifier: Apache-2.0 */
/** @file porous.h
 *  @brief Porous regions: a drag on the fluid by the law of Darcy and Forchheimer.
 *
 *  In the cells of a region acts, per volume and along each axis, F_i = -density (viscosity / K_i + beta_i |u|) u_i, with the
 *  permeability K_i and the superficial velocity u. The porosity does not enter: neither the convective term nor the
 *  viscosity (viscosity ratio 1). Where F balances the pressure gradient this is Darcy's law with Forchheimer's term; near
 *  borders, with the viscous term, Brinkman's equation.
 *
 *  The drag is taken implicitly, after the collision (Guo & Zhao 2002, Phys. Rev. E 66, 036304), with any collision, kernel and level:
 *  with the momentum j of a cell after its collision, u = j / (density (1 + a / 2)), a = -F / (density u) per
 *  sub-step. The cell then sends j + F. Its velocity follows from what it has sent as long as a is below 2; see #GAB_POROUS_MOST_DRAG.
 *  Velocities of gab_lbm_macroscopic() and of all that is derived from it are u. Order and limits: doc/porous.md.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_POROUS_H
#define GABION_LBM_POROUS_H

#include "core/base/types.h"
#include "lbm/boundaries/body.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_lbm;

enum { GAB_MOST_POROUS = 250 /**< regions of a flow */ };

/** Largest a, the share of momentum that the drag takes in a sub-step at the velocity of the cell. Regions whose linear part exceeds it on a
 * level with cells of theirs are refused. Where Forchheimer's part would make the slope of the drag larger, the drag
 * continues as a straight line. */
#define GAB_POROUS_MOST_DRAG 1.9

/** A region, in lattice units of level 0. */
typedef struct gab_porous_region {
  gab_body
      shape; /**< cells with their centre inside; of several regions the first one counts. Walls are not used */
  double linear[3];    /**< by axis: viscosity / permeability, per step */
  double quadratic[3]; /**< by axis: Forchheimer's beta, per cell */
} gab_porous_region;

/** State of a region. */
typedef struct gab_porous_load {
  uint64_t cells;
  double volume; /**< in cells of level 0 */
  double force
      [3]; /**< of the fluid on the region: the sum of -F of the last step, momentum per step of level 0 */
  double velocity[3]; /**< superficial, mean over the volume */
  double power;       /**< that the drag takes from the flow: the sum of -F.u, per step of level 0 */
  double most_drag;   /**< largest a of a cell and axis */
  uint64_t
      beyond; /**< cells so fast that the drag continues as a straight line there: see #GAB_POROUS_MOST_DRAG */
} gab_porous_load;

/** Loads of all regions, from the state: exact sums. Collective. @param[out] loads  in the order of
 * gab_lbm_options.porous */
gab_status gab_lbm_porous_loads(struct gab_lbm *lbm, gab_porous_load *loads);

/** Adds the fluid cells of each region in a box of cells of a level. Local. @param[in,out] cells  by region */
void gab_lbm_count_porous(const struct gab_lbm *lbm, int level, const gab_box *box, uint64_t *cells);

/** Finds a porous cell of a box of cells of a level at a side whose condition cannot have any: outlets other than with a given pressure. Local.
 *  @param[out] region  of the cell, if found @param[out] place  of the condition in parameter files, "boundaries.x_max"; borrowed from the
 *  options */
bool gab_lbm_porous_meets_outlet(const struct gab_lbm *lbm, int level, const gab_box *box, size_t *region,
                                 const char **place);

/** a on a level, the largest of the axes, at a speed in cells per step; with the slope of Forchheimer's part, which is twice that part. Pure. */
double gab_porous_drag_on(const gab_porous_region *region, int level, double speed);

#ifdef __cplusplus
}
#endif
#endif
