/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a run so far. */
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"
#include "resilience/disk/disk_impl.h"

gab_run_stats gab_timeloop_get_stats(const gab_timeloop *loop)
{
  gab_run_stats stats = loop->stats;
  stats.faults = loop->records;
  stats.fault_record_count =
      stats.fault_count < GAB_MOST_FAULT_RECORDS ? stats.fault_count : GAB_MOST_FAULT_RECORDS;
  stats.seconds = gab_seconds() - loop->started;
  stats.approximated = loop->approximated;
  stats.checkpoint.last_step = -1;
  stats.disk.last_step = -1;
  if (!loop->protection) return stats;
  stats.checkpoint = gab_checkpoint_get_stats(loop->protection->checkpoint);
  if (loop->protection->disk) stats.disk = gab_disk_get_stats(loop->protection->disk);
  return stats;
}

double gab_protection_step_seconds(const gab_timeloop *loop)
{
  const gab_run_stats *stats = &loop->stats;
  return stats->steps_computed ? (stats->step_seconds + stats->action_seconds) / (double)stats->steps_computed
                               : 0;
}
