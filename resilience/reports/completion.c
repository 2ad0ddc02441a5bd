/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/completion.h"

#include "core/system/file.h"
#include "core/base/log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int gab_launch_attempt(void)
{
  const char *told = getenv("GABION_ATTEMPT");
  char *end = NULL;
  const long attempt = told ? strtol(told, &end, 10) : 0;
  return told && end != told && *end == '\0' && attempt > 0 && attempt <= INT_MAX ? (int)attempt : 0;
}

static void write_whole(const char *path, const char *text)
{
  if (gab_file_replace(path, text, strlen(text), GAB_FILE_RENAMED) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "for the launcher: %s", gab_error_message());
}

void gab_report_progress(const gab_world *world, gab_step step, double longest)
{
  static double last = -1e9; /* of this process; the launcher wants no more than one a second */
  const char *path = getenv("GABION_PROGRESS");
  if (!path || !gab_world_is_root(world) || gab_seconds() - last < 1) return;
  last = gab_seconds();
  char text[160], steps[48] = "";
  if (longest > 0) snprintf(steps, sizeof steps, ", longest step %.3g s", longest);
  snprintf(text, sizeof text, "%" GAB_PRI_STEP " at %.3f s, epoch %" GAB_PRI_EPOCH "%s\n", step, last,
           gab_world_epoch(world), steps);
  write_whole(path, text);
}

/* The status of an exit code, to be raised. */
static gab_status status_of(int code)
{
  for (int status = GAB_ERR_INPUT; status < GAB_STATUS_COUNT; status++)
    if (gab_status_exit_code((gab_status)status) == code) return (gab_status)status;
  return GAB_ERR_STATE;
}

/* A failure that all share is on its way to all: they get a moment to find it themselves. One that is this
 * process's own would leave the others waiting. */
static void break_away(gab_world *world, int code)
{
  const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};
  for (int naps = 0; naps < 40 && gab_world_check(world) == GAB_OK; naps++) nanosleep(&nap, NULL);
  if (gab_world_check(world) == GAB_OK) gab_world_raise(world, status_of(code));
}

static void announce(int code)
{
  const char *path = getenv("GABION_COMPLETION");
  char text[32];
  snprintf(text, sizeof text, "exit %d\n", code);
  if (path) write_whole(path, text);
}

int gab_report_completion(gab_world *world, int code)
{
  /* A process that was waiting when the world broke has no other information, and ends like the process that broke
   * it. */
  const bool waited = code == gab_status_exit_code(GAB_ERR_FAULT) && gab_world_check(world) != GAB_OK;
  gab_status abort_request;
  if (code != 0 && gab_world_survives_deaths(world)) break_away(world, code);
  for (;;) {
    if (gab_world_check(world) != GAB_OK) {
      if (gab_world_repair(world, &abort_request) != GAB_OK) {
        announce(code); /* beyond repair: without a root any informed process reports it */
        break;
      }
      if (waited && abort_request == GAB_OK && gab_world_step(world) < 0)
        abort_request = gab_error_set(GAB_ERR_AGAIN, __FILE__, __LINE__,
                                      "a process died while the run was being set up: nothing is lost");
      if ((waited || code == 0) && abort_request != GAB_OK) {
        gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(abort_request), gab_error_message());
        code = gab_status_exit_code(abort_request);
      }
    }
    if (gab_world_is_root(world)) announce(code);
    uint32_t flags = 1;
    if (gab_world_agree(world, &flags) != GAB_ERR_FAULT) break;
  }
  return code;
}
