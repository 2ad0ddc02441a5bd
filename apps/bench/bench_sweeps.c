/* SPDX-License-Identifier: Apache-2.0 */
/* LBM with all parts of a step, in closed boxes, in millions of cell updates per second: one block per process
 * without exchange, two adjacent blocks, many small blocks. Each is measured in turn with its ceiling (the same
 * number of arrays and elements rewritten in place), or with the flow of the comparison. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"

#include <string.h>

static gab_status against_streams(bench *b, const char *name, bench_flow *flow,
                                  const bench_flow_options *options)
{
  bench_streams streams;
  size_t cells = (size_t)(flow->cells / (uint64_t)bench_processes(b));
  GAB_TRY(bench_streams_create(options->lattice->q, options->precision, cells, BENCH_ONE_GRID, &streams));
  bench_pair pair = {.work = bench_flow_step,
                     .work_user = flow,
                     .work_amount = (double)flow->cells * BENCH_SWEEPS,
                     .ceiling = bench_streams_update,
                     .ceiling_user = &streams,
                     .ceiling_amount = (double)cells * bench_processes(b) * BENCH_SWEEPS};
  bench_pair_result result;
  gab_status status = bench_measure_pair(b, &pair, &result);
  bench_streams_destroy(&streams);
  if (status == GAB_OK) bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return status;
}

static gab_status one_flow(bench *b, const char *name, const bench_flow_options *options)
{
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, options, &flow));
  gab_status status = against_streams(b, name, &flow, options);
  bench_flow_destroy(&flow);
  return status;
}

/* Case of a measurement in boxes; the edge is that of the whole box. */
typedef struct box_case {
  const char *kernel;
  const gab_lattice *lattice;
  gab_precision precision;
  const gab_collision *collision;
  bool forced;
  int32_t edge;
  bool mixed;
} box_case;

static bench_flow_options options_of(const box_case *it)
{
  return (bench_flow_options){.lattice = it->lattice,
                              .precision = it->precision,
                              .mixed = it->mixed,
                              .collision = it->collision,
                              .forced = it->forced,
                              .walls = true,
                              .kernel = it->kernel};
}

/* Cuts a box into `parts` slabs along its last axis, without the remainder. */
static void cut(bench_flow_options *options, int32_t edge, int32_t parts)
{
  int last = options->lattice->dimension - 1;
  for (int axis = 0; axis < 3; axis++) {
    options->roots[axis] = 1;
    options->cells[axis] = axis <= last ? edge : 1;
  }
  options->roots[last] = parts;
  options->cells[last] = edge / parts > 0 ? edge / parts : 1;
}

typedef gab_status (*case_fn)(bench *b, const box_case *it);

/* With one thread, then with all. */
static gab_status with_threads(bench *b, case_fn run, const box_case *list, size_t count)
{
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    for (size_t i = 0; i < count; i++) GAB_TRY(run(b, &list[i]));
    if (threads == b->most_threads) return GAB_OK;
  }
}

/* ---------------------------------------------------------------- one block per process */

/* Every process has its own closed box: between two of them a slab is solid, and has no block. */
static gab_status one_box(bench *b, const box_case *it)
{
  int32_t processes = bench_processes(b);
  int last = it->lattice->dimension - 1;
  bench_flow_options options = options_of(it);
  cut(&options, it->edge, processes);
  options.roots[last] = 2 * processes - 1;
  gab_body *slabs;
  GAB_TRY(GAB_NEW_ARRAY(&slabs, (size_t)processes, GAB_MEMORY_OTHER));
  options.bodies = slabs;
  options.body_count = (size_t)processes - 1;
  for (int32_t i = 0; i < processes - 1; i++) {
    slabs[i] = (gab_body){.shape = GAB_SHAPE_BOX, .wall = GAB_WALL_STAIRCASE};
    for (int axis = 0; axis < 3; axis++) slabs[i].hi[axis] = options.cells[axis];
    slabs[i].lo[last] = (double)(2 * i + 1) * options.cells[last];
    slabs[i].hi[last] = (double)(2 * i + 2) * options.cells[last];
  }
  char name[96];
  snprintf(name, sizeof name, "sweep.%s.box-%" PRId32, bench_flow_name_of(&options).text, it->edge);
  gab_status status = one_flow(b, name, &options);
  gab_free(&slabs);
  return status;
}

gab_status bench_sweeps(bench *b)
{
  const gab_lattice *d3 = &gab_lattice_d3q19, *d2 = &gab_lattice_d2q9;
  int32_t edge = bench_edge(b), large = b->quick ? 128 : 200, plane = 16 * edge;
  const box_case list[] = {
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, edge, false},
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, large, false},
      {"in_place", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, edge, false},
      {"in_place", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, large, false},
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, true, edge, false},
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_mrt, false, edge, false},
      {"in_place", d2, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, plane, false},
      {"in_place", d2, GAB_PRECISION_FLOAT, &gab_collision_trt, false, plane, false},
      {"in_place", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, edge, true},
      {"in_place", d2, GAB_PRECISION_FLOAT, &gab_collision_trt, false, plane, true},
      {"vector", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, edge, false},
      {"vector", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, large, false},
      {"vector", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, edge, false},
      {"vector", d2, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, plane, false},
      {"vector", d2, GAB_PRECISION_FLOAT, &gab_collision_trt, false, plane, false},
  };
  return with_threads(b, one_box, list, sizeof list / sizeof list[0]);
}

/* ---------------------------------------------------------------- two blocks side by side */

/* At least two blocks, the same for one and for two processes. */
static gab_status two_blocks(bench *b, const box_case *it, const char *first_word)
{
  int32_t processes = bench_processes(b);
  bench_flow_options options = options_of(it);
  cut(&options, it->edge, processes > 2 ? processes : 2);
  char name[96];
  snprintf(name, sizeof name, "%s.%s.box-%" PRId32, first_word, bench_flow_name_of(&options).text, it->edge);
  return one_flow(b, name, &options);
}

static gab_status one_step_case(bench *b, const box_case *it) { return two_blocks(b, it, "step"); }

gab_status bench_steps(bench *b)
{
  const gab_lattice *d3 = &gab_lattice_d3q19, *d2 = &gab_lattice_d2q9;
  int32_t edge = bench_edge(b), large = b->quick ? 128 : 200, plane = 16 * edge;
  const box_case list[] = {
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, edge, false},
      {"in_place", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, large, false},
      {"in_place", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, edge, false},
      {"in_place", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, large, false},
      {"in_place", d2, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, plane, false},
      {"vector", d3, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, edge, false},
      {"vector", d3, GAB_PRECISION_FLOAT, &gab_collision_trt, false, edge, false},
      {"vector", d2, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, plane, false},
  };
  return with_threads(b, one_step_case, list, sizeof list / sizeof list[0]);
}

gab_status bench_team(bench *b)
{
  const box_case list[] = {
      {"in_place", &gab_lattice_d3q19, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, bench_edge(b), false},
      {"in_place", &gab_lattice_d3q19, GAB_PRECISION_FLOAT, &gab_collision_trt, false, bench_edge(b), false}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) GAB_TRY(two_blocks(b, &list[i], "team"));
  return GAB_OK;
}

/* ---------------------------------------------------------------- many small blocks */

enum { START, INNER, FINISH, COLLIDE, GHOSTS, LINKS, SWEEP, OTHER, PART_COUNT };
enum { CALLS = COLLIDE + 1 };

static gab_status sum_over_processes(bench *b, double *values, size_t count)
{
  gab_exact_sum sums[PART_COUNT];
  for (size_t i = 0; i < count; i++) {
    gab_exact_clear(&sums[i]);
    gab_exact_add(&sums[i], values[i]);
  }
  GAB_TRY(gab_world_sum_exact(b->world, sums, count));
  for (size_t i = 0; i < count; i++) values[i] = gab_exact_value(&sums[i]);
  return GAB_OK;
}

/* The calls of a step, one after another as in a step, and the work of the threads in them; seconds times threads,
 * summed over the processes. */
static gab_status split_once(bench *b, bench_flow *flow, double seconds[PART_COUNT], double *all)
{
  memset(seconds, 0, PART_COUNT * sizeof *seconds);
  gab_status (*const calls[])(gab_lbm *) = {gab_lbm_exchange_start, gab_lbm_collide_inner,
                                            gab_lbm_exchange_finish, gab_lbm_collide};
  GAB_TRY(gab_lbm_time_parts(flow->lbm, true));
  GAB_TRY(gab_world_barrier(b->world));
  const double begin = gab_seconds();
  for (int i = 0; i < BENCH_SWEEPS; i++)
    for (int part = START; part < CALLS; part++) {
      double start = gab_seconds();
      GAB_TRY(calls[part](flow->lbm));
      seconds[part] += b->threads * (gab_seconds() - start);
    }
  *all = b->threads * (gab_seconds() - begin);
  gab_lbm_times times = gab_lbm_get_times(flow->lbm);
  seconds[GHOSTS] = times.ghosts;
  seconds[LINKS] = times.links;
  seconds[SWEEP] = times.sweep;
  seconds[OTHER] = times.other;
  GAB_TRY(gab_lbm_time_parts(flow->lbm, false));
  GAB_TRY(sum_over_processes(b, seconds, PART_COUNT));
  return sum_over_processes(b, all, 1);
}

/* Nanoseconds of a core's time per cell update, in addition to those of the whole step. */
static gab_status report_split(bench *b, bench_flow *flow, const char *what)
{
  static const char *const names[] = {"start",  "collide-inner", "finish", "collide-rest",
                                      "ghosts", "links",         "sweep",  "other"};
  double samples[PART_COUNT][BENCH_MOST_SAMPLES], steps[BENCH_MOST_SAMPLES], once[PART_COUNT];
  const double scale = 1e9 / ((double)flow->cells * BENCH_SWEEPS);
  for (int i = 0; i < b->repetitions; i++) {
    double all;
    GAB_TRY(split_once(b, flow, once, &all));
    steps[i] = scale * all;
    for (int part = 0; part < PART_COUNT; part++) samples[part][i] = scale * once[part];
  }
  for (int part = 0; part < PART_COUNT; part++) {
    char name[96];
    snprintf(name, sizeof name, "split.%s.%s", what, names[part]);
    bench_report_part(b, name, samples[part], steps);
  }
  return GAB_OK;
}

/* Small blocks in turn with one large block per process: the share is the remaining speed. */
static gab_status against_large(bench *b, bench_flow *large, const bench_flow_options *options, bool split)
{
  bench_flow small;
  GAB_TRY(bench_flow_create(b, options, &small));
  bench_pair pair = {.work = bench_flow_step,
                     .work_user = &small,
                     .work_amount = (double)small.cells * BENCH_SWEEPS,
                     .ceiling = bench_flow_step,
                     .ceiling_user = large,
                     .ceiling_amount = (double)large->cells * BENCH_SWEEPS};
  bench_pair_result result;
  char what[32], name[112];
  snprintf(what, sizeof what, "blocks-of-%" PRId32 "%s", options->cells[0],
           options->fused_blocks == 1 ? ".alone" : "");
  snprintf(name, sizeof name, "blocks.%s.%s", bench_flow_name_of(options).text, what);
  gab_status status = bench_measure_pair(b, &pair, &result);
  if (status == GAB_OK) bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  if (status == GAB_OK && split) status = report_split(b, &small, what);
  bench_flow_destroy(&small);
  return status;
}

static gab_status all_sizes(bench *b, const box_case *it)
{
  bool in_place = strcmp(it->kernel, "in_place") == 0;
  bench_flow_options options = options_of(it);
  cut(&options, it->edge, bench_processes(b));
  bench_flow large;
  GAB_TRY(bench_flow_create(b, &options, &large));
  gab_status status = in_place ? report_split(b, &large, "one-block") : GAB_OK;
  for (int32_t block = 64; status == GAB_OK && block >= 8; block /= 2) {
    if (it->edge % block != 0) continue;
    for (int axis = 0; axis < 3; axis++) {
      options.cells[axis] = block;
      options.roots[axis] = it->edge / block;
    }
    status = against_large(b, &large, &options, in_place);
    options.fused_blocks = 1; /* a field for each block */
    if (in_place && status == GAB_OK) status = against_large(b, &large, &options, true);
    options.fused_blocks = 0;
  }
  bench_flow_destroy(&large);
  return status;
}

gab_status bench_blocks(bench *b)
{
  const box_case list[] = {
      {"in_place", &gab_lattice_d3q19, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, bench_edge(b), false},
      {"vector", &gab_lattice_d3q19, GAB_PRECISION_DOUBLE, &gab_collision_trt, false, bench_edge(b), false}};
  return with_threads(b, all_sizes, list, sizeof list / sizeof list[0]);
}

/* ---------------------------------------------------------------- for counters */

/* Nothing is timed: it runs under a tool that counts instructions, which is fifty times slower. */
gab_status bench_count(bench *b)
{
  enum { STEPS = 20 };
  bench_flow_options options = {.lattice = &gab_lattice_d3q19,
                                .walls = true,
                                .kernel = "auto",
                                .roots = {1, 1, 2},
                                .cells = {64, 32, 16}};
  bench_flow flow;
  GAB_TRY(bench_flow_create(b, &options, &flow));
  gab_status status = GAB_OK;
  for (int i = 0; status == GAB_OK && i < STEPS; i++) status = gab_lbm_step(flow.lbm);
  double updates = (double)flow.cells * STEPS;
  bench_report(b, &(bench_result){.name = "count.updates",
                                  .value = updates,
                                  .min = updates,
                                  .max = updates,
                                  .samples = 1,
                                  .unit = "updates"});
  bench_flow_destroy(&flow);
  return status;
}
