/* SPDX-License-Identifier: Apache-2.0 */
/** @file common_sections.h
 *  @brief Keys and macros that the parameter tables of the driver and of its solvers share.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_COMMON_SECTIONS_H
#define GABION_APPS_DRIVER_COMMON_SECTIONS_H

#include "apps/driver/case/case.h"

#include <math.h>

#define KEYS(table) .keys = (table), .count = sizeof(table) / sizeof((table)[0])

/* Interval in steps. @param others alternative key, or NULL @param is_outside the state does not depend on it */
#define EVERY_KEY(others, is_outside, text)                                                                  \
  {                                                                                                          \
    .name = "every", .type = GAB_CONFIG_INT, .unit = "steps", .min = 1, .max = 9e15,                         \
    .default_text = GAB_CONFIG_OPTIONAL, .outside = is_outside, .instead_of = others, .doc = text            \
  }
#define INTERVAL_KEY(is_outside, text)                                                                       \
  {                                                                                                          \
    .name = "interval", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .min_excluded = true,            \
    .default_text = GAB_CONFIG_OPTIONAL, .outside = is_outside, .instead_of = "every", .doc = text           \
  }
#define START_KEY(is_outside, text)                                                                          \
  {                                                                                                          \
    .name = "start", .type = GAB_CONFIG_INT, .unit = "steps", .min = 0, .max = 9e15, .default_text = "0",    \
    .outside = is_outside, .doc = text                                                                       \
  }

/* Three keys of an output schedule. */
#define SCHEDULE_KEYS                                                                                        \
  EVERY_KEY("interval", true,                                                                                \
            "Interval of output, in steps. Each series also has a row for the last state."),                 \
      INTERVAL_KEY(                                                                                          \
          true,                                                                                              \
          "Instead of every: interval in physical time; output at the step nearest to each multiple."),      \
      START_KEY(true, "First step with output.")

/* Two keys for the storage of numbers in files of fields. */
#define FIELD_FILE_KEYS                                                                                      \
  {.name = "precision",                                                                                      \
   .type = GAB_CONFIG_CHOICE,                                                                                \
   .choices = "float|double",                                                                                \
   .default_text = "float",                                                                                  \
   .outside = true,                                                                                          \
   .doc = "Precision of the stored values."},                                                                \
  {                                                                                                          \
    .name = "compression", .type = GAB_CONFIG_INT, .min = 0, .max = 9, .default_text = GAB_CONFIG_OPTIONAL,  \
    .outside = true,                                                                                         \
    .doc = "Compression level, 0 (none) to 9 (best). Default: 1; 0 if HDF5 was built without zlib."          \
  }

/** Declares all sections of parameter files: of the driver, of all solvers, of resilience. common_sections.c */
gab_status gab_app_declare_all(gab_config *config);

#endif
