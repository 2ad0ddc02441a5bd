/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* The random numbers are those of Philox, noise has the given size, stays on interfaces, and depends on its seed.
 * (Equality for any decomposition, restart and window is tested elsewhere.) */
#include "phase_common.h"
#include "phasefield/phasefield_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

/* Answers that its authors publish. */
static void random_numbers_are_those_of_philox(void **state)
{
  (void)state;
  static const uint32_t known[3][3][4] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (int i = 0; i < 3; i++) {
    uint32_t random[4];
    gab_phasefield_random(known[i][0], known[i][1], random);
    assert_memory_equal(random, known[i][2], sizeof random);
  }
}

enum { EDGE = 64 };

/* Half and half everywhere but in a column of each phase. */
static void mixed_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)mu;
  phi[0] = cell[0] < 4 ? 1 : cell[0] < 8 ? 0 : 0.5;
  phi[1] = 1 - phi[0];
}

static phase_run noisy_run(double amplitude, uint64_t seed)
{
  phase_case given = {.dimension = 2, .cells = {EDGE, EDGE, 1}, .block = {EDGE, EDGE, 1}, .dx = 1};
  given.options.thermo = simple_system(2, 0, 0);
  given.options.epsilon = 4;
  equal_interfaces(&given.options, 1, 1);
  given.options.dt = 0.01;
  given.options.noise = (gab_phasefield_noise){amplitude, seed};
  given.options.initial = mixed_state;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 1);
  return it;
}

static void noise_has_its_size_and_stays_on_interfaces(void **state)
{
  (void)state;
  const double amplitude = 0.1;
  phase_run with = noisy_run(amplitude, 3), without = noisy_run(0, 3), other = noisy_run(amplitude, 4);
  double mean = 0, square = 0, covariance = 0;
  int count = 0;
  for (int64_t y = 0; y < EDGE; y++)
    for (int64_t x = 0; x < EDGE; x++) {
      const double quiet = phase_value(&without, 'p', x, y, 0, 0),
                   gap = phase_value(&with, 'p', x, y, 0, 0) - quiet;
      if (x < 3 || (x > 4 && x < 7)) assert_true(gap == 0);
      if (x < 10) continue;
      mean += gap;
      square += gap * gap;
      covariance += gap * (phase_value(&other, 'p', x, y, 0, 0) - quiet);
      count++;
      assert_true(fabs(phase_value(&with, 'p', x, y, 0, 0) + phase_value(&with, 'p', x, y, 0, 1) - 1) <
                  1e-15);
    }
  /* Of two phases the projection takes the mean away: half of the difference of two numbers is left. */
  const double expected = amplitude * sqrt(0.01) * sqrt(0.5);
  assert_float_equal(sqrt(square / count) / expected, 1, 0.03);
  assert_true(fabs(mean / count) < 4 * expected / sqrt(count));
  assert_true(fabs(covariance / square) < 4 / sqrt(count));
  phase_close(&with);
  phase_close(&without);
  phase_close(&other);
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_numbers_are_those_of_philox),
      cmocka_unit_test(noise_has_its_size_and_stays_on_interfaces),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
