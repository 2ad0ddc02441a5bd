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
 *  | `wall_shear_stress` | what the fluid exerts on the wall beside a cell, along it; see below |
 *  | `owner`, `level` | of the block |
 *
 *  and those that a program has registered (lbm/observe/cell_quantity.h).
 *
 *  Solid cells have no value (NaN). Gradients are central differences, one-sided beside solid cells and beside other
 *  levels.
 *
 *  The wall shear stress is that in cells with a link to a wall: a body, or a side that is a wall or moves along itself; others
 *  have none (NaN). With n the normal of the wall, into the fluid,
 *  @code
 *    tau = sigma n - (n sigma n) n,    sigma = -(1 - omega / 2) sum over q of c_q c_q (f_q - f_q^eq)
 *  @endcode
 *  from what arrives in a cell beyond equilibrium (Krüger, Varnik & Raabe 2009; on walls: Stahl, Chopard & Latt 2010, Comput. Fluids
 *  39, 1625), no difference of velocities; with a large-eddy model omega is that of the cell, so the eddies' stress is in it. A
 *  force of lbm/step/local_force.h may act. The populations know sigma in the middle of the cell: it is carried on to the wall
 *  linearly, by its differences between cells. n is that of a body's surface; of a mask, and where walls meet, the sum of w_q c_q over
 *  the links. What is known of it (tests/lbm/walls/mpi_wall_shear.c, mpi_wall_shear_places.c, mpi_wall_force.c):
 *  - Where sigma is linear and the wall along the grid it is exact: plane Couette and Poiseuille flow to rounding.
 *  - On `interpolated` walls it is of first order. In pipes of 10, 20 and 40 cells the mean is off by 0.7, 0.3 and 0.2 %, the worst
 *    cell by 5, 2.4 and 1.6 %. A stress that falls away from the wall like (R / r)^m comes out too small, as whatever is carried on
 *    linearly: by about m (m + 1) / 2 times the mean square of distance / R, which is 2 % for m = 3 and R = 12 cells. Between
 *    cylinders (m = 2 and more) with the inner radius 6 and 12 cells the mean there is 10 and 3 % too small; outside it is right to 0.2 %.
 *  - Friction and pressure do not add up to the force by momentum exchange, which is the right one (to 0.1 % the integral of stress
 *    and pressure over a circle in the fluid). Of a slow flow around cylinders with a radius of 6, 12 and 24 cells the sums are 89, 95 and 98 % of it
 *    with the pressure of the cells beside the wall, 93, 97 and 99 % with the pressure carried on to the wall: of the 5 % at 12 cells half is
 *    the pressure in the middle of cells, 1 % the linear carrying of the stress, 1 % the stress of these cells.
 *  - On a staircase (`wall: staircase`, masks) the steps bear a part of the friction, by pressure on their faces, however fine they are:
 *    around cylinders and between them the mean is 12 to 17 % too small. Walls along the axes and along diagonals are
 *    exceptions: there the mean is right.
 *  - Beside other levels differences are one-sided, which costs nothing where sigma is linear: walls along a border are
 *    exact. Where a half-way wall along the grid crosses one, the flow itself is off a little: friction in the fine cell in
 *    the corner by 1 % at omega = 1, 2 % at 1.2, 7 % at 1.6 and 11 % at 1.9, whatever the width of cells, in the others by 1 %
 *    or 2 %, which falls with that. Where
 *    staircases and interpolated walls cross one, by up to a half or two thirds in the worst cell, whatever the width.
 *
 *  Tier: user header.
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

enum { GAB_LBM_MOST_QUANTITIES = 9 + GAB_MOST_OWN_QUANTITIES };

typedef struct gab_lbm_quantities gab_lbm_quantities;

/** What quantities need beside the populations. */
enum { GAB_LBM_NEEDS_GRADIENT = 1, GAB_LBM_NEEDS_STRESS = 2 };

/** Before the forest is populated: registers what quantities need on blocks, with ghosts: a velocity, a stress. Collective if
 *  something is needed. @param[in] forest,lbm  borrowed as long as the quantities live
 *  @param[in] units  copied; {1, 1, 1}: lattice units
 *  @param[in] needs  bits of all quantities that are wanted: gab_lbm_quantity_needs()
 *  @param[out] quantities  owned by the caller, released by gab_lbm_quantities_destroy() before the forest */
gab_status gab_lbm_quantities_create(gab_forest *forest, gab_lbm *lbm, const gab_units *units, unsigned needs,
                                     gab_lbm_quantities **quantities);
void gab_lbm_quantities_destroy(gab_lbm_quantities **quantities);

/** The handles of these among the data of blocks. @return how many there are */
int gab_lbm_quantities_data(const gab_lbm_quantities *quantities, gab_data_id data[2]);

/** Brings velocities and stresses around all cells up to date: before such quantities are evaluated at a step. Collective;
 *  nothing if nothing is needed. */
gab_status gab_lbm_quantities_update(gab_lbm_quantities *quantities);

/** The quantities there are. Local. @param[in] quantities  NULL: to look up names only
 *  @param[out] items  room for ::GAB_LBM_MOST_QUANTITIES; evaluating a gradient or a stress fails with ::GAB_ERR_STATE where it
 *  is not wanted, or the forest has changed since the update */
gab_quantity_list gab_lbm_quantities_list(gab_lbm_quantities *quantities, int dimension,
                                          gab_quantity items[GAB_LBM_MOST_QUANTITIES]);
/** Their names and texts, those that were registered among them: gab_config_words. */
gab_config_word gab_lbm_quantity_word(int index);

/** What a quantity of that name, or a component as `vorticity.x`, needs: bits. Pure. */
unsigned gab_lbm_quantity_needs(const char *name);

#ifdef __cplusplus
}
#endif
#endif
