/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/commands/status_history.h"

#include "core/base/timer.h"
#include "core/system/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- words */

const char *gab_app_status_duration(double seconds, char text[32])
{
  if (seconds < 100) snprintf(text, 32, "%.0f s", seconds);
  else if (seconds < 6000) snprintf(text, 32, "%.0f min", seconds / 60);
  else if (seconds < 360000) snprintf(text, 32, "%.1f h", seconds / 3600);
  else snprintf(text, 32, "%.1f days", seconds / 86400);
  return text;
}

gab_json_document *gab_app_status_open(const char *folder, const char *name)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return gab_json_read_file(path);
}

/* ---------------------------------------------------------------- events.jsonl */

static char *next_line(gab_app_status_history *past)
{
  return past->shown[past->count++ % GAB_APP_STATUS_EVENTS];
}

static void take_start(gab_json_document *event, gab_app_status_history *past)
{
  char spares[48] = "";
  const double set_aside = gab_json_get_real(event, "/spares");
  if (set_aside > 0) snprintf(spares, sizeof spares, ", and %.0f spare", set_aside);
  snprintf(next_line(past), sizeof past->shown[0], "started at step %.0f of %.0f on %.0f processes%s",
           gab_json_get_real(event, "/at_step"), gab_json_get_real(event, "/steps"),
           gab_json_get_real(event, "/ranks"), spares);
}

static void take_recovery(gab_json_document *event, gab_app_status_history *past)
{
  char lost[128], strategy[32], successors[64] = "";
  const double returned = gab_json_get_real(event, "/returned");
  const double respawned = gab_json_get_real(event, "/respawned");
  gab_json_get_list(event, "/lost", lost, sizeof lost);
  gab_json_get_text(event, "/strategy", strategy, sizeof strategy);
  if (returned > 0)
    snprintf(successors, sizeof successors, ", %s took over",
             gab_history_who_took_over((int32_t)returned, respawned > 0 ? (int32_t)respawned : 0));
  snprintf(next_line(past), sizeof past->shown[0],
           "rank%s %s died at step %.0f%s; back to step %.0f%s%s, resumed after %.3f s",
           strchr(lost, ',') ? "s" : "", lost[0] ? lost : "(none)", gab_json_get_real(event, "/noticed_step"),
           successors, gab_json_get_real(event, "/restored_step"), strategy[0] ? " by " : "", strategy,
           gab_json_get_real(event, "/seconds"));
}

static void take_end(gab_json_document *event, double time, gab_app_status_history *past)
{
  past->end_time = time;
  gab_json_get_text(event, "/status", past->end_status, sizeof past->end_status);
  gab_json_get_text(event, "/message", past->end_message, sizeof past->end_message);
}

/* One line of the file. Lines that are cut (the writer was killed) are passed over. */
static void take_event(const char *line, size_t length, gab_app_status_history *past)
{
  gab_json_document *event = gab_json_read(line, length);
  if (!event) return;
  char name[48], from[64], when[GAB_DATE_CAPACITY];
  const double time = gab_json_get_real(event, "/time");
  const size_t before = past->count;
  gab_json_get_text(event, "/event", name, sizeof name);
  past->last_time = time;
  gab_app_status_behind_take(&past->behind, name, event);
  if (strcmp(name, "recovery") == 0) take_recovery(event, past);
  else if (strcmp(name, "reconstruction") == 0)
    snprintf(
        next_line(past), sizeof past->shown[0],
        "no copy was left of %s: %.0f of %.0f blocks were approximated: the state is an approximation from step %.0f on",
        gab_json_get_text(event, "/of", from, sizeof from), gab_json_get_real(event, "/blocks"),
        gab_json_get_real(event, "/all_blocks"), gab_json_get_real(event, "/of_step"));
  else if (strcmp(name, "start") == 0) {
    past->end_time = 0;
    take_start(event, past);
  } else if (strcmp(name, "end") == 0) take_end(event, time, past);
  else if (strcmp(name, "continued") == 0)
    snprintf(next_line(past), sizeof past->shown[0], "went on from step %.0f, a checkpoint %s",
             gab_json_get_real(event, "/of_step"), gab_json_get_text(event, "/from", from, sizeof from));
  else if (strcmp(name, "fault noticed") != 0 && strcmp(name, "checkpoint") != 0 &&
           strcmp(name, "disk checkpoint") != 0)
    snprintf(next_line(past), sizeof past->shown[0], "%s, step %.0f", name,
             gab_json_get_real(event, "/step"));
  if (past->count > before) {
    char *line_shown = past->shown[before % GAB_APP_STATUS_EVENTS], copy[200];
    snprintf(copy, sizeof copy, "%.199s", line_shown);
    snprintf(line_shown, sizeof past->shown[0], "%s  %s", gab_local_date(time, when), copy);
  }
  gab_json_forget(&event);
}

bool gab_app_status_history_read(const char *folder, gab_app_status_history *past)
{
  char path[GAB_APP_PATH_LENGTH + 32], *line = NULL;
  size_t capacity = 0;
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  FILE *file;
  if (gab_file_open(path, &file) != GAB_OK) return false;
  for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;)
    if (line[length - 1] == '\n') take_event(line, (size_t)length - 1, past);
  free(line);
  fclose(file);
  gab_history_read(folder, &past->jobs);
  return true;
}

/* ---------------------------------------------------------------- progress.json */

/* True if the process that wrote it lives, as far as this machine can tell; *known says whether it can. */
static bool writer_lives(gab_json_document *progress, bool *known)
{
  char theirs[128], mine[128] = "";
  gethostname(mine, sizeof mine - 1);
  *known = strcmp(gab_json_get_text(progress, "/host", theirs, sizeof theirs), mine) == 0;
  const pid_t pid = (pid_t)gab_json_get_real(progress, "/pid");
  return *known && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

bool gab_app_status_is_running(gab_json_document *progress, const gab_app_status_history *past,
                               double *silent)
{
  bool known = false;
  const bool lives = progress && writer_lives(progress, &known);
  double last = past->last_time;
  if (progress && gab_json_get_real(progress, "/time") > last) last = gab_json_get_real(progress, "/time");
  *silent = gab_seconds_since_1970() - last;
  /* The root may have died and its successor not written yet: a fresh sign counts more than a missing process. */
  return lives || *silent < (known ? 10 : GAB_APP_STATUS_SILENT);
}

const char *gab_app_status_word(gab_json_document *progress, const gab_app_status_history *past)
{
  double silent;
  if (past->end_time > 0) return strcmp(past->end_status, "ok") == 0 ? "done" : past->end_status;
  return gab_app_status_is_running(progress, past, &silent) ? "running" : "dead";
}
