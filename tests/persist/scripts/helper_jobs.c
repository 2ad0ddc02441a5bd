/* SPDX-License-Identifier: Apache-2.0 */
/* A job of 10 000 messages, for script_jobs.sh:
 *
 *   helper_jobs FOLDER hold MARKER   stores and commits them, stores others, writes its pid into MARKER.RANK, and waits
 *   helper_jobs FOLDER read          receives them, looks at each, and says so */
#include "resilience/persist/persist.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 10000, LENGTH = 5 };

static void fill(double *values, int source, int i)
{
  for (int k = 0; k < LENGTH; k++) values[k] = source + 10.0 * i + 1e-3 * k;
}

int main(int argc, char **argv)
{
  int rank, size;
  double values[LENGTH], expected[LENGTH];
  MPI_Comm p;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 3) return 2;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", argv[1]);
  MPI_Info_set(info, "persist_depth", "all");
  MPIX_Comm_persist(MPI_COMM_WORLD, "ten thousand", info, &p);
  MPI_Info_free(&info);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  if (strcmp(argv[2], "hold") == 0) {
    for (int i = 0; i < MANY + 5; i++) {
      if (i == MANY) gab_persist_commit(p); /* the last five are not */
      fill(values, rank, i);
      MPI_Send(values, LENGTH, MPI_DOUBLE, next, i % 3, p);
    }
    char name[300], beside[310];
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    snprintf(beside, sizeof beside, "%s.new", name);
    FILE *file = fopen(beside, "w");
    if (!file) return 1;
    fprintf(file, "%ld\n", (long)getpid());
    fclose(file);
    rename(beside, name);
    while (1) pause();
  }
  if (!gab_failure()) return 1;
  for (int i = 0; i < MANY; i++) {
    MPI_Recv(values, LENGTH, MPI_DOUBLE, before, i % 3, p, MPI_STATUS_IGNORE);
    fill(expected, before, i);
    if (memcmp(values, expected, sizeof values) != 0) {
      printf("message %d is another one\n", i);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  long long more = -1;
  gab_persist_status(p, NULL, MPI_ANY_SOURCE, MPI_ANY_TAG, &more);
  if (more == 0) printf("rank %d : read %d messages\n", rank, MANY);
  fflush(stdout);
  gab_persist_discard(&p);
  MPI_Finalize();
  return 0;
}
