/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow_state.h
 *  @brief The state of a flow as another flow can take it, and a flow that takes it.
 *
 *  Between flows on different grids, states are pressure, velocity and rate of strain; populations follow from them by the first
 *  order of the Chapman-Enskog expansion (gab_lbm_state). Between cells of one width, time step and collision, populations
 *  themselves may be handed over: then nothing is lost.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_FLOW_STATE_H
#define GABION_LBM_FLOW_STATE_H

#include "blockforest/exchange/resample.h"
#include "lbm/lbm.h"
#include "lbm/setup/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Values of a cell: pressure (relative to the reference), velocity, rate of strain (xx, xy, yy, or xx, xy, xz, yy, yz, zz). Pure. */
int gab_lbm_state_values(int dimension);
/** Sets components 0 (a value, 0) to gab_lbm_state_values() of the fluid cells in the fields of a resampler on the flow's forest,
 *  in physical units. The rate of strain is that of the non-equilibrium, without its trace. Collective among neighbours.
 *  @param[in] resampler  cleared; further values are left to the caller */
gab_status gab_lbm_put_states(gab_lbm *lbm, const gab_units *units, gab_resampler *resampler);
/** State from these values: what is not in them stays. Pure. @param[in,out] state  in lattice units of level 0 */
void gab_lbm_state_of(const gab_units *units, int dimension, const double *values, gab_lbm_state *state);

/** Populations of a flow, cell by cell: `read` and `user` of a gab_resampler_copy. */
typedef struct gab_lbm_populations {
  const gab_lbm *lbm;
  const gab_block *block; /**< that was read last */
  gab_buffer packed;
  uint32_t *numbers; /**< of its fluid cells, by cell */
  bool has_drag;     /**< with what gab_lbm_set_states() of a flow with porous regions needs */
} gab_lbm_populations;
/** Values of a cell for a flow: its populations without the drag of porous regions, if the flow has such regions also those with the drag and the
 *  numbers of its law. Pure. */
int gab_lbm_population_values(const gab_lbm_options *options);
gab_status gab_lbm_populations_read(void *user, const gab_block *block, const int32_t at[3], double *values);
void gab_lbm_populations_release(gab_lbm_populations *populations);

/** State of a fluid cell. @param[in,out] state  holds the uniform initial state of the options
 *  @return gab_lbm_population_values() of it, populations after collision as deviations from the weights, which then count; NULL: those of
 *  `state` */
typedef const double *gab_lbm_state_fn(void *user, const int32_t at[3], gab_lbm_state *state);
/** Sets all fluid cells of a local block, between steps. Local. */
gab_status gab_lbm_set_states(gab_lbm *lbm, const gab_block *block, gab_lbm_state_fn *state_at, void *user);

#ifdef __cplusplus
}
#endif
#endif
