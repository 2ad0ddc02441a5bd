/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of splitting and merging blocks: an adaptation of a flow part by part, in steps of level 0 of that flow; and
 * of many proxies (blocks without data), in microseconds per block. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/world/fault_point.h"
#include "loadbalance/balance.h"

#include <string.h>

/* ---------------------------------------------------------------- a flow */

enum { MAX_LEVEL = 3, BLOCK = 20 };
enum { MARK, BALANCE, MIGRATE, REBUILD, ALL, PART_COUNT };

/* The finest blocks lie along z = 0 and x = place: they move up and down by their parents' width. */
typedef struct moving_edge {
  bench *b;
  bench_flow *flow;
  int64_t place; /* in finest blocks */
  double seconds[PART_COUNT];
  double changed; /* share of the blocks of the new grid that were not in the old one, of both adaptations */
  double since;
  int part; /* the part in progress; PART_COUNT: none */
} moving_edge;

static bool is_wanted(const moving_edge *edge, int level, const gab_box *cells)
{
  const int up = MAX_LEVEL - level;
  return cells->lo[2] == 0 && cells->lo[0] << up < (edge->place + 2) * BLOCK &&
         cells->hi[0] << up > edge->place * BLOCK;
}

static gab_status mark_edge(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  const moving_edge *edge = user;
  const int level = gab_block_level(forest, block);
  gab_box cells = gab_block_cells(forest, block);
  if (level < MAX_LEVEL && is_wanted(edge, level, &cells)) {
    *mark = GAB_MARK_REFINE;
    return GAB_OK;
  }
  for (int axis = 0; axis < 3; axis++) {
    cells.lo[axis] = cells.lo[axis] / (2 * BLOCK) * BLOCK;
    cells.hi[axis] = cells.lo[axis] + BLOCK;
  }
  *mark = level == 0 || is_wanted(edge, level - 1, &cells) ? GAB_MARK_KEEP : GAB_MARK_COARSEN;
  return GAB_OK;
}

static gab_mark mark_first_edge(void *user, int level, const gab_box *cells)
{
  (void)user;
  return is_wanted(&(moving_edge){0}, level, cells) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static void end_part(moving_edge *edge)
{
  const double now = gab_seconds();
  if (edge->part < PART_COUNT) edge->seconds[edge->part] += now - edge->since;
  edge->since = now;
}

static void note_phase(void *user, gab_world *world, gab_fault_point point)
{
  moving_edge *edge = user;
  const int part = point == GAB_FAULT_POINT_ADAPT_MARK      ? MARK
                   : point == GAB_FAULT_POINT_ADAPT_BALANCE ? BALANCE
                   : point == GAB_FAULT_POINT_ADAPT_MIGRATE ? MIGRATE
                   : point == GAB_FAULT_POINT_ADAPT_REBUILD ? REBUILD
                                                            : PART_COUNT;
  (void)world;
  if (part == PART_COUNT || part == edge->part) return;
  end_part(edge);
  edge->part = part;
}

/* Lists between blocks are made by the first step after; its exchange is counted with them. */
static gab_status adapt_once(moving_edge *edge)
{
  const gab_adapt_options options = {
      .max_level = MAX_LEVEL, .mark = mark_edge, .user = edge, .distribute = gab_balance_distribute};
  gab_lbm *lbm = edge->flow->lbm;
  edge->part = PART_COUNT;
  GAB_TRY(gab_world_barrier(edge->b->world));
  const double start = gab_seconds();
  gab_world_set_fault_point_hook(edge->b->world, note_phase, edge);
  gab_adapt_report report;
  gab_status status = gab_forest_adapt(edge->flow->forest, &options, &report);
  gab_world_set_fault_point_hook(edge->b->world, NULL, NULL);
  if (status != GAB_OK) return status;
  edge->changed +=
      (double)(GAB_CHILDREN_MAX * report.grid.split + report.grid.merged) / (double)report.grid.blocks;
  edge->part = REBUILD;
  GAB_TRY(gab_lbm_exchange_start(lbm));
  end_part(edge);
  edge->seconds[ALL] += gab_seconds() - start;
  GAB_TRY(gab_lbm_exchange_finish(lbm));
  return gab_lbm_collide(lbm);
}

/* There and back. */
static gab_status adapt_twice(moving_edge *edge)
{
  memset(edge->seconds, 0, sizeof edge->seconds);
  edge->changed = 0;
  for (int64_t place = 2; place >= 0; place -= 2) {
    edge->place = place;
    GAB_TRY(adapt_once(edge));
  }
  return gab_world_max_f64(edge->b->world, edge->seconds, PART_COUNT);
}

static void report(bench *b, const char *what, double *samples, int count, double scale, const char *unit)
{
  const bench_series series = bench_summarise(samples, count);
  char name[64];
  snprintf(name, sizeof name, "regrid.blocks-of-%d.%s", BLOCK, what);
  bench_report_series(b, name, &series, scale, unit);
}

static gab_status measure_regrid(bench *b, bench_flow *flow)
{
  static const char *const names[PART_COUNT] = {"mark", "balance", "migrate", "rebuild", "all"};
  double samples[PART_COUNT][BENCH_MOST_SAMPLES], step;
  moving_edge edge = {.b = b, .flow = flow};
  GAB_TRY(bench_flow_step(flow));
  GAB_TRY(bench_time(b, bench_flow_step, flow, &step));
  GAB_TRY(adapt_twice(&edge)); /* warm-up: creates the tables that blocks share */
  double first = edge.seconds[ALL] / 2 / (step / BENCH_SWEEPS), changed = edge.changed / 2;
  for (int i = 0; i < b->repetitions; i++) {
    GAB_TRY(bench_time(b, bench_flow_step, flow, &step));
    GAB_TRY(adapt_twice(&edge));
    for (int part = 0; part < PART_COUNT; part++)
      samples[part][i] = edge.seconds[part] / 2 / (step / BENCH_SWEEPS);
  }
  report(b, "changed", &changed, 1, 100, "%");
  report(b, "first", &first, 1, 1, "steps");
  for (int part = 0; part < PART_COUNT; part++)
    report(b, names[part], samples[part], b->repetitions, 1, "steps");
  return GAB_OK;
}

gab_status bench_regrid(bench *b)
{
  const bench_flow_options options = {.lattice = &gab_lattice_d3q19,
                                      .walls = true,
                                      .kernel = "auto",
                                      .roots = {3, 2, 3},
                                      .cells = {BLOCK, BLOCK, BLOCK},
                                      .refine = mark_first_edge,
                                      .max_level = MAX_LEVEL};
  for (int threads = 1;; threads = b->most_threads) {
    bench_flow flow;
    bench_set_threads(b, threads);
    GAB_TRY(bench_flow_create(b, &options, &flow));
    gab_status status = measure_regrid(b, &flow);
    bench_flow_destroy(&flow);
    if (status != GAB_OK || threads == b->most_threads) return status;
  }
}

/* ---------------------------------------------------------------- proxies */

enum { PROXY_REFINE, PROXY_BALANCE, PROXY_BYTES, PROXY_COUNT };

/* Refines an octant of the domain. */
static gab_status refine_octant(const gab_forest_options *domain, gab_proxies *proxies, uint64_t *blocks)
{
  const size_t count = gab_proxies_count(proxies);
  gab_mark *marks;
  GAB_TRY(GAB_NEW_ARRAY(&marks, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    const gab_block_place place = gab_block_id_place(&domain->grid, gab_proxies_get(proxies, i)->id);
    bool inside = true;
    for (int axis = 0; axis < 3; axis++) inside = inside && 2 * place.at[axis] < domain->grid.roots[axis];
    marks[i] = inside ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  }
  gab_refine_report report;
  gab_status status = gab_proxies_refine(proxies, marks, 1, &report);
  *blocks = report.blocks;
  gab_free(&marks);
  return status;
}

/* Seconds and bytes per block, of the slowest and of all processes. */
static gab_status proxies_once(bench *b, const gab_forest_options *domain, double per_block[PROXY_COUNT],
                               uint64_t *blocks)
{
  gab_proxies *proxies;
  GAB_TRY(gab_proxies_create(b->world, domain, &proxies));
  gab_status status = gab_world_barrier(b->world);
  const double start = gab_seconds();
  if (status == GAB_OK) status = refine_octant(domain, proxies, blocks);
  per_block[PROXY_REFINE] = gab_seconds() - start;
  if (status == GAB_OK) status = gab_balance_proxies(proxies, NULL, NULL);
  per_block[PROXY_BALANCE] = gab_seconds() - start - per_block[PROXY_REFINE];
  uint64_t bytes = gab_proxies_bytes(proxies);
  gab_proxies_destroy(&proxies);
  if (status == GAB_OK) status = gab_world_sum_u64(b->world, &bytes, 1);
  if (status == GAB_OK) status = gab_world_max_f64(b->world, per_block, PROXY_BYTES);
  per_block[PROXY_BYTES] = (double)bytes;
  for (int part = 0; part < PROXY_COUNT && status == GAB_OK; part++) per_block[part] /= (double)*blocks;
  return status;
}

static gab_status proxies_of(bench *b, int32_t roots, const char *what)
{
  static const struct {
    const char *name, *unit;
    double scale;
  } parts[PROXY_COUNT] = {
      {"refine", "us/block", 1e6}, {"balance", "us/block", 1e6}, {"memory", "B/block", 1}};
  const gab_forest_options domain = {
      .grid = {.dimension = 3, .roots = {roots, roots, roots}}, .cells = {8, 8, 8}, .dx = 1};
  double samples[PROXY_COUNT][BENCH_MOST_SAMPLES], once[PROXY_COUNT];
  for (int i = 0; i < b->repetitions; i++) {
    uint64_t blocks;
    GAB_TRY(proxies_once(b, &domain, once, &blocks));
    for (int part = 0; part < PROXY_COUNT; part++) samples[part][i] = once[part];
  }
  for (int part = 0; part < PROXY_COUNT; part++) {
    const bench_series series = bench_summarise(samples[part], b->repetitions);
    char name[64];
    snprintf(name, sizeof name, "proxies.%s.%s", what, parts[part].name);
    bench_report_series(b, name, &series, parts[part].scale, parts[part].unit);
  }
  return GAB_OK;
}

/* 15/8 of the roots each time. */
gab_status bench_proxies(bench *b)
{
  GAB_TRY(proxies_of(b, 8, "1e3"));
  GAB_TRY(proxies_of(b, 18, "1e4"));
  GAB_TRY(proxies_of(b, 38, "1e5"));
  return b->quick ? GAB_OK : proxies_of(b, 82, "1e6");
}
