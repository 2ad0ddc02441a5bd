/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a sweep: processes, several at once. */
#include "apps/driver/campaign/run_command.h"
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LAUNCH_WORDS = 64, POLL_MILLISECONDS = 20 };
#define HELD_SECONDS   0.3 /* between two looks at a folder that another run writes */
#define REPORT_SECONDS 60. /* between two lines about runs that compute */

typedef struct child {
  pid_t pid; /* 0: free */
  size_t point;
  double since;
} child;

typedef struct scheduler {
  gab_app_sweep *sweep;
  child *children;
  size_t child_count, running;
  double finished_seconds, last_report; /* of runs that this process started */
  size_t finished;
  char launch_text[2048];
  const char *launch_words[MOST_LAUNCH_WORDS + 8];
  char processes[24];
  int signals_passed;
} scheduler;

/* ---------------------------------------------------------------- signals */

static volatile sig_atomic_t signals_received = 0;
static void note_signal(int number)
{
  (void)number;
  signals_received++;
}
static void wake(int number) { (void)number; /* ends a nap */ }

static const int stops[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
enum { STOP_COUNT = sizeof stops / sizeof stops[0] };

static void catch_signals(sigset_t *all)
{
  struct sigaction action = {.sa_handler = note_signal};
  sigemptyset(&action.sa_mask);
  sigemptyset(all);
  for (size_t i = 0; i < STOP_COUNT; i++) {
    sigaction(stops[i], &action, NULL);
    sigaddset(all, stops[i]);
  }
  action.sa_handler = wake;
  sigaction(SIGCHLD, &action, NULL);
}

/* Each run has a process group of its own: a key of the terminal reaches this process alone, which asks each run once. */
static void pass_signals_on(scheduler *all)
{
  const int received = signals_received;
  if (received == all->signals_passed) return;
  if (all->signals_passed == 0) gab_log(GAB_LOG_INFO, "stopping: %zu runs save their state", all->running);
  all->signals_passed = received;
  for (size_t i = 0; i < all->child_count; i++)
    if (all->children[i].pid > 0) kill(all->children[i].pid, SIGTERM);
}

/* ---------------------------------------------------------------- starting a run */

/* Options of the launcher: those of --launch and the sweep's own. */
static gab_status split_launch(scheduler *all)
{
  const gab_app_options *options = all->sweep->options;
  size_t count = 0;
  if (all->child_count > 1) all->launch_words[count++] = "--pin", all->launch_words[count++] = "never";
  if (options->launch && strlen(options->launch) >= sizeof all->launch_text)
    GAB_FAIL(GAB_ERR_INPUT, "--launch: longer than %zu bytes", sizeof all->launch_text - 1);
  snprintf(all->launch_text, sizeof all->launch_text, "%s", options->launch ? options->launch : "");
  char *rest = NULL;
  for (char *word = strtok_r(all->launch_text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    if (count == MOST_LAUNCH_WORDS)
      GAB_FAIL(GAB_ERR_INPUT, "--launch: more than %d words", MOST_LAUNCH_WORDS);
    all->launch_words[count++] = word;
  }
  snprintf(all->processes, sizeof all->processes, "%" PRId64, all->sweep->processes);
  return GAB_OK;
}

/* Messages of the starts of a point: what a run says before it has a folder is nowhere else. */
static void messages_path(const gab_app_sweep *sweep, size_t point, char path[PATH_MAX])
{
  snprintf(path, PATH_MAX, "%s/messages/%s.txt", sweep->folder, sweep->points[point].name);
}

static void messages_folder(const gab_app_sweep *sweep, char folder[PATH_MAX])
{
  snprintf(folder, PATH_MAX, "%s/messages", sweep->folder);
}

/* With all above it. What fails here shows when the file is opened. */
static void make_folder(const char *path)
{
  char part[PATH_MAX];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(part, 0777);
    *slash = '/';
  }
  (void)mkdir(part, 0777);
}

static gab_status open_messages(const gab_app_sweep *sweep, size_t point, int *file)
{
  char path[PATH_MAX], folder[PATH_MAX], why[GAB_RUN_FILE_WHY];
  messages_folder(sweep, folder);
  make_folder(folder);
  if (!gab_run_folder_is_safe(folder, why)) GAB_FAIL(GAB_ERR_INPUT, "%s", why);
  messages_path(sweep, point, path);
  *file = gab_run_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, why);
  if (*file < 0) GAB_FAIL(GAB_ERR_INPUT, "%s", why);
  return GAB_OK;
}

/* In the new process. It ends with a checkpoint if the sweep dies. */
static void become_run(char *const *words, int messages, pid_t parent, const sigset_t *all)
{
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(messages, 1);
  dup2(messages, 2);
  for (size_t i = 0; i < STOP_COUNT; i++) signal(stops[i], SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, all, NULL);
  if (getppid() != parent) _exit(75);
  execvp(words[0], words);
  dprintf(2, "error: %s cannot be started: %s\n", words[0], strerror(errno));
  _exit(127);
}

static gab_status spawn(const gab_app_run_command *command, int messages, const sigset_t *all, pid_t *pid)
{
  const pid_t parent = getpid();
  fflush(NULL);
  sigprocmask(SIG_BLOCK, all,
              NULL); /* a signal here reaches the run, not a handler that the run does not have */
  *pid = fork();
  if (*pid == 0) become_run((char *const *)(uintptr_t)command->words, messages, parent, all);
  sigprocmask(SIG_UNBLOCK, all, NULL);
  if (*pid < 0) GAB_FAIL(GAB_ERR_INPUT, "cannot start a process: %s", strerror(errno));
  return GAB_OK;
}

/* Identity of case.yaml of a point, which a fresh start writes after it has removed what was there; 0: there is none. */
static uint64_t identify_case(const gab_app_sweep *sweep, size_t index)
{
  char path[PATH_MAX];
  struct stat file;
  if (stat(gab_app_sweep_path(sweep, index, "case.yaml", path), &file) != 0) return 0;
  const int64_t facts[] = {(int64_t)file.st_ino, (int64_t)file.st_mtim.tv_sec, (int64_t)file.st_mtim.tv_nsec};
  return gab_hash64(facts, sizeof facts, 0);
}

static gab_status start(scheduler *all, size_t index, child *in, const sigset_t *signals)
{
  const gab_app_sweep *sweep = all->sweep;
  gab_app_sweep_point *point = &sweep->points[index];
  gab_app_sweep_settings settings = {.count = 0};
  gab_app_run_command command;
  char folder[PATH_MAX], walltime[48];
  int messages = -1;
  const bool is_launched = sweep->processes > 1 || sweep->options->launch;
  const uint64_t old_case = identify_case(sweep, index);
  if (point->starts == 0) point->old_case = old_case;
  snprintf(walltime, sizeof walltime, "%.0f s", fmax(1, sweep->options->walltime - gab_seconds()));
  gab_status status = gab_app_sweep_settings_make(sweep, index, &settings);
  const gab_app_run_start what = {.case_file = sweep->case_file,
                                  .out = gab_app_sweep_path(sweep, index, NULL, folder),
                                  .processes = is_launched ? all->processes : NULL,
                                  .launch_options = all->launch_words,
                                  .settings = {settings.items},
                                  .setting_count = {settings.count},
                                  .fresh = point->is_fresh && old_case == point->old_case,
                                  .quiet = true,
                                  .walltime = sweep->options->walltime > 0 ? walltime : NULL};
  if (status == GAB_OK) status = gab_app_run_command_make(&what, &command);
  if (status == GAB_OK) status = open_messages(sweep, index, &messages);
  if (status == GAB_OK) status = spawn(&command, messages, signals, &in->pid);
  if (messages >= 0) close(messages);
  gab_app_sweep_settings_release(&settings);
  GAB_TRY(status);
  in->point = index;
  in->since = gab_seconds();
  point->state = GAB_APP_SWEEP_RUNNING;
  point->starts++;
  all->running++;
  gab_log(GAB_LOG_DEBUG, "%s: started, process %ld", point->name, (long)in->pid);
  return GAB_OK;
}

/* Another sweep, or a run of a killed one that saves its state, may still write there. */
static bool may_start(const gab_app_sweep *sweep, size_t index)
{
  gab_app_sweep_point *point = &sweep->points[index];
  char folder[PATH_MAX], whose[512];
  if (point->state != GAB_APP_SWEEP_WAITING || gab_seconds() < point->next_try) return false;
  if (!gab_run_lock_is_held(gab_app_sweep_path(sweep, index, NULL, folder), whose, sizeof whose)) return true;
  if (point->next_try == 0) gab_log(GAB_LOG_INFO, "%s: waits for %s, which writes there", point->name, whose);
  point->next_try = gab_seconds() + HELD_SECONDS;
  return false;
}

static gab_status start_waiting(scheduler *all, const sigset_t *signals)
{
  size_t index = 0;
  for (size_t i = 0; i < all->child_count; i++) {
    if (all->children[i].pid > 0) continue;
    while (index < all->sweep->point_count && !may_start(all->sweep, index)) index++;
    if (index == all->sweep->point_count) return GAB_OK;
    GAB_TRY(start(all, index, &all->children[i], signals));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- progress */

static size_t count(const gab_app_sweep *sweep, gab_app_sweep_state state)
{
  size_t found = 0;
  for (size_t i = 0; i < sweep->point_count; i++) found += sweep->points[i].state == state;
  return found;
}

/* Seconds that a run needs from now on, by its own estimate; negative if unknown. */
static double seconds_left(const gab_app_sweep *sweep, const child *of)
{
  char path[PATH_MAX];
  gab_json_document *progress =
      gab_json_read_file(gab_app_sweep_path(sweep, of->point, "progress.json", path));
  const double left = progress ? gab_json_get_real(progress, "/seconds_left") : -1;
  gab_json_forget(&progress);
  return left;
}

/* Appends ", about 4 min left", or nothing. Estimated from completed runs and from the progress of running ones. */
static void estimate(const scheduler *all, char text[64])
{
  double running = 0, whole = all->finished > 0 ? all->finished_seconds / (double)all->finished : -1;
  for (size_t i = 0; i < all->child_count; i++) {
    if (all->children[i].pid == 0) continue;
    const double passed = gab_seconds() - all->children[i].since,
                 left = seconds_left(all->sweep, &all->children[i]);
    if (whole < 0 && left >= 0) whole = passed + left;
    running += left >= 0 ? left : fmax(0, whole - passed);
  }
  text[0] = '\0';
  if (whole < 0) return;
  const double seconds =
      (running + whole * (double)count(all->sweep, GAB_APP_SWEEP_WAITING)) / (double)all->child_count;
  if (seconds < 100) snprintf(text, 64, ", about %.0f s left", seconds);
  else if (seconds < 6000) snprintf(text, 64, ", about %.0f min left", seconds / 60);
  else snprintf(text, 64, ", about %.1f h left", seconds / 3600);
}

static void report(scheduler *all, const char *what)
{
  const gab_app_sweep *sweep = all->sweep;
  char left[64];
  estimate(all, left);
  all->last_report = gab_seconds();
  gab_log(GAB_LOG_INFO, "[%zu/%zu] %s; %zu running, %zu waiting%s", count(sweep, GAB_APP_SWEEP_DONE),
          sweep->point_count, what, all->running, count(sweep, GAB_APP_SWEEP_WAITING), left);
}

/* ---------------------------------------------------------------- the end of a run */

/* The last line of the messages, without "error: ", and with the lines that belong to it: parameters that differ, a remedy. */
static void keep_message(const gab_app_sweep *sweep, size_t index)
{
  gab_app_sweep_point *point = &sweep->points[index];
  char path[PATH_MAX], line[1024], last[1024] = "";
  messages_path(sweep, index, path);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    const bool is_error = strncmp(line, "error: ", 7) == 0;
    const bool is_continued =
        strncmp(last, "error: ", 7) == 0 && (strncmp(line, "  ", 2) == 0 || strncmp(line, "--", 2) == 0);
    const size_t used = strlen(last);
    if (is_continued)
      snprintf(last + used, sizeof last - used, "%s%s", line[0] == '-' ? "; " : " ",
               line + strspn(line, " "));
    else if (is_error || (line[0] && strncmp(last, "error: ", 7) != 0))
      snprintf(last, sizeof last, "%s", line);
  }
  if (file) fclose(file);
  free(point->message);
  point->message = strdup(strncmp(last, "error: ", 7) == 0 ? last + 7 : last);
}

/* Of a run that is done: its warnings are in its log. */
static void remove_messages(const gab_app_sweep *sweep, size_t index)
{
  char path[PATH_MAX];
  messages_path(sweep, index, path);
  (void)unlink(path);
}

/* Whether another start may end otherwise: the run was killed, lost processes, or could not write. */
static bool is_worth_a_try(int code)
{
  return code != 0 && code != gab_status_exit_code(GAB_ERR_INPUT) &&
         code != gab_status_exit_code(GAB_ERR_DIVERGED) && code != gab_status_exit_code(GAB_ERR_REQUEUE);
}

static void judge(scheduler *all, const child *ended, int status)
{
  gab_app_sweep_point *point = &all->sweep->points[ended->point];
  char what[GAB_APP_SWEEP_NAME + 128], how[64];
  const double seconds = gab_seconds() - ended->since;
  point->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
  else snprintf(how, sizeof how, "ended with exit code %d", point->code);
  const bool is_saved = point->code == gab_status_exit_code(GAB_ERR_REQUEUE);
  const bool is_stopped = is_saved || (is_worth_a_try(point->code) && all->signals_passed > 0);
  if (point->code == 0) {
    point->state = GAB_APP_SWEEP_DONE;
    all->finished++;
    all->finished_seconds += seconds;
    snprintf(what, sizeof what, "%s: done in %.3g s", point->name, seconds);
    remove_messages(all->sweep, ended->point);
  } else if (is_stopped) {
    point->state = GAB_APP_SWEEP_STOPPED;
    if (is_saved) snprintf(what, sizeof what, "%s: stopped with a checkpoint", point->name);
    else snprintf(what, sizeof what, "%s %s after the signal to stop", point->name, how);
  } else {
    const bool again = is_worth_a_try(point->code) && point->starts < all->sweep->tries;
    point->state = again ? GAB_APP_SWEEP_WAITING : GAB_APP_SWEEP_FAILED;
    keep_message(all->sweep, ended->point);
    snprintf(what, sizeof what, "%s %s%s", point->name, how, again ? " and starts again" : "");
  }
  report(all, what);
}

static gab_status reap(scheduler *all, gab_status (*done)(gab_app_sweep *sweep, size_t point))
{
  for (size_t i = 0; i < all->child_count; i++) {
    const child ended = all->children[i];
    int status;
    if (ended.pid == 0) continue;
    const pid_t found = waitpid(ended.pid, &status, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) continue;
    if (found < 0) status = 1 << 8;
    all->children[i].pid = 0;
    all->running--;
    judge(all, &ended, status);
    if (all->sweep->points[ended.point].state == GAB_APP_SWEEP_DONE) GAB_TRY(done(all->sweep, ended.point));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- all runs */

static gab_status run_all(scheduler *all, gab_status (*done)(gab_app_sweep *sweep, size_t point))
{
  gab_status status = GAB_OK;
  sigset_t signals;
  catch_signals(&signals);
  all->last_report = gab_seconds();
  for (;;) {
    pass_signals_on(all);
    const double limit = all->sweep->options->walltime;
    const bool is_stopping =
        all->signals_passed > 0 || status != GAB_OK || (limit > 0 && gab_seconds() > limit);
    if (!is_stopping) status = start_waiting(all, &signals);
    if (all->running == 0 && (is_stopping || count(all->sweep, GAB_APP_SWEEP_WAITING) == 0)) return status;
    const gab_status found = reap(all, done);
    if (status == GAB_OK) status = found;
    if (gab_seconds() - all->last_report > REPORT_SECONDS && all->running > 0) report(all, "computing");
    nanosleep(&(struct timespec){.tv_nsec = POLL_MILLISECONDS * 1000000L}, NULL);
  }
}

gab_status gab_app_sweep_run(gab_app_sweep *sweep, gab_status (*ended)(gab_app_sweep *sweep, size_t point))
{
  scheduler all = {.sweep = sweep};
  char text[24], folder[PATH_MAX];
  const size_t waiting = count(sweep, GAB_APP_SWEEP_WAITING);
  if (waiting == 0) return GAB_OK;
  all.child_count = (size_t)sweep->at_once < waiting ? (size_t)sweep->at_once : waiting;
  snprintf(text, sizeof text, "%" PRId64, sweep->threads);
  setenv("OMP_NUM_THREADS", text, 1);
  GAB_TRY(split_launch(&all));
  GAB_TRY(GAB_NEW_ARRAY(&all.children, all.child_count, GAB_MEMORY_OTHER));
  const gab_status status = run_all(&all, ended);
  for (size_t i = 0; i < sweep->point_count; i++)
    if (sweep->points[i].state == GAB_APP_SWEEP_WAITING) sweep->points[i].state = GAB_APP_SWEEP_STOPPED;
  gab_free(&all.children);
  messages_folder(sweep, folder);
  if (!sweep->options->point) (void)rmdir(folder); /* if nothing is in it; other tasks of an array use it */
  return status;
}
