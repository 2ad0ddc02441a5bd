#include "resilience/beacon.h"

#include "core/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside the target first, then renamed: a reader sees all or nothing. */
static void write_whole(const char *path, const char *text)
{
  char beside[1024];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) return;
  FILE *file = fopen(beside, "w");
  if (!file) return;
  bool fine = fputs(text, file) >= 0;
  fine = fclose(file) == 0 && fine;
  if (!fine || rename(beside, path) != 0)
    gab_log_all(GAB_LOG_WARNING, "cannot write %s for the launcher: %s", path, strerror(errno));
}

void gab_beacon_progress(const gab_world *world, gab_step step)
{
  static double last = -1e9; /* of this process; the launcher wants no more than one a second */
  const char *path = getenv("GABION_PROGRESS");
  if (!path || !gab_world_is_root(world) || gab_seconds() - last < 1) return;
  last = gab_seconds();
  char text[96];
  snprintf(text, sizeof text, "%" GAB_PRI_STEP " at %.3f s, epoch %" GAB_PRI_EPOCH "\n", step, last,
           gab_world_epoch(world));
  write_whole(path, text);
}

/* The status that a code stands for, to be raised. */
static gab_status status_of(int code)
{
  for (int status = GAB_ERR_INPUT; status < GAB_STATUS_COUNT; status++)
    if (gab_status_exit_code((gab_status)status) == code) return (gab_status)status;
  return GAB_ERR_STATE;
}

/* Who knows only that the world broke ends like the one that broke it. */
static int take_over(gab_status intent, int code)
{
  if (intent == GAB_OK || code != gab_status_exit_code(GAB_ERR_FAULT)) return code;
  if (gab_status_exit_code(intent) != code)
    gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(intent), gab_error_message());
  return gab_status_exit_code(intent);
}

int gab_beacon_complete(gab_world *world, int code)
{
  const char *path = getenv("GABION_COMPLETION");
  gab_status intent;
  if (code != 0 && gab_world_survives_deaths(world) && gab_world_check(world) == GAB_OK)
    gab_world_raise(world, status_of(code));
  for (;;) {
    if (gab_world_check(world) != GAB_OK) {
      if (gab_world_repair(world, &intent) != GAB_OK) break;
      code = take_over(intent, code);
    }
    if (path && gab_world_is_root(world)) {
      char text[32];
      snprintf(text, sizeof text, "exit %d\n", code);
      write_whole(path, text);
    }
    uint32_t flags = 1;
    if (gab_world_agree(world, &flags) != GAB_ERR_FAULT) break;
  }
  return code;
}
