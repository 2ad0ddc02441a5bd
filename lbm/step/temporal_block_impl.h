/* SPDX-License-Identifier: Apache-2.0 */
/** @file temporal_block_impl.h
 *  @brief Temporal blocking: several steps in one sweep through memory.
 *
 *  A cell can take its next step as soon as its neighbours have taken this one. So a temporal block goes through the domain
 *  once, plane by plane along the slab axis (z; in 2D y), in bands of rows (y): while cells are in a cache, the plane that
 *  takes step 0 is followed by one that takes step 1, and so on. With r the position of the head:
 *  @code
 *    ghosts of step k    plane r - 2k        populations of cells there for ghosts of other blocks
 *    links of step k     plane r - 2k - 1    of the cells there
 *    cells of step k     plane r - 2k - 2
 *  @endcode
 *  Ghosts, links and cells are one plane apart as in a single step (sweep.c), since a link reads one cell away before the
 *  sweep takes that population; the next step is two planes behind. Rows are treated in the same way: the band of step k is
 *  shifted by 2k rows relative to the head, so bands need nothing of the next one and nothing is computed twice (time
 *  skewing: Wonnacott 2000; wavefronts of planes: Wellein, Hager, Zeiser, Wittmann & Fehske 2009). Streaming in place needs
 *  no second field: the sweep of a cell touches only its arrivals (storage_impl.h).
 *
 *  Each thread has its own planes. At the border of two threads, each step keeps a distance equal to its distance behind
 *  the head; all threads compute the rest together afterwards.
 *
 *  The arithmetic and the bits are those of single steps.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_TEMPORAL_BLOCK_IMPL_H
#define GABION_LBM_TEMPORAL_BLOCK_IMPL_H

#include "lbm/lbm_impl.h"

/** Fetches a part of a transfer between dense blocks: the cells [first, first + extent) of its side. Target and source may
 * be views, i.e. in another state than the blocks. In ghosts.c. */
void gab_lbm_fetch_part(const gab_lbm_model *model, const gab_lbm_block *target, const gab_lbm_fetch *fetch,
                        const int32_t first[3], const int32_t extent[3]);

/** Maximum steps of a temporal block. */
#define GAB_TEMPORAL_STEPS 8

/** Links of a block by rows, like block->links.start by slabs. A view represents the block in one of the two states of its
 * field, for gab_links_apply() and gab_lbm_fetch_part(). */
typedef struct gab_temporal_block {
  gab_lbm_block *block;
  size_t (*starts)[GAB_LINK_LISTS]; /**< owned; per row, and at the end */
  gab_lbm_block view[2];            /**< in model->storage[0] and [1] */
} gab_temporal_block;

/** Populations that cells of a segment send to ghosts of other blocks. */
typedef struct gab_temporal_way {
  const gab_temporal_block *target, *source;
  const gab_lbm_fetch *fetch;
  int32_t plane, row; /**< of the source, from which it leaves; -1: all */
} gab_temporal_way;

/** Blocks adjacent along x without ghosts between them, swept as one. */
typedef struct gab_temporal_segment {
  gab_temporal_block *blocks; /**< `count` of them, from left to right */
  size_t count;
  int64_t plane, row;     /**< of its first cell, in the domain */
  size_t *row_runs;       /**< owned; first run of each row, and the end */
  gab_run *runs;          /**< owned */
  gab_temporal_way *ways; /**< in the list of all */
  size_t way_count;
} gab_temporal_segment;

/** The rows of all blocks of this process. Row r of plane p of a block is number p * rows + r. */
typedef struct gab_temporal_plan {
  gab_temporal_segment *segments; /**< by planes, rows, x */
  size_t segment_count;
  gab_temporal_block *blocks;
  size_t block_count;
  gab_temporal_way *ways;
  size_t way_count;
  int row_axis, plane_axis; /**< of the field; in 2D a plane is one row, and row_axis is z */
  int32_t rows, planes;     /**< of a block */
  int64_t row_lo, row_hi, plane_lo, plane_hi; /**< of all */
  size_t row_bytes; /**< approximate bytes of the populations of all cells in a row and plane */
} gab_temporal_plan;

/** @param[out] plan  NULL if temporal blocking is impossible: blocks of several levels, sparse, or with two fields; ghosts
 *   by messages, or over the ends of a periodic domain across rows or planes */
gab_status gab_temporal_plan_create(gab_lbm *lbm, gab_temporal_plan **plan);
void gab_temporal_plan_destroy(gab_temporal_plan **plan);

/** Shape of a temporal block: `steps` of 1 … #GAB_TEMPORAL_STEPS, `band` rows at a time. */
typedef struct gab_temporal_shape {
  int steps;
  int64_t band;
} gab_temporal_shape;
/** Chooses as many steps as fit into the caches. @param[in] cache  bytes per thread @param[in] most  maximum steps; 0:
 * default, or 1 if all cells fit into the caches @param[in] left  steps until the end @return 1 step: a temporal block is
 * not worthwhile, or threads have too few planes */
gab_temporal_shape gab_temporal_shape_of(const gab_temporal_plan *plan, size_t cache, size_t threads,
                                         int most, gab_step left);

/** Takes several steps in a temporal block, or none: then no exchange has begun. Local, since a temporal block needs no
 * message. @param[in] wanted, left  as in gab_temporal_take() @param[out] taken  steps; 0: none */
gab_status gab_temporal_try(gab_lbm *lbm, gab_temporal_shape wanted, gab_step left, gab_step *taken);
/** Takes several steps in a temporal block, or a single one if that is impossible, including the exchange. Collective among
 * neighbours. @param[in] wanted  maximum steps, as `most` above; band 0: chosen by the cache @param[out] taken  steps */
gab_status gab_temporal_take(gab_lbm *lbm, gab_temporal_shape wanted, gab_step left, gab_step *taken);

#endif
