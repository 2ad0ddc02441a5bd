/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_loads_impl.h
 *  @brief Sums of mass and momentum that pass sides and patches in a step.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_LOADS_IMPL_H
#define GABION_LBM_SIDE_LOADS_IMPL_H

#include "lbm/lbm_impl.h"

/** Of one condition; area and pressure (times area) are those of a state and zero in the share of a process. */
struct gab_side_load_sums {
  gab_exact_sum area, flow, pressure, force[3], torque[3];
};
typedef struct gab_side_load_sums gab_side_load_sums;

void gab_lbm_clear_side_loads(gab_lbm *lbm);
/** Adds the links of a block in a sub-step of its level, if they are wanted. Links and ghosts have been done. */
void gab_lbm_add_side_loads(gab_lbm *lbm, gab_lbm_block *block);

#endif
