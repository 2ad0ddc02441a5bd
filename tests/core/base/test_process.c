/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a process: one that has ended does not live, even before it was waited for; two machines without system
 * identification count as different. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "core/system/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static void a_process_lives_until_it_ends(void **state)
{
  (void)state;
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  assert_true(child > 0);
  const uint64_t start = gab_process_start(child);
  assert_true(start > 0);
  assert_true(gab_process_start(getpid()) > 0 && gab_process_start(getpid()) <= start);
  assert_true(gab_process_lives(child, start));
  assert_false(gab_process_lives(child, start + 1)); /* another process that got the number */
  siginfo_t ended;
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
  assert_int_equal(gab_process_start(child), 0); /* ended, not yet waited for */
  assert_false(gab_process_lives(child, start));
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_false(gab_process_lives(child, start));
}

static void no_process_is_none(void **state)
{
  (void)state;
  assert_int_equal(gab_process_start(0), 0);
  assert_int_equal(gab_process_start(-1), 0);
  assert_false(gab_process_lives(0, 0));
  assert_false(gab_process_lives(-1, 0));
}

static void what_is_not_known_equals_nothing(void **state)
{
  (void)state;
  const gab_process_space here = gab_process_space_here(), again = gab_process_space_here();
  assert_true(gab_process_space_is_known(&here));
  assert_true(gab_process_space_is_same(&here, &again));
  assert_null(strpbrk(here.boot, " \n"));
  assert_null(strpbrk(here.numbering, " \n"));
  static const gab_process_space others[] = {
      {"unknown", "unknown"}, {"unknown", "pid:[1]"}, {"3f", "unknown"}, {"", ""}, {"3f", ""}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    assert_false(gab_process_space_is_known(&others[i]));
    assert_false(gab_process_space_is_same(&others[i], &others[i]));
    assert_false(gab_process_space_is_same(&others[i], &here));
  }
  static const gab_process_space one = {"3f", "pid:[1]"}, boot = {"40", "pid:[1]"},
                                 container = {"3f", "pid:[2]"};
  assert_true(gab_process_space_is_same(&one, &one));
  assert_false(gab_process_space_is_same(&one, &boot));
  assert_false(gab_process_space_is_same(&one, &container));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_lives_until_it_ends),
      cmocka_unit_test(no_process_is_none),
      cmocka_unit_test(what_is_not_known_equals_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
