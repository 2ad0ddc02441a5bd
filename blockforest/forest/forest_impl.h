/* SPDX-License-Identifier: Apache-2.0 */
/** @file forest_impl.h
 *  @brief Internal structure of a forest.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_FOREST_IMPL_H
#define GABION_BLOCKFOREST_FOREST_IMPL_H

#include "blockforest/forest/direction.h"
#include "blockforest/forest/forest.h"
#include "core/messages/port.h"

struct gab_block {
  gab_block_id id;
  uint32_t stamp;            /* of its forest */
  gab_neighbour *neighbours; /* ordered by direction, then id */
  size_t neighbour_count, neighbour_capacity;
  int kinds_made; /* data[0 … kinds_made-1] exist */
  bool is_unset;  /* from a metadata image: the data exists, but its state is not set */
  void *data[];
};

/* Whether blocks of different levels touch. */
typedef enum gab_level_borders {
  GAB_BORDERS_NONE = 0,
  GAB_BORDERS_SOMEWHERE, /* all processes know */
  GAB_BORDERS_HERE       /* seen in the tables of this process; other processes may not know */
} gab_level_borders;

struct gab_forest {
  gab_world *world;
  uint32_t stamp; /* distinguishes its handles from those of other forests of this process; from 1 */
  gab_forest_options options;
  gab_topology topology; /* of the options */
  gab_block_data_kind *kinds;
  int kind_count;
  gab_block **blocks; /* ascending by id */
  size_t block_count;
  uint64_t revision;
  bool is_closed; /* has been filled, here or elsewhere: no more kinds of data are accepted */
  gab_level_borders borders;
  bool torn; /* a migration or adaptation failed half-way: blocks and tables are inconsistent */
  gab_port *port;
};

/** A position along an axis, in cells of a level. Exact scaling, so that all levels agree on the cell. */
static inline double gab_position_in_cells(const gab_forest *forest, int level, const double at[3], int axis)
{
  return (at[axis] - forest->options.origin[axis]) / forest->options.dx * (double)(INT64_C(1) << level);
}

/* ---- blocks */

/** A block without neighbours and data. */
gab_status gab_block_make(const gab_forest *forest, gab_block_id id, gab_block **block);
/** Announces to every kind the blocks that gab_block_make_data() will make next. Called by one thread.
 *  @param[in] count  0: the announcement has ended */
void gab_forest_expect(const gab_forest *forest, const gab_block_id *ids, size_t count);
/** Calls create() of every kind. */
gab_status gab_block_make_data(const gab_forest *forest, gab_block *block);
/** Sets the initial state of the data that gab_block_make_data() made. */
gab_status gab_block_initialise(const gab_forest *forest, gab_block *block);
void gab_block_unmake(const gab_forest *forest, gab_block **block);
/** Appends a row; the caller keeps the order. */
gab_status gab_block_add_neighbour(gab_block *block, gab_neighbour row);

/** True if a row is possible in the table of block `id`: direction, place and owner exist, and it may follow the row
 *  before it (NULL: it is the first). */
bool gab_forest_row_is_possible(const gab_forest *forest, gab_block_id id, const gab_neighbour *before,
                                const gab_neighbour *row);
/** The cells of the place `id`, in cell indices of its level. */
gab_box gab_forest_place_cells(const gab_forest *forest, gab_block_id id);
/** False if gab_forest_options.exists excludes the place or one of its ancestors. */
bool gab_forest_place_exists(const gab_forest *forest, gab_block_id id);
/** ::GAB_ERR_ARGUMENT unless a handle is of this forest. @param[in] whose  begins the message */
gab_status gab_forest_check_data(const gab_forest *forest, gab_data_id id, const char *whose);
/** Whether a block of this process touches a block of another level. */
bool gab_forest_sees_border(const gab_forest *forest);
/** ::GAB_ERR_INPUT unless blocks can be halved along each dimension. */
gab_status gab_forest_check_even(const gab_forest *forest);
/** A failure during communication of the forest: breaks the world, so that other processes do not wait for this one
 *  and the port releases the buffers. @return the status to end with */
gab_status gab_forest_abandon(gab_forest *forest, gab_status status);
bool gab_kind_is_stored(const gab_block_data_kind *kind);

/** Destroys all blocks; the forest is then consistent and empty. */
void gab_forest_clear(gab_forest *forest);
/** Makes `count` blocks the content of the forest, sorted; NULLs are dropped.
 *  @param[in] blocks  from gab_alloc(), owned from now on, as the blocks */
void gab_forest_adopt(gab_forest *forest, gab_block **blocks, size_t count);

/* ---- stored data of many blocks, kind by kind, in threads; data in shared memory is processed together */

/** Appends size and bytes of each kind, for each block. @param[in,out] out  one for each block, with capacity for it */
gab_status gab_blocks_pack(const gab_forest *forest, gab_block *const *blocks, size_t count, gab_buffer *out);
/** Inverse of gab_blocks_pack(). @param[in,out] in  one for each block; ::GAB_ERR_CORRUPT unless it is read to the
 *  end */
gab_status gab_blocks_unpack(const gab_forest *forest, gab_block *const *blocks, size_t count,
                             gab_reader *in);

/* ---- records: a block packed, with its table */

/** A packed block, located but not yet unpacked. */
typedef struct gab_record {
  gab_block_id id;
  gab_reader rows, data;
  gab_block *block; /* the unpacked block; NULL: a new block is made */
  bool has_table;   /* the block already has its table: the rows are not read */
  bool is_bare;     /* of a metadata image: without data */
} gab_record;

size_t gab_record_size(const gab_forest *forest, const gab_block *block);
/** Appends the records of blocks; several threads pack in place. */
gab_status gab_records_pack(const gab_forest *forest, gab_block *const *blocks, size_t count,
                            gab_buffer *out);
/** Separates the next record and checks that it is possible in this forest. */
gab_status gab_record_find(const gab_forest *forest, gab_reader *in, gab_record *record);
/** The same without data: the records of a metadata image. */
size_t gab_record_bare_size(const gab_block *block);
gab_status gab_record_pack_bare(const gab_block *block, gab_buffer *out);
gab_status gab_record_find_bare(const gab_forest *forest, gab_reader *in, gab_record *record);
/** Makes the block of a record. On failure the record keeps the incomplete block. */
gab_status gab_record_realise(const gab_forest *forest, gab_record *record, gab_owner_map map, void *context);
/** Makes blocks of records in several threads. On failure the records keep the blocks made so far.
 *  @param[in] map  translates owners; NULL: unchanged */
gab_status gab_records_realise(const gab_forest *forest, gab_record *records, size_t count, gab_owner_map map,
                               void *context);
/** Minimum size of a record of this forest, in bytes. */
size_t gab_record_least_size(const gab_forest *forest);

#endif
