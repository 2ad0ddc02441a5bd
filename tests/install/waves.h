/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary MPI program's data and step, for reinit_listing.c and reinit_files.c: waves on a ring of points, as many on each
 * process. */
#ifndef GABION_TESTS_INSTALL_WAVES_H
#define GABION_TESTS_INSTALL_WAVES_H

#include <mpi.h>

#include <stdio.h>
#include <time.h>

enum { POINTS = 1000, END = POINTS + 1 };

/* Height and speed; at the ends those of the neighbours. */
typedef struct waves {
  double height[POINTS + 2], speed[POINTS + 2];
} waves;

static void waves_begin(waves *w, MPI_Comm comm)
{
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i <= END; i++) {
    w->height[i] = (double)((rank * POINTS + i) % 97) / 97;
    w->speed[i] = 0;
  }
}

/* Takes 10 ms, in which nothing is computed. */
static void waves_step(waves *w, MPI_Comm comm, int step)
{
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int up = (rank + 1) % size, down = (rank + size - 1) % size;
  if (rank == 0 && step % 20 == 0) printf("at step %d\n", step);
  fflush(stdout);
  MPI_Sendrecv(&w->height[POINTS], 1, MPI_DOUBLE, up, 1, &w->height[0], 1, MPI_DOUBLE, down, 1, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&w->height[1], 1, MPI_DOUBLE, down, 2, &w->height[END], 1, MPI_DOUBLE, up, 2, comm,
               MPI_STATUS_IGNORE);
  for (int i = 1; i <= POINTS; i++)
    w->speed[i] += 0.1 * (w->height[i - 1] - 2 * w->height[i] + w->height[i + 1]);
  for (int i = 1; i <= POINTS; i++) w->height[i] += 0.1 * w->speed[i];
  nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* Of whole numbers, so that their order does not matter. */
static void waves_print_sum(const waves *w, MPI_Comm comm)
{
  int rank;
  double sum = 0;
  MPI_Comm_rank(comm, &rank);
  for (int i = 1; i <= POINTS; i++)
    sum += (double)(long long)(1e9 * w->height[i] + 1e8 * w->speed[i] * (i % 13));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  if (rank == 0) printf("sum %.0f\n", sum);
  fflush(stdout);
}

#endif
