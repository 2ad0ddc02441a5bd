/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantities.h
 *  @brief Output quantities of a flow, in physical units, for the writers of blockforest/output/output_quantity.h.
 *
 *  | name | value |
 *  |---|---|
 *  | `density`, `pressure` | pressure: difference from the reference pressure |
 *  | `velocity`, `speed` | vector; its length |
 *  | `vorticity` | curl of the velocity; in 2D its z component |
 *  | `q_criterion` | (|Omega|^2 - |S|^2) / 2, antisymmetric and symmetric velocity gradient (Hunt, Wray & Moin 1988) |
 *  | `wall_shear_stress` | tangential stress of the fluid on the wall next to a cell |
 *  | `owner`, `level` | of the block |
 *
 *  Programs register further quantities (lbm/observe/cell_quantity.h).
 *
 *  Solid cells have the value NaN. Gradients are central differences; next to solid cells and other levels, one-sided.
 *  Cells without a link to a wall have no wall shear stress (NaN). Walls are bodies, and sides that are walls or move
 *  along themselves. Its formula, order and known errors: doc/flow.md, "Wall shear stress".
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_QUANTITIES_H
#define GABION_LBM_QUANTITIES_H

#include "blockforest/output/own_quantity.h"
#include "lbm/lbm.h"
#include "lbm/observe/cell_quantity.h"
#include "lbm/setup/units.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_LBM_MOST_QUANTITIES = 11 + GAB_MOST_OWN_QUANTITIES };

typedef struct gab_lbm_quantities gab_lbm_quantities;

/** Data that quantities need besides the populations. */
enum {
  GAB_LBM_NEEDS_GRADIENT = 1,
  GAB_LBM_NEEDS_STRESS = 2,
  GAB_LBM_NEEDS_WALLS = 4 /**< gab_lbm_wall_loads() */
};
enum { GAB_LBM_MOST_NEEDS = 3 };

/** Registers the block data of quantities, with ghosts (a velocity, a stress), before the forest is populated.
 *  Collective if something is needed. @param[in] forest,lbm  borrowed as long as the quantities live
 *  @param[in] units  copied; {1, 1, 1}: lattice units
 *  @param[in] needs  bits of all requested quantities: gab_lbm_quantity_needs()
 *  @param[out] quantities  owned by the caller, released by gab_lbm_quantities_destroy() before the forest */
gab_status gab_lbm_quantities_create(gab_forest *forest, gab_lbm *lbm, const gab_units *units, unsigned needs,
                                     gab_lbm_quantities **quantities);
void gab_lbm_quantities_destroy(gab_lbm_quantities **quantities);

/** The handles of these among the data of blocks. @return how many there are */
GAB_EXTENDER int gab_lbm_quantities_data(const gab_lbm_quantities *quantities,
                                         gab_data_id data[GAB_LBM_MOST_NEEDS]);

/** Brings velocities and stresses around all cells up to date: before such quantities are evaluated at a step. Collective;
 *  nothing if nothing is needed. */
gab_status gab_lbm_quantities_update(gab_lbm_quantities *quantities);

/** List of the quantities. Local. @param[in] quantities  NULL: to look up names only
 *  @param[out] items  capacity for ::GAB_LBM_MOST_QUANTITIES; evaluating a gradient or a stress fails with
 *  ::GAB_ERR_STATE if it was not requested, or the forest has changed since the update */
gab_quantity_list gab_lbm_quantities_list(gab_lbm_quantities *quantities, int dimension,
                                          gab_quantity items[GAB_LBM_MOST_QUANTITIES]);
/** Their names and descriptions, with registered ones: gab_config_choice_fn. */
GAB_EXTENDER gab_config_choice gab_lbm_quantity_choice(int index);

/** Needs of the quantity of that name, or of a component as `vorticity.x`: bits. Pure. */
GAB_EXTENDER unsigned gab_lbm_quantity_needs(const char *name);

#ifdef __cplusplus
}
#endif
#endif
