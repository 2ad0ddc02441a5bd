/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/loop/stop.h"

#include "core/messages/collective.h"
#include "core/base/timer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_SECONDS 1.0 /* interval of queries */
#define MARGIN       1.2 /* stopping may take longer than the last time */

/* Between two queries; the next steps may be much slower, e.g. on a larger grid. */
enum { MOST_STEPS = 64 };

/* Signals with which people and batch systems request the end of a job. */
static const int requests[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
enum { REQUESTS = sizeof requests / sizeof *requests };

struct gab_stop {
  gab_world *world;
  double deadline;
  const char *file; /* borrowed from the environment; NULL: none */
  gab_step next;    /* step of the next query */
  struct sigaction before[REQUESTS];
};

static volatile sig_atomic_t received; /* the first of these signals; 0: none */

/* A second Ctrl-C ends the process at once. */
static void note_request(int number)
{
  if (number == SIGINT && received == SIGINT) {
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
  }
  if (received == 0) received = number;
}

gab_status gab_stop_create(gab_world *world, double deadline, gab_stop **stop)
{
  *stop = NULL;
  gab_stop *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  made->deadline = deadline;
  made->file = getenv("GABION_STOP");
  made->next = -1;
  struct sigaction action = {.sa_handler = note_request, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < REQUESTS; i++) {
    sigaction(requests[i], NULL, &made->before[i]);
    /* nohup: a signal that is ignored stays ignored */
    if (made->before[i].sa_handler != SIG_IGN) sigaction(requests[i], &action, NULL);
  }
  *stop = made;
  return GAB_OK;
}

void gab_stop_destroy(gab_stop **stop)
{
  if (!*stop) return;
  for (int i = 0; i < REQUESTS; i++) sigaction(requests[i], &(*stop)->before[i], NULL);
  gab_free(stop);
}

void gab_stop_restart(gab_stop *stop, gab_step step) { stop->next = step + 1; }

gab_step gab_stop_next(const gab_stop *stop) { return stop->next > 0 ? stop->next : 0; }

/* Requests known to this process; only the root checks file and clock. */
gab_stop_reason gab_stop_look(const gab_stop *stop, double reserve)
{
  if (received) return GAB_STOP_SIGNAL;
  if (!gab_world_is_root(stop->world)) return GAB_STOP_NOT;
  if (stop->file && access(stop->file, F_OK) == 0) return GAB_STOP_FILE;
  if (stop->deadline > 0 && gab_seconds_since_1970() + MARGIN * reserve + 2 * POLL_SECONDS >= stop->deadline)
    return GAB_STOP_DEADLINE;
  return GAB_STOP_NOT;
}

gab_status gab_stop_ask(gab_stop *stop, gab_step step, double step_seconds, double reserve,
                        gab_stop_reason *reason)
{
  *reason = GAB_STOP_NOT;
  if (step < stop->next) return GAB_OK;
  uint64_t next = 1; /* steps until the next query, set by the root */
  if (gab_world_is_root(stop->world) && step_seconds > 0 && step_seconds < POLL_SECONDS)
    next = (uint64_t)fmin(POLL_SECONDS / step_seconds, MOST_STEPS);
  /* The next chance to stop is after these steps. */
  uint64_t values[2] = {gab_stop_look(stop, reserve + (double)next * step_seconds), next};
  GAB_TRY(gab_world_max_u64(stop->world, values, 2));
  *reason = (gab_stop_reason)values[0];
  stop->next = step + (gab_step)values[1];
  return GAB_OK;
}

gab_status gab_stop_look_together(const gab_stop *stop, double reserve, gab_stop_reason *reason)
{
  uint64_t asked = gab_stop_look(stop, reserve);
  GAB_TRY(gab_world_max_u64(stop->world, &asked, 1));
  *reason = (gab_stop_reason)asked;
  return GAB_OK;
}

const char *gab_stop_text(gab_stop_reason reason)
{
  switch (reason) {
  case GAB_STOP_DEADLINE:
    return "the wall time is used up";
  case GAB_STOP_FILE:
    return "the launcher was told to stop";
  case GAB_STOP_SIGNAL:
    return "a process received a signal to stop";
  default:
    return "no stop was requested";
  }
}

/* ---------------------------------------------------------------- wall times */

#define WALLTIME_FORM "a wall time looks like 3600, 90 s, 30 min, 24 h, 12:00:00 or 1-12:00:00"

/* "1-12:00:00", "12:00:00", "30:00": days, hours, minutes, seconds, from the right. */
static bool read_clock(const char *text, double *seconds)
{
  static const double weights[] = {1, 60, 3600};
  double parts[3];
  int count = 0;
  char *end;
  *seconds = 0;
  const char *dash = strchr(text, '-');
  if (dash) {
    const double days = strtod(text, &end);
    if (end != dash || days < 0) return false;
    *seconds = 86400 * days;
    text = dash + 1;
  }
  for (;; text = end + 1) {
    if (count == 3 || text[0] < '0' || text[0] > '9') return false;
    parts[count++] = (double)strtol(text, &end, 10);
    if (*end != ':') break;
  }
  if (*end != '\0' || (dash && count < 3)) return false;
  for (int i = 0; i < count; i++) *seconds += weights[count - 1 - i] * parts[i];
  return true;
}

gab_status gab_walltime_parse(const char *text, double *seconds)
{
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  double read = 0;
  bool known = false;
  if (strchr(text, ':')) {
    known = read_clock(text, &read);
  } else {
    char *unit;
    const double number = strtod(text, &unit);
    while (*unit == ' ') unit++;
    for (size_t i = 0; unit != text && i < sizeof units / sizeof units[0]; i++)
      if (strcmp(unit, units[i].name) == 0) {
        read = number * units[i].seconds;
        known = true;
      }
  }
  if (!known || !(read > 0) || !isfinite(read))
    GAB_FAIL(GAB_ERR_INPUT, "'%s' is not a walltime; " WALLTIME_FORM, text);
  *seconds = read;
  return GAB_OK;
}
