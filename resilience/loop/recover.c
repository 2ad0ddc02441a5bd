/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery of a time loop after a fault: from a death to the next step.
 *
 * One round of a recovery consists of these phases. All live processes run them in this order; a spare that the repair
 * assigned joins after `rebuild'.
 *
 *   rebuild     revoke the communicators, meet, shrink, exchange notes, fill vacant ranks, agree (core/world/repair.c)
 *   settle      images of local recovery become snapshots (resilience/loop/local_recovery_impl.h)
 *   end         an abort request that came with the repair ends the run on all processes
 *   inform      replacement processes learn of the fault and of the snapshots (resilience/checkpoint/replacements.c)
 *   identify    which ranks are lost, and which of them returned
 *   restore     the first strategy of the list that can restores the state (resilience/recovery/strategies.c); if the run can be
 *               cut in parts, this part takes the next fencing token (resilience/recovery/fence.c)
 *   reprotect   a checkpoint of the restored state (resilience/checkpoint/checkpoint.c)
 *   rebalance   blocks of lost ranks are distributed, and another checkpoint is taken
 *
 * A death in any phase starts the next round. An error of one rank (no memory, a corrupt copy) is raised, so that the next
 * repair ends the run on all processes with one status. After a round that succeeded the loop resumes (resume()). */
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "core/messages/logged/message_logger.h"
#include "resilience/reports/events_impl.h"
#include "resilience/recovery/fence_impl.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/run_folder/run_lock_impl.h"

#include <stdio.h>

typedef struct round_state {
  gab_timeloop *loop;
  gab_protection_state *protection;
  gab_world *world;
  gab_checkpoint *checkpoint;
  const gab_status
      *called;        /* on an assigned spare: abort request of the repair, until it has joined; else NULL */
  bool is_new;        /* this process was assigned a rank, or took one under local recovery */
  double since;       /* seconds: when the fault was noticed */
  gab_members before; /* the members before the fault */
  gab_rank **lost;    /* memory of fault->lost */
  gab_fault *fault;
  gab_status abort_request; /* of the last repair, except alarms of monitors */
  gab_status settled;       /* result of phase `settle' */
  bool is_over;             /* the run ends with the status of the last phase */
  bool has_token;           /* the next fencing token was taken in this round */
  char words[1024];         /* message of a monitor */
} round_state;

/* ---------------------------------------------------------------- rebuild */

static void note_abort_request(round_state *round, gab_status abort_request)
{
  round->abort_request = abort_request == GAB_ERR_SUSPECT ? GAB_OK : abort_request;
  if (abort_request != GAB_ERR_SUSPECT) return;
  round->fault->suspect = true;
  snprintf(round->words, sizeof round->words, "%s", gab_error_message());
  gab_log(GAB_LOG_WARNING, "%s", round->words); /* even if this round fails */
}

static gab_status rebuild(round_state *round)
{
  gab_status abort_request = GAB_OK;
  round->has_token = false;
  if (round->called) {
    abort_request = *round->called;
    round->called = NULL;
    round->fault->rounds++;
  } else {
    /* The caller noted the fault of the first round. The phase of each process determines its possible snapshots. */
    if (round->fault->rounds++ > 0) gab_recovery_note_fault(round->loop);
    round->is_over = true;
    GAB_TRY(gab_world_repair(round->world, &abort_request));
    round->is_over = false;
  }
  note_abort_request(round, abort_request);
  const gab_repair_times times = gab_world_repair_times(round->world);
  round->fault->revoke = times.revoke;
  round->fault->shrink = times.shrink;
  round->fault->agree = times.agree;
  return GAB_OK;
}

/* ---------------------------------------------------------------- settle */

/* Before an abort request ends the run, too: the application may want the last checkpoint (gab_timeloop_go_back()). */
static gab_status settle(round_state *round)
{
  const gab_local_recovery *local = gab_loop_local(round->loop);
  round->settled = GAB_OK;
  if (local && round->abort_request != GAB_ERR_LOST)
    round->settled = local->after_repair(round->loop, &round->before);
  return GAB_OK;
}

/* ---------------------------------------------------------------- inform */

static gab_status pack_account(round_state *round, gab_buffer *out)
{
  const gab_fault *fault = round->fault;
  GAB_TRY(gab_members_pack(&round->before, out));
  GAB_TRY(gab_put_i64(out, fault->noticed_step));
  GAB_TRY(gab_put_i32(out, fault->rounds));
  GAB_TRY(gab_put_u8(out, fault->suspect));
  GAB_TRY(gab_put_f64(out, gab_seconds() - round->since));
  return gab_protection_pack_history(round->loop, out);
}

static gab_status unpack_account(round_state *round, gab_reader in)
{
  gab_fault *fault = round->fault;
  double age;
  int64_t noticed;
  int32_t rounds;
  uint8_t suspect;
  GAB_TRY(gab_members_unpack(&round->before, &in));
  GAB_TRY(gab_get_i64(&in, &noticed));
  GAB_TRY(gab_get_i32(&in, &rounds));
  GAB_TRY(gab_get_u8(&in, &suspect));
  GAB_TRY(gab_get_f64(&in, &age));
  round->since = gab_seconds() - age;
  fault->noticed_step = noticed;
  fault->rounds = rounds;
  fault->suspect = suspect != 0;
  return gab_protection_unpack_history(round->loop, &in);
}

/* The donor informs replacement processes before the restore. In each round, since each repair can assign a spare. */
static gab_status inform(round_state *round)
{
  gab_checkpoint *checkpoint = round->checkpoint;
  gab_buffer account;
  if (!gab_replacements_possible(checkpoint)) return GAB_OK;
  GAB_TRY(gab_replacements_find_donor(checkpoint));
  if (checkpoint->all_are_new) gab_fence_leave_to_active(round->protection->fence);
  const bool is_donor = gab_world_rank(round->world) == checkpoint->donor;
  gab_buffer_init(&account, GAB_MEMORY_OTHER);
  gab_status status = is_donor ? pack_account(round, &account) : GAB_OK;
  if (status == GAB_OK) status = gab_world_broadcast(round->world, checkpoint->donor, &account);
  if (status == GAB_OK && round->is_new && !is_donor)
    status = unpack_account(round, gab_reader_of_buffer(&account));
  gab_buffer_release(&account);
  return status;
}

/* ---------------------------------------------------------------- end */

/* The end of a run depends on existing snapshots, so replacement processes are informed first. All agree before any
 * process leaves; an earlier death starts the next round, whose repair delivers the request again. */
static gab_status end(round_state *round)
{
  uint32_t flags = 0;
  char message[2304];
  const gab_status abort_request = round->abort_request;
  if (abort_request == GAB_OK) return round->settled;
  round->is_over = true;
  if (!gab_replacements_possible(round->checkpoint)) return abort_request;
  snprintf(message, sizeof message, "%s", gab_error_message());
  gab_status status = inform(round);
  round->checkpoint->donor = GAB_NO_RANK;
  if (status == GAB_OK) status = gab_world_agree(round->world, &flags);
  if (status == GAB_OK || status == GAB_ERR_FAULT)
    (void)gab_error_set(abort_request, __FILE__, __LINE__, "%s", message);
  if (status == GAB_OK) return abort_request;
  gab_world_raise(round->world, status == GAB_ERR_FAULT ? abort_request : status);
  round->is_over = false;
  return GAB_ERR_FAULT;
}

/* ---------------------------------------------------------------- identify */

/* Lost are members before the fault that are no longer members, or returned in a later incarnation. */
static gab_status identify(round_state *round)
{
  gab_fault *fault = round->fault;
  const gab_members *now = gab_world_members(round->world);
  const gab_process first_respawned = gab_world_first_processes(round->world);
  gab_members survivors = {0};
  GAB_TRY(gab_members_survivors(&round->before, now, &survivors));
  gab_status status = GAB_RESIZE_ARRAY(round->lost, (size_t)survivors.gone_count + 1, GAB_MEMORY_OTHER);
  fault->lost_count = fault->returned = fault->respawned = 0;
  fault->incarnation = 0;
  for (int32_t i = 0; i < survivors.gone_count && status == GAB_OK; i++) {
    const gab_rank rank = survivors.gone[i];
    if (!gab_members_has(&round->before, rank)) continue;
    (*round->lost)[fault->lost_count++] = rank;
    const bool returned = gab_members_has(now, rank);
    const gab_incarnation incarnation = gab_members_incarnation(now, rank);
    fault->returned += returned;
    if (returned && incarnation > fault->incarnation) fault->incarnation = incarnation;
    fault->respawned += gab_members_process(now, rank) >= first_respawned;
  }
  fault->lost = *round->lost;
  gab_members_release(&survivors);
  return status;
}

/* ---------------------------------------------------------------- restore */

static gab_status restore_by_strategies(round_state *round)
{
  gab_protection_state *protection = round->protection;
  gab_fault *fault = round->fault;
  gab_status status = GAB_ERR_LOST;
  gab_error_clear();
  fault->approximated = 0;
  fault->from_disk = false;
  for (int i = 0; i < protection->strategy_count && status == GAB_ERR_LOST; i++) {
    fault->strategy = protection->strategies[i]->name;
    fault->is_local = protection->strategies[i]->local != NULL;
    status = protection->strategies[i]->restore(&protection->recovery, fault);
  }
  return status;
}

/* Called when the snapshot is known, before entities are restored: these may truncate files, which only the
 * continuing part of the run may do. */
static gab_status take_token(void *user)
{
  round_state *round = user;
  if (round->has_token) return GAB_OK;
  GAB_TRY(gab_fence_claim(round->protection->fence, true));
  round->has_token = true;
  return GAB_OK;
}

/* Without the token a part of the run has written nothing but lines of the log and the event `fault noticed'. */
static gab_status restore(round_state *round)
{
  char message[1024];
  gab_fence *fence = round->protection->fence;
  gab_checkpoint *checkpoint = round->checkpoint;
  if (!fence || round->fault->lost_count == 0) return restore_by_strategies(round);
  checkpoint->before_entities = take_token;
  checkpoint->before_entities_user = round;
  const gab_status status = restore_by_strategies(round);
  checkpoint->before_entities = NULL;
  if (round->has_token || (status != GAB_OK && status != GAB_ERR_LOST)) return status;
  snprintf(message, sizeof message, "%s", gab_error_message());
  GAB_TRY(gab_fence_claim(fence, status == GAB_OK));
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

/* ---------------------------------------------------------------- reprotect, rebalance */

static gab_status reprotect(round_state *round)
{
  const double start = gab_seconds();
  if (round->fault->is_local) return GAB_OK;
  GAB_TRY(gab_checkpoint_take(round->checkpoint, round->fault->restored_step));
  round->fault->reprotect = gab_seconds() - start;
  return GAB_OK;
}

static gab_status rebalance(round_state *round)
{
  const gab_protection_state *protection = round->protection;
  gab_fault *fault = round->fault;
  const double start = gab_seconds();
  if (fault->is_local || !protection->rebalance || fault->lost_count == fault->returned) return GAB_OK;
  GAB_TRY(protection->rebalance(protection->rebalance_user, round->loop->forest));
  GAB_TRY(gab_checkpoint_take(round->checkpoint, fault->restored_step));
  fault->rebalance = gab_seconds() - start;
  return GAB_OK;
}

/* ---------------------------------------------------------------- rounds */

static gab_status (*const phases[])(round_state *round) = {rebuild,  settle,  end,       inform,
                                                           identify, restore, reprotect, rebalance};

static gab_status run_phases(round_state *round)
{
  gab_status status = GAB_OK;
  for (size_t i = 0; i < sizeof phases / sizeof phases[0] && status == GAB_OK; i++) status = phases[i](round);
  round->checkpoint->donor = GAB_NO_RANK;
  return status;
}

static gab_status run_rounds(round_state *round)
{
  for (;;) {
    const gab_status status = run_phases(round);
    if (status == GAB_OK && round->fault->suspect)
      (void)gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "%s", round->words);
    if (status == GAB_OK || round->is_over) return status;
    if (status != GAB_ERR_FAULT) gab_world_raise(round->world, status);
  }
}

/* Collective over live processes. @param[in,out] lost memory for fault->lost, to be released by gab_free()
 * @param[in,out] fault  noticed_step is set by the caller
 * @return the abort request, if that was the cause; ::GAB_ERR_LOST if no strategy can restore the state */
static gab_status recover(gab_timeloop *loop, const gab_status *called, gab_rank **lost, gab_fault *fault)
{
  gab_protection_state *protection = loop->protection;
  /* A process that took a rank under local recovery lacks the same information as an assigned one. */
  const bool came_alone = !called && gab_world_claim(loop->world);
  round_state round = {.loop = loop,
                       .protection = protection,
                       .world = loop->world,
                       .checkpoint = protection->checkpoint,
                       .called = called,
                       .is_new = called != NULL || came_alone,
                       .since = gab_seconds(),
                       .lost = lost,
                       .fault = fault};
  fault->rounds = 0;
  fault->adopted = 0;
  gab_members_init(&round.before, 0);
  gab_status status = gab_members_copy(&round.before, gab_world_members(loop->world));
  if (status != GAB_OK) gab_world_raise(loop->world, status); /* the others wait in the repair */
  if (status != GAB_OK) round.called = NULL;
  status = run_rounds(&round);
  gab_members_release(&round.before);
  fault->seconds = gab_seconds() - round.since;
  return status;
}

/* ---------------------------------------------------------------- resume */

static gab_status recover_once(gab_timeloop *loop, const gab_status *called, gab_fault *fault,
                               gab_rank **lost)
{
  gab_protection_state *protection = loop->protection;
  const gab_local_recovery *local = gab_loop_local(loop);
  const bool gathers = local && local->before_repair(loop);
  if (called) gab_recovery_note_called(loop);
  else if (!gathers) gab_recovery_note_fault(loop);
  const gab_status status = recover(loop, called, lost, fault);
  if (fault->lost_count > 0 || status == GAB_ERR_LOST) gab_recovery_suspect_memory(protection);
  GAB_TRY(status);
  gab_run_lock_follow(loop->lock);
  gab_world_set_step(loop->world, loop->step);
  protection->past_losses += fault->from_disk;
  gab_timer_add(loop->timers, loop->recovery_timer, fault->seconds);
  loop->monitored = -1;
  gab_recovery_report(loop, fault);
  return GAB_OK;
}

/* Repeated deaths before the next checkpoint have a persistent cause. A task that reports a fault without one would
 * be repeated forever. */
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
  protection->futile_recoveries = fault->lost_count > 0 ? 0 : protection->futile_recoveries + 1;
  if (protection->futile_recoveries <= GAB_MOST_FUTILE_RECOVERIES) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE, "%d recoveries in a row from step %" GAB_PRI_STEP " without a death",
           protection->futile_recoveries, fault->noticed_step);
}

/* @param[in] complained a monitor of this rank has failed @param[in] interrupted a write to disk was interrupted
 * here */
static gab_status resume(gab_timeloop *loop, const gab_fault *fault, bool complained, bool interrupted)
{
  gab_stop_restart(loop->protection->stop, loop->step);
  GAB_TRY(check_progress(loop->protection, fault));
  if (fault->suspect) GAB_TRY(gab_monitors_judge(loop, fault, complained));
  GAB_TRY(gab_protection_disk_again(loop, interrupted));
  return gab_protection_set_clocks(loop);
}

/* ---------------------------------------------------------------- ends without recovery */

/* Without protection nothing can be restored, but all must end together. */
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

/* Before the first snapshot of this job no results can be lost, and the next job finds the snapshots of an earlier
 * one. If only replacement processes are left, the existence of a snapshot is unknown, and only the next job can
 * find one. Phase `inform' makes the result equal on all. */
static bool may_start_again(const gab_protection_state *protection)
{
  return gab_checkpoint_get_stats(protection->checkpoint).taken == 0;
}

/* @return GAB_ERR_AGAIN, with the loss in its message */
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

/* ---------------------------------------------------------------- public */

gab_status gab_protection_recover(gab_timeloop *loop, gab_status why, const gab_status *called)
{
  bool alone = false;
  if (!loop->protection) return end_unprotected(loop, why);
  const gab_local_recovery *local = gab_loop_local(loop);
  if (local && !called && why == GAB_ERR_FAULT) GAB_TRY(local->go_back(loop, &alone));
  if (alone) return GAB_OK;
  gab_rank *lost = NULL;
  gab_status status = why;
  bool interrupted = false, is_over = false;
  while (status != GAB_OK && !is_over) {
    gab_fault fault = {.noticed_step = loop->step};
    const bool complained = status == GAB_ERR_SUSPECT;
    if (!called && status != GAB_ERR_FAULT) gab_world_raise(loop->world, status);
    if (loop->protection->disk && gab_disk_abandon(loop->protection->disk)) interrupted = true;
    loop->protection->overlap.from = -1; /* copies in transit are lost */
    status = recover_once(loop, called, &fault, &lost);
    called = NULL;
    is_over = status != GAB_OK;
    if (!is_over) status = resume(loop, &fault, complained, interrupted);
  }
  gab_free(&lost);
  /* A recovery that succeeded ended with a snapshot of this job. */
  if (status == GAB_OK) gab_node_restart_destroy(&loop->protection->node_restart, true);
  if (status != GAB_ERR_LOST || !may_start_again(loop->protection)) return status;
  return start_again(loop->protection);
}

gab_status gab_timeloop_go_back(gab_timeloop *loop, gab_step *step)
{
  *step = -1;
  if (!loop->protection || gab_checkpoint_get_stats(loop->protection->checkpoint).last_step < 0)
    return GAB_OK;
  const gab_step end_step = loop->step;
  gab_restore_report restored;
  GAB_TRY(gab_checkpoint_restore(loop->protection->checkpoint, &restored));
  loop->step = end_step; /* the run has ended at that step */
  *step = restored.step;
  return GAB_OK;
}
