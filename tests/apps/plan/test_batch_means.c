/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* The confidence interval of a correlated series contains the true mean in about 95 of 100 cases, white or correlated
 * over 20 values; a series with a trend has none; a series shorter than its correlation has none or a wide one. */
#include "apps/driver/flow/observe/batch_means.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* In (0, 1); a splitmix64. */
static double uniform(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
  const double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(6.283185307179586 * uniform(state));
}

/* AR(1) about 3. @return of `series` series with an interval, the share whose interval has the truth */
static double coverage(double memory, int values, int series, int *with_interval)
{
  uint64_t state = 42;
  int hits = 0;
  *with_interval = 0;
  for (int s = 0; s < series; s++) {
    batch_means all = {0};
    double now = normal(&state) / sqrt(1 - memory * memory), mean, half;
    for (int i = 0; i < values; i++) {
      now = memory * now + normal(&state);
      batch_means_note(&all, 3 + now);
    }
    assert_true(all.count == values);
    if (!batch_means_interval(&all, &mean, &half)) continue;
    ++*with_interval;
    hits += fabs(mean - 3) <= half;
  }
  return (double)hits / *with_interval;
}

static void intervals_contain_the_truth(void **state)
{
  int with;
  (void)state;
  const double white = coverage(0, 3000, 1000, &with);
  print_message("white: %.3f of %d\n", white, with);
  assert_true(with > 900 && white > 0.93 && white < 0.97);
  const double correlated = coverage(0.9, 20000, 1000, &with);
  print_message("correlated: %.3f of %d\n", correlated, with);
  assert_true(with > 900 && correlated > 0.93 && correlated < 0.97);
}

static void short_series_have_no_interval(void **state)
{
  batch_means all = {0};
  double mean, half;
  int with;
  (void)state;
  for (int i = 0; i < 63; i++) batch_means_note(&all, i % 3);
  assert_false(batch_means_interval(&all, &mean, &half));
  (void)coverage(0.99, 400, 1000, &with); /* four times its correlation */
  print_message("short: %d of 1000 have an interval\n", with);
  assert_true(with < 300);
}

static void a_trend_has_no_interval(void **state)
{
  batch_means all = {0};
  double mean, half;
  uint64_t random = 7;
  (void)state;
  for (int i = 0; i < 1000; i++) batch_means_note(&all, 0.01 * i + normal(&random));
  assert_false(batch_means_interval(&all, &mean, &half));
}

static void batches_are_merged_in_pairs(void **state)
{
  batch_means all = {0};
  double mean = 0, half = 0;
  (void)state;
  for (int i = 0; i < 1024; i++) batch_means_note(&all, i % 4);
  assert_true(all.length == 64 && all.whole == 16 && all.in_sum == 0);
  assert_true(batch_means_interval(&all, &mean, &half) && mean == 1.5 && half == 0);
  assert_true(fabs(batch_means_quantile(15) - 2.1314) < 2e-3 &&
              fabs(batch_means_quantile(30) - 2.0423) < 2e-3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_contain_the_truth),
      cmocka_unit_test(short_series_have_no_interval),
      cmocka_unit_test(a_trend_has_no_interval),
      cmocka_unit_test(batches_are_merged_in_pairs),
  };
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
