/* One attempt: start mpirun, wait for what happens, clean up. Signals are blocked and waited for, so there
 * are no handlers and no races between them and the loop. */
#include "apps/launch/launch.h"

#include "core/system_memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_SECONDS 0.1 /* how often files are looked at; the end of mpirun wakes the loop at once */
#define HEARTBEATS   5   /* in the time after which a process counts as dead */
#define STEPS_SPARED 10  /* the longest step should fit so often into that time */
#define TERM_SECONDS 3.0 /* for mpirun to end its processes in order before they are killed */
#define SETUP_SECONDS                                                                                        \
  5.0 /* for a run that is told to stop while it is set up to begin to compute, and stop by itself */

typedef struct job {
  const launch_options *options;
  launch_places places;
  pid_t mpirun;
  bool ended;
  int status;   /* of mpirun, as waitpid gives it, once `ended` */
  int pinned;   /* cores that each process is bound to; 0: not bound */
  pid_t keeper; /* cleans up if the launcher is killed; -1: none */
  int to_keeper;
  uint64_t killed; /* processes that the system had ended for lack of memory when the attempt began */
} job;

extern char **environ;

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
  /* Processes whose mpirun dies become children of the launcher, not of init: they cannot get away. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

double launch_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---------------------------------------------------------------- the command line of mpirun */

typedef struct words {
  char **word;
  size_t count, capacity;
} words;

static void add(words *list, const char *word)
{
  if (list->count + 1 >= list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 32;
    char **more = realloc(list->word, list->capacity * sizeof *more);
    if (!more) exit(LAUNCH_NO_COMPLETION);
    list->word = more;
  }
  list->word[list->count++] = strdup(word);
  list->word[list->count] = NULL;
}

static void add_all(words *list, const char *text)
{
  char *copy = strdup(text), *rest = copy;
  for (char *word; copy && (word = strsep(&rest, " "));)
    if (*word) add(list, word);
  free(copy);
}

#ifdef GAB_HAVE_ULFM
/* A process that is stopped keeps its connections: only that it does not speak tells. Heartbeats are sent while others
 * are waited for; a thread for them makes MPI hang. Without the trace that MPI prints when it ends a process that was
 * declared dead wrongly. */
static void add_detector(words *list, const launch_options *options)
{
  char text[256];
  if (options->dead_after <= 0) return;
  snprintf(text, sizeof text,
           "--mca mpi_ft_detector 1 --mca mpi_ft_detector_period %g --mca mpi_ft_detector_timeout %g"
           " --mca opal_signal 7,8,11",
           options->dead_after / HEARTBEATS, options->dead_after);
  add_all(list, text);
}
#endif

/* Every flag here was found necessary by hundreds of real kills: without async_mpi_finalize MPI_Finalize
 * hangs after a death, han is no fault-tolerant collective component, and with several daemons the first
 * contact with a dead rank hangs unless all are added at the start. The TCP limits keep rendezvous
 * transfers, which a revocation may abort fatally, out of the way. Without the last two the death of a process
 * that was spawned ends the job. */
static words mpirun_command(const job *job)
{
  const launch_options *options = job->options;
  words list = {0};
  char text[LAUNCH_PATH];
  add(&list, options->mpirun);
#ifdef GAB_HAVE_ULFM
  add_all(&list, "--with-ft ulfm --mca coll ^han --mca async_mpi_finalize 1 --mca mpi_add_procs_cutoff 1024");
  add_all(&list, "--prtemca state_base_recoverable 1 --prtemca state_base_notify_errors 1");
  add_detector(&list, options);
#endif
#ifdef GAB_OPEN_MPI
  /* One machine is usually shared, with other runs or a desktop: a process that waits gives its core away,
   * else a run next to another one crawls. */
  if (!options->several_nodes) add_all(&list, "--oversubscribe --mca mpi_yield_when_idle 1");
  if (job->pinned > 0) {
    snprintf(text, sizeof text, "--map-by slot:PE=%d --bind-to core", job->pinned);
    add_all(&list, text);
  } else if (!options->mpi_args || !strstr(options->mpi_args, "--bind-to")) {
    add_all(&list, "--bind-to none");
  }
  if (options->tcp)
    add_all(&list, "--mca btl tcp,self --mca btl_tcp_eager_limit 1048576"
                   " --mca btl_tcp_rndv_eager_limit 1048576 --mca btl_tcp_max_send_size 1048576");
  if (job->places.shm[0]) {
    snprintf(text, sizeof text, "--mca btl_sm_backing_directory %.900s", job->places.shm);
    add_all(&list, text);
  }
  if (options->several_nodes) /* local processes inherit the environment, remote ones do not */
    for (char **variable = environ; *variable; variable++) {
      size_t length = strcspn(*variable, "=");
      if (length >= sizeof text || (strncmp(*variable, "GABION_", 7) && strncmp(*variable, "OMP_", 4)))
        continue;
      snprintf(text, sizeof text, "%.*s", (int)length, *variable);
      add(&list, "-x");
      add(&list, text);
    }
#endif
  if (options->hosts) {
    add(&list, "--host");
    add(&list, options->hosts);
  }
  if (options->agent) {
    add_all(&list, "--prtemca plm_ssh_agent");
    add(&list, options->agent);
  }
  snprintf(text, sizeof text, "-n %d", options->processes + options->all_spares);
  add_all(&list, text);
  if (options->mpi_args) add_all(&list, options->mpi_args);
  for (char **word = options->program; *word; word++) add(&list, *word);
  return list;
}

/* Threads of all processes together must not exceed the cores: the default of OpenMP, all cores for each
 * process, makes them wait for each other a hundred times longer than they compute. */
static void set_threads(job *job)
{
  const launch_options *options = job->options;
  cpu_set_t mine;
  const int cores = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
  const char *told = getenv("OMP_NUM_THREADS");
  const int fair = cores / options->processes > 1 ? cores / options->processes : 1;
  const int threads = options->threads > 0 ? options->threads : told ? atoi(told) : fair;
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  if (options->threads > 0 || (!told && !options->several_nodes)) setenv("OMP_NUM_THREADS", text, 1);
  if (!options->several_nodes && (long)threads * options->processes > cores)
    setenv("OMP_WAIT_POLICY", "passive", 0);
  const char *why_not = launch_why_not_pinned(options, threads);
  job->pinned = why_not ? 0 : threads;
  setenv("GABION_PINNED", why_not ? "0" : "1", 1);
  if (!why_not) {
    setenv("OMP_PLACES", "cores", 0);
    setenv("OMP_PROC_BIND", "close", 0);
  }
  if (!options->verbose) return;
  if (why_not) launch_say("processes are not bound to cores: %s", why_not);
  else launch_say("each process is bound to %d core%s", threads, threads == 1 ? "" : "s");
}

static void set_environment(job *job, int attempt)
{
  set_threads(job);
  char text[16];
  snprintf(text, sizeof text, "%d", attempt);
  setenv("GABION_COMPLETION", job->places.completion, 1);
  setenv("GABION_PROGRESS", job->places.progress, 1);
  setenv("GABION_STOP", job->places.stop, 1);
  setenv("GABION_RESPAWN", "1", 1);
  setenv("GABION_ATTEMPT", text, 1);
  snprintf(text, sizeof text, "%d%s", job->options->spares, job->options->spares_per_node ? "/node" : "");
  if (job->options->spares > 0) setenv("GABION_SPARES", text, 1);
  else unsetenv("GABION_SPARES");
  snprintf(text, sizeof text, "%g", job->options->dead_after);
  if (job->options->dead_after > 0) setenv("GABION_DEAD_AFTER", text, 1);
  else unsetenv("GABION_DEAD_AFTER");
  setenv("GABION_TERMINAL", isatty(STDOUT_FILENO) ? "1" : "0", 1);
  if (!job->options->several_nodes) setenv("TMPDIR", job->places.dir, 1);
  if (geteuid() == 0) { /* mpirun refuses root unless told twice; containers run as root */
    static const char *const permissions[] = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                              "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"};
    for (size_t i = 0; i < sizeof permissions / sizeof *permissions; i++) setenv(permissions[i], "1", 1);
  }
}

/* In the child, between fork and exec. */
static void become_mpirun(job *job, int attempt)
{
  setpgid(0, 0); /* a Ctrl-C of the terminal reaches the launcher alone, which then decides */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  set_environment(job, attempt);
  words command = mpirun_command(job);
  if (job->options->verbose) {
    fprintf(stderr, "gabion-launch:");
    for (size_t i = 0; i < command.count; i++) fprintf(stderr, " %s", command.word[i]);
    fprintf(stderr, "\n");
  }
  int null = open("/dev/null", O_RDONLY); /* a background group that reads a terminal is stopped */
  if (null >= 0) dup2(null, STDIN_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execv(command.word[0], command.word);
  launch_say("cannot start %s: %s", command.word[0], strerror(errno));
  _exit(127);
}

/* ---------------------------------------------------------------- if the launcher is killed */

static void nap(double seconds)
{
  nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
}

/* In a child: waits until the launcher says that it has cleaned up, or is no more. Then mpirun has been told by the
 * kernel and gets a moment to end its processes in order; if it was killed too, they are orphans and stay otherwise. */
static void become_keeper(job *job, int from_launcher)
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

static void start_keeper(job *job)
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

static void end_keeper(job *job)
{
  if (job->keeper < 0) return;
  const ssize_t said = write(job->to_keeper, "x", 1); /* nobody may be there to read it */
  (void)said;
  close(job->to_keeper);
  waitpid(job->keeper, NULL, 0);
}

/* ---------------------------------------------------------------- watching */

/* Takes note of ended children; orphans of the job may be among them. */
static void reap(job *job)
{
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == job->mpirun) {
      job->ended = true;
      job->status = status;
    }
}

/* Waits for a signal or a short time. @return the signal, 0 for none */
static int pause_for(job *job, double seconds)
{
  sigset_t set = signals();
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  int signal = sigtimedwait(&set, NULL, &time);
  reap(job);
  return signal < 0 || signal == SIGCHLD ? 0 : signal;
}

/* Waits until mpirun has ended. @return false if it has not within `seconds` */
static bool wait_for_end(job *job, double seconds)
{
  for (double end = launch_seconds() + seconds; !job->ended && launch_seconds() < end;)
    pause_for(job, POLL_SECONDS);
  return job->ended;
}

/* Nothing of the job is left afterwards, whatever state it was in. */
static void end_job(job *job, bool politely)
{
  reap(job);
  if (!job->ended && politely) {
    kill(job->mpirun, SIGTERM);
    wait_for_end(job, TERM_SECONDS);
  }
  if (!job->ended) kill(-job->mpirun, SIGKILL);
  /* Several rounds, because a process may have been about to fork. */
  for (int round = 0; round < 50 && launch_signal_all(&job->places, SIGKILL) > 0; round++)
    pause_for(job, 0.02);
  wait_for_end(job, TERM_SECONDS);
  launch_places_remove(&job->places);
}

/* @return true and the code if the root has said its last word */
static bool completed(const job *job, int *code)
{
  char line[64], rest;
  if (!launch_read_line(job->places.completion, line, sizeof line)) return false;
  if (sscanf(line, "exit %d%c", code, &rest) == 1 && *code >= 0 && *code <= 255) return true;
  launch_say("the completion marker makes no sense: `%s'", line);
  *code = LAUNCH_NO_COMPLETION;
  return true;
}

static void explain_incomplete(const job *job, const launch_result *result)
{
  char how[80];
  if (WIFSIGNALED(job->status))
    snprintf(how, sizeof how, "mpirun was ended by signal %d, %s", WTERMSIG(job->status),
             strsignal(WTERMSIG(job->status)));
  else snprintf(how, sizeof how, "mpirun's exit code was %d", WEXITSTATUS(job->status));
  launch_say("the run ended without completing (%s; last progress: %s)", how,
             result->last_progress[0] ? result->last_progress : "none");
}

/* What the files say, and since when they say the same. */
typedef struct watch {
  double last_change;
  struct timespec written;
  bool warned;       /* that --dead-after is short for such steps */
  bool has_computed; /* a line has begun with the number of a step */
} watch;

/* A process in a long step does not speak either. */
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

static void look_for_progress(const job *job, watch *watch, launch_result *result)
{
  struct stat status;
  if (stat(job->places.progress, &status)) return;
  if (status.st_mtim.tv_sec == watch->written.tv_sec && status.st_mtim.tv_nsec == watch->written.tv_nsec)
    return;
  char line[sizeof result->last_progress];
  if (!launch_read_line(job->places.progress, line, sizeof line)) return; /* caught while being rewritten */
  watch->written = status.st_mtim;
  if (!strcmp(line, result->last_progress)) return;
  memcpy(result->last_progress, line, sizeof line);
  if (isdigit((unsigned char)line[0])) watch->has_computed = true;
  compare_with_steps(job->options, watch, line);
  watch->last_change = launch_seconds();
}

/* How long the run may be silent: a process that dies inside MPI_Init leaves the others there for ever. */
static double patience(const launch_options *options, const launch_result *result)
{
  const bool up = result->last_progress[0] != '\0';
  if (up || options->start_within <= 0) return options->stall;
  return options->stall > 0 && options->stall < options->start_within ? options->stall
                                                                      : options->start_within;
}

static void trace_stall(job *job, int attempt, launch_result *result)
{
  snprintf(result->traces, sizeof result->traces, "%s/gabion-stall-%ld-%d.txt", job->options->trace_dir,
           (long)getpid(), attempt);
  launch_say("no progress for %g s (last: %s); taking stack traces", patience(job->options, result),
             result->last_progress[0] ? result->last_progress : "none");
  int count = launch_trace_all(&job->places, result->traces);
  if (count) launch_say("stack traces of %d processes are in %s", count, result->traces);
  else result->traces[0] = '\0';
}

/* The run is over and its code known; only MPI_Finalize and mpirun are not through yet. */
static void wait_for_finalise(job *job)
{
  double grace = job->options->grace;
  for (double end = launch_seconds() + grace; !job->ended && launch_seconds() < end;) {
    int signal = pause_for(job, POLL_SECONDS);
    /* Who was stopped and counts as dead never ends by itself, and mpirun waits for it. */
    const int stopped = job->ended ? 0 : launch_only_stopped(&job->places);
    if (stopped > 0) {
      launch_say("the run completed; of its processes only %d that %s stopped by a signal %s left: ended",
                 stopped, stopped == 1 ? "is" : "are", stopped == 1 ? "is" : "are");
      return;
    }
    if (signal == 0 || signal == SIGUSR1 || signal == SIGUSR2) continue;
    launch_say("%s: the run has completed, not waiting for mpirun", strsignal(signal));
    return;
  }
  if (!job->ended)
    launch_say("the run completed, but mpirun did not end within %g s: ended after finalise hung", grace);
}

/* The first time it is told to stop, the launcher asks the run to save its state and gives it time for that; the
 * second time, or when that time is over, it ends the run. */
typedef struct stop_request {
  int signal; /* 0: not told */
  double since, until;
} stop_request;

/* @return true if the run has to be ended now */
static bool told_to_stop(const job *job, int signal, stop_request *request)
{
  const double within = job->options->stop_within;
  const int file = request->signal || within <= 0 ? -1 : open(job->places.stop, O_WRONLY | O_CREAT, 0666);
  const bool again = request->signal != 0;
  request->signal = signal;
  if (file < 0) {
    launch_say("%s%s: ending the run", strsignal(signal), again ? " again" : "");
    return true;
  }
  close(file);
  request->since = launch_seconds();
  request->until = request->since + within;
  launch_say("%s: asking the run to stop, which may take %g s (once more to end it now)", strsignal(signal),
             within);
  return false;
}

/* Before it has computed a step a run has no state of its own to save, and does not look whether it is to stop; what it
 * goes on from is on disk. Not if that lies in the memory of the nodes, which ends with this launcher. Step -1 is that of
 * a run that waits for the lock of its output folder. */
static bool is_set_up_in_vain(const job *job, int attempt, const watch *watch, const launch_result *result,
                              const stop_request *request)
{
  const char *progress = result->last_progress;
  const bool sets_up = !strcmp(progress, "setting up") || !strncmp(progress, "-1 ", 3);
  return launch_seconds() - request->since > SETUP_SECONDS && sets_up && !watch->has_computed &&
         (attempt == 0 || job->options->relaunches == 0);
}

/* @return true once the time of a run that was told to stop is over, and the code that it ends with */
static bool has_had_its_time(const job *job, int attempt, const watch *watch, const stop_request *request,
                             launch_result *result)
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

/* The loop of an attempt, from start to verdict; mpirun may still be there afterwards. */
static void watch_job(job *job, int attempt, launch_result *result)
{
  const launch_options *options = job->options;
  watch watch = {.last_change = launch_seconds()};
  stop_request request = {0};
  for (;;) {
    int signal = pause_for(job, POLL_SECONDS);
    look_for_progress(job, &watch, result);
    bool ended = job->ended; /* read before the marker: the marker is written before the end */
    if (completed(job, &result->code)) {
      result->end = LAUNCH_COMPLETED;
      wait_for_finalise(job);
      return;
    }
    if (ended) { /* once it was told to stop, no matter how: nobody wants it to be started again */
      const bool failed = !WIFEXITED(job->status) || WEXITSTATUS(job->status) != 0;
      result->end = request.signal                        ? LAUNCH_SIGNALLED
                    : failed && !result->last_progress[0] ? LAUNCH_NOT_UP
                                                          : LAUNCH_INCOMPLETE;
      result->code = request.signal ? 128 + request.signal : LAUNCH_NO_COMPLETION;
      explain_incomplete(job, result);
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
    const double limit = patience(options, result);
    if (limit > 0 && !request.signal && launch_seconds() - watch.last_change > limit) {
      const double before = watch.last_change;
      launch_places_refresh(&job->places);
      look_for_progress(job, &watch, result);
      if (watch.last_change > before || completed(job, &result->code)) continue;
      if (!result->last_progress[0] && attempt - options->first_attempt <
                                           options->start_retries) { /* a rescue that should not take long */
        launch_say("no sign of life within %g s of the start (--start-within): ending it", limit);
        result->end = LAUNCH_NOT_UP;
        return;
      }
      trace_stall(job, attempt, result);
      look_for_progress(job, &watch, result);
      if (watch.last_change > before || completed(job, &result->code)) {
        launch_say("meanwhile it went on: it is slow and does not hang");
        continue;
      }
      result->end = result->last_progress[0] ? LAUNCH_STALLED : LAUNCH_NOT_UP;
      result->code = LAUNCH_NO_COMPLETION;
      return;
    }
  }
}

/* Nobody else says so when the system ends a process for lack of memory. */
static void suspect_memory(const job *job)
{
  const gab_system_memory now = gab_system_memory_look();
  if (now.killed <= job->killed) return;
  const unsigned long long count = now.killed - job->killed;
  launch_say(
      "lack of memory is suspected: the system of this node has ended %llu process%s for it since the run began;"
      " %.1f MB are free now",
      count, count == 1 ? "" : "es", 1e-6 * (double)now.available);
}

void launch_attempt(const launch_options *options, int attempt, launch_result *result)
{
  *result = (launch_result){.end = LAUNCH_INCOMPLETE, .code = LAUNCH_NO_COMPLETION};
  job job = {.options = options, .killed = gab_system_memory_look().killed};
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
  setpgid(job.mpirun, job.mpirun); /* in both processes: whoever comes first */
  watch_job(&job, attempt, result);
  end_job(&job, result->end == LAUNCH_SIGNALLED);
  if (result->code != 0 && result->end != LAUNCH_SIGNALLED) suspect_memory(&job);
  end_keeper(&job);
}
