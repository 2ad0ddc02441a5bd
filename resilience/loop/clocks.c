/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule of checkpoints in memory and on disk, which have separate clocks. A checkpoint on disk is first one in
 * memory. */
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/timeloop_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/events_impl.h"

#include <math.h>

enum { FIRST_LOOK = 10 /* steps after which the time of a step counts as known */ };

/* ---------------------------------------------------------------- setting the clocks */

static double memory_cost(const gab_protection_state *protection)
{
  gab_checkpoint_stats costs = gab_checkpoint_get_stats(protection->checkpoint);
  return costs.taken ? costs.total_seconds / (double)costs.taken : 0;
}

/* Cost of a checkpoint on disk for the step loop: the one in memory plus its part of the writing. */
static double disk_cost(const gab_protection_state *protection)
{
  gab_disk_stats costs = gab_disk_get_stats(protection->disk);
  return memory_cost(protection) + (costs.begun ? costs.blocking_seconds / (double)costs.begun : 0);
}

static bool by_time(const gab_clock *clock) { return clock->every.mode != GAB_INTERVAL_STEPS; }

/* Steps until the next checkpoint, by the clock of the root; 0: the time of a step is unknown. */
static uint64_t steps_left(const gab_clock *clock, double step_seconds, double cost, double least)
{
  if (!by_time(clock) || !(step_seconds > 0)) return 0;
  double seconds = fmax(gab_interval_seconds(&clock->every, cost), least);
  double steps = floor((seconds - (gab_seconds() - clock->last)) / step_seconds + 0.5);
  return steps < 1 ? 1 : steps > 1e15 ? (uint64_t)1e15 : (uint64_t)steps;
}

static void set_by_steps(gab_clock *clock, gab_step step)
{
  const gab_step every = clock->every.steps;
  clock->next = every > 0 ? step - step % every + every : -1;
}

/* The root converts times to steps for all. Intervals in steps need no message, except the number of steps for
 * overlapped copies, which is the maximum over ranks. */
static gab_status set_clocks(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  gab_clock *memory = &protection->memory, *disk = &protection->on_disk;
  uint64_t left[3] = {0, 0, gab_overlap_wanted_lag(loop)};
  protection->look = -1;
  if (!by_time(memory)) set_by_steps(memory, loop->step);
  if (!by_time(disk)) set_by_steps(disk, loop->step);
  if (!by_time(memory) && !by_time(disk) && protection->overlap.wanted == GAB_OVERLAP_NEVER) return GAB_OK;
  if (gab_world_is_root(loop->world)) {
    const double step_seconds = gab_protection_step_seconds(loop);
    gab_clock observed = *memory; /* observed deaths are a better estimate than the value of the file */
    observed.every.mtbf = gab_interval_observed_mtbf(memory->every.mtbf, gab_seconds() - loop->started,
                                                     loop->stats.fault_count);
    left[0] = steps_left(&observed, step_seconds, memory_cost(protection), 0);
    if (protection->disk) {
      gab_clock lived = *disk; /* likewise earlier jobs for losses that memory does not survive */
      lived.every.mtbf = gab_interval_observed_mtbf(disk->every.mtbf,
                                                    protection->past_seconds + gab_seconds() - loop->started,
                                                    protection->past_losses);
      left[1] = steps_left(&lived, step_seconds, disk_cost(protection),
                           gab_disk_get_stats(protection->disk).last_seconds);
    }
  }
  GAB_TRY(gab_world_max_u64(loop->world, left, 3));
  if (by_time(memory)) memory->next = loop->step + (left[0] ? (gab_step)left[0] : FIRST_LOOK);
  if (by_time(disk)) disk->next = left[1] ? loop->step + (gab_step)left[1] : -1;
  if (by_time(disk) && !left[1]) protection->look = loop->step + FIRST_LOOK;
  if (protection->overlap.wanted == GAB_OVERLAP_AUTO) {
    gab_overlap_costs all;
    GAB_TRY(gab_overlap_compare(loop, &all));
    if (!gab_overlap_pays(&all)) left[2] = 0;
  }
  gab_overlap_set_lag(loop, left[2]);
  return GAB_OK;
}

/* Afterwards no transfer is in progress. */
gab_status gab_protection_set_clocks(gab_timeloop *loop)
{
  gab_overlap *overlap = &loop->protection->overlap;
  GAB_TRY(set_clocks(loop));
  overlap->rested = gab_overlap_watch(loop);
  overlap->rested_from = loop->step;
  return GAB_OK;
}

/* ---------------------------------------------------------------- taking them */

static gab_status timed(gab_timeloop *loop, gab_status (*work)(gab_timeloop *loop))
{
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = work(loop);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  return status;
}

static gab_status begin_in_memory(gab_timeloop *loop)
{
  return gab_checkpoint_begin(loop->protection->checkpoint, loop->step);
}

static gab_status complete_in_memory(gab_timeloop *loop)
{
  return gab_checkpoint_complete(loop->protection->checkpoint);
}

static gab_status help_in_memory(gab_timeloop *loop)
{
  gab_overlap *overlap = &loop->protection->overlap;
  bool there;
  GAB_TRY(gab_checkpoint_progress(loop->protection->checkpoint, &there));
  if (there) overlap->there = loop->step;
  return GAB_OK;
}

gab_status gab_protection_help(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  if (!protection || !gab_checkpoint_is_pending(protection->checkpoint) || protection->overlap.there >= 0)
    return GAB_OK;
  return timed(loop, help_in_memory);
}

static gab_status begin(gab_timeloop *loop, gab_step lag, bool to_disk)
{
  gab_protection_state *protection = loop->protection;
  GAB_TRY(timed(loop, begin_in_memory));
  GAB_TRY(gab_monitors_look_at_rest(loop));
  protection->memory.last = gab_seconds();
  protection->overlap.to_disk = to_disk;
  protection->overlap.from = lag > 0 ? loop->step : -1;
  protection->overlap.until = loop->step + lag;
  protection->overlap.there = -1;
  return GAB_OK;
}

static gab_status begin_on_disk(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  bool begun;
  gab_timer_start(loop->timers, loop->disk_timer);
  gab_status status = gab_disk_begin(protection->disk, &begun);
  gab_timer_stop(loop->timers, loop->disk_timer);
  GAB_TRY(status);
  const double now = gab_seconds();
  if (begun && protection->on_disk.last > 0) loop->stats.disk_interval = now - protection->on_disk.last;
  protection->on_disk.last =
      now; /* also if the previous one is still being written: postponed to the next time */
  return GAB_OK;
}

static gab_status complete(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  GAB_TRY(timed(loop, complete_in_memory));
  gab_protection_tell(loop);
  const gab_checkpoint_stats stats = gab_checkpoint_get_stats(protection->checkpoint);
  if (gab_world_is_root(loop->world)) {
    gab_json *event = gab_event_begin(loop->events, "checkpoint");
    gab_json_int(event, "of_step", stats.last_step);
    gab_json_uint(event, "image_bytes", stats.image_bytes);
    gab_json_rounded(event, "seconds", stats.last_seconds, 6);
    gab_json_int(event, "behind_steps", loop->step - stats.last_step);
    gab_event_end(loop->events, &event);
  }
  return protection->overlap.to_disk && protection->disk ? begin_on_disk(loop) : GAB_OK;
}

/* A sample needs at least one step without transfers before. */
static void watch_overlap(gab_timeloop *loop)
{
  gab_overlap *overlap = &loop->protection->overlap;
  const double steps = (double)(loop->step - overlap->rested_from);
  overlap->began = gab_overlap_watch(loop);
  overlap->usual = steps > 0 ? (overlap->began - overlap->rested) / steps : 0;
}

static gab_status complete_behind_the_steps(gab_timeloop *loop)
{
  gab_overlap *overlap = &loop->protection->overlap;
  GAB_TRY(complete(loop));
  const double steps = (double)(loop->step - overlap->from);
  if (overlap->from < 0 || !(overlap->usual > 0)) return GAB_OK;
  gab_overlap_note(&overlap->costs, true, gab_overlap_watch(loop) - overlap->began - steps * overlap->usual);
  return GAB_OK;
}

/* Completes the transfer in progress first. */
static gab_status settle(gab_timeloop *loop)
{
  return gab_checkpoint_is_pending(loop->protection->checkpoint) ? complete(loop) : GAB_OK;
}

gab_status gab_protection_take(gab_timeloop *loop, bool to_disk)
{
  GAB_TRY(settle(loop));
  GAB_TRY(begin(loop, 0, to_disk));
  GAB_TRY(complete(loop));
  return gab_protection_set_clocks(loop);
}

gab_status gab_timeloop_keep(gab_timeloop *loop)
{
  const gab_protection_state *protection = loop->protection;
  if (!protection || !protection->node_memory[0] || protection->local) return GAB_OK;
  return gab_protection_take(loop, false);
}

static gab_status take_and_wait(gab_timeloop *loop, bool to_disk)
{
  const bool alone = !gab_checkpoint_is_pending(loop->protection->checkpoint);
  const double start = gab_overlap_watch(loop);
  GAB_TRY(gab_protection_take(loop, to_disk));
  if (alone) gab_overlap_note(&loop->protection->overlap.costs, false, gab_overlap_watch(loop) - start);
  return GAB_OK;
}

/* The next clocks are set on completion, which is collective anyway. Until then this checkpoint is not due again. */
static gab_status take_behind_the_steps(gab_timeloop *loop, bool to_disk)
{
  const gab_step lag = loop->protection->overlap.lag;
  if (lag == 0 || loop->step + lag >= loop->steps) return take_and_wait(loop, to_disk);
  GAB_TRY(settle(loop));
  watch_overlap(loop);
  if (to_disk) loop->protection->on_disk.next = -1;
  return begin(loop, lag, to_disk);
}

static gab_status help_disk(gab_timeloop *loop, gab_status (*help)(gab_disk *disk))
{
  if (!loop->protection->disk) return GAB_OK;
  gab_timer_start(loop->timers, loop->disk_timer);
  gab_status status = help(loop->protection->disk);
  gab_timer_stop(loop->timers, loop->disk_timer);
  return status;
}

static bool is_due(const gab_clock *clock, gab_step step) { return clock->next >= 0 && step >= clock->next; }

gab_status gab_protection_scrub(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  bool beyond;
  if (protection->scrub == 0 || loop->step % protection->scrub != 0) return GAB_OK;
  gab_timer_start(loop->timers, loop->checkpoint_timer);
  gab_status status = gab_checkpoint_scrub(protection->checkpoint, &beyond);
  gab_timer_stop(loop->timers, loop->checkpoint_timer);
  GAB_TRY(status);
  if (!beyond) return GAB_OK;
  gab_log(GAB_LOG_WARNING, "%s: a new snapshot is taken", gab_error_message());
  return gab_protection_take(loop, false);
}

gab_status gab_protection_checkpoint(gab_timeloop *loop)
{
  gab_protection_state *protection = loop->protection;
  if (!protection) return GAB_OK;
  GAB_TRY(help_disk(loop, gab_disk_progress));
  GAB_TRY(gab_protection_help(loop));
  if (gab_loop_is_over(loop)) return settle(loop);
  const bool disk = is_due(&protection->on_disk, loop->step),
             under_way = gab_checkpoint_is_pending(protection->checkpoint);
  if (disk || (!under_way && is_due(&protection->memory, loop->step))) {
    protection->futile_recoveries = 0;
    GAB_TRY(gab_monitors_look(loop, true));
    return take_behind_the_steps(loop, disk);
  }
  if (under_way && loop->step >= protection->overlap.until) {
    GAB_TRY(complete_behind_the_steps(loop));
    GAB_TRY(gab_protection_set_clocks(loop));
  } else if (!under_way && protection->look >= 0 && loop->step >= protection->look) {
    GAB_TRY(gab_protection_set_clocks(loop));
  }
  return gab_protection_scrub(loop);
}

gab_status gab_protection_disk_wait(gab_timeloop *loop) { return help_disk(loop, gab_disk_wait); }

gab_status gab_protection_disk_now(gab_timeloop *loop, bool *safe)
{
  *safe = false;
  if (!loop->protection || !loop->protection->disk) return GAB_OK;
  GAB_TRY(help_disk(loop, gab_disk_wait));
  GAB_TRY(gab_protection_take(loop, true));
  GAB_TRY(help_disk(loop, gab_disk_wait));
  uint64_t lies_there =
      gab_world_is_root(loop->world) && gab_disk_get_stats(loop->protection->disk).last_step == loop->step;
  GAB_TRY(gab_world_max_u64(loop->world, &lies_there, 1));
  *safe = lies_there;
  return GAB_OK;
}

bool gab_protection_uses_disk(const gab_protection_state *protection)
{
  return protection->disk && (by_time(&protection->on_disk) || protection->on_disk.every.steps > 0);
}

gab_status gab_protection_finish(gab_timeloop *loop)
{
  bool safe;
  if (!loop->protection || !gab_protection_uses_disk(loop->protection)) return GAB_OK;
  return gab_protection_disk_now(loop, &safe);
}

gab_status gab_protection_disk_again(gab_timeloop *loop, bool interrupted)
{
  uint64_t anywhere = interrupted;
  if (!loop->protection->disk) return GAB_OK;
  GAB_TRY(gab_world_max_u64(loop->world, &anywhere, 1));
  return anywhere ? begin_on_disk(loop) : GAB_OK;
}
