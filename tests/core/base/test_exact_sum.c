/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/exact_sum.h"
#include "core/base/hash.h"

__extension__ typedef __int128 wide;

static double sum_of(const double *values, size_t count)
{
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  for (size_t i = 0; i < count; i++) gab_exact_add(&sum, values[i]);
  return gab_exact_value(&sum);
}

static void assert_same(double a, double b) { assert_memory_equal(&a, &b, sizeof a); }

#define ASSERT_SUM(expected, ...)                                                                            \
  do {                                                                                                       \
    const double addends_[] = {__VA_ARGS__};                                                                 \
    assert_same(sum_of(addends_, sizeof addends_ / sizeof *addends_), (expected));                           \
  } while (0)

static uint64_t random_number(uint64_t *counter) { return gab_hash_counter(11, 12, ++*counter); }

/* Any finite double, all bit patterns with equal probability. */
static double random_double(uint64_t *counter)
{
  for (;;) {
    uint64_t bits = random_number(counter);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) return value;
  }
}

static void shuffle(double *values, size_t count, uint64_t *counter)
{
  for (size_t i = count; i > 1; i--) {
    size_t j = (size_t)(random_number(counter) % i);
    double other = values[i - 1];
    values[i - 1] = values[j];
    values[j] = other;
  }
}

static void sums_equal_integer_arithmetic(void **state)
{
  (void)state;
  uint64_t counter = 0;
  for (int round = 0; round < 2000; round++) {
    gab_exact_sum sum;
    gab_exact_clear(&sum);
    wide reference = 0;
    int scale = (int)(random_number(&counter) % 1900) - 1000; /* the sum is reference * 2^scale */
    int count = 1 + (int)(random_number(&counter) % 60);
    for (int i = 0; i < count; i++) {
      int64_t mantissa = (int64_t)(random_number(&counter) >> 11) - (INT64_C(1) << 52);
      int shift = (int)(random_number(&counter) % 65);
      reference += (wide)mantissa * ((wide)1 << shift);
      gab_exact_add(&sum, ldexp((double)mantissa, shift + scale));
    }
    assert_same(gab_exact_value(&sum), ldexp((double)reference, scale));
  }
}

static void the_sum_does_not_depend_on_order_or_split(void **state)
{
  (void)state;
  enum { COUNT = 500 };
  double values[COUNT];
  uint64_t counter = 1000;
  for (int i = 0; i < COUNT; i++) values[i] = random_double(&counter);
  double expected = sum_of(values, COUNT);
  for (int round = 0; round < 200; round++) {
    shuffle(values, COUNT, &counter);
    gab_exact_sum parts[4];
    for (int p = 0; p < 4; p++) gab_exact_clear(&parts[p]);
    for (int i = 0; i < COUNT; i++) gab_exact_add(&parts[random_number(&counter) % 4], values[i]);
    for (int p = 1; p < 4; p++) gab_exact_merge(&parts[0], &parts[p]);
    assert_same(gab_exact_value(&parts[0]), expected);
  }
}

static void what_cancels_leaves_exactly_the_rest(void **state)
{
  (void)state;
  enum { PAIRS = 300 };
  double values[2 * PAIRS + 1];
  uint64_t counter = 2000;
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < PAIRS; i++) values[2 * i + 1] = -(values[2 * i] = random_double(&counter));
    double rest = values[2 * PAIRS] = random_double(&counter);
    shuffle(values, 2 * PAIRS + 1, &counter);
    assert_same(sum_of(values, 2 * PAIRS + 1), rest);
  }
  ASSERT_SUM(1e-300, 1e300, 1e-300, -1e300);
  ASSERT_SUM(DBL_TRUE_MIN, DBL_MAX, DBL_TRUE_MIN, -DBL_MAX);
  ASSERT_SUM(0.0, DBL_MAX, -DBL_MAX);
  ASSERT_SUM(0.0, -0.0);
}

static void halves_are_rounded_to_even_and_a_hair_more_upwards(void **state)
{
  (void)state;
  const double two53 = 9007199254740992.0;
  ASSERT_SUM(two53, two53, 1.0);
  ASSERT_SUM(two53 + 4.0, two53, 3.0);
  ASSERT_SUM(-two53, -two53, -1.0);
  ASSERT_SUM(1.0, 1.0, 0x1p-53);
  ASSERT_SUM(1.0 + 0x1p-52, 1.0, 0x1p-53, DBL_TRUE_MIN);
  ASSERT_SUM(1.0, 1.0, 0x1p-53, -DBL_TRUE_MIN);
  ASSERT_SUM(-1.0 - 0x1p-52, -1.0, -0x1p-53, -DBL_TRUE_MIN);
  ASSERT_SUM(2.0, 2.0 - 0x1p-52, 0x1p-53); /* the carry of the rounding reaches the exponent */
}

static void subnormal_numbers_are_exact(void **state)
{
  (void)state;
  ASSERT_SUM(3 * DBL_TRUE_MIN, DBL_TRUE_MIN, 2 * DBL_TRUE_MIN);
  ASSERT_SUM(DBL_MIN, DBL_MIN - DBL_TRUE_MIN, DBL_TRUE_MIN);
  ASSERT_SUM(DBL_MIN - DBL_TRUE_MIN, DBL_MIN, -DBL_TRUE_MIN);
  ASSERT_SUM(2 * DBL_MIN, DBL_MIN, DBL_MIN - DBL_TRUE_MIN, DBL_TRUE_MIN);
  ASSERT_SUM(-DBL_TRUE_MIN, -DBL_TRUE_MIN);
}

static void overflow_happens_only_at_the_end(void **state)
{
  (void)state;
  ASSERT_SUM((double)INFINITY, DBL_MAX, DBL_MAX);
  ASSERT_SUM(-(double)INFINITY, -DBL_MAX, -DBL_MAX);
  ASSERT_SUM(DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX);
  ASSERT_SUM((double)INFINITY, DBL_MAX, 0x1p970);
  ASSERT_SUM(DBL_MAX, DBL_MAX, 0x1p970, -DBL_TRUE_MIN);
}

static void infinities_and_nan_are_as_in_ieee_addition(void **state)
{
  (void)state;
  const double infinity = (double)INFINITY;
  ASSERT_SUM(infinity, 1.0, infinity, -DBL_MAX);
  ASSERT_SUM(-infinity, 1.0, -infinity);
  const double undefined[][2] = {{infinity, -infinity}, {(double)NAN, 1.0}, {-infinity, (double)NAN}};
  for (size_t i = 0; i < 3; i++) assert_true(isnan(sum_of(undefined[i], 2)));
  gab_exact_sum a, b;
  gab_exact_clear(&a);
  gab_exact_clear(&b);
  gab_exact_add(&a, infinity);
  gab_exact_add(&b, -infinity);
  gab_exact_merge(&a, &b);
  assert_true(isnan(gab_exact_value(&a)));
}

static void very_many_additions_do_not_overflow_a_digit(void **state)
{
  (void)state;
  const double values[] = {DBL_MAX, -DBL_MAX, 1.0 - 0x1p-53, -1.0, 0x1.fffffffffffffp-1000, DBL_TRUE_MIN};
  for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
    gab_exact_sum sum, undo;
    gab_exact_clear(&sum);
    gab_exact_add(&sum, values[v]);
    for (int i = 0; i < 40; i++) { /* doubled each time: 2^40 additions */
      gab_exact_sum same = sum;
      gab_exact_merge(&sum, &same);
    }
    assert_same(gab_exact_value(&sum), ldexp(values[v], 40));
    gab_exact_clear(&undo);
    gab_exact_add(&undo, -values[v]);
    for (int i = 0; i < 40; i++) {
      gab_exact_sum same = undo;
      gab_exact_merge(&undo, &same);
    }
    gab_exact_merge(&sum, &undo);
    assert_same(gab_exact_value(&sum), 0.0);
  }
  gab_exact_sum full;
  gab_exact_clear(&full);
  full.pending = UINT32_C(1) << 30; /* as after that number of additions */
  for (int i = 0; i < 3; i++) gab_exact_add(&full, 0.1);
  assert_same(gab_exact_value(&full), sum_of((const double[]){0.1, 0.1, 0.1}, 3));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_equal_integer_arithmetic),
      cmocka_unit_test(the_sum_does_not_depend_on_order_or_split),
      cmocka_unit_test(what_cancels_leaves_exactly_the_rest),
      cmocka_unit_test(halves_are_rounded_to_even_and_a_hair_more_upwards),
      cmocka_unit_test(subnormal_numbers_are_exact),
      cmocka_unit_test(overflow_happens_only_at_the_end),
      cmocka_unit_test(infinities_and_nan_are_as_in_ieee_addition),
      cmocka_unit_test(very_many_additions_do_not_overflow_a_digit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
