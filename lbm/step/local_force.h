/* SPDX-License-Identifier: Apache-2.0 */
/** @file local_force.h
 *  @brief A force that differs from cell to cell: buoyancy, for example.
 *
 *  gab_lbm_options.force is one for all cells and part of the kernels. A local one acts on each slab of a block as soon as that
 *  has been swept, while it is in the caches; flows without one pay a look at a pointer per slab, and no kernel or collision
 *  model knows of it:
 *  @code
 *    static const gab_local_force buoyancy = {.name = "buoyancy", .user = ..., .row = ...};
 *    GAB_TRY(gab_lbm_set_local_force(lbm, &buoyancy));     // from now on it is part of every step
 *  @endcode
 *  A cell that sends f_q after collision then sends f_q + w_q c_q.F / c_s^2: mass stays, momentum grows by F to rounding.
 *  That is the first of the ways in Buick & Greated (2000, Phys. Rev. E 61, 5307) and the force of TRT in Ginzburg,
 *  Verhaeghe & d'Humières (2008): with TRT its odd part is that of Guo, Zheng & Shi (2002), so a channel has the exact
 *  parabola; of the even part, in which u is multiplied by F, there is nothing: an error of the stress of the order of
 *  the square of the Mach number, as the method has anyway.
 *
 *  Velocity: gab_lbm_macroscopic() gives (sum c_q f_q) / density of what is stored, which has got all of F. Half of it belongs
 *  to the next half step: gab_lbm_take_half_force() takes F / 2 away from that momentum. On several levels the lattice velocity is the same on
 *  all, and F of a sub-step of level l is that of level 0 divided by 2^l, so that the acceleration is the same. Couplings
 *  between levels see populations with the force, as if it were part of the kernel: they conserve mass and momentum as ever.
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
  /** The force per volume on fluid cells side by side along x, in lattice units of level 0. A pure function of what does not
   *  change within a step; called by several threads, also for parts of one block.
   *  @param[in] first  of the cells, in cells of the block @param[out] force  `count` numbers for each axis, zeros */
  void (*row)(void *user, const gab_block *block, const int32_t first[3], int32_t count,
              double *const force[3]);
} gab_local_force;

/** It acts in all steps from now on. Between two steps; the same on all ranks. Local.
 *  @param[in] force  borrowed as long as it acts; NULL: none acts any more
 *  @return ::GAB_ERR_ARGUMENT without a name or a function, or if blocks may store their fluid cells alone (the kernel has to be
 *  in_place, vector or reference); ::GAB_ERR_STATE while an exchange of ghosts is under way */
gab_status gab_lbm_set_local_force(gab_lbm *lbm, const gab_local_force *force);

/** Velocities of gab_lbm_macroscopic() without half of the local force, which belongs to the next half step: u - F / (2 density).
 *  Nothing without a local force. Local. @param[in] box  in cells of the block, as there @param[in] density  of its cells
 *  @param[in,out] velocity  of its cells; solid ones have no meaning behind it */
void gab_lbm_take_half_force(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                             const double *density, double *velocity);

#ifdef __cplusplus
}
#endif
#endif
