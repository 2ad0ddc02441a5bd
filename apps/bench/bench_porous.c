/* SPDX-License-Identifier: Apache-2.0 */
/* Flow through overlapping spheres that leave about 30 % of the space: fluid cell updates against index
 * lists, and the memory of a fluid cell. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"

#include <math.h>

static const double wanted_fluid = 0.3;

typedef struct medium {
  gab_body *spheres;
  size_t count;
  int32_t edge;
} medium;

/* Numbers in [0, 1) that are the same everywhere (the generator of Knuth's MMIX). */
static double next_random(uint64_t *state)
{
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-53;
}

/* Spheres at random places leave the share exp(-n v) free, n per volume, v the volume of one. */
static gab_status medium_create(bench *b, medium *m)
{
  const double pi = 3.14159265358979323846;
  double radius = b->quick ? 5.3 : 10.3;
  m->edge = b->quick ? 64 : 128;
  double volume = pow(m->edge, 3), sphere = 4 * pi / 3 * pow(radius, 3);
  m->count = (size_t)lround(-log(wanted_fluid) * volume / sphere);
  GAB_TRY(GAB_NEW_ARRAY(&m->spheres, m->count, GAB_MEMORY_OTHER));
  uint64_t state = 1;
  for (size_t i = 0; i < m->count; i++) {
    m->spheres[i] = (gab_body){.shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_STAIRCASE, .radius = radius};
    for (int axis = 0; axis < 3; axis++) m->spheres[i].centre[axis] = m->edge * next_random(&state);
  }
  return GAB_OK;
}

/* @param block  edge of the blocks; 0: one slab per process */
static bench_flow_options options_of(const bench *b, const medium *m, const char *kernel, int32_t block)
{
  int32_t slabs = bench_processes(b), edge = m->edge;
  bench_flow_options options = {.lattice = &gab_lattice_d3q19,
                                .kernel = kernel,
                                .roots = {1, 1, slabs},
                                .cells = {edge, edge, edge / slabs},
                                .bodies = m->spheres,
                                .body_count = m->count};
  for (int axis = 0; axis < 3 && block > 0; axis++) {
    options.roots[axis] = edge / block;
    options.cells[axis] = block;
  }
  return options;
}

static gab_status against_list(bench *b, bench_flow *flow, bench_lists *lists, bench_work ceiling,
                               const char *name)
{
  uint64_t cells = lists->cells;
  GAB_TRY(gab_world_sum_u64(b->world, &cells, 1));
  bench_pair pair = {.work = bench_flow_step,
                     .work_user = flow,
                     .work_amount = (double)flow->cells * BENCH_SWEEPS,
                     .ceiling = ceiling,
                     .ceiling_user = lists,
                     .ceiling_amount = (double)cells * BENCH_SWEEPS};
  bench_pair_result result;
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return GAB_OK;
}

static gab_status report_memory(bench *b, const bench_flow *flow, const char *what)
{
  uint64_t bytes[2] = {flow->field_bytes, flow->all_bytes};
  GAB_TRY(gab_world_sum_u64(b->world, bytes, 2));
  static const char *const names[] = {"fields", "all"};
  for (int i = 0; i < 2; i++) {
    double value = (double)bytes[i] / (double)flow->cells;
    char name[160];
    snprintf(name, sizeof name, "memory.%s.%s", what, names[i]);
    bench_report(
        b, &(bench_result){
               .name = name, .value = value, .min = value, .max = value, .samples = 1, .unit = "B/cell"});
  }
  return GAB_OK;
}

/* With all threads only: the second time for the memory would be the same. */
static gab_status measure_flow(bench *b, bench_flow *flow, const char *what, bench_lists *lists)
{
  char name[160];
  snprintf(name, sizeof name, "porous.%s", what);
  GAB_TRY(against_list(b, flow, lists, bench_lists_compact, name));
  snprintf(name, sizeof name, "porous.%s.dense-list", what);
  GAB_TRY(against_list(b, flow, lists, bench_lists_dense, name));
  return b->threads == b->most_threads ? report_memory(b, flow, what) : GAB_OK;
}

static gab_status one_flow(bench *b, const medium *m, const char *kernel, int32_t block, bench_lists *lists)
{
  bench_flow_options options = options_of(b, m, kernel, block);
  char what[96];
  if (block > 0)
    snprintf(what, sizeof what, "%s.blocks-of-%" PRId32, bench_flow_name_of(&options).text, block);
  else snprintf(what, sizeof what, "%s.one-block", bench_flow_name_of(&options).text);
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, &options, &flow));
  bench_remark(b, "porous.%s: %s, %.1f %% fluid, %zu spheres", what, gab_lbm_kernel_name(flow.lbm),
               100 * (double)flow.cells / pow(m->edge, 3), m->count);
  gab_status status = measure_flow(b, &flow, what, lists);
  bench_flow_destroy(&flow);
  return status;
}

static gab_status all_flows(bench *b, const medium *m, bench_lists *lists)
{
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    GAB_TRY(one_flow(b, m, "auto", 0, lists));
    GAB_TRY(one_flow(b, m, "auto", 32, lists));
    GAB_TRY(one_flow(b, m, "vector", 0, lists));
    if (threads == b->most_threads) return GAB_OK;
  }
}

/* The lists come from a separate flow, which is released before the measurement. */
static gab_status make_lists(bench *b, const medium *m, bench_lists *lists)
{
  bench_flow_options options = options_of(b, m, "auto", 0);
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, &options, &flow));
  gab_status status = bench_lists_create(&flow, lists);
  bench_flow_destroy(&flow);
  return status;
}

gab_status bench_porous(bench *b)
{
  medium m = {0};
  bench_lists lists = {0};
  GAB_TRY(medium_create(b, &m));
  gab_status status = make_lists(b, &m, &lists);
  if (status == GAB_OK) status = all_flows(b, &m, &lists);
  bench_lists_destroy(&lists);
  gab_free(&m.spheres);
  return status;
}
