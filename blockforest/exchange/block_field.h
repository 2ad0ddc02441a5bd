/* SPDX-License-Identifier: Apache-2.0 */
/** @file block_field.h
 *  @brief Block data ready for use: one gab_field on every block, with its packing and its ghost exchange.
 *
 *  Sufficient for most stencil applications, without callbacks:
 *  @code
 *    static const gab_block_field temperature = {.shape = {...}, .faces_only = true};
 *    gab_block_data_kind data = gab_block_field_data(&temperature, "temperature");
 *    gab_ghost_kind ghosts = gab_block_field_ghosts(&temperature);
 *    GAB_TRY(gab_forest_add_data(forest, &data, &id));
 *    GAB_TRY(gab_exchange_create(forest, id, &ghosts, &exchange));
 *  @endcode
 *  gab_block_data() then returns a `gab_field *`. It is initially zero; for another initial state set `initialise` of the
 *  kind.
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

/** Field of each block. */
typedef struct gab_block_field {
  /** Cells: those of a block of the forest, else gab_forest_add_data() refuses it. Ghosts: the same number along each axis
   * of the domain, at most the number of cells; none in z in 2D. */
  gab_field_shape shape;
  bool faces_only; /**< exchange no edges and corners: sufficient for stencils along the axes */
  /** Values of children from their parent. false: each cell passes its value on. true: values are linear within a cell of
   * the parent, with slopes limited by minmod (Roe 1986) and zero at the border of the block. The mean over a cell is
   * conserved in both cases. */
  bool linear_split;
} gab_block_field;

/** Stored block data: migrates with its block, is part of snapshots and of the checksum (the cells without ghosts, all
 * components, in the order z, y, x), and splits and merges: a cell of the parent is the mean of those of the children. Sums
 * weighted by volume are conserved to rounding; data split without slopes and merged again has the same bits. @param[in]
 * field borrowed during the life of the forest */
gab_block_data_kind gab_block_field_data(const gab_block_field *field, const char *name);

/** Block data that is not saved, such as the second field of a step that is not in place: recreated when a block arrives.
 * Its field may be swapped with that of stored data by gab_field_swap(). @param[in] field  borrowed during the life of the
 * forest */
gab_block_data_kind gab_block_field_scratch(const gab_block_field *field, const char *name);

/** The exchange of all components of its ghost layers, between blocks of one level: refused where levels touch
 * (gab_ghost_kind.coupled). For ghosts between levels: blockforest/exchange/level_ghosts.h. @param[in] field  borrowed
 * while in use */
gab_ghost_kind gab_block_field_ghosts(const gab_block_field *field);

#ifdef __cplusplus
}
#endif
#endif
