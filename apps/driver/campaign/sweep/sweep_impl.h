/* SPDX-License-Identifier: Apache-2.0 */
/** @file sweep_impl.h
 *  @brief A sweep: one case at many points, with its file, points, runs and table.
 *
 *  A point is one set of values of the varied parameters. Its number begins at 0 here, and at 1 for users. Its name, which is
 *  the name of its output folder, depends on its values alone: points of a changed file keep their folders. All functions are
 *  local.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_SWEEP_IMPL_H
#define GABION_APPS_DRIVER_SWEEP_IMPL_H

#include "apps/driver/campaign/results_table.h"
#include "apps/driver/driver.h"

#include <limits.h>

enum {
  GAB_APP_SWEEP_NAME = 256,         /**< bytes of the name of a point */
  GAB_APP_SWEEP_MOST_POINTS = 20000 /**< of one sweep */
};

/** How values of several parameters become points. */
typedef enum gab_app_sweep_design {
  GAB_APP_SWEEP_GRID,      /**< all combinations, the last parameter fastest */
  GAB_APP_SWEEP_LIST,      /**< the k-th values of all parameters together */
  GAB_APP_SWEEP_HYPERCUBE, /**< samples: each of n equal parts of a range has one */
} gab_app_sweep_design;

/** A varied parameter. Texts are borrowed from the configuration. */
typedef struct gab_app_sweep_key {
  const char *key, *name;    /**< as after --set; in folder names and in the table */
  const char *const *values; /**< as after --set KEY=; NULL: a range */
  const char *const *labels; /**< of the values; NULL: none */
  size_t value_count;
  double range[2];
  bool is_log, is_whole; /**< of a range */
  uint32_t *part;        /**< of ::GAB_APP_SWEEP_HYPERCUBE: which part each point has; owned */
} gab_app_sweep_key;

/** A column of the table. */
typedef enum gab_app_sweep_take {
  GAB_APP_SWEEP_LAST,
  GAB_APP_SWEEP_MEAN,
  GAB_APP_SWEEP_MIN,
  GAB_APP_SWEEP_MAX
} gab_app_sweep_take;

typedef struct gab_app_sweep_result {
  char name[GAB_APP_RESULT_NAME];
  const char *summary;         /**< number of summary.json; NULL: of a series */
  const char *series, *column; /**< SERIES.csv, its column */
  gab_app_sweep_take take;
  double from;     /**< of the series: time of the first row; -INFINITY: all */
  bool was_met;    /**< some run has it */
  bool has_column; /**< some run has the column, perhaps without a row from that time on */
  bool lacks_time; /**< `from` is set, and some series has no column of times */
} gab_app_sweep_result;

/** State of a point. */
typedef enum gab_app_sweep_state {
  GAB_APP_SWEEP_WAITING,
  GAB_APP_SWEEP_LEFT, /**< not a point of this command (--point) */
  GAB_APP_SWEEP_RUNNING,
  GAB_APP_SWEEP_DONE,
  GAB_APP_SWEEP_FAILED, /**< with exit code `code` */
  GAB_APP_SWEEP_STOPPED /**< with a checkpoint, or not started: the same command resumes */
} gab_app_sweep_state;

typedef struct gab_app_sweep_point {
  char name[GAB_APP_SWEEP_NAME];
  gab_app_sweep_state state;
  int code, starts;  /**< exit code of the last run; starts by this process */
  bool is_kept;      /**< its results were there before */
  bool is_fresh;     /**< its run starts from step 0 */
  uint64_t old_case; /**< of its folder before the first start: while it is there, nothing has been removed */
  uint64_t hash;     /**< of all parameters of its case; once it is read */
  double next_try;   /**< gab_seconds() */
  char *message;     /**< of a failed run; owned, may be NULL */
} gab_app_sweep_point;

typedef struct gab_app_sweep {
  const gab_app_options *options; /**< borrowed */
  gab_config *config;             /**< the file */
  char case_file[PATH_MAX], folder[GAB_APP_PATH_LENGTH];
  gab_app_sweep_design design;
  uint64_t seed;
  gab_app_sweep_key *keys;
  size_t key_count;
  gab_app_sweep_result *results;
  size_t result_count;
  gab_app_sweep_point *points;
  size_t point_count;
  double *values;                             /**< of the results, by points; NaN: none */
  int64_t processes, threads, at_once, tries; /**< of a run; runs at once; starts of a run that dies */
} gab_app_sweep;

/** Reads the file of the command line and makes the points. sweep_file.c. @param[out] sweep  to be released for any status
 *  @return ::GAB_ERR_INPUT with all mistakes, each with its place */
gab_status gab_app_sweep_read(const gab_app_options *options, gab_app_sweep *sweep);
void gab_app_sweep_release(gab_app_sweep *sweep);

/** Makes the points. sweep_points.c. @return ::GAB_ERR_INPUT if two would be the same, or have the same folder */
gab_status gab_app_sweep_points_make(gab_app_sweep *sweep);
/** The value of a parameter at a point. @param[out] number  memory for numbers of ranges @return as after --set KEY= */
const char *gab_app_sweep_value(const gab_app_sweep *sweep, size_t point, size_t key, char number[40]);
/** The value as a cell of the table: a number, or a word without commas and quotes. @param[out] word  of `capacity` bytes */
void gab_app_sweep_word(const gab_app_sweep *sweep, size_t point, size_t key, char *word, size_t capacity);
/** Folder of a point, or of a file in it. @return `path` */
const char *gab_app_sweep_path(const gab_app_sweep *sweep, size_t point, const char *file,
                               char path[PATH_MAX]);

/** Assignments of a point, as of --set: of the file, of the command line, and the varied ones. */
typedef struct gab_app_sweep_settings {
  gab_buffer texts;
  const char *items[GAB_APP_MOST_SETTINGS];
  size_t count;
} gab_app_sweep_settings;
/** @param[out] settings  zero-initialised; to be released for any status */
gab_status gab_app_sweep_settings_make(const gab_app_sweep *sweep, size_t point,
                                       gab_app_sweep_settings *settings);
void gab_app_sweep_settings_release(gab_app_sweep_settings *settings);

/** Reads the case of every point, and sets the state of points whose runs have ended before. sweep_check.c.
 *  @return ::GAB_ERR_INPUT with the first points that are refused */
gab_status gab_app_sweep_check(gab_app_sweep *sweep);
/** Prints a line for each point, with its state and what `gabion check` says of it. @return ::GAB_ERR_INPUT if one is refused */
gab_status gab_app_sweep_list(gab_app_sweep *sweep);
/** Names folders of runs that are not points of the file. */
void gab_app_sweep_name_others(const gab_app_sweep *sweep);

/** Runs all points that wait, until they are done or failed, or until a signal or the time limit. sweep_runs.c.
 *  @param[in] ended  called after each run that is done */
gab_status gab_app_sweep_run(gab_app_sweep *sweep, gab_status (*ended)(gab_app_sweep *sweep, size_t point));

/** Reads the results of a point that is done. sweep_table.c. @return ::GAB_ERR_INPUT with the file that cannot be read */
gab_status gab_app_sweep_results_read(gab_app_sweep *sweep, size_t point);
/** ::GAB_ERR_INPUT, with the closest name that a run has, if no run has a result. */
gab_status gab_app_sweep_results_check(const gab_app_sweep *sweep);
/** Writes OUT/sweep.csv with a row for each point that is done. */
gab_status gab_app_sweep_table_write(const gab_app_sweep *sweep);

/** Prints a job script whose array runs a point in each task. sweep_batch.c. */
gab_status gab_app_sweep_script_print(const gab_app_sweep *sweep);

#endif
