/* SPDX-License-Identifier: Apache-2.0 */
/* The phase field, four phases of three components (Al-Ag-Cu), scene by scene as in Bauer et al. 2015: sweep of phi,
 * sweep of mu, whole steps. Each is measured in turn with a loop of multiplications and additions in registers, so
 * the result is a share of the machine's arithmetic. */
#include "apps/bench/bench_phases.h"

#include "core/base/hash.h"
#include "loadbalance/balance.h"
#include "phasefield/setup/initial.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- the ceiling */

typedef double wide __attribute__((vector_size(64)));
enum { PEAK_ROUNDS = 200000, PEAK_CHAINS = 8, PEAK_WIDTH = 8 };

/* Equal numbers of multiplications and additions, not fused, in enough independent chains to fill the pipelines. */
static double multiply_and_add(double one)
{
  wide product[PEAK_CHAINS], sum[PEAK_CHAINS];
  const wide factor = {one, one, one, one, one, one, one, one};
  for (int i = 0; i < PEAK_CHAINS; i++) product[i] = sum[i] = factor;
  for (int round = 0; round < PEAK_ROUNDS; round++)
    for (int i = 0; i < PEAK_CHAINS; i++) {
      product[i] *= factor;
      sum[i] += factor;
    }
  double all = 0;
  for (int i = 0; i < PEAK_CHAINS; i++) all += product[i][0] + sum[i][PEAK_WIDTH - 1];
  return all;
}

static double fused(double one)
{
  double chains[2 * PEAK_CHAINS * PEAK_WIDTH], all = 0;
  for (int i = 0; i < 2 * PEAK_CHAINS * PEAK_WIDTH; i++) chains[i] = one;
  for (int round = 0; round < PEAK_ROUNDS; round++)
    for (int i = 0; i < 2 * PEAK_CHAINS * PEAK_WIDTH; i++) chains[i] = fma(chains[i], one, one);
  for (int i = 0; i < 2 * PEAK_CHAINS * PEAK_WIDTH; i++) all += chains[i];
  return all;
}

typedef struct peak {
  double (*loop)(double one);
  int threads;
  double sink;
} peak;

static gab_status run_peak(void *user)
{
  peak *it = user;
  const double one = bench_unknown_one();
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(it->threads)
  for (int i = 0; i < it->threads; i++) sum += it->loop(one);
  it->sink += sum;
  return GAB_OK;
}

static double peak_flops(const bench *b, const peak *it)
{
  const double each = 2.0 * PEAK_CHAINS * PEAK_WIDTH * PEAK_ROUNDS;
  return each * (it->loop == fused ? 2 : 1) * it->threads * bench_processes(b);
}

/* ---------------------------------------------------------------- scenes */

/* Floating-point operations per cell where all phases meet, counted in the source of the fast kernels (3D,
 * Moelans, a division or square root counts as one): fluxes of three faces (3 x 52), sums over neighbours,
 * slopes and the divergence (60), grand potentials (64), products of gradients (50), weights (18), local
 * terms of four phases (160), tau (24), the step (18), projection (24); and for mu three faces with three
 * solids each (3 x 168), divergence (16), interpolation (16), susceptibility and right-hand side (40),
 * solution (12). */
enum { PHI_FLOPS = 574, MU_FLOPS = 588 };

typedef enum scene_kind { SCENE_INTERFACE, SCENE_MELT, SCENE_SOLID, SCENE_FRONT, SCENE_COUNT } scene_kind;
static const char *const scene_names[] = {"interface", "melt", "solid", "front"};

enum { SCENE_EDGE = 60, SMALL_BLOCK = 20 };

typedef struct scene {
  scene_kind kind;
  gab_phasefield_start start;
  gab_forest *forest;
  gab_phasefield *model;
  double cells; /* of all processes */
  int sweeps;   /* in one run */
} scene;

static double noise(uint64_t stream, const int64_t cell[3])
{
  const uint64_t bits = gab_hash_counter(stream, (uint64_t)cell[0], (uint64_t)(cell[1] * 100003 + cell[2]));
  return (double)(bits >> 11) * 0x1p-53;
}

static void scene_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const scene *it = user;
  for (int i = 0; i < 2; i++) mu[i] = 0.01 * noise(1 + (uint64_t)i, cell);
  if (it->kind == SCENE_MELT) phi[3] = 1;
  else if (it->kind == SCENE_INTERFACE)
    for (int a = 0; a < 4; a++)
      phi[a] =
          0.25 + 0.05 * (sin(0.3 * (double)cell[a % 3] + a) - sin(0.3 * (double)cell[(a + 1) % 3] + a + 1));
  else gab_phasefield_start_state((void *)(uintptr_t)&it->start, cell, phi, mu);
}

/* Hötzer et al. 2015, tables 1 and 2. */
void bench_phases_alloy(gab_phasefield_options *o)
{
  static const char *const names[] = {"Al", "Ag2Al", "Al2Cu", "melt"};
  static const double xi[4][2] = {{-2.25, -3.486}, {-3.104, -2.710}, {-1.395, -2.709}, {-2.140, -3.140}};
  static const double constant[4] = {1.561866, 1.427846, 0.9176, 3.9532};
  static const double gamma[4][4] = {{0, .6, .4, .2}, {.6, 0, .4, .4}, {.4, .4, 0, .4}, {.2, .4, .4, 0}};
  static const double tau[4][4] = {
      {0, 1.68, 1.18, 1.26}, {1.68, 0, .29, .58}, {1.18, .29, 0, 1.06}, {1.26, .58, 1.06, 0}};
  o->thermo = (gab_thermo){.phases = 4, .independents = 2};
  for (int a = 0; a < 4; a++) {
    gab_phase_energy *phase = &o->thermo.phase[a];
    memcpy(phase->name, names[a], strlen(names[a]) + 1);
    phase->curvature[0][0] = phase->curvature[1][1] = 2;
    phase->curvature[0][1] = phase->curvature[1][0] = 1;
    for (int i = 0; i < 2; i++) phase->linear[i].value = xi[a][i];
    phase->constant = (gab_of_temperature){.value = constant[a], .slope = a == 3 ? -8. / 3 : 0};
    for (int c = 0; c < 4; c++) {
      o->gamma[a][c] = gamma[a][c];
      o->tau[a][c] = tau[a][c];
    }
  }
  o->thermo.phase[3].diffusivity = 5;
  o->epsilon = 4;
  o->dt = 0.032;
  o->triple = 10;
  o->temperature = (gab_phasefield_temperature){0.98, 1e-5, 0.002};
}

static gab_status scene_fill(scene *it, const gab_forest_options *domain, const char *kernel)
{
  gab_phasefield_options options = {.kernel = kernel, .initial = scene_state, .initial_user = it};
  bench_phases_alloy(&options);
  options.sides[4].kind = options.sides[5].kind = GAB_PHASEFIELD_CLOSED;
  const double top = (double)domain->grid.roots[2] * domain->cells[2];
  it->start = (gab_phasefield_start){.shape = GAB_START_VORONOI,
                                     .height = it->kind == SCENE_SOLID ? top : 0.4 * top,
                                     .solids = 3,
                                     .solid = {0, 1, 2},
                                     .share = {.2, .4, .4},
                                     .seeds = 9,
                                     .seed = 3};
  GAB_TRY(gab_phasefield_start_prepare(&it->start, domain, 3));
  GAB_TRY(gab_phasefield_create(it->forest, &options, &it->model));
  GAB_TRY(gab_balance_initial(it->forest, NULL, NULL));
  for (int i = 0; i < (it->kind == SCENE_INTERFACE ? 2 : 200); i++) GAB_TRY(gab_phasefield_step(it->model));
  GAB_TRY(gab_phasefield_exchange_mu_start(it->model));
  return gab_phasefield_exchange_mu_finish(it->model);
}

static void scene_destroy(scene *it)
{
  if (it->model) gab_phasefield_destroy(&it->model);
  if (it->forest) gab_forest_destroy(&it->forest);
  gab_phasefield_start_release(&it->start);
}

/* SCENE_EDGE^3 cells for each process, in blocks of `edge`^3. */
static gab_status scene_create(bench *b, scene_kind kind, const char *kernel, int32_t edge, scene *it)
{
  const int32_t along = SCENE_EDGE / edge;
  gab_forest_options domain = {.grid = {.dimension = 3, .roots = {along, along, along * bench_processes(b)}},
                               .cells = {edge, edge, edge},
                               .periodic = {true, true, false},
                               .dx = 1};
  *it = (scene){.kind = kind,
                .cells = (double)SCENE_EDGE * SCENE_EDGE * SCENE_EDGE * bench_processes(b),
                .sweeps = b->quick ? 1 : 3};
  gab_status status = gab_forest_create(b->world, &domain, &it->forest);
  if (status == GAB_OK) status = scene_fill(it, &domain, kernel);
  if (status != GAB_OK) scene_destroy(it);
  return status;
}

static gab_status run_phi(void *user)
{
  const scene *it = user;
  for (int i = 0; i < it->sweeps; i++) GAB_TRY(gab_phasefield_sweep_phi_stale(it->model));
  return GAB_OK;
}

static gab_status run_mu(void *user)
{
  const scene *it = user;
  for (int i = 0; i < it->sweeps; i++) GAB_TRY(gab_phasefield_sweep_mu_stale(it->model));
  return GAB_OK;
}

static gab_status run_step(void *user)
{
  const scene *it = user;
  for (int i = 0; i < it->sweeps; i++) GAB_TRY(gab_phasefield_step(it->model));
  return GAB_OK;
}

/* ---------------------------------------------------------------- measuring */

static gab_status measure(bench *b, scene *it, const char *kernel, const char *what, bench_work work,
                          double flops)
{
  char name[80];
  peak ceiling = {.loop = multiply_and_add, .threads = b->threads};
  const bench_pair pair = {.work = work,
                           .work_user = it,
                           .work_amount = it->cells * it->sweeps,
                           .ceiling = run_peak,
                           .ceiling_user = &ceiling,
                           .ceiling_amount = peak_flops(b, &ceiling)};
  bench_pair_result result;
  GAB_TRY(bench_measure_pair(b, &pair, &result));
  snprintf(name, sizeof name, "phasefield.%s.%s.%s", kernel, scene_names[it->kind], what);
  if (it->kind != SCENE_INTERFACE) { /* elsewhere most cells are skipped: there is no ceiling of arithmetic */
    bench_report_series(b, name, &result.rate, 1e-6, "MLUPS");
    return GAB_OK;
  }
  bench_report(b, &(bench_result){.name = name,
                                  .value = result.rate.median * 1e-6,
                                  .min = result.rate.min * 1e-6,
                                  .max = result.rate.max * 1e-6,
                                  .samples = result.rate.count,
                                  .unit = "MLUPS",
                                  .ceiling = result.ceiling.median * 1e-6 / flops,
                                  .percent = 100 * result.share * flops});
  return GAB_OK;
}

static gab_status one_scene(bench *b, scene_kind kind, const char *kernel)
{
  scene it;
  GAB_TRY(scene_create(b, kind, kernel, SCENE_EDGE, &it));
  gab_status status = measure(b, &it, kernel, "phi", run_phi, PHI_FLOPS);
  if (status == GAB_OK) status = measure(b, &it, kernel, "mu", run_mu, MU_FLOPS);
  if (status == GAB_OK) status = measure(b, &it, kernel, "step", run_step, PHI_FLOPS + MU_FLOPS);
  scene_destroy(&it);
  return status;
}

/* Steps in small blocks in turn with steps of the same cells in a single block. */
static gab_status small_blocks(bench *b, scene_kind kind)
{
  scene small, whole;
  char name[80];
  bench_pair_result result;
  GAB_TRY(scene_create(b, kind, "fast", SMALL_BLOCK, &small));
  gab_status status = scene_create(b, kind, "fast", SCENE_EDGE, &whole);
  if (status == GAB_OK) {
    const bench_pair pair = {.work = run_step,
                             .work_user = &small,
                             .work_amount = small.cells * small.sweeps,
                             .ceiling = run_step,
                             .ceiling_user = &whole,
                             .ceiling_amount = whole.cells * whole.sweeps};
    status = bench_measure_pair(b, &pair, &result);
    scene_destroy(&whole);
  }
  scene_destroy(&small);
  GAB_TRY(status);
  snprintf(name, sizeof name, "phasefield.blocks-of-%d.%s.step", SMALL_BLOCK, scene_names[kind]);
  bench_report_pair(b, name, &result, 1e-6, "MLUPS");
  return GAB_OK;
}

gab_status bench_phasefield(bench *b)
{
  for (int threads = 1;; threads = b->most_threads) {
    bench_set_threads(b, threads);
    for (int k = 0; k < 2; k++) {
      peak it = {.loop = k == 0 ? multiply_and_add : fused, .threads = threads};
      bench_series rate;
      GAB_TRY(bench_measure(b, run_peak, &it, peak_flops(b, &it), &rate));
      bench_report_series(b, k == 0 ? "peak.multiply_and_add" : "peak.fused", &rate, 1e-9, "Gflop/s");
    }
    for (int kind = 0; kind < SCENE_COUNT; kind++) GAB_TRY(one_scene(b, (scene_kind)kind, "fast"));
    for (int kind = 0; kind < SCENE_COUNT; kind++) GAB_TRY(small_blocks(b, (scene_kind)kind));
    if (threads == b->most_threads) break;
  }
  bench_set_threads(b, 1);
  return one_scene(b, SCENE_FRONT, "reference");
}
