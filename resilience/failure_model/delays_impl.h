/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the times of all processes at the end of a step, and the step to the next one. */
#ifndef GABION_RESILIENCE_DELAYS_IMPL_H
#define GABION_RESILIENCE_DELAYS_IMPL_H

#include "resilience/failure_model/delays.h"

enum { GAB_DELAYS_MOST_ROWS = 9 };

/* Neighbours in a row of processes, some rows further in y and z. */
typedef struct gab_delays_row {
  ptrdiff_t offset;
  bool middle, sides; /* at x; at x - 1 and x + 1 */
} gab_delays_row;

/* The times, boxes with a layer of ghosts around them in the axes that are used: -infinity outside an open
 * side, so that no process waits there, copies of the other side where it is periodic. */
typedef struct gab_delays_times {
  const gab_delay_model *model;
  int32_t count;
  int32_t extent[3], pad[3]; /* processes; ghosts on each side */
  ptrdiff_t stride[3];
  size_t capacity; /* doubles, ghosts included */
  bool own;        /* a process waits for itself */
  gab_delays_row rows[GAB_DELAYS_MOST_ROWS];
  int row_count;
  double *now, *next; /* owned */
} gab_delays_times;

/* Time added by a step. */
typedef struct gab_delays_step {
  gab_step step;
  bool exchange; /* neighbours wait for each other */
  double time;   /* of every process, apart from noise */
} gab_delays_step;

gab_status gab_delays_times_create(const gab_delay_model *model, gab_delays_times *times);
void gab_delays_times_release(gab_delays_times *times);
/* From the end of a step to that of the next. */
void gab_delays_times_step(gab_delays_times *times, const gab_delays_step *step);
double *gab_delays_time_of(const gab_delays_times *times, int32_t process);
double gab_delays_times_latest(const gab_delays_times *times);
void gab_delays_times_fill(gab_delays_times *times, double time);
/* Without ghosts. */
void gab_delays_times_gather(const gab_delays_times *times, double *values);

#endif
