/* SPDX-License-Identifier: Apache-2.0 */
/* Temporal blocking, in millions of cell updates per second: steps of closed boxes, with walls, links and ghosts
 * between blocks, in turn with as many arrays rewritten in place once per step. Above 100 % a temporal block is
 * faster than any loop of single steps can be. The benchmark fails if the bits differ from those of single steps. */
#include "apps/bench/bench.h"

enum { STEPS = 4 }; /* per sample, equal for all rows; even, for both kinds of steps */

typedef struct several_steps {
  gab_lbm *lbm;
  int temporal_steps;
} several_steps;

static gab_status take(void *user)
{
  const several_steps *it = user;
  return gab_lbm_steps(it->lbm, STEPS, it->temporal_steps);
}

/* ---------------------------------------------------------------- the same bits */

static gab_status checksum_after(bench *b, const bench_flow_options *options, const int *steps, size_t count,
                                 bool together, uint64_t *checksum)
{
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, options, &flow));
  gab_status status = GAB_OK;
  for (size_t i = 0; status == GAB_OK && i < count; i++)
    status = gab_lbm_steps(flow.lbm, steps[i], together ? steps[i] : 1);
  if (status == GAB_OK) status = gab_forest_checksum(flow.forest, checksum);
  bench_flow_destroy(&flow);
  return status;
}

static gab_status compare_bits(bench *b, const bench_flow_options *options, const int *steps, size_t count)
{
  uint64_t one_by_one, together;
  GAB_TRY(checksum_after(b, options, steps, count, false, &one_by_one));
  GAB_TRY(checksum_after(b, options, steps, count, true, &together));
  if (one_by_one == together) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE,
           "steps in temporal blocks end at %016" PRIx64 ", steps one after another at %016" PRIx64, together,
           one_by_one);
}

/* ---------------------------------------------------------------- their speed */

static gab_status against_streams(bench *b, const bench_flow *flow, bench_streams *streams, const char *what,
                                  int steps)
{
  several_steps several = {.lbm = flow->lbm, .temporal_steps = steps};
  const bench_pair pair = {.work = take,
                           .work_user = &several,
                           .work_amount = (double)flow->cells * STEPS,
                           .ceiling = bench_streams_update,
                           .ceiling_user = streams,
                           .ceiling_amount = (double)streams->elements * bench_processes(b) * BENCH_SWEEPS};
  bench_pair_result result;
  char name[96];
  snprintf(name, sizeof name, "temporal.%s.steps-%d", what, steps);
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return GAB_OK;
}

static gab_status one_box(bench *b, int32_t edge, int32_t block, const int *steps, size_t count)
{
  bench_flow_options options = {.lattice = &gab_lattice_d3q19, .walls = true, .kernel = "in_place"};
  for (int axis = 0; axis < 3; axis++) {
    options.roots[axis] = edge / block;
    options.cells[axis] = block;
  }
  GAB_TRY(compare_bits(b, &options, steps, count));
  bench_flow flow;
  bench_streams streams;
  GAB_TRY(bench_flow_create(b, &options, &flow));
  gab_status status = bench_streams_create(options.lattice->q, options.precision, (size_t)flow.cells,
                                           BENCH_ONE_GRID, &streams);
  if (status == GAB_OK) {
    char what[32];
    if (block == edge) snprintf(what, sizeof what, "box-%" PRId32, edge);
    else snprintf(what, sizeof what, "box-%" PRId32 ".blocks-of-%" PRId32, edge, block);
    if (block == edge) {
      enum { CACHED_BYTES = 4 << 20 };
      char cached[64];
      snprintf(cached, sizeof cached, "temporal.%s.in-cache", what);
      status = bench_in_cache(b, &options, CACHED_BYTES, &streams, cached);
    }
    for (size_t i = 0; status == GAB_OK && i < count; i++)
      status = against_streams(b, &flow, &streams, what, steps[i]);
    bench_streams_destroy(&streams);
  }
  bench_flow_destroy(&flow);
  return status;
}

gab_status bench_temporal_blocking(bench *b)
{
  static const int steps[] = {1, 2, STEPS};
  enum { COUNT = sizeof steps / sizeof *steps };
  if (bench_processes(b) > 1) {
    bench_remark(
        b,
        "temporal-blocking: for one process; several exchange ghosts by messages, and take one step at a time");
    return GAB_OK;
  }
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    GAB_TRY(one_box(b, bench_edge(b), bench_edge(b), steps, COUNT));
    if (!b->quick) GAB_TRY(one_box(b, 200, 200, steps, COUNT));
    GAB_TRY(one_box(b, b->quick ? 128 : 256, 64, steps, COUNT));
    if (threads == b->most_threads) return GAB_OK;
  }
}
