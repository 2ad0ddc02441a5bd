/* SPDX-License-Identifier: Apache-2.0 */
/** @file fused_impl.h
 *  @brief Fused blocks: fields as wide as several blocks, so that adjacent blocks along x need no ghosts between them.
 *
 *  A ghost layer across x is the most expensive one: its values are in as many cache lines as there are rows, in both
 *  blocks, and rows of 8 or 32 cells between two ghosts start in the middle of lines and end before the pipelines are
 *  full. So dense blocks that follow each other along x on one process share one field (gab_lbm_options.fused_blocks): the ghost
 *  of one is a cell of the other. That is possible since a population sent in a direction is in one place, for all readers
 *  (storage_impl.h).
 *
 *  Blocks of one field that can be swept together are, row by row, as if they were one block (plan.c, sweep.c), since
 *  processors prefetch what follows a row. If one of them waits for a message, all do (measured: doc/performance.md).
 *
 *  Code for single blocks (images, links, lists between levels, observers) sees a field per block, block->src, whose data
 *  begins within the shared one. All shared fields of a flow have one map, so lists of indices do not depend on the
 *  position of a block, and blocks can be moved between them.
 *
 *  Invariants after gab_lbm_join() (before it, after a change of the forest, `left`, `right` and `next` of blocks are
 *  undefined; checkpoints may be taken then):
 *  - blocks of one field are swept together if they are of one level and in one state, `now`; adjacent ones always are;
 *  - blocks that are not adjacent have two columns between them, a ghost of each;
 *  - populations of solid cells are packed with the ghosts of fluid ones, so they must not depend on earlier blocks. They
 *    have a place in each of the two states, one of which may be a ghost's; both are cleared when a block is added.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_FUSED_IMPL_H
#define GABION_LBM_FUSED_IMPL_H

#include "lbm/lbm_impl.h"

#define GAB_FUSED_CELLS 128

/** Bounds: blocks with their own ghosts for which a fused field is sized; and blocks in one, where adjacent ones need no
 *  ghosts and have at least two cells along x. */
#define GAB_FUSED_PLACES 16
#define GAB_FUSED_MOST   (2 * GAB_FUSED_PLACES)

/** Number of blocks per fused field. Rows of #GAB_FUSED_CELLS cells remove most of the
 *  cost of small blocks. A limit keeps the unused part of the last fused field of a
 *  process below about an eighth of its blocks of level 0; the limit is even, since
 *  children come in pairs. 1: each block has its own field. Pure. @param[in] ranks  that
 *  share the domain */
int gab_fused_places(const gab_forest_options *forest, int ranks);

typedef struct gab_fused_fields gab_fused_fields;
/** Place of a block. */
typedef struct gab_fused_place gab_fused_place;

/** All fused fields of a flow. Thread safe. They outlive the flow as long as blocks lie in them.
 *  @param[in] shape  of a fused field */
gab_status gab_fused_fields_create(const gab_field_shape *shape, int places, gab_fused_fields **fused_fields);
/** Declares that no more blocks will be added. */
void gab_fused_fields_close(gab_fused_fields **fused_fields);

/** The shape of a fused field for blocks of a shape. */
gab_field_shape gab_fused_shape(const gab_field_shape *block, int places);

/** Reserves places for blocks that several threads will pass to gab_fused_take(): level by level and row by row, next to
 *  their neighbours. So the order of the calls does not matter, and blocks of a new grid need not be moved later. Blocks
 *  that are sparse by their geometry get no place. Fused fields without a block take no memory yet. If memory for the
 *  lists is short, blocks get places in the order of the calls. By one thread. @param[in] count  0: releases all unused
 *  reservations */
void gab_fused_fields_expect(const gab_lbm_model *model, const gab_root_grid *grid, const gab_block_id *ids,
                             size_t count);

/** Gives a dense block its reserved place or, without a reservation, one next to its neighbours if there is space, else
 *  anywhere; sets its field and storage state. Populations of fluid cells are undefined, those of solid cells zero. */
gab_status gab_fused_take(const gab_lbm_model *model, gab_lbm_block *block);
/** Releases place and field. */
void gab_fused_leave(gab_lbm_block *block);
/** Records the storage state `now` of its field. */
void gab_fused_turn_over(gab_lbm_block *block);

/** @return 0 for two blocks that lie in one fused field, on one level, and in the same state; else which comes first */
int gab_fused_compare(const gab_lbm_block *a, const gab_lbm_block *b);
/** @return the column of its fused field where the cells of a block begin */
int32_t gab_fused_column(const gab_lbm_block *block);
/** Place of a block for sorting several blocks: fused field and column; of a block without fused field its own memory. */
gab_data_place gab_fused_place_of(const gab_lbm_block *block);

/** Zeroes the populations sent by solid cells of a dense block. */
void gab_fused_clear_solid(const gab_lbm_model *model, gab_lbm_block *block);
/** Zeroes the populations sent by the ghosts of a dense block with solid cells. */
void gab_fused_clear_ghosts(const gab_lbm_model *model, gab_lbm_block *block);

/** Sets `left` and `right` of all blocks of the process by their places; compacts first if many columns are free. Local,
 *  between steps. */
gab_status gab_fused_fields_link(gab_lbm *lbm);
/** The same after moving all blocks, level by level and row by row, if that joins or frees enough. It reuses the fused
 *  fields and moves one part of the state after the other, so the additional memory is that of two of Q directions. It
 *  costs as much as some steps, so it is for grids that stay. Populations do not change, not even those of solid cells.
 *  If memory is short, nothing moves. */
void gab_fused_fields_pack(gab_lbm *lbm);

#endif
