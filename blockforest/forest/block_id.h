/* SPDX-License-Identifier: Apache-2.0 */
/** @file block_id.h
 *  @brief 64-bit ids of blocks: the root block, and the path down the octree (quadtree in 2D).
 *
 *  From the highest bit down: a marker bit, the linear index of the root block (x fastest) in as many bits as the root grid
 *  needs, then 3 bits (2 in 2D) per level, the child's z, y, x. The position of the marker gives the level, so an id is
 *  self-contained. Within one level and root, the order of ids is Morton order. After Schornbaum & Rüde 2016, section 2.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_BLOCK_ID_H
#define GABION_BLOCKFOREST_BLOCK_ID_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The grid of root blocks, with which ids are decoded. */
typedef struct gab_root_grid {
  int dimension;    /**< 2 or 3 */
  int32_t roots[3]; /**< root blocks in x, y, z; z is 1 in 2D */
} gab_root_grid;

/** Level of a block (0 is the root level) and its position in blocks of that level. */
typedef struct gab_block_place {
  int level;
  int32_t at[3];
} gab_block_place;

/** @return deepest level whose positions on a curve through the cube around the grid fit into 63 bits (then ids fit
 *  into 64, positions into int32_t): at least 8 for every root grid that gab_root_grid_check() accepts
 */
int gab_root_grid_max_level(const gab_root_grid *grid);
/** ::GAB_ERR_INPUT if the grid is empty, has z != 1 in 2D, or is too large for eight levels below it: more
 *  than 8192 blocks in one direction in 3D, 2^23 in 2D. */
gab_status gab_root_grid_check(const gab_root_grid *grid);
/** @return GAB_NO_BLOCK if the place is outside the grid or too deep */
gab_block_id gab_block_id_of(const gab_root_grid *grid, gab_block_place place);
/** Inverse of gab_block_id_of(). The id must be valid. */
gab_block_place gab_block_id_place(const gab_root_grid *grid, gab_block_id id);
bool gab_block_id_is_valid(const gab_root_grid *grid, gab_block_id id);
int gab_block_id_level(const gab_root_grid *grid, gab_block_id id);
/** @return GAB_NO_BLOCK for a root block */
gab_block_id gab_block_id_parent(const gab_root_grid *grid, gab_block_id id);
/** @param[in] child  0 … 7 (3 in 2D): bit 0 is x, bit 1 y, bit 2 z
 *  @return GAB_NO_BLOCK below the deepest level */
gab_block_id gab_block_id_child(const gab_root_grid *grid, gab_block_id id, int child);

#ifdef __cplusplus
}
#endif
#endif
