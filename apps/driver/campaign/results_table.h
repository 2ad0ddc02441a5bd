/* SPDX-License-Identifier: Apache-2.0 */
/** @file results_table.h
 *  @brief The numbers of `results` in summary.json of several runs, by name.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_RESULTS_TABLE_H
#define GABION_APPS_DRIVER_RESULTS_TABLE_H

#include "apps/driver/case/case_impl.h"

enum { GAB_APP_MOST_RUNS = 8, GAB_APP_RESULT_NAME = 256 };

typedef struct gab_app_result {
  char name[GAB_APP_RESULT_NAME];
  double value[GAB_APP_MOST_RUNS]; /**< NaN: that run does not have it */
} gab_app_result;

/** Zero-initialise; rows in the order in which they were read. */
typedef struct gab_app_results {
  gab_app_result *rows;
  size_t count, capacity;
} gab_app_results;

/** Reads the results of one run. Local. @param[in] run  from 0 @param[in] options  only names with one of `values`, if there
 *  are any @return ::GAB_ERR_INPUT with the file if it cannot be read */
gab_status gab_app_results_read(gab_app_results *all, size_t run, const char *folder,
                                const gab_app_options *options);
/** Whether every one of the first `runs` runs has the result. Pure. */
bool gab_app_result_is_complete(const gab_app_result *row, size_t runs);
/** Largest magnitude, in all runs, of the vector that a result is a component of; 0 if it is not a component. Pure. */
double gab_app_result_vector_scale(const gab_app_results *all, const gab_app_result *row, size_t runs);
void gab_app_results_release(gab_app_results *all);

#endif
