/* SPDX-License-Identifier: Apache-2.0 */
/** @file compare_series.h
 *  @brief Differences of two tables (CSV) of numbers, in the rows that both have.
 *
 *  Rows are assigned by the column `time` if both tables have it, else by `step`; in profiles also by `x`, `y`, `z`, and by these
 *  alone if each has one time; else by their first column, which must have the same name. Keys are equal to 1e-9 of their magnitude. `time` and
 *  `step` are not compared. A last line without its end, of a run that is being written or was killed, is left out.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_COMPARE_SERIES_H
#define GABION_APPS_DRIVER_COMPARE_SERIES_H

#include "apps/driver/campaign/csv_table.h"

typedef struct gab_app_column_difference {
  char name[GAB_APP_COLUMN_NAME];
  double
      most; /**< largest magnitude of the difference; infinite where one value is NaN and the other is not */
  double
      relative; /**< to the range of the column in both tables, at least 1e-9 of its largest magnitude; of columns
                        that differ in a last x, y or z to the largest range of them; 0 if equal */
  double at; /**< key of the row of the largest difference; NaN if equal */
} gab_app_column_difference;

typedef struct gab_app_series_difference {
  char key[GAB_APP_COLUMN_NAME]; /**< column by which rows are assigned, the last one of several */
  size_t rows[2], common;        /**< rows of each table; of both */
  size_t single;                 /**< columns that only one table has */
  gab_app_column_difference
      *columns; /**< of both tables, without the key; released by the caller with gab_free() */
  size_t count;
} gab_app_series_difference;

/** Local. @return ::GAB_ERR_INPUT with file and line of a text that is not a number, or without a common key */
gab_status gab_app_series_compare(const char *path_a, const char *path_b, gab_app_series_difference *found);

#endif
