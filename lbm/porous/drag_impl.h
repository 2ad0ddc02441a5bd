/* SPDX-License-Identifier: Apache-2.0 */
/** @file drag_impl.h
 *  @brief Porous cells of blocks, and the drag in a cell.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_DRAG_IMPL_H
#define GABION_LBM_DRAG_IMPL_H

#include "lbm/lbm_impl.h"
#include "lbm/porous/porous.h"

/** The regions of a flow. */
typedef struct gab_porous {
  gab_geometry *where; /**< the regions are its bodies */
  gab_porous_region *regions;
  size_t count;
} gab_porous;

/* ------------------------------------------------------------------------------------------ the law */

/** The drag of a region on a level, per sub-step. */
typedef struct gab_drag_law {
  double linear[3], quadratic[3];
  double knee;     /**< speed above which the drag continues as a straight line */
  bool is_uniform; /**< equal along all axes */
} gab_drag_law;

enum { GAB_DRAG_NUMBERS = 6 }; /**< linear and quadratic part by axis */

gab_drag_law gab_drag_law_of(const gab_porous_region *region, int level);
/** Drag divided by density and velocity along each axis, at a velocity. Pure. */
void gab_drag_at(const gab_drag_law *law, const double u[3], double drag[3]);
/** Solves u_i (1 + sign a_i(|u|) / 2) = m_i. Pure. @param[in] sign  1: m is the momentum before the drag over the density, -1: the one
 *  after it */
void gab_drag_solve(const gab_drag_law *law, double sign, const double m[3], double u[3]);

/** The drag on a cell: the force in a sub-step. Pure. */
void gab_drag_force(const gab_drag_law *law, double rho, const double u[3], double force[3]);
/** The velocity from that without half of the body force, as gab_lbm_moments() gives it. Pure. @param[in] sign  as gab_drag_solve()
 *  @param[in] half  of the local force @param[in,out] u */
void gab_drag_velocity(const gab_drag_law *law, double sign, double rho, const double half[3], double u[3]);

/* ------------------------------------------------------------------------------------------ cells */

/** @return ::GAB_ERR_INPUT with the name of a region that cannot be */
gab_status gab_porous_create(gab_lbm_model *model, const gab_domain *domain);
void gab_porous_destroy(gab_porous **porous);
/** @return ::GAB_ERR_INPUT if the collision or a wall finds eddies by a stress that would contain the drag */
gab_status gab_porous_check_options(const gab_lbm_options *options);
/** Sets gab_lbm_block.porous, after the runs of the block are known. @return ::GAB_ERR_INPUT if the drag of a region is too large on this level, or
 *  a cell is at a side that porous cells cannot be at */
gab_status gab_porous_mark(const gab_lbm_model *model, gab_lbm_block *block);
/** The region of a cell; -1: none. */
static inline int gab_porous_region_at(const gab_lbm_model *model, const gab_lbm_block *block,
                                       const int32_t at[3])
{
  if (!block->porous) return -1;
  return block->porous[((size_t)at[2] * (size_t)model->cells[1] + (size_t)at[1]) * (size_t)model->cells[0] +
                       (size_t)at[0]] -
         1;
}

/** Applies the drag to cells of a slab, after all else that acts on what they send. */
void gab_porous_apply(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab,
                      const gab_sponge_cells *at);
/** Velocities from those without the drag that the sent populations contain. With a local force they contain all of it, as elsewhere.
 *  @param[in] cell  index or number of the first in the block @param[in,out] row  of `count` cells */
void gab_porous_recover(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int32_t count,
                        gab_lbm_row *row);
/** The drag on a cell before its next collision. @param[in] number  as `cell` above @param[in,out] u  as
 *  the collision takes it; then the velocity of the flow @param[out] force  the drag
 *  @return false: the cell is not porous, and nothing is set */
bool gab_porous_arriving(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number, double rho,
                         double u[3], double force[3]);
/** Adds the drag to populations of a cell that lack it, as those of a state do. */
void gab_porous_put(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                    double f[GAB_LATTICE_MAX_Q]);
/** Takes it out of populations that a cell has sent. @param[in] place  of the block, also if it has left the forest */
void gab_porous_take(const gab_lbm_model *model, const gab_lbm_block *block, const gab_block *place,
                     const int32_t at[3], double f[GAB_LATTICE_MAX_Q]);

/** The same by the index or number of the cell, for its velocity. */
void gab_porous_take_sent(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number,
                          double f[GAB_LATTICE_MAX_Q]);

/** Velocity of what a cell has sent minus its velocity: half of the drag over the density, without half of a local force; 0 if it is not porous.
 *  @param[in] number  as `cell` above */
void gab_porous_lag(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t number,
                    const double sent[GAB_LATTICE_MAX_Q], double lag[3]);
/** Linear and quadratic part of the drag in a cell, per sub-step; zeros if it is not porous. */
void gab_porous_law_at(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3],
                       double law[GAB_DRAG_NUMBERS]);

/** Called with porous cells side by side. @param[in] first,count  of the row @param[in] region  by cell, 1 + its number; 0: not
 *  porous @param[in] half  by axis half of the local force of a sub-step; zeros without one */
typedef void (*gab_porous_visitor)(void *user, int32_t first, int32_t count, const uint8_t *region,
                                   double (*half)[GAB_LBM_ROW]);
/** Visits the porous cells of a row. @param[in] cell  as gab_porous_recover() */
void gab_porous_visit(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, int32_t count,
                      gab_porous_visitor visit, void *user);
/** The same of a part of a run. @param[in] place  of the block; NULL: that of the forest @param[in] first  in the row that is visited */
void gab_porous_visit_part(const gab_lbm_model *model, const gab_lbm_block *block, const gab_block *place,
                           const int32_t at[3], int32_t first, int32_t count, gab_porous_visitor visit,
                           void *user);

#endif
