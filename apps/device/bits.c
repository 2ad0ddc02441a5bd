/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of the device against those of the processor. */
#include "apps/device/device_bench.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/memory/memory.h"

#include <stdio.h>
#include <string.h>

const char *bench_reals_name(gab_kernel_reals reals)
{
  static const char *const names[] = {"double", "float", "mixed"};
  return names[reals];
}

gab_device_flow_options bench_box(int cells, int block, gab_kernel_reals reals)
{
  const int n = cells / block;
  return (gab_device_flow_options){.cells = {block, block, block},
                                   .blocks = {n, n, n},
                                   .reals = reals,
                                   .rates = {.even = 1.7, .odd = 1 / (0.5 + 0.1875 / (1 / 1.7 - 0.5))}};
}

gab_status bench_self_test(gab_device *device)
{
  double start = gab_seconds();
  const gab_status arithmetic = gab_device_check_arithmetic(device);
  printf("- arithmetic: %s (%.2f s)\n", arithmetic == GAB_OK ? "the processor's bits" : gab_error_message(),
         gab_seconds() - start);
  start = gab_seconds();
  const gab_status cells = gab_lbm_check_device(device);
  printf("- D3Q19 TRT of a small box: %s (%.2f s)\n",
         cells == GAB_OK ? "the processor's bits" : gab_error_message(), gab_seconds() - start);
  const gab_device_builds builds = gab_device_builds_of(device);
  printf("- programs: %d compiled, %d from the cache folder, %d from memory\n\n", builds.compiled,
         builds.from_folder, builds.from_memory);
  fflush(stdout);
  return arithmetic != GAB_OK ? arithmetic : cells;
}

/* A ball in the middle, and a plate. */
static void set_walls(int n, uint8_t *solid)
{
  size_t at = 0;
  for (int z = 0; z < n; z++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++, at++) {
        const int dx = 2 * x - n, dy = 2 * y - n, dz = 2 * z - n;
        solid[at] = z == 1 || dx * dx + dy * dy + dz * dz < n * n / 8;
      }
}

typedef struct states {
  uint8_t *solid;
  void *start, *found, *work[2];
} states;

static gab_status make_states(const gab_device_flow_options *box, int n, bool walls, states *made)
{
  const size_t all = gab_device_flow_cells(box), bytes = gab_device_flow_bytes(box);
  if (walls) {
    GAB_TRY(GAB_NEW_ARRAY(&made->solid, all, GAB_MEMORY_OTHER));
    set_walls(n, made->solid);
  }
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &made->start));
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &made->found));
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &made->work[0]));
  return gab_alloc(bytes, GAB_MEMORY_OTHER, &made->work[1]);
}

static void free_states(states *gone)
{
  gab_free(&gone->solid);
  gab_free(&gone->start);
  gab_free(&gone->found);
  gab_free(&gone->work[0]);
  gab_free(&gone->work[1]);
}

static gab_status on_device(gab_device *device, const gab_device_flow_options *box, const void *start,
                            int steps, void *found)
{
  gab_device_flow *flow = NULL;
  GAB_TRY(gab_device_flow_create(device, box, &flow));
  gab_status status = gab_device_flow_put(flow, start);
  if (status == GAB_OK) status = gab_device_flow_step(flow, steps);
  if (status == GAB_OK) status = gab_device_flow_get(flow, found);
  gab_device_flow_destroy(&flow);
  return status;
}

static size_t count_differing(const gab_device_flow_options *box, const void *a, const void *b)
{
  const size_t real = gab_device_flow_real(box), values = gab_device_flow_bytes(box) / real;
  size_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (size_t i = 0; i < values; i++)
    count += memcmp((const char *)a + i * real, (const char *)b + i * real, real) != 0;
  return count;
}

/* Boxes of the same cells in blocks of several sizes against one run of the processor. */
static gab_status compare(gab_device *device, int cells, int steps, gab_kernel_reals reals, bool walls,
                          bool *differs)
{
  states it = {0};
  gab_device_flow_options box = bench_box(cells, cells, reals);
  const size_t bytes = gab_device_flow_bytes(&box);
  gab_status status = make_states(&box, cells, walls, &it);
  if (status == GAB_OK) {
    box.solid = it.solid;
    gab_device_flow_wave(&box, 7, it.start);
    memcpy(it.work[0], it.start, bytes);
    for (int i = 0; i < steps; i++) gab_device_flow_reference(&box, it.work[i % 2], it.work[1 - i % 2]);
  }
  for (int block = cells; status == GAB_OK && block >= 16 && block >= cells / 8; block /= 2) {
    box = bench_box(cells, block, reals);
    box.solid = it.solid;
    status = on_device(device, &box, it.start, steps, it.found);
    if (status != GAB_OK) break;
    const size_t count = count_differing(&box, it.found, it.work[steps % 2]);
    printf("| %d^3 | %d^3 | %s | %s | %d | %016" PRIx64 " | %zu |\n", cells, block, bench_reals_name(reals),
           walls ? "ball, plate" : "none", steps, gab_hash64(it.found, bytes, 0), count);
    fflush(stdout);
    if (count > 0) *differs = true;
  }
  free_states(&it);
  return status;
}

gab_status bench_bits(gab_device *device, const bench_options *options)
{
  const bool has_double = gab_device_of(device)->has_double;
  bool differs = false;
  printf("| cells | blocks | reals | walls | steps | checksum | values that differ from the processor's |\n"
         "|---|---|---|---|---|---|---|\n");
  for (int reals = 0; reals < GAB_REALS_COUNT; reals++) {
    const gab_kernel_reals which = (gab_kernel_reals)reals;
    if (!has_double && which != GAB_REALS_FLOAT) continue;
    GAB_TRY(compare(device, options->check_cells, options->steps, which, true, &differs));
    GAB_TRY(compare(device, options->check_cells, options->steps + 1, which, true, &differs));
    if (!options->quick && which != GAB_REALS_MIXED)
      GAB_TRY(compare(device, options->cells, 5, which, false, &differs));
  }
  printf("\n");
  if (differs) GAB_FAIL(GAB_ERR_SUSPECT, "results of the device differ from those of the processor");
  return GAB_OK;
}

gab_status bench_checksum(gab_device *device, const bench_options *options)
{
  const int block = options->block > 0 ? options->block : options->check_cells;
  gab_device_flow_options box = bench_box(options->check_cells, block, (gab_kernel_reals)options->reals);
  const size_t bytes = gab_device_flow_bytes(&box);
  gab_device_flow *flow = NULL;
  states it = {0};
  gab_status status = make_states(&box, options->check_cells, true, &it);
  if (status == GAB_OK) {
    box.solid = it.solid;
    status = gab_device_flow_create(device, &box, &flow);
  }
  if (status == GAB_OK) {
    gab_device_flow_wave(&box, 7, it.start);
    status = gab_device_flow_put(flow, it.start);
  }
  printf("running\n");
  fflush(stdout);
  do {
    if (status == GAB_OK) status = gab_device_flow_step(flow, options->steps);
    if (status == GAB_OK) status = gab_device_wait(device);
  } while (status == GAB_OK && options->endless);
  if (status == GAB_OK) status = gab_device_flow_get(flow, it.found);
  if (status == GAB_OK)
    printf("checksum %016" PRIx64 " after %d steps\n", gab_hash64(it.found, bytes, 0), options->steps);
  gab_device_flow_destroy(&flow);
  free_states(&it);
  return status;
}
