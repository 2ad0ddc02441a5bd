/* SPDX-License-Identifier: Apache-2.0 */
/** @file stress_impl.h
 *  @brief Viscous stress of a cell from the non-equilibrium of its arriving populations, and walls next to cells.
 *
 *  To second order, where the second moments relax with the rate omega (that of the cell, with a large-eddy model),
 *  @code
 *    sigma_ij = rho nu (d_i u_j + d_j u_i) = -(1 - omega / 2) (sum over q of c_qi c_qj (f_q - f_q^eq) + (u_i F_j + F_i u_j) / 2)
 *  @endcode
 *  except for an isotropic part (Krüger, Varnik & Raabe 2009, Phys. Rev. E 79, 046704; the force after Guo, Zheng & Shi
 *  2002). In lattice units, which are the same on all levels.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_STRESS_IMPL_H
#define GABION_LBM_STRESS_IMPL_H

#include "lbm/lbm_impl.h"

/** Second moments of the incoming non-equilibrium of a cell, the share of the uniform force included. */
typedef struct gab_lbm_second {
  double rho, rate;  /**< density and omega of the cell, with the viscosity of sponges and eddy layers */
  double fluid_rate; /**< omega of the collision alone */
  double moment[3][3], trace; /**< the second moments, and their trace */
} gab_lbm_second;
/** @param[in] block, cell  as gab_lbm_row_visitor has them @param[in] number  of the cell in the block */
void gab_lbm_second_moments(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell,
                            uint32_t number, gab_lbm_second *found);
/** The stress in the fluid cells of a block, between gab_lbm_fill_arrivals() and the next step. Local.
 *  @param[out] stress  xx, xy, yy, or xx, xy, xz, yy, yz, zz; other cells stay as they are */
void gab_lbm_fill_stress(const gab_lbm *lbm, const gab_block *block, gab_field *stress);
/** Omega of the stress of the fluid cells of a block, between gab_lbm_fill_arrivals() and the next step. Local. @param[out] rates  its
 *  component `component`; other cells stay as they are */
void gab_lbm_fill_rate(const gab_lbm *lbm, const gab_block *block, gab_field *rates, int component);
/** The eddy viscosity of the collision in the fluid cells of a block, in cells and steps of its level: what it adds to the viscosity of the
 *  fluid. Without that of sponges. As gab_lbm_fill_rate(). */
void gab_lbm_fill_eddy_viscosity(const gab_lbm *lbm, const gab_block *block, gab_field *field, int component);
/** Whether a wall returns the population that a fluid cell sends to the cell `there` of its block, or to a ghost. In
 *  a finer block as for the cell itself. @param[in] cell  the same cell of the domain @param[out] body  owner of the
 *  wall; -1: a side, or unknown */
bool gab_lbm_leads_to_wall(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t there[3],
                           const int64_t cell[3], int *body);
/** False if no cell of a block is next to a wall. Pure. */
bool gab_lbm_has_walls(const gab_lbm *lbm, const gab_block *block);
/** Wall next to a fluid cell, at the end of one of its links: a body, or a side that is a wall or moves in its plane.
 *  The normal is that of the body's surface; for sides, masks and several walls, the sum of w_q c_q over the links
 *  from them (Stahl, Chopard & Latt 2010). Pure. @param[in] at  in cells of the block @param[out] normal  of length 1,
 *  into the fluid
 *  @param[out] distance  of the cell's centre along it, in cells @param[out] body  of all links, with the normal of
 *  its surface, or -1
 *  @return false if none of its links leads to a wall, or they cancel */
bool gab_lbm_wall_beside(const gab_lbm *lbm, const gab_block *block, const int32_t at[3], double normal[3],
                         double *distance, int *body);

#endif
