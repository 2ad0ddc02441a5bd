/* SPDX-License-Identifier: Apache-2.0 */
/** @file checkpoint.h
 *  @brief Coordinated, diskless, double-buffered checkpoints in the memory of the processes.
 *
 *  A *snapshot* is the state of all ranks at one step: the *image* of a rank (its blocks and
 *  per-rank entities) in its own memory and, by the redundancy scheme, in that of its holders;
 *  replicated entities at each rank only. A new snapshot is written next to the valid one, all agree
 *  that it is complete, and then it becomes valid by a change of an index, which cannot fail (Kohl
 *  et al. 2017, section 5.2.1 and algorithm 2). A death at any time leaves at least one complete
 *  snapshot.
 *
 *  Memory, eq. 2 in section 5.2.3 of the paper: S (1 + 2 R) for a state of S bytes and R images per
 *  rank and snapshot (own and copies), counted as ::GAB_MEMORY_SNAPSHOT; S (1 + R) with one buffer
 *  (gab_checkpoint_set_buffers()), in which case a death during a checkpoint leaves none. In
 *  addition coded groups have some megabytes of messages in transit (gab_group_messages()). Within a
 *  node S per snapshot is sufficient if holders map images (::GAB_WITHIN_NODE_SHARE).
 *
 *  Images, parities and replicated entities carry a 64-bit hash, computed when they are packed and
 *  verified when they are restored or adopted. Data that changed in memory or in transit is replaced
 *  from another copy or the parities. Hashing takes about 0.8 of the time of packing, so a snapshot
 *  takes a fifth longer (2 processes of one thread: packing with hash 2.7 instead of 4.8 GB/s, in
 *  total 1.35 instead of 1.65).
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

/** Collective (opens a port, determines failure domains). @param[in] forest borrowed @param[in] redundancy
 *  copied
 *  @return on all: ::GAB_ERR_ARGUMENT for numbers out of range, ::GAB_ERR_INPUT for an invalid file of
 *  domains */
gab_status gab_checkpoint_create(gab_forest *forest, const gab_redundancy *redundancy,
                                 gab_checkpoint **checkpoint);
void gab_checkpoint_destroy(gab_checkpoint **checkpoint);

/** Registers an entity; before the first snapshot, the same ones in the same order everywhere. Copies the
 *  table. @return ::GAB_ERR_ARGUMENT if the name is taken or a callback is missing */
gab_status gab_checkpoint_add_entity(gab_checkpoint *checkpoint, const gab_entity *entity);

/** Lossless compression of copies in transit and in memory. Own images are not compressed, so that their restore is
 *  fast, nor are parities. */
typedef enum gab_compression {
  GAB_COMPRESSION_NONE = 0,
  GAB_COMPRESSION_AUTO, /**< ::GAB_CODEC_LZ4 if a sample of each image indicates a gain */
  GAB_COMPRESSION_LZ4,
  GAB_COMPRESSION_ZSTD,
  GAB_COMPRESSION_COUNT
} gab_compression;
/** Sets the compression from the next snapshot on. Local; ranks may differ. Copies take their compressed size;
 *  during the transfer, and during adoption, sender and adopter hold one of them twice. @return ::GAB_ERR_ARGUMENT
 *  for a codec that this build lacks */
gab_status gab_checkpoint_set_compression(gab_checkpoint *checkpoint, gab_compression compression);

/** Transfer of an image to a holder on the same node, according to the failure domains, if the system allows shared
 *  memory (core/memory/shared_memory.h). Otherwise, and for compressed images, by messages. */
typedef enum gab_within_node {
  GAB_WITHIN_NODE_COPY = 0, /**< the holder copies it from shared memory: faster than a message */
  GAB_WITHIN_NODE_SHARE, /**< the holder stores no copy but maps the image, also after the death of its rank.
                                 Half of the memory and no transfer, but a flipped bit affects both */
  GAB_WITHIN_NODE_SEND,  /**< by messages */
  GAB_WITHIN_NODE_COUNT
} gab_within_node;
/** Sets the transfer from the next snapshot on. Local; ranks may differ: the rank chooses between
 *  offer and message, the holder between copy and share. @return ::GAB_ERR_ARGUMENT for an invalid
 *  value */
gab_status gab_checkpoint_set_within_node(gab_checkpoint *checkpoint, gab_within_node way);

/** Sets the number of buffers. With one, a new snapshot overwrites the previous one (section 5.2.3 of the paper):
 *  half of the memory, but after a fault during a checkpoint none is left, and gab_checkpoint_restore() returns
 *  ::GAB_ERR_LOST; strategy `disk` can continue. Before the first snapshot, the same on all. @param[in] buffers 1 or
 *  2 @return ::GAB_ERR_ARGUMENT, ::GAB_ERR_STATE */
gab_status gab_checkpoint_set_buffers(gab_checkpoint *checkpoint, int buffers);

/** Takes a snapshot of the present state and makes it the valid one. Collective. Enters
 *  ::GAB_FAULT_POINT_SNAPSHOT (three times: before packing, before sending, after
 *  arrival; with coded groups also per chunk), ::GAB_FAULT_POINT_COMMIT and
 *  ::GAB_FAULT_POINT_SWAP.
 *  @return ::GAB_ERR_FAULT after a fault: the previous snapshot is still valid */
gab_status gab_checkpoint_take(gab_checkpoint *checkpoint, gab_step step);

/** Begins a snapshot of the present state; copies are sent during the next steps. Waits for the own image only (with coded
 * schemes, for the parities too). The valid snapshot does not change; a fault before gab_checkpoint_complete() leads back
 * to it. Collective, but ranks synchronise only if the forest has changed since the last snapshot. Enters
 * ::GAB_FAULT_POINT_SNAPSHOT twice. @return ::GAB_ERR_STATE if one is in progress already */
gab_status gab_checkpoint_begin(gab_checkpoint *checkpoint, gab_step step);
/** Advances the transfers without waiting; call it often, e.g. between tasks. Local. @param[out] there the transfers
 *  of this rank are complete, or none is in progress */
gab_status gab_checkpoint_progress(gab_checkpoint *checkpoint, bool *there);
/** Waits for the rest, agrees, and makes the snapshot the valid one. Collective, at the same step on all. Enters
 *  ::GAB_FAULT_POINT_SNAPSHOT, ::GAB_FAULT_POINT_COMMIT and ::GAB_FAULT_POINT_SWAP. @return ::GAB_ERR_STATE if none is in progress */
gab_status gab_checkpoint_complete(gab_checkpoint *checkpoint);
/** Whether a snapshot is in progress; false again after a repair. */
bool gab_checkpoint_is_pending(const gab_checkpoint *checkpoint);

/** Verifies the valid snapshot, copies and parities included, and replaces data that has changed in memory. Collective.
 * @param[out] beyond true if some changed data has no intact replacement: take a new snapshot at once; the state itself is
 * not affected */
gab_status gab_checkpoint_scrub(gab_checkpoint *checkpoint, bool *beyond);

/** The placement of the valid snapshot; NULL before the first. Borrowed until the next one. */
const gab_placement *gab_checkpoint_placement(const gab_checkpoint *checkpoint);

/** Result of a restore. */
typedef struct gab_restore_report {
  gab_step step;         /**< of the snapshot that was restored */
  int32_t lost_ranks;    /**< ranks of that snapshot that are lost */
  uint64_t adopted;      /**< blocks of dead ranks adopted by this rank */
  double agree_seconds;  /**< agreement on the snapshot, replacement and reconstruction of images */
  double seconds;        /**< local verification and restore of blocks and entities */
  double verify_seconds; /**< part of it: hashing the required images */
  uint64_t approximated; /**< blocks of all ranks that gab_checkpoint_reconstruct() had to approximate */
} gab_restore_report;

/** Restores the newest snapshot that all survivors hold completely; blocks of dead ranks go to their restorers.
 *  Collective over live processes. With a scheme of copies and without changed images the restore needs no
 *  communication. Coded groups reconstruct the images of their dead members; images that do not match their hash are
 *  replaced from an intact copy or group. Enters ::GAB_FAULT_POINT_RECOVERY (before, after, and with each part of
 *  reconstructed images).
 *  @return ::GAB_ERR_LOST on all ranks, with ranks and blocks in the message, if too little is left of some rank, or
 *  if no common snapshot has an intact version of a changed image (the forest is then unchanged); ::GAB_ERR_FAULT
 *  after a fault: call it again after the next repair */
gab_status gab_checkpoint_restore(gab_checkpoint *checkpoint, gab_restore_report *report);

/** Restores without a death: each rank drops its state and continues as the rank whose first copy it stores, without
 * communication except the agreement that all copies are intact. For measurements and tests of copies (Kohl et al. 2017,
 * figure 8). Afterwards ranks have exchanged their parts, and the forest is that of the valid snapshot. Collective.
 * @param[out] report  adopted: blocks restored; lost_ranks is 0 @return ::GAB_ERR_STATE without a snapshot of exactly the
 * live ranks in a scheme of copies; ::GAB_ERR_CORRUPT on all, without changes, if a copy has changed in memory */
gab_status gab_checkpoint_restore_swapped(gab_checkpoint *checkpoint, gab_restore_report *report);

/** Cost of the snapshots of this process. */
typedef struct gab_checkpoint_stats {
  uint64_t taken;
  gab_step last_step;    /**< step of the valid snapshot, -1 if there is none */
  size_t image_bytes;    /**< own image, last snapshot */
  size_t copies_bytes;   /**< stored copies and parities, last snapshot */
  size_t copied_bytes;   /**< the same before compression */
  size_t metadata_bytes; /**< stored metadata images, last snapshot */
  size_t
      sent_bytes; /**< transferred to others, by messages or shared memory, last snapshot; without metadata images */
  size_t shared_bytes; /**< part of copies_bytes in the memory of other ranks */
  double ratio;        /**< compression ratio of the last snapshot; 1: not compressed */
  uint64_t replaced;   /**< replaced images, parities and entities that had changed in memory */
  double last_seconds; /**< time of the caller for the last snapshot: pack, exchange and commit */
  double total_seconds, pack_seconds, exchange_seconds, commit_seconds;
  double compress_seconds;   /**< part of exchange_seconds */
  uint64_t compressed_bytes; /**< bytes compressed in all snapshots */
} gab_checkpoint_stats;
gab_checkpoint_stats gab_checkpoint_get_stats(const gab_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif
#endif
