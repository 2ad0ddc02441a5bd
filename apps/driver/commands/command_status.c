/* SPDX-License-Identifier: Apache-2.0 */
/* gabion status: progress and events of a run, from the files in its folder. Needs no MPI. */
#include "apps/driver/driver.h"
#include "apps/driver/commands/run_tree.h"
#include "apps/driver/commands/status_history.h"
#include "apps/driver/commands/status_line.h"
#include "core/base/timer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: gabion status FOLDER... [--json]\n"
    "\n"
    "Reports progress, state and faults of the run whose output folder is FOLDER. Of folders of runs, such\n"
    "as that of a sweep, and of several folders, a line for each run: state, progress, time left, and the\n"
    "last row of a series.\n"
    "  --json  machine-readable; of several runs a line for each\n"
    "Exit code: 0 all runs have ended or are running, 2 no run in a FOLDER, 3 one gives no sign of life.\n";

/* ---------------------------------------------------------------- words of the history */

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

static void print_history(const gab_app_status_history *past)
{
  print_jobs(&past->jobs);
  const size_t shown = past->count < GAB_APP_STATUS_EVENTS ? past->count : GAB_APP_STATUS_EVENTS;
  if (shown > 0) printf("  %s:\n", past->count > shown ? "the last of what happened" : "what happened");
  for (size_t i = past->count - shown; i < past->count; i++)
    printf("    %s\n", past->shown[i % GAB_APP_STATUS_EVENTS]);
}

/* ---------------------------------------------------------------- progress.json */

static void print_progress(gab_json_document *progress, bool running)
{
  char left[32];
  const double step = gab_json_get_real(progress, "/step"), steps = gab_json_get_real(progress, "/steps");
  const double faults = gab_json_get_real(progress, "/faults"),
               checkpoint = gab_json_get_real(progress, "/checkpoint");
  printf("  step %.0f of %.0f (%.1f %%), %.1f million cell updates per second", step, steps,
         steps > 0 ? 100 * step / steps : 0, gab_json_get_real(progress, "/updates_per_second") * 1e-6);
  if (running)
    printf(", %s left", gab_app_status_duration(gab_json_get_real(progress, "/seconds_left"), left));
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

static int tell_end(const char *folder, const gab_app_status_history *past)
{
  char text[32];
  if (strcmp(past->end_status, "ok") != 0) {
    printf("%s: %s since %s\n  %s\n", folder, past->end_status, gab_local_date(past->end_time, text),
           past->end_message);
    return 0;
  }
  printf("%s: done since %s", folder, gab_local_date(past->end_time, text));
  gab_json_document *summary = gab_app_status_open(folder, "summary.json");
  if (summary) {
    char checksum[32];
    printf(": %.0f steps in %s, checksum %s", gab_json_get_real(summary, "/steps"),
           gab_app_status_duration(gab_json_get_real(summary, "/seconds"), text),
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

/* JSON, for programs. Members of progress.json are copied unchanged. */
static int tell_json(const char *folder, gab_json_document *progress, const gab_app_status_history *past,
                     gab_json_form form)
{
  static const char *const counts[] = {
      "step",   "steps",      "updates_per_second", "seconds_left", "ranks",       "living",
      "spares", "checkpoint", "disk_checkpoint",    "faults",       "rolled_back", "reconstructed_blocks"};
  const bool ended = past->end_time > 0;
  double silent = 0;
  const bool running = !ended && gab_app_status_is_running(progress, past, &silent);
  gab_json_document *summary = ended ? gab_app_status_open(folder, "summary.json") : NULL;
  gab_json *json = gab_json_begin(form);
  char path[48], checksum[32];
  gab_json_text(json, "folder", folder);
  gab_json_text(json, "state", gab_app_status_word(progress, past));
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

static int tell_life(const char *folder, gab_json_document *progress, const gab_app_status_history *past)
{
  char text[32];
  double silent;
  const bool running = gab_app_status_is_running(progress, past, &silent);
  printf("%s: %s (last sign of life %s ago)\n", folder,
         !running                         ? "DEAD: no sign of life, and it has not said that it ended"
         : silent > GAB_APP_STATUS_SILENT ? "running, but silent"
                                          : "running",
         gab_app_status_duration(silent, text));
  if (progress) print_progress(progress, running);
  gab_app_status_behind_print(&past->behind);
  return running ? 0 : 3;
}

/* One run, with its history. @return exit code */
static int tell_run(const char *folder, bool as_json)
{
  gab_app_status_history *past = calloc(1, sizeof *past);
  int code = 2;
  if (!past) fprintf(stderr, "gabion: no memory\n");
  else if (!gab_app_status_history_read(folder, past))
    fprintf(stderr, "gabion: no run in %s: no events.jsonl (a run writes it at its start)\n", folder);
  else {
    gab_json_document *progress = gab_app_status_open(folder, "progress.json");
    if (as_json) {
      code = tell_json(folder, progress, past, GAB_JSON_PAGE);
    } else {
      code = past->end_time > 0 ? tell_end(folder, past) : tell_life(folder, progress, past);
      if (past->end_time > 0 && progress && strcmp(past->end_status, "ok") != 0)
        print_progress(progress, false);
      print_history(past);
    }
    gab_json_forget(&progress);
  }
  free(past);
  return code;
}

/* ---------------------------------------------------------------- several runs */

typedef struct listing {
  bool as_json;
  int code;
  gab_app_status_counts counts;
} listing;

static gab_status list_run(void *user, const char *folder)
{
  listing *all = user;
  gab_app_status_history *past = calloc(1, sizeof *past);
  if (!past) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the events of %s", folder);
  if (gab_app_status_history_read(folder, past)) {
    gab_json_document *progress = gab_app_status_open(folder, "progress.json");
    if (all->as_json) tell_json(folder, progress, past, GAB_JSON_LINE);
    else gab_app_status_print_line(folder, progress, past);
    gab_app_status_count(gab_app_status_word(progress, past), &all->counts);
    gab_json_forget(&progress);
  }
  free(past);
  return GAB_OK;
}

static gab_status list(const gab_app_options *options, int *code)
{
  listing all = {.as_json = options->json};
  for (size_t i = 0; i < options->word_count; i++)
    GAB_TRY(gab_app_run_tree_visit(options->words[i], list_run, &all));
  if (!all.as_json) gab_app_status_print_counts(&all.counts);
  *code = all.counts.dead > 0 ? 3 : 0;
  return GAB_OK;
}

int gab_app_command_status(int argc, char **argv)
{
  gab_app_options options;
  int code = 0;
  gab_status status = gab_app_options_parse(argc, argv, "j*", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK && !options.word)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no folder given (gabion status --help)");
  if (status == GAB_OK && options.word_count == 1 && !gab_app_run_tree_has_runs_below(options.word))
    return tell_run(options.word, options.json);
  if (status == GAB_OK) status = list(&options, &code);
  if (status == GAB_OK) return code;
  fprintf(stderr, "gabion: %s\n", gab_error_message());
  return 2;
}
