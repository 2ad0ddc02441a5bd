/* SPDX-License-Identifier: Apache-2.0 */
/* What people write about fault injections and intervals. */
/* gabion-test: labels=quick */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "resilience/loop/fault_injection_impl.h"
#include "resilience/loop/interval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void an_injection_is_read_as_written(void **state)
{
  (void)state;
  gab_fault_injection injection;
  assert_int_equal(gab_fault_injection_parse("rank=2+5,step=500,phase=snapshot,visit=3", &injection), GAB_OK);
  assert_int_equal(injection.rank_count, 2);
  assert_int_equal(injection.ranks[1], 5);
  assert_int_equal(injection.step, 500);
  assert_int_equal(injection.point, GAB_FAULT_POINT_SNAPSHOT);
  assert_int_equal(injection.visit, 3);
  assert_int_equal(gab_fault_injection_parse("random=2,seed=9,step=1", &injection), GAB_OK);
  assert_int_equal(injection.random, 2);
  assert_int_equal(injection.point, GAB_FAULT_POINT_COMPUTE);
  assert_true(injection.stopped == 0);
  assert_false(injection.once);
  assert_int_equal(gab_fault_injection_parse("rank=1,step=1,attempt=2", &injection), GAB_OK);
  assert_true(injection.once);
  assert_int_equal(injection.attempt, 2);
  assert_int_equal(gab_fault_injection_parse("rank=1,step=1,stopped=2.5", &injection), GAB_OK);
  assert_true(injection.stopped == 2.5);
}

static void every_phase_has_a_name_that_an_injection_takes(void **state)
{
  (void)state;
  for (int phase = 0; phase < GAB_FAULT_POINT_COUNT; phase++) {
    char text[64];
    snprintf(text, sizeof text, "rank=0,step=0,phase=%s", gab_fault_point_name((gab_fault_point)phase));
    gab_fault_injection injection;
    assert_int_equal(gab_fault_injection_parse(text, &injection), GAB_OK);
    assert_int_equal(injection.point, phase);
  }
}

static void an_injection_is_over_behind_its_attempt_alone(void **state)
{
  const gab_fault_injection each = {.step = 1, .rank_count = 1, .ranks = {1}};
  gab_fault_injection of_one = each;
  (void)state;
  of_one.once = true;
  of_one.attempt = 1;
  static const char *const attempts[] = {"0", "1", "2"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(setenv("GABION_ATTEMPT", attempts[i], 1), 0);
    assert_false(gab_fault_injection_is_over(&each));
    assert_int_equal(gab_fault_injection_is_over(&of_one), i == 2);
  }
  assert_int_equal(unsetenv("GABION_ATTEMPT"), 0);
}

static void bad_injections_are_refused_and_change_nothing(void **state)
{
  (void)state;
  const char *bad[] = {"",
                       "rank=1",
                       "step=1",
                       "rank=1,step=x",
                       "rank=1,step=-1",
                       "rank=1x,step=1",
                       "rank=1,step=1,phase=lunch",
                       "rank=1,random=1,step=1",
                       "rank=1,step=1,visit=0",
                       "rank=1,step=1,attempt=-1",
                       "rank=99999999999,step=1",
                       "rank=1,step=1,colour=red",
                       "rank=1,step=1,stopped=0",
                       "rank=1,step=1,stopped=long",
                       "rank,step=1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    gab_fault_injection injection = {.step = 77};
    assert_int_equal(gab_fault_injection_parse(bad[i], &injection), GAB_ERR_INPUT);
    assert_int_equal(injection.step, 77);
  }
}

static void an_interval_is_read_as_written(void **state)
{
  (void)state;
  gab_interval interval;
  assert_int_equal(gab_interval_parse("250", 0, &interval), GAB_OK);
  assert_int_equal(interval.mode, GAB_INTERVAL_STEPS);
  assert_int_equal(interval.steps, 250);
  assert_int_equal(gab_interval_parse("1.5 min", 0, &interval), GAB_OK);
  assert_int_equal(interval.mode, GAB_INTERVAL_SECONDS);
  assert_true(interval.seconds == 90);
  assert_int_equal(gab_interval_parse("auto", 3600, &interval), GAB_OK);
  assert_int_equal(interval.mode, GAB_INTERVAL_AUTO);
  assert_int_equal(gab_interval_parse("never", 0, &interval), GAB_OK);
  assert_int_equal(interval.steps, 0);
  const char *bad[] = {"", "0", "-3", "1.5", "10 weeks", "s", "nan", "inf s", "auto"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(gab_interval_parse(bad[i], 0, &interval), GAB_ERR_INPUT);
}

/* Expected time for a second of work with exponentially distributed failures, restart taking no time: eq. 20
 * of Daly 2006 without its dump of the last segment. */
static double exact(double interval, double mtbf, double cost)
{
  return mtbf * (exp((interval + cost) / mtbf) - 1) / interval;
}

static void dalys_interval_beats_youngs_where_checkpoints_are_dear(void **state)
{
  (void)state;
  for (double cost = 1; cost < 1000; cost *= 3) {
    const double mtbf = 1000, daly = gab_interval_daly(mtbf, cost), young = gab_interval_young(mtbf, cost);
    assert_true(exact(daly, mtbf, cost) <= exact(young, mtbf, cost));
    for (double factor = 0.7; factor < 1.4; factor += 0.1)
      assert_true(exact(daly, mtbf, cost) <= exact(daly * factor, mtbf, cost) * 1.001);
  }
  assert_true(gab_interval_daly(100, 200) == 100); /* cost >= 2 mtbf: as long as one lives on average */
  assert_true(fabs(gab_interval_daly(1e6, 1e-3) / gab_interval_young(1e6, 1e-3) - 1) < 1e-4);
}

static void the_automatic_interval_has_the_least_overhead(void **state)
{
  (void)state;
  const double mtbf = 3600, cost = 0.7, best = gab_interval_daly(mtbf, cost),
               first = gab_interval_young(mtbf, cost);
  for (double factor = 0.5; factor < 2; factor += 0.1)
    assert_true(gab_interval_overhead(first, mtbf, cost) <=
                gab_interval_overhead(first * factor, mtbf, cost));
  assert_true(gab_interval_overhead(70, 0, 0.7) == 0.7 / 70);
  gab_interval interval = {.mode = GAB_INTERVAL_AUTO, .mtbf = mtbf};
  assert_true(gab_interval_seconds(&interval, cost) == best);
}

static void a_guess_of_the_mtbf_gives_way_to_what_is_seen(void **state)
{
  (void)state;
  assert_true(gab_interval_observed_mtbf(3600, 0, 0) == 3600);
  const double truth = 100;
  for (int guess = 1; guess <= 100000; guess *= 10) {
    const double seen = gab_interval_observed_mtbf(guess, 1000 * 1000 * truth, 1000 * 1000);
    assert_true(fabs(seen - truth) < 0.01 * truth);
  }
  /* A long quiet time counts as well. */
  assert_true(gab_interval_observed_mtbf(60, 3600, 0) > 3600);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_injection_is_read_as_written),
      cmocka_unit_test(a_guess_of_the_mtbf_gives_way_to_what_is_seen),
      cmocka_unit_test(every_phase_has_a_name_that_an_injection_takes),
      cmocka_unit_test(an_injection_is_over_behind_its_attempt_alone),
      cmocka_unit_test(bad_injections_are_refused_and_change_nothing),
      cmocka_unit_test(an_interval_is_read_as_written),
      cmocka_unit_test(dalys_interval_beats_youngs_where_checkpoints_are_dear),
      cmocka_unit_test(the_automatic_interval_has_the_least_overhead),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
