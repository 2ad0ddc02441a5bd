/* SPDX-License-Identifier: Apache-2.0 */
/* Time series from files: values between, before and after the lines, and refused files. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/config/time_series.h"

static const char *write_file(const char *text)
{
  static char path[64];
  snprintf(path, sizeof path, "/tmp/gabion-series-%d.csv", (int)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  return path;
}

static gab_time_series *series_of(const char *text, bool repeats)
{
  gab_time_series *series;
  const char *path = write_file(text);
  const gab_status status = gab_time_series_read(path, repeats, &series);
  assert_int_equal(unlink(path), 0);
  if (status != GAB_OK) fail_msg("%s: %s", text, gab_error_message());
  return series;
}

static void interpolates(void **state)
{
  (void)state;
  gab_time_series *series = series_of("time,flow\n# comment\n1, 2\n\n2;4\r\n4\t-8", false);
  const double at[] = {-5, 1, 1.5, 2, 3, 4, 100}, value[] = {2, 2, 3, 4, -2, -8, -8};
  double first, last;
  for (int i = 0; i < 7; i++) assert_true(gab_time_series_at(series, at[i]) == value[i]);
  assert_true(gab_time_series_largest(series) == 8);
  gab_time_series_range(series, &first, &last);
  assert_true(first == 1 && last == 4);
  gab_time_series_destroy(&series);
  assert_null(series);
}

static void repeats(void **state)
{
  (void)state;
  gab_time_series *series = series_of("1 0\n2 1\n3 0\n", true);
  const double at[] = {0, 1.25, 3, 3.25, 4, 103.5}, value[] = {0, 0.25, 0, 0.25, 1, 0.5};
  for (int i = 0; i < 6; i++) assert_true(gab_time_series_at(series, at[i]) == value[i]);
  gab_time_series_destroy(&series);
}

static void compares(void **state)
{
  (void)state;
  gab_time_series *a = series_of("0 0\n1 1\n", false), *b = series_of("t f\n0.0, 0\n1.0, 1e0\n", false),
                  *c = series_of("0 0\n1 2\n", false), *d = series_of("0 0\n1 1\n", true);
  assert_true(gab_time_series_equal(a, b) && gab_time_series_equal(NULL, NULL));
  assert_false(gab_time_series_equal(a, c) || gab_time_series_equal(a, d) || gab_time_series_equal(a, NULL));
  gab_time_series_destroy(&a);
  gab_time_series_destroy(&b);
  gab_time_series_destroy(&c);
  gab_time_series_destroy(&d);
}

static void refuse(const char *text, const char *why)
{
  gab_time_series *series;
  const char *path = write_file(text);
  assert_int_equal(gab_time_series_read(path, false, &series), GAB_ERR_INPUT);
  assert_null(series);
  assert_int_equal(unlink(path), 0);
  if (!strstr(gab_error_message(), why)) fail_msg("'%s' is not in: %s", why, gab_error_message());
}

static void refuses(void **state)
{
  (void)state;
  gab_time_series *series;
  refuse("", "two lines or more");
  refuse("time flow\n1 2\n", "two lines or more");
  refuse("1 2\n1 3\n", ".csv:2: time 1 does not come after 1");
  refuse("1 2\n2 x\n", ".csv:2: expected a time and a value, not '2 x'");
  refuse("1 2\n2 3 4\n", ".csv:2: expected a time and a value");
  refuse("a b\nc d\n1 2\n2 3\n", ".csv:2: expected a time and a value");
  refuse("1 2\n2 1e999\n", ".csv:2:");
  refuse("1 2\n2 nan\n", ".csv:2:");
  assert_int_equal(gab_time_series_read("/nonexistent/series.csv", false, &series), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(interpolates), cmocka_unit_test(repeats),
                                     cmocka_unit_test(compares), cmocka_unit_test(refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
