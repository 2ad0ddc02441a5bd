/** @file forest_impl.h
 *  @brief The inside of a forest, shared by the files that work on it.
 *
 *  Tier: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_FOREST_IMPL_H
#define GABION_BLOCKFOREST_FOREST_IMPL_H

#include "blockforest/direction.h"
#include "blockforest/forest.h"
#include "core/port.h"

struct gab_block {
  gab_block_id id;
  gab_neighbour *neighbours; /* ordered by direction, then id */
  size_t neighbour_count, neighbour_capacity;
  int kinds_made; /* data[0 … kinds_made-1] exist */
  void *data[];
};

struct gab_forest {
  gab_world *world;
  gab_forest_options options;
  gab_block_data_kind *kinds;
  int kind_count;
  gab_block **blocks; /* ascending by id */
  size_t block_count;
  uint64_t revision;
  bool torn; /* a migration failed half-way: blocks and tables do not fit together */
  gab_port *port;
};

/* ---- blocks */

/** A block without neighbours and data. */
gab_status gab_block_make(const gab_forest *forest, gab_block_id id, gab_block **block);
/** Lets every kind create its data. */
gab_status gab_block_make_data(const gab_forest *forest, gab_block *block);
/** Sets the state of the start in the data that gab_block_make_data() made. */
gab_status gab_block_initialise(const gab_forest *forest, gab_block *block);
void gab_block_unmake(const gab_forest *forest, gab_block **block);
/** Appends a row; the caller keeps the order. */
gab_status gab_block_add_neighbour(gab_block *block, gab_neighbour row);

/** @return the id of the place of the same size next to block `id`, over periodic borders too; GAB_NO_BLOCK
 *  outside the domain, for the centre, and for z in 2D */
gab_block_id gab_forest_next_to(const gab_forest *forest, gab_block_id id, int direction);
/** True if a row of the table of block `id` is one that can be: direction, place and owner exist. */
bool gab_forest_row_is_possible(const gab_forest *forest, gab_block_id id, const gab_neighbour *row);
bool gab_kind_is_stored(const gab_block_data_kind *kind);

/** Destroys all blocks; the forest is whole and empty. */
void gab_forest_clear(gab_forest *forest);
/** Makes `count` blocks (owned from now on, NULLs among them are dropped) the content of the forest, sorted.
 *  @param[in] blocks  from gab_alloc(), owned from now on */
void gab_forest_adopt(gab_forest *forest, gab_block **blocks, size_t count);

/* ---- records: a block packed, with its table */

/** A packed block, found but not yet unpacked. */
typedef struct gab_record {
  gab_block_id id;
  gab_reader rows, data;
  gab_block *block; /* what becomes of it; NULL: a new block is made */
} gab_record;

size_t gab_record_size(const gab_forest *forest, const gab_block *block);
/** Appends the records of blocks, packed by several threads straight into place. */
gab_status gab_records_pack(const gab_forest *forest, gab_block *const *blocks, size_t count,
                            gab_buffer *out);
/** Cuts the next record off; checks that it could be one of this forest. */
gab_status gab_record_find(const gab_forest *forest, gab_reader *in, gab_record *record);
/** Makes blocks of records in several threads. On failure the blocks made so far stand in the records.
 *  @param[in] map  translates owners; NULL: as they are */
gab_status gab_records_realise(const gab_forest *forest, gab_record *records, size_t count, gab_owner_map map,
                               void *context);
/** Fewest bytes of a record of this forest. */
size_t gab_record_least_size(const gab_forest *forest);

#endif
