/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run when a force repeats after a period, from the section `run.until.periodic'. */
#include "apps/driver/flow/observe/flow_means.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "core/base/log.h"

#include <stdio.h>

/* ---------------------------------------------------------------- table */

#define SECTION "run.until.periodic"

static const gab_config_key keys[] = {
    UNTIL_COLUMN_KEY("rod.cy"),
    {.name = "within",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .min_excluded = true,
     .max = 1,
     .default_text = "0.01",
     .outside = true,
     .doc =
         "Largest difference of a period to the one before: of its length, relative; of mean, minimum and maximum, "
         "relative to its range."},
    {.name = "periods",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = REPEATING_MOST,
     .default_text = "3",
     .outside = true,
     .doc = "Number of successive periods that differ by no more."},
    {.name = "length",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .min_excluded = true,
     .max = INFINITY,
     .unit = "s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Length of a period, for a flow that something drives. Default: from one upward crossing of the middle "
         "of the range to the next."},
    START_KEY(false, "First step with a row that counts: behind the transient."),
};

gab_status gab_app_periodic_declare(gab_config *config)
{
  static const gab_config_section section = {
      .path = SECTION,
      .doc = "End of the run when a force or coefficient repeats after a period.",
      KEYS(keys)};
  return gab_app_declare(config, &section, 1);
}

gab_status gab_app_periodic_read(const gab_config *config, until_plan *plan)
{
  if (!gab_config_is_set(config, SECTION)) return GAB_OK;
  GAB_TRY(gab_app_until_read_column(config, SECTION, &plan->periodic.of));
  plan->periodic.within = gab_config_real(config, SECTION ".within");
  plan->periodic.periods = (int)gab_config_int(config, SECTION ".periods");
  plan->periodic.start = gab_config_int(config, SECTION ".start");
  if (gab_config_is_set(config, SECTION ".length"))
    plan->periodic.length = gab_config_real(config, SECTION ".length");
  return GAB_OK;
}

gab_status gab_app_flow_periodic_prepare(flow_until *it, const gab_config *config, const char *const *columns,
                                         size_t count)
{
  const double rows_least = REPEATING_LEAST_ROWS, length = it->plan->periodic.length;
  it->periodic_noted = -1;
  if (!it->plan->periodic.of) return GAB_OK;
  GAB_TRY(gab_app_until_find_column(config, SECTION ".of", it->plan->periodic.of, columns, count,
                                    &it->periodic_column));
  if (length > 0 && length < rows_least * (double)it->rows.every * it->dt)
    return gab_config_fail(config, SECTION ".length",
                           "is %g, but rows of forces are %g apart: a period needs at least %g of them",
                           length, (double)it->rows.every * it->dt, rows_least);
  return GAB_OK;
}

/* ---------------------------------------------------------------- rows */

static void log_period(const flow_until *it, gab_step step)
{
  const repeating *all = &it->periods;
  gab_log(GAB_LOG_INFO,
          "step %" GAB_PRI_STEP
          ": period %.0f of %s took %.5g, from %.5g to %.5g; largest difference to the one before "
          "%.2g, " SECTION ".within is %g",
          step, all->periods, it->plan->periodic.of, all->length, all->was_least, all->was_most,
          all->change[0], it->plan->periodic.within);
}

static bool is_power_of_two(double count) { return fmod(log2(count), 1) == 0; }

void gab_app_flow_periodic_note(flow_until *it, gab_step step, const double *values)
{
  if (!it->plan->periodic.of || step < it->plan->periodic.start || step <= it->periodic_noted || step == 0)
    return;
  it->periodic_noted = step;
  const bool is_over = repeating_note(&it->periods, it->plan->periodic.length, (double)step * it->dt,
                                      values[it->periodic_column]);
  if (is_over && it->periods.periods > 1 && is_power_of_two(it->periods.periods)) log_period(it, step);
}

enum { VALUES = sizeof(repeating) / sizeof(double) };

gab_status gab_app_flow_periodic_pack(const flow_until *it, gab_buffer *out)
{
  if (!it->plan->periodic.of) return GAB_OK;
  GAB_TRY(gab_put_i64(out, it->periodic_noted));
  return gab_put_f64s(out, &it->periods.samples, VALUES);
}

gab_status gab_app_flow_periodic_unpack(flow_until *it, gab_reader *in)
{
  int64_t noted;
  if (!it->plan->periodic.of) return GAB_OK;
  GAB_TRY(gab_get_i64(in, &noted));
  it->periodic_noted = noted;
  return gab_get_f64s(in, &it->periods.samples, VALUES);
}

/* ---------------------------------------------------------------- the end */

static bool is_due(const void *user, gab_step step)
{
  const flow_until *it = user;
  return step > 0 && step >= it->plan->periodic.start && gab_schedule_due(it->rows, step);
}

static bool repeats(const void *user, gab_step step, char *why, size_t capacity)
{
  const flow_until *it = user;
  const repeating *all = &it->periods;
  const double change = repeating_change(all, it->plan->periodic.periods);
  if (it->periodic_noted != step || !(change <= it->plan->periodic.within)) return false;
  snprintf(
      why, capacity,
      "%s repeats: period %.6g, mean %.6g, from %.6g to %.6g; the last %d periods differ by at most %.2g",
      it->plan->periodic.of, all->length, all->mean, all->was_least, all->was_most,
      it->plan->periodic.periods, change);
  return true;
}

gab_status gab_app_flow_periodic_add(flow_until *it, gab_timeloop *loop)
{
  if (!it->plan->periodic.of) return GAB_OK;
  return gab_timeloop_add_end(loop, SECTION, is_due, repeats, it);
}
