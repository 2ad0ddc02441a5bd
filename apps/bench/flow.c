/* The flow that is measured: a periodic box of fluid in motion. */
#include "apps/bench/bench.h"

#include "loadbalance/balance.h"

static gab_lbm_options flow_model(const bench_flow_options *options)
{
  gab_lbm_options model = {.lattice = options->lattice,
                           .precision = options->precision,
                           .collision = options->collision,
                           .omega = 1.6,
                           .kernel = options->kernel,
                           .velocity = {0.03, 0.02}};
  if (options->forced) model.force[0] = 1e-6;
  return model;
}

static gab_status fill_forest(const bench_flow_options *options, bench_flow *flow)
{
  gab_lbm_options model = flow_model(options);
  GAB_TRY(gab_lbm_create(flow->forest, NULL, &model, &flow->lbm));
  GAB_TRY(gab_balance_initial(flow->forest, &gab_curve_morton, NULL));
  flow->local_cells = gab_lbm_count(flow->lbm).fluid_cells;
  flow->cells = 1;
  for (int i = 0; i < 3; ++i) flow->cells *= (uint64_t)(options->roots[i] * options->cells[i]);
  return GAB_OK;
}

gab_status bench_flow_create(bench *b, const bench_flow_options *options, bench_flow *flow)
{
  *flow = (bench_flow){0};
  gab_forest_options domain = {.grid.dimension = options->lattice->dimension, .dx = 1};
  for (int i = 0; i < 3; ++i) {
    domain.grid.roots[i] = options->roots[i];
    domain.cells[i] = options->cells[i];
    domain.periodic[i] = i < domain.grid.dimension;
  }
  GAB_TRY(gab_forest_create(b->world, &domain, &flow->forest));
  gab_status status = fill_forest(options, flow);
  if (status != GAB_OK) bench_flow_destroy(flow);
  return status;
}

void bench_flow_destroy(bench_flow *flow)
{
  if (flow->lbm) gab_lbm_destroy(&flow->lbm);
  if (flow->forest) gab_forest_destroy(&flow->forest);
}

gab_status bench_flow_collide(void *user) { return gab_lbm_collide(((bench_flow *)user)->lbm); }
gab_status bench_flow_step(void *user) { return gab_lbm_step(((bench_flow *)user)->lbm); }

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
                              .kernel = "vector",
                              .roots = {edge, edge, edge},
                              .cells = {block, block, block}};
}
