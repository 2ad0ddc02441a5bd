/* SPDX-License-Identifier: Apache-2.0 */
/** @file history.h
 *  @brief What OUT/events.jsonl says about the jobs before this one.
 *
 *  A run may go on over many jobs. One that dies in every job on the way to its next checkpoint would be
 * continued for ever; within a job resilience.tries is an end to that, and gab_history_read() is what it
 * takes across jobs.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_HISTORY_H
#define GABION_RESILIENCE_HISTORY_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_history {
  uint64_t starts;        /**< of jobs, restarts by the launcher included */
  uint64_t relaunches;    /**< starts by the launcher after the first one of its own */
  uint64_t continuations; /**< starts that went on from a checkpoint */
  gab_step from;          /**< where the last of them began; -1: there was none */
  uint64_t deaths; /**< jobs in a row that went on from there and died before they got any further: that ended
                        without a word, or by a failure, with no checkpoint on disk behind them. Jobs that
                        were told to stop do not count */
  gab_step disk_checkpoint; /**< the last one that was written; -1: none */
  uint64_t
      losses; /**< jobs that ended without a word, or because more was lost than memory could bring back: what
                        checkpoints on disk are for */
  double seconds; /**< that all jobs together ran for, from their first line to their last one */
} gab_history;

/** Reads the events of the run in `folder`. Local; no file is an empty history. Lines that are cut, because
 * their writer was killed, are passed over. */
void gab_history_read(const char *folder, gab_history *history);

/** In words which process runs the ranks of a recovery that came back: `returned` of them, `respawned` of these by
 *  processes that were started for it. @return text that stays */
const char *gab_history_who_took_over(int32_t returned, int32_t respawned);

#ifdef __cplusplus
}
#endif
#endif
