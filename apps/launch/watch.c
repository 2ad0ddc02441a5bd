/* SPDX-License-Identifier: Apache-2.0 */
/* State of a running attempt: completed, ended, stop requested, silent, or without its processes. */
#include "apps/launch/job.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEPS_SPARED 10  /* recommended ratio of --dead-after to the longest step */
#define LOOK_SECONDS 0.5 /* interval of the check of processes, which visits all processes of the machine */
#define LOSS_SECONDS 5.0 /* time for a run to detect a process lost during its start */
#define IDLE_SECONDS 3.0 /* time for mpirun to end after all processes of the program */
/* Time for a run with a stop request during its set-up to start computing and stop by itself. */
#define SETUP_SECONDS 5.0

/* @return true and the code if the root has written the completion marker */
static bool completed(const launch_job *job, int *code)
{
  char line[64], rest;
  if (!launch_read_line(job->places.completion, line, sizeof line)) return false;
  if (sscanf(line, "exit %d%c", code, &rest) == 1 && *code >= 0 && *code <= 255) return true;
  launch_say("the completion marker makes no sense: `%s'", line);
  *code = LAUNCH_NO_COMPLETION;
  return true;
}

static void explain_incomplete(const launch_job *job, const launch_result *result)
{
  char how[80];
  if (WIFSIGNALED(job->status))
    snprintf(how, sizeof how, "mpirun was ended by signal %d, %s", WTERMSIG(job->status),
             strsignal(WTERMSIG(job->status)));
  else snprintf(how, sizeof how, "mpirun's exit code was %d", WEXITSTATUS(job->status));
  launch_say("the run ended without completing (%s; last progress: %s)", how,
             result->last_progress[0] ? result->last_progress : "none");
}

/* Content of the files, and time of the last change. */
typedef struct watch {
  double last_change; /* clock of launch_job.watched, as all others below */
  struct timespec written;
  bool warned;       /* warned that --dead-after is short for these steps */
  bool has_computed; /* a line has begun with the number of a step */
} watch;

/* A process in a long step is silent, too. */
static void compare_with_steps(const launch_options *options, watch *watch, const char *line)
{
  static const char words[] = "longest step ";
  const char *at = strstr(line, words);
  const double longest = at ? strtod(at + sizeof words - 1, NULL) : 0;
  if (options->dead_after <= 0 || watch->warned || STEPS_SPARED * longest <= options->dead_after) return;
  watch->warned = true;
  launch_say(
      "warning: a step took %g s, and with --dead-after %g a process that does not speak for so long counts as"
      " dead, stopped or not: %g would be safe",
      longest, options->dead_after, STEPS_SPARED * longest);
}

static void look_for_progress(const launch_job *job, watch *watch, launch_result *result)
{
  struct stat status;
  if (stat(job->places.progress, &status)) return;
  if (status.st_mtim.tv_sec == watch->written.tv_sec && status.st_mtim.tv_nsec == watch->written.tv_nsec)
    return;
  char line[sizeof result->last_progress];
  if (!launch_read_line(job->places.progress, line, sizeof line)) return; /* the file is being rewritten */
  watch->written = status.st_mtim;
  if (!strcmp(line, result->last_progress)) return;
  memcpy(result->last_progress, line, sizeof line);
  if (isdigit((unsigned char)line[0])) watch->has_computed = true;
  compare_with_steps(job->options, watch, line);
  watch->last_change = job->watched;
}

/* Allowed silence of the run. A process that dies in MPI_Init leaves the others waiting forever, and the time of a
 * start depends on the machine, so it has a separate limit. */
static double patience(const launch_options *options, const launch_result *result)
{
  const bool up = result->last_progress[0] != '\0';
  return up || options->start_within <= 0 ? options->stall : options->start_within;
}

static void trace_stall(launch_job *job, int attempt, launch_result *result)
{
  snprintf(result->traces, sizeof result->traces, "%s/gabion-stall-%ld-%d.txt", job->options->trace_dir,
           (long)getpid(), attempt);
  launch_say("no progress for %g s (last: %s); taking stack traces", patience(job->options, result),
             result->last_progress[0] ? result->last_progress : "none");
  int count = launch_trace_all(&job->places, result->traces);
  if (count) launch_say("stack traces of %d processes are in %s", count, result->traces);
  else result->traces[0] = '\0';
}

/* Counts of ranks on this machine. */
typedef struct roll {
  double looked;      /* time of the last check */
  launch_ranks now;   /* its result */
  int most;           /* maximum of live ranks */
  double grown;       /* time of the last increase of the maximum */
  double fewer, none; /* time since which there are fewer, or none; 0: not so */
} roll;

/* Known number of ranks of this machine. */
static int started(const launch_job *job, const roll *roll)
{
  const launch_options *options = job->options;
  return options->several_nodes ? roll->most : options->processes + options->all_spares;
}

/* @param[in] was_there at least one rank has existed, seen or not */
static void call_roll(const launch_job *job, bool was_there, roll *roll)
{
  const double now = job->watched;
  const bool starts =
      !was_there && roll->most < started(job, roll); /* a rank that dies now might never be seen */
  if (now - roll->looked < (starts ? POLL_SECONDS : LOOK_SECONDS)) return;
  roll->looked = now;
  roll->now = launch_look_at_ranks(&job->places);
  if (roll->now.living > roll->most) {
    roll->most = roll->now.living;
    roll->grown = now;
  }
  if (roll->now.living == roll->most) roll->fewer = 0;
  else if (roll->fewer == 0) roll->fewer = now;
  if (roll->now.living > 0 || (roll->most == 0 && !was_there)) roll->none = 0;
  else if (roll->none == 0) roll->none = now;
}

/* Whether all ranks have ended but mpirun has not: after deaths it may wait in a lock forever, without noticing its
 * children (doc/ulfm.md). Other machines cannot be checked here. */
static bool is_forgotten(const launch_job *job, const roll *roll)
{
  return !job->options->several_nodes && roll->none > 0 && roll->looked - roll->none >= IDLE_SECONDS;
}

/* The run has ended with a known code; waits for MPI_Finalize and mpirun. */
static void wait_for_finalise(launch_job *job, int code, roll *roll)
{
  double grace = job->options->grace;
  char how[40] = "completed";
  if (code != 0) snprintf(how, sizeof how, "ended with exit code %d", code);
  for (double end = launch_seconds() + grace; !job->ended && launch_seconds() < end;) {
    int signal = launch_pause(job, POLL_SECONDS);
    if (job->ended) return;
    call_roll(job, true, roll);
    /* A stopped process that counts as dead never ends by itself, and mpirun waits for it. */
    const int stopped = roll->now.going > 0 ? 0 : roll->now.stopped;
    if (stopped > 0) {
      launch_say("the run %s; of its processes only %d that %s stopped by a signal %s left: ended", how,
                 stopped, stopped == 1 ? "is" : "are", stopped == 1 ? "is" : "are");
      return;
    }
    if (is_forgotten(job, roll)) {
      launch_say("the run %s and its processes have ended, but mpirun does not end: ended", how);
      return;
    }
    if (signal == 0 || signal == SIGUSR1 || signal == SIGUSR2) continue;
    launch_say("%s: the run %s, not waiting for mpirun", strsignal(signal), how);
    return;
  }
  if (!job->ended)
    launch_say("the run %s, but mpirun did not end within %g s: ended after finalise hung", how, grace);
}

/* One sender may signal twice: timeout(1) signals its child and then the process group of that child. */
#define ONE_SIGNAL_SECONDS 1.0

/* At the first stop request the launcher asks the run to save its state within a time limit; at the second request,
 * or after that time, it ends the run. Signals within a second after the first count as one. */
typedef struct stop_request {
  int signal; /* 0: no request */
  double since, until;
} stop_request;

/* @return true if the run must be ended now */
static bool told_to_stop(const launch_job *job, int signal, stop_request *request)
{
  const double within = job->options->stop_within;
  const int file = request->signal || within <= 0 ? -1 : open(job->places.stop, O_WRONLY | O_CREAT, 0666);
  const bool again = request->signal != 0;
  if (again && launch_seconds() - request->since < ONE_SIGNAL_SECONDS) return false;
  request->signal = signal;
  if (file < 0) {
    launch_say("%s%s: ending the run", strsignal(signal), again ? " again" : "");
    return true;
  }
  close(file);
  request->since = launch_seconds();
  request->until = request->since + within;
  launch_say("%s: asking the run to stop, which may take %g s (a second signal, at least %g s later, ends it"
             " now)",
             strsignal(signal), within, ONE_SIGNAL_SECONDS);
  return false;
}

/* Before it has computed a step a run has no state of its own to save, and does not look whether it is to stop; what it
 * goes on from is on disk. Not if that lies in the memory of the nodes, which ends with this launcher. Step -1 is that of
 * a run that waits for the lock of its output folder. */
static bool is_set_up_in_vain(const launch_job *job, int attempt, const watch *watch,
                              const launch_result *result, const stop_request *request)
{
  const char *progress = result->last_progress;
  const bool sets_up = !strcmp(progress, "setting up") || !strncmp(progress, "-1 ", 3);
  return launch_seconds() - request->since > SETUP_SECONDS && sets_up && !watch->has_computed &&
         (attempt == 0 || job->options->relaunches == 0);
}

/* @return true once the time of a run that was told to stop is over, and the code that it ends with */
static bool has_had_its_time(const launch_job *job, int attempt, const watch *watch,
                             const stop_request *request, launch_result *result)
{
  if (!request->signal) return false;
  result->code = 128 + request->signal;
  if (is_set_up_in_vain(job, attempt, watch, result, request)) {
    launch_say(
        "the run has not computed a step yet: ending it, nothing is lost; to be continued by the same command");
    result->code = LAUNCH_REQUEUE;
    return true;
  }
  if (launch_seconds() <= request->until) return false;
  launch_say("the run has not stopped within %g s: ending it", job->options->stop_within);
  return true;
}

/* A process that dies inside MPI_Init leaves the others there for ever. Behind it they find out, and end the run. One that
 * died at once has never been seen: on one machine it is missed when mpirun, which starts one after the other, seems to be
 * through. @return how many are missing */
static int lost_at_start(const launch_job *job, const roll *roll, const launch_result *result)
{
  if (result->last_progress[0] || roll->now.living == 0) return 0;
  const bool seen = roll->fewer > 0 && roll->looked - roll->fewer >= LOSS_SECONDS;
  return seen || roll->looked - roll->grown >= 2 * LOSS_SECONDS ? started(job, roll) - roll->now.living : 0;
}

/* While there is progress nobody has to be looked at. @return true if the run is to be ended for that */
static bool has_lost_processes(launch_job *job, const watch *watch, roll *roll, launch_result *result)
{
  if (result->last_progress[0] && job->watched - watch->last_change < LOSS_SECONDS) return false;
  call_roll(job, result->last_progress[0], roll);
  if (is_forgotten(job, roll)) {
    launch_say("all processes of the run have ended, but mpirun does not end: ended");
    kill(-job->mpirun, SIGKILL);
    launch_wait_for_end(job, KILL_SECONDS);
    return false;
  }
  const int lost = lost_at_start(job, roll, result);
  if (lost <= 0) return false;
  launch_say(
      "of %d processes that were started %d had ended before the first sign of life, and the others did not find"
      " out: ending them",
      roll->now.living + lost, lost);
  result->end = LAUNCH_NOT_UP;
  result->code = LAUNCH_AGAIN;
  return true;
}

/* mpirun has ended and no marker is there. Once the launcher was told to stop, no matter how: nobody wants it to be
 * started again. */
static void judge_incomplete(const launch_job *job, const stop_request *request, launch_result *result)
{
  const bool failed =
      !WIFEXITED(job->status) || WEXITSTATUS(job->status) != 0 || access(job->places.begun, F_OK) == 0;
  result->end = request->signal                       ? LAUNCH_SIGNALLED
                : failed && !result->last_progress[0] ? LAUNCH_NOT_UP
                                                      : LAUNCH_INCOMPLETE;
  result->code = request->signal ? 128 + request->signal : LAUNCH_NO_COMPLETION;
  explain_incomplete(job, result);
}

/* The run has been silent for its time. @return false if it spoke in the last moment */
static bool hangs(launch_job *job, int attempt, double limit, watch *watch, launch_result *result)
{
  const launch_options *options = job->options;
  const double before = watch->last_change;
  launch_places_refresh(&job->places);
  look_for_progress(job, watch, result);
  if (watch->last_change > before || completed(job, &result->code)) return false;
  if (!result->last_progress[0] &&
      attempt - options->first_attempt < options->start_retries) { /* a rescue that should not take long */
    launch_say("no sign of life within %g s of the start (--start-within): ending it", limit);
    result->end = LAUNCH_NOT_UP;
    return true;
  }
  trace_stall(job, attempt, result);
  look_for_progress(job, watch, result);
  if (watch->last_change > before || completed(job, &result->code)) {
    launch_say("meanwhile it went on: it is slow and does not hang");
    return false;
  }
  result->end = result->last_progress[0] ? LAUNCH_STALLED : LAUNCH_NOT_UP;
  result->code = LAUNCH_NO_COMPLETION;
  return true;
}

void launch_watch(launch_job *job, int attempt, launch_result *result)
{
  watch watch = {0};
  roll roll = {0};
  stop_request request = {0};
  for (;;) {
    int signal = launch_pause(job, POLL_SECONDS);
    if (!result->last_progress[0] && !job->ended) launch_close_doors(job);
    look_for_progress(job, &watch, result);
    bool ended = job->ended; /* read before the marker: the marker is written before the end */
    if (completed(job, &result->code)) {
      result->end = LAUNCH_COMPLETED;
      wait_for_finalise(job, result->code, &roll);
      return;
    }
    if (ended) {
      judge_incomplete(job, &request, result);
      return;
    }
    if (signal == SIGUSR1 || signal == SIGUSR2) kill(job->mpirun, signal); /* mpirun hands them on */
    if (signal && signal != SIGUSR1 && signal != SIGUSR2 && told_to_stop(job, signal, &request)) {
      result->end = LAUNCH_SIGNALLED;
      result->code = 128 + request.signal;
      return;
    }
    if (has_had_its_time(job, attempt, &watch, &request, result)) {
      result->end = LAUNCH_SIGNALLED;
      return;
    }
    if (request.signal) continue;
    if (has_lost_processes(job, &watch, &roll, result)) return;
    const double limit = patience(job->options, result);
    if (limit > 0 && job->watched - watch.last_change > limit && hangs(job, attempt, limit, &watch, result))
      return;
  }
}
