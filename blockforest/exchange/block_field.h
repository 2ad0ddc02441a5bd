/* SPDX-License-Identifier: Apache-2.0 */
/** @file block_field.h
 *  @brief Block data ready for use: one gab_field on every block, with its packing and its ghost exchange.
 *
 *  What most stencil applications need, so that they write no callbacks:
 *  @code
 *    static const gab_block_field temperature = {.shape = {...}, .faces_only = true};
 *    gab_block_data_kind data = gab_block_field_data(&temperature, "temperature");
 *    gab_ghost_kind ghosts = gab_block_field_ghosts(&temperature);
 *    GAB_TRY(gab_forest_add_data(forest, &data, &id));
 *    GAB_TRY(gab_exchange_create(forest, id, &ghosts, &exchange));
 *  @endcode
 *  The pointer that gab_block_data() gives is then a `gab_field *`. It is zero at first; an application that
 *  wants another initial state sets `initialise` of the kind.
 *
 *  Stability: stable.
 */
#ifndef GABION_BLOCKFOREST_BLOCK_FIELD_H
#define GABION_BLOCKFOREST_BLOCK_FIELD_H

#include "blockforest/exchange/exchange.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What lies on each block. */
typedef struct gab_block_field {
  /** Cells: those of a block of the forest, or it is refused by gab_forest_add_data(). Ghosts: as many along
   * each axis of the domain, at most as many as cells; none in z in 2D. */
  gab_field_shape shape;
  bool faces_only; /**< exchange no edges and corners: enough for stencils along the axes */
  /** What children get of their parent. false: each cell hands its value on. true: values are linear within a
   *  cell of the parent, with slopes limited by minmod (Roe 1986) and zero at the border of the block,
   *  beyond which nothing is known. The mean over a cell is kept either way. */
  bool linear_split;
} gab_block_field;

/** Stored block data: travels with its block, is part of snapshots and of the checksum (the cells without
 *  ghosts, all components, in the order z, y, x), and splits and merges: a cell of the parent is the mean of
 * those of the children. Sums weighted by volume are conserved to rounding; what was split without slopes and
 * merges again is the same to the bit. @param[in] field  borrowed as long as the forest lives */
gab_block_data_kind gab_block_field_data(const gab_block_field *field, const char *name);

/** Block data that need not survive, such as the second field of a step that is not in place: rebuilt where
 *  a block arrives. Its field may be exchanged with that of stored data by gab_field_swap().
 *  @param[in] field  borrowed as long as the forest lives */
gab_block_data_kind gab_block_field_scratch(const gab_block_field *field, const char *name);

/** The exchange of all components of its ghost layers, between blocks of one level: where levels touch it is
 * refused (gab_ghost_kind.coupled); with those between levels: blockforest/exchange/level_ghosts.h. @param[in] field  borrowed as long as it is in use */
gab_ghost_kind gab_block_field_ghosts(const gab_block_field *field);

#ifdef __cplusplus
}
#endif
#endif
