/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/history.h"

#include "core/system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The job that the lines are about. */
typedef struct job {
  bool open;          /* resumed from a checkpoint, without progress since */
  bool orderly;       /* stopped on request, or completed */
  bool failed;        /* it ended by itself, and not because something was lost */
  double began, last; /* times of its first line and of the last read one; 0: none */
} job;

/* A number of the outermost object, as gab_event_begin() writes it. */
static gab_step number_of(const char *line, const char *key, gab_step otherwise)
{
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(line, quoted);
  return at ? strtoll(at + strlen(quoted), NULL, 10) : otherwise;
}

/* When the line was written, in seconds; 0: it does not say. */
static double time_of(const char *line)
{
  static const char key[] = "\"time\": ";
  const char *at = strstr(line, key);
  return at ? strtod(at + sizeof key - 1, NULL) : 0;
}

static bool is_event(const char *line, const char *name)
{
  char quoted[80];
  snprintf(quoted, sizeof quoted, "\"event\": \"%s\"", name);
  return strstr(line, quoted) != NULL;
}

/* Called when the next job begins, and at the end of the file. */
static void close_job(gab_history *history, job *job)
{
  if (job->open && !job->orderly) history->deaths++;
  if (job->began > 0 && !job->orderly && !job->failed) history->losses++;
  if (job->began > 0 && job->last > job->began) history->seconds += job->last - job->began;
  *job = (struct job){0};
}

static void take_line(const char *line, gab_history *history, job *job)
{
  if (is_event(line, "start")) {
    close_job(history, job);
    job->began = time_of(line);
    history->starts++;
    history->relaunches += number_of(line, "attempt", 0) > 0;
  } else if (is_event(line, "continued")) {
    const gab_step from = number_of(line, "of_step", -1);
    if (from != history->from) history->deaths = 0;
    history->from = from;
    history->continuations++;
    job->open = true;
  } else if (is_event(line, "disk checkpoint")) {
    history->disk_checkpoint = number_of(line, "of_step", -1);
    if (history->disk_checkpoint > history->from) {
      history->deaths = 0;
      job->open = false;
    }
  } else if (is_event(line, "restored from disk")) {
    history->losses++;
  } else if (is_event(line, "stop") || (is_event(line, "end") && strstr(line, "\"status\": \"ok\""))) {
    job->orderly = true;
  } else if (is_event(line, "end")) {
    job->failed = !strstr(line, "\"status\": \"data lost\"");
  }
  if (job->began > 0) job->last = time_of(line);
}

void gab_history_read(const char *folder, gab_history *history)
{
  char path[4096], *line = NULL;
  size_t capacity = 0;
  job job = {0};
  *history = (gab_history){.from = -1, .disk_checkpoint = -1};
  const int length = snprintf(path, sizeof path, "%s/events.jsonl", folder);
  FILE *file;
  if (length >= (int)sizeof path || gab_file_open(path, &file) != GAB_OK) return;
  for (ssize_t got; (got = getline(&line, &capacity, file)) > 0;)
    if (line[got - 1] == '\n') take_line(line, history, &job);
  free(line); /* of getline() */
  fclose(file);
  close_job(history, &job);
}

const char *gab_history_who_took_over(int32_t returned, int32_t respawned)
{
  if (respawned == 0) return returned == 1 ? "spare" : "spares";
  if (respawned < returned) return "spares and new processes";
  return returned == 1 ? "new process" : "new processes";
}
