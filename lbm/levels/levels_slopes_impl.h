/** @file levels_slopes_impl.h
 *  @brief What children of a coarse cell are given beyond its value, where they enter fine cells.
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
/** Along axes in which no finer cell lies beside X, children are given what (X, q) would be where they are.
 *  Across the boundary the value of the cell is right as it is: children of the near layer enter in s1, those
 *  of the far one in s2, and what they lack in place they have in time. Only where the differences of all that
 *  enter cancel, so that nothing is lost. @param[out] give  its `before` and `behind` are set */
void gab_level_find_slopes(const gab_level_maker *by, const int32_t coarse[3], int q,
                           const gab_level_entry entries[GAB_CHILD_COUNT_MAX],
                           gab_level_interface_give *give);

#endif
