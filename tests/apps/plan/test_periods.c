/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=20 labels=quick */
/* A frequency is reported only for a periodic lift, and then for its periodic part. */
#include "apps/driver/flow/observe/periods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;

/* A lift with amplitude exp(growth t) up to 1, and a phase that runs with frequency 1 + chirp / (1 + t). */
static lift_periods watched(double growth, double chirp, double until)
{
  lift_periods lift = {.samples = 0};
  for (int i = 0; i * 0.01 <= until; i++) {
    const double t = i * 0.01, amplitude = fmin(1, exp(growth * (t - 8)));
    periods_note(&lift, t, amplitude * sin(2 * pi * (t + chirp * log1p(t)) - 0.3));
  }
  return lift;
}

static void a_steady_swing_has_its_frequency(void **state)
{
  (void)state;
  const lift_periods lift = watched(0, 0, 6.5);
  assert_true(periods_have_settled(&lift));
  assert_true(lift.settled == 6 && lift.crossings == 7);
  assert_true(fabs(periods_frequency(&lift) - 1) < 1e-4);
}

static void one_that_grows_has_none(void **state)
{
  (void)state;
  const lift_periods lift = watched(0.3, 0, 7.5);
  assert_true(lift.crossings >= 7);
  assert_false(periods_have_settled(&lift));
}

static void one_whose_periods_change_has_none(void **state)
{
  (void)state;
  const lift_periods lift = watched(0, 2, 4);
  assert_true(lift.crossings >= 5);
  assert_false(periods_have_settled(&lift));
}

static void what_came_before_does_not_count(void **state)
{
  (void)state;
  const lift_periods lift = watched(0.3, 0, 14.5);
  assert_true(periods_have_settled(&lift));
  assert_true(lift.settled < 8 && lift.settled_since > 6.5);
  assert_true(fabs(periods_frequency(&lift) - 1) < 1e-4);
}

static void too_few_periods_are_none(void **state)
{
  (void)state;
  const lift_periods lift = watched(0, 0, 2.5);
  assert_true(lift.crossings == 3);
  assert_false(periods_have_settled(&lift));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_steady_swing_has_its_frequency), cmocka_unit_test(one_that_grows_has_none),
      cmocka_unit_test(one_whose_periods_change_has_none), cmocka_unit_test(what_came_before_does_not_count),
      cmocka_unit_test(too_few_periods_are_none)};
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
