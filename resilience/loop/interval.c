/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/loop/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_FORM "an interval looks like 100, 30 s, 10 min, 1 h, auto or never"

gab_status gab_interval_parse(const char *text, double mtbf, gab_interval *interval)
{
  gab_interval read = {.mtbf = mtbf};
  if (strcmp(text, "never") == 0) {
    *interval = read;
    return GAB_OK;
  }
  if (strcmp(text, "auto") == 0) {
    if (!(mtbf > 0)) GAB_FAIL(GAB_ERR_INPUT, "interval 'auto' needs the mean time between failures (mtbf)");
    read.mode = GAB_INTERVAL_AUTO;
    *interval = read;
    return GAB_OK;
  }
  char *unit;
  double number = strtod(text, &unit);
  if (unit == text || !(number > 0) || !isfinite(number))
    GAB_FAIL(GAB_ERR_INPUT, "'%s' is not an interval; " INTERVAL_FORM, text);
  while (*unit == ' ') unit++;
  if (*unit == '\0' || strcmp(unit, "steps") == 0) {
    if (number != floor(number) || number > 1e15)
      GAB_FAIL(GAB_ERR_INPUT, "'%s' is not a whole number of steps; " INTERVAL_FORM, text);
    read.steps = (gab_step)number;
  } else {
    static const struct {
      const char *name;
      double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    read.mode = GAB_INTERVAL_SECONDS;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
      if (strcmp(unit, units[i].name) == 0) read.seconds = number * units[i].seconds;
    if (!(read.seconds > 0)) GAB_FAIL(GAB_ERR_INPUT, "unknown unit in interval '%s'; " INTERVAL_FORM, text);
  }
  *interval = read;
  return GAB_OK;
}

double gab_interval_observed_mtbf(double mtbf, double seconds, int failures)
{
  return (mtbf + seconds) / (1 + failures);
}

double gab_interval_young(double mtbf, double cost) { return sqrt(2 * mtbf * cost); }

double gab_interval_daly(double mtbf, double cost)
{
  if (cost >= 2 * mtbf) return mtbf;
  const double ratio = cost / (2 * mtbf);
  return gab_interval_young(mtbf, cost) * (1 + sqrt(ratio) / 3 + ratio / 9) - cost;
}

double gab_interval_overhead(double interval, double mtbf, double cost)
{
  return cost / interval + (mtbf > 0 ? interval / (2 * mtbf) : 0);
}

double gab_interval_seconds(const gab_interval *interval, double cost)
{
  return interval->mode == GAB_INTERVAL_AUTO ? gab_interval_daly(interval->mtbf, cost) : interval->seconds;
}
