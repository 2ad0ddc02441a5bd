/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick threads=2 */
/* Rounding and denormal numbers: modes set by a library or a program, in the calling thread or in one of a team, are reset
 * and reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <float.h>
#include <omp.h>
#include <stdbool.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "core/base/log.h"
#include "core/system/float_modes.h"

/* By results of computations, not by the registers. */
static bool is_settled(void)
{
  volatile double one = 1, little = DBL_EPSILON / 4, least = DBL_MIN;
  const double above = one + little, below = -one - little;
  volatile double half = least / 2;
  return above == 1 && below == -1 && half > 0 && half * 2 == least;
}

static void start(void)
{
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  (void)gab_float_modes_settle();
  assert_false(gab_float_modes_settle());
  assert_true(is_settled());
}

static void rounding_is_set_back(void **state)
{
  (void)state;
  static const int others[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    start();
    assert_int_equal(fesetround(others[i]), 0);
    assert_true(others[i] == FE_TOWARDZERO || !is_settled());
    assert_true(gab_float_modes_settle());
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_true(is_settled());
    assert_false(gab_float_modes_settle());
  }
}

static void denormal_numbers_count_again(void **state)
{
  (void)state;
#ifdef __x86_64__
  for (unsigned bit = 0x40; bit <= 0x8000; bit *= 0x8000 / 0x40) { /* are zero, flushed to zero */
    start();
    _mm_setcsr(_mm_getcsr() | bit);
    assert_false(is_settled());
    assert_true(gab_float_modes_settle());
    assert_true(is_settled());
  }
#else
  skip();
#endif
}

static void so_are_those_of_other_threads(void **state)
{
  (void)state;
  int right = 0, threads = 0;
  start();
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) fesetround(FE_UPWARD);
#pragma omp atomic
    threads++;
  }
  if (threads < 2) skip();
  assert_int_equal(fegetround(), FE_TONEAREST);
  omp_set_num_threads(2);
  assert_true(gab_float_modes_settle());
#pragma omp parallel num_threads(2) reduction(+ : right)
  right += is_settled();
  assert_int_equal(right, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounding_is_set_back),
      cmocka_unit_test(denormal_numbers_count_again),
      cmocka_unit_test(so_are_those_of_other_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
