/* SPDX-License-Identifier: Apache-2.0 */
/* LBM kernels alone, in millions of cell updates per second, each measured in turn with a copy of the same number of
 * arrays (in place: with rewriting them). Only pull, collide and store, without boundaries and exchange. In-place
 * kernels also on cells in the second cache: if that rate is not far above the ceiling, arithmetic limits the kernel
 * as much as memory. */
#include "apps/bench/bench.h"

#include <string.h>

/* One block per process, so that nothing but the kernel is measured. */
static bench_flow_options one_block_each(const bench *b, const gab_lattice *lattice)
{
  int32_t processes = bench_processes(b), edge = bench_edge(b), plane = 16 * edge;
  if (lattice->dimension == 2)
    return (bench_flow_options){
        .lattice = lattice, .roots = {1, processes, 1}, .cells = {plane, plane / processes, 1}};
  return (bench_flow_options){
      .lattice = lattice, .roots = {1, 1, processes}, .cells = {edge, edge, edge / processes}};
}

static gab_status against_ceiling(bench *b, bench_streams *streams, bench_flow *flow, bool in_place,
                                  const char *name)
{
  bench_pair pair = {.work = bench_flow_collide,
                     .work_user = flow,
                     .work_amount = (double)flow->cells * BENCH_SWEEPS,
                     .ceiling = in_place ? bench_streams_update : bench_streams_copy,
                     .ceiling_user = streams,
                     .ceiling_amount = (double)streams->elements * bench_processes(b) * BENCH_SWEEPS};
  bench_pair_result result;
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return GAB_OK;
}

gab_status bench_in_cache(bench *b, const bench_flow_options *large, size_t bytes, bench_streams *streams,
                          const char *name)
{
  const bool deep = large->lattice->dimension == 3;
  const int32_t row = deep ? 128 : 2048;
  const size_t row_bytes = (size_t)row * (size_t)large->lattice->q * gab_precision_bytes(large->precision);
  const int32_t rows = (int32_t)(bytes / row_bytes);
  bench_flow_options options = *large;
  options.walls = false;
  options.cells[0] = row;
  options.cells[1] = deep ? rows / 2 : rows * b->threads;
  options.cells[2] = deep ? 2 * b->threads : 1;
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, &options, &flow));
  const bench_pair pair = {.work = bench_flow_collide_cached,
                           .work_user = &flow,
                           .work_amount = (double)flow.cells * BENCH_CACHED_SWEEPS,
                           .ceiling = bench_streams_update,
                           .ceiling_user = streams,
                           .ceiling_amount = (double)streams->elements * bench_processes(b) * BENCH_SWEEPS};
  bench_pair_result result;
  const gab_status status = bench_measure_pair(b, &pair, &result);
  if (status == GAB_OK) bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  bench_flow_destroy(&flow);
  return status;
}

static gab_status one_kernel(bench *b, const bench_flow_options *options, bench_streams *streams)
{
  enum { CACHED_BYTES = 512 << 10 };
  const bool in_place = strcmp(options->kernel, "in_place") == 0;
  char name[80], cached[96];
  snprintf(name, sizeof name, "kernel.%s", bench_flow_name_of(options).text);
  snprintf(cached, sizeof cached, "%s.in-cache", name);
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, options, &flow));
  gab_status status = against_ceiling(b, streams, &flow, in_place, name);
  bench_flow_destroy(&flow);
  return status == GAB_OK && in_place ? bench_in_cache(b, options, CACHED_BYTES, streams, cached) : status;
}

/* SRT is the code of TRT with equal rates: once, to see that it is. */
static gab_status variants(bench *b, bench_flow_options *options, bench_streams *streams)
{
  static const struct {
    const char *kernel;
    const gab_collision *collision;
    bool forced;
  } list[] = {{"in_place", &gab_collision_trt, false}, {"in_place", &gab_collision_trt, true},
              {"in_place", &gab_collision_mrt, false}, {"in_place", &gab_collision_mrt, true},
              {"vector", &gab_collision_trt, false},   {"vector", &gab_collision_srt, false},
              {"vector", &gab_collision_trt, true},    {"reference", &gab_collision_trt, false}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    options->kernel = list[i].kernel;
    options->collision = list[i].collision;
    options->forced = list[i].forced;
    GAB_TRY(one_kernel(b, options, streams));
  }
  return GAB_OK;
}

static gab_status one_lattice(bench *b, const gab_lattice *lattice, gab_precision precision, bool mixed)
{
  bench_flow_options options = one_block_each(b, lattice);
  options.precision = precision;
  options.mixed = mixed;
  size_t cells = (size_t)options.cells[0] * (size_t)options.cells[1] * (size_t)options.cells[2];
  bench_streams streams;
  GAB_TRY(bench_streams_create(lattice->q, precision, cells, BENCH_TWO_GRIDS, &streams));
  gab_status status = variants(b, &options, &streams);
  bench_streams_destroy(&streams);
  return status;
}

gab_status bench_kernels(bench *b)
{
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    for (int reals = 0; reals < 3; reals++) {
      gab_precision precision = reals == 0 ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
      GAB_TRY(one_lattice(b, &gab_lattice_d3q19, precision, reals == 2));
      GAB_TRY(one_lattice(b, &gab_lattice_d2q9, precision, reals == 2));
    }
    if (threads == b->most_threads) return GAB_OK;
  }
}
