/* SPDX-License-Identifier: Apache-2.0 */
/* A phase field whose domain is mostly melt: columns of three solids at the bottom, Al-Ag-Cu. Steps on a grid
 * refined at interfaces in turn with steps on the uniform fine grid, counted in cells of the fine grid; on several
 * processes, steps with overlapped messages in turn with steps that wait. */
#include "apps/bench/bench_phases.h"

#include "loadbalance/balance.h"
#include "phasefield/setup/initial.h"
#include "phasefield/levels/refinement.h"

enum { LEVELS = 2, WARM_UP = 100, EVERY = 20, HEIGHT = 60 };
static const gab_phasefield_grid grid = {.margin = 6, .distribute = gab_balance_distribute};

typedef struct growing {
  gab_phasefield_start start;
  gab_forest *forest;
  gab_phasefield *model;
  int steps; /* in one run */
} growing;

/* Blocks of 20^3; 80 x 80 x 320 (quick: 240) cells per process. */
static gab_forest_options domain_of(const bench *b, int levels)
{
  const int32_t wide = bench_processes(b), tall = b->quick ? 3 : 4;
  gab_forest_options domain = {.grid = {.dimension = 3, .roots = {1, wide, tall}},
                               .cells = {20, 20, 20},
                               .periodic = {true, true, false},
                               .dx = 1 << levels};
  for (int axis = 0; axis < 3; axis++) domain.grid.roots[axis] <<= LEVELS - levels;
  return domain;
}

static gab_status fill(bench *b, int levels, growing *it)
{
  const gab_forest_options domain = domain_of(b, levels), fine = domain_of(b, 0);
  gab_phasefield_options options = {
      .initial = gab_phasefield_start_state, .initial_user = &it->start, .levels = levels};
  bench_phases_alloy(&options);
  options.sides[4].kind = options.sides[5].kind = GAB_PHASEFIELD_CLOSED;
  it->start = (gab_phasefield_start){.shape = GAB_START_VORONOI,
                                     .height = HEIGHT,
                                     .solids = 3,
                                     .solid = {0, 1, 2},
                                     .share = {.2, .4, .4},
                                     .seeds = 24,
                                     .seed = 3};
  GAB_TRY(gab_phasefield_start_prepare(&it->start, &fine, 3));
  GAB_TRY(gab_forest_create(b->world, &domain, &it->forest));
  GAB_TRY(gab_phasefield_create(it->forest, &options, &it->model));
  GAB_TRY(gab_phasefield_build(it->model, &grid, NULL));
  for (int step = 0; step < (b->quick ? 10 : WARM_UP); step++) GAB_TRY(gab_phasefield_step(it->model));
  return gab_phasefield_adapt(it->model, &grid, NULL);
}

static void destroy(growing *it)
{
  if (it->model) gab_phasefield_destroy(&it->model);
  if (it->forest) gab_forest_destroy(&it->forest);
  gab_phasefield_start_release(&it->start);
}

/* Steps and their adaptations. */
static gab_status run_steps(void *user)
{
  const growing *it = user;
  for (int i = 0; i < it->steps; i++) GAB_TRY(gab_phasefield_step(it->model));
  return gab_phasefield_adapt(it->model, &grid, NULL);
}

static gab_status run_waiting(void *user)
{
  const growing *it = user;
  for (int i = 0; i < it->steps; i++) {
    GAB_TRY(gab_phasefield_exchange_mu_start(it->model));
    GAB_TRY(gab_phasefield_sweep_phi(it->model));
    GAB_TRY(gab_phasefield_exchange_phi_start(it->model));
    GAB_TRY(gab_phasefield_exchange_mu_finish(it->model));
    GAB_TRY(gab_phasefield_exchange_phi_finish(it->model));
    GAB_TRY(gab_phasefield_sweep_mu(it->model));
  }
  return GAB_OK;
}

static gab_status measure(bench *b, growing *adaptive, growing *fine)
{
  const gab_box cells = gab_forest_domain_cells(fine->forest);
  const double amount = (double)gab_box_count(&cells) * fine->steps;
  bench_pair pair = {.work = run_steps,
                     .work_user = adaptive,
                     .work_amount = amount,
                     .ceiling = run_steps,
                     .ceiling_user = fine,
                     .ceiling_amount = amount};
  bench_pair_result result;
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, "phasefield.growth.adaptive", &result, 1e-6, "MLUPS");
  if (bench_processes(b) == 1) return GAB_OK;
  pair.work_user = fine;
  pair.ceiling = run_waiting;
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  bench_report_pair(b, "phasefield.growth.overlap", &result, 1e-6, "MLUPS");
  return GAB_OK;
}

gab_status bench_growth(bench *b)
{
  growing adaptive = {.steps = b->quick ? 4 : EVERY}, fine = adaptive;
  bench_set_threads(b, 1);
  gab_status status = fill(b, LEVELS, &adaptive);
  if (status == GAB_OK) status = fill(b, 0, &fine);
  if (status == GAB_OK) status = measure(b, &adaptive, &fine);
  destroy(&fine);
  destroy(&adaptive);
  return status;
}
