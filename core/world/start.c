/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/start_impl.h"

#include "core/base/log.h"
#include "core/system/environment.h"
#include "core/system/listeners.h"
#include "core/system/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAPACITY = 1024 };

#define TRANSPORTS "OMPI_MCA_btl"

/* Lets the launcher identify a job that ends without output. On one process of each node. */
static void tell_that_it_begins(void)
{
  const char *path = getenv("GABION_BEGUN"), *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  if (!path || (local && strcmp(local, "0") != 0)) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

/* ------------------------------------------------------------------------------------ without mpirun */

/* Whether this process was started without mpirun or another process manager. */
static bool is_single(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD",
                                      "PMIX_SERVER_URI"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return false;
  return true;
}

/* Environment that a single process changes during the start of MPI. */
typedef struct single_start {
  bool is_single, has_transports, had_folder;
  char before[PATH_CAPACITY], folder[PATH_CAPACITY]; /* TMPDIR */
} single_start;

/* A single process needs no connections, and no daemon would remove shared memory. MPI also creates a folder below
 * TMPDIR that it does not remove and needs only during the start. */
static void begin_single(single_start *start)
{
  *start = (single_start){.is_single = is_single()};
  if (!start->is_single) return;
  if (!getenv(TRANSPORTS)) start->has_transports = setenv(TRANSPORTS, "self", 0) == 0;
  const char *parent = getenv("TMPDIR");
  start->had_folder = parent != NULL;
  if (parent && strlen(parent) >= sizeof start->before - 32) return;
  if (parent) strcpy(start->before, parent);
  snprintf(start->folder, sizeof start->folder, "%s/gabion-start.XXXXXX",
           parent && *parent ? parent : "/tmp");
  if (mkdtemp(start->folder)) setenv("TMPDIR", start->folder, 1);
  else start->folder[0] = '\0';
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk)
{
  (void)about, (void)type, (void)walk;
  (void)remove(path);
  return 0;
}

static void end_single(const single_start *start)
{
  if (start->has_transports) unsetenv(TRANSPORTS);
  if (!start->folder[0]) return;
  (void)nftw(start->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  if (start->had_folder) setenv("TMPDIR", start->before, 1);
  else unsetenv("TMPDIR");
}

/* ------------------------------------------------------------------------------------ who may connect */

/* Respawned processes (MPI_Comm_spawn) count only themselves, so they use the value of the launcher. */
static bool stays_on_machine(bool is_spawned)
{
  const char *told = getenv("GABION_LOOPBACK");
  const char *size = getenv("OMPI_COMM_WORLD_SIZE"), *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (told && *told) return strcmp(told, "0") != 0;
  return !is_spawned && size && local && strcmp(size, local) == 0;
}

static void restrict_listeners(const gab_listeners *before, bool is_spawned)
{
  if (!stays_on_machine(is_spawned)) return;
  const int open = gab_listeners_restrict_new(before);
  if (open > 0)
    gab_log(GAB_LOG_DEBUG, "%d sockets of MPI can be reached from other machines: %s", open, strerror(errno));
}

/* ------------------------------------------------------------------------------------ the start */

/* SIGPIPE is ignored, since writing to the socket of a dead process must not kill the writer. */
static gab_status initialise(int *argc, char ***argv, bool is_spawned, int *level)
{
  single_start single;
  gab_listeners before;
  signal(SIGPIPE, SIG_IGN);
  gab_environment_complete();
  tell_that_it_begins();
  gab_listeners_find(&before);
  begin_single(&single);
  const int code = MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, level);
  end_single(&single);
  if (code != MPI_SUCCESS) GAB_FAIL(GAB_ERR_MPI, "MPI could not be initialised");
  restrict_listeners(&before, is_spawned);
  return GAB_OK;
}

gab_status gab_mpi_start(int *argc, char ***argv, bool is_spawned, int *level, bool *started)
{
  int initialised = 0;
  MPI_Initialized(&initialised);
  *started = !initialised;
  if (!initialised) return initialise(argc, argv, is_spawned, level);
  MPI_Query_thread(level);
  return GAB_OK;
}

void gab_mpi_clean_up(void)
{
  const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  if (!local || strcmp(local, "0") == 0) (void)gab_leftovers_sweep(NULL, NULL);
}
