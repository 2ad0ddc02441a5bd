/* SPDX-License-Identifier: Apache-2.0 */
/** @file position.h
 *  @brief Positions in the domain: wrapping at periodic sides, and the block that contains a position.
 *
 *  A position on the border of two blocks belongs to the one with the larger coordinates. Positions are compared by exact scaling
 *  with powers of two, so all levels and processes agree on the block.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_POSITION_H
#define GABION_BLOCKFOREST_POSITION_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Wraps a position at periodic sides. Pure. @param[in,out] at  physical coordinates; in 2D at[2] is not read
 *  @return whether it is inside the domain; false for numbers that are not finite */
bool gab_forest_wrap(const gab_forest *forest, double at[3]);

/** The block of this process that contains a position inside the domain. Local; time grows with the number of levels
 *  and the logarithm of the number of blocks. @return NULL if no block of this process contains it */
gab_block *gab_forest_block_at(const gab_forest *forest, const double at[3]);

/** Whether a box of cells of a level contains a position. Pure. */
GAB_EXTENDER bool gab_cells_contain(const gab_forest *forest, int level, const gab_box *cells,
                                    const double at[3]);

/** Row of a neighbour table whose block contains a position inside the domain. Local. @return NULL: there is none */
GAB_EXTENDER const gab_neighbour *gab_block_neighbour_at(const gab_forest *forest, const gab_block *block,
                                                         const double at[3]);

#ifdef __cplusplus
}
#endif
#endif
