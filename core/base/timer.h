/* SPDX-License-Identifier: Apache-2.0 */
/** @file timer.h
 *  @brief Named timers: number of calls, total, minimum and maximum time of a call.
 *
 *  Seconds from gab_seconds(), a monotonic clock; the date is gab_seconds_since_1970(). A set of timers belongs to one
 *  thread.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_TIMER_H
#define GABION_CORE_TIMER_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds since 1970-01-01 00:00 UTC by the clock of this machine, which may be adjusted: for dates in output, and for
 * limits that outlive a process. Measure durations by gab_seconds(). Local. */
double gab_seconds_since_1970(void);

#define GAB_DATE_CAPACITY 32 /**< characters of a date, including the end */
/** "2026-11-22 06:33:55" in the time zone of this process; "?" for an invalid date. Local. @return text */
const char *gab_local_date(double seconds_since_1970, char text[GAB_DATE_CAPACITY]);

#define GAB_TIMER_NAME_CAPACITY 64 /**< characters of a name, including the end */

/** A timer of a set, see gab_timers_find(): from 1. 0 is none; calls with it have no effect. */
typedef int gab_timer;

/** Results of a timer. */
typedef struct gab_timer_summary {
  const char *name; /**< valid as long as the set */
  uint64_t calls;
  double total, min, max; /**< seconds; min and max of a single call, 0 before the first */
} gab_timer_summary;

typedef struct gab_timers gab_timers;

/** @param[out] timers  an empty set, owned by the caller, released by gab_timers_destroy() */
gab_status gab_timers_create(gab_timers **timers);
void gab_timers_destroy(gab_timers **timers);

/** Finds the timer of that name, or creates it. @return ::GAB_ERR_ARGUMENT for an empty or too long name */
gab_status gab_timers_find(gab_timers *timers, const char *name, gab_timer *timer);

void gab_timer_start(gab_timers *timers, gab_timer timer);
/** Adds the time since its start as one call; no effect without a start. @return the seconds of this call */
double gab_timer_stop(gab_timers *timers, gab_timer timer);
/** Adds a call that was measured elsewhere. */
void gab_timer_add(gab_timers *timers, gab_timer timer, double seconds);

size_t gab_timers_count(const gab_timers *timers);
/** @param[out] summary  of the timer at this place in the order of names
 *  @return ::GAB_ERR_ARGUMENT if there is none */
gab_status gab_timers_summary(const gab_timers *timers, size_t place, gab_timer_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
