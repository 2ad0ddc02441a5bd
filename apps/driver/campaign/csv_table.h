/* SPDX-License-Identifier: Apache-2.0 */
/** @file csv_table.h
 *  @brief A table (CSV) of numbers in memory. A last line without its end, of a run that is being written or was killed, is left out.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_CSV_TABLE_H
#define GABION_APPS_DRIVER_CSV_TABLE_H

#include "core/base/status.h"

#include <stddef.h>

enum { GAB_APP_COLUMN_NAME = 128 };

/** Zero-initialise. */
typedef struct gab_app_csv {
  char (*names)[GAB_APP_COLUMN_NAME];
  size_t columns, rows, capacity;
  double *values; /**< by rows */
} gab_app_csv;

/** Reads a file. Local. @param[out] it  to be released for any status @return ::GAB_ERR_INPUT with file and line of a text that is
 *  not a number */
gab_status gab_app_csv_read(const char *path, gab_app_csv *it);
void gab_app_csv_release(gab_app_csv *it);
/** Finds a column by its name. Pure. */
bool gab_app_csv_find(const gab_app_csv *it, const char *name, size_t *column);

#endif
