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

/** Most blocks, each with ghosts of its own, that a fused field is made for; and most that may lie in one, as those side by
 *  side need none and have two cells along x at least. */
#define GAB_FUSED_PLACES 16
#define GAB_FUSED_MOST   (2 * GAB_FUSED_PLACES)

/** How many blocks fused fields are to be made for: as many as make rows of #GAB_FUSED_CELLS cells, where most of what small
 *  blocks cost is gone; but so few that the empty part of a process's last fused field takes no more than an eighth of its
 *  blocks of level 0, and one block more where that is an odd number: pairs of children, the finest of which are most of the
 *  work, would be apart in every other fused field. 1: each has a field of its own. Pure. @param[in] ranks  that share the
 *  domain */
int gab_fused_places(const gab_forest_options *forest, int ranks);

typedef struct gab_fused_fields gab_fused_fields;
/** Where a block lies. */
typedef struct gab_fused_place gab_fused_place;

/** All fused fields of a flow. Thread safe. They outlive the flow as long as blocks lie in them.
 *  @param[in] shape  of a fused field */
gab_status gab_fused_fields_create(const gab_field_shape *shape, int places, gab_fused_fields **fused_fields);
/** No more blocks are to come. */
void gab_fused_fields_close(gab_fused_fields **fused_fields);

/** The shape of a fused field for blocks of a shape. */
gab_field_shape gab_fused_shape(const gab_field_shape *block, int places);

/** Lays out places for blocks that gab_fused_take() comes for next, by as many threads as may be: level by level and row by
 *  row, beside their neighbours, so that it does not matter who comes first, and those of a fresh grid need not be moved
 *  later. Places of sparse blocks are left out as far as the geometry tells; fused fields without a block take no memory yet.
 *  Without memory for the lists blocks take their places as they come. By one thread.
 *  @param[in] count  0: places of all that have not come are given up */
void gab_fused_fields_expect(const gab_lbm_model *model, const gab_root_grid *grid, const gab_block_id *ids,
                             size_t count);

/** Gives a dense block its place, or if it was not expected one, its field and the state that the field is in: beside its neighbours if they are there
 *  and there is space, else anywhere. What fluid cells have sent is undefined, what solid ones have is zero. */
gab_status gab_fused_take(const gab_lbm_model *model, gab_lbm_block *block);
/** Gives up place and field. */
void gab_fused_leave(gab_lbm_block *block);
/** Its field is in another state, `now`. */
void gab_fused_turn_over(gab_lbm_block *block);

/** @return 0 for two blocks that lie in one fused field, on one level, and in the same state; else which comes first */
int gab_fused_compare(const gab_lbm_block *a, const gab_lbm_block *b);
/** @return the column of its fused field where the cells of a block begin */
int32_t gab_fused_column(const gab_lbm_block *block);
/** Where a block lies, for those that deal with several blocks: fused field and column; in no fused field by itself. */
gab_data_place gab_fused_place_of(const gab_lbm_block *block);

/** Zeroes what the solid cells of a dense block have sent. */
void gab_fused_clear_solid(const gab_lbm_model *model, gab_lbm_block *block);
/** Zeroes what its ghosts have sent into a dense block with solid cells. */
void gab_fused_clear_ghosts(const gab_lbm_model *model, gab_lbm_block *block);

/** Sets `left` and `right` of all blocks of the process, by where they lie; packs first if much is empty. Local, between
 *  steps. */
gab_status gab_fused_fields_link(gab_lbm *lbm);
/** The same behind filling fused fields one after the other, level by level and row by row, if that joins or frees enough: in the
 *  fused fields that there are, and one part of the state after the other, so that two directions of Q is all the memory that it
 *  takes meanwhile. It costs the copies, some steps, so it is for grids that stay. What is sent does not change by it, not
 *  for solid cells either. Without memory for it all stays as it is. */
void gab_fused_fields_pack(gab_lbm *lbm);

#endif
