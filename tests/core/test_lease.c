/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick
 * A process that was stopped for longer than it may be ends when it wakes up, and does nothing else before. */
#include "core/world/lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(double seconds)
{
  struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  while (nanosleep(&left, &left) != 0) continue;
}

/* Starts a child process that counts until it ends. */
static pid_t start_counting(volatile long *count)
{
  const pid_t child = fork();
  if (child != 0) return child;
  (void)!freopen("/dev/null", "w", stderr); /* its message is not shown */
  if (gab_lease_start(4) != GAB_OK) _exit(1);
  for (;;) ++*count;
}

static void wait_for_count(volatile long *count, long more_than)
{
  while (*count <= more_than) nap(0.01);
}

/* @return how long it was stopped */
static double stop_for(pid_t child, double seconds)
{
  struct timespec before, after;
  clock_gettime(CLOCK_BOOTTIME, &before);
  kill(child, SIGSTOP);
  nap(seconds);
  kill(child, SIGCONT);
  clock_gettime(CLOCK_BOOTTIME, &after);
  return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

static void who_was_away_for_too_long_ends(void **state)
{
  volatile long *count = *state;
  int status;
  *count = 0;
  const pid_t child = start_counting(count);
  wait_for_count(count, 0);
  kill(child, SIGSTOP);
  assert_int_equal(waitpid(child, &status, WUNTRACED), child);
  assert_true(WIFSTOPPED(status));
  const long before = *count;
  nap(2.6);
  kill(child, SIGCONT);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGKILL);
  assert_int_equal(*count, before);
}

static void who_was_away_for_a_moment_goes_on(void **state)
{
  volatile long *count = *state;
  int status;
  *count = 0;
  const pid_t child = start_counting(count);
  wait_for_count(count, 0);
  const double stood = stop_for(child, 0.05);
  const long before = *count;
  for (int i = 0; i < 100 && *count <= before + 1000000; i++) nap(0.05);
  if (stood < 1)
    assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* not on a machine that was stopped itself */
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static void what_the_launcher_said_is_obeyed(void **state)
{
  (void)state;
  unsetenv("GABION_DEAD_AFTER");
  assert_int_equal(gab_lease_start_from_environment(), GAB_OK);
  gab_lease_check(); /* without a lease: no effect */
  assert_int_equal(gab_lease_start(0), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_lease_start(-1), GAB_ERR_ARGUMENT);
}

int main(void)
{
  void *shared = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(who_was_away_for_too_long_ends, shared),
      cmocka_unit_test_prestate(who_was_away_for_a_moment_goes_on, shared),
      cmocka_unit_test(what_the_launcher_said_is_obeyed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
