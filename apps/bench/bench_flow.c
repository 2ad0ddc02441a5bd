/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of the benchmarks. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/memory/memory.h"
#include "loadbalance/balance.h"

static gab_lbm_options flow_model(const bench_flow_options *options)
{
  gab_lbm_options model = {.lattice = options->lattice,
                           .precision = options->precision,
                           .mixed = options->mixed,
                           .collision = options->collision,
                           .omega = 1.6,
                           .kernel = options->kernel,
                           .fused_blocks = options->fused_blocks,
                           .velocity = {0.03, 0.02}};
  if (options->forced) model.force[0] = 1e-6;
  for (int side = 0; options->walls && side < 2 * options->lattice->dimension; side++)
    model.sides[side].kind = GAB_SIDE_WALL;
  return model;
}

static gab_status fill_forest(bench *b, const bench_flow_options *options, bench_flow *flow)
{
  gab_lbm_options model = flow_model(options);
  GAB_TRY(gab_lbm_create(flow->forest, flow->geometry, &model, &flow->lbm));
  if (options->refine)
    GAB_TRY(gab_forest_build(flow->forest, options->refine, NULL, options->max_level, gab_balance_distribute,
                             NULL, NULL));
  else GAB_TRY(gab_balance_initial(flow->forest, NULL, NULL));
  flow->cells = flow->local_cells = gab_lbm_count(flow->lbm).fluid_cells;
  return gab_world_sum_u64(b->world, &flow->cells, 1);
}

static gab_status make_flow(bench *b, const bench_flow_options *options, gab_forest_options *domain,
                            bench_flow *flow)
{
  if (options->body_count > 0) {
    gab_domain box = gab_lbm_domain(domain);
    GAB_TRY(gab_geometry_create(&box, options->bodies, options->body_count, &flow->geometry));
    domain->exists = gab_geometry_block_exists;
    domain->user = flow->geometry;
  }
  size_t fields = gab_memory_now(GAB_MEMORY_FIELD), all = gab_memory_now(GAB_MEMORY_USE_COUNT);
  GAB_TRY(gab_forest_create(b->world, domain, &flow->forest));
  GAB_TRY(fill_forest(b, options, flow));
  flow->field_bytes = gab_memory_now(GAB_MEMORY_FIELD) - fields;
  flow->all_bytes = gab_memory_now(GAB_MEMORY_USE_COUNT) - all;
  return GAB_OK;
}

gab_status bench_flow_create(bench *b, const bench_flow_options *options, bench_flow *flow)
{
  *flow = (bench_flow){0};
  gab_forest_options domain = {.grid.dimension = options->lattice->dimension, .dx = 1};
  for (int i = 0; i < 3; i++) {
    domain.grid.roots[i] = options->roots[i];
    domain.cells[i] = options->cells[i];
    domain.periodic[i] = i < domain.grid.dimension && !options->walls;
  }
  gab_status status = make_flow(b, options, &domain, flow);
  if (status != GAB_OK) bench_flow_destroy(flow);
  return status;
}

void bench_flow_destroy(bench_flow *flow)
{
  if (flow->lbm) gab_lbm_destroy(&flow->lbm);
  if (flow->forest) gab_forest_destroy(&flow->forest);
  gab_geometry_destroy(&flow->geometry);
}

static gab_status collide(const bench_flow *flow, int sweeps)
{
  for (int i = 0; i < sweeps; i++) GAB_TRY(gab_lbm_collide_stale(flow->lbm));
  return GAB_OK;
}

gab_status bench_flow_collide(void *user) { return collide(user, BENCH_SWEEPS); }

gab_status bench_flow_collide_cached(void *user) { return collide(user, BENCH_CACHED_SWEEPS); }

gab_status bench_flow_step(void *user)
{
  const bench_flow *flow = user;
  for (int i = 0; i < BENCH_SWEEPS; i++) GAB_TRY(gab_lbm_step(flow->lbm));
  return GAB_OK;
}

size_t bench_flow_bytes(const bench_flow *flow)
{
  const gab_lbm_options *options = gab_lbm_get_options(flow->lbm);
  return (size_t)gab_lbm_count(flow->lbm).fluid_cells * (size_t)options->lattice->q *
         gab_precision_bytes(options->precision);
}

bench_flow_options bench_flow_usual(const bench *b, int32_t block)
{
  int32_t edge = bench_edge(b) / block;
  return (bench_flow_options){.lattice = &gab_lattice_d3q19,
                              .kernel = "auto",
                              .roots = {edge, edge, edge},
                              .cells = {block, block, block}};
}

bench_flow_name bench_flow_name_of(const bench_flow_options *options)
{
  const char *reals = options->mixed                              ? "mixed"
                      : options->precision == GAB_PRECISION_FLOAT ? "float"
                                                                  : "double";
  bench_flow_name name;
  snprintf(name.text, sizeof name.text, "%s.%s.%s.%s%s", options->kernel, options->lattice->name, reals,
           (options->collision ? options->collision : &gab_collision_trt)->title,
           options->forced ? ".force" : "");
  return name;
}
