/* SPDX-License-Identifier: Apache-2.0 */
/* gabion status: progress and events of a run, from the files in its folder. Needs no MPI. */
#include "apps/driver/driver.h"
#include "apps/driver/commands/status_behind.h"
#include "core/system/file.h"
#include "core/base/text/json.h"
#include "core/base/timer.h"
#include "resilience/reports/history.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion status FOLDER [--json]\n"
    "\n"
    "Reports progress, state and faults of the run whose output folder is FOLDER.\n"
    "  --json  machine-readable\n"
    "Exit code: 0 the run has ended or is running, 2 no run in FOLDER, 3 no sign of life.\n";

enum {
  SHOWN_EVENTS = 12,
  SILENT_SECONDS = 60 /* without a sign of life: a step, or writing, may take so long */
};

/* ---------------------------------------------------------------- the files of a run */

static gab_json_document *open_json(const char *folder, const char *name)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return gab_json_read_file(path);
}

/* ---------------------------------------------------------------- words */

static const char *duration(double seconds, char text[32])
{
  if (seconds < 100) snprintf(text, 32, "%.0f s", seconds);
  else if (seconds < 6000) snprintf(text, 32, "%.0f min", seconds / 60);
  else if (seconds < 360000) snprintf(text, 32, "%.1f h", seconds / 3600);
  else snprintf(text, 32, "%.1f days", seconds / 86400);
  return text;
}

/* ---------------------------------------------------------------- events.jsonl */

/* Summary of the history. */
typedef struct history {
  char shown[SHOWN_EVENTS][256]; /* the last lines worth showing, in a ring */
  size_t count;
  double last_time, end_time; /* of any event; of the last end, 0 if it was started again since */
  char end_status[64], end_message[512];
  gab_history jobs;
  status_behind behind;
} history;

static char *next_line(history *past) { return past->shown[past->count++ % SHOWN_EVENTS]; }

static void take_start(gab_json_document *event, history *past)
{
  char spares[48] = "";
  const double set_aside = gab_json_get_real(event, "/spares");
  if (set_aside > 0) snprintf(spares, sizeof spares, ", and %.0f spare", set_aside);
  snprintf(next_line(past), sizeof past->shown[0], "started at step %.0f of %.0f on %.0f processes%s",
           gab_json_get_real(event, "/at_step"), gab_json_get_real(event, "/steps"),
           gab_json_get_real(event, "/ranks"), spares);
}

static void take_recovery(gab_json_document *event, history *past)
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

static void take_end(gab_json_document *event, double time, history *past)
{
  past->end_time = time;
  gab_json_get_text(event, "/status", past->end_status, sizeof past->end_status);
  gab_json_get_text(event, "/message", past->end_message, sizeof past->end_message);
}

/* One line of the file. Lines that are cut (the writer was killed) are passed over. */
static void take_event(const char *line, size_t length, history *past)
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
    char *line_shown = past->shown[before % SHOWN_EVENTS], copy[200];
    snprintf(copy, sizeof copy, "%.199s", line_shown);
    snprintf(line_shown, sizeof past->shown[0], "%s  %s", gab_local_date(time, when), copy);
  }
  gab_json_forget(&event);
}

static bool read_history(const char *folder, history *past)
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

/* Start step of the next job and, after several jobs, their ends. */
static void print_jobs(const gab_history *jobs)
{
  if (jobs->disk_checkpoint >= 0)
    printf("  last checkpoint on disk: step %" GAB_PRI_STEP "\n", jobs->disk_checkpoint);
  if (jobs->starts < 2) return;
  printf("  %" PRIu64 " starts", jobs->starts);
  if (jobs->relaunches > 0)
    printf(", %" PRIu64 " of them by the launcher after the job had ended or hung", jobs->relaunches);
  printf("; went on from a checkpoint %" PRIu64 " time%s", jobs->continuations,
         jobs->continuations == 1 ? "" : "s");
  if (jobs->deaths > 0)
    printf("; from step %" GAB_PRI_STEP " %" PRIu64 " time%s without getting any further", jobs->from,
           jobs->deaths, jobs->deaths == 1 ? "" : "s");
  printf("\n");
}

static void print_history(const history *past)
{
  print_jobs(&past->jobs);
  const size_t shown = past->count < SHOWN_EVENTS ? past->count : SHOWN_EVENTS;
  if (shown > 0) printf("  %s:\n", past->count > shown ? "the last of what happened" : "what happened");
  for (size_t i = past->count - shown; i < past->count; i++)
    printf("    %s\n", past->shown[i % SHOWN_EVENTS]);
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

static void print_progress(gab_json_document *progress, bool running)
{
  char left[32];
  const double step = gab_json_get_real(progress, "/step"), steps = gab_json_get_real(progress, "/steps");
  const double faults = gab_json_get_real(progress, "/faults"),
               checkpoint = gab_json_get_real(progress, "/checkpoint");
  printf("  step %.0f of %.0f (%.1f %%), %.1f million cell updates per second", step, steps,
         steps > 0 ? 100 * step / steps : 0, gab_json_get_real(progress, "/updates_per_second") * 1e-6);
  if (running) printf(", %s left", duration(gab_json_get_real(progress, "/seconds_left"), left));
  printf("\n  %.0f of %.0f processes", gab_json_get_real(progress, "/living"),
         gab_json_get_real(progress, "/ranks"));
  if (gab_json_get_real(progress, "/spares") > 0)
    printf(", %.0f spare", gab_json_get_real(progress, "/spares"));
  if (checkpoint >= 0 && running) printf("; last checkpoint in memory: step %.0f", checkpoint);
  if (faults > 0)
    printf("; %.0f fault%s, %.0f steps computed again", faults, faults == 1 ? "" : "s",
           gab_json_get_real(progress, "/rolled_back"));
  if (gab_json_get_real(progress, "/reconstructed_blocks") > 0)
    printf("; APPROXIMATE: %.0f blocks were approximated",
           gab_json_get_real(progress, "/reconstructed_blocks"));
  printf("\n");
}

/* ---------------------------------------------------------------- main */

static int tell_end(const char *folder, const history *past)
{
  char text[32];
  if (strcmp(past->end_status, "ok") != 0) {
    printf("%s: %s since %s\n  %s\n", folder, past->end_status, gab_local_date(past->end_time, text),
           past->end_message);
    return 0;
  }
  printf("%s: done since %s", folder, gab_local_date(past->end_time, text));
  gab_json_document *summary = open_json(folder, "summary.json");
  if (summary) {
    char checksum[32];
    printf(": %.0f steps in %s, checksum %s", gab_json_get_real(summary, "/steps"),
           duration(gab_json_get_real(summary, "/seconds"), text),
           gab_json_get_text(summary, "/checksum", checksum, sizeof checksum));
    if (gab_json_get_real(summary, "/reconstructed_blocks") > 0)
      printf(", APPROXIMATE from step %.0f on: %.0f blocks were approximated",
             gab_json_get_real(summary, "/approximate_from_step"),
             gab_json_get_real(summary, "/reconstructed_blocks"));
    gab_json_forget(&summary);
  }
  printf("\n");
  if (past->end_message[0]) printf("  ended by %s\n", past->end_message);
  return 0;
}

/* True if it seems to be running. @param[out] silent  seconds since its last sign of life */
static bool is_running(gab_json_document *progress, const history *past, double *silent)
{
  bool known = false;
  const bool lives = progress && writer_lives(progress, &known);
  double last = past->last_time;
  if (progress && gab_json_get_real(progress, "/time") > last) last = gab_json_get_real(progress, "/time");
  *silent = gab_seconds_since_1970() - last;
  /* The root may have died and its successor not written yet: a fresh sign counts more than a missing process. */
  return lives || *silent < (known ? 10 : SILENT_SECONDS);
}

/* JSON, for programs. Members of progress.json are copied unchanged. */
static int tell_json(const char *folder, gab_json_document *progress, const history *past)
{
  static const char *const counts[] = {
      "step",   "steps",      "updates_per_second", "seconds_left", "ranks",       "living",
      "spares", "checkpoint", "disk_checkpoint",    "faults",       "rolled_back", "reconstructed_blocks"};
  const bool ended = past->end_time > 0;
  double silent = 0;
  const bool running = !ended && is_running(progress, past, &silent);
  gab_json_document *summary = ended ? open_json(folder, "summary.json") : NULL;
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  char path[48], checksum[32];
  gab_json_text(json, "folder", folder);
  gab_json_text(json, "state",
                !ended                                ? running ? "running" : "dead"
                : strcmp(past->end_status, "ok") == 0 ? "done"
                                                      : past->end_status);
  gab_json_text(json, "message", ended ? past->end_message : "");
  if (ended) gab_json_rounded(json, "ended", past->end_time, 3);
  else gab_json_rounded(json, "seconds_silent", silent, 3);
  for (size_t i = 0; progress && i < sizeof counts / sizeof counts[0]; i++) {
    snprintf(path, sizeof path, "/%s", counts[i]);
    gab_json_int(json, counts[i], (int64_t)gab_json_get_real(progress, path));
  }
  gab_app_status_behind_put(&past->behind, json);
  gab_json_uint(json, "starts", past->jobs.starts);
  gab_json_uint(json, "continuations", past->jobs.continuations);
  gab_json_uint(json, "relaunches", past->jobs.relaunches);
  gab_json_get_text(summary, "/checksum", checksum, sizeof checksum);
  if (checksum[0] && strcmp(checksum, "null") != 0) gab_json_text(json, "checksum", checksum);
  gab_json_forget(&summary);
  gab_buffer text = {0};
  const gab_status status = gab_json_end(&json, &text);
  if (status == GAB_OK) fwrite(text.data, 1, text.size, stdout);
  gab_buffer_release(&text);
  return status != GAB_OK ? 1 : ended || running ? 0 : 3;
}

static int tell_life(const char *folder, gab_json_document *progress, const history *past)
{
  char text[32];
  double silent;
  const bool running = is_running(progress, past, &silent);
  printf("%s: %s (last sign of life %s ago)\n", folder,
         !running                  ? "DEAD: no sign of life, and it has not said that it ended"
         : silent > SILENT_SECONDS ? "running, but silent"
                                   : "running",
         duration(silent, text));
  if (progress) print_progress(progress, running);
  gab_app_status_behind_print(&past->behind);
  return running ? 0 : 3;
}

int gab_app_command_status(int argc, char **argv)
{
  gab_app_options options;
  history *past = calloc(1, sizeof *past);
  gab_status status = gab_app_options_parse(argc, argv, "j", &options);
  if (status == GAB_OK && !options.help && !options.word)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no folder given (gabion status --help)");
  int code = 0;
  if (status != GAB_OK || !past) {
    fprintf(stderr, "gabion: %s\n", past ? gab_error_message() : "no memory");
    code = 2;
  } else if (options.help) {
    gab_app_usage_put(usage, stdout);
  } else if (!read_history(options.word, past)) {
    fprintf(stderr, "gabion: no run in %s: no events.jsonl (a run writes it at its start)\n", options.word);
    code = 2;
  } else {
    gab_json_document *progress = open_json(options.word, "progress.json");
    if (options.json) {
      code = tell_json(options.word, progress, past);
    } else {
      code = past->end_time > 0 ? tell_end(options.word, past) : tell_life(options.word, progress, past);
      if (past->end_time > 0 && progress && strcmp(past->end_status, "ok") != 0)
        print_progress(progress, false);
      print_history(past);
    }
    gab_json_forget(&progress);
  }
  free(past);
  return code;
}
