/* SPDX-License-Identifier: Apache-2.0 */
/* Common keys of all output: schedule and compression. */
#include "apps/driver/driver.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>

/* Rounds to whole steps within rounding errors; intervals below one step mean every step. */
static gab_status steps_of_interval(const gab_config *config, const char *path, double dt,
                                    gab_schedule *schedule)
{
  if (!(dt > 0))
    return gab_config_fail(config, path, "time steps of this case differ in length; use every, in steps");
  const double steps = gab_config_real(config, path) / dt;
  if (!(steps < 9e15)) return gab_config_fail(config, path, "that would be %g steps", steps);
  schedule->every = steps < 1 ? 1 : llround(steps);
  const bool is_whole = fabs(steps - (double)schedule->every) <= 1e-12 * steps;
  schedule->interval = steps <= 1 || is_whole ? 0 : steps;
  return GAB_OK;
}

gab_status gab_app_schedule_read(const gab_config *config, const char *path, double dt,
                                 gab_schedule *schedule)
{
  char every[GAB_CONFIG_PATH_CAPACITY], interval[GAB_CONFIG_PATH_CAPACITY], start[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(every, "%s.every", path);
  gab_config_path(interval, "%s.interval", path);
  *schedule = (gab_schedule){.every = gab_config_int(config, every),
                             .start = gab_config_int(config, gab_config_path(start, "%s.start", path))};
  if (!gab_config_is_set(config, interval)) return GAB_OK;
  return steps_of_interval(config, interval, dt, schedule);
}

gab_status gab_app_series_read(const gab_config *config, const char *path, double dt, gab_schedule *schedule)
{
  *schedule = (gab_schedule){0};
  if (!gab_config_is_set(config, path)) return GAB_OK;
  GAB_TRY(gab_app_schedule_read(config, path, dt, schedule));
  if (schedule->every == 0) return gab_config_fail(config, path, "every or interval is needed");
  schedule->last = true;
  return GAB_OK;
}

int gab_app_compression_read(const gab_config *config, const char *path)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(key, "%s.compression", path);
  return gab_config_is_set(config, key) ? (int)gab_config_int(config, key) : gab_volume_usual_compression();
}
