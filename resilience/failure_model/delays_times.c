/* SPDX-License-Identifier: Apache-2.0 */
/* The recurrence: waiting between processes, and the time of a step. */
#include "resilience/failure_model/delays_impl.h"

#include "core/base/hash.h"
#include "core/memory/memory.h"

#include <math.h>

enum {
  PIECE = 1024, /* processes of a row at a time: stay in the first cache */
  FEW = 20000   /* processes: not worth waking threads for */
};

/* ---------------------------------------------------------------- making them */

/* Neighbours are offsets with at most this number of nonzero axes: 1 for faces, 2 for edges too, 3 for corners too. */
static int most_axes(const gab_neighbourhood *which)
{
  static const int counts[3][3] = {{2, 0, 0}, {4, 8, 0}, {6, 18, 26}};
  for (int k = 0; k < which->dimension; k++)
    if (counts[which->dimension - 1][k] == which->neighbours) return k + 1;
  return 0;
}

static void find_rows(gab_delays_times *times)
{
  const int most = most_axes(&times->model->neighbourhood);
  for (int z = -times->pad[2]; z <= times->pad[2]; z++)
    for (int y = -times->pad[1]; y <= times->pad[1]; y++) {
      const int axes = (y != 0) + (z != 0);
      const gab_delays_row row = {.offset = y * times->stride[1] + z * times->stride[2],
                                  .middle = axes > 0 && axes <= most,
                                  .sides = axes + 1 <= most};
      if (row.middle || row.sides) times->rows[times->row_count++] = row;
    }
}

static gab_status lay_out(gab_delays_times *times)
{
  const gab_neighbourhood *which = &times->model->neighbourhood;
  int64_t count = 1, capacity = 1;
  for (int axis = 0; axis < 3; axis++) {
    const bool used = !which->graph && axis < which->dimension;
    times->extent[axis] = used ? which->extent[axis] : 1;
    times->pad[axis] = used;
    times->stride[axis] = (ptrdiff_t)capacity;
    if (times->extent[axis] < 1 || count > INT32_MAX / times->extent[axis])
      GAB_FAIL(GAB_ERR_ARGUMENT, "processes along an axis: 1 or more, and less than 2^31 in all");
    count *= times->extent[axis];
    capacity *= times->extent[axis] + 2 * times->pad[axis];
  }
  if (which->graph) {
    count = capacity = times->extent[0] = which->graph->count;
    times->stride[1] = times->stride[2] = (ptrdiff_t)count;
  }
  times->count = (int32_t)count;
  times->capacity = (size_t)capacity;
  return GAB_OK;
}

static gab_status check(const gab_neighbourhood *which)
{
  if (which->graph) {
    if (which->graph->count < 1) GAB_FAIL(GAB_ERR_ARGUMENT, "a graph of no processes");
    return GAB_OK;
  }
  if (which->dimension < 1 || which->dimension > 3)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a grid of processes has 1 to 3 dimensions");
  if (most_axes(which) == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%d neighbours in %dD: 2 in 1D; 4 or 8 in 2D; 6, 18 or 26 in 3D",
             which->neighbours, which->dimension);
  return GAB_OK;
}

gab_status gab_delays_times_create(const gab_delay_model *model, gab_delays_times *times)
{
  *times = (gab_delays_times){.model = model};
  GAB_TRY(check(&model->neighbourhood));
  GAB_TRY(lay_out(times));
  /* A process without neighbours waits for itself, in any form. */
  times->own = model->form == GAB_DELAYS_CAUSAL || times->count == 1;
  if (!model->neighbourhood.graph) find_rows(times);
  GAB_TRY(GAB_NEW_ARRAY(&times->now, times->capacity, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&times->next, times->capacity, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < times->capacity; i++) times->now[i] = times->next[i] = -INFINITY;
  gab_delays_times_fill(times, 0);
  return GAB_OK;
}

void gab_delays_times_release(gab_delays_times *times)
{
  gab_free(&times->now);
  gab_free(&times->next);
}

/* ---------------------------------------------------------------- places */

static ptrdiff_t row_start(const gab_delays_times *times, int64_t row)
{
  const int64_t y = row % times->extent[1], z = row / times->extent[1];
  return times->pad[0] + (y + times->pad[1]) * times->stride[1] + (z + times->pad[2]) * times->stride[2];
}

static int64_t row_total(const gab_delays_times *times)
{
  return (int64_t)times->extent[1] * times->extent[2];
}

double *gab_delays_time_of(const gab_delays_times *times, int32_t process)
{
  return times->now + row_start(times, process / times->extent[0]) + process % times->extent[0];
}

double gab_delays_times_latest(const gab_delays_times *times)
{
  double latest = -INFINITY;
  for (int64_t row = 0; row < row_total(times); row++) {
    const double *values = times->now + row_start(times, row);
    for (int32_t x = 0; x < times->extent[0]; x++) latest = values[x] > latest ? values[x] : latest;
  }
  return latest;
}

void gab_delays_times_fill(gab_delays_times *times, double time)
{
  for (int64_t row = 0; row < row_total(times); row++) {
    double *values = times->now + row_start(times, row);
    for (int32_t x = 0; x < times->extent[0]; x++) values[x] = time;
  }
}

void gab_delays_times_gather(const gab_delays_times *times, double *values)
{
  for (int64_t row = 0; row < row_total(times); row++) {
    const double *from = times->now + row_start(times, row);
    for (int32_t x = 0; x < times->extent[0]; x++) *values++ = from[x];
  }
}

/* Axis by axis, each with the ghosts of those before it, so that edges and corners come out right. */
static void fill_periodic(gab_delays_times *times)
{
  for (int axis = 0; axis < 3; axis++) {
    if (times->model->neighbourhood.graph || !times->pad[axis] || !times->model->neighbourhood.periodic[axis])
      continue;
    const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    const ptrdiff_t along = times->stride[axis], length = times->extent[axis];
    for (ptrdiff_t j = 0; j < times->extent[b] + 2 * times->pad[b]; j++)
      for (ptrdiff_t i = 0; i < times->extent[a] + 2 * times->pad[a]; i++) {
        double *line = times->now + i * times->stride[a] + j * times->stride[b];
        line[0] = line[length * along];
        line[(length + 1) * along] = line[along];
      }
  }
}

/* ---------------------------------------------------------------- a step */

static inline double later(double a, double b) { return a > b ? a : b; }

/* When processes of a piece of a row may begin. */
static void wait_box(const gab_delays_times *times, const double *restrict now, double *restrict next,
                     int32_t count)
{
  for (int32_t x = 0; x < count; x++) next[x] = times->own ? now[x] : -INFINITY;
  for (int k = 0; k < times->row_count; k++) {
    const double *restrict row = now + times->rows[k].offset;
    if (times->rows[k].middle)
      for (int32_t x = 0; x < count; x++) next[x] = later(next[x], row[x]);
    if (times->rows[k].sides)
      for (int32_t x = 0; x < count; x++) next[x] = later(next[x], later(row[x - 1], row[x + 1]));
  }
}

static void wait_graph(const gab_delays_times *times, int32_t begin, double *restrict next, int32_t count)
{
  const gab_process_graph *graph = times->model->neighbourhood.graph;
  for (int32_t x = 0; x < count; x++) {
    const int64_t from = graph->first[begin + x], to = graph->first[begin + x + 1];
    double time = times->own || from == to ? times->now[begin + x] : -INFINITY;
    for (int64_t k = from; k < to; k++) time = later(time, times->now[graph->neighbour[k]]);
    next[x] = time;
  }
}

/* A piece of a row of processes, of which the first has the number `process`. */
static void step_piece(const gab_delays_times *times, const gab_delays_step *step, ptrdiff_t place,
                       int64_t process, int32_t count)
{
  const gab_delay_model *model = times->model;
  double *next = times->next + place;
  if (!step->exchange)
    for (int32_t x = 0; x < count; x++) next[x] = times->now[place + x];
  else if (model->neighbourhood.graph) wait_graph(times, (int32_t)process, next, count);
  else wait_box(times, times->now + place, next, count);
  for (int32_t x = 0; x < count; x++) next[x] += step->time;
  if (!(model->noise > 0)) return;
  for (int32_t x = 0; x < count; x++) {
    const uint64_t bits = gab_hash_counter(model->seed, (uint64_t)step->step, (uint64_t)(process + x));
    next[x] += model->noise * ((double)(bits >> 11) * 0x1p-53);
  }
}

void gab_delays_times_step(gab_delays_times *times, const gab_delays_step *step)
{
  const int32_t length = times->extent[0];
  const int64_t pieces = (length + PIECE - 1) / PIECE, total = pieces * row_total(times);
  if (step->exchange) fill_periodic(times);
#pragma omp parallel for schedule(static) if (times->count > FEW)
  for (int64_t item = 0; item < total; item++) {
    const int64_t row = item / pieces;
    const int32_t begin = (int32_t)(item % pieces) * PIECE, left = length - begin;
    step_piece(times, step, row_start(times, row) + begin, row * length + begin, left < PIECE ? left : PIECE);
  }
  double *now = times->now;
  times->now = times->next;
  times->next = now;
}
