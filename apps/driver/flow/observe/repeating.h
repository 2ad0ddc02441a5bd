/* SPDX-License-Identifier: Apache-2.0 */
/** @file repeating.h
 *  @brief Periods of a series and how much each differs from the one before.
 *
 *  A period is given, or it lasts from one upward crossing of the middle of the range to the next. The range is that of the last
 *  whole period and of the present one. A crossing counts only after the series was a fifth of the range below the
 *  middle, so small waves on a large one make no periods of their own. Waves below a millionth of the values are rounding.
 *  A start or a burst far outside of the later range would leave no crossings: after 256 rows without one, all rows before are
 *  forgotten, then after 512, and so on.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_REPEATING_H
#define GABION_APPS_DRIVER_REPEATING_H

#include <math.h>
#include <stdbool.h>

enum { REPEATING_LEAST_ROWS = 4 /* in a period */, REPEATING_MOST = 16, REPEATING_PATIENCE = 256 };

/* Plain doubles, so that they can be packed as such; all 0 at first. */
typedef struct repeating {
  double samples, last_time, last_value;
  double has_begun, begin;        /**< of the present period */
  double is_low;                  /**< the series was low since then */
  double least, most, sum, count; /**< of the present period */
  double patience;                /**< rows without a crossing after which all rows before are forgotten */
  double periods;                 /**< whole ones */
  double length, was_least, was_most, mean; /**< of the last whole one */
  double
      change[REPEATING_MOST]; /**< of the last ones, the latest first: largest difference to the one before */
} repeating;

static inline void repeating_clear(repeating *all)
{
  all->least = INFINITY;
  all->most = -INFINITY;
  all->sum = all->count = all->is_low = 0;
}

/* Length relative to the one before; mean and extremes relative to the range. */
static inline double repeating_compare(const repeating *all, double length, double mean)
{
  const double range = all->most - all->least;
  const double apart =
      fmax(fabs(mean - all->mean), fmax(fabs(all->least - all->was_least), fabs(all->most - all->was_most)));
  return fmax(fabs(length - all->length) / all->length, apart > 0 ? apart / range : 0);
}

static inline void repeating_end(repeating *all, double end)
{
  const double length = end - all->begin, mean = all->sum / all->count;
  for (int i = REPEATING_MOST - 1; i > 0; i--) all->change[i] = all->change[i - 1];
  all->change[0] = all->periods > 0 && all->count >= REPEATING_LEAST_ROWS
                       ? repeating_compare(all, length, mean)
                       : INFINITY;
  all->periods += 1;
  all->length = length;
  all->was_least = all->least;
  all->was_most = all->most;
  all->mean = mean;
}

/* Whether a period begins, and when. */
static inline bool repeating_crosses(repeating *all, double time, double value, double *begin)
{
  double least = all->least, most = all->most;
  if (all->periods > 0) {
    least = fmin(least, all->was_least);
    most = fmax(most, all->was_most);
  }
  const double middle = 0.5 * (least + most), rounding = 1e-6;
  if (most - least <= rounding * fmax(fabs(least), fabs(most))) return false;
  if (value < middle - 0.2 * (most - least)) all->is_low = 1;
  if (all->is_low == 0 || value < middle) return false;
  const double share = all->last_value < middle ? (middle - all->last_value) / (value - all->last_value) : 0;
  *begin = all->last_time + share * (time - all->last_time);
  return true;
}

static inline void repeating_forget(repeating *all)
{
  repeating_clear(all);
  all->has_begun = all->periods = 0;
  all->patience *= 2;
}

/* @param[in] period  0: is found @return whether a whole period is over */
static inline bool repeating_note(repeating *all, double period, double time, double value)
{
  double begin = time;
  if (all->samples == 0) {
    repeating_clear(all);
    all->patience = REPEATING_PATIENCE;
  }
  bool begins = period > 0 && all->samples == 0;
  if (period > 0 && all->samples > 0) {
    begin = all->begin + period;
    begins = time >= begin - 1e-9 * period;
  } else if (period == 0 && all->samples > 0) {
    begins = repeating_crosses(all, time, value, &begin);
    if (!begins && all->count >= all->patience) repeating_forget(all);
  }
  const bool is_over = begins && all->has_begun > 0 && all->count > 0;
  if (is_over) repeating_end(all, begin);
  if (begins) {
    repeating_clear(all);
    all->begin = begin;
    all->has_begun = 1;
  }
  all->least = fmin(all->least, value);
  all->most = fmax(all->most, value);
  all->sum += value;
  all->count += 1;
  all->samples += 1;
  all->last_time = time;
  all->last_value = value;
  return is_over;
}

/* Largest change among the last `count` periods; infinite with fewer. */
static inline double repeating_change(const repeating *all, int count)
{
  double most = all->periods >= count ? 0 : INFINITY;
  for (int i = 0; i < count && i < REPEATING_MOST; i++) most = fmax(most, all->change[i]);
  return most;
}

#endif
