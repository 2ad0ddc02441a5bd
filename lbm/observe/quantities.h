/** @file quantities.h
 *  @brief What a flow has to show, for the writers of blockforest/output/output_quantity.h, in physical units.
 *
 *  | name | |
 *  |---|---|
 *  | `density`, `pressure` | pressure: difference to the reference pressure |
 *  | `velocity`, `speed` | a vector, and its length |
 *  | `vorticity` | curl of the velocity; in 2D its z component |
 *  | `q_criterion` | (|Omega|^2 - |S|^2) / 2 with the antisymmetric and the symmetric part of the velocity's gradient: positive where a flow
 *  turns more than it is strained (Hunt, Wray & Moin 1988) |
 *  | `owner`, `level` | of the block |
 *
 *  and those that a program has registered (lbm/observe/cell_quantity.h).
 *
 *  Solid cells have no value (NaN). Gradients are central differences, one-sided beside solid cells and beside other
 *  levels.
 *
 *  Tier: user header.
 */
#ifndef GABION_LBM_QUANTITIES_H
#define GABION_LBM_QUANTITIES_H

#include "blockforest/output/output_quantity.h"
#include "core/config/config.h"
#include "lbm/lbm.h"
#include "lbm/observe/cell_quantity.h"
#include "lbm/setup/units.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_LBM_MOST_QUANTITIES = 8 + GAB_LBM_MOST_OWN_QUANTITIES };

typedef struct gab_lbm_quantities gab_lbm_quantities;

/** Before the forest is populated: registers a velocity with ghosts on blocks if `with_gradients`. Collective then.
 *  @param[in] forest,lbm  borrowed as long as the quantities live @param[in] units  copied; {1, 1, 1}: lattice units
 *  @param[in] with_gradients  vorticity and q_criterion are wanted, see gab_lbm_quantity_is_gradient()
 *  @param[out] quantities  owned by the caller, released by gab_lbm_quantities_destroy() before the forest */
gab_status gab_lbm_quantities_create(gab_forest *forest, const gab_lbm *lbm, const gab_units *units,
                                     bool with_gradients, gab_lbm_quantities **quantities);
void gab_lbm_quantities_destroy(gab_lbm_quantities **quantities);

/** The handle of that velocity among the data of blocks; {0} without. */
gab_data_id gab_lbm_quantities_data(const gab_lbm_quantities *quantities);

/** Brings the velocities around all cells up to date: before gradients are evaluated at a step. Collective; nothing without
 *  gradients. */
gab_status gab_lbm_quantities_update(gab_lbm_quantities *quantities);

/** The quantities there are. Local. @param[in] quantities  NULL: to look up names only
 *  @param[out] items  room for ::GAB_LBM_MOST_QUANTITIES; evaluating a gradient fails with ::GAB_ERR_STATE where they are not
 *  wanted, or the forest has changed since the update */
gab_quantity_list gab_lbm_quantities_list(gab_lbm_quantities *quantities, int dimension,
                                          gab_quantity items[GAB_LBM_MOST_QUANTITIES]);
/** Their names and texts, those that were registered among them: gab_config_words. */
gab_config_word gab_lbm_quantity_word(int index);

/** Whether a quantity of that name, or a component as `vorticity.x`, needs gradients. Pure. */
bool gab_lbm_quantity_is_gradient(const char *name);

#ifdef __cplusplus
}
#endif
#endif
