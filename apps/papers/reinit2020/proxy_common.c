/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/papers/reinit2020/proxy_common.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *deaths = ""; /* what --die was given */
static double called_at;

/* The same on all processes of a machine, and from one job to the next. */
static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void give_up(const char *program, const char *argument)
{
  fprintf(stderr, "%s: '%s'? usage: %s [--size N] [--steps N] [--die RANK@ITERATION,...]\n", program,
          argument, program);
  exit(2);
}

proxy_options proxy_read_options(int argc, char **argv, proxy_options usual)
{
  called_at = seconds();
  for (int i = 1; i < argc; i += 2) {
    int *number = strcmp(argv[i], "--size") == 0    ? &usual.size
                  : strcmp(argv[i], "--steps") == 0 ? &usual.steps
                                                    : NULL;
    if (i + 1 == argc || (!number && strcmp(argv[i], "--die") != 0)) give_up(argv[0], argv[i]);
    if (!number) deaths = argv[i + 1];
    if (number) *number = atoi(argv[i + 1]);
    if (number && *number < 1) give_up(argv[0], argv[i + 1]);
  }
  return usual;
}

void proxy_enter(MPI_Comm comm, int64_t step)
{
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    printf("proxy: enters iteration %" PRId64 " at %.6f s, called at %.6f s\n", step, seconds(), called_at);
  fflush(stdout);
}

void proxy_leave(MPI_Comm comm, int64_t step)
{
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) printf("proxy: leaves iteration %" PRId64 " at %.6f s\n", step, seconds());
  fflush(stdout);
}

/* The number that the launcher gave this process: MPI_COMM_WORLD is not to be asked after a death. -1: it was spawned later, and its
 * number is that of another launch. */
static int process_number(void)
{
  const char *number = getenv("OMPI_COMM_WORLD_RANK");
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  return number && parent == MPI_COMM_NULL ? atoi(number) : -1;
}

void proxy_iteration(int64_t step)
{
  if (!*deaths) return;
  const int me = process_number();
  for (const char *at = deaths; at && me >= 0; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    int victim;
    int64_t when;
    if (sscanf(at, "%d@%" SCNd64, &victim, &when) != 2 || victim != me || when != step) continue;
    fprintf(stderr, "proxy: process %d dies in iteration %" PRId64 " at %.6f s\n", me, step, seconds());
    kill(getpid(), SIGKILL);
  }
}

int proxy_swap(MPI_Comm comm, int tag, const double *out, int count, int to, double *in, int most, int from)
{
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status[2];
  int came = 0;
  const int received = MPI_Irecv(in, most, MPI_DOUBLE, from, tag, comm, &both[0]);
  const int sent = MPI_Isend(out, count, MPI_DOUBLE, to, tag, comm, &both[1]);
  const int done = MPI_Waitall(2, both, status);
  if (received != MPI_SUCCESS || sent != MPI_SUCCESS || done != MPI_SUCCESS) return 0;
  MPI_Get_count(&status[0], MPI_DOUBLE, &came);
  return came;
}

/* FNV-1a over words of 64 bits, with a last mix. */
uint64_t proxy_hash(const double *values, size_t count, uint64_t seed)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (seed * UINT64_C(0x9e3779b97f4a7c15)), word;
  for (size_t i = 0; i < count; i++) {
    memcpy(&word, &values[i], sizeof word);
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
    hash ^= hash >> 29;
  }
  return hash;
}

void proxy_checksum(MPI_Comm comm, const char *name, uint64_t hash)
{
  int rank;
  uint64_t sum = 0;
  MPI_Comm_rank(comm, &rank);
  if (MPI_Reduce(&hash, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, comm) == MPI_SUCCESS && rank == 0)
    printf("%s: checksum %016" PRIx64 "\n", name, sum);
  fflush(stdout);
}
