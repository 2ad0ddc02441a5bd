/* SPDX-License-Identifier: Apache-2.0 */
/** @file block_data.h
 *  @brief Kinds of block data: one table of callbacks for migration, refinement, snapshots and
 *  files.
 *
 *  Packed data is *canonical* (contract 6): logical cells in a fixed order, independent of memory layout, padding,
 *  streaming pattern, parity of the step and ghost contents. The checksum of a forest is the hash of packed data.
 *
 *  Stability: stable. */
#ifndef GABION_BLOCKFOREST_BLOCK_DATA_H
#define GABION_BLOCKFOREST_BLOCK_DATA_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_forest gab_forest;
typedef struct gab_block gab_block;

/** Place of the data of a block, for kinds whose blocks share memory on a process. */
typedef struct gab_data_place {
  uint64_t memory; /**< number of the shared memory; 0: not shared */
  uint64_t at;     /**< position in it, ascending */
} gab_data_place;

/** All functions but gather() are local (no communication) and may run on different blocks in different threads. */
typedef struct gab_block_data_kind {
  const char *name; /**< unique; stored in checkpoints and messages; copied */
  void *user;       /**< passed to every callback; borrowed as long as the forest lives */

  /** Checks once, at registration, whether blocks of this forest can have such data (their cells, for example). NULL:
   *  no check. @return ::GAB_ERR_ARGUMENT with the numbers if not */
  gab_status (*check)(void *user, const gab_forest *forest);
  /** Makes the data of a block: memory, and what follows from the parameter file (flags, boundary lists), which is
   *  not packed. initialise(), unpack(), split() or merge() then sets the stored state. A pure function of the place
   *  of the block. It must not depend on other blocks: neighbours change owner and level while the block stays (see
   *  gab_forest_revision()). It is also called for temporary blocks, which exist only until they split or merge. */
  gab_status (*create)(void *user, const gab_forest *forest, const gab_block *block, void **data);
  /** Announces blocks that several threads will pass to create() next, so that shared memory can be laid out by position
   *  instead of order of creation. Called by one thread. A hint: the actual blocks may differ. NULL: not needed.
   *  @param[in] count  0: the announcement has ended */
  void (*expect)(void *user, const gab_forest *forest, const gab_block_id *ids, size_t count);
  void (*destroy)(void *user, void *data);
  /** Sets the initial state. Not called for blocks that are restored or arrive from another rank (unpack() follows
   *  create()), nor after split() or merge(), except for parents that lack some children. NULL: create() sets the initial
   *  state. */
  gab_status (*initialise)(void *user, const gab_forest *forest, const gab_block *block, void *data);

  /** For stored data. All three are NULL for derived data, which create() computes. */
  size_t (*packed_size)(void *user, const void *data);
  /** Appends exactly packed_size() bytes, best in pieces. Must not read them again, since they may have been drained. */
  gab_status (*pack)(void *user, const void *data, gab_buffer *out);
  /** Reads exactly packed_size() bytes; ghosts are undefined afterwards. */
  gab_status (*unpack)(void *user, void *data, gab_reader *in);

  /** For stored data whose blocks may share memory; else all three are NULL. Interleaved blocks are packed and unpacked
   *  together, so that their memory is read once. The result of place() holds until the next callback that creates or
   *  destroys data; it is called between steps. Each image must equal, bit by bit, that of pack() for the block alone.
   *  @param[in] data  at least one, all in one memory, by ascending place; other threads may process further blocks of
   *  the same memory
   *  @param[in,out] out, in  one for each of them; used as by pack() and unpack() */
  gab_data_place (*place)(void *user, const void *data);
  gab_status (*pack_together)(void *user, const void *const *data, size_t count, gab_buffer *const *out);
  gab_status (*unpack_together)(void *user, void *const *data, size_t count, gab_reader *const *in);

  /** Split one block into 8 (4 in 2D) children, and merge them; children in the order of gab_block_id_child(). The
   *  targets come from create(); all of their stored state is set, ghosts are undefined on both sides. A child is NULL
   *  if it is on another rank, does not exist, or is passed in another call. split() fills the given children; merge()
   *  fills the part of the parent that the given children cover. The result must not depend on this grouping. For
   *  stored data only; create() alone makes derived data. NULL: blocks with such data keep their level. */
  gab_status (*split)(void *user, const gab_forest *forest, const gab_block *parent, const void *parent_data,
                      const gab_block *const *children, void *const *children_data);
  gab_status (*merge)(void *user, const gab_forest *forest, const gab_block *const *children,
                      const void *const *children_data, const gab_block *parent, void *parent_data);

  /** Processor time in nanoseconds that threads have spent on the data since its creation or the last reset, for
   *  balancing by measured times (loadbalance/balance.h). No result may depend on it. NULL: not measured.
   *  @param[in] forget  reset it to zero */
  uint64_t (*work)(void *user, void *data, bool forget);

  /** Approximate a block without any copy from its neighbours (blockforest/migration/reconstruct.h); both, or neither
   *  if no sensible approximation exists. gather() copies the data of neighbours that reconstruct() needs into the
   *  blocks, for example ghosts. It is collective, the only callback that communicates; data from unknown blocks must
   *  not be used. reconstruct() sets all stored state of a created block. It is a pure function of the place, of data
   *  from known directions, and of values equal on all ranks.
   *  @param[in] known  bit d is set if there are blocks in direction d (direction.h) and all of them are known */
  gab_status (*gather)(void *user);
  gab_status (*reconstruct)(void *user, const gab_forest *forest, const gab_block *block, void *data,
                            uint32_t known);
} gab_block_data_kind;

/** Handle of a registered kind, from gab_forest_add_data(); valid for that forest only. {0}: no handle. */
typedef struct gab_data_id {
  uint32_t forest; /**< stamp of the forest; 0: no handle */
  int32_t index;   /**< from 1 */
} gab_data_id;

#ifdef __cplusplus
}
#endif
#endif
