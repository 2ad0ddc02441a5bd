/* SPDX-License-Identifier: Apache-2.0 */
/** @file status_history.h
 *  @brief State and history of a run, from the files in its folder. All local, without MPI.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_STATUS_HISTORY_H
#define GABION_APPS_DRIVER_STATUS_HISTORY_H

#include "apps/driver/commands/status_behind.h"
#include "apps/driver/driver.h"
#include "resilience/reports/history.h"

enum {
  GAB_APP_STATUS_EVENTS = 12,
  GAB_APP_STATUS_SILENT = 60 /**< seconds without a sign of life: a step, or writing, may take so long */
};

/** Summary of the events of a run. */
typedef struct gab_app_status_history {
  char shown[GAB_APP_STATUS_EVENTS][256]; /**< the last lines worth showing, in a ring */
  size_t count;
  double last_time, end_time; /**< of any event; of the last end, 0 if it was started again since */
  char end_status[64], end_message[512];
  gab_history jobs;
  status_behind behind;
} gab_app_status_history;

/** Reads OUT/events.jsonl. @param[out] past  zero-initialised @return false if there is none */
bool gab_app_status_history_read(const char *folder, gab_app_status_history *past);
/** Opens a file of JSON in a folder. @return NULL if there is none */
gab_json_document *gab_app_status_open(const char *folder, const char *name);
/** Whether a run without an end seems to be running. @param[in] progress  may be NULL @param[out] silent  seconds since its
 *  last sign of life */
bool gab_app_status_is_running(gab_json_document *progress, const gab_app_status_history *past,
                               double *silent);
/** "done", "running", "dead", or how it ended. @param[in] progress  may be NULL @return borrowed from `past` */
const char *gab_app_status_word(gab_json_document *progress, const gab_app_status_history *past);
/** "12 s", "5 min". @return `text` */
const char *gab_app_status_duration(double seconds, char text[32]);

#endif
