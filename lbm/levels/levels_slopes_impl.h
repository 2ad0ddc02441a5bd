/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels_slopes_impl.h
 *  @brief Slopes that children of a coarse population get in addition to its value, where they enter fine cells.
 *
 *  A child of (X, q) at X + h / 4, h = +-1 along each axis, sends the coarse value at X + (h - c) / 4 in the first sub-step
 *  and at X + (h + c) / 4 in the second: weights are in quarters of a coarse cell. Along axes where children of the near
 *  and the far layer together give the value in time, the value of the cell is taken.
 *
 *  Invariants:
 *  - Mass is conserved to rounding. Away from walls all slopes of one (X, q) cancel, or none is given.
 *  - At a wall across the border, two populations of the corner cell get slopes that do not cancel. The children that are
 *    bounced back lend them, and the sum of the weights is subtracted from the arrival of (X, -q)
 *    (gab_level_interface_arrival::lent). The force on a body contains minus twice the lent amount (::GAB_IMPULSE_LENT).
 *  - Nothing is lent where all children enter. The coarse cell that (X, q) goes to must contain a half-way wall, or consist
 *    of wall cells.
 *
 *  Derivation, orders and cost in stability: doc/levels.md, "Slopes of populations across a border".
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LEVELS_SLOPES_IMPL_H
#define GABION_LBM_LEVELS_SLOPES_IMPL_H

#include "lbm/levels/levels_lists_impl.h"

/** Path of a child of (X, q). */
typedef struct gab_level_entry {
  int sub;         /**< 0: stays among coarse cells; 1, 2: enters a fine cell in s1, s2 */
  int32_t cell[3]; /**< that fine cell */
  bool is_open;    /**< enters in s1; would enter in s2 if it came through an open side */
  bool leaves;     /**< through an open side */
} gab_level_entry;

void gab_level_find_entries(const gab_level_maker *by, const int32_t coarse[3], int q,
                            gab_level_entry entries[GAB_CHILD_COUNT_MAX]);
/** Position of a child, in quarters of a coarse cell: half a sub-step before or after the middle of the two, along its
 * path. */
int gab_level_entry_weight(const gab_level_maker *by, const gab_level_entry *found, int child, int q,
                           int axis);
/** Slopes of the populations that (X, q) gives to its children. */
typedef struct gab_level_slopes {
  uint8_t before, behind; /**< bits by axis: cells of the differences */
  int8_t lent[3];         /**< sum of all weights, along axes with a slope */
} gab_level_slopes;

/** Slopes along axes without finer cells next to X, only where mass is conserved: weights cancel, or (X, q) moves to a
 * wall. */
void gab_level_find_slopes(const gab_level_maker *by, const int32_t coarse[3], int q,
                           const gab_level_entry entries[GAB_CHILD_COUNT_MAX], gab_level_slopes *slopes);
/** Usable neighbours of X along all axes: bits by axis. For axes without any: those of a neighbour of X, see
 * gab_level_interface_outgoing::via; without these there is no slope. */
gab_status gab_level_find_usable(gab_level_maker *by, const int32_t coarse[3], uint8_t *before,
                                 uint8_t *behind, uint8_t via[3]);
/** Sets `before`, `behind` and `lent`, which are 0, to the amount that the children of (X, -q) that return as (X, q) have
 * lent. */
void gab_level_find_lent(const gab_level_maker *by, gab_level_interface_arrival *arrival,
                         const int32_t coarse[3]);

#endif
