/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run when the mean of a force is known, as the section `run.until.converged' asks for it. */
#include "apps/driver/flow/observe/flow_means.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "core/base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- table */

static const gab_config_key keys[] = {
    UNTIL_COLUMN_KEY("rod.cx"),
    {.name = "within",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .min_excluded = true,
     .max = 1,
     .default_text = "0.01",
     .outside = true,
     .doc = "Half of the width of the 95 % confidence interval, relative to the mean."},
    START_KEY(false, "First step with a row that counts: behind the transient."),
};

gab_status gab_app_converged_declare(gab_config *config)
{
  static const gab_config_section section = {
      .path = "run.until.converged",
      .doc = "End of the run when the mean of a force or coefficient is known, by batch means.",
      KEYS(keys)};
  return gab_app_declare(config, &section, 1);
}

gab_status gab_app_until_read_column(const gab_config *config, const char *section, const char **of)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(key, "%s.of", section);
  if (!gab_config_is_set(config, key)) return gab_config_fail(config, section, "of is needed");
  if (!gab_config_is_set(config, "output.forces"))
    return gab_config_fail(config, section, "output.forces is needed, whose rows are the values");
  *of = gab_config_string(config, key);
  return GAB_OK;
}

gab_status gab_app_until_find_column(const gab_config *config, const char *key, const char *of,
                                     const char *const *columns, size_t count, int *column)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(columns[i], of) == 0) {
      *column = (int)i;
      return GAB_OK;
    }
  return gab_config_fail(config, key, "forces.csv has no column '%s'; it has %s to %s", of, columns[0],
                         columns[count - 1]);
}

gab_status gab_app_converged_read(const gab_config *config, until_plan *plan)
{
  if (!gab_config_is_set(config, "run.until.converged")) return GAB_OK;
  GAB_TRY(gab_app_until_read_column(config, "run.until.converged", &plan->of));
  plan->within = gab_config_real(config, "run.until.converged.within");
  plan->start = gab_config_int(config, "run.until.converged.start");
  return GAB_OK;
}

gab_status gab_app_flow_converged_prepare(flow_until *it, const gab_config *config, gab_schedule rows,
                                          const char *const *columns, size_t count)
{
  it->rows = rows;
  it->noted = -1;
  if (!it->plan->of) return GAB_OK;
  return gab_app_until_find_column(config, "run.until.converged.of", it->plan->of, columns, count,
                                   &it->column);
}

/* ---------------------------------------------------------------- rows */

static void log_interval(const flow_until *it, gab_step step)
{
  double mean = 0, half = 0;
  const bool is_known = batch_means_interval(&it->batches, &mean, &half);
  gab_log(GAB_LOG_INFO,
          "step %" GAB_PRI_STEP ": %s %.5g +- %.2g with 95 %%%s, run.until.converged.within is %g of it",
          step, it->plan->of, mean, half, is_known ? "" : " (not yet: its batches depend on each other)",
          it->plan->within);
}

void gab_app_flow_converged_note(flow_until *it, gab_step step, const double *values)
{
  if (!it->plan->of || step < it->plan->start || step <= it->noted || step == 0) return;
  it->noted = step;
  batch_means_note(&it->batches, values[it->column]);
  if (it->batches.in_sum == 0 && it->batches.whole == BATCHES_LEAST &&
      it->batches.length >= BATCH_LEAST_LENGTH)
    log_interval(it, step);
}

enum { BATCH_VALUES = sizeof(batch_means) / sizeof(double) };

gab_status gab_app_flow_converged_pack(const flow_until *it, gab_buffer *out)
{
  if (!it->plan->of) return GAB_OK;
  GAB_TRY(gab_put_i64(out, it->noted));
  return gab_put_f64s(out, &it->batches.count, BATCH_VALUES);
}

gab_status gab_app_flow_converged_unpack(flow_until *it, gab_reader *in)
{
  int64_t noted;
  if (!it->plan->of) return GAB_OK;
  GAB_TRY(gab_get_i64(in, &noted));
  it->noted = noted;
  return gab_get_f64s(in, &it->batches.count, BATCH_VALUES);
}

/* ---------------------------------------------------------------- the end */

static bool is_due(const void *user, gab_step step)
{
  const flow_until *it = user;
  return step > 0 && step >= it->plan->start && gab_schedule_due(it->rows, step);
}

static bool is_converged(const void *user, gab_step step, char *why, size_t capacity)
{
  const flow_until *it = user;
  double mean = 0, half = 0;
  if (it->noted != step || !batch_means_interval(&it->batches, &mean, &half) ||
      !(half <= it->plan->within * fabs(mean)))
    return false;
  snprintf(why, capacity, "%s is %.6g +- %.2g with 95 %%, by %.0f batches of %.0f rows", it->plan->of, mean,
           half, it->batches.whole, it->batches.length);
  return true;
}

gab_status gab_app_flow_converged_add(flow_until *it, gab_timeloop *loop)
{
  if (!it->plan->of) return GAB_OK;
  return gab_timeloop_add_end(loop, "run.until.converged", is_due, is_converged, it);
}
