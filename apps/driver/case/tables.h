/** @file tables.h
 *  @brief What the tables of parameters of the driver and of its solvers share.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_TABLES_H
#define GABION_APPS_DRIVER_TABLES_H

#include "apps/driver/case/case.h"

#include <math.h>

#define KEYS(table) .keys = (table), .count = sizeof(table) / sizeof((table)[0])

/* Three keys that say when something is written. */
#define SCHEDULE_KEYS                                                                                             \
  {.name = "every",                                                                                               \
   .type = GAB_CONFIG_INT,                                                                                        \
   .unit = "steps",                                                                                               \
   .min = 1,                                                                                                      \
   .max = 9e15,                                                                                                   \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                           \
   .outside = true,                                                                                               \
   .instead_of = "interval",                                                                                      \
   .doc = "Steps between two outputs. The last state is a row of each series in any case."},                      \
      {.name = "interval",                                                                                        \
       .type = GAB_CONFIG_REAL,                                                                                   \
       .min = 0,                                                                                                  \
       .max = INFINITY,                                                                                           \
       .min_excluded = true,                                                                                      \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                       \
       .outside = true,                                                                                           \
       .instead_of = "every",                                                                                     \
       .doc =                                                                                                     \
           "Instead of every: physical time between two outputs, each at the step nearest to a multiple of it."}, \
  {                                                                                                               \
    .name = "start", .type = GAB_CONFIG_INT, .unit = "steps", .min = 0, .max = 9e15, .default_text = "0",         \
    .outside = true, .doc = "First step at which something is written."                                           \
  }

/* Two keys that say how numbers stand in files of fields. */
#define FIELD_FILE_KEYS                                                                                      \
  {.name = "precision",                                                                                      \
   .type = GAB_CONFIG_CHOICE,                                                                                \
   .choices = "float|double",                                                                                \
   .default_text = "float",                                                                                  \
   .outside = true,                                                                                          \
   .doc = "Of the numbers in the files."},                                                                   \
  {                                                                                                          \
    .name = "compression", .type = GAB_CONFIG_INT, .min = 0, .max = 9, .default_text = GAB_CONFIG_OPTIONAL,  \
    .outside = true, .doc = "0: none, 9: most; left out: 1, or 0 where HDF5 was built without zlib."         \
  }

#endif
