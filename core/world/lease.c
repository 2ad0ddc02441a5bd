/* SPDX-License-Identifier: Apache-2.0 */
/** @file lease.c
 *  @brief Lease: ends a process that was stopped for too long. Code of the signal handler is lock-free.
 */
#include "core/world/lease.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOTES_PER_LIMIT 10
#define SHARE           0.5 /* of the time after which the others declare this process dead */

static _Atomic int64_t limit; /* nanoseconds; 0: not started */
static _Atomic int64_t noted; /* last recorded time */
static atomic_flag ending = ATOMIC_FLAG_INIT;

/* Of a clock that includes the sleep of the machine. */
static int64_t now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void gab_lease_check(void)
{
  static const char words[] =
      "gabion: this process was stopped for so long that the others continue without it: it"
      " ends\n";
  if (limit == 0 || now() - noted <= limit) return;
  if (!atomic_flag_test_and_set(&ending)) {
    const ssize_t said = write(STDERR_FILENO, words, sizeof words - 1);
    (void)said;
  }
  for (;;) kill(getpid(), SIGKILL);
}

static void on_continue(int signal)
{
  const int error = errno;
  (void)signal;
  gab_lease_check();
  errno = error;
}

static void *note_time(void *user)
{
  (void)user;
  const int64_t pause = limit / NOTES_PER_LIMIT;
  const struct timespec nap = {pause / 1000000000, (long)(pause % 1000000000)};
  for (;;) {
    nanosleep(&nap, NULL);
    gab_lease_check();
    noted = now();
  }
  return NULL;
}

static gab_status start_thread(void)
{
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all); /* signals are handled by the computing thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, NULL, note_time, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error)
    GAB_FAIL(GAB_ERR_MEMORY, "cannot start the thread that notes whether this process was away: %s",
             strerror(error));
  pthread_detach(thread); /* it ends with the process */
  return GAB_OK;
}

gab_status gab_lease_start(double seconds)
{
  if (limit != 0) return GAB_OK;
  if (!(seconds > 0 && seconds < 1e9))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%g s is not a valid waiting time for a process", seconds);
  noted = now();
  limit = (int64_t)(1e9 * SHARE * seconds);
  struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGCONT, &action, NULL);
  const gab_status status = start_thread();
  if (status != GAB_OK) limit = 0;
  return status;
}

gab_status gab_lease_start_from_environment(void)
{
  const char *told = getenv("GABION_DEAD_AFTER");
  const double seconds = told ? strtod(told, NULL) : 0;
  return seconds > 0 ? gab_lease_start(seconds) : GAB_OK;
}
