/* SPDX-License-Identifier: Apache-2.0 */
/* Local recovery in the steps of a time loop: activation, checkpoints, global sections, takeover of a rank by a
 * spare. */
#include "resilience/local/local_run_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"
#include "resilience/run_folder/run_lock_impl.h"

/* Maximum wait of the first checkpoint for its commit, in seconds: a death before it ends local recovery. */
#define FIRST_COMMIT 0.1
/* Interval of the check for messages between tasks, in seconds. */
#define LOOK_AGAIN 100e-6

static gab_local_run *run_of(const gab_timeloop *loop) { return loop->protection->local; }

bool gab_local_is_on(const gab_timeloop *loop)
{
  const gab_local_run *run = run_of(loop);
  return run->machine && !run->is_inside && gab_world_has_message_logger(run->world);
}

/* State `on' or `section'. */
static bool has_part(const gab_local_run *run) { return run->machine && run->took_part; }

/* Not after each of several short tasks: a check without a message may yield the core. */
gab_status gab_local_help(gab_timeloop *loop)
{
  gab_local_run *run = run_of(loop);
  if (!gab_local_is_on(loop)) return GAB_OK;
  if (gab_seconds() - run->checked_at < LOOK_AGAIN) return gab_world_check(run->world);
  return run->logger.serve(run);
}

/* ---------------------------------------------------------------- checkpoints */

static void note_cost(gab_local_run *run, double start)
{
  gab_timeloop *loop = run->loop;
  gab_checkpoint_stats *stats = &loop->protection->checkpoint->stats;
  const gab_snapshot *packed = &loop->protection->checkpoint->snapshots[loop->protection->checkpoint->valid];
  const gab_msglog_stats msglog = gab_msglog_statistics(gab_local_msglog(run->machine));
  stats->taken++;
  stats->last_step = loop->step;
  stats->image_bytes = gab_message_bytes(&packed->own);
  stats->sent_bytes = stats->image_bytes;
  stats->last_seconds = gab_seconds() - start;
  stats->total_seconds += stats->last_seconds;
  if (msglog.peak_bytes > loop->stats.local.msglog_peak) loop->stats.local.msglog_peak = msglog.peak_bytes;
  if (!gab_world_is_root(run->world)) return;
  gab_json *event = gab_event_begin(loop->events, "checkpoint");
  gab_json_int(event, "of_step", loop->step);
  gab_json_uint(event, "image_bytes", stats->image_bytes);
  gab_json_uint(event, "message_log_bytes", msglog.bytes);
  gab_json_rounded(event, "seconds", stats->last_seconds, 6);
  gab_event_end(loop->events, &event);
}

/* All ranks reach a checkpoint at about the same time and check their messages. Acknowledgements, which otherwise
 * climb one level of the tree per step, then arrive within moments, and a later death leads back to this checkpoint
 * instead of the previous one. The wait for late ranks is limited to a small share of the time since the last
 * checkpoint. A rank that has to catch up does not wait. */
static gab_status await_commit(gab_local_run *run, gab_step (*committed)(const gab_local *local))
{
  const double begin = gab_seconds();
  const double most = run->taken_at > 0 ? run->commit_share * (begin - run->taken_at) : FIRST_COMMIT;
  run->taken_at = begin;
  if (!(run->commit_share > 0) || gab_local_is_behind(run->machine)) return GAB_OK;
  for (int looks = 0; committed(run->machine) < run->loop->step && gab_seconds() - begin < most;
       gab_world_pause(run->world, &looks))
    GAB_TRY(run->logger.serve(run));
  return GAB_OK;
}

/* The machine accepts the image once the previous checkpoint is known to be committed. */
gab_status gab_local_hand_in(gab_local_run *run, const gab_buffer *image, bool own)
{
  gab_status (*checkpoint)(gab_local *, gab_step, const gab_buffer *, bool *) =
      own ? gab_local_checkpoint_own : gab_local_checkpoint;
  gab_world_enter(run->world, GAB_FAULT_POINT_COMMIT);
  for (int looks = 0;; gab_world_pause(run->world, &looks)) {
    bool taken;
    GAB_TRY(checkpoint(run->machine, run->loop->step, image, &taken));
    if (taken) return await_commit(run, own ? gab_local_committed_in_cluster : gab_local_committed);
    GAB_TRY(run->logger.serve(run));
  }
}

/* The step after a checkpoint begins with the same messages whether the rank continues or was restored. */
static gab_status set_out(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  if (loop->on_checkpoint) loop->on_checkpoint(loop->on_checkpoint_user, loop->step);
  gab_local_limit_mark(run);
  GAB_TRY(gab_protection_set_clocks(loop));
  gab_local_limit_apply(run);
  return GAB_OK;
}

static gab_status take(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  const double start = gab_seconds();
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = gab_local_pack(run, &run->packed);
  if (status == GAB_OK) status = gab_local_hand_in(run, &run->packed, false);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  GAB_TRY(status);
  if (run->first_own < 0) run->first_own = loop->step;
  note_cost(run, start);
  loop->protection->futile_recoveries = 0;
  gab_world_enter(run->world, GAB_FAULT_POINT_SWAP);
  return set_out(run);
}

/* ---------------------------------------------------------------- on and off */

/* Reason why the run continues without local recovery; NULL: none. The same on all. */
static const char *why_not(const gab_local_run *run)
{
  if (gab_world_has_own_comms(run->world))
    return "the program has its own communicators: its faults are global";
  if (gab_world_spares(run->world) == 0) return "no spare process is left";
  if (gab_members_count(gab_world_members(run->world)) < 2) return "the run has only one rank";
  if (gab_world_logged_ports(run->world) > GAB_LOCAL_CONTEXTS)
    return "the program has more logged ports than local recovery supports";
  return NULL;
}

/* Writes the checkpoint on disk that was due when all ranks gathered. */
static gab_status make_up_for_disk(gab_local_run *run)
{
  const gab_protection_state *protection = run->loop->protection;
  const gab_step step = run->loop->step, every = protection->on_disk.every.steps;
  const bool gathered = run->has_gathered;
  bool safe;
  run->has_gathered = false;
  if (!gathered || !gab_protection_uses_disk(protection) || step == 0 || step % every != 0) return GAB_OK;
  return gab_protection_disk_now(run->loop, &safe);
}

gab_status gab_local_begin(gab_timeloop *loop)
{
  gab_local_run *run = run_of(loop);
  if (gab_local_is_on(loop) || run->is_off) return GAB_OK;
  const char *why = why_not(run);
  /* A checkpoint that a death interrupted is restarted by the recovery; without this wait no step would advance it. */
  if (!why) GAB_TRY(gab_protection_disk_wait(loop));
  GAB_TRY(make_up_for_disk(run));
  if (why) {
    run->is_off = true;
    gab_buffer_release(&run->packed);
    gab_log(GAB_LOG_WARNING, "strategy 'local' is no longer active: %s", why);
    return GAB_OK;
  }
  gab_checkpoint *checkpoint = loop->protection->checkpoint;
  GAB_TRY(gab_entities_check_packed(checkpoint, "strategy 'local'"));
  GAB_TRY(gab_forest_global_blocks(loop->forest, &checkpoint->forest_blocks));
  checkpoint->counted =
      false; /* replacement processes have not counted the blocks, so all count them again */
  GAB_TRY(gab_local_generation(run));
  run->took_part = true;
  gab_local_carry(run);
  return take(run);
}

/* ---------------------------------------------------------------- global sections */

static bool is_settled(const gab_local_run *run) { return gab_local_is_settled(run->machine); }
static bool is_inside(const gab_local_run *run) { return gab_local_is_inside(run->machine); }

static gab_status gather(gab_local_run *run)
{
  run->is_gathering = true;
  gab_world_call_repair(run->world);
  return gab_world_check(run->world);
}

/* All ranks are inside the section: from now on a death is handled by the next strategy. */
static gab_status turn_off(gab_local_run *run)
{
  uint32_t flags = 1;
  gab_local_note_totals(run);
  run->loop->stats.local.meetings += gab_world_meetings(run->world) - run->meetings;
  gab_world_set_message_logger(run->world, NULL);
  gab_world_set_policy(run->world, GAB_POLICY_REVOKE_ALL);
  run->is_inside = true;
  if (gab_world_claim(run->world)) return gather(run);
  /* Among the active processes of the start. It fails on all of them if one is dead and a spare runs its rank. */
  GAB_TRY(gab_world_agree(run->world, &flags));
  run->is_gathering = false;
  return GAB_OK;
}

gab_status gab_local_enter(gab_timeloop *loop)
{
  gab_local_run *run = run_of(loop);
  if (!gab_local_is_on(loop)) return GAB_OK;
  GAB_TRY(gab_local_wait(run, is_settled));
  run->is_gathering = true;
  GAB_TRY(gab_local_arrive(run->machine));
  GAB_TRY(gab_local_wait(run, is_inside));
  return turn_off(run);
}

static gab_status leave(gab_local_run *run)
{
  if (!run->is_inside) return GAB_OK;
  uint64_t changed = gab_forest_revision(run->loop->forest) != run->revision;
  GAB_TRY(gab_world_max_u64(run->world, &changed, 1));
  if (changed) GAB_TRY(gab_local_change_grid(run));
  GAB_TRY(gab_local_leave(run->machine));
  run->is_inside = false;
  run->meetings = gab_world_meetings(run->world);
  gab_local_carry(run);
  return GAB_OK;
}

static bool is_answered(const gab_local_run *run)
{
  uint64_t why;
  return gab_local_stops(run->machine, &why);
}

/* Outside of sections: whether all ranks stop here, as requested one checkpoint interval earlier. Waits only for the
 * commit of the last checkpoint. @param[in,out] why in: reason of this process; out: reason of all; 0: none */
static gab_status agree_on_stop(gab_local_run *run, uint64_t *why)
{
  uint64_t asked = *why;
  GAB_TRY(gab_local_wait(run, is_answered));
  gab_local_stops(run->machine, why);
  if (*why) return GAB_OK;
  if (!gab_world_is_root(run->world)) return gab_local_ask_to_stop(run->machine, asked);
  if (!asked) asked = gab_local_asked_to_stop(run->machine);
  return gab_local_answer(run->machine, run->loop->step, asked);
}

/* Called only in steps with a checkpoint. */
static gab_status stop_at_checkpoint(gab_timeloop *loop)
{
  gab_stop *stop = loop->protection->stop;
  const double seconds = gab_protection_time_to_stop_later(loop);
  gab_stop_reason reason = GAB_STOP_NOT;
  if (gab_local_is_on(loop)) {
    uint64_t why = gab_stop_look(stop, seconds);
    GAB_TRY(agree_on_stop(run_of(loop), &why));
    reason = (gab_stop_reason)why;
  } else GAB_TRY(gab_stop_look_together(stop, seconds, &reason));
  if (reason == GAB_STOP_NOT) return GAB_OK;
  GAB_TRY(gab_local_enter(loop));
  return gab_protection_stop_now(loop, reason);
}

gab_status gab_local_checkpoint_due(gab_timeloop *loop, bool *done)
{
  gab_local_run *run = run_of(loop);
  gab_protection_state *protection = loop->protection;
  const bool disk = protection->on_disk.next >= 0 && loop->step >= protection->on_disk.next;
  const bool memory = protection->memory.next >= 0 && loop->step >= protection->memory.next;
  bool safe;
  *done = has_part(run);
  if (!*done) return GAB_OK;
  GAB_TRY(gab_local_help(loop));
  if (gab_loop_is_over(loop)) return GAB_OK;
  if (disk) GAB_TRY(gab_local_enter(loop));
  if (disk) GAB_TRY(gab_protection_disk_now(loop, &safe));
  if (!run->is_inside && !memory) return gab_local_own_times_due(run);
  GAB_TRY(gab_monitors_look(loop, true));
  GAB_TRY(stop_at_checkpoint(loop));
  GAB_TRY(gab_local_limit_measure(run));
  GAB_TRY(leave(run));
  return take(run); /* the last operation of a step: a restored rank resumes here */
}

/* ---------------------------------------------------------------- going back alone */

static gab_status resume(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  GAB_TRY(gab_local_unpack(run));
  run->first_own = -1;
  run->taken_at = gab_seconds();
  run->is_behind = true;
  run->revision = gab_forest_revision(loop->forest);
  run->meetings = gab_world_meetings(run->world);
  loop->recent_step = loop->step;
  loop->recent_time = gab_seconds();
  return set_out(run);
}

gab_status gab_local_go_back(gab_timeloop *loop, bool *alone)
{
  gab_local_run *run = run_of(loop);
  *alone = false;
  if (!run->machine || !gab_local_has_to_restart(run) || gab_world_check(run->world) != GAB_OK) return GAB_OK;
  const gab_step before = loop->step;
  gab_world_drop_messages(run->world);
  if (before >= run->restart.checkpoint) run->offered_at = gab_seconds();
  GAB_TRY(resume(run));
  *alone = true;
  gab_claim *claim = gab_world_claim(run->world);
  if (claim && loop->step > before) claim->restored_step = loop->step;
  if (before >= loop->step) loop->stats.local.undone += (uint64_t)(before - loop->step);
  gab_json *event = gab_event_begin(loop->events, before >= loop->step ? "went back with its cluster"
                                                                       : "went on from a later checkpoint");
  gab_json_int(event, "of_step", loop->step);
  gab_event_end(loop->events, &event);
  return GAB_OK;
}

static gab_status take_over(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  GAB_TRY(gab_world_take_rank(run->world, gab_members_rank(&run->members, gab_local_rank(run->machine))));
  gab_claim *claim = gab_world_claim(run->world);
  claim->taken = gab_local_taken_over(run->machine);
  run->is_taking_over = true;
  const gab_status status = resume(run);
  run->is_taking_over = false;
  GAB_TRY(status);
  claim->restored_step = loop->step;
  claim->seconds = gab_seconds() - run->offered_at;
  run->took_part = true;
  gab_local_carry(run);
  gab_run_lock_follow(loop->lock);
  gab_log_all(GAB_LOG_WARNING,
              "rank %" GAB_PRI_RANK " died: process %" GAB_PRI_PROCESS
              " took over and continues alone from the checkpoint of step %" GAB_PRI_STEP ", after %.3f s",
              claim->rank, claim->process, loop->step, claim->seconds);
  gab_json *event = gab_event_begin(loop->events, "took over");
  gab_json_int(event, "process", claim->process);
  gab_json_uint(event, "incarnation", gab_world_incarnation(run->world, claim->rank));
  gab_json_int(event, "of_step", loop->step);
  gab_json_rounded(event, "seconds", claim->seconds, 6);
  gab_event_end(loop->events, &event);
  return GAB_OK;
}

/* A spare outside of the pool receives no news of takeovers. */
static bool has_active(const gab_local_run *run)
{
  const gab_rank ranks = (gab_rank)gab_members_count(&run->members);
  for (gab_rank place = 0; place < ranks; place++)
    if (!gab_reliable_channel_is_dead(run->channel, run->machine ? gab_local_process_of(run->machine, place)
                                                                 : (gab_process)place))
      return true;
  for (gab_process i = 0; !run->machine && i < GAB_MOST_CLAIMS; i++)
    if (!gab_reliable_channel_is_dead(run->channel, (gab_process)ranks + i)) return true;
  return false;
}

/* News of a takeover arrives later than news of a death, hence the delay. */
static bool seems_abandoned(gab_local_run *run)
{
  static const double patience = 2;
  const double now = gab_seconds();
  if (has_active(run)) run->alone_since = 0;
  else if (run->alone_since == 0) run->alone_since = now;
  return run->alone_since > 0 && now - run->alone_since > patience;
}

int gab_local_faults(const gab_timeloop *loop)
{
  const gab_local_run *run = run_of(loop);
  return has_part(run) ? (int)gab_local_taken_known(run->machine) : 0;
}

gab_status gab_local_rest(void *user, bool *took_rank)
{
  gab_local_run *run = user;
  *took_rank = false;
  if (why_not(run))
    return gab_world_check(run->world); /* the active processes know it, too: gab_local_begin() */
  if (!run->channel || run->epoch != gab_world_epoch(run->world)) {
    GAB_TRY(gab_local_generation(run));
    gab_world_set_policy(run->world, GAB_POLICY_MARK_DOWN);
  }
  GAB_TRY(gab_reliable_channel_serve(run->channel));
  if (seems_abandoned(run)) gab_world_call_repair(run->world);
  if (!run->machine || !gab_local_has_to_restart(run)) return gab_world_check(run->world);
  *took_rank = true;
  return take_over(run);
}
