/* SPDX-License-Identifier: Apache-2.0 */
/** @file quantities_impl.h
 *  @brief Shared by the quantities of a flow: velocities and stresses with ghosts, and their differences.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_QUANTITIES_IMPL_H
#define GABION_LBM_QUANTITIES_IMPL_H

#include "blockforest/exchange/block_field.h"
#include "lbm/observe/quantities.h"
#include "lbm/observe/stress_impl.h"
#include "lbm/observe/wall_fit_impl.h"

/* A field with ghosts, for differences across the faces of blocks. */
typedef struct around {
  gab_block_field field;
  gab_data_id data;
  gab_exchange *exchange;
} around;

struct gab_lbm_quantities {
  gab_forest *forest;
  gab_lbm *lbm;
  gab_units units;
  double *velocity; /* of one block, owned, as `density` and `fluid`; NULL before the first look */
  double *density;
  uint8_t *fluid;
  gab_own_quantity own[GAB_MOST_OWN_QUANTITIES];
  /* Gradients need the neighbours' velocities, stresses on walls those of the stress: kept only if somebody wants them. */
  unsigned wanted;
  uint64_t updated;      /* revision of the forest at the last update, */
  gab_step updated_step; /* and the step of the world */
  around velocities, stresses, walls;
};

enum { GAB_WALL_STATE_LAYERS = 3 /**< of ghosts */ };
/** Brings `walls` up to date. Collective. */
gab_status gab_lbm_quantities_update_walls(gab_lbm_quantities *view);
/** The derivative of a component along an axis, per cell: central, one-sided next to cells without fluid, which hold
 *  NaN. */
double gab_lbm_slope(const gab_field *u, const int32_t at[3], int component, int axis);
/** Of the fluid, without what a model of turbulence adds, in m^2/s. Pure. @param[in] shear_rate  1/s */
double gab_lbm_viscosity_at(const gab_lbm *lbm, const gab_units *units, double shear_rate);
/** ::GAB_ERR_STATE if data of a quantity is not stored, is older than the grid, or of another step. @param[in] needed
 *  one bit */
gab_status gab_lbm_check_updated(const gab_lbm_quantities *view, const gab_forest *forest, unsigned needed);
/** Starts fits of velocities at walls in a block, after gab_lbm_check_updated(); ended by gab_wall_fit_close(). */
gab_status gab_lbm_open_wall_fit(const gab_lbm_quantities *view, const gab_block *block, gab_wall_fit *fit);
/** Sets `stress`, `at_wall` and `wall_...` of a fluid cell, after gab_lbm_check_updated(). @param[in] fit  of the
 *  block; NULL: it has no walls @param[in,out] cell  with dx */
void gab_lbm_fill_cell_stress(const gab_lbm_quantities *view, const gab_block *block, const int32_t at[3],
                              gab_wall_fit *fit, gab_lbm_cell *cell);
/** gab_quantity.evaluate. */
gab_status gab_lbm_evaluate_wall_shear(void *user, const gab_forest *forest, const gab_block *block,
                                       double *values);

#endif
