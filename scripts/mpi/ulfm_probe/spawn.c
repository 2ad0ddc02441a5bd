/* SPDX-License-Identifier: Apache-2.0 */
/* Original and respawned processes die, one or two at a time, and are respawned, repeatedly: shrink, MPI_Comm_spawn, one
 * communicator for all.
 *
 *   spawn WAY DEATHS AT_ONCE SEED    WAY: all (spawn over the communicator of all survivors) or one (over MPI_COMM_SELF of
 *                                    one survivor, then MPI_Intercomm_create); prints the number of deaths at the end */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **arguments;
static bool by_one;

static void require(int code, const char *what)
{
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "wrong: %s\n", what);
  _exit(1);
}

static void widen(MPI_Comm mine, MPI_Comm bridge, int other, int is_new, MPI_Comm *all)
{
  MPI_Comm both;
  require(MPI_Intercomm_create(mine, 0, bridge, other, 7, &both), "create");
  require(MPI_Intercomm_merge(both, is_new, all), "merge");
  MPI_Comm_free(&both);
}

static void respawn(MPI_Comm survivors, int count, MPI_Comm *all)
{
  MPI_Comm inter, bridge = MPI_COMM_NULL;
  int rank;
  MPI_Comm_rank(survivors, &rank);
  if (!by_one || rank == 0)
    require(MPI_Comm_spawn(arguments[0], arguments + 1, count, MPI_INFO_NULL, 0,
                           by_one ? MPI_COMM_SELF : survivors, &inter, MPI_ERRCODES_IGNORE),
            "spawn");
  if (!by_one) require(MPI_Intercomm_merge(inter, 0, all), "merge");
  if (by_one && rank == 0) require(MPI_Intercomm_merge(inter, 0, &bridge), "bridge");
  if (by_one) widen(survivors, bridge, 1, 0, all);
}

static void arrive(MPI_Comm parent, MPI_Comm *all)
{
  MPI_Comm bridge;
  require(MPI_Intercomm_merge(parent, 1, by_one ? &bridge : all), "bridge");
  if (by_one) widen(MPI_COMM_WORLD, bridge, 0, 1, all);
}

/* All must be present, and know the number of completed deaths. */
static void check(MPI_Comm all, int *deaths)
{
  int one = 1, sum = 0, size, flag = 1;
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_size(all, &size);
  require(MPI_Bcast(deaths, 1, MPI_INT, 0, all), "broadcast");
  require(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all), "sum");
  require(MPIX_Comm_agree(all, &flag), "agreement");
  require(sum == size ? MPI_SUCCESS : MPI_ERR_OTHER, "count");
}

static void repair(MPI_Comm *all, int *deaths)
{
  MPI_Comm left, wide;
  int before, after, flag = 1;
  while (MPI_Barrier(*all) == MPI_SUCCESS) {}
  MPIX_Comm_revoke(*all);
  MPIX_Comm_agree(*all, &flag);
  require(MPIX_Comm_shrink(*all, &left), "shrink");
  MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
  MPI_Comm_size(*all, &before);
  MPI_Comm_size(left, &after);
  respawn(left, before - after, &wide);
  MPI_Comm_free(all);
  MPI_Comm_free(&left);
  *all = wide;
  *deaths += before - after;
}

int main(int argc, char **argv)
{
  MPI_Comm parent, all;
  int deaths = 0, rank, size;
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(NULL, NULL);
  if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
  arguments = argv;
  by_one = strcmp(argv[1], "one") == 0;
  const int wanted = atoi(argv[2]), at_once = atoi(argv[3]), seed = atoi(argv[4]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &all);
  else arrive(parent, &all);
  check(all, &deaths);
  while (deaths < wanted) {
    unsigned random = (unsigned)(seed + 977 * deaths);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    if (rank == 0 && deaths > 0) printf("deaths %d\n", deaths);
    if (rank == 0) fflush(stdout);
    for (int i = 0; i < at_once; i++)
      if ((int)((unsigned)rand_r(&random) % (unsigned)size) == rank) kill(getpid(), SIGKILL);
    repair(&all, &deaths);
    check(all, &deaths);
  }
  MPI_Comm_rank(all, &rank);
  if (rank == 0) printf("deaths %d\nright\n", deaths);
  fflush(stdout);
  int flag = 1;
  MPIX_Comm_agree(all, &flag);
  _exit(0); /* MPI_Finalize is not safe after processes were spawned */
}
