/* SPDX-License-Identifier: Apache-2.0 */
/** @file disk.h
 * @brief Second level of checkpoints, below those in memory: snapshots are written to files at intervals.
 *
 * The own image of each rank in the committed memory snapshot is written without stopping the run: images are sent in
 * chunks during the next steps. The members of a snapshot are divided into *aggregation groups*; the lowest rank of a
 * group, its aggregator, writes one HDF5 file with the images of all (doc/checkpoint-format.md). One thread of each process
 * does all work that waits for a disk; it does not communicate. When the files of all groups are complete, the root writes
 * the manifest, which makes them a checkpoint, and only then older ones are removed: so the previous checkpoint is complete
 * at all times. A file is written under a temporary name, flushed to the disk (fsync) and renamed; then the folder is
 * flushed.
 *
 * Memory in addition to the snapshot (counted): 4 MiB per rank for sending; twice that on an aggregator for receiving; 40
 * bytes per own block. The image must not change until it has been sent and written: if the second memory checkpoint after
 * it begins before that, the writer takes over its buffer and the checkpoint gets another one. In this case one more image
 * is in memory until the end of the write.
 *
 * A write that fails (disk full, no permission, an image that has changed in memory) does not end the run: it is reported,
 * its files are removed, and the next write is attempted when due. A write interrupted by a death is abandoned, and begun
 * again after the recovery from the snapshot taken there.
 *
 * Stability: extender. */
#ifndef GABION_RESILIENCE_DISK_H
#define GABION_RESILIENCE_DISK_H

#include "resilience/checkpoint/checkpoint.h"
#include "resilience/recovery/fence.h"
#include "resilience/reports/events.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GAB_DISK_GROUP = 64,     /**< default number of ranks per group */
  GAB_DISK_KEEP = 2,       /**< number of kept checkpoints */
  GAB_DISK_CHUNK = 4 << 20 /**< bytes of an image that are sent at once */
};

typedef struct gab_disk gab_disk;

/** All strings are copied. */
typedef struct gab_disk_options {
  const char *folder;     /**< of checkpoints, e.g. OUT/checkpoints; created with the first one */
  int group;              /**< ranks of an aggregation group; 0: ::GAB_DISK_GROUP */
  int keep;               /**< number of newest checkpoints to keep; 0: ::GAB_DISK_KEEP */
  const char *state;      /**< parameters that the state depends on, sorted lines "key = value"; NULL: none */
  const char *parameters; /**< all of them; NULL: none */
} gab_disk_options;

/** Cost of writing so far, on this process. */
typedef struct gab_disk_stats {
  uint64_t begun;          /**< writes begun */
  uint64_t written;        /**< complete with manifest; known to the root only, like all below except the last
                            * two */
  uint64_t failed;         /**< incomplete because of a disk error */
  gab_step last_step;      /**< of the newest complete one; -1: none */
  uint64_t last_bytes;     /**< in its files */
  double last_seconds;     /**< from beginning to manifest */
  double blocking_seconds; /**< total time of the step loop for writing, on this process */
  double waiting_seconds;  /**< in addition in gab_disk_wait(): at the end of a run */
} gab_disk_stats;

#ifdef __cplusplus
}
#endif
#endif
