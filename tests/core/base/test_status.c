/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "core/base/status.h"

static gab_status fail_with(gab_status status) { GAB_FAIL(status, "number %d", 42); }

static gab_status pass_up(gab_status status)
{
  GAB_TRY(fail_with(status));
  return GAB_OK;
}

static gab_status clean_up(gab_status wanted, int *cleaned)
{
  gab_status status;
  GAB_TRY_GOTO(status, end, wanted == GAB_OK ? GAB_OK : fail_with(wanted));
  *cleaned += 10;
end:
  *cleaned += 1;
  return status;
}

static void every_status_has_a_name_of_its_own(void **state)
{
  (void)state;
  for (int i = 0; i < GAB_STATUS_COUNT; i++) {
    assert_string_not_equal(gab_status_name((gab_status)i), gab_status_name(GAB_STATUS_COUNT));
    for (int j = 0; j < i; j++)
      assert_string_not_equal(gab_status_name((gab_status)i), gab_status_name((gab_status)j));
  }
}

static void exit_codes_are_as_documented(void **state)
{
  (void)state;
  for (int i = 0; i < GAB_STATUS_COUNT; i++) {
    int code = gab_status_exit_code((gab_status)i);
    switch (i) {
    case GAB_OK:
      assert_int_equal(code, 0);
      break;
    case GAB_ERR_INPUT:
      assert_int_equal(code, 2);
      break;
    case GAB_ERR_LOST:
      assert_int_equal(code, 3);
      break;
    case GAB_ERR_DIVERGED:
      assert_int_equal(code, 4);
      break;
    case GAB_ERR_REQUEUE:
      assert_int_equal(code, 75);
      break;
    case GAB_ERR_AGAIN:
      assert_int_equal(code, 76);
      break;
    default:
      assert_int_equal(code, 1);
    }
  }
}

static void a_failure_is_passed_up_with_its_message_and_place(void **state)
{
  (void)state;
  assert_int_equal(pass_up(GAB_ERR_LOST), GAB_ERR_LOST);
  assert_string_equal(gab_error_message(), "number 42");
  const char *colon = strrchr(gab_error_where(), ':');
  assert_non_null(strstr(gab_error_where(), "test_status.c:"));
  assert_true(colon && colon[1] >= '1' && colon[1] <= '9');
  gab_error_clear();
  assert_string_equal(gab_error_message(), "");
  assert_string_equal(gab_error_where(), "");
}

static void cleaning_up_runs_on_success_and_failure(void **state)
{
  (void)state;
  int cleaned = 0;
  assert_int_equal(clean_up(GAB_OK, &cleaned), GAB_OK);
  assert_int_equal(cleaned, 11);
  assert_int_equal(clean_up(GAB_ERR_IO, &cleaned), GAB_ERR_IO);
  assert_int_equal(cleaned, 12);
}

static void a_message_can_be_put_in_front_of_the_last_one(void **state)
{
  (void)state;
  fail_with(GAB_ERR_IO);
  gab_error_set(GAB_ERR_IO, "x.c", 1, "while reading: %s", gab_error_message());
  assert_string_equal(gab_error_message(), "while reading: number 42");
}

static void a_too_long_message_is_cut_and_says_so(void **state)
{
  (void)state;
  static char text[20000];
  memset(text, 'x', sizeof text - 1);
  gab_error_set(GAB_ERR_IO, "x.c", 1, "%s", text);
  size_t length = strlen(gab_error_message());
  assert_in_range(length, 1000, sizeof text - 2);
  assert_string_equal(gab_error_message() + length - 3, "...");
}

static void *fail_in_thread(void *message)
{
  gab_error_set(GAB_ERR_IO, "thread.c", 1, "of the thread");
  strcpy(message, gab_error_message());
  return NULL;
}

static void each_thread_has_its_own_message(void **state)
{
  (void)state;
  char message[64] = "";
  pthread_t thread;
  fail_with(GAB_ERR_IO);
  assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, message), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_string_equal(message, "of the thread");
  assert_string_equal(gab_error_message(), "number 42");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_a_name_of_its_own),
      cmocka_unit_test(exit_codes_are_as_documented),
      cmocka_unit_test(a_failure_is_passed_up_with_its_message_and_place),
      cmocka_unit_test(cleaning_up_runs_on_success_and_failure),
      cmocka_unit_test(a_message_can_be_put_in_front_of_the_last_one),
      cmocka_unit_test(a_too_long_message_is_cut_and_says_so),
      cmocka_unit_test(each_thread_has_its_own_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
