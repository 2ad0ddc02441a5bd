/* SPDX-License-Identifier: Apache-2.0 */
/** @file disk.h
 *  @brief The second level below checkpoints in memory: now and then a snapshot goes to files.
 *
 *  What is written is the own image of each rank of the committed memory snapshot, so the run does not stop
 *  for it: the images leave in chunks while the next steps are computed. The members of a snapshot are cut
 *  into *aggregation groups*; the lowest rank of a group, its aggregator, makes one HDF5 file of the images
 * of all (doc/checkpoint-format.md). Everything that waits for a disk is done by one thread of each process,
 *  which never talks to others. When the files of all groups lie on the disk under their names, the root
 *  writes the manifest that makes them a checkpoint, and only then are older ones removed: at every instant
 *  the previous one is whole. A file is written under another name, flushed to the disk (fsync), renamed, and
 *  the folder flushed.
 *
 *  Memory beside the snapshot (counted): 4 MiB in each rank to send from; in an aggregator twice that to
 *  receive into; 40 bytes for each own block. The image must not change until it has been sent and written:
 * if a second memory checkpoint comes before that, the first one's buffer is handed over to the writer and
 * the checkpoint gets another one, so that in this case, and until the write is over, one more image is held.
 *
 *  A write that fails (disk full, no permission, an image that has changed in memory) does not end the run: it is reported, what it left is
 * removed, and the next one is tried when it is due. A write during which a process dies is given up, and
 * begun again after the recovery from the snapshot that was taken there.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_DISK_H
#define GABION_RESILIENCE_DISK_H

#include "resilience/checkpoint/checkpoint.h"
#include "resilience/recovery/fence.h"
#include "resilience/reports/events.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GAB_DISK_GROUP = 64,     /**< ranks of a group if nothing else is said */
  GAB_DISK_KEEP = 2,       /**< checkpoints that are kept */
  GAB_DISK_CHUNK = 4 << 20 /**< bytes of an image that travel at once */
};

typedef struct gab_disk gab_disk;

/** All strings are copied. */
typedef struct gab_disk_options {
  const char *folder;     /**< of checkpoints, e.g. OUT/checkpoints; made when the first one is written */
  int group;              /**< ranks of an aggregation group; 0: ::GAB_DISK_GROUP */
  int keep;               /**< the newest so many are kept; 0: ::GAB_DISK_KEEP */
  const char *state;      /**< parameters that the state depends on, sorted lines "key = value"; NULL: none */
  const char *parameters; /**< all of them; NULL: none */
} gab_disk_options;

/** What writing has cost so far, of this process. */
typedef struct gab_disk_stats {
  uint64_t begun;          /**< writes that were begun */
  uint64_t written;        /**< complete with manifest; known to the root only, as all below but the last */
  uint64_t failed;         /**< not complete because the disk refused */
  gab_step last_step;      /**< of the newest complete one; -1: none */
  uint64_t last_bytes;     /**< in its files */
  double last_seconds;     /**< from beginning to manifest */
  double blocking_seconds; /**< that the step loop spent on writing, in all: in this process */
  double waiting_seconds;  /**< in gab_disk_wait() beside that: at the end of a run */
} gab_disk_stats;

#ifdef __cplusplus
}
#endif
#endif
