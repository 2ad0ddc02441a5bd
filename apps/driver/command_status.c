/* gabion status: how far a run is, and what happened to it, from the files in its folder. Needs no MPI. */
#include "apps/driver/driver.h"
#include "core/file.h"
#include "resilience/history.h"

#include <errno.h>
#include <inttypes.h>
#include <libfyaml.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion status FOLDER\n"
    "\n"
    "Tells how far the run is whose results go to FOLDER, whether it still lives, and what happened to it.\n"
    "Exit code: 0 it has ended or is running, 2 there is no run in FOLDER, 3 it shows no sign of life.\n";

enum {
  SHOWN_EVENTS = 12,
  SILENT_SECONDS = 60 /* without a sign of life: a step, or writing, may take so long */
};

/* ---------------------------------------------------------------- JSON, which is YAML */

static struct fy_document *open_json(const char *folder, const char *name)
{
  char path[GAB_PATH_LENGTH + 32];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (gab_file_check(path) != GAB_OK) return NULL;
  const struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_PARSE};
  return fy_document_build_from_file(&quiet, path);
}

/* A member of the outermost object as text; "" if there is none. */
static const char *text_of(struct fy_document *document, const char *key, char *text, size_t room)
{
  size_t length = 0;
  struct fy_node *node = fy_node_by_path(fy_document_root(document), key, FY_NT, FYNWF_DONT_FOLLOW);
  const char *found = node && fy_node_is_scalar(node) ? fy_node_get_scalar(node, &length) : NULL;
  snprintf(text, room, "%.*s", (int)length, found ? found : "");
  return text;
}

static double number_of(struct fy_document *document, const char *key)
{
  char text[64];
  return strtod(text_of(document, key, text, sizeof text), NULL);
}

/* [2, 5] as "2, 5". */
static const char *list_of(struct fy_document *document, const char *key, char *text, size_t room)
{
  text[0] = '\0';
  struct fy_node *list = fy_node_by_path(fy_document_root(document), key, FY_NT, FYNWF_DONT_FOLLOW);
  void *at = NULL;
  for (struct fy_node *item; list && (item = fy_node_sequence_iterate(list, &at));) {
    size_t length = 0, used = strlen(text);
    const char *word = fy_node_get_scalar(item, &length);
    snprintf(text + used, room - used, "%s%.*s", used ? ", " : "", (int)length, word ? word : "");
  }
  return text;
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

static const char *date(double time, char text[32])
{
  const time_t seconds = (time_t)time;
  struct tm parts;
  localtime_r(&seconds, &parts);
  strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---------------------------------------------------------------- events.jsonl */

/* What the history comes to. */
typedef struct history {
  char shown[SHOWN_EVENTS][256]; /* the last lines worth showing, in a ring */
  size_t count;
  double last_time, end_time; /* of any event; of the last end, 0 if it was started again since */
  char end_status[64], end_message[512];
  gab_history jobs;
} history;

static char *next_line(history *past) { return past->shown[past->count++ % SHOWN_EVENTS]; }

static void take_recovery(struct fy_document *event, history *past)
{
  char lost[128];
  list_of(event, "/lost", lost, sizeof lost);
  snprintf(next_line(past), sizeof past->shown[0],
           "slot%s %s died at step %.0f; back to step %.0f, going on after %.3f s", strchr(lost, ',') ? "s" : "",
           lost[0] ? lost : "(none)", number_of(event, "/noticed_step"), number_of(event, "/restored_step"),
           number_of(event, "/seconds"));
}

static void take_end(struct fy_document *event, double time, history *past)
{
  past->end_time = time;
  text_of(event, "/status", past->end_status, sizeof past->end_status);
  text_of(event, "/message", past->end_message, sizeof past->end_message);
}

/* One line of the file. Lines that are cut (the writer was killed) are passed over. */
static void take_event(const char *line, size_t length, history *past)
{
  const struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_PARSE};
  struct fy_document *event = fy_document_build_from_string(&quiet, line, length);
  if (!event) return;
  char name[48], from[64], when[32];
  const double time = number_of(event, "/time");
  const size_t before = past->count;
  text_of(event, "/event", name, sizeof name);
  past->last_time = time;
  if (strcmp(name, "recovery") == 0) take_recovery(event, past);
  else if (strcmp(name, "reconstruction") == 0)
    snprintf(next_line(past), sizeof past->shown[0],
             "no copy was left of %s: %.0f of %.0f blocks were made up, an approximation from step %.0f on",
             text_of(event, "/of", from, sizeof from), number_of(event, "/blocks"), number_of(event, "/all_blocks"),
             number_of(event, "/of_step"));
  else if (strcmp(name, "start") == 0) {
    past->end_time = 0;
    snprintf(next_line(past), sizeof past->shown[0], "started at step %.0f of %.0f on %.0f processes",
             number_of(event, "/at_step"), number_of(event, "/steps"), number_of(event, "/slots"));
  } else if (strcmp(name, "end") == 0) take_end(event, time, past);
  else if (strcmp(name, "continued") == 0)
    snprintf(next_line(past), sizeof past->shown[0], "went on from step %.0f, a checkpoint %s",
             number_of(event, "/of_step"), text_of(event, "/from", from, sizeof from));
  else if (strcmp(name, "fault noticed") != 0 && strcmp(name, "checkpoint") != 0 &&
           strcmp(name, "disk checkpoint") != 0)
    snprintf(next_line(past), sizeof past->shown[0], "%s, step %.0f", name, number_of(event, "/step"));
  if (past->count > before) {
    char *line_shown = past->shown[before % SHOWN_EVENTS], copy[200];
    snprintf(copy, sizeof copy, "%.199s", line_shown);
    snprintf(line_shown, sizeof past->shown[0], "%s  %s", date(time, when), copy);
  }
  fy_document_destroy(event);
}

static bool read_history(const char *folder, history *past)
{
  char path[GAB_PATH_LENGTH + 32], *line = NULL;
  size_t room = 0;
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  FILE *file;
  if (gab_file_open(path, &file) != GAB_OK) return false;
  for (ssize_t length; (length = getline(&line, &room, file)) > 0;)
    if (line[length - 1] == '\n') take_event(line, (size_t)length - 1, past);
  free(line);
  fclose(file);
  gab_history_read(folder, &past->jobs);
  return true;
}

/* Where the next job would begin, and, where there was more than one, what became of them. */
static void print_jobs(const gab_history *jobs)
{
  if (jobs->disk_checkpoint >= 0) printf("  last checkpoint on disk: step %" GAB_PRI_STEP "\n", jobs->disk_checkpoint);
  if (jobs->starts < 2) return;
  printf("  %" PRIu64 " starts", jobs->starts);
  if (jobs->relaunches > 0) printf(", %" PRIu64 " of them by the launcher after the job had ended or hung", jobs->relaunches);
  printf("; went on from a checkpoint %" PRIu64 " time%s", jobs->continuations, jobs->continuations == 1 ? "" : "s");
  if (jobs->deaths > 0)
    printf("; from step %" GAB_PRI_STEP " %" PRIu64 " time%s without getting any further", jobs->from, jobs->deaths,
           jobs->deaths == 1 ? "" : "s");
  printf("\n");
}

static void print_history(const history *past)
{
  print_jobs(&past->jobs);
  const size_t shown = past->count < SHOWN_EVENTS ? past->count : SHOWN_EVENTS;
  if (shown > 0) printf("  %s:\n", past->count > shown ? "the last of what happened" : "what happened");
  for (size_t i = past->count - shown; i < past->count; i++) printf("    %s\n", past->shown[i % SHOWN_EVENTS]);
}

/* ---------------------------------------------------------------- progress.json */

/* True if the process that wrote it lives, as far as this machine can tell; *known says whether it can. */
static bool writer_lives(struct fy_document *progress, bool *known)
{
  char theirs[128], mine[128] = "";
  gethostname(mine, sizeof mine - 1);
  *known = strcmp(text_of(progress, "/host", theirs, sizeof theirs), mine) == 0;
  const pid_t pid = (pid_t)number_of(progress, "/pid");
  return *known && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static void print_progress(struct fy_document *progress, bool running)
{
  char left[32];
  const double step = number_of(progress, "/step"), steps = number_of(progress, "/steps");
  const double faults = number_of(progress, "/faults"), checkpoint = number_of(progress, "/checkpoint");
  printf("  step %.0f of %.0f (%.1f %%), %.1f million cell updates per second", step, steps,
         steps > 0 ? 100 * step / steps : 0, number_of(progress, "/updates_per_second") * 1e-6);
  if (running) printf(", %s left", duration(number_of(progress, "/seconds_left"), left));
  printf("\n  %.0f of %.0f processes", number_of(progress, "/living"), number_of(progress, "/slots"));
  if (checkpoint >= 0 && running) printf("; last checkpoint in memory: step %.0f", checkpoint);
  if (faults > 0)
    printf("; %.0f fault%s, %.0f steps computed again", faults, faults == 1 ? "" : "s",
           number_of(progress, "/rolled_back"));
  if (number_of(progress, "/reconstructed_blocks") > 0)
    printf("; APPROXIMATE: %.0f blocks were made up", number_of(progress, "/reconstructed_blocks"));
  printf("\n");
}

/* ---------------------------------------------------------------- all of it */

static int tell_end(const char *folder, const history *past)
{
  char text[32];
  if (strcmp(past->end_status, "ok") != 0) {
    printf("%s: %s since %s\n  %s\n", folder, past->end_status, date(past->end_time, text), past->end_message);
    return 0;
  }
  printf("%s: done since %s", folder, date(past->end_time, text));
  struct fy_document *summary = open_json(folder, "summary.json");
  if (summary) {
    char checksum[32];
    printf(": %.0f steps in %s, checksum %s", number_of(summary, "/steps"),
           duration(number_of(summary, "/seconds"), text),
           text_of(summary, "/checksum", checksum, sizeof checksum));
    if (number_of(summary, "/reconstructed_blocks") > 0)
      printf(", APPROXIMATE from step %.0f on: %.0f blocks were made up", number_of(summary, "/approximate_from_step"),
             number_of(summary, "/reconstructed_blocks"));
    fy_document_destroy(summary);
  }
  printf("\n");
  return 0;
}

static int tell_life(const char *folder, struct fy_document *progress, const history *past)
{
  char text[32];
  bool known = false;
  const bool lives = progress && writer_lives(progress, &known);
  double last = past->last_time;
  if (progress && number_of(progress, "/time") > last) last = number_of(progress, "/time");
  const double silent = seconds_now() - last;
  /* The root may have died and its successor not written yet: a fresh sign counts more than a missing process. */
  const bool running = lives || silent < (known ? 10 : SILENT_SECONDS);
  printf("%s: %s (last sign of life %s ago)\n", folder,
         !running             ? "DEAD: no sign of life, and it has not said that it ended"
         : silent > SILENT_SECONDS ? "running, but silent"
                                   : "running",
         duration(silent, text));
  if (progress) print_progress(progress, running);
  return running ? 0 : 3;
}

int command_status(int argc, char **argv)
{
  driver_options options;
  history *past = calloc(1, sizeof *past);
  gab_status status = driver_options_parse(argc, argv, "", &options);
  if (status == GAB_OK && !options.help && !options.word)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no folder given (gabion status --help)");
  int code = 0;
  if (status != GAB_OK || !past) {
    fprintf(stderr, "gabion: %s\n", past ? gab_error_message() : "no memory");
    code = 2;
  } else if (options.help) {
    fputs(usage, stdout);
  } else if (!read_history(options.word, past)) {
    fprintf(stderr, "gabion: there is no run in %s: no events.jsonl (a run writes it when it starts)\n", options.word);
    code = 2;
  } else {
    struct fy_document *progress = open_json(options.word, "progress.json");
    code = past->end_time > 0 ? tell_end(options.word, past) : tell_life(options.word, progress, past);
    if (past->end_time > 0 && progress && strcmp(past->end_status, "ok") != 0) print_progress(progress, false);
    print_history(past);
    if (progress) fy_document_destroy(progress);
  }
  free(past);
  return code;
}
