/* SPDX-License-Identifier: Apache-2.0 */
/** @file restart.h
 * @brief Restore from a checkpoint on disk: at the start of a run that resumes another one, on any number of processes, and
 * in a run that has lost its state in memory.
 *
 * Member number i of n in the checkpoint is assigned to present member floor(i m / n) of m: a pure function, which also
 * translates neighbour tables without communication. With more processes than before, some start without blocks. A rank
 * unpacks the first image assigned to it and adopts the others, as after a death; the application then rebalances the
 * blocks.
 *
 * All data is verified by its hashes before the state changes. An incomplete checkpoint is reported, and the previous one
 * is used. A damaged one is renamed to unusable_STEP; one that cannot be opened or read now is kept.
 *
 * Stability: extender. */
#ifndef GABION_RESILIENCE_RESTART_H
#define GABION_RESILIENCE_RESTART_H

#include "core/base/hash.h"
#include "resilience/checkpoint/checkpoint.h"
#include "resilience/disk/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Checkpoints found in a folder, newest first; the same on all ranks. */
typedef struct gab_restart gab_restart;

/** Searches a folder. Collective; the root reads the manifests, and warns of folders that are not checkpoints. @param[in]
 * folder  OUT/checkpoints; need not exist @param[in] clean remove files of interrupted writes and removals: not during a
 * write @param[out] restart  owned by the caller */
gab_status gab_restart_find(gab_world *world, const char *folder, bool clean, gab_restart **restart);
void gab_restart_destroy(gab_restart **restart);
/** Number of checkpoints found. */
size_t gab_restart_count(const gab_restart *restart);
/** Whether a run may begin at step 0: GAB_OK if a checkpoint was found, or if there was none. Pure; the same on all ranks.
 * @return ::GAB_ERR_IO if there are checkpoints (some may have been set aside as damaged) and none can be used: the message
 * names a file, the reason, and the remedy */
gab_status gab_restart_check_none(const gab_restart *restart);
/** @return number `index`, newest first; borrowed */
const gab_manifest *gab_restart_manifest(const gab_restart *restart, size_t index);

typedef struct gab_restart_report {
  gab_step step;
  int32_t members; /**< of the run that wrote it */
  uint64_t images; /**< assigned to this rank */
  uint64_t bytes;  /**< bytes read of these */
  double seconds;
} gab_restart_report;

/** Loads the blocks of one checkpoint, without entities, on a forest of the same domain and kinds of data: for a run that
 * reads the state of another one. The folder is not changed, and no other checkpoint is tried. Collective. @param[in] index
 * see gab_restart_manifest() @return ::GAB_ERR_CORRUPT, ::GAB_ERR_IO or ::GAB_ERR_MEMORY on all if some rank cannot read it
 */
gab_status gab_restart_load_forest(const gab_restart *restart, size_t index, gab_forest *forest,
                                   gab_restart_report *report);

/** Adds the manifest, as the identity of the checkpoint of a step, to a hash. No effect if there is none. Local. @param[in]
 * folder  OUT/checkpoints; need not exist @param[in] step  -1: the newest complete one */
gab_status gab_restart_hash(const char *folder, gab_step step, gab_hash64_stream *hash);

/** Removes all checkpoints of a folder, including those set aside. Local: for the root of a run that starts at step 0.
 * @return ::GAB_ERR_IO with the name of a file that could not be removed */
gab_status gab_restart_remove_all(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
