/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,4 quick=2 timeout=100 */
/* The same solidification cut into blocks in different ways, on other owners, with other threads, packed and
 * unpacked, moved while it runs, with a window that moves: every cell equal to the last bit. */
#include "core/messages/collective.h"
#include "phase_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { STEPS = 24 };

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

/* Grains of noise below melt: every kind of neighbourhood there is. */
static void rough_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  const int n = given->options.thermo.phases;
  const int64_t up = cell[given->dimension - 1], grain[3] = {cell[0] / 3, cell[1] / 2, cell[2] / 2};
  if (up > 9) phi[n - 1] = 1;
  else
    for (int a = 0; a < n; a++)
      phi[a] = (noise(1, grain) * n > a) + 2 * noise(10 + (uint64_t)a, cell) * (up > 3);
  for (int i = 0; i < given->options.thermo.independents; i++) mu[i] += 0.02 * noise(20 + (uint64_t)i, cell);
}

static uint64_t hash_of(gab_world *world, phase_run *it)
{
  uint64_t hash = phase_hash(it);
  REQUIRE_OK(gab_phasefield_check_finite(it->model));
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  double gained[GAB_MOST_INDEPENDENTS] = {0};
  REQUIRE_OK(gab_phasefield_ledger(it->model, gained));
  REQUIRE(gained[0] != 0);
  const gab_phasefield_integrals sums = phase_sums(it);
  return hash + gab_hash64(gained, sizeof gained, 2) + gab_hash64(sums.content, sizeof sums.content, 3) +
         gab_hash64(&sums.energy, sizeof sums.energy, 4);
}

static void run_with_window(phase_run *it, int from, int to)
{
  for (int step = from; step < to; step++) {
    phase_steps(it, 1);
    if (step == STEPS / 4 || step == STEPS - 3) REQUIRE_OK(gab_phasefield_shift(it->model, 2));
  }
}

static uint64_t run(gab_world *world, const phase_case *given)
{
  phase_run it = phase_open(world, given);
  run_with_window(&it, 0, STEPS);
  uint64_t hash = hash_of(world, &it);
  phase_close(&it);
  return hash;
}

/* All blocks go to the first rank half-way, then back. */
static uint64_t run_moving(gab_world *world, const phase_case *given)
{
  phase_run it = phase_open(world, given);
  run_with_window(&it, 0, STEPS / 2);
  gab_rank targets[256];
  REQUIRE(gab_forest_block_count(it.forest) <= 256);
  for (int i = 0; i < 256; i++) targets[i] = gab_world_root(world);
  REQUIRE_OK(gab_forest_migrate(it.forest, targets));
  run_with_window(&it, STEPS / 2, STEPS / 2 + 3);
  REQUIRE_OK(gab_balance_forest(it.forest, NULL, NULL));
  run_with_window(&it, STEPS / 2 + 3, STEPS);
  uint64_t hash = hash_of(world, &it);
  phase_close(&it);
  return hash;
}

/* Half of the steps, an image, a fresh model from that image, the other half; and the first model goes back.
 */
static uint64_t run_restored(gab_world *world, const phase_case *given)
{
  phase_run first = phase_open(world, given), second = phase_open(world, given);
  gab_buffer image = {0}, place = {0}, ledger = {0};
  run_with_window(&first, 0, STEPS / 2);
  REQUIRE_OK(gab_forest_pack(first.forest, &image));
  REQUIRE_OK(gab_phasefield_pack(first.model, &place));
  REQUIRE_OK(gab_phasefield_ledger_pack(first.model, &ledger));
  run_with_window(&first, STEPS / 2, STEPS);
  phase_run *const runs[] = {&first, &second};
  uint64_t hashes[2];
  for (int k = 0; k < 2; k++) {
    gab_reader blocks = gab_reader_of_buffer(&image), where = gab_reader_of_buffer(&place);
    gab_reader account = gab_reader_of_buffer(&ledger);
    REQUIRE_OK(gab_forest_restore(runs[k]->forest, &blocks, 1, NULL, NULL));
    REQUIRE_OK(gab_phasefield_unpack(runs[k]->model, &where));
    REQUIRE_OK(gab_phasefield_ledger_unpack(runs[k]->model, &account));
    REQUIRE(gab_phasefield_get_step(runs[k]->model) == STEPS / 2);
    run_with_window(runs[k], STEPS / 2, STEPS);
    hashes[k] = hash_of(world, runs[k]);
  }
  REQUIRE(hashes[0] == hashes[1]);
  gab_buffer_release(&image);
  gab_buffer_release(&place);
  gab_buffer_release(&ledger);
  phase_close(&second);
  phase_close(&first);
  return hashes[0];
}

static void check_case(gab_world *world, phase_case given, const int32_t (*blocks)[3], int count)
{
  uint64_t expected = 0;
  given.options.initial = rough_state;
  given.options.initial_user = &given;
  for (int b = 0; b < count; b++) {
    int64_t all = 1;
    for (int k = 0; k < 3; k++) {
      given.block[k] = blocks[b][k];
      all *= given.cells[k] / given.block[k];
    }
    if (all < gab_members_count(gab_world_members(world))) continue;
    set_threads(1 + b % 2);
    uint64_t hash = run(world, &given);
    if (!expected) expected = hash;
    REQUIRE(hash == expected);
    REQUIRE(run_moving(world, &given) == expected);
    REQUIRE(run_restored(world, &given) == expected);
  }
  set_threads(1);
  REQUIRE(expected != 0);
}

static phase_case eutectic_case(int dimension)
{
  phase_case given = {.dimension = dimension, .dx = 3};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.18;
  given.options.interpolation = GAB_INTERPOLATION_CUBIC;
  given.options.temperature = (gab_phasefield_temperature){0.96, 0.06 / 800, 0.016};
  given.options.mu[0] = given.options.mu[1] = 1;
  gab_phasefield_side *bottom = &given.options.sides[2 * dimension - 2];
  bottom[0].kind = GAB_PHASEFIELD_CLOSED;
  bottom[1] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  return given;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  phase_case plane = eutectic_case(2), deep = eutectic_case(3);
  memcpy(plane.cells, (int32_t[3]){24, 20, 1}, sizeof plane.cells);
  const int32_t plane_blocks[][3] = {{24, 20, 1}, {12, 10, 1}, {6, 20, 1}, {4, 4, 1}, {1, 5, 1}};
  check_case(world, plane, plane_blocks, 5);
  plane.options.thermo.phases = 4;
  plane.options.interpolation = GAB_INTERPOLATION_MOELANS;
  plane.options.potential = GAB_POTENTIAL_WELL;
  plane.options.sides[0].kind = plane.options.sides[1].kind = GAB_PHASEFIELD_CLOSED;
  check_case(world, plane, plane_blocks, 3);
  /* Rows that fill vectors, some of one and half of one; pairs of rows, rows alone. */
  memcpy(deep.cells, (int32_t[3]){20, 6, 12}, sizeof deep.cells);
  const int32_t rows[][3] = {{20, 6, 12}, {20, 3, 6}, {10, 6, 4}, {10, 1, 12}, {5, 2, 6}, {4, 2, 4}};
  check_case(world, deep, rows, 6);
  deep.options.noise = (gab_phasefield_noise){0.3, 7};
  deep.options.anisotropy[0][3] = deep.options.anisotropy[3][0] = 0.04;
  memcpy(deep.cells, (int32_t[3]){12, 8, 16}, sizeof deep.cells);
  const int32_t deep_blocks[][3] = {{12, 8, 16}, {6, 4, 8}, {12, 1, 8}, {12, 8, 2}, {4, 4, 4}};
  check_case(world, deep, deep_blocks, 5);
  return test_end(&world);
}
