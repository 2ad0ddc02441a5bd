/** @file strip_impl.h
 *  @brief Strips: fields as wide as several blocks, so that blocks side by side along x need no ghosts between them.
 *
 *  A ghost layer across x costs most of all: its values lie in as many cache lines as there are rows, in both blocks,
 *  and rows of 8 or 32 cells between two ghosts begin in the middle of lines and are over before the processor is busy.
 *  So, if it is asked for (gab_lbm_options.pencil), dense blocks that follow each other along x on one process lie side by side in one field, a *pencil*: what is a
 *  ghost of the one is a cell of the other. storage_impl.h says why this is so simple: what a cell has sent in a
 *  direction lies in one place, whoever looks for it, and nobody else touches it. A sweep takes the rows of a pencil
 *  as a whole (plan.c, sweep.c).
 *
 *  Whatever looks at a block alone (images, links, lists between levels, observers) sees a field of its own, block->src,
 *  whose data begins within the strip. All strips of a flow have one map, so lists of indices never depend on where a
 *  block lies, and blocks can be moved between strips.
 *
 *  Invariants, behind gab_lbm_join() (between a change of the forest and that, `left`, `right` and `next` of blocks may
 *  point anywhere; checkpoints are taken then):
 *  - a block is swept as part of a pencil only if it lies right behind its neighbour of the same level: then both are in
 *    the same state, `now`;
 *  - blocks in a strip that are no such neighbours have two columns between them, a ghost of each;
 *  - what a solid cell has sent is packed with the ghosts of fluid ones, so it must not depend on who lay there before. It has
 *    a place in each of the two states; in one of them that may be a ghost's. Both are cleared when a block comes;
 *  - a pencil ends where the index of a block along x is a multiple of the places of a strip.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_STRIP_IMPL_H
#define GABION_LBM_STRIP_IMPL_H

#include "lbm/lbm_impl.h"

/** Most blocks, each with ghosts of its own, that a strip is made for; and most that may lie in one, as those side by
 *  side need none and have two cells along x at least. */
#define GAB_STRIP_PLACES 16
#define GAB_STRIP_MOST   (2 * GAB_STRIP_PLACES)

typedef struct gab_strips gab_strips;
/** Where a block lies. */
typedef struct gab_strip_place gab_strip_place;

/** All strips of a flow. Thread safe. They outlive the flow as long as blocks lie in them.
 *  @param[in] shape  of a strip */
gab_status gab_strips_create(const gab_field_shape *shape, int places, gab_strips **strips);
/** No more blocks are to come. */
void gab_strips_close(gab_strips **strips);

/** The shape of a strip for blocks of a shape. */
gab_field_shape gab_strip_shape(const gab_field_shape *block, int places);

/** Gives a dense block a place, its field and the state that the field is in: beside its neighbours if they are there
 *  and there is room, else anywhere. What fluid cells have sent is undefined, what solid ones have is zero. */
gab_status gab_strip_take(const gab_lbm_model *model, gab_lbm_block *block);
/** Gives up place and field. */
void gab_strip_leave(gab_lbm_block *block);
/** Its field is in another state, `now`. */
void gab_strip_turn_over(gab_lbm_block *block);

/** @return 0 for two blocks that lie in one strip, on one level, and in the same state; else which comes first */
int gab_strip_compare(const gab_lbm_block *a, const gab_lbm_block *b);
/** @return the column of its strip where the cells of a block begin */
int32_t gab_strip_column(const gab_lbm_block *block);

/** Zeroes what the solid cells of a dense block have sent. */
void gab_strip_clear_solid(const gab_lbm_model *model, gab_lbm_block *block);

/** Sets `left` and `right` of all blocks of the process, by where they lie. Local, by one thread, between steps. */
gab_status gab_strips_link(gab_lbm *lbm);
/** The same behind moving blocks so that all that can be pencils are. It costs the copies, so it is for grids that stay. */
gab_status gab_strips_pack(gab_lbm *lbm);

#endif
