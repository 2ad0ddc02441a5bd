/* SPDX-License-Identifier: Apache-2.0 */
/** @file forest.h
 *  @brief The distributed forest: this process's blocks, their data and their neighbours.
 *
 *  A process stores its own blocks, and ids and owner ranks of their neighbours: nothing that grows with the number of
 *  all blocks or processes (contract 7). Owners are assigned elsewhere (loadbalance/) and applied by
 *  blockforest/adaptation/adapt.h.
 *
 *  Local blocks are in ascending id order. The *revision* of a forest changes whenever blocks are added, removed or
 *  change owner. Objects built from the forest (ghost exchanges) then rebuild themselves.
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

/** The domain and its partition into blocks. */
typedef struct gab_forest_options {
  gab_root_grid grid;
  int32_t cells[3]; /**< cells per block (the same on every level); z is 1 in 2D */
  bool periodic[3]; /**< in 2D z does not matter */
  double origin[3]; /**< physical coordinate of the domain's lower corner */
  double dx;        /**< width of a cell of level 0 */
  /** Whether a block exists; a pure function of its cells, the same on all processes. NULL: all exist. The area of an
   *  excluded block may still be covered by a parent. Splitting that parent does not make the block. If the other
   *  children merge, the parent with the whole area returns (gab_proxies_refine()). @param[in] cells  in cell indices
   *  of `level` */
  bool (*exists)(void *user, int level, const gab_box *cells);
  /** Work of a block, > 0; pure like exists. NULL: all weigh 1. */
  uint64_t (*weight)(void *user, int level, const gab_box *cells);
  void *user;
} gab_forest_options;

/** Makes a forest without blocks. Collective (opens ports). Copies options.
 *  @return ::GAB_ERR_INPUT for an invalid domain */
gab_status gab_forest_create(gab_world *world, const gab_forest_options *options, gab_forest **forest);
void gab_forest_destroy(gab_forest **forest);

/** Registers a kind of block data before the forest has blocks; the same kinds in the same order on all processes.
 *  @param[out] id  valid for this forest only; {0} on failure
 *  @return ::GAB_ERR_STATE once some process has blocks, ::GAB_ERR_ARGUMENT for a kind that lacks callbacks, repeats a
 *  name, or does not fit the blocks (gab_block_data_kind.check) */
gab_status gab_forest_add_data(gab_forest *forest, const gab_block_data_kind *kind, gab_data_id *id);

/** Packed bytes that one process sends at once during migration (except for a single larger block). */
#define GAB_MIGRATION_BYTES ((size_t)32 << 20)

/** Moves blocks: local block i moves to targets[i], any living rank; all neighbour tables are updated. Blocks that
 *  stay are not touched; if all stay, the revision stays too. Collective. Announces ::GAB_FAULT_POINT_MIGRATION, and
 *  the fault points of its two parts gab_proxies_move() and gab_forest_apply_regrid(). After a failure the world is
 *  broken (gab_world_raise()) and the forest may have to be restored.
 *
 *  Memory in addition to the blocks: at most #GAB_MIGRATION_BYTES of packed blocks to send, divided among the targets,
 *  and the same share (or one larger block) from each sending rank. Sent blocks are destroyed before received ones are
 *  made. */
GAB_EXTENDER gab_status gab_forest_migrate(gab_forest *forest, const gab_rank *targets);

/* ---------------------------------------------------------------------------------------- access */

gab_world *gab_forest_world(const gab_forest *forest);
const gab_forest_options *gab_forest_get_options(const gab_forest *forest);
GAB_EXTENDER const gab_topology *gab_forest_topology(const gab_forest *forest);
GAB_EXTENDER uint64_t gab_forest_revision(const gab_forest *forest);
size_t gab_forest_block_count(const gab_forest *forest); /**< local */
/** @return NULL for an index past the end */
gab_block *gab_forest_block(const gab_forest *forest, size_t index);
/** @return the local block of that id, NULL if it is not on this process */
gab_block *gab_forest_find(const gab_forest *forest, gab_block_id id);

gab_block_id gab_block_get_id(const gab_block *block);
/** @return the data of a block; NULL, with a line in the log, for a handle that is {0} or of another forest */
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
/** Nanoseconds of processor time for all data of a local block; 0: not measured.
 *  @param[in] forget  reset the count to zero */
GAB_EXTENDER uint64_t gab_forest_block_work(const gab_forest *forest, const gab_block *block, bool forget);
/** All cells of the domain at level 0, as a box from 0. */
gab_box gab_forest_domain_cells(const gab_forest *forest);

/** Number of all blocks / cells of all ranks. Collective. */
gab_status gab_forest_global_blocks(gab_forest *forest, uint64_t *count);

/** Memory and image size of the data of one kind on a block at a place; the block need not exist on this process.
 *  Makes the data, without neighbours, and destroys it. Local, between steps: no other thread may allocate meanwhile.
 *  @param[in] id  of a place of the forest
 *  @param[out] held  bytes that are counted as ::GAB_MEMORY_FIELD @param[out] packed  bytes in an image; 0: not stored
 *  @return as gab_block_data_kind.create() */
GAB_EXTENDER gab_status gab_forest_measure_data(const gab_forest *forest, gab_block_id id, gab_data_id data,
                                                size_t *held, size_t *packed);

/** Checksum: sum mod 2^64 over all blocks of the hash of (id, names and canonical bytes of the stored kinds). Does
 *  not depend on owners or order. Collective.
 *  @return ::GAB_ERR_STATE on all if the forest is torn, or holds blocks from metadata images whose state is not set */
gab_status gab_forest_checksum(gab_forest *forest, uint64_t *checksum);

/** Expensive consistency check of this process's part: unique sorted ids, valid options, valid and complete tables. A
 *  direction of a complete table has one block of the same level, or one coarser block, or all finer blocks that touch
 *  and that gab_forest_options.exists allows, or no block. For assertions and tests. Local.
 *  @return false with an error message */
bool gab_forest_is_valid(const gab_forest *forest);

/* ---------------------------------------------------------------------------------------- images */

/** Appends the image of this process's part: every block with id, neighbour table, owners and the packed data
 *  of all stored kinds. Blocks may be packed by several threads. Local. */
GAB_EXTENDER gab_status gab_forest_pack(const gab_forest *forest, gab_buffer *out);
/** Size of the image that gab_forest_pack() appends. */
GAB_EXTENDER size_t gab_forest_packed_size(const gab_forest *forest);

/** Visits the record of each block in an image: `offset` and `bytes` count from the image's first byte. A record has
 *  the block's id (u64), the number of rows of its neighbour table (u64), the rows (id u64, owner i32, direction u8),
 *  and for each stored kind of data its size (u64) and its packed bytes. Local.
 *  @param[in] visit  a status other than GAB_OK ends the visits and is returned
 *  @return ::GAB_ERR_CORRUPT if the bytes are not an image of this domain and these kinds of data */
GAB_EXTENDER gab_status gab_forest_visit_image(const gab_forest *forest, gab_reader image,
                                               gab_status (*visit)(void *user, gab_block_id id, size_t offset,
                                                                   size_t bytes),
                                               void *user);

/** Present owner of a block whose owner in the image was `owner_then`; GAB_NO_RANK: none. Pure. Takes any number that
 *  is not negative: the image may be of a run with more ranks. */
typedef gab_rank (*gab_owner_map)(void *context, gab_rank owner_then);

/** Replaces the forest by the content of images, whatever its present grid: the own image, and those of adopted
 *  ranks. Blocks that exist here are unpacked in place, new ones created, others destroyed; owners in the tables are
 *  translated by `map` (NULL: unchanged). Local: no communication. On failure the forest is left without blocks.
 *  @param[in,out] images  each is read from its start; bytes after the image stay in the reader
 *  @return ::GAB_ERR_CORRUPT if the bytes are not images of this domain and these kinds of data, or contain a block
 *  twice */
GAB_EXTENDER gab_status gab_forest_restore(gab_forest *forest, gab_reader *images, size_t image_count,
                                           gab_owner_map map, void *context);

/** Appends the metadata image of this process's part: its image without any data, some hundred bytes per block.
 *  Local. */
GAB_EXTENDER gab_status gab_forest_pack_metadata(const gab_forest *forest, gab_buffer *out);

/** Images, and metadata images of ranks without an image; readers as in gab_forest_restore(). */
typedef struct gab_forest_parts {
  gab_reader *images, *metadata_images;
  size_t image_count, metadata_count;
} gab_forest_parts;

/** gab_forest_restore() from both. Blocks of metadata images are rebuilt without state. The forest cannot be packed
 *  until gab_forest_reconstruct() (reconstruct.h) sets it. */
GAB_EXTENDER gab_status gab_forest_restore_parts(gab_forest *forest, const gab_forest_parts *parts,
                                                 gab_owner_map map, void *context);

#ifdef __cplusplus
}
#endif
#endif
