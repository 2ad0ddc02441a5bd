/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
/* The vectors of the fast kernels, in the version for this processor (AVX-512, AVX or plain), have on each lane the
 * results of loops over numbers. */
#include "phasefield/kernels/lanes_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MORE = 3 * LANES };

static void fill(double *numbers, double first)
{
  for (int i = 0; i < MORE; i++) numbers[i] = first + i;
}

static void assert_lanes(vec found, const double *expected)
{
  for (int i = 0; i < LANES; i++)
    if (found[i] != expected[i]) fail_msg("lane %d has %g, expected %g", i, found[i], expected[i]);
}

static void parts_leave_the_rest_alone(void **state)
{
  (void)state;
  for (int count = 1; count <= LANES; count++) {
    const chunk in = part_chunk(count);
    double from[MORE], to[MORE], expected[MORE] = {0};
    fill(from, 1);
    fill(to, 100);
    for (int i = 0; i < count; i++) expected[i] = from[i];
    assert_lanes(load(from, in), expected);
    store(to, in, load(from, in));
    for (int i = 0; i < MORE; i++)
      if (to[i] != (i < count ? 1 : 100) + i) fail_msg("a part of %d: number %d is %g", count, i, to[i]);
  }
}

static void two_rows_are_halves(void **state)
{
  (void)state;
  const chunk in = whole_chunk(true, LANES);
  double from[MORE], to[MORE], expected[LANES];
  fill(from, 1);
  fill(to, 100);
  for (int i = 0; i < LANES; i++) expected[i] = from[i % HALF + i / HALF * LANES];
  assert_lanes(load(from, in), expected);
  store(to, in, load(from, in));
  for (int i = 0; i < MORE; i++) {
    const bool is_stored = i % LANES < HALF && i < 2 * LANES;
    if (to[i] != (is_stored ? 1 : 100) + i) fail_msg("two rows: number %d is %g", i, to[i]);
  }
}

static void lanes_are_shifted(void **state)
{
  (void)state;
  double numbers[MORE], whole[LANES], rows[LANES], before[LANES];
  fill(numbers, 1);
  const vec first = load_all(numbers), second = load_all(numbers + LANES);
  for (int i = 0; i < LANES; i++) {
    whole[i] = numbers[LANES + i - 1];
    rows[i] = i % HALF ? second[i - 1] : first[i + HALF - 1];
    before[i] = i < HALF ? first[i + HALF] : second[i - HALF];
  }
  assert_lanes(shifted_in(first, second), whole);
  assert_lanes(shifted_in_rows(first, second), rows);
  assert_lanes(row_before(first, second), before);
}

static void masks_are_comparisons(void **state)
{
  (void)state;
  double numbers[MORE], expected[LANES];
  fill(numbers, 0);
  const vec x = load_all(numbers), yes = splat(1), no = splat(-1);
  for (int most = -1; most <= LANES; most++) {
    const vec limit = splat(most);
    for (int i = 0; i < LANES; i++) expected[i] = i > most ? 1 : -1;
    assert_lanes(choose(greater(x, limit), yes, no), expected);
    for (int i = 0; i < LANES; i++) expected[i] = i == most ? 1 : -1;
    assert_lanes(choose(equal(x, limit), yes, no), expected);
    for (int i = 0; i < LANES; i++) expected[i] = i > most && i == LANES - 1 ? 1 : -1;
    assert_lanes(choose(both(greater(x, limit), equal(x, splat(LANES - 1))), yes, no), expected);
    for (int i = 0; i < LANES; i++) expected[i] = i > most && i != LANES - 1 ? 1 : -1;
    assert_lanes(choose(butnot(greater(x, limit), equal(x, splat(LANES - 1))), yes, no), expected);
    assert_int_equal(any(greater(x, limit)), most < LANES - 1);
    assert_int_equal(all_of(greater(x, limit), first_lanes(LANES)), most < 0);
    assert_int_equal(all_of(greater(limit, x), first_lanes(2)), most >= 2);
  }
  for (int i = 0; i < LANES; i++) expected[i] = sqrt(numbers[i]);
  assert_lanes(root(x), expected);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_leave_the_rest_alone),
      cmocka_unit_test(two_rows_are_halves),
      cmocka_unit_test(lanes_are_shifted),
      cmocka_unit_test(masks_are_comparisons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
