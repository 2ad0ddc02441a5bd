/* SPDX-License-Identifier: Apache-2.0 */
/* Flows on four levels: the edge of a closed box is refined. A step in turn with one of as many blocks of one
 * level, in cell updates of all levels; and where its time goes. */
#include "apps/bench/bench.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "loadbalance/balance.h"

#include <string.h>

/* ---------------------------------------------------------------- the grid */

enum { MAX_LEVEL = 3 };

/* Blocks at the edge x = 0, z = 0; in the plane all those at x = 0. */
static gab_mark mark_edge(void *user, int level, const gab_box *cells)
{
  (void)user;
  (void)level;
  return cells->lo[0] == 0 && cells->lo[2] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Updates of a step of level 0: cells of level l make 2^l. All cells are fluid. */
static gab_status count_updates(bench *b, const bench_flow *flow, uint64_t *updates)
{
  *updates = 0;
  for (size_t i = 0; i < gab_forest_block_count(flow->forest); i++) {
    const gab_block *block = gab_forest_block(flow->forest, i);
    const gab_box cells = gab_block_cells(flow->forest, block);
    *updates += (uint64_t)gab_box_count(&cells) << gab_block_level(flow->forest, block);
  }
  return gab_world_sum_u64(b->world, updates, 1);
}

/* Case of a measurement: blocks of that number of cells, and the roots of the grids. */
typedef struct levels_case {
  const gab_lattice *lattice;
  int32_t edge;
  int32_t levels[3], uniform[3];
} levels_case;

static const levels_case cases[] = {
    /* 16 + 12 + 24 + 64 = 116 blocks of levels 0 to 3, or 120 of level 0 */
    {&gab_lattice_d3q19, 32, {3, 2, 3}, {5, 4, 6}},
    {&gab_lattice_d3q19, 20, {3, 2, 3}, {5, 4, 6}},
    {&gab_lattice_d3q19, 10, {3, 2, 3}, {5, 4, 6}},
    /* 12 + 8 + 16 + 64 = 100 blocks */
    {&gab_lattice_d2q9, 40, {4, 4, 1}, {10, 10, 1}},
};

static gab_status make_flow(bench *b, const levels_case *it, bool refined, bench_flow *flow,
                            uint64_t *updates)
{
  bench_flow_options options = {
      .lattice = it->lattice, .walls = true, .kernel = "auto", .cells = {it->edge, it->edge, it->edge}};
  if (it->lattice->dimension == 2) options.cells[2] = 1;
  memcpy(options.roots, refined ? it->levels : it->uniform, sizeof options.roots);
  if (refined) {
    options.refine = mark_edge;
    options.max_level = MAX_LEVEL;
  }
  GAB_TRY(bench_flow_create(b, &options, flow));
  gab_status status = count_updates(b, flow, updates);
  if (status != GAB_OK) bench_flow_destroy(flow);
  return status;
}

/* ---------------------------------------------------------------- steps */

enum { GHOSTS, LINKS, SWEEP, JOINTS, MESSAGES, OTHER, PART_COUNT };

static gab_status sum_over_processes(bench *b, double *values, size_t count)
{
  gab_exact_sum sums[PART_COUNT + 1];
  for (size_t i = 0; i < count; i++) {
    gab_exact_clear(&sums[i]);
    gab_exact_add(&sums[i], values[i]);
  }
  GAB_TRY(gab_world_sum_exact(b->world, sums, count));
  for (size_t i = 0; i < count; i++) values[i] = gab_exact_value(&sums[i]);
  return GAB_OK;
}

/* Seconds times threads of the parts of BENCH_SWEEPS steps; the last one is the whole. */
static gab_status parts_once(bench *b, bench_flow *flow, double seconds[PART_COUNT + 1])
{
  GAB_TRY(gab_lbm_time_parts(flow->lbm, true));
  GAB_TRY(gab_world_barrier(b->world));
  const double start = gab_seconds();
  GAB_TRY(bench_flow_step(flow));
  seconds[PART_COUNT] = b->threads * (gab_seconds() - start);
  const gab_lbm_times times = gab_lbm_get_times(flow->lbm);
  seconds[GHOSTS] = times.ghosts;
  seconds[LINKS] = times.links;
  seconds[SWEEP] = times.sweep;
  seconds[JOINTS] = times.interfaces;
  seconds[MESSAGES] = times.messages;
  seconds[OTHER] = times.other;
  GAB_TRY(gab_lbm_time_parts(flow->lbm, false));
  return sum_over_processes(b, seconds, PART_COUNT + 1);
}

static gab_status report_parts(bench *b, bench_flow *flow, uint64_t updates, const char *what)
{
  static const char *const names[PART_COUNT] = {"ghosts",     "links",    "sweep",
                                                "interfaces", "messages", "other"};
  double once[PART_COUNT + 1], samples[PART_COUNT][BENCH_MOST_SAMPLES], steps[BENCH_MOST_SAMPLES];
  const double scale = 1e9 / ((double)updates * BENCH_SWEEPS);
  for (int i = 0; i < b->repetitions; i++) {
    GAB_TRY(parts_once(b, flow, once));
    steps[i] = scale * once[PART_COUNT];
    for (int part = 0; part < PART_COUNT; part++) samples[part][i] = scale * once[part];
  }
  for (int part = 0; part < PART_COUNT; part++) {
    char name[96];
    snprintf(name, sizeof name, "levels.%s.%s", what, names[part]);
    bench_report_part(b, name, samples[part], steps);
  }
  return GAB_OK;
}

static gab_status steps_on_levels(bench *b, const levels_case *it, bench_flow *levels, bench_flow *uniform,
                                  const uint64_t updates[2])
{
  bench_pair pair = {.work = bench_flow_step,
                     .work_user = levels,
                     .work_amount = (double)updates[0] * BENCH_SWEEPS,
                     .ceiling = bench_flow_step,
                     .ceiling_user = uniform,
                     .ceiling_amount = (double)updates[1] * BENCH_SWEEPS};
  bench_pair_result result;
  char what[32], name[64];
  snprintf(what, sizeof what, "%s.blocks-of-%" PRId32, it->lattice->name, it->edge);
  snprintf(name, sizeof name, "levels.%s.step", what);
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return report_parts(b, levels, updates[0], what);
}

static gab_status one_case(bench *b, const levels_case *it)
{
  bench_flow levels, uniform;
  uint64_t updates[2];
  GAB_TRY(make_flow(b, it, true, &levels, &updates[0]));
  gab_status status = make_flow(b, it, false, &uniform, &updates[1]);
  if (status == GAB_OK) {
    status = steps_on_levels(b, it, &levels, &uniform, updates);
    bench_flow_destroy(&uniform);
  }
  bench_flow_destroy(&levels);
  return status;
}

gab_status bench_levels(bench *b)
{
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    for (size_t i = b->quick; i < sizeof cases / sizeof *cases; i++) GAB_TRY(one_case(b, &cases[i]));
    if (threads == b->most_threads) return GAB_OK;
  }
}
