/* SPDX-License-Identifier: Apache-2.0 */
/* Stopping before a time limit: time and end of the run. */
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/disk/disk_impl.h"

static double time_to_stop(const gab_protection_state *protection)
{
  double reserve = gab_checkpoint_get_stats(protection->checkpoint).last_seconds;
  if (protection->disk) reserve += gab_disk_get_stats(protection->disk).last_seconds;
  return reserve;
}

gab_status gab_protection_stop_now(gab_timeloop *loop, gab_stop_reason reason)
{
  gab_log(GAB_LOG_INFO, "stopping at step %" GAB_PRI_STEP ": %s", loop->step, gab_stop_text(reason));
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "stop");
    gab_json_text(event, "reason", gab_stop_text(reason));
    gab_event_end(loop->events, &event);
  }
  bool safe;
  GAB_TRY(gab_protection_disk_now(loop, &safe));
  if (safe)
    GAB_FAIL(GAB_ERR_REQUEUE, "stopped at step %" GAB_PRI_STEP " because %s: run the same command to resume",
             loop->step, gab_stop_text(reason));
  GAB_FAIL(GAB_ERR_ENDED,
           "stopped at step %" GAB_PRI_STEP
           " because %s, without a checkpoint on disk: the same command starts from step 0",
           loop->step, gab_stop_text(reason));
}

gab_status gab_protection_stop(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  if (!protection || gab_loop_is_over(loop)) return GAB_OK;
  gab_stop_reason reason;
  GAB_TRY(gab_stop_ask(protection->stop, loop->step, gab_protection_step_seconds(loop),
                       time_to_stop(protection), &reason));
  return reason == GAB_STOP_NOT ? GAB_OK : gab_protection_stop_now(loop, reason);
}

/* A later request is answered at the next checkpoint and executed at the one after. */
double gab_protection_time_to_stop_later(const gab_timeloop *loop)
{
  return time_to_stop(loop->protection) +
         2 * (double)loop->protection->memory.every.steps * gab_protection_step_seconds(loop);
}
