/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a run: a line of the log, a sign of life for the launcher, and OUT/progress.json for `gabion status'. At most once
 * a second, by the root. */
#include "resilience/loop/timeloop_impl.h"

#include "core/system/file.h"
#include "core/base/log.h"
#include "core/base/timer.h"
#include "resilience/reports/completion.h"
#include "resilience/disk/disk_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void describe_rate(double updates_per_second, char *text, size_t capacity)
{
  if (updates_per_second >= 1e9) snprintf(text, capacity, "%.2f GLUPS", updates_per_second * 1e-9);
  else snprintf(text, capacity, "%.1f MLUPS", updates_per_second * 1e-6);
}

static void describe_time(double seconds, char *text, size_t capacity)
{
  if (seconds < 100) snprintf(text, capacity, "%.0f s", seconds);
  else if (seconds < 6000) snprintf(text, capacity, "%.0f min", seconds / 60);
  else if (seconds < 360000) snprintf(text, capacity, "%.1f h", seconds / 3600);
  else snprintf(text, capacity, "%.1f days", seconds / 86400);
}

/* Those of local recovery are counted at the next repair; until then the root has heard of them with the checkpoints. */
static int faults_so_far(const gab_timeloop *loop)
{
  const gab_local_recovery *local = gab_loop_local(loop);
  return loop->stats.fault_count + (local ? local->faults(loop) : 0);
}

/* Readers need the age of the file, and the process to look for. */
static gab_status format_progress(const gab_timeloop *loop, const char *state, double rate,
                                  double seconds_left, gab_buffer *text)
{
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_rounded(json, "time", gab_seconds_since_1970(), 3);
  gab_json_text(json, "state", state);
  gab_json_text(json, "host", host);
  gab_json_int(json, "pid", (long)getpid());
  gab_json_int(json, "step", loop->step);
  gab_json_int(json, "steps", loop->steps);
  gab_json_rounded(json, "updates_per_second", rate, 0);
  gab_json_rounded(json, "seconds_left", seconds_left, 0);
  gab_json_int(json, "ranks", gab_world_members(loop->world)->ranks);
  gab_json_int(json, "living", gab_members_count(gab_world_members(loop->world)));
  gab_json_int(json, "spares", gab_world_spares(loop->world));
  gab_json_int(json, "checkpoint",
               loop->protection ? gab_checkpoint_get_stats(loop->protection->checkpoint).last_step : -1);
  gab_json_int(
      json, "disk_checkpoint",
      loop->protection && loop->protection->disk ? gab_disk_get_stats(loop->protection->disk).last_step : -1);
  gab_json_int(json, "faults", faults_so_far(loop));
  gab_json_int(json, "rolled_back", loop->stats.rolled_back);
  gab_json_uint(json, "reconstructed_blocks", loop->approximated.blocks);
  return gab_json_end(&json, text);
}

/* A full disk shows where results are written; a sign of life must not end the run. */
static void write_file(const gab_timeloop *loop, const char *state, double rate, double seconds_left)
{
  char path[1100];
  gab_buffer text = {0};
  if (!loop->folder[0]) return;
  snprintf(path, sizeof path, "%s/" GAB_PROGRESS_FILE, loop->folder);
  if (format_progress(loop, state, rate, seconds_left, &text) == GAB_OK)
    (void)gab_file_replace(path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
}

void gab_progress_end(const gab_timeloop *loop, gab_status status)
{
  const double seconds = gab_seconds() - loop->started;
  if (gab_world_is_root(loop->world))
    write_file(loop, status == GAB_OK ? "done" : gab_status_name(status),
               seconds > 0 ? loop->stats.updates_computed / seconds : 0, 0);
}

/* From the steps of about the last minute, with decreasing weight of older ones: a temporary stop of the machine
 * hardly changes the estimate. @param[in] done, since  steps, and their seconds, since the last line */
static double estimate_seconds_left(gab_timeloop *loop, gab_step done, double since)
{
  const double memory = 60, share = exp(-since / memory);
  loop->mean_steps = share * loop->mean_steps + (double)done;
  loop->mean_seconds = share * loop->mean_seconds + since;
  return (double)(loop->steps - loop->step) * loop->mean_seconds / loop->mean_steps;
}

void gab_progress_report(gab_timeloop *loop)
{
  gab_report_progress(loop->world, loop->step, loop->longest_step);
  const double now = gab_seconds(), since = now - loop->recent_time;
  if (!gab_world_is_root(loop->world) || since < 1) return;
  const gab_step done = loop->step - loop->recent_step;
  if (done > 0) {
    char rate[32], left[32], checkpoint[80] = "", disk[32] = "";
    const double updates = (double)done * (double)loop->stats.updates_per_step / since;
    const double seconds_left = estimate_seconds_left(loop, done, since);
    describe_rate(updates, rate, sizeof rate);
    describe_time(seconds_left, left, sizeof left);
    const gab_run_stats stats = gab_timeloop_get_stats(loop);
    if (stats.disk.last_step >= 0)
      snprintf(disk, sizeof disk, " (disk %" GAB_PRI_STEP ")", stats.disk.last_step);
    if (loop->protection)
      snprintf(checkpoint, sizeof checkpoint, ", checkpoint %" GAB_PRI_STEP "%s", stats.checkpoint.last_step,
               disk);
    if (loop->steps >= GAB_STEPS_OPEN)
      gab_log_progress("step %" GAB_PRI_STEP ", %s%s, faults %d", loop->step, rate, checkpoint,
                       faults_so_far(loop));
    else
      gab_log_progress("step %" GAB_PRI_STEP " of %" GAB_PRI_STEP " (%.0f %%), %s, %s left%s, faults %d",
                       loop->step, loop->steps, 100.0 * (double)loop->step / (double)loop->steps, rate, left,
                       checkpoint, faults_so_far(loop));
    write_file(loop, "running", updates, seconds_left);
  }
  loop->recent_time = now;
  loop->recent_step = loop->step;
}
