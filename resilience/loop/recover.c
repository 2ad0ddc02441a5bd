/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery of a time loop after a fault: rounds until one succeeds, or the reason why the run ends. */
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/loop/timeloop_impl.h"
#include "resilience/reports/history.h"

#include "core/base/log.h"
#include "core/memory/system_memory.h"
#include "core/messages/logged/message_logger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void remember(gab_timeloop *loop, const gab_fault *fault)
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

/* Whoever asks for more memory than a node has is ended by its system, and nobody says so. At most two processes of a
 * node look: one may be the one that died. */
static void suspect_memory(const gab_protection_state *protection)
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

/* Without protection nothing can be restored, but all have to end together. */
static gab_status end_unprotected(gab_timeloop *loop, gab_status why)
{
  gab_status abort_request;
  if (why != GAB_ERR_FAULT) gab_world_raise(loop->world, why);
  GAB_TRY(gab_world_repair(loop->world, &abort_request));
  if (abort_request == GAB_ERR_SUSPECT) {
    char words[1024];
    snprintf(words, sizeof words, "%s", gab_error_message());
    GAB_FAIL(GAB_ERR_DIVERGED, "%s; the time loop is not protected: there is nothing to go back to", words);
  }
  if (abort_request != GAB_OK) return abort_request;
  GAB_FAIL(GAB_ERR_LOST, "a process died, and the time loop is not protected");
}

static gab_status recover_once(gab_timeloop *loop, const gab_status *called, gab_fault *fault,
                               gab_rank **lost)
{
  gab_protection_state *protection = loop->protection;
  if (called) {
    gab_json *event = gab_event_begin(loop->events, "called");
    gab_json_int(event, "process", gab_world_process(loop->world));
    gab_event_end(loop->events, &event);
  } else if (!gab_local_gathers(loop)) {
    gab_note_fault(loop->events, loop->world);
  }
  if (protection->local) gab_local_note_claim(protection->local);
  const gab_status status = gab_recover(&protection->recovery, protection->strategies,
                                        protection->strategy_count, called, lost, fault);
  if (fault->lost_count > 0 || status == GAB_ERR_LOST) suspect_memory(protection);
  GAB_TRY(status);
  gab_run_lock_follow(loop->lock);
  gab_world_set_step(loop->world, loop->step);
  protection->past_losses += fault->from_disk;
  gab_timer_add(loop->timers, loop->recovery_timer, fault->seconds);
  loop->monitored = -1;
  const bool gathered = fault->is_local; /* each fault was told of by itself */
  if (fault->suspect && fault->lost_count == 0)
    loop->stats.rolled_back += fault->noticed_step - fault->restored_step;
  else if (!gathered) remember(loop, fault);
  if (gathered || (fault->suspect && fault->lost_count == 0)) loop->stats.recovery_seconds += fault->seconds;
  else log_recovery(loop, fault);
  loop->recent_step = loop->step;
  loop->recent_time = gab_seconds();
  if (loop->on_fault && !gathered) loop->on_fault(loop->on_fault_user, fault);
  return GAB_OK;
}

/* Deaths that come again and again before the next checkpoint are no accident; a task that claims a fault in
 * a whole world would be repeated for ever. */
static gab_status check_progress(gab_protection_state *protection, const gab_fault *fault)
{
  if (fault->restored_step > protection->furthest) {
    protection->tries = 0;
    protection->furthest = fault->restored_step;
  }
  if (fault->lost_count > 0 && ++protection->tries > protection->most_tries)
    GAB_FAIL(GAB_ERR_ENDED,
             "processes died %d times in a row on the way from step %" GAB_PRI_STEP
             " to the next checkpoint: giving up (resilience.tries; a shorter resilience.memory.every helps "
             "if the "
             "deaths are independent)",
             protection->tries, fault->restored_step);
  protection->barren = fault->lost_count > 0 ? 0 : protection->barren + 1;
  if (protection->barren <= GAB_MOST_BARREN_RECOVERIES) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE, "%d recoveries in a row from step %" GAB_PRI_STEP " without a death",
           protection->barren, fault->noticed_step);
}

gab_status gab_timeloop_go_back(gab_timeloop *loop, gab_step *step)
{
  *step = -1;
  if (!loop->protection || gab_checkpoint_get_stats(loop->protection->checkpoint).last_step < 0)
    return GAB_OK;
  const gab_step end = loop->step;
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(loop->protection->checkpoint, &restored));
  loop->step = end; /* the run has ended there */
  *step = restored.step;
  return GAB_OK;
}

/* Before the first snapshot of this job nothing has been computed that could be lost; what an earlier job left, the next
 * one will find again. Where only replacement processes are left nobody knows whether there was a snapshot: there is
 * nothing to go on from but what the next job finds. Equal on all: whether somebody had a snapshot is what the
 * recovery asked them, and what who was called by the last repair has been told. */
static bool may_start_again(const gab_protection_state *protection)
{
  return gab_checkpoint_get_stats(protection->checkpoint).taken == 0;
}

/* @return GAB_ERR_AGAIN, with what is lost by it */
static gab_status start_again(const gab_protection_state *protection)
{
  const bool in_memory = protection->node_memory[0] != '\0';
  if (protection->checkpoint->all_are_new)
    GAB_FAIL(
        GAB_ERR_AGAIN,
        "all processes died that may have held a checkpoint, and those that took over from them hold none: %s",
        in_memory ? "the state in node memory is kept"
                  : "what was computed since the last checkpoint on disk, or since the beginning, is lost");
  if (in_memory)
    GAB_FAIL(GAB_ERR_AGAIN,
             "a process died before this job had a snapshot of its own: the state in node memory "
             "is kept");
  GAB_FAIL(GAB_ERR_AGAIN, "a process died before the first checkpoint was complete: nothing is lost");
}

gab_status gab_protection_recover(gab_timeloop *loop, gab_status why, const gab_status *called)
{
  bool alone = false;
  if (!loop->protection) return end_unprotected(loop, why);
  if (!called && why == GAB_ERR_FAULT) GAB_TRY(gab_local_go_back(loop, &alone));
  if (alone) return GAB_OK;
  gab_rank *lost = NULL;
  gab_status status = why;
  bool interrupted = false;
  do {
    gab_fault fault = {.noticed_step = loop->step};
    const bool complained = status == GAB_ERR_SUSPECT;
    if (!called && status != GAB_ERR_FAULT) gab_world_raise(loop->world, status);
    if (loop->protection->disk && gab_disk_abandon(loop->protection->disk)) interrupted = true;
    loop->protection->overlap.from = -1; /* what was under way went with the fault */
    status = recover_once(loop, called, &fault, &lost);
    called = NULL;
    if (status != GAB_OK) break;
    gab_stop_restart(loop->protection->stop, loop->step);
    status = check_progress(loop->protection, &fault);
    if (status == GAB_OK && fault.suspect) status = gab_monitors_judge(loop, &fault, complained);
    if (status == GAB_OK) status = gab_protection_disk_again(loop, interrupted);
    if (status == GAB_OK) status = gab_protection_set_clocks(loop);
  } while (status != GAB_OK);
  gab_free(&lost);
  /* A recovery that went through ended with a snapshot of this job. */
  if (status == GAB_OK) gab_node_restart_destroy(&loop->protection->node_restart, true);
  if (status != GAB_ERR_LOST || !may_start_again(loop->protection)) return status;
  return start_again(loop->protection);
}
