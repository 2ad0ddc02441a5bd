/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a job on this machine, found by their environment. mpirun puts every process into its own process group, and
 * when mpirun is killed its processes are orphans, so neither groups nor parents identify them. */
#include "apps/launch/launch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACE_SECONDS 30 /* for the debugger, per process: symbols of a large program take time */

/* Reads a whole file of /proc, at most 4 MiB. @return bytes with a zero behind them, to be freed; or NULL */
static char *read_proc(pid_t pid, const char *name, size_t *size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  size_t capacity = 8192, length = 0;
  char *text = malloc(capacity);
  while (text && capacity <= (4u << 20)) {
    ssize_t got = read(fd, text + length, capacity - length - 1);
    if (got <= 0) break;
    length += (size_t)got;
    if (length + 1 < capacity) continue;
    char *more = realloc(text, capacity *= 2);
    if (!more) break;
    text = more;
  }
  close(fd);
  if (text) text[length] = '\0';
  if (size) *size = length;
  return text;
}

static bool belongs(const launch_places *places, pid_t pid)
{
  char wanted[LAUNCH_PATH + 64];
  snprintf(wanted, sizeof wanted, "GABION_COMPLETION=%s", places->completion);
  size_t size = 0;
  char *environment = read_proc(pid, "environ", &size);
  bool found = false;
  for (size_t at = 0; environment && at < size && !found; at += strlen(environment + at) + 1)
    found = strcmp(environment + at, wanted) == 0;
  free(environment);
  return found;
}

int launch_each_process(const launch_places *places, void (*visit)(pid_t, void *), void *data)
{
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(proc));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    pid_t pid = (pid_t)atol(entry->d_name);
    if (pid == getpid() || !belongs(places, pid)) continue;
    visit(pid, data);
    count++;
  }
  closedir(proc);
  return count;
}

/* Found ranks, each once: a rank may be a script whose children have the same environment. */
typedef struct rank_set {
  launch_ranks count;
  long *number;
  int capacity;
} rank_set;

static void add_rank(rank_set *set, long number)
{
  for (int i = 0; i < set->count.living; i++)
    if (set->number[i] == number) return;
  if (set->count.living == set->capacity) {
    set->capacity = set->capacity ? 2 * set->capacity : 64;
    long *more = realloc(set->number, (size_t)set->capacity * sizeof *more);
    if (!more) exit(LAUNCH_NO_COMPLETION);
    set->number = more;
  }
  set->number[set->count.living++] = number;
}

/* mpirun sets the rank in the environment of each process of the program, not of its daemons. Ended processes have no
 * environment. */
static void count_rank(pid_t pid, void *data)
{
  rank_set *set = data;
  size_t size = 0;
  long number = -1;
  char *environment = read_proc(pid, "environ", &size);
  for (size_t at = 0; environment && at < size && number < 0; at += strlen(environment + at) + 1) {
    const char *word = environment + at;
    if (!strncmp(word, "PMIX_RANK=", 10) || !strncmp(word, "PMI_RANK=", 9))
      number = atol(strchr(word, '=') + 1);
  }
  free(environment);
  if (number < 0) return;
  char *status = read_proc(pid, "status", NULL);
  const char *state = status ? strstr(status, "\nState:") : NULL;
  const char letter = state ? state[7 + strspn(state + 7, " \t")] : 'X';
  free(status);
  if (letter == 'Z' || letter == 'X') return;
  add_rank(set, number);
  if (letter == 'T') set->count.stopped++;
  else set->count.going++;
}

launch_ranks launch_look_at_ranks(const launch_places *places)
{
  rank_set set = {0};
  launch_each_process(places, count_rank, &set);
  free(set.number);
  return set.count;
}

static void send_signal(pid_t pid, void *data) { kill(pid, *(int *)data); }

int launch_signal_all(const launch_places *places, int signal)
{
  return launch_each_process(places, send_signal, &signal);
}

/* Prints one line about a killed process that still exists. */
static void report(pid_t pid, void *data)
{
  (void)data;
  char *name = read_proc(pid, "comm", NULL), *wchan = read_proc(pid, "wchan", NULL);
  char *status = read_proc(pid, "status", NULL), *state = status ? strstr(status, "\nState:") : NULL;
  launch_say("process %ld (%.*s) was killed and has not ended:%.*s, waits in %s", (long)pid,
             name ? (int)strcspn(name, "\n") : 0, name ? name : "", state ? (int)strcspn(state + 7, "\n") : 0,
             state ? state + 7 : "", wchan && *wchan ? wchan : "?");
  free(name), free(wchan), free(status);
}

int launch_report_all(const launch_places *places) { return launch_each_process(places, report, NULL); }

bool launch_is_program(const char *name)
{
  if (strchr(name, '/')) return access(name, X_OK) == 0;
  const char *path = getenv("PATH");
  char *copy = strdup(path ? path : ""), *rest = copy;
  bool found = false;
  for (char *folder; copy && !found && (folder = strsep(&rest, ":"));) {
    char full[2 * LAUNCH_PATH];
    snprintf(full, sizeof full, "%s/%s", *folder ? folder : ".", name);
    found = access(full, X_OK) == 0;
  }
  free(copy);
  return found;
}

/* Runs the debugger on one process, for a limited time, with its output in `file`. */
static void debug(pid_t pid, FILE *file)
{
  char text[32];
  snprintf(text, sizeof text, "%ld", (long)pid);
  fflush(file);
  pid_t child = fork();
  if (child == 0) {
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, STDIN_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execlp("gdb", "gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex",
           "set pagination off", "-p", text, "-ex", "thread apply all backtrace", (char *)NULL);
    _exit(127);
  }
  if (child < 0) return;
  double end = launch_seconds() + TRACE_SECONDS;
  while (waitpid(child, NULL, WNOHANG) == 0) {
    if (launch_seconds() > end) {
      kill(child, SIGKILL);
      waitpid(child, NULL, 0);
      fprintf(file, "(the debugger did not come back within %d s)\n", TRACE_SECONDS);
      break;
    }
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  fseek(file, 0, SEEK_END);
}

static void describe(pid_t pid, void *data)
{
  FILE *file = data;
  size_t size = 0;
  char *command = read_proc(pid, "cmdline", &size);
  for (size_t i = 0; command && i + 1 < size; i++)
    if (!command[i]) command[i] = ' ';
  fprintf(file, "\n======== process %ld: %s\n", (long)pid, command ? command : "?");
  free(command);
  char *wchan = read_proc(pid, "wchan", NULL), *syscall = read_proc(pid, "syscall", NULL);
  fprintf(file, "kernel: waits in %s, system call %s\n", wchan && *wchan ? wchan : "?",
          syscall && *syscall ? syscall : "?\n");
  free(wchan), free(syscall);
  char *status = read_proc(pid, "status", NULL), *rest = status;
  for (char *line; status && (line = strsep(&rest, "\n"));)
    if (!strncmp(line, "State:", 6) || !strncmp(line, "VmRSS:", 6) || !strncmp(line, "Threads:", 8))
      fprintf(file, "%s\n", line);
  free(status);
  if (launch_is_program("gdb")) debug(pid, file);
}

int launch_trace_all(const launch_places *places, const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) {
    launch_say("cannot write stack traces to %s: %s", path, strerror(errno));
    return 0;
  }
  if (!launch_is_program("gdb")) fprintf(file, "no gdb on PATH: only what the kernel knows\n");
  int count = launch_each_process(places, describe, file);
  fclose(file);
  return count;
}
