/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of time limits of users and batch systems. */
/* gabion-test: labels=quick */
#include "resilience/loop/stop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_wall_time_is_read_as_written(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double seconds;
  } good[] = {{"3600", 3600},  {"90 s", 90},        {"1.5h", 5400},         {"30 min", 1800},
              {"30:00", 1800}, {"12:00:00", 43200}, {"1-12:00:00", 129600}, {"02:03:04", 7384}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double seconds = -1;
    assert_int_equal(gab_walltime_parse(good[i].text, &seconds), GAB_OK);
    assert_true(seconds == good[i].seconds);
  }
}

static void what_is_no_wall_time_is_refused_and_the_form_shown(void **state)
{
  (void)state;
  static const char *const bad[] = {"",        "0",    "-5",    "soon",  "5 fortnights",
                                    "1:2:3:4", "12:",  ":30",   "1-30",  "1-30:00",
                                    "1:-2",    "1:2x", "inf h", "nan s", "x-1:2:3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double seconds = 77;
    assert_int_equal(gab_walltime_parse(bad[i], &seconds), GAB_ERR_INPUT);
    assert_true(seconds == 77);
    assert_non_null(strstr(gab_error_message(), "12:00:00"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wall_time_is_read_as_written),
      cmocka_unit_test(what_is_no_wall_time_is_refused_and_the_form_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
