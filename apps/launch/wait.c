/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for signals, children and time. Signals are blocked and waited for, so there are no handlers and no races with the
 * loop of an attempt. */
#include "apps/launch/job.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define MOST_SECONDS 1.0 /* signals that are counted between two waits */

static const int waited_for[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static sigset_t signals(void)
{
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof waited_for / sizeof *waited_for; i++) sigaddset(&set, waited_for[i]);
  return set;
}

void launch_block_signals(void)
{
  sigset_t set = signals();
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  /* Processes of a dead mpirun become children of the launcher instead of init, so they can be ended. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

double launch_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void launch_reap(launch_job *job)
{
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == job->mpirun) {
      job->ended = true;
      job->status = status;
    }
}

int launch_pause(launch_job *job, double seconds)
{
  sigset_t set = signals();
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  int signal = sigtimedwait(&set, NULL, &time);
  launch_reap(job);
  const double now = launch_seconds(), passed = now - job->looked;
  job->watched += passed < MOST_SECONDS ? passed : MOST_SECONDS;
  job->looked = now;
  return signal < 0 || signal == SIGCHLD ? 0 : signal;
}

bool launch_wait_for_end(launch_job *job, double seconds)
{
  for (double end = launch_seconds() + seconds; !job->ended && launch_seconds() < end;)
    launch_pause(job, POLL_SECONDS);
  return job->ended;
}
