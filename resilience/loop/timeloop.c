/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/completion.h"
#include "resilience/loop/timeloop_impl.h"

#include "core/memory/node_memory.h"
#include "core/messages/logged/message_logger.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/messages/mailbox.h"
#include "core/system/float_modes.h"
#include "field/checked_access.h"
#include "resilience/reports/events_impl.h"
#include "resilience/run_folder/run_lock_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- building a loop */

gab_status gab_timeloop_create(gab_forest *forest, gab_step steps, gab_timeloop **loop)
{
  *loop = NULL;
  if (steps < 0) GAB_FAIL(GAB_ERR_INPUT, "%" GAB_PRI_STEP " steps asked for", steps);
  gab_timeloop *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->world = gab_forest_world(forest);
  made->steps = steps;
  made->actions_pending = true;
  made->monitored = -1;
  gab_status status = gab_timers_create(&made->timers);
  if (status == GAB_OK) status = gab_timers_find(made->timers, "checkpoint", &made->checkpoint_timer);
  if (status == GAB_OK) status = gab_timers_find(made->timers, "checkpoint on disk", &made->disk_timer);
  if (status == GAB_OK) status = gab_timers_find(made->timers, "recovery", &made->recovery_timer);
  if (status != GAB_OK) gab_timeloop_destroy(&made);
  *loop = made;
  return status;
}

void gab_timeloop_destroy(gab_timeloop **loop)
{
  if (!*loop) return;
  gab_protection_destroy(&(*loop)->protection);
  gab_restart_destroy(&(*loop)->restart);
  gab_events_destroy(&(*loop)->events);
  gab_timers_destroy(&(*loop)->timers);
  gab_free(loop);
}

/* A part that is added later would be missing in present snapshots and on replacement processes. */
static gab_status check_open(const gab_timeloop *loop, const char *name)
{
  if (loop->is_running)
    GAB_FAIL(GAB_ERR_STATE, "'%s' is added to a time loop that is running or has run: its parts are fixed",
             name);
  return GAB_OK;
}

static gab_status add(gab_timeloop *loop, gab_task_list *list, const char *name,
                      bool (*due)(const void *user, gab_step step), gab_task_fn run, void *user)
{
  GAB_TRY(check_open(loop, name));
  if (!run) GAB_FAIL(GAB_ERR_ARGUMENT, "task '%s' of the time loop has no function", name);
  if (list->count == GAB_MOST_TASKS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add task '%s': there are %d already", name, GAB_MOST_TASKS);
  gab_task *task = &list->tasks[list->count++];
  snprintf(task->name, sizeof task->name, "%s", name);
  task->due = due;
  task->run = run;
  task->user = user;
  return gab_timers_find(loop->timers, task->name, &task->timer);
}

gab_status gab_timeloop_add_task(gab_timeloop *loop, const char *name, gab_task_fn run, void *user)
{
  return add(loop, &loop->tasks, name, NULL, run, user);
}

gab_status gab_timeloop_add_temporal_block(gab_timeloop *loop, const char *name, int tasks,
                                           gab_temporal_block_fn run, void *user)
{
  GAB_TRY(check_open(loop, name));
  if (loop->temporal_block.run)
    GAB_FAIL(GAB_ERR_STATE, "cannot add temporal block '%s': the loop has one already", name);
  if (!run || tasks < 1 || tasks > loop->tasks.count)
    GAB_FAIL(GAB_ERR_ARGUMENT, "temporal block '%s' replaces %d tasks: expected 1 to %d%s", name, tasks,
             loop->tasks.count, run ? "" : ", has no function");
  GAB_TRY(gab_timers_find(loop->timers, name, &loop->temporal_block.timer));
  loop->temporal_block.run = run;
  loop->temporal_block.user = user;
  loop->temporal_block.tasks = tasks;
  return GAB_OK;
}

gab_status gab_timeloop_add_action(gab_timeloop *loop, const char *name,
                                   bool (*due)(const void *user, gab_step step), gab_task_fn run, void *user)
{
  return add(loop, &loop->actions, name, due, run, user);
}

gab_status gab_timeloop_add_monitor(gab_timeloop *loop, const char *name,
                                    bool (*due)(const void *user, gab_step step), gab_task_fn check,
                                    void *user)
{
  return add(loop, &loop->monitors, name, due, check, user);
}

static bool never(const void *user, gab_step step)
{
  (void)user, (void)step;
  return false;
}

gab_status gab_timeloop_add_rest_monitor(gab_timeloop *loop, const char *name, gab_task_fn check, void *user)
{
  GAB_TRY(add(loop, &loop->monitors, name, never, check, user));
  loop->monitors.tasks[loop->monitors.count - 1].at_rest = true;
  return GAB_OK;
}

gab_status gab_timeloop_add_finish(gab_timeloop *loop, const char *name, gab_task_fn run, void *user)
{
  return add(loop, &loop->finishes, name, NULL, run, user);
}

gab_status gab_timeloop_add_entity(gab_timeloop *loop, const gab_entity *entity)
{
  GAB_TRY(check_open(loop, entity->name));
  if (loop->protection) return gab_checkpoint_add_entity(loop->protection->checkpoint, entity);
  if (loop->entity_count == GAB_MOST_TASKS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add entity '%s': there are %d already", entity->name, GAB_MOST_TASKS);
  loop->entities[loop->entity_count++] = *entity;
  return GAB_OK;
}

gab_status gab_timeloop_continue(gab_timeloop *loop, gab_restart *restart)
{
  gab_restart_destroy(&loop->restart);
  loop->restart = restart;
  if (loop->protection)
    GAB_FAIL(GAB_ERR_STATE, "the time loop is protected already: what it continues must be known before");
  return GAB_OK;
}

void gab_timeloop_on_fault(gab_timeloop *loop, gab_fault_fn call, void *user)
{
  loop->on_fault = call;
  loop->on_fault_user = user;
}

void gab_timeloop_on_checkpoint(gab_timeloop *loop, gab_checkpoint_fn call, void *user)
{
  loop->on_checkpoint = call;
  loop->on_checkpoint_user = user;
}

gab_status gab_timeloop_on_failure(gab_timeloop *loop,
                                   gab_status (*call)(void *user, gab_step step, gab_status why), void *user)
{
  if (loop->on_failure) GAB_FAIL(GAB_ERR_STATE, "the loop has a failure callback already");
  loop->on_failure = call;
  loop->on_failure_user = user;
  return GAB_OK;
}

void gab_timeloop_set_updates(gab_timeloop *loop, uint64_t cell_updates_per_step)
{
  loop->own_updates = cell_updates_per_step;
  if (cell_updates_per_step) loop->stats.updates_per_step = cell_updates_per_step;
}

gab_step gab_timeloop_step(const gab_timeloop *loop) { return loop->step; }
gab_step gab_timeloop_steps(const gab_timeloop *loop) { return loop->steps; }
gab_timers *gab_timeloop_timers(gab_timeloop *loop) { return loop->timers; }
gab_forest *gab_timeloop_forest(const gab_timeloop *loop) { return loop->forest; }

/* ---------------------------------------------------------------- running it */

/* Serves other ranks. A task that ignored an error, or used a wrong index, has left invalid data, which must not become a
 * result. */
static gab_status after_task(gab_timeloop *loop, gab_status status)
{
  const gab_local_recovery *local = gab_loop_local(loop);
  if (status == GAB_OK) status = gab_field_check();
  if (status == GAB_OK) status = gab_protection_help(loop);
  if (status == GAB_OK && local) status = local->help(loop);
  return status == GAB_OK ? gab_world_check(loop->world) : status;
}

static gab_status run_all(gab_timeloop *loop, const gab_task_list *list, bool announce, double *seconds)
{
  double start = gab_seconds();
  gab_status status = GAB_OK;
  const bool are_actions = list == &loop->actions;
  for (int i = are_actions ? loop->next_action : 0; i < list->count && status == GAB_OK; i++) {
    const gab_task *task = &list->tasks[i];
    if (are_actions) loop->next_action = i;
    if (task->due && !task->due(task->user, loop->step)) continue;
    if (announce) gab_world_enter(loop->world, GAB_FAULT_POINT_COMPUTE);
    gab_timer_start(loop->timers, task->timer);
    status = task->run(task->user, loop->step);
    gab_timer_stop(loop->timers, task->timer);
    status = after_task(loop, status);
  }
  *seconds += gab_seconds() - start;
  return status;
}

static bool any_due(const gab_timeloop *loop)
{
  for (int i = 0; i < loop->actions.count; i++)
    if (!loop->actions.tasks[i].due || loop->actions.tasks[i].due(loop->actions.tasks[i].user, loop->step))
      return true;
  return false;
}

/* The following involves all ranks. */
static gab_status enter_section(gab_timeloop *loop)
{
  const gab_local_recovery *local = gab_loop_local(loop);
  return local ? local->enter(loop) : GAB_OK;
}

static gab_status run_actions(gab_timeloop *loop)
{
  if (!loop->actions_pending) return GAB_OK;
  gab_protection_check_fence(loop);
  GAB_TRY(gab_monitors_look(loop, gab_loop_is_over(loop)));
  if (any_due(loop)) GAB_TRY(enter_section(loop));
  gab_world_count_sent(loop->world, false);
  const gab_status status = run_all(loop, &loop->actions, false, &loop->stats.action_seconds);
  gab_world_count_sent(loop->world, true);
  GAB_TRY(status);
  loop->actions_pending = false;
  loop->next_action = 0;
  return GAB_OK;
}

/* @param[in] most  steps @param[out] taken  0: none */
static gab_status run_temporal_block(gab_timeloop *loop, gab_step most, gab_step *taken)
{
  const gab_loop_temporal_block *temporal = &loop->temporal_block;
  const double start = gab_seconds();
  *taken = 0;
  gab_world_enter(loop->world, GAB_FAULT_POINT_COMPUTE);
  gab_timer_start(loop->timers, temporal->timer);
  gab_status status = temporal->run(temporal->user, loop->step, most, taken);
  gab_timer_stop(loop->timers, temporal->timer);
  if (status == GAB_OK && (*taken < 0 || *taken > most))
    status = gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__,
                           "a temporal block of the time loop took %" GAB_PRI_STEP " steps, %" GAB_PRI_STEP
                           " were offered",
                           *taken, most);
  status = after_task(loop, status);
  loop->stats.step_seconds += gab_seconds() - start;
  return status;
}

/* The tasks of a step, or several steps whose intermediate states are not read. @param[out] taken  steps */
static gab_status take_steps(gab_timeloop *loop, gab_step *taken)
{
  const gab_step most = gab_temporal_steps(loop);
  *taken = 0;
  if (most > 1) GAB_TRY(run_temporal_block(loop, most, taken));
  if (*taken == 0) {
    *taken = 1;
    return run_all(loop, &loop->tasks, true, &loop->stats.step_seconds);
  }
  if (*taken > 1) loop->stats.temporally_blocked_steps += (uint64_t)*taken;
  return GAB_OK;
}

static void count_steps(gab_timeloop *loop, gab_step taken)
{
  const gab_step before = loop->step, known = loop->furthest > before ? loop->furthest - before : 0;
  loop->step += taken;
  gab_world_set_step(loop->world, loop->step);
  loop->stats.steps_computed += (uint64_t)taken;
  loop->stats.updates_computed += (double)taken * (double)loop->stats.updates_per_step;
  loop->stats.local.steps_again += (uint64_t)(known < taken ? known : taken);
  if (loop->step > loop->furthest) loop->furthest = loop->step;
}

/* A step, with its post-step actions and checkpoint. */
static gab_status go_on(gab_timeloop *loop)
{
  const double start = gab_seconds();
  const gab_local_recovery *local = gab_loop_local(loop);
  bool done = false;
  gab_step taken;
  GAB_TRY(take_steps(loop, &taken));
  count_steps(loop, taken);
  loop->actions_pending = true;
  loop->next_action = 0;
  GAB_TRY(run_actions(loop));
  if (local) GAB_TRY(local->checkpoint(loop, &done));
  if (!done) GAB_TRY(gab_protection_checkpoint(loop));
  loop->longest_step = fmax(loop->longest_step, gab_seconds() - start);
  gab_progress_report(loop);
  GAB_TRY(gab_run_lock_check(loop->lock));
  return done ? GAB_OK : gab_protection_stop(loop);
}

/* All ranks leave the loop together, or none does. */
static gab_status finish(gab_timeloop *loop)
{
  double ignored = 0;
  gab_world_count_sent(loop->world, false);
  const gab_status status = run_all(loop, &loop->finishes, false, &ignored);
  gab_world_count_sent(loop->world, true);
  GAB_TRY(status);
  uint32_t flags = 1;
  GAB_TRY(gab_world_agree(loop->world, &flags));
  char why[240];
  if (gab_timeloop_end_reason(loop, why, sizeof why))
    gab_log(GAB_LOG_INFO, "ended after step %" GAB_PRI_STEP " by %s", loop->step, why);
  return GAB_OK;
}

static gab_status count_updates(gab_timeloop *loop)
{
  loop->stats.updates_per_step = loop->own_updates;
  if (loop->own_updates) return GAB_OK;
  uint64_t blocks;
  GAB_TRY(gab_forest_global_blocks(loop->forest, &blocks));
  const int32_t *cells = gab_forest_get_options(loop->forest)->cells;
  loop->stats.updates_per_step = blocks * (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2];
  return GAB_OK;
}

/* Without this check a forgotten initial distribution would be silent, since every step is trivial. */
static gab_status check_blocks(const gab_timeloop *loop)
{
  uint64_t blocks;
  GAB_TRY(gab_forest_global_blocks(loop->forest, &blocks));
  if (blocks > 0) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE,
           "the forest has no blocks, on no process: there is nothing to compute (gab_balance_initial() or "
           "gab_forest_build() comes before gab_timeloop_run())");
}

static gab_status start(gab_timeloop *loop)
{
  gab_world_set_step(loop->world, loop->step);
  GAB_TRY(count_updates(loop));
  GAB_TRY(gab_protection_begin(loop));
  GAB_TRY(check_blocks(loop));
  return gab_protection_start(loop);
}

/* Refuses a run that would succeed without any work. */
static gab_status check_ready(const gab_timeloop *loop)
{
  if (loop->is_running)
    GAB_FAIL(GAB_ERR_STATE, "the time loop has run already: another run needs another one");
  if (loop->steps > 0 && loop->tasks.count == 0)
    GAB_FAIL(GAB_ERR_STATE, "the time loop has no task: %" GAB_PRI_STEP " steps would do nothing",
             loop->steps);
  return GAB_OK;
}

static gab_status advance(gab_timeloop *loop, bool *done)
{
  const gab_local_recovery *local = gab_loop_local(loop);
  GAB_TRY(run_actions(loop)); /* actions of step 0, and of a restored step if they were still pending */
  if (!gab_loop_is_over(loop)) {
    if (local) GAB_TRY(local->begin(loop));
    return go_on(loop);
  }
  GAB_TRY(enter_section(loop));
  GAB_TRY(gab_protection_finish(loop));
  GAB_TRY(finish(loop));
  GAB_TRY(gab_protection_close_fence(loop));
  *done = true;
  return GAB_OK;
}

static void note_failure(gab_timeloop *loop, gab_status status)
{
  if (!loop->on_failure) return;
  char message[1024];
  snprintf(message, sizeof message, "%s", gab_error_message());
  if (loop->on_failure(loop->on_failure_user, loop->step, status) != GAB_OK)
    gab_log(GAB_LOG_WARNING, "after the failure: %s", gab_error_message());
  gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

/* The event `start'. */
static void note_start(const gab_timeloop *loop)
{
  if (!loop->events || !gab_world_is_root(loop->world)) return;
  gab_json *event = gab_event_begin(loop->events, "start");
  gab_json_int(event, "at_step", loop->step);
  gab_json_int(event, "steps", loop->steps);
  gab_json_int(event, "ranks", gab_world_members(loop->world)->ranks);
  gab_json_int(event, "spares", gab_world_spares(loop->world));
  gab_json_int(event, "attempt", gab_launch_attempt());
  if (loop->lock) gab_json_text(event, "run", gab_run_lock_id(loop->lock));
  gab_event_end(loop->events, &event);
}

static void note_end(const gab_timeloop *loop, gab_status status)
{
  if (!loop->events || (status != GAB_ERR_FAULT && !gab_world_is_root(loop->world))) return;
  gab_json *event = gab_event_begin(loop->events, "end");
  gab_json_int(event, "at_step", loop->step);
  char why[240] = "";
  if (status == GAB_OK) gab_timeloop_end_reason(loop, why, sizeof why);
  gab_json_text(event, "status", gab_status_name(status));
  gab_json_text(event, "message", status == GAB_OK ? why : gab_error_message());
  gab_event_end(loop->events, &event);
}

/* A process died before the spares idled, so there is no snapshot to restore. Spares are not dismissed: all know of
 * the death, and a process that failed in the last call of the set-up would not take part. */
static gab_status end_before_start(gab_timeloop *loop)
{
  gab_status abort_request;
  GAB_TRY(gab_world_repair(loop->world, &abort_request));
  if (abort_request != GAB_OK) return abort_request;
  GAB_FAIL(GAB_ERR_AGAIN, "a process died before the run began: nothing is lost");
}

/* ---------------------------------------------------------------- from the first step to the last */

/* A file could not be written: another job may write it from the state in node memory. */
static gab_status leave_in_memory(const gab_timeloop *loop)
{
  char why[900];
  snprintf(why, sizeof why, "%s", gab_error_message());
  gab_node_memory_leave();
  GAB_FAIL(GAB_ERR_AGAIN, "%s; the state of step %" GAB_PRI_STEP " lies in the memory of the nodes", why,
           gab_checkpoint_get_stats(loop->protection->checkpoint).last_step);
}

static bool has_state_in_memory(const gab_timeloop *loop)
{
  return loop->protection && loop->protection->node_memory[0] &&
         gab_checkpoint_get_stats(loop->protection->checkpoint).taken > 0;
}

/* @param[in] is_over  the status ends the run already */
static gab_status run_on(gab_timeloop *loop, gab_status status, bool is_over)
{
  bool done = false;
  while (!done && !is_over) {
    if (status == GAB_OK) status = advance(loop, &done);
    if (status != GAB_OK) status = gab_protection_recover(loop, status, NULL);
    is_over = status != GAB_OK;
  }
  if (status == GAB_ERR_IO && has_state_in_memory(loop)) status = leave_in_memory(loop);
  if (status != GAB_OK && status != GAB_ERR_AGAIN) note_failure(loop, status);
  note_end(loop, status);
  gab_progress_end(loop, status);
  if (loop->protection) loop->protection->spent = status != GAB_ERR_AGAIN && status != GAB_ERR_FAULT;
  loop->stats.seconds = gab_seconds() - loop->started;
  return status;
}

/* Patterns and mailboxes are part of the state. */
static gab_status protect_mail(gab_timeloop *loop)
{
  const gab_entity mail = {.name = "patterns and mailboxes",
                           .kind = GAB_ENTITY_PER_RANK,
                           .user = loop->world,
                           .pack = gab_world_pack_mail,
                           .unpack = gab_world_unpack_mail};
  if (!loop->protection) return GAB_OK;
  if (gab_world_has_mail(loop->world))
    GAB_TRY(gab_checkpoint_add_entity(loop->protection->checkpoint, &mail));
  gab_world_close_mail(loop->world, true);
  return GAB_OK;
}

static gab_status run_protected(gab_timeloop *loop)
{
  gab_status abort_request;
  const bool is_spare = gab_world_is_spare(loop->world);
  note_start(loop);
  const gab_status kept = gab_protection_keep_untouched(loop);
  gab_status status = gab_world_rest(
      loop->world, &abort_request); /* a spare waits here until it gets a rank or the run ends */
  if (status == GAB_ERR_FAULT) return end_before_start(loop);
  /* A spare that fails by itself would get a rank in the next repair and not run it. */
  if (status != GAB_OK && is_spare && abort_request == GAB_OK && gab_world_check(loop->world) == GAB_OK)
    (void)gab_world_raise(loop->world, status);
  if (status != GAB_OK || gab_world_is_spare(loop->world)) return gab_world_dismiss(loop->world, status);
  const gab_local_recovery *local = gab_loop_local(loop);
  const bool came_alone = is_spare && local && local->is_on(loop);
  if (kept != GAB_OK) status = kept;
  else if (is_spare && !came_alone) status = gab_protection_recover(loop, GAB_ERR_FAULT, &abort_request);
  else if (came_alone) status = GAB_OK;
  else status = start(loop);
  return gab_world_dismiss(loop->world, run_on(loop, status, is_spare && status != GAB_OK));
}

gab_status gab_timeloop_run(gab_timeloop *loop)
{
  GAB_TRY(check_ready(loop));
  GAB_TRY(protect_mail(loop));
  (void)gab_float_modes_settle(); /* in case the set-up has changed them */
  loop->is_running = true;
  loop->started = loop->recent_time = gab_seconds();
  loop->recent_step = loop->step;
  const gab_status status = run_protected(loop);
  gab_world_close_mail(loop->world, false);
  return status;
}
