/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of persistent communicators: for messages on other communicators, and on themselves.
 *
 *   mpirun -n 2 persist-latency [FOLDER]
 *
 * Ping-pong on an ordinary communicator, in pairs: a batch by MPI_Send and MPI_Recv, which go through this library, and a batch
 * by PMPI_Send and PMPI_Recv, which do not, in an order that changes; the median of the differences is what the library
 * adds. First with no persistent communicator open, then with one, then with eight. Then: storing and committing. */
#include "resilience/persist/persist.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 400, BATCH = 200, MANY = 10000, OPEN = 8 };

static int rank;
static MPI_Comm comm;

/* Microseconds per message. */
static double through(void)
{
  char byte = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < BATCH; i++) {
    if (rank == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, 0, comm);
    MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, 0, comm);
  }
  return 1e6 * (MPI_Wtime() - begin) / (2 * BATCH);
}

static double past(void)
{
  char byte = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < BATCH; i++) {
    if (rank == 0) PMPI_Send(&byte, 1, MPI_CHAR, 1, 0, comm);
    PMPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    if (rank == 1) PMPI_Send(&byte, 1, MPI_CHAR, 0, 0, comm);
  }
  return 1e6 * (MPI_Wtime() - begin) / (2 * BATCH);
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void ping_pong(int open)
{
  static double plain[PAIRS], more[PAIRS];
  for (int i = 0; i < PAIRS; i++) {
    double with, without;
    if (i % 2) {
      with = through();
      without = past();
    } else {
      without = past();
      with = through();
    }
    plain[i] = without;
    more[i] = with - without;
  }
  qsort(plain, PAIRS, sizeof *plain, by_size);
  qsort(more, PAIRS, sizeof *more, by_size);
  if (rank == 0)
    printf(
        "%d persistent communicators open: another one %.3f us, the library adds %+.4f us (quartiles %+.4f, %+.4f)\n",
        open, plain[PAIRS / 2], more[PAIRS / 2], more[PAIRS / 4], more[3 * PAIRS / 4]);
}

static MPI_Comm open_key(const char *key, const char *folder, const char *store, const char *commit)
{
  MPI_Comm persistent;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", folder);
  MPI_Info_set(info, "persist_store", store);
  MPI_Info_set(info, "persist_commit", commit);
  MPI_Info_set(info, "persist_depth", "all");
  MPIX_Comm_persist(comm, key, info, &persistent);
  MPI_Info_free(&info);
  return persistent;
}

static void storing(const char *folder, const char *store, const char *commit)
{
  MPI_Comm persistent = open_key("latency: storing", folder, store, commit);
  const double begin = MPI_Wtime();
  for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, 1 - rank, i % 10, persistent);
  const double stored = MPI_Wtime();
  gab_persist_commit(persistent);
  const double first = MPI_Wtime();
  for (int i = 0; i < 100; i++) {
    MPI_Send(&i, 1, MPI_INT, rank, 11, persistent);
    gab_persist_commit(persistent);
  }
  const double end = MPI_Wtime();
  if (rank == 0)
    printf("store %s: %d messages, %.2f us each; their commit %.2f ms; a commit of one message %.1f us\n",
           store, MANY, 1e6 * (stored - begin) / MANY, 1e3 * (first - stored), 1e4 * (end - first));
  gab_persist_discard(&persistent);
}

int main(int argc, char **argv)
{
  MPI_Comm persistent[OPEN];
  MPI_Init(&argc, &argv);
  const char *folder = argc > 1 ? argv[1] : ".";
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "persist-latency takes two processes\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  ping_pong(0);
  for (int i = 0; i < OPEN; i++) {
    char key[32];
    snprintf(key, sizeof key, "latency %d", i);
    persistent[i] = open_key(key, folder, "file", "self");
    if (i == 0) ping_pong(1);
  }
  ping_pong(OPEN);
  for (int i = 0; i < OPEN; i++) gab_persist_discard(&persistent[i]);
  storing(folder, "file", "self");
  storing(folder, "node", "self");
  storing(folder, "neighbour", "together");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
