/* SPDX-License-Identifier: Apache-2.0 */
/** @file status_line.h
 *  @brief A run in one line: state, progress, time left, last row of a series.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_STATUS_LINE_H
#define GABION_APPS_DRIVER_STATUS_LINE_H

#include "apps/driver/commands/status_history.h"

/** Prints the line. Local. @param[in] progress  may be NULL */
void gab_app_status_print_line(const char *folder, gab_json_document *progress,
                               const gab_app_status_history *past);

/** Number of runs in each state. */
typedef struct gab_app_status_counts {
  size_t done, running, dead, other;
} gab_app_status_counts;
/** @param[in] word  of gab_app_status_word() */
void gab_app_status_count(const char *word, gab_app_status_counts *counts);
void gab_app_status_print_counts(const gab_app_status_counts *counts);

#endif
