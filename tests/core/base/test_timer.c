/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/timer.h"

static gab_timers *new_timers(void)
{
  gab_timers *timers;
  assert_int_equal(gab_timers_create(&timers), GAB_OK);
  return timers;
}

static gab_timer find(gab_timers *timers, const char *name)
{
  gab_timer timer;
  assert_int_equal(gab_timers_find(timers, name, &timer), GAB_OK);
  return timer;
}

static gab_timer_summary summary(const gab_timers *timers, size_t place)
{
  gab_timer_summary found;
  assert_int_equal(gab_timers_summary(timers, place, &found), GAB_OK);
  return found;
}

static void a_name_is_one_timer(void **state)
{
  (void)state;
  gab_timers *timers = new_timers();
  gab_timer stream = find(timers, "stream"), collide = find(timers, "collide");
  assert_int_not_equal(stream, collide);
  char name[16];
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "t%02d", 99 - i);
    find(timers, name);
  }
  assert_int_equal(find(timers, "stream"), stream);
  assert_int_equal(find(timers, "collide"), collide);
  assert_int_equal(gab_timers_count(timers), 102);
  for (size_t i = 1; i < 102; i++)
    assert_true(strcmp(summary(timers, i - 1).name, summary(timers, i).name) < 0);
  gab_timer none;
  char long_name[GAB_TIMER_NAME_CAPACITY + 1];
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  assert_int_equal(gab_timers_find(timers, long_name, &none), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_timers_find(timers, "", &none), GAB_ERR_ARGUMENT);
  gab_timers_destroy(&timers);
  assert_null(timers);
}

static void calls_are_added_up_with_shortest_and_longest(void **state)
{
  (void)state;
  gab_timers *timers = new_timers();
  gab_timer timer = find(timers, "exchange");
  gab_timer_add(timers, timer, 0.5);
  gab_timer_add(timers, timer, 0.25);
  gab_timer_add(timers, timer, 2.0);
  gab_timer_summary found = summary(timers, 0);
  assert_int_equal(found.calls, 3);
  assert_true(found.total == 2.75 && found.min == 0.25 && found.max == 2.0);
  gab_timers_destroy(&timers);
}

static void start_and_stop_are_one_call(void **state)
{
  (void)state;
  gab_timers *timers = new_timers();
  gab_timer timer = find(timers, "step");
  gab_timer_start(timers, timer);
  double seconds = gab_timer_stop(timers, timer);
  assert_true(seconds >= 0);
  assert_true(gab_timer_stop(timers, timer) == 0); /* without a start */
  assert_int_equal(summary(timers, 0).calls, 1);
  assert_true(summary(timers, 0).total == seconds);
  gab_timer_start(timers, 17); /* no such timer: no effect */
  assert_true(gab_timer_stop(timers, -1) == 0);
  gab_timer_summary none;
  assert_int_equal(gab_timers_summary(timers, 1, &none), GAB_ERR_ARGUMENT);
  gab_timers_destroy(&timers);
}

/* As in a zeroed struct whose timer was never created. */
static void a_timer_that_was_never_given_measures_nothing(void **state)
{
  (void)state;
  gab_timers *timers = new_timers();
  const gab_timer first = find(timers, "first"), none = 0;
  assert_int_not_equal(first, none);
  gab_timer_start(timers, none);
  assert_true(gab_timer_stop(timers, none) == 0);
  gab_timer_add(timers, none, 1);
  gab_timer_add(timers, first + 1, 1);
  const gab_timer_summary found = summary(timers, 0);
  assert_true(found.calls == 0 && found.total == 0 && found.min == 0 && found.max == 0);
  gab_timers_destroy(&timers);
}

static void the_date_is_that_of_the_time_zone(void **state)
{
  (void)state;
  char text[GAB_DATE_CAPACITY];
  assert_int_equal(setenv("TZ", "UTC0", 1), 0);
  tzset();
  assert_string_equal(gab_local_date(0, text), "1970-01-01 00:00:00");
  assert_string_equal(gab_local_date(1795329235.75, text), "2026-11-22 06:33:55");
  assert_string_equal(gab_local_date(1e18, text), "?");
  assert_int_equal(setenv("TZ", "EAST-2", 1), 0);
  tzset();
  assert_string_equal(gab_local_date(1795329235, text), "2026-11-22 08:33:55");
  const time_t before = time(NULL);
  const double now = gab_seconds_since_1970();
  /* time() reads a clock that lags by up to a tick. */
  assert_true((double)before <= now && now < (double)time(NULL) + 1.1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_is_one_timer),
      cmocka_unit_test(calls_are_added_up_with_shortest_and_longest),
      cmocka_unit_test(start_and_stop_are_one_call),
      cmocka_unit_test(a_timer_that_was_never_given_measures_nothing),
      cmocka_unit_test(the_date_is_that_of_the_time_zone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
