/** @file levels_slopes_impl.h
 *  @brief What children of a coarse cell are given beyond its value, where they enter fine cells.
 *
 *  **Where a child takes its value from.** In a flow that changes slowly what a cell sends is f_eq - (nu' - dt/2) c.grad f_eq,
 *  nu' = nu / c_s^2 being the same on both levels (kinematic viscosity, time step and speed of sound in one system of units).
 *  The coarse dt is twice the fine one, so a coarse cell at x sends what a fine cell a quarter of a coarse cell further along
 *  c would send: coarse(x) = fine(x + c / 4). A child of X lies at X + h / 4 with h = +-1 along each axis. In s1 it stands for
 *  a fine cell there and sends coarse(X + (h - c) / 4); in s2 it has gone on by c / 2 and sends coarse(X + (h + c) / 4). These
 *  are the weights, in quarters of a coarse cell. Between the two the weight across the boundary is what children of the near
 *  layer, which enter in s1, and of the far one, which enter in s2, have in time instead: along such axes the value of the
 *  cell is taken as it is.
 *
 *  **Where nothing may be lost.** Away from walls all that enter have weights that cancel, or else slopes are left out: at
 *  corners of the fine region, whose cells pay for it with first order. In a decaying shear wave that crosses a fine square at
 *  45 degrees they are off by 5, 2.6 and 1.3 % of its velocity with 16, 32 and 64 cells a wave length (omega = 1), where the
 *  edges have 2.9, 0.8 and 0.2 %.
 *
 *  **Where a wall crosses the boundary.** Let it lie below X and the fine cells to the right, in 2D. Of (X, q), q = (1, -1),
 *  only the upper right child enters a fine cell, in s1, and has weight 2 along the wall's normal: half a coarse cell farther
 *  from the wall than X. The others are thrown back. Of (X, (-1, -1)) the lower right child is thrown back in s1 and enters in
 *  s2, with weight -2: at the wall. What it needs there is what (1, 1) would be, but at the wall populations of opposite
 *  directions are the same up to second order, but for what a moving wall gives, which terms add. With the values of the cell
 *  instead, two of the populations that the fine cell in the corner gets are those of half a coarse cell away, an error of the
 *  size of the velocity in that cell itself. Both are given their slopes, though no others of the same (X, q) cancel them.
 *  Those that are thrown back lend them: they go back into X as (X, -q), and that arrives with the sum of the weights less
 *  (gab_level_interface_arrival::lent). So mass is kept to rounding. A body feels those that are thrown back, coming and
 *  going: minus twice that (::GAB_IMPULSE_LENT). Since as many starts of (X, q) as ends of (X, -q) are touched
 *  (child_paths_impl.h), there is such an arrival whenever something is lent. Where all children enter nobody lends.
 *
 *  In a linear shear flow what arrives in X is then off by a quarter of the slope of the population sent, in (1, 1) as in
 *  (-1, 1): along the wall these cancel; across it, and in mass, they add up to half of it. That is what cells along the border carry to X
 *  (levels_carry.c). What comes back from an interpolated wall is not what was sent, so there it is a remedy of first order: only if
 *  the coarse cell that (X, q) goes to has nothing but wall cells. Where some of its fine cells are fluid, lending takes more than it gives.
 *
 *  It costs some stability at walls that move fast: between walls at +-0.1 cells a step, 32 cells apart, with a border across,
 *  TRT with its magic parameter bounded for +-0.2 stays finite for 8000 steps up to omega = 1.944 instead of 1.953, at half of
 *  the speeds up to 1.97 instead of 1.975; RR for 20000 up to 1.988 with and without.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_LEVELS_SLOPES_IMPL_H
#define GABION_LBM_LEVELS_SLOPES_IMPL_H

#include "lbm/levels/levels_lists_impl.h"

/** Which way a child of (X, q) goes. */
typedef struct gab_level_entry {
  int sub;         /**< 0: it stays among coarse cells; 1, 2: it enters a fine cell in s1, s2 */
  int32_t cell[3]; /**< that fine cell */
  bool is_open;    /**< it enters in s1 and would in s2, had it come in by an open side */
} gab_level_entry;

void gab_level_find_entries(const gab_level_maker *by, const int32_t coarse[3], int q,
                            gab_level_entry entries[GAB_CHILD_COUNT_MAX]);
/** In quarters of a coarse cell: where a child lies, and along its way where half a sub-step before or after
 *  the middle of the two would be. */
int gab_level_entry_weight(const gab_level_maker *by, const gab_level_entry *found, int child, int q,
                           int axis);
/** Slopes of what (X, q) gives to its children. */
typedef struct gab_level_slopes {
  uint8_t before, behind; /**< which cells they are differences of: bits by axis */
  int8_t lent[3];         /**< the sum of all weights, along axes that have one */
} gab_level_slopes;

/** Along axes in which no finer cell lies beside X; only where nothing is lost: weights cancel, or (X, q) goes to a wall. */
void gab_level_find_slopes(const gab_level_maker *by, const int32_t coarse[3], int q,
                           const gab_level_entry entries[GAB_CHILD_COUNT_MAX], gab_level_slopes *slopes);
/** What those of (X, -q) have lent that come back as (X, q): sets `before`, `behind` and `lent`, which are 0. */
void gab_level_find_lent(const gab_level_maker *by, gab_level_interface_arrival *arrival,
                         const int32_t coarse[3]);

#endif
