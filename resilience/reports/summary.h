/* SPDX-License-Identifier: Apache-2.0 */
/** @file summary.h
 *  @brief OUT/summary.json and the last lines of the log: faults, recoveries, times and memory.
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_SUMMARY_H
#define GABION_RESILIENCE_SUMMARY_H

#include "core/base/text/json.h"
#include "resilience/loop/timeloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds that the ranks spent in one named part of a run. */
typedef struct gab_timing {
  char name[GAB_TIMER_NAME_CAPACITY];
  double min, mean, max; /**< over live ranks */
} gab_timing;

enum { GAB_MOST_TIMINGS = 48 };

/** Results of the whole run, gathered over the ranks; equal on all. */
typedef struct gab_summary {
  gab_run_stats stats;         /**< of the root */
  uint64_t checksum;           /**< gab_forest_checksum() of the final state */
  uint64_t blocks;             /**< of all ranks */
  int32_t ranks, living;       /**< at the start, at present */
  int32_t spares, spares_left; /**< spare processes: at the start, known at present */
  int threads;                 /**< per process */
  uint64_t memory_peak;        /**< maximum over ranks of the peak, in bytes */
  uint64_t memory_now;         /**< maximum over ranks at present, in bytes */
  uint64_t memory_resident;    /**< maximum over processes of the peak of resident memory, in bytes */
  uint64_t memory_field, memory_snapshot; /**< at present, sums over all ranks */
  gab_timing timings[GAB_MOST_TIMINGS];   /**< those of gab_timeloop_timers(), in order of names */
  size_t timing_count;
} gab_summary;

/** Collective. */
gab_status gab_summary_gather(gab_timeloop *loop, gab_summary *summary);

/** Additions of an application to summary.json. */
typedef struct gab_summary_extra {
  void (*put)(void *user, gab_json *json); /**< writes the members; NULL: none */
  void *user;
} gab_summary_extra;

/** Writes FOLDER/summary.json, whole or not at all. Root only; others return at once. Local.
 *  @param[in] status of the end of the run; unless GAB_OK, gab_error_message() is written as the reason. After
 *  ::GAB_ERR_LOST no checksum is written, since the state is incomplete */
gab_status gab_summary_write(const gab_summary *summary, gab_timeloop *loop, gab_status status,
                             const char *folder, gab_summary_extra extra);

/** Logs the same in a few lines. */
void gab_summary_log(const gab_summary *summary, gab_timeloop *loop, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
