/* SPDX-License-Identifier: Apache-2.0 */
/** @file forest.h
 *  @brief The distributed forest: this process's blocks, their data and their neighbours.
 *
 *  A process stores its own blocks, and of their neighbours the id and the owner rank: nothing that grows
 *  with the number of all blocks or processes (contract 7). Who owns which block at first, and later, is
 *  decided elsewhere (loadbalance/): it comes in through blockforest/adaptation/adapt.h.
 *
 *  Local blocks are kept in ascending id order. The *revision* of a forest changes whenever blocks come, go
 *  or change owner; objects built from the forest (ghost exchanges) rebuild themselves when it has changed.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_FOREST_H
#define GABION_BLOCKFOREST_FOREST_H

#include "blockforest/forest/block_data.h"
#include "blockforest/forest/topology.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The domain and how it is cut. */
typedef struct gab_forest_options {
  gab_root_grid grid;
  int32_t cells[3]; /**< cells per block (the same on every level); z is 1 in 2D */
  bool periodic[3]; /**< in 2D z does not matter */
  double origin[3]; /**< physical coordinate of the domain's lower corner */
  double dx;        /**< width of a cell of level 0 */
  /** Says whether a block is to exist at all; a pure function of its cells, the same on all processes. NULL:
   *  all exist. A block that is left out on one level may be a part of one that exists on the level above: it
   *  is not made when that one is split, which comes back all the same when those that were made merge
   *  (gab_proxies_refine()). @param[in] cells  in cell indices of `level` */
  bool (*exists)(void *user, int level, const gab_box *cells);
  /** Work of a block, > 0; pure like exists. NULL: all weigh 1. */
  uint64_t (*weight)(void *user, int level, const gab_box *cells);
  void *user;
} gab_forest_options;

/** Makes a forest without blocks. Collective (opens ports). Copies options.
 *  @return ::GAB_ERR_INPUT for a domain that cannot be */
gab_status gab_forest_create(gab_world *world, const gab_forest_options *options, gab_forest **forest);
void gab_forest_destroy(gab_forest **forest);

/** Registers a kind of block data; before the forest has blocks, the same kinds in the same order everywhere.
 *  @param[out] id  good for this forest alone; {0} on failure
 *  @return ::GAB_ERR_STATE once some process has blocks, ::GAB_ERR_ARGUMENT for a kind that lacks callbacks,
 * has the name of another one, or does not fit the blocks (gab_block_data_kind.check) */
gab_status gab_forest_add_data(gab_forest *forest, const gab_block_data_kind *kind, gab_data_id *id);

/** Packed bytes that one process sends at once while blocks migrate (a single larger block excepted). */
#define GAB_MIGRATION_BYTES ((size_t)32 << 20)

/** Moves blocks: local block i goes to targets[i], any living rank; all neighbour tables follow. Blocks that
 *  stay are not touched; if all do, the revision stays too. Collective. Announces ::GAB_FAULT_POINT_MIGRATION, and
 *  those of gab_proxies_move() and gab_forest_apply_regrid(), of which it consists. After a failure the world is
 *  broken (gab_world_raise()) and the forest may have to be restored.
 *
 *  Memory beyond the blocks: at most #GAB_MIGRATION_BYTES of packed blocks to send, shared by the targets,
 * and from each rank that sends to this one its share (or one block, if that is larger). Blocks that have
 * left are destroyed before those that came are made. */
GAB_EXTENDER gab_status gab_forest_migrate(gab_forest *forest, const gab_rank *targets);

/* ---------------------------------------------------------------------------------------- looking at it */

gab_world *gab_forest_world(const gab_forest *forest);
const gab_forest_options *gab_forest_get_options(const gab_forest *forest);
GAB_EXTENDER const gab_topology *gab_forest_topology(const gab_forest *forest);
GAB_EXTENDER uint64_t gab_forest_revision(const gab_forest *forest);
size_t gab_forest_block_count(const gab_forest *forest); /**< local */
/** @return NULL behind the last */
gab_block *gab_forest_block(const gab_forest *forest, size_t index);
/** @return the local block of that id, NULL if it is not here */
gab_block *gab_forest_find(const gab_forest *forest, gab_block_id id);

gab_block_id gab_block_get_id(const gab_block *block);
/** @return the data of a block; NULL, with a line in the log, for a handle that gab_forest_add_data() of this
 * forest never gave ({0}, or one of another forest) */
void *gab_block_data(const gab_block *block, gab_data_id kind);
GAB_EXTENDER size_t gab_block_neighbour_count(const gab_block *block);
GAB_EXTENDER const gab_neighbour *gab_block_neighbours(const gab_block *block);
int gab_block_level(const gab_forest *forest, const gab_block *block);
/** The cells of the block, in cell indices of its level. */
gab_box gab_block_cells(const gab_forest *forest, const gab_block *block);
/** Width of a cell of a level. */
double gab_forest_dx(const gab_forest *forest, int level);
/** Physical centre of cell (x, y, z) of a block, from integers only: the same on every process. */
void gab_block_cell_centre(const gab_forest *forest, const gab_block *block, int32_t x, int32_t y, int32_t z,
                           double centre[3]);
GAB_EXTENDER uint64_t gab_forest_block_weight(const gab_forest *forest, gab_block_id id);
/** Nanoseconds that were spent on a local block, all its data together; 0 if that is not measured.
 *  @param[in] forget  whether counting starts anew */
GAB_EXTENDER uint64_t gab_forest_block_work(const gab_forest *forest, const gab_block *block, bool forget);
/** All cells of the domain at level 0, as a box from 0. */
gab_box gab_forest_domain_cells(const gab_forest *forest);

/** Number of all blocks / cells of all ranks. Collective. */
gab_status gab_forest_global_blocks(gab_forest *forest, uint64_t *count);

/** What the data of one kind takes on a block at a place, which need not be here: makes it, without neighbours, and lets it
 *  go. Local, between steps: no other thread may ask for memory meanwhile. @param[in] id  of a place of the forest
 *  @param[out] held  bytes that are counted as ::GAB_MEMORY_FIELD @param[out] packed  bytes in an image; 0: is not stored
 *  @return as gab_block_data_kind.create() */
GAB_EXTENDER gab_status gab_forest_measure_data(const gab_forest *forest, gab_block_id id, gab_data_id data,
                                                size_t *held, size_t *packed);

/** The oracle: sum mod 2^64 over all blocks of the hash of (id, names and canonical bytes of the stored
 *  kinds). Does not depend on owners or order. Collective.
 *  @return ::GAB_ERR_STATE on all if the forest is torn, or holds blocks of metadata images, whose state nobody has
 * set */
gab_status gab_forest_checksum(gab_forest *forest, uint64_t *checksum);

/** Expensive consistency check of this process's part: sorted unique ids, options sane, tables possible and
 *  complete: in each direction one block of the same level, or one coarser one, or all those finer ones that
 *  touch and that gab_forest_options.exists does not leave out, or nothing. For assertions and tests. Local.
 *  @return false with an error message */
bool gab_forest_is_valid(const gab_forest *forest);

/* ---------------------------------------------------------------------------------------- images */

/** Appends the image of this process's part: every block with id, neighbour table, owners and the packed data
 *  of all stored kinds. Blocks may be packed by several threads. Local. */
GAB_EXTENDER gab_status gab_forest_pack(const gab_forest *forest, gab_buffer *out);
/** Bytes that gab_forest_pack() would append. */
GAB_EXTENDER size_t gab_forest_packed_size(const gab_forest *forest);

/** Tells where in an image each block's record lies: `offset` and `bytes` count from the image's first byte.
 *  The record is the block's id (u64), the number of rows of its neighbour table (u64), the rows (id u64,
 * owner i32, direction u8), and for each stored kind of data its size (u64) and its packed bytes. Local.
 *  @param[in] visit  a status other than GAB_OK ends the visits and is returned
 *  @return ::GAB_ERR_CORRUPT if the bytes are no image of this domain and these kinds of data */
GAB_EXTENDER gab_status gab_forest_visit_image(const gab_forest *forest, gab_reader image,
                                               gab_status (*visit)(void *user, gab_block_id id, size_t offset,
                                                                   size_t bytes),
                                               void *user);

/** Who owns a block now that its owner of the image's time may be gone, GAB_NO_RANK if nobody does. Pure;
 * takes any number that is not negative: the image may be of a run with more ranks. */
typedef gab_rank (*gab_owner_map)(void *context, gab_rank owner_then);

/** Replaces the forest by what the images hold, whatever grid it has now: the own image, and those of the
 *  ranks that this process adopts. Blocks that are here already are unpacked in place, new ones created,
 * others destroyed; owners in the tables are translated by `map` (NULL: kept). Local: no communication. On
 * failure the forest is left without blocks.
 *  @param[in,out] images  each is read from its start; what follows the image is left in the reader
 *  @return ::GAB_ERR_CORRUPT if the bytes are no images of this domain and these kinds of data, or if a block
 *          is in them twice */
GAB_EXTENDER gab_status gab_forest_restore(gab_forest *forest, gab_reader *images, size_t image_count,
                                           gab_owner_map map, void *context);

/** Appends the metadata image of this process's part: its image without any data, some hundred bytes a block. Local. */
GAB_EXTENDER gab_status gab_forest_pack_metadata(const gab_forest *forest, gab_buffer *out);

/** Images, and metadata images of what no image is left of; readers as in gab_forest_restore(). */
typedef struct gab_forest_parts {
  gab_reader *images, *metadata_images;
  size_t image_count, metadata_count;
} gab_forest_parts;

/** gab_forest_restore() from both. Blocks of metadata images are rebuilt, but have no state before
 *  gab_forest_reconstruct() (reconstruct.h): until then the forest cannot be packed. */
GAB_EXTENDER gab_status gab_forest_restore_parts(gab_forest *forest, const gab_forest_parts *parts,
                                                 gab_owner_map map, void *context);

#ifdef __cplusplus
}
#endif
#endif
