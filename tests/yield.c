/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into tests of several processes (tests/CMakeLists.txt): a process that yields its core again and again, as MPI does while
 * nothing comes, sleeps instead. Otherwise each process that waits, for a message, a verdict or as a spare, takes a core from the tests
 * that run at the same time. A sleep lasts a sixteenth of the time without a message so far, and 1 ms at most; short waits are as
 * without it. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int sched_yield(void)
{
  enum {
    WORK_NS = 20000 /* more than a look takes: something has come */,
    LEAST_NS = 200000,
    MOST_NS = 1000000
  };
  static _Thread_local long long since, last;
  const long long begin = now();
  if (begin - last > WORK_NS) since = begin;
  const long long waited = begin - since;
  int result = 0;
  if (waited < LEAST_NS) result = (int)syscall(SYS_sched_yield);
  else nanosleep(&(struct timespec){0, (long)(waited / 16 < MOST_NS ? waited / 16 : MOST_NS)}, NULL);
  last = now();
  return result;
}
