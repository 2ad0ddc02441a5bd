/* SPDX-License-Identifier: Apache-2.0 */
/** @file sparse_impl.h
 *  @brief Sparse blocks, which store only fluid cells: places of populations, and which cell touches which place.
 *
 *  The fluid cells of a sparse block are numbered in z, y, x order; cell n has a place for each direction,
 *  own(n, q) = q * stride + n. Streaming in place works as in storage_impl.h, with one change: where (x + c_q, q) is not a
 *  place of a fluid cell of the block, another place replaces it, which no other cell touches:
 *  - next to a wall at rest it is own(x, opposite of q), which the sweep of no other cell touches. In both states the same
 *    place then holds what x sends to the wall and what the wall returns, so half-way bounce-back needs neither memory nor
 *    work; free slip likewise, with the place of the mirrored direction;
 *  - else it is an extra place after those of the cells: for directions to a fluid ghost cell, and from boundary cells that
 *    send a value of their own.
 *
 *  Even state: what x sent in q is in own(x, opposite of q), what arrives in x with q in reached(x, opposite of q). Odd
 *  state: in reached(x, q) and own(x, q). reached(x, q) is (x + c_q, q) or its replacement.
 *
 *  A sweep from odd to even processes the cells' own places with the kernel of dense blocks. From even to odd the places
 *  are gathered into rows of some cells, which fit into the first-level cache, by moves of 8, 4, 2 and 1 values, since
 *  adjacent cells mostly reach adjacent places. The same list scatters them back.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SPARSE_IMPL_H
#define GABION_LBM_SPARSE_IMPL_H

#include "lbm/lbm_impl.h"

enum {
  GAB_SPARSE_CHUNK = GAB_LBM_ROW,        /**< most cells of a chunk */
  GAB_SPARSE_ROW = GAB_SPARSE_CHUNK + 8, /**< from row to row, so that rows do not meet in a cache's sets */
  GAB_SPARSE_VALUES = GAB_LATTICE_MAX_Q * GAB_SPARSE_ROW,
  GAB_SPARSE_LENGTHS = 4 /**< moves of 1, 2, 4 and 8 values */
};

/** Adjacent cells in one slab, and the moves that collect their reached places. Ends at the beginning of the next
 *  one. */
typedef struct gab_sparse_chunk {
  uint32_t cell;
  uint32_t move[GAB_SPARSE_LENGTHS]; /**< the first move of each length */
} gab_sparse_chunk;

/** Ways between fluid cells here and fluid ghost cells, of one kind: the population of the cell in direction `out`
 *  moves to the neighbour, that of the ghost in direction `in` moves back on the same way. Beyond a free-slip side
 *  `in` is not the opposite of `out`. */
typedef struct gab_sparse_group {
  int8_t direction; /**< to the neighbour */
  int8_t out, in;
  int8_t out_item, in_item; /**< their numbers among the populations that cross */
  int32_t shift;  /**< from the position of the cell in the send box to that of the ghost in its box */
  uint32_t first; /**< way; ends where the next one begins */
} gab_sparse_group;

/** A way to a ghost; number w of the block has the extra place gab_sparse.ghosts + w. */
typedef struct gab_sparse_way {
  uint32_t position; /**< of the cell in the send box, x fastest */
  uint32_t cell;
} gab_sparse_way;

struct gab_sparse {
  gab_storage storage[2]; /**< even: only `sent` has a meaning; odd: only `arriving` */
  gab_storage rows; /**< of a collected chunk: `arriving` if it was made in the even state, else `sent` */
  uint32_t cells;
  uint32_t stride;
  uint32_t ghosts;          /**< the extra place of the first way to a ghost */
  gab_sparse_chunk *chunks; /**< and one at the end */
  size_t chunk_count;
  size_t *chunk_start;      /**< per slab, and at the end */
  uint32_t *move_place;     /**< in the field */
  uint16_t *move_row;       /**< in the rows */
  gab_sparse_group *groups; /**< by direction; and one at the end */
  size_t group_count;
  uint16_t first_group[GAB_DIRECTIONS]; /* from a direction on */
  gab_sparse_way *ways;
  uint32_t *slab_ways; /* [group * (slabs + 1) + slab]: the first way whose ghost is not before the slab */
  /* Cells next to open sides: of the k-th, numbers [k * q] its number, then reached(x, 1 … q - 1). */
  uint32_t *open_cells;
  size_t open_count;
};

static inline bool gab_sparse_is_odd(const gab_lbm_block *block)
{
  return block->now == &block->sparse->storage[1];
}

/* ------------------------------------------------------------------------------------------ making it */

/** A way to a ghost, before they are sorted. */
typedef struct gab_sparse_record {
  uint32_t kind; /**< direction, out, in */
  uint32_t position, cell;
} gab_sparse_record;

/** Temporary data during the creation of a block. */
typedef struct gab_sparse_draft {
  const gab_lbm_model *model;
  gab_lbm_block *block;
  /** of cells and ghosts by their place among the flags; UINT32_MAX unless fluid and inside */
  uint32_t *number;
  uint32_t *arrives; /**< [q * cells + n]: reached(n, opposite of q) */
  uint32_t *open;    /**< per cell: 1 + number among the open cells, 0 for others */
  size_t places;     /**< of the field so far */
  gab_sparse_record *records;
  size_t record_count;
} gab_sparse_draft;

/** The place of a cell's own for direction q. */
static inline uint32_t gab_sparse_own(const gab_sparse *sparse, uint32_t cell, int q)
{
  return (uint32_t)q * sparse->stride + cell;
}
/** Where it is noted from which place population q arrives in a cell. */
static inline uint32_t *gab_sparse_arrives(const gab_sparse_draft *draft, uint32_t cell, int q)
{
  return &draft->arrives[(size_t)q * draft->block->sparse->cells + cell];
}
/** One place more. @return ::GAB_ERR_INPUT: the block is too large */
gab_status gab_sparse_take_place(gab_sparse_draft *draft, uint32_t *place);
/** The number of a fluid cell of the block; UINT32_MAX for all others and ghosts. */
static inline uint32_t gab_sparse_number(const gab_sparse_draft *draft, const int32_t cell[3])
{
  return draft->number[gab_flags_index(draft->block->flags, cell[0], cell[1], cell[2])];
}

/** Makes block->sparse, block->src and the links of a block with flags and runs, whose starts are set here.
 */
gab_status gab_sparse_build(const gab_lbm_model *model, gab_lbm_block *block);
void gab_sparse_release(gab_lbm_block *block);

/** For gab_links_build(): source of the incoming population of a fluid cell in direction q. Here the place
 *  gab_sparse_own(other, from_q): bounce-back from the cell itself, free slip from its mirror. */
void gab_sparse_redirect(gab_sparse_draft *draft, uint32_t cell, int q, uint32_t other, int from_q);
/** Source: a boundary cell that sends its own value. @param[out] place  the extra place */
gab_status gab_sparse_add_place(gab_sparse_draft *draft, uint32_t cell, int q, uint32_t *place);
/** Source: a fluid ghost cell (or the mirror of the cell), by its population in direction `in`. */
gab_status gab_sparse_add_way(gab_sparse_draft *draft, uint32_t cell, int q, const int32_t ghost[3], int in);
/** Number of a cell among those next to open sides. */
gab_status gab_sparse_add_open(gab_sparse_draft *draft, uint32_t cell, uint32_t *number);

/* ------------------------------------------------------------------------------------------ using it */

/** Sweeps the cells of a slab and applies sponges. @param[in] ramp  all factors */
void gab_sparse_sweep(const gab_lbm_model *model, gab_lbm_block *block, size_t slab,
                      const double ramp[GAB_SIDE_FACTORS]);
/** The share of a sparse block in gab_links_apply(). */
void gab_sparse_apply_links(const gab_lbm_model *model, const gab_lbm_job *job,
                            const double ramp[GAB_SIDE_FACTORS]);

/** Canonical data of the populations; see lbm/block.c. */
void gab_sparse_pack(const gab_lbm_model *model, const gab_lbm_block *block, void *bytes);
void gab_sparse_unpack(const gab_lbm_model *model, gab_lbm_block *block, const void *bytes);

/** Ghosts: the bytes of the messages of a direction, as for dense blocks; zeros for cells whose values are not
 *  needed. Directions as seen by the sender. */
void gab_sparse_pack_ghosts(const gab_lbm_model *model, const gab_lbm_block *block, int direction,
                            void *bytes);
void gab_sparse_unpack_ghosts(const gab_lbm_model *model, gab_lbm_block *block, int direction,
                              const void *bytes);
/** From block to block, at least one of them sparse.
 *  @param[in] slabs  of a side parallel to the slab axis: slabs whose ghosts are filled; NULL: all */
void gab_sparse_fetch(const gab_lbm_model *model, gab_lbm_block *target, const gab_lbm_block *source,
                      int direction, const gab_lbm_slabs *slabs);

/** Populations of a chunk by constant distances, collected if they are not so in the block. */
typedef struct gab_sparse_window {
  gab_lbm_block view; /**< takes the block's place in gab_lbm_row_moments() and for gab_storage */
  uint32_t start;     /**< index of the first cell */
  int32_t count;
  gab_field field;
  double values[GAB_SPARSE_VALUES];
} gab_sparse_window;
enum gab_sparse_wanted { GAB_SPARSE_SENT, GAB_SPARSE_ARRIVING };
/** Opens a window on the outgoing populations of the cells of a chunk (for view.now->sent), or on the incoming ones
 *  (for view.now->arriving). */
void gab_sparse_open_window(const gab_lbm_model *model, const gab_lbm_block *block, size_t chunk,
                            enum gab_sparse_wanted wanted, gab_sparse_window *window);
/** The chunk that a cell belongs to. */
size_t gab_sparse_chunk_of(const gab_sparse *sparse, uint32_t cell);

#endif
