/* SPDX-License-Identifier: Apache-2.0 */
/** @file checkpoint.h
 *  @brief Coordinated, diskless, double-buffered checkpoints in the memory of the processes.
 *
 *  A *snapshot* is the state of all ranks at one step: the *image* of a rank (its blocks and per-rank
 *  entities) in its own memory and, by the redundancy scheme, in that of its holders; replicated entities at
 *  each rank only. A new snapshot is written beside the valid one, all agree that it is complete, and then it
 *  becomes the valid one by changing an index: nothing can fail between the agreement and the change
 *  (Kohl et al. 2017, section 5.2.1 and algorithm 2). A death at any instant leaves at least one snapshot
 *  whole.
 *
 *  Memory, eq. 2 in section 5.2.3 of the paper: S (1 + 2 R) for a state of S bytes and R images per rank and
 *  snapshot (own and copies), counted as ::GAB_MEMORY_SNAPSHOT; S (1 + R) with one buffer
 *  (gab_checkpoint_set_buffers()), at the price of the promise that a death at any instant leaves one whole. Beside
 *  it coded groups have some megabytes of messages under way while one is taken (gab_group_messages()). Within a
 *  node S for each snapshot will do, if holders look at images where they are (::GAB_WITHIN_NODE_SHARE).
 *
 *  Images, parities and replicated entities carry a 64-bit hash, computed when they are packed and verified
 *  when they are restored or adopted: what changed in memory or on the way is replaced from another copy or
 *  from the parities and never becomes part of the result. Hashing takes the threads that pack about 0.8 of
 *  the time of packing, which makes a snapshot a fifth longer (2 processes of one thread: packing with
 *  hash 2.7 instead of 4.8 GB/s, all of it 1.35 instead of 1.65).
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_CHECKPOINT_H
#define GABION_RESILIENCE_CHECKPOINT_H

#include "blockforest/forest/forest.h"
#include "core/base/entity.h"
#include "resilience/reports/events.h"
#include "resilience/schemes/placement.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_checkpoint gab_checkpoint;

/** Collective (opens a port, finds the failure domains). @param[in] forest  borrowed
 *  @param[in] redundancy  what is kept of images beside the own ones; copied
 *  @return ::GAB_ERR_ARGUMENT if its numbers are out of range, ::GAB_ERR_INPUT for a bad file of domains; on
 *  all */
gab_status gab_checkpoint_create(gab_forest *forest, const gab_redundancy *redundancy,
                                 gab_checkpoint **checkpoint);
void gab_checkpoint_destroy(gab_checkpoint **checkpoint);

/** Registers an entity; before the first snapshot, the same ones in the same order everywhere. Copies the
 *  table. @return ::GAB_ERR_ARGUMENT if the name is taken or a callback is missing */
gab_status gab_checkpoint_add_entity(gab_checkpoint *checkpoint, const gab_entity *entity);

/** How what travels and is kept for others is compressed. Own images are not, so that going back to them costs
 * nothing, and parities are not. Lossless. */
typedef enum gab_compression {
  GAB_COMPRESSION_NONE = 0,
  GAB_COMPRESSION_AUTO, /**< by ::GAB_CODEC_LZ4 where a sample of the image says that it pays, each time anew */
  GAB_COMPRESSION_LZ4,
  GAB_COMPRESSION_ZSTD,
  GAB_COMPRESSION_COUNT
} gab_compression;
/** From the next snapshot on. Local; ranks may differ. Memory: copies take what they are compressed to; while
 * they travel, and while one is taken over, the sender and the adopter hold one of them twice.
 *  @return ::GAB_ERR_ARGUMENT for what this build lacks */
gab_status gab_checkpoint_set_compression(gab_checkpoint *checkpoint, gab_compression compression);

/** How an image comes to a holder on the node of its rank, where the failure domains say that they share one and the
 *  system lets them see each other's memory (core/memory/shared_memory.h). Elsewhere, and of images that are compressed, by messages. */
typedef enum gab_within_node {
  GAB_WITHIN_NODE_COPY = 0, /**< the holder copies it from the memory of the rank: faster than a message */
  GAB_WITHIN_NODE_SHARE, /**< the holder keeps no copy: its process sees the one there is, also when the rank has died.
                                 Half of the memory, nothing to be moved; but what changes in this memory by itself has changed for both */
  GAB_WITHIN_NODE_SEND, /**< by messages */
  GAB_WITHIN_NODE_COUNT
} gab_within_node;
/** From the next snapshot on. Local; ranks may differ: holders choose between copy and share, who offers or sends is
 *  the rank.
 *  @return ::GAB_ERR_ARGUMENT for another number */
gab_status gab_checkpoint_set_within_node(gab_checkpoint *checkpoint, gab_within_node way);

/** One buffer instead of two: a new snapshot overwrites the one before, as section 5.2.3 of the paper says that
 *  one could. Half of the memory; but a fault while one is taken finds none in memory, and
 *  gab_checkpoint_restore() then returns ::GAB_ERR_LOST: strategy `disk` goes on from there. Before the first
 *  snapshot, the same on all. @param[in] buffers  1 or 2 @return ::GAB_ERR_ARGUMENT, ::GAB_ERR_STATE */
gab_status gab_checkpoint_set_buffers(gab_checkpoint *checkpoint, int buffers);

/** Takes a snapshot of the present state and makes it the valid one. Collective. Announces
 *  ::GAB_FAULT_POINT_SNAPSHOT (three times: before packing, before sending, when all is there;
 *  of coded groups also in between, with every chunk), ::GAB_FAULT_POINT_COMMIT
 *  and ::GAB_FAULT_POINT_SWAP.
 *  @return ::GAB_ERR_FAULT if the world broke: the snapshot before is still valid */
gab_status gab_checkpoint_take(gab_checkpoint *checkpoint, gab_step step);

/** The same in parts, so that copies travel while the next steps are computed. Begins a snapshot of the present
 * state: what this has to wait for is the own copy (with coded schemes, the parities too). The valid snapshot
 * stays what it is; a fault before gab_checkpoint_complete() leads back to it. Collective, though the ranks
 * meet only if the forest has changed since the last one. Announces ::GAB_FAULT_POINT_SNAPSHOT twice.
 *  @return ::GAB_ERR_STATE if one is begun already */
gab_status gab_checkpoint_begin(gab_checkpoint *checkpoint, gab_step step);
/** Helps it along without waiting for anybody: often, e.g. between tasks. Local.
 *  @param[out] there  everything of this rank has gone and come, or none is begun */
gab_status gab_checkpoint_progress(gab_checkpoint *checkpoint, bool *there);
/** Waits for the rest, agrees, and makes it the valid one. Collective, at the same step on all. Announces
 * ::GAB_FAULT_POINT_SNAPSHOT, ::GAB_FAULT_POINT_COMMIT and ::GAB_FAULT_POINT_SWAP. @return ::GAB_ERR_STATE if none is begun */
gab_status gab_checkpoint_complete(gab_checkpoint *checkpoint);
/** True between the two; false again when the world was repaired meanwhile. */
bool gab_checkpoint_is_pending(const gab_checkpoint *checkpoint);

/** Verifies everything that the valid snapshot holds, copies and parities included, and replaces at once what
 * has changed in memory. Collective. @param[out] beyond  something has changed that nothing whole is left of:
 *  a new snapshot should be taken at once, the state itself is not concerned */
gab_status gab_checkpoint_scrub(gab_checkpoint *checkpoint, bool *beyond);

/** Who keeps what of whom in the valid snapshot; NULL before the first. Borrowed until the next one. */
const gab_placement *gab_checkpoint_placement(const gab_checkpoint *checkpoint);

/** What a restore did. */
typedef struct gab_restore_report {
  gab_step step;         /**< of the snapshot that was restored */
  int32_t lost_ranks;    /**< ranks of that snapshot that are gone */
  uint64_t adopted;      /**< blocks of dead ranks that this rank took over */
  double agree_seconds;  /**< agreement on the snapshot, replacement and reconstruction of images */
  double seconds;        /**< local verification and restore of blocks and entities */
  double verify_seconds; /**< of these: hashing the images that are needed */
  uint64_t approximated; /**< blocks of all ranks that gab_checkpoint_reconstruct() had to approximate */
} gab_restore_report;

/** Restores the newest snapshot that all survivors hold completely; blocks of dead ranks go to their restorers.
 *  Collective over the living. If the scheme copies and no image changed in memory, the restore itself needs no
 *  communication. Coded groups reconstruct the images of their dead members; images that do not match their hash are
 *  replaced from an intact copy or group. Announces ::GAB_FAULT_POINT_RECOVERY (before, after and with every part of
 *  images that are put together).
 *  @return ::GAB_ERR_LOST on all ranks if for some rank too little is left, with ranks and blocks named, or if an image
 *  changed in memory and nothing whole is left of it in any snapshot that all hold (the forest is then untouched);
 *  ::GAB_ERR_FAULT if the world broke: call it again after the next repair */
gab_status gab_checkpoint_restore(gab_checkpoint *checkpoint, gab_restore_report *report);

/** Every rank drops what it has and goes on as the one whose first copy it keeps, though nobody is dead: the
 *  images of all travel their way back once, without communication but the agreement that all copies are whole.
 *  For measurements and tests of copies (Kohl et al. 2017, figure 8): afterwards owners have changed places, the
 *  forest as a whole is that of the valid snapshot, and the next snapshot is one like any other. Collective.
 *  @param[out] report  adopted: blocks restored; lost_ranks is 0
 *  @return ::GAB_ERR_STATE if there is no snapshot of just the living in a scheme that copies, ::GAB_ERR_CORRUPT on
 *          all, with nothing touched, if a copy has changed in memory */
gab_status gab_checkpoint_restore_swapped(gab_checkpoint *checkpoint, gab_restore_report *report);

/** Cost of snapshots so far, of this process. */
typedef struct gab_checkpoint_stats {
  uint64_t taken;
  gab_step last_step;    /**< of the valid snapshot, -1 if there is none */
  size_t image_bytes;    /**< own image of the last one */
  size_t copies_bytes;   /**< copies of others and parities held, last one */
  size_t copied_bytes;   /**< what those copies and parities stand for: before compression */
  size_t metadata_bytes; /**< of others held, last one */
  size_t
      sent_bytes; /**< moved to others for them, by messages or by their reading it here, last one; without metadata images */
  size_t shared_bytes; /**< part of copies_bytes that takes no memory here: it lies in that of its ranks */
  double ratio;        /**< image / what was moved to each holder, last one; 1: not compressed */
  uint64_t replaced;   /**< images, parities and entities that had changed in memory */
  double last_seconds; /**< that the caller spent on the last one: pack, exchange and commit */
  double total_seconds, pack_seconds, exchange_seconds, commit_seconds;
  double compress_seconds;   /**< part of exchange_seconds */
  uint64_t compressed_bytes; /**< that were compressed in these, all snapshots */
} gab_checkpoint_stats;
gab_checkpoint_stats gab_checkpoint_get_stats(const gab_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
