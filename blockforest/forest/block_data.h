/* SPDX-License-Identifier: Apache-2.0 */
/** @file block_data.h
 *  @brief What a kind of block data has to be able to do: one table of callbacks for migration, refinement,
 *  memory snapshots and files.
 *
 *  Packed data is *canonical* (contract 6): logical cells in a fixed order, independent of memory layout,
 *  padding, streaming pattern, parity of the step and ghost contents. The checksum of a forest is made of it.
 *
 *  Stability: stable.
 */
#ifndef GABION_BLOCKFOREST_BLOCK_DATA_H
#define GABION_BLOCKFOREST_BLOCK_DATA_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_forest gab_forest;
typedef struct gab_block gab_block;

/** Where data lies, of kinds whose blocks share memory on a process. */
typedef struct gab_data_place {
  uint64_t memory; /**< equal for data of the same memory, else different; 0: memory of its own */
  uint64_t at;     /**< what lies further along has more */
} gab_data_place;

/** All functions but gather() are local (no communication) and may run on different blocks in different threads. */
typedef struct gab_block_data_kind {
  const char *name; /**< unique; stands in checkpoints and messages; copied */
  void *user;       /**< handed to every callback; borrowed as long as the forest lives */

  /** Whether such data can be on the blocks of this forest (their cells, for example): asked once, when it is
   *  registered. NULL: it can. @return ::GAB_ERR_ARGUMENT with the numbers if not */
  gab_status (*check)(void *user, const gab_forest *forest);
  /** Makes the data of a block: memory, and whatever can be computed from the parameter file (flags, boundary
   *  lists), which is not packed. The stored state is set by initialise(), unpack(), split() or merge(),
   *  whichever comes next. A pure function of the place of the block: not of its neighbours, whose owners and
   *  levels change while it stays (gab_forest_revision() tells), nor of what else is here. It is also asked
   *  for blocks that exist only until they are split or merged. */
  gab_status (*create)(void *user, const gab_forest *forest, const gab_block *block, void **data);
  /** Told, by one thread, of blocks that create() is to make next, by several: what blocks share (memory in which they lie
   *  side by side) can be laid out by where they are, whoever is made first. A hint: some of them may not come, and others may.
   *  NULL: it does not matter. @param[in] count  0: those that were expected have come, or will not come any more */
  void (*expect)(void *user, const gab_forest *forest, const gab_block_id *ids, size_t count);
  void (*destroy)(void *user, void *data);
  /** Sets the state of the start. Not called for blocks that are restored or arrive from another rank: there
   *  unpack() follows on create(); nor for those that are split or merged from others, but for parents some
   *  of whose children do not exist. NULL: create() leaves the state of the start. */
  gab_status (*initialise)(void *user, const gab_forest *forest, const gab_block *block, void *data);

  /** Stored data only; all three NULL for derived data, which create() alone makes. */
  size_t (*packed_size)(void *user, const void *data);
  gab_status (*pack)(
      void *user, const void *data,
      gab_buffer *out); /**< appends exactly packed_size() bytes, and does not look back at them: they
                                          may have been hashed and forgotten; best piece by piece */
  gab_status (*unpack)(void *user, void *data,
                       gab_reader *in); /**< reads exactly those; ghosts undefined after */

  /** Of stored data that may share memory with that of other blocks; all three NULL if none does. Images of several blocks are
   *  packed and unpacked together, so that memory in which they lie between each other is walked through once. place() is asked
   *  between steps and holds until the next callback that makes or destroys. Each image has to be, to the bit, what pack() makes
   *  of that block alone. @param[in] data  at least one, all of one memory, in the order of their places; perhaps not all that lie
   *  there, as other threads may be at the others
   *  @param[in,out] out, in  one for each of them; used as by pack() and unpack() */
  gab_data_place (*place)(void *user, const void *data);
  gab_status (*pack_together)(void *user, const void *const *data, size_t count, gab_buffer *const *out);
  gab_status (*unpack_together)(void *user, void *const *data, size_t count, gab_reader *const *in);

  /** From one block to its 8 (4 in 2D) children and back, children in the order of gab_block_id_child(). What
   *  is written to has been made by create(); all of its stored state is set, ghosts are undefined on both
   *  sides. Children that live elsewhere, do not exist, or have their turn at another time are NULL: split()
   *  fills those that are there; merge() fills the part of the parent that they cover and leaves the rest as
   *  it is. The result must not depend on which ones come together. Of stored data only; derived data is made
   *  by create() alone. NULL: blocks with such data keep their level. */
  gab_status (*split)(void *user, const gab_forest *forest, const gab_block *parent, const void *parent_data,
                      const gab_block *const *children, void *const *children_data);
  gab_status (*merge)(void *user, const gab_forest *forest, const gab_block *const *children,
                      const void *const *children_data, const gab_block *parent, void *parent_data);

  /** Nanoseconds of processor time that threads have spent on the data since it was made or its work was last forgotten: what
   *  balancing by measured times looks at (loadbalance/balance.h). Nothing else may depend on them. NULL: not known.
   *  @param[in] forget  whether it starts anew from zero */
  uint64_t (*work)(void *user, void *data, bool forget);

  /** For what no copy holds any more (blockforest/migration/reconstruct.h): an approximation by what lies around it. Both or,
   *  if no sensible approximation is possible, neither. gather() brings whatever reconstruct() is to see of neighbours into
   *  the blocks, ghosts for example; the only callback that communicates: collective. What it brings from blocks that
   *  are not known yet is not to be used. reconstruct() sets all stored state of a block that has been made; a pure
   *  function of the place, of what was gathered from the known directions, and of what is equal on all.
   *  @param[in] known  bit d is set if there are blocks in direction d (direction.h) and all of them are known */
  gab_status (*gather)(void *user);
  gab_status (*reconstruct)(void *user, const gab_forest *forest, const gab_block *block, void *data,
                            uint32_t known);
} gab_block_data_kind;

/** Handle of a registered kind, given by gab_forest_add_data() and good for that forest alone. {0} is none.
 */
typedef struct gab_data_id {
  uint32_t forest; /**< stamp of the forest; 0: no handle */
  int32_t index;   /**< from 1 */
} gab_data_id;

#ifdef __cplusplus
}
#endif
#endif
