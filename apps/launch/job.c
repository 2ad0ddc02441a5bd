/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt: start mpirun, wait for events, clean up. */
#include "apps/launch/job.h"

#include "core/memory/system_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TERM_SECONDS 3.0 /* time for mpirun to end its processes orderly before they are killed */

/* In the child, between fork and exec. */
static void become_mpirun(launch_job *job, int attempt)
{
  setpgid(0, 0); /* a Ctrl-C of the terminal reaches only the launcher, which then decides */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int pinned = launch_environment(job->options, &job->places, attempt);
  const launch_words command = launch_command(job->options, &job->places, pinned);
  if (job->options->verbose) {
    fprintf(stderr, "gabion-launch:");
    for (size_t i = 0; i < command.count; i++) fprintf(stderr, " %s", command.word[i]);
    fprintf(stderr, "\n");
  }
  int null = open("/dev/null", O_RDONLY); /* a background group that reads a terminal is stopped */
  if (null >= 0) dup2(null, STDIN_FILENO);
  /* mpirun ends at the eleventh SIGPIPE, which may come from writing to a dead process. Its processes start with an
   * empty mask. */
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGPIPE);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  execv(command.word[0], command.word);
  launch_say("cannot start %s: %s", command.word[0], strerror(errno));
  _exit(127);
}

/* ---------------------------------------------------------------- if the launcher is killed */

static void nap(double seconds)
{
  nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
}

/* In a child: waits until the launcher has cleaned up or is dead. In the latter case the kernel has signalled
 * mpirun, which gets time to end its processes orderly; if mpirun was killed too, its processes are orphans and
 * would remain. */
static void become_keeper(launch_job *job, int from_launcher)
{
  char byte;
  ssize_t got;
  setsid();
  prctl(PR_SET_NAME, "gabion-keeper");
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; null >= 0 && stream < 3; stream++) dup2(null, stream);
  while ((got = read(from_launcher, &byte, 1)) < 0 && errno == EINTR) {}
  if (got > 0) _exit(0);
  for (const double end = launch_seconds() + TERM_SECONDS; launch_seconds() < end; nap(POLL_SECONDS))
    if (launch_signal_all(&job->places, 0) == 0) break;
  for (int round = 0; round < 50 && launch_signal_all(&job->places, SIGKILL) > 0; round++) nap(0.02);
  launch_places_remove(&job->places);
  _exit(0);
}

static void start_keeper(launch_job *job)
{
  int ends[2];
  job->keeper = -1;
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  job->keeper = fork();
  if (job->keeper == 0) {
    close(ends[1]);
    become_keeper(job, ends[0]);
  }
  close(ends[0]);
  job->to_keeper = ends[1];
  if (job->keeper < 0) close(ends[1]);
}

static void end_keeper(launch_job *job)
{
  if (job->keeper < 0) return;
  const ssize_t said = write(job->to_keeper, "x", 1); /* the reader may be dead */
  (void)said;
  close(job->to_keeper);
  waitpid(job->keeper, NULL, 0);
}

/* ---------------------------------------------------------------- the end */

/* Removes all processes of the job, in any state. */
static void end_job(launch_job *job, bool politely)
{
  launch_reap(job);
  if (!job->ended && politely) {
    kill(job->mpirun, SIGTERM);
    launch_wait_for_end(job, TERM_SECONDS);
  }
  if (!job->ended) kill(-job->mpirun, SIGKILL);
  /* Repeated, since a process may have been about to fork; processes that do not end are not waited for. */
  const double until = launch_seconds() + KILL_SECONDS;
  while (launch_signal_all(&job->places, SIGKILL) > 0 && launch_seconds() < until) launch_pause(job, 0.02);
  launch_wait_for_end(job, until - launch_seconds());
  if (launch_seconds() >= until) launch_report_all(&job->places);
  launch_places_remove(&job->places);
}

/* The only report of processes that the system has killed for lack of memory. */
static void suspect_memory(const launch_job *job)
{
  const gab_system_memory now = gab_system_memory_look();
  if (now.killed <= job->killed) return;
  const unsigned long long count = now.killed - job->killed;
  launch_say(
      "lack of memory is suspected: the system of this node has ended %llu process%s of the control group of this run for it"
      " since the run began; %.1f MB are free now",
      count, count == 1 ? "" : "es", 1e-6 * (double)now.available);
}

void launch_attempt(const launch_options *options, int attempt, launch_result *result)
{
  *result = (launch_result){.end = LAUNCH_INCOMPLETE, .code = LAUNCH_NO_COMPLETION};
  launch_job job = {.options = options, .killed = gab_system_memory_look().killed};
  if (!launch_places_create(options->several_nodes, &job.places)) return;
  fflush(NULL);
  start_keeper(&job);
  job.mpirun = fork();
  if (job.mpirun == 0) become_mpirun(&job, attempt);
  if (job.mpirun < 0) {
    launch_say("cannot start a process: %s", strerror(errno));
    launch_places_remove(&job.places);
    end_keeper(&job);
    return;
  }
  setpgid(job.mpirun, job.mpirun); /* in both processes, since either may be first */
  job.looked = launch_seconds();
  launch_watch(&job, attempt, result);
  end_job(&job, result->end == LAUNCH_SIGNALLED);
  if (result->code != 0 && result->end != LAUNCH_SIGNALLED) suspect_memory(&job);
  end_keeper(&job);
}
