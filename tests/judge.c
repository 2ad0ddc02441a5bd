/* SPDX-License-Identifier: Apache-2.0 */
/* Starts an MPI test and judges it by how each of its processes really ended.
 *
 *   judge PROCESSES COMMAND ...     COMMAND is mpirun, with `judge --watch PROGRAM ...' as what it starts
 *   judge --watch PROGRAM ...       runs the program and writes down its code or the signal that killed it
 *
 * A test has passed if every process either ended with 0 after it had said so itself (test_end() of
 * tests/mpi_test.h), or was killed by SIGKILL where all the others had declared just that; at least one
 * passed; and nobody that was declared lives. Neither the exit code of mpirun, which means nothing after a
 * death, nor what the survivors think of each other counts. When a process has ended in any other way the
 * rest gets a moment to end too and is then ended: nobody waits for the time limit of a test that has failed.
 *
 * The processes' words lie in a folder of the run (GABION_TEST_FOLDER): `ended.RANK' by the watcher,
 * `passed.RANK' or `failed.RANK' by the process. They work in a folder below it, so that no run finds files
 * of another one, and nothing stays of one that fails. GABION_TEST_GRACE: that moment, in seconds. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 64, GRACE = 5 /* seconds */ };

/* Starts a command that ends with this process. @param[in] folder  to work in; NULL: here */
static pid_t start(char **command, const char *folder, int last_signal)
{
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, last_signal);
  if (getppid() != parent) _exit(127);
  if (!folder || chdir(folder) == 0) execvp(command[0], command);
  fprintf(stderr, "judge: %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

/* ------------------------------------------------------------------------------------ beside each process */

static const char *rank_of_launcher(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return getenv(names[i]);
  return NULL;
}

static bool write_end(int status)
{
  char path[512];
  const char *folder = getenv("GABION_TEST_FOLDER"), *rank = rank_of_launcher();
  if (!folder || !rank) return false;
  snprintf(path, sizeof path, "%s/ended.%s", folder, rank);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  if (WIFSIGNALED(status)) fprintf(file, "signal %d\n", WTERMSIG(status));
  else fprintf(file, "code %d\n", WEXITSTATUS(status));
  return fclose(file) == 0;
}

/* Ends like the program, so that mpirun sees what it would have seen without the watcher. */
static int watch(char **command)
{
  sigset_t wait_for;
  siginfo_t info;
  sigemptyset(&wait_for);
  for (int s = 1; s < NSIG; s++)
    if (s == SIGTERM || s == SIGINT || s == SIGHUP || s == SIGCHLD) sigaddset(&wait_for, s);
  sigprocmask(SIG_BLOCK, &wait_for, NULL); /* they are for the program; what it does then is written down */
  const pid_t child = start(command, NULL, SIGKILL);
  int status = 0;
  if (child < 0) return 127;
  while (waitpid(child, &status, WNOHANG) != child) (void)sigwaitinfo(&wait_for, &info);
  const char *judge = getenv("GABION_TEST_JUDGE");
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (!write_end(status)) fprintf(stderr, "judge: no folder to write to, or no rank\n");
  if (!killed && status != 0 && judge) kill((pid_t)atol(judge), SIGUSR1);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &wait_for, NULL);
  raise(WTERMSIG(status));
  return 1;
}

/* ------------------------------------------------------------------------------------ the judge */

typedef struct rank_end {
  bool known;          /* whether anything is known of its end */
  bool passed, failed; /* what it said itself */
  bool unbroken;       /* it was to fail on purpose, and never came there */
  int code, signal;
  unsigned long long claims;
  bool doomed[MOST_RANKS]; /* by what it says */
} rank_end;

static FILE *open_word(const char *folder, const char *what, int rank)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s.%d", folder, what, rank);
  return fopen(path, "r");
}

static rank_end read_end(const char *folder, int rank)
{
  rank_end end = {.known = false};
  char word[32];
  FILE *file = open_word(folder, "ended", rank);
  if (file) {
    end.known = fscanf(file, "code %d", &end.code) == 1 || fscanf(file, "signal %d", &end.signal) == 1;
    fclose(file);
  }
  file = open_word(folder, "failed", rank);
  end.failed = file != NULL;
  if (file) fclose(file);
  file = open_word(folder, "passed", rank);
  if (!file) return end;
  end.passed = fscanf(file, "%llu", &end.claims) == 1;
  while (fscanf(file, "%31s", word) == 1) {
    const int other = atoi(word);
    if (strcmp(word, "unbroken") == 0) end.unbroken = true;
    else if (other >= 0 && other < MOST_RANKS) end.doomed[other] = true;
  }
  fclose(file);
  return end;
}

static bool was_killed(const rank_end *end) { return end->known && end->signal == SIGKILL; }

/* Says what is wrong with one rank; those that were killed come after the others, of whom it may follow. */
static int judge_rank(int rank, const rank_end *end, bool doomed)
{
  if (!end->known) printf("gabion-test: rank %d: it is not known how it ended\n", rank);
  else if (end->failed) printf("gabion-test: rank %d: a claim did not hold\n", rank);
  else if (was_killed(end) && !doomed) printf("gabion-test: rank %d: killed, and not by the test\n", rank);
  else if (end->signal && !was_killed(end))
    printf("gabion-test: rank %d: ended by signal %d (%s)\n", rank, end->signal, strsignal(end->signal));
  else if (end->code != 0) printf("gabion-test: rank %d: ended with code %d\n", rank, end->code);
  else if (!was_killed(end) && !end->passed)
    printf(
        "gabion-test: rank %d: ended with 0, but never said that it passed (test_end of tests/mpi_test.h)\n",
        rank);
  else if (!was_killed(end) && doomed) printf("gabion-test: rank %d: was to die, but lives\n", rank);
  else return 0;
  return 1;
}

/* All that passed have to say the same about who had to die. @return that rank, -1 if none passed */
static int find_witness(const rank_end *ends, int count, int *wrong)
{
  int witness = -1;
  for (int rank = 0; rank < count; rank++) {
    if (!ends[rank].passed) continue;
    if (witness < 0) witness = rank;
    if (memcmp(ends[rank].doomed, ends[witness].doomed, sizeof ends[rank].doomed) != 0) {
      printf("gabion-test: ranks %d and %d differ on who had to die\n", witness, rank);
      ++*wrong;
    }
  }
  return witness;
}

static void print_claims(const rank_end *ends, int count)
{
  printf(" (claims:");
  for (int rank = 0; rank < count; rank++)
    if (ends[rank].passed) printf(" %llu", ends[rank].claims);
    else printf(" died");
  printf(")\n");
}

static int judge(const char *folder, int count, int code)
{
  rank_end ends[MOST_RANKS];
  int wrong = 0, deaths = 0;
  for (int rank = 0; rank < count; rank++) {
    ends[rank] = read_end(folder, rank);
    deaths += was_killed(&ends[rank]);
  }
  const int witness = find_witness(ends, count, &wrong);
  for (int killed = 0; killed < 2; killed++)
    for (int rank = 0; rank < count; rank++)
      if (was_killed(&ends[rank]) == killed)
        wrong += judge_rank(rank, &ends[rank], witness >= 0 && ends[witness].doomed[rank]);
  if (witness < 0) wrong++;
  if (code != 0 && deaths == 0 && wrong == 0) wrong += printf("gabion-test: %d by mpirun\n", code) > 0;
  for (int rank = 0; rank < count; rank++)
    if (ends[rank].unbroken) printf("gabion-test: rank %d: the place to break was never reached\n", rank);
  printf("gabion-test: %s", wrong ? "FAILED\n" : "passed");
  if (!wrong) print_claims(ends, count);
  return wrong != 0;
}

/* Waits for mpirun; once a process has ended as none should, not for long. @return its code, -1: ended by us
 */
static int wait_for(pid_t launcher, const sigset_t *signals)
{
  static const int ways_out[] = {SIGTERM, SIGKILL};
  const time_t grace = getenv("GABION_TEST_GRACE") ? atol(getenv("GABION_TEST_GRACE")) : GRACE;
  int status, way = -1; /* -1: nobody has failed yet */
  while (waitpid(launcher, &status, WNOHANG) != launcher) {
    const struct timespec limit = {way < 0 ? 3600 : grace, 0};
    const int came = sigtimedwait(signals, NULL, &limit);
    if (came == SIGUSR1 && way < 0) way = 0;
    if (came == SIGTERM || came == SIGINT) {
      kill(launcher, SIGTERM);
      way = 1;
    }
    if (came >= 0 || errno != EAGAIN || way < 0) continue;
    if (way == 0) printf("gabion-test: ended, since a process has failed\n");
    fflush(stdout);
    kill(launcher, ways_out[way < 2 ? way : 1]);
    way++;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void remove_folder(const char *folder)
{
  char command[600];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  if (system(command) != 0) fprintf(stderr, "judge: %s could not be removed\n", folder);
}

/* Segments of shared memory and session folders of MPI stay where its daemon is killed: in folders that go with the test.
 * @param[out] memory  "" if there is none */
static void keep_mpi_in(const char *folder, char *memory, size_t capacity)
{
  snprintf(memory, capacity, "/dev/shm/gabion-test-XXXXXX");
  if (access("/dev/shm", W_OK) != 0 || !mkdtemp(memory)) memory[0] = '\0';
  if (memory[0]) setenv("OMPI_MCA_btl_sm_backing_directory", memory, 1);
  setenv("TMPDIR", folder, 1);
}

int main(int argc, char **argv)
{
  if (argc > 2 && strcmp(argv[1], "--watch") == 0) return watch(argv + 2);
  const int count = argc > 2 ? atoi(argv[1]) : 0;
  if (count < 1 || count > MOST_RANKS) {
    fprintf(stderr, "usage: judge PROCESSES COMMAND ... | judge --watch PROGRAM ...\n");
    return 2;
  }
  char folder[400], files[420], number[24], memory[40];
  snprintf(folder, sizeof folder, "%s/gabion-test-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  if (!mkdtemp(folder)) {
    perror(folder);
    return 2;
  }
  snprintf(number, sizeof number, "%ld", (long)getpid());
  keep_mpi_in(folder, memory, sizeof memory);
  setenv("GABION_TEST_FOLDER", folder, 1);
  setenv("GABION_TEST_JUDGE", number, 1);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  snprintf(files, sizeof files, "%s/files", folder);
  const pid_t launcher = mkdir(files, 0700) == 0 ? start(argv + 2, files, SIGTERM) : -1;
  const int code = launcher < 0 ? 127 : wait_for(launcher, &signals);
  const int verdict = judge(folder, count, code);
  remove_folder(folder);
  if (memory[0]) remove_folder(memory);
  return verdict;
}
