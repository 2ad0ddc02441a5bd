/* SPDX-License-Identifier: Apache-2.0 */
/* Speeds on the device, by its own clock, against a copy of the same run. */
#include "apps/device/device_bench.h"

#include "core/base/log.h"
#include "core/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7, Q = 19 };

static int compare_doubles(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median of the rounds of some work. */
typedef gab_status (*work)(void *user);
static gab_status time_of(gab_device *device, work what, void *user, double *seconds)
{
  double times[ROUNDS];
  GAB_TRY(what(user)); /* warm */
  for (int i = 0; i < ROUNDS; i++) {
    gab_device_mark *from = NULL, *to = NULL;
    gab_status status = gab_device_mark_here(device, &from);
    if (status == GAB_OK) status = what(user);
    if (status == GAB_OK) status = gab_device_mark_here(device, &to);
    if (status == GAB_OK) status = gab_device_seconds(from, to, &times[i]);
    gab_device_unmark(&from);
    gab_device_unmark(&to);
    if (status != GAB_OK) return status;
  }
  qsort(times, ROUNDS, sizeof times[0], compare_doubles);
  *seconds = times[ROUNDS / 2];
  return GAB_OK;
}

/* ---------------------------------------------------------------- copies */

typedef struct copies {
  gab_device_memory *from, *to;
  gab_device_pinned *pinned;
  size_t bytes, pinned_bytes;
} copies;

static gab_status copy_within(void *user)
{
  const copies *it = user;
  return gab_device_copy(it->from, 0, it->to, 0, it->bytes);
}

static gab_status copy_up(void *user)
{
  const copies *it = user;
  return gab_device_write_pinned(it->to, 0, it->pinned, 0, it->pinned_bytes);
}

static gab_status copy_down(void *user)
{
  const copies *it = user;
  return gab_device_read_pinned(it->from, 0, it->pinned, 0, it->pinned_bytes);
}

static gab_status measure_copies(gab_device *device, copies *it, double *bandwidth, double *down)
{
  double seconds = 0;
  void *data = NULL;
  GAB_TRY(gab_device_alloc(device, it->bytes, &it->from));
  GAB_TRY(gab_device_alloc(device, it->bytes, &it->to));
  GAB_TRY(gab_device_pin(device, it->pinned_bytes, &data, &it->pinned));
  GAB_TRY(time_of(device, copy_up, it, &seconds)); /* not zeros, but whatever the field of a flow would be */
  const double up = (double)it->pinned_bytes / seconds;
  GAB_TRY(time_of(device, copy_within, it, &seconds));
  *bandwidth = 2 * (double)it->bytes / seconds;
  GAB_TRY(time_of(device, copy_down, it, &seconds));
  *down = (double)it->pinned_bytes / seconds;
  printf(
      "copy within the device, %.2f GB: %.0f GB/s read and written; pinned host memory to the device %.1f GB/s, back %.1f "
      "GB/s\n\n",
      1e-9 * (double)it->bytes, 1e-9 * *bandwidth, 1e-9 * up, 1e-9 * *down);
  fflush(stdout);
  return GAB_OK;
}

static gab_status time_copies(gab_device *device, const bench_options *options, double *bandwidth,
                              double *down)
{
  const size_t cells = (size_t)options->cells * (size_t)options->cells * (size_t)options->cells;
  copies it = {.bytes = cells * Q * sizeof(double), .pinned_bytes = cells * sizeof(double)};
  const gab_status status = measure_copies(device, &it, bandwidth, down);
  gab_device_free(&it.from);
  gab_device_free(&it.to);
  gab_device_unpin(&it.pinned);
  return status;
}

/* ---------------------------------------------------------------- steps */

enum { STEPS_TIMED = 20 };

static gab_status take_steps(void *user) { return gab_device_flow_step(user, STEPS_TIMED); }

static const int groups[] = {64, 128, 256, 512};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static gab_status time_steps(gab_device *device, const gab_device_flow_options *box, const void *start,
                             double seconds[GROUPS])
{
  gab_device_flow *flow = NULL;
  GAB_TRY(gab_device_flow_create(device, box, &flow));
  gab_status status = gab_device_flow_put(flow, start);
  for (int i = 0; i < GROUPS && status == GAB_OK; i++) {
    gab_device_flow_set_group(flow, groups[i]);
    status = time_of(device, take_steps, flow, &seconds[i]);
    seconds[i] /= STEPS_TIMED;
  }
  gab_device_flow_destroy(&flow);
  return status;
}

static gab_status time_blocks(gab_device *device, const bench_options *options, gab_kernel_reals reals,
                              double bandwidth, double down)
{
  void *start = NULL;
  gab_device_flow_options box = bench_box(options->cells, options->cells, reals);
  const double cells = (double)gab_device_flow_cells(&box), real = (double)gab_device_flow_real(&box);
  const double bytes = cells * (2 * Q * real + sizeof(uint32_t)); /* populations, and the word of walls */
  GAB_TRY(gab_alloc(gab_device_flow_bytes(&box), GAB_MEMORY_OTHER, &start));
  gab_device_flow_wave(&box, 3, start);
  gab_status status = GAB_OK;
  const int blocks[] = {options->cells, options->cells > 64 ? 64 : options->cells / 2,
                        options->cells > 64 ? 32 : options->cells / 4};
  for (int i = 0; i < 3 && status == GAB_OK; i++) {
    double seconds[GROUPS];
    if (options->cells % blocks[i] != 0) continue;
    box = bench_box(options->cells, blocks[i], reals);
    status = time_steps(device, &box, start, seconds);
    for (int k = 0; k < GROUPS && status == GAB_OK; k++)
      printf("| %d^3 | %d^3 | %d | %s | %d | %.3f | %.0f | %.0f | %.1f %% | %.1f |\n", options->cells,
             blocks[i], box.blocks[0] * box.blocks[1] * box.blocks[2], bench_reals_name(reals), groups[k],
             1e3 * seconds[k], 1e-6 * cells / seconds[k], 1e-9 * bytes / seconds[k],
             100 * bytes / seconds[k] / bandwidth, cells * Q * real / down / seconds[k]);
    fflush(stdout);
  }
  gab_free(&start);
  return status;
}

gab_status bench_speed(gab_device *device, const bench_options *options)
{
  double bandwidth = 0, down = 0;
  GAB_TRY(time_copies(device, options, &bandwidth, &down));
  printf(
      "| cells | blocks | number | reals | work group | ms per step | MLUPS | GB/s | of the copy | steps that a copy of the state to pinned "
      "memory lasts |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (int reals = 0; reals < GAB_REALS_COUNT; reals++)
    if (gab_device_of(device)->has_double || reals == GAB_REALS_FLOAT)
      GAB_TRY(time_blocks(device, options, (gab_kernel_reals)reals, bandwidth, down));
  printf("\n");
  return GAB_OK;
}
