/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_force.h
 *  @brief A force that differs from cell to cell: buoyancy, for example.
 *
 *  gab_lbm_options.force is one for all cells and part of the kernels. A local force acts on each slab of a block right
 *  after its sweep, while it is in the caches. Flows without one check a pointer per slab; kernels and collision models are
 *  not involved:
 *  @code
 *    static const gab_local_force buoyancy = {.name = "buoyancy", .user = ..., .row = ...};
 *    GAB_TRY(gab_lbm_set_local_force(lbm, &buoyancy));     // from now on it is part of every step
 *  @endcode
 *  A cell that sends f_q after collision then sends f_q + w_q c_q.F / c_s^2: mass is conserved, momentum grows by F to
 *  rounding. This is the first scheme of Buick & Greated (2000, Phys. Rev. E 61, 5307) and the force of TRT in Ginzburg,
 *  Verhaeghe & d'Humières (2008): with TRT its odd part is that of Guo, Zheng & Shi (2002), so a channel has the exact
 *  parabola; the even part, with products of u and F, is missing: an error of the stress of the order of the square of the
 *  Mach number, like that of the method.
 *
 *  Velocity: gab_lbm_macroscopic() gives (sum c_q f_q) / density of the stored populations, which contain all of F. Half of
 *  it belongs to the next half step: gab_lbm_take_half_force() subtracts F / 2 from that momentum. On several levels the
 *  lattice velocity is the same on all, and F of a sub-step of level l is that of level 0 divided by 2^l, so that the
 *  acceleration is the same. Couplings between levels use populations with the force, as if it were part of the kernel, and
 *  conserve mass and momentum.
 *
 *  Stability: stable.
 */
#ifndef GABION_LBM_LOCAL_FORCE_H
#define GABION_LBM_LOCAL_FORCE_H

#include "lbm/lbm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_local_force {
  const char *name; /**< for messages: "buoyancy" */
  void *user;
  /** The force per volume on fluid cells side by side along x, in lattice units of level 0. A pure function of data that
   * does not change within a step; called by several threads, also for parts of one block. @param[in] first  of the cells,
   * in cells of the block @param[out] force  `count` numbers for each axis, zeros */
  void (*row)(void *user, const gab_block *block, const int32_t first[3], int32_t count,
              double *const force[3]);
} gab_local_force;

/** Sets the force of all following steps. Between two steps; the same on all ranks. Local. @param[in] force  borrowed while
 * it acts; NULL: no local force @return ::GAB_ERR_ARGUMENT without a name or a function, or if blocks may be sparse (the
 * kernel must be in_place, vector or reference); ::GAB_ERR_STATE during an exchange of ghosts */
gab_status gab_lbm_set_local_force(gab_lbm *lbm, const gab_local_force *force);

/** Velocities of gab_lbm_macroscopic() without half of the local force, which belongs to the next half step: u - F / (2
 * density). No effect without a local force. Local. @param[in] box in cells of the block, as there @param[in] density of
 * its cells @param[in,out] velocity of its cells; undefined in solid cells afterwards */
void gab_lbm_take_half_force(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                             const double *density, double *velocity);

#ifdef __cplusplus
}
#endif
#endif
