/* SPDX-License-Identifier: Apache-2.0 */
/* Signals by which people and batch systems ask a run to stop. Each signal has its own process. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resilience/loop/stop.h"

/* What a process with a gab_stop makes of one or more signals: its status for waitpid(). */
static int status_after(int number, int times, bool is_ignored)
{
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    gab_stop *stop;
    if (is_ignored) signal(number, SIG_IGN);
    if (gab_stop_create(NULL, 0, &stop) != GAB_OK) _exit(1);
    for (int i = 0; i < times; i++) raise(number);
    struct sigaction now;
    sigaction(number, NULL, &now);
    if (is_ignored) _exit(now.sa_handler == SIG_IGN ? 0 : 2);
    if (gab_stop_look(stop, 0) != GAB_STOP_SIGNAL) _exit(3);
    gab_stop_destroy(&stop);
    sigaction(number, NULL, &now);
    _exit(now.sa_handler == SIG_DFL ? 0 : 4);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void each_signal_is_a_request(void **state)
{
  (void)state;
  static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    assert_int_equal(status_after(numbers[i], 1, false), 0);
}

static void a_second_interrupt_ends_the_process(void **state)
{
  (void)state;
  const int status = status_after(SIGINT, 2, false);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  assert_int_equal(status_after(SIGTERM, 2, false), 0);
}

static void ignored_signals_stay_ignored(void **state)
{
  (void)state;
  assert_int_equal(status_after(SIGHUP, 1, true), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_signal_is_a_request),
      cmocka_unit_test(a_second_interrupt_ends_the_process),
      cmocka_unit_test(ignored_signals_stay_ignored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
