/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_delays.h
 *  @brief `gabion plan --delays`: local against global recovery, by the model of resilience/failure_model/delays.h.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_PLAN_DELAYS_H
#define GABION_APPS_DRIVER_PLAN_DELAYS_H

#include "apps/driver/driver.h"
#include "resilience/failure_model/delays.h"

enum { DELAYS_MOST_VALUES = 32 };

/** Numbers of a list of a command line. */
typedef struct delays_values {
  double value[DELAYS_MOST_VALUES];
  size_t count;
} delays_values;

/** The command line. */
typedef struct delays_options {
  gab_app_options common; /**< its word is a case, or NULL: a box of processes */
  int64_t ranks;          /**< of the case; 0: the recommended number */
  gab_delay_model model;
  delays_values rates; /**< per group and step */
  delays_values mtbfs; /**< of the whole run, in the unit of t1 */
  bool mtbf_each;      /**< of each group instead */
  gab_failures listed; /**< owned */
  int32_t group;
  int64_t runs;
  int64_t reach;    /**< process; -1: not asked for, -2: that in the middle */
  delays_values at; /**< steps for which the reach of a failure is printed */
  const char *picture, *csv;
  gab_delays_recovery drawn;
} delays_options;

/** @param[out] options  to be released whatever the status */
gab_status gab_app_delays_options_parse(int argc, char **argv, delays_options *options);
void gab_app_delays_options_release(delays_options *options);
/** Lists the options with descriptions. */
void gab_app_delays_options_print(FILE *out);

/** Which failures a row of the table is of. */
typedef enum delays_source { DELAYS_BY_RATE, DELAYS_BY_MTBF, DELAYS_LISTED } delays_source;

/** Mean delays over the runs, in the unit of t1. */
typedef struct delays_overhead {
  double mean, most; /**< mean delay of the processes; delay of the end of the run */
} delays_overhead;

typedef struct delays_row {
  delays_source source;
  double value;       /**< rate or mtbf */
  double failures;    /**< of processes, per run */
  double undisturbed; /**< the end of the run */
  delays_overhead local, global;
  double global_steps; /**< steps of the run with local recovery that had to be recovered from globally: no
                          spares */
} delays_row;

/** Failures of one run of a row. @param[out] failures  to be released by the caller whatever the status */
gab_status gab_app_delays_failures(const delays_options *options, delays_source source, double value,
                                   int64_t run, gab_failures *failures);
/** Plays all runs of a row. @param[in,out] times  NULL, or 3 x processes: sums of the times at the end,
 *  undisturbed, local, global */
gab_status gab_app_delays_play(const delays_options *options, delays_source source, double value,
                               double *times, delays_row *row);
/** The seed of one run. */
uint64_t gab_app_delays_seed(const delays_options *options, int64_t run);

/** Draws the first run of a row: processes against time, lines of steps, failures as crosses. */
gab_status gab_app_delays_draw(const delays_options *options, const delays_row *row);

/** Communication graph of a case on a number of processes, in compressed rows. */
typedef struct delays_graph {
  gab_process_graph graph;
  void *first, *neighbour; /**< owned */
} delays_graph;

/** Starts MPI for the grid, and ends it. */
gab_status gab_app_delays_graph_of_case(const delays_options *options, delays_graph *graph);
void gab_app_delays_graph_release(delays_graph *graph);

void gab_app_delays_print(const delays_options *options, const delays_row *rows, size_t count, double seconds,
                          FILE *out);
gab_status gab_app_delays_print_json(const delays_options *options, const delays_row *rows, size_t count,
                                     double seconds, FILE *out);
/** Processes that a delay has reached after some steps, as text or JSON. @param[in] share  of 0 … `steps` steps after the failure */
gab_status gab_app_delays_print_reach(const delays_options *options, const double *share, gab_step steps,
                                      FILE *out);

/** True if these words ask for delays. */
bool gab_app_delays_are_asked_for(int argc, char **argv);
int gab_app_command_delays(int argc, char **argv);

#endif
