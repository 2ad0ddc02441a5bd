/* What a run says while it runs: a line of the log, a sign of life for the launcher, and OUT/progress.json for
 * those who look from outside (`gabion status`). At most once a second, by the root. */
#include "resilience/timeloop_impl.h"

#include "core/file.h"
#include "core/log.h"
#include "resilience/beacon.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void describe_rate(double updates_per_second, char *text, size_t room)
{
  if (updates_per_second >= 1e9) snprintf(text, room, "%.2f GLUPS", updates_per_second * 1e-9);
  else snprintf(text, room, "%.1f MLUPS", updates_per_second * 1e-6);
}

static void describe_time(double seconds, char *text, size_t room)
{
  if (seconds < 100) snprintf(text, room, "%.0f s", seconds);
  else if (seconds < 6000) snprintf(text, room, "%.0f min", seconds / 60);
  else if (seconds < 360000) snprintf(text, room, "%.1f h", seconds / 3600);
  else snprintf(text, room, "%.1f days", seconds / 86400);
}

/* Whoever reads it later wants to know how old it is, and whose process to look for. */
static void write_file(const gab_timeloop *loop, double rate, double seconds_left)
{
  char path[1100], text[1024], host[128] = "";
  struct timespec now;
  if (!loop->folder[0]) return;
  clock_gettime(CLOCK_REALTIME, &now);
  gethostname(host, sizeof host - 1);
  const int length = snprintf(
      text, sizeof text,
      "{\"time\": %lld.%03ld, \"host\": \"%s\", \"pid\": %ld, \"step\": %" GAB_PRI_STEP
      ", \"steps\": %" GAB_PRI_STEP ", \"updates_per_second\": %.4g, \"seconds_left\": %.0f, \"slots\": %" PRId32
      ", \"living\": %" PRId32 ", \"checkpoint\": %" GAB_PRI_STEP
      ", \"disk_checkpoint\": %" GAB_PRI_STEP ", \"faults\": %d, \"rolled_back\": %" GAB_PRI_STEP
      ", \"reconstructed_blocks\": %" PRIu64 "}\n",
      (long long)now.tv_sec, now.tv_nsec / 1000000, host, (long)getpid(), loop->step, loop->steps, rate,
      seconds_left, gab_world_members(loop->world)->slots, gab_members_count(gab_world_members(loop->world)),
      loop->guard ? gab_checkpoint_get_stats(loop->guard->checkpoint).last_step : -1,
      loop->guard && loop->guard->disk ? gab_disk_get_stats(loop->guard->disk).last_step : -1, loop->stats.fault_count,
      loop->stats.rolled_back, loop->made_up.blocks);
  snprintf(path, sizeof path, "%s/" GAB_PROGRESS_FILE, loop->folder);
  /* A full disk shows where results are written; a sign of life must not end the run. */
  if (length > 0 && length < (int)sizeof text)
    (void)gab_file_replace(path, text, (size_t)length, GAB_FILE_RENAMED);
}

void gab_progress_report(gab_timeloop *loop)
{
  gab_beacon_progress(loop->world, loop->step, loop->longest_step);
  const double now = gab_seconds(), since = now - loop->recent_time;
  if (!gab_world_is_root(loop->world) || since < 1) return;
  const gab_step done = loop->step - loop->recent_step;
  if (done > 0) {
    char rate[32], left[32], checkpoint[80] = "", disk[32] = "";
    const double updates = (double)done * (double)loop->stats.updates_per_step / since;
    const double seconds_left = (double)(loop->steps - loop->step) * since / (double)done;
    describe_rate(updates, rate, sizeof rate);
    describe_time(seconds_left, left, sizeof left);
    const gab_run_stats stats = gab_timeloop_get_stats(loop);
    if (stats.disk.last_step >= 0)
      snprintf(disk, sizeof disk, " (disk %" GAB_PRI_STEP ")", stats.disk.last_step);
    if (loop->guard)
      snprintf(checkpoint, sizeof checkpoint, ", checkpoint %" GAB_PRI_STEP "%s", stats.checkpoint.last_step,
               disk);
    gab_log_progress("step %" GAB_PRI_STEP " of %" GAB_PRI_STEP " (%.0f %%), %s, %s left%s, faults %d",
                     loop->step, loop->steps, 100.0 * (double)loop->step / (double)loop->steps, rate, left,
                     checkpoint, loop->stats.fault_count);
    write_file(loop, updates, seconds_left);
  }
  loop->recent_time = now;
  loop->recent_step = loop->step;
}
