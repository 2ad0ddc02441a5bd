/** @file local_force.h
 *  @brief A force that differs from cell to cell, applied between two steps: buoyancy, for example.
 *
 *  gab_lbm_options.force is one for all cells and part of the kernels. A local one is a pass of its own over the populations
 *  when a step is done, so flows without it pay nothing, and no kernel or collision model knows of it:
 *  @code
 *    GAB_TRY(gab_lbm_step(lbm));                       // what u is said below
 *    GAB_TRY(gab_lbm_apply_local_force(lbm, &buoyancy));
 *  @endcode
 *  A cell that has sent f_q after collision then has sent f_q + w_q c_q.F / c_s^2: mass stays, momentum grows by F to rounding.
 *  That is the first of the ways in Buick & Greated (2000, Phys. Rev. E 61, 5307) and the force of TRT in Ginzburg,
 *  Verhaeghe & d'Humières (2008): with TRT its odd part is that of Guo, Zheng & Shi (2002), so a channel has the exact
 *  parabola; of the even part, in which u is multiplied by F, there is nothing: an error of the stress of the order of
 *  the square of the Mach number, as the method has anyway.
 *
 *  Velocity: gab_lbm_macroscopic() gives (sum c_q f_q) / density of what is stored. Between the step and the force F / 2 has to
 *  be added to that momentum, behind the force it has to be taken away again (both the same: the force acts all the time).
 *
 *  One level, blocks that store all of their cells.
 *
 *  Tier: user header.
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
  /** The force per volume on fluid cells side by side along x, in lattice units. Pure; called by several threads.
   *  @param[in] first  of the cells, in cells of the block @param[out] force  `count` numbers for each axis, zeros */
  void (*row)(void *user, const gab_block *block, const int32_t first[3], int32_t count,
              double *const force[3]);
} gab_local_force;

/** Between two steps. Local. @return ::GAB_ERR_STATE while an exchange of ghosts is under way, on blocks finer than level 0 or
 *  that store their fluid cells alone (kernel: in_place avoids that), or where blocks are computed twice; nothing has changed
 *  then */
gab_status gab_lbm_apply_local_force(gab_lbm *lbm, const gab_local_force *force);

#ifdef __cplusplus
}
#endif
#endif
