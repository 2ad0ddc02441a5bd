/* SPDX-License-Identifier: Apache-2.0 */
/* Who died, in words: all of them if they fit, else how many more. */
#include "resilience/loop/timeloop_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static const gab_rank ranks[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2147483647};

static void nobody_is_left_out(void **state)
{
  (void)state;
  char text[160];
  assert_string_equal(gab_fault_who(ranks, 0, 0, text, sizeof text), "nobody");
  assert_string_equal(gab_fault_who(ranks + 3, 1, 1, text, sizeof text), "rank 3");
  assert_string_equal(gab_fault_who(ranks, 8, 8, text, sizeof text), "ranks 0, 1, 2, 3, 4, 5, 6, 7");
  assert_string_equal(gab_fault_who(ranks, 12, 12, text, sizeof text),
                      "ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2147483647");
}

static void more_than_were_remembered_are_counted(void **state)
{
  (void)state;
  char text[160];
  assert_string_equal(gab_fault_who(ranks, GAB_MOST_LOST_RECORDS, 9, text, sizeof text),
                      "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 1 more");
  assert_string_equal(gab_fault_who(ranks, GAB_MOST_LOST_RECORDS, 2147483647, text, sizeof text),
                      "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2147483639 more");
}

static void what_does_not_fit_is_counted(void **state)
{
  (void)state;
  gab_rank many[100];
  char text[160];
  for (int i = 0; i < 100; i++) many[i] = 1000000000 + i;
  for (size_t capacity = 64; capacity <= sizeof text; capacity++) {
    int listed = 0, more = 0;
    memset(text, 'x', sizeof text);
    gab_fault_who(many, 100, 100, text, capacity);
    assert_non_null(memchr(text, '\0', capacity));
    const char *end = strstr(text, " and ");
    assert_non_null(end);
    assert_int_equal(sscanf(end, " and %d more", &more), 1);
    assert_string_equal(end + strlen(end) - 5, " more");
    for (const char *at = text; at && at < end; at = strchr(at + 1, ',')) listed++;
    assert_true(listed > 0);
    assert_int_equal(listed + more, 100);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_is_left_out),
      cmocka_unit_test(more_than_were_remembered_are_counted),
      cmocka_unit_test(what_does_not_fit_is_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
