/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/output_retry_impl.h"
#include "blockforest/output/output_retry.h"

#include "core/base/log.h"
#include "core/base/timer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* One state per process: the disk refuses, not a single file. */
static struct {
  double patience; /* seconds */
  double since;    /* of the first failure; negative: none since the last success */
  double nap;
  void (*call)(const void *user);
  const void *user;
} state = {.patience = GAB_OUTPUT_RETRY, .since = -1};

void gab_output_set_retry(double seconds) { state.patience = seconds; }

void gab_output_on_wait(void (*call)(const void *user), const void *user)
{
  state.call = call;
  state.user = user;
}

/* Errors that an administrator or time can remove. Others are permanent. */
static bool passes(int error)
{
  switch (error) {
  case EACCES:
  case EPERM:
  case EISDIR:
  case ENOTDIR:
  case ENOENT:
  case ELOOP:
  case ENAMETOOLONG:
  case EINVAL:
  case EBADF:
  case EFBIG:
  case EROFS:
    return false;
  default:
    return true;
  }
}

bool gab_output_may_retry(const char *path, int error)
{
  const double now = gab_seconds();
  if (!passes(error) || state.patience <= 0) return false;
  if (state.since < 0) {
    state.since = now;
    state.nap = 0.05;
    gab_log_all(GAB_LOG_WARNING, "cannot write %s: %s; trying again for %g s (output.retry)", path,
                strerror(error), state.patience);
  }
  if (now - state.since >= state.patience) return false;
  const struct timespec nap = {(time_t)state.nap, (long)(1e9 * (state.nap - (double)(time_t)state.nap))};
  nanosleep(&nap, NULL);
  if (state.nap < 1) state.nap *= 2;
  if (state.call) state.call(state.user);
  return true;
}

void gab_output_succeeded(const char *path)
{
  if (state.since < 0) return;
  gab_log_all(GAB_LOG_INFO, "%s is written, after %.1f s", path, gab_seconds() - state.since);
  state.since = -1;
}

gab_status gab_output_refused(const char *what, const char *path, int error)
{
  if (state.since < 0 || !passes(error))
    GAB_FAIL(GAB_ERR_IO, "cannot %s %s: %s", what, path, strerror(error));
  GAB_FAIL(GAB_ERR_IO, "cannot %s %s: %s (errno %d); tried for %.0f s (output.retry)", what, path,
           strerror(error), error, gab_seconds() - state.since);
}
