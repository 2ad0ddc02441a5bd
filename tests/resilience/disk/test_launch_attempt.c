/* SPDX-License-Identifier: Apache-2.0 */
/* One function decides whether the launcher has restarted a run: an invalid number of attempts is a first start. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "resilience/reports/completion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static void only_a_positive_number_is_a_further_attempt(void **state)
{
  static const struct {
    const char *told;
    int attempt;
  } rows[] = {{"0", 0}, {"1", 1},  {"12", 12}, {"00", 0},  {"", 0},
              {"x", 0}, {"-1", 0}, {"1x", 0},  {"1 0", 0}, {"99999999999999999999", 0}};
  (void)state;
  assert_int_equal(unsetenv("GABION_ATTEMPT"), 0);
  assert_int_equal(gab_launch_attempt(), 0);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(setenv("GABION_ATTEMPT", rows[i].told, 1), 0);
    assert_int_equal(gab_launch_attempt(), rows[i].attempt);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_a_positive_number_is_a_further_attempt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
