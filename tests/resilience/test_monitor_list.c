/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* Monitors of a list and those that a program has registered are found by name; two of one name are refused where one is asked
 * for, since either would leave the other out. */
#include "resilience/loop/monitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static gab_status add(void *user, gab_timeloop *loop)
{
  (void)user, (void)loop;
  return GAB_OK;
}
static const gab_monitor items[] = {{"mass", "of the list", add}, {"bounds", "of the list", add}};
static const gab_monitor_list list = {items, 2};
static const gab_monitor own = {"own", "of the program", add}, same = {"mass", "of the program, too", add},
                         bare = {"bare", "nothing behind it", NULL};

static void monitors_are_found(void **state)
{
  (void)state;
  assert_null(gab_monitor_find(list, "own"));
  assert_non_null(strstr(gab_error_message(), "mass, bounds"));
  assert_null(gab_monitor_find((gab_monitor_list){0}, "own"));
  assert_non_null(strstr(gab_error_message(), "this program has none"));
  assert_int_equal(gab_monitor_register(&bare), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_monitor_register(&own), GAB_OK);
  assert_int_equal(gab_monitor_register(&own), GAB_ERR_ARGUMENT);
  assert_ptr_equal(gab_monitor_find(list, "own"), &own);
  assert_ptr_equal(gab_monitor_find((gab_monitor_list){0}, "own"), &own);
  assert_ptr_equal(gab_monitor_find(list, "bounds"), &items[1]);
  assert_null(gab_monitor_find(list, "ohn"));
  assert_non_null(strstr(gab_error_message(), "mass, bounds, own"));
  assert_ptr_equal(gab_monitor_find(list, "mass"), &items[0]);
  assert_int_equal(gab_monitor_register(&same), GAB_OK);
  assert_null(gab_monitor_find(list, "mass"));
  assert_non_null(strstr(gab_error_message(), "two monitors"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(monitors_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
