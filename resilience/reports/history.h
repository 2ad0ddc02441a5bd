/* SPDX-License-Identifier: Apache-2.0 */
/** @file history.h
 *  @brief History of earlier jobs, read from OUT/events.jsonl.
 *
 *  A run may continue over many jobs. If each job dies before its next
 *  checkpoint, the run would be restarted without end. Within a job
 *  resilience.tries limits that; gab_history_read() gives the counts for a limit
 *  across jobs.
 *
 *  Stability: internal. */
#ifndef GABION_RESILIENCE_HISTORY_H
#define GABION_RESILIENCE_HISTORY_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_history {
  uint64_t starts;        /**< of jobs, restarts by the launcher included */
  uint64_t relaunches;    /**< restarts by the launcher */
  uint64_t continuations; /**< starts from a checkpoint */
  gab_step from;          /**< where the last of them began; -1: there was none */
  /** jobs in a row that resumed from there and made no progress: they ended without a final event, or by a failure,
   *  without a later checkpoint on disk. Jobs that were asked to stop do not count */
  uint64_t deaths;
  gab_step disk_checkpoint; /**< the last one that was written; -1: none */
  /** jobs that ended without a final event, or by a loss beyond the copies in memory: failures for the interval on
   *  disk */
  uint64_t losses;
  double seconds; /**< run time of all jobs, each from its first to its last event */
} gab_history;

/** Reads the events of the run in `folder`. Local; no file is an empty history. Lines that are cut, because their writer
 *  was killed, are ignored. */
void gab_history_read(const char *folder, gab_history *history);

/** Text for reports: which kind of process runs the `returned` ranks of a recovery, `respawned` of which have a respawned
 *  process. @return a static string */
const char *gab_history_who_took_over(int32_t returned, int32_t respawned);

#ifdef __cplusplus
}
#endif
#endif
