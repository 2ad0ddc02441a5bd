/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=100 threads=2 */
/* Sweeps during the exchange of the new phi change no bit: blocks next to those of other processes along every axis,
 * blocks too small for inner cells, one thread and two, the fast kernel and the reference. There are such sweeps
 * where blocks of different processes are stacked. */
#include "core/messages/collective.h"
#include "phase_common.h"
#include "phasefield/phasefield_impl.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { STEPS = 6 };

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

static void rough_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user;
  const int64_t grain[3] = {cell[0] / 3, cell[1] / 4, cell[2] / 3};
  for (int a = 0; a < 4; a++) phi[a] = (noise(1, grain) * 4 > a) + noise(10 + (uint64_t)a, grain);
  for (int i = 0; i < 2; i++) mu[i] += 0.02 * noise(20 + (uint64_t)i, cell);
}

static void step(phase_run *it, bool ahead)
{
  REQUIRE_OK(gab_phasefield_exchange_mu_start(it->model));
  REQUIRE_OK(gab_phasefield_sweep_phi(it->model));
  REQUIRE_OK(gab_phasefield_exchange_phi_start(it->model));
  REQUIRE_OK(gab_phasefield_exchange_mu_finish(it->model));
  if (ahead) REQUIRE_OK(gab_phasefield_sweep_mu_inner(it->model));
  REQUIRE_OK(gab_phasefield_exchange_phi_finish(it->model));
  REQUIRE_OK(gab_phasefield_sweep_mu(it->model));
}

static uint64_t run(gab_world *world, const phase_case *given, bool ahead, int threads, bool *overlaps)
{
  set_threads(threads);
  phase_run it = phase_open(world, given);
  for (int i = 0; i < STEPS; i++) step(&it, ahead);
  uint64_t hash = phase_hash(&it), some = it.model->overlaps;
  REQUIRE_OK(gab_phasefield_check_finite(it.model));
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  REQUIRE_OK(gab_world_max_u64(world, &some, 1));
  *overlaps = some > 0;
  phase_close(&it);
  return hash;
}

static phase_case case_of(int dimension, const char *kernel)
{
  phase_case given = {.dimension = dimension, .dx = 3};
  given.options = (gab_phasefield_options){.thermo = symmetric_eutectic(),
                                           .epsilon = 8,
                                           .triple = 10,
                                           .dt = 0.18,
                                           .interpolation = GAB_INTERPOLATION_CUBIC,
                                           .temperature = {0.97, 1e-4, 0.016},
                                           .mu = {1, 1},
                                           .initial = rough_state,
                                           .kernel = kernel};
  equal_interfaces(&given.options, 1, 0.3713);
  gab_phasefield_side *bottom = &given.options.sides[2 * dimension - 2];
  bottom[0].kind = GAB_PHASEFIELD_CLOSED;
  bottom[1] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  return given;
}

static bool check(gab_world *world, phase_case given, const int32_t cells[3], const int32_t block[3])
{
  bool overlaps, ignored;
  memcpy(given.cells, cells, sizeof given.cells);
  memcpy(given.block, block, sizeof given.block);
  const uint64_t plain = run(world, &given, false, 1, &ignored);
  for (int threads = 1; threads <= 2; threads++)
    REQUIRE(run(world, &given, true, threads, &overlaps) == plain);
  return overlaps;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const bool alone = gab_members_count(gab_world_members(world)) == 1;
  static const char *const kernels[] = {"fast", "reference"};
  for (int k = 0; k < 2; k++) {
    const phase_case plane = case_of(2, kernels[k]), deep = case_of(3, kernels[k]);
    REQUIRE(check(world, plane, (const int32_t[]){60, 24, 1}, (const int32_t[]){20, 24, 1}) == false);
    REQUIRE(check(world, plane, (const int32_t[]){40, 24, 1}, (const int32_t[]){20, 6, 1}) == !alone);
    (void)check(world, plane, (const int32_t[]){12, 8, 1}, (const int32_t[]){4, 2, 1});
    (void)check(world, deep, (const int32_t[]){36, 12, 10}, (const int32_t[]){18, 6, 5});
    REQUIRE(check(world, deep, (const int32_t[]){20, 8, 24}, (const int32_t[]){20, 8, 8}) == !alone);
  }
  return test_end(&world);
}
