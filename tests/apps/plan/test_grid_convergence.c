/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=20 labels=quick */
/* Order, limit and uncertainty of numbers with a known error. */
#include "apps/driver/campaign/grid_convergence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 4 };

static gab_convergence of_power(double order, const double *width, size_t count, double assumed)
{
  double value[MOST];
  for (size_t i = 0; i < count; i++) value[i] = 3 - 2 * pow(width[i], order);
  return gab_convergence_of(value, width, count, assumed, 0);
}

static void a_power_of_the_width_has_that_order_and_limit(void **state)
{
  static const double widths[][3] = {{1, 0.5, 0.25}, {1, 0.25, 0.0625}, {0.9, 0.5, 0.4}, {1, 0.8, 0.3}};
  (void)state;
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
    for (double order = 0.5; order < 4.1; order += 0.5) {
      const gab_convergence found = of_power(order, widths[w], 3, 4);
      const double error = 2 * pow(widths[w][2], order);
      assert_int_equal(found.kind, GAB_CONVERGENCE_MONOTONIC);
      assert_true(fabs(found.order - order) < 1e-9);
      assert_true(fabs(found.limit - 3) < 1e-9);
      assert_true(fabs(found.uncertainty - 1.25 * error) < 1e-9);
    }
}

static void only_the_three_finest_grids_count(void **state)
{
  const double width[MOST] = {1, 0.5, 0.25, 0.125};
  double value[MOST] = {77, 1 + 0.25, 1 + 0.0625, 1 + 0.015625};
  (void)state;
  const gab_convergence found = gab_convergence_of(value, width, MOST, 2, 0);
  assert_true(fabs(found.order - 2) < 1e-12 && fabs(found.limit - 1) < 1e-12);
}

static void a_higher_order_than_assumed_gives_no_smaller_uncertainty(void **state)
{
  const double width[] = {1, 0.5, 0.25};
  (void)state;
  const gab_convergence found = of_power(4, width, 3, 2);
  const double step = 2 * (pow(0.5, 4) - pow(0.25, 4));
  assert_true(fabs(found.order - 4) < 1e-9);
  assert_true(fabs(found.uncertainty - 1.25 * step / 3) < 1e-12);
}

static void two_grids_have_the_assumed_order(void **state)
{
  const double width[] = {1, 0.5};
  (void)state;
  const gab_convergence found = of_power(2, width, 2, 2);
  assert_int_equal(found.kind, GAB_CONVERGENCE_ASSUMED);
  assert_true(fabs(found.limit - 3) < 1e-12 && fabs(found.uncertainty - 3 * 2 * 0.25) < 1e-12);
}

static void oscillation_divergence_and_rounding_are_told_apart(void **state)
{
  const double width[] = {1, 0.5, 0.25};
  (void)state;
  const double swings[] = {1 + 0.4, 1 - 0.2, 1 + 0.1}, grows[] = {1, 1.1, 1.4}, stays[] = {2, 2, 2 + 1e-15},
               slow[] = {1, 2, 2.99}, small[] = {4e-13, -2e-13, 1e-13}, stops[] = {1, 2, 2};
  const gab_convergence found = gab_convergence_of(swings, width, 3, 2, 0);
  assert_int_equal(found.kind, GAB_CONVERGENCE_OSCILLATING);
  assert_true(isnan(found.order) && found.limit == swings[2]);
  assert_true(fabs(found.uncertainty - 0.3) < 1e-12);
  assert_int_equal(gab_convergence_of(grows, width, 3, 2, 0).kind, GAB_CONVERGENCE_NONE);
  assert_true(fabs(gab_convergence_of(grows, width, 3, 2, 0).uncertainty - 0.4) < 1e-12);
  assert_int_equal(gab_convergence_of(slow, width, 3, 2, 0).kind, GAB_CONVERGENCE_NONE);
  assert_int_equal(gab_convergence_of(stops, width, 3, 2, 0).kind, GAB_CONVERGENCE_NONE);
  assert_int_equal(gab_convergence_of(stays, width, 3, 2, 0).kind, GAB_CONVERGENCE_EQUAL);
  assert_int_equal(gab_convergence_of(small, width, 3, 2, 0).kind, GAB_CONVERGENCE_OSCILLATING);
  assert_int_equal(gab_convergence_of(small, width, 3, 2, 1e-9).kind, GAB_CONVERGENCE_EQUAL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_power_of_the_width_has_that_order_and_limit),
      cmocka_unit_test(only_the_three_finest_grids_count),
      cmocka_unit_test(a_higher_order_than_assumed_gives_no_smaller_uncertainty),
      cmocka_unit_test(two_grids_have_the_assumed_order),
      cmocka_unit_test(oscillation_divergence_and_rounding_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
