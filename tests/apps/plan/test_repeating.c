/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Periods of a series are found, with their length, mean and extremes, also with a second harmonic, and about any mean; what grows, drifts or changes its
 * length does not repeat; a start far outside of the later range is forgotten; a period that is given is taken whatever the series does in it. */
#include "apps/driver/flow/observe/repeating.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double turn = 6.283185307179586;

static double sine(double t) { return 5 + sin(turn * t); }
/* Two upward crossings of the mean in each period, one of them a small wave. */
static double two_waves(double t) { return sin(turn * t) + 0.6 * cos(2 * turn * t); }
static double starts(double t) { return 1 - exp(-t) + (1 - exp(-0.5 * t)) * sin(turn * t); }
static double grows(double t) { return exp(0.05 * t) * sin(turn * t); }
static double drifts(double t) { return 0.1 * t + sin(turn * t); }
static double slows(double t) { return sin(turn * t / (1 + 0.01 * t)); }
static double ripples(double t) { return sin(turn * t) + 0.2 * cos(13 * turn * t); }
/* Of constant extremes and a mean that changes. */
static double sharpens(double t)
{
  const double s = sin(turn * t);
  return s > 0 ? pow(s, 1 + 0.2 * t) : s;
}
/* A start above all later values, and a burst, after which nothing reaches the middle of the range. */
static double settles(double t) { return 10 * exp(-2 * t) + sin(turn * t); }
static double bursts(double t) { return sin(turn * t) + (t > 4.2 && t < 4.5 ? 9 : 0); }
/* Two neighbouring numbers in turn, as of a flow at rest. */
static double rounds(double t) { return 1 + 1e-9 * sin(turn * t); }
static double saw(double t) { return -t + floor(t); }

static repeating note_all(double (*series)(double), double end, double period)
{
  const double row = 0.013;
  repeating all = {0};
  for (int i = 0; i * row < end; i++) repeating_note(&all, period, i * row, series(i * row));
  return all;
}

static void periods_are_found(void **state)
{
  (void)state;
  double (*const series[])(double) = {sine, two_waves, ripples, saw};
  for (int i = 0; i < 4; i++) {
    const repeating all = note_all(series[i], 12.5, 0);
    print_message("%.0f periods of %.4f, last differ by %.2g\n", all.periods, all.length,
                  repeating_change(&all, 3));
    assert_true(all.periods >= 9 && all.periods <= 12);
    assert_true(fabs(all.length - 1) < 0.02 && repeating_change(&all, 3) < 0.03);
  }
  const repeating all = note_all(sine, 12.5, 0);
  assert_true(fabs(all.mean - 5) < 0.03 && fabs(all.was_least - 4) < 0.002 && fabs(all.was_most - 6) < 0.002);
  assert_true(fabs(all.length - 1) < 1e-3);
}

static void a_start_and_a_burst_are_forgotten(void **state)
{
  (void)state;
  double (*const series[])(double) = {settles, bursts};
  for (int i = 0; i < 2; i++) {
    const repeating all = note_all(series[i], 20, 0);
    print_message("%.0f periods of %.4f, last differ by %.2g\n", all.periods, all.length,
                  repeating_change(&all, 3));
    assert_true(all.periods >= 5 && fabs(all.length - 1) < 1e-3 && repeating_change(&all, 3) < 0.01);
  }
  const repeating none = note_all(rounds, 20, 0);
  assert_true(none.periods == 0);
}

static void what_changes_does_not_repeat(void **state)
{
  (void)state;
  double (*const series[])(double) = {grows, drifts, slows};
  for (int i = 0; i < 3; i++) {
    const repeating all = note_all(series[i], 20, 0);
    print_message("%.0f periods, last differ by %.2g\n", all.periods, repeating_change(&all, 3));
    assert_true(all.periods > 10 && repeating_change(&all, 1) > 0.008 && repeating_change(&all, 3) > 0.008);
  }
  /* A start ends when the exponential has died to that. */
  for (int end = 3; end < 30; end++) {
    const repeating all = note_all(starts, end, 0);
    const double left = exp(-0.5 * (end - 3));
    if (repeating_change(&all, 2) < 0.01) assert_true(left < 0.1);
    if (end == 29) assert_true(repeating_change(&all, 2) < 0.01);
  }
  const repeating none = {0}, sharper = note_all(sharpens, 8, 0);
  assert_true(isinf(repeating_change(&none, 1)) && repeating_change(&sharper, 1) > 0.004);
  const repeating few = note_all(sine, 3.2, 0);
  assert_true(few.periods == 2 && isinf(repeating_change(&few, 2)) && repeating_change(&few, 1) < 0.01);
}

/* Three rows lie in a period of the first sine, five in one of the second. */
static void periods_of_few_rows_do_not_count(void **state)
{
  (void)state;
  repeating few = {0}, enough = {0};
  for (int i = 0; i < 200; i++) repeating_note(&few, 0, i * 0.34, sine(i * 0.34));
  for (int i = 0; i < 200; i++) repeating_note(&enough, 0, i * 0.2, sine(i * 0.2 + 0.03));
  assert_true(few.periods > 20 && isinf(repeating_change(&few, 16)));
  assert_true(enough.periods > 20 && repeating_change(&enough, 16) < 0.01);
}

static void given_periods_are_taken(void **state)
{
  (void)state;
  const repeating twice = note_all(sine, 20, 2), none = note_all(sine, 20, 0.7);
  assert_true(twice.periods == 9 && twice.length == 2 && repeating_change(&twice, 3) < 0.02);
  assert_true(repeating_change(&none, 3) > 0.1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(periods_are_found),
      cmocka_unit_test(a_start_and_a_burst_are_forgotten),
      cmocka_unit_test(what_changes_does_not_repeat),
      cmocka_unit_test(periods_of_few_rows_do_not_count),
      cmocka_unit_test(given_periods_are_taken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
