/* SPDX-License-Identifier: Apache-2.0 */
/* Recoveries in statistics, log and events. */
#include "resilience/loop/timeloop_impl.h"
#include "resilience/reports/events_impl.h"
#include "resilience/reports/history.h"

#include "core/base/log.h"
#include "core/memory/system_memory.h"

#include <stdio.h>
#include <stdlib.h>

void gab_recovery_note_fault(const gab_timeloop *loop)
{
  gab_json *event = gab_event_begin(loop->events, "fault noticed");
  gab_json_text(event, "phase", gab_fault_point_name(gab_world_fault_point(loop->world)));
  gab_event_end(loop->events, &event);
}

void gab_recovery_note_called(const gab_timeloop *loop)
{
  gab_json *event = gab_event_begin(loop->events, "called");
  gab_json_int(event, "process", gab_world_process(loop->world));
  gab_event_end(loop->events, &event);
}

/* The system ends a process that asks for more memory than the node has, and reports it nowhere else. At most two processes of
 * a node look, since one may be the process that died. */
void gab_recovery_suspect_memory(const gab_protection_state *protection)
{
  const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const gab_system_memory now = gab_system_memory_look();
  if (now.killed <= protection->killed || (local && strtol(local, NULL, 10) > 1)) return;
  gab_log_all(
      GAB_LOG_WARNING,
      "lack of memory is suspected: the system of this node has ended %" PRIu64
      " process%s of the control group of this run for it since the run began; this process holds %.1f MB, %.1f MB are free",
      now.killed - protection->killed, now.killed - protection->killed == 1 ? "" : "es",
      1e-6 * (double)gab_memory_now(GAB_MEMORY_USE_COUNT), 1e-6 * (double)now.available);
}

static void count(gab_timeloop *loop, const gab_fault *fault)
{
  gab_run_stats *stats = &loop->stats;
  if (stats->fault_count < GAB_MOST_FAULT_RECORDS) {
    gab_fault_record *record = &loop->records[stats->fault_count];
    record->fault = *fault;
    record->fault.lost = NULL;
    for (int32_t i = 0; i < fault->lost_count && i < GAB_MOST_LOST_RECORDS; i++)
      record->lost[i] = fault->lost[i];
  }
  stats->fault_count++;
  stats->lost_ranks += fault->lost_count;
  stats->recovery_seconds += fault->seconds;
  stats->rolled_back += fault->noticed_step - fault->restored_step;
}

static void log_recovery(gab_timeloop *loop, const gab_fault *fault)
{
  char lost[256], successors[96] = "";
  gab_fault_who(fault->lost, fault->lost_count, fault->lost_count, lost, sizeof lost);
  if (fault->returned > 0)
    snprintf(successors, sizeof successors, ", %s took over%s",
             gab_history_who_took_over(fault->returned, fault->respawned),
             fault->returned < fault->lost_count ? " as far as there were any" : "");
  gab_log(GAB_LOG_WARNING,
          "%s%s%s; back from step %" GAB_PRI_STEP " to step %" GAB_PRI_STEP
          ", continuing with %d of %d ranks after %.3f s (%d round%s: revoke %.4f, shrink %.4f,"
          " agree %.4f, restore %.4f, protect again %.4f, rebalance %.4f s)",
          lost, fault->lost_count == 0 ? " died, but communicators were revoked" : " died", successors,
          fault->noticed_step, fault->restored_step, gab_members_count(gab_world_members(loop->world)),
          gab_world_members(loop->world)->ranks, fault->seconds, fault->rounds, fault->rounds == 1 ? "" : "s",
          fault->revoke, fault->shrink, fault->agree, fault->restore, fault->reprotect, fault->rebalance);
  if (!gab_world_is_root(loop->world)) return;
  gab_json *event = gab_event_begin(loop->events, "recovery");
  gab_fault_to_json(event, fault, fault->lost, fault->lost_count);
  gab_event_end(loop->events, &event);
}

/* Takeovers of local recovery were reported one by one (local_settle.c). A recovery without a death was asked for by a
 * monitor, which reports it itself (monitors.c). */
void gab_recovery_report(gab_timeloop *loop, const gab_fault *fault)
{
  if (fault->suspect && fault->lost_count == 0) {
    loop->stats.rolled_back += fault->noticed_step - fault->restored_step;
    loop->stats.recovery_seconds += fault->seconds;
  } else if (fault->is_local) {
    loop->stats.recovery_seconds += fault->seconds;
  } else {
    count(loop, fault);
    log_recovery(loop, fault);
  }
  loop->recent_step = loop->step;
  loop->recent_time = gab_seconds();
  if (loop->on_fault && !fault->is_local) loop->on_fault(loop->on_fault_user, fault);
}
