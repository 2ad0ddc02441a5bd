/* SPDX-License-Identifier: Apache-2.0 */
/** @file time_series.h
 *  @brief A time-dependent value from a file of two columns: measured inflow, a table of a valve.
 *
 *  Each line has a time and a value, separated by a comma, a semicolon, spaces or tabs. Empty lines and lines that begin
 *  with `#` are skipped, and one head line of names may come first. Times ascend. Between two times the value is linear.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_TIME_SERIES_H
#define GABION_CORE_TIME_SERIES_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_time_series gab_time_series;

/** Reads a file. Local. @param[in] repeats periodic with its last time; else constant after it @param[out] series  owned by
 * the caller @return ::GAB_ERR_INPUT with file and line */
gab_status gab_time_series_read(const char *path, bool repeats, gab_time_series **series);
/** The same from memory. @param[in] name  replaces the file in messages */
gab_status gab_time_series_parse(const char *name, const char *text, size_t length, bool repeats,
                                 gab_time_series **series);
void gab_time_series_destroy(gab_time_series **series);

/** The value at a time; before the first line, its value. Pure. */
double gab_time_series_at(const gab_time_series *series, double time);
/** The largest absolute value. */
double gab_time_series_largest(const gab_time_series *series);
/** Time of the first and of the last line. */
void gab_time_series_range(const gab_time_series *series, double *first, double *last);
/** Whether both have the same value at each time. NULL equals NULL only. Pure. */
bool gab_time_series_equal(const gab_time_series *a, const gab_time_series *b);

#ifdef __cplusplus
}
#endif
#endif
