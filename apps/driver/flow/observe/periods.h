/* SPDX-License-Identifier: Apache-2.0 */
/* Periods of a lift, between its upward zeros, and whether they have settled. */
#ifndef GABION_APPS_DRIVER_PERIODS_H
#define GABION_APPS_DRIVER_PERIODS_H

#include <math.h>
#include <stdbool.h>

/* A Strouhal number needs a periodic flow: minimum number of similar periods at the end. */
#define PERIODS_ENOUGH 3

/* Plain doubles, so that they can be packed as such; all 0 at first. */
typedef struct lift_periods {
  double samples, last_time, last_lift; /**< the sample before */
  double crossings, crossing;           /**< upward zeros: how many, when the last */
  double least, most;                   /**< since then */
  double period, range;                 /**< of the last whole one */
  double settled, settled_since; /**< that many of the last ones are alike; when the first of them began */
} lift_periods;

/* A whole one is over: is it like the one before, in length (2 %) and range (5 %)? */
static inline void periods_end(lift_periods *all, double since, double now)
{
  const double same_time = 0.02, same_range = 0.05, period = now - since, range = all->most - all->least;
  if (!(all->settled > 0 && fabs(period - all->period) <= same_time * all->period &&
        fabs(range - all->range) <= same_range * all->range)) {
    all->settled = 0;
    all->settled_since = since;
  }
  all->settled += 1;
  all->period = period;
  all->range = range;
}

static inline void periods_note(lift_periods *all, double time, double lift)
{
  if (all->samples > 0 && all->last_lift < 0 && lift >= 0) {
    const double share = -all->last_lift / (lift - all->last_lift), since = all->crossing;
    all->crossing = all->last_time + share * (time - all->last_time);
    if (all->crossings > 0) periods_end(all, since, all->crossing);
    all->crossings += 1;
    all->least = all->most = lift;
  }
  all->least = fmin(all->least, lift);
  all->most = fmax(all->most, lift);
  all->samples += 1;
  all->last_time = time;
  all->last_lift = lift;
}

static inline bool periods_have_settled(const lift_periods *all) { return all->settled >= PERIODS_ENOUGH; }

/* Mean frequency of the similar periods. */
static inline double periods_frequency(const lift_periods *all)
{
  return all->settled / (all->crossing - all->settled_since);
}

#endif
