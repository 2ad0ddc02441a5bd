/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 3 of Gracia et al. 2015: two processes exchange boundary values; killed at any place and started again, they go
 * on.
 *
 *   mpirun -n 2 figure3 [FOLDER]
 *
 * What had to be put right in the listing:
 * - calls lack counts and types (MPI_Recv(&seed, rank, ...)), addresses (data[SIZE-1]), statuses; the key is a text;
 * - the loop began again at the iteration that is stored, which is done already: now at the next one;
 * - three values were stored one after another: killed in between, the next life had the seed of one iteration and the
 *   counter of another. gab_persist_commit() makes them one epoch;
 * - a process read the boundary value of its last iteration from what the *other* one had stored after the exchange: killed
 *   before it did, it had not. The value is part of the state of the one that received it, which stores it (HALO_TAG);
 * - the two may be one iteration apart when they start again: the exchange of an iteration that the other has done would wait
 *   for ever. They tell each other where they are, and who is behind receives the boundary value from the store. A
 *   process that is ahead may have stored the value of the iteration after that, too: so two are kept (persist_depth), the
 *   newest comes first (persist_order), and each says which iteration it is of;
 * - it is stored before the exchange: whoever has received it otherwise could be ahead of what is stored;
 * - what is stored when the run is over is removed, or the next run would begin at its end. */
#include "apps/papers/persist2015/figure3.h"
#include "resilience/persist/persist.h"

#include <stdio.h>

static MPI_Comm open_store(const char *folder)
{
  MPI_Comm persistent;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", folder);
  MPI_Info_set(info, "persist_depth", "2");
  MPI_Info_set(info, "persist_order", "lifo");
  MPIX_Comm_persist(MPI_COMM_WORLD, "session 1001", info, &persistent);
  MPI_Info_free(&info);
  return persistent;
}

int main(int argc, char **argv)
{
  static float data[SIZE];
  float seed, halo;
  int rank, other, next = 0, others_next, last;
  message boundary;
  MPI_Comm world, persistent;

  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  other = 1 - rank;
  seed = 321 + (float)rank;
  halo = 0;
  persistent = open_store(argc > 1 ? argv[1] : ".");

  if (gab_failure()) { /* the state at the end of iteration `last` */
    MPI_Recv(&seed, 1, MPI_FLOAT, rank, SEED_TAG, persistent, MPI_STATUS_IGNORE);
    MPI_Recv(&last, 1, MPI_INT, rank, ITER_TAG, persistent, MPI_STATUS_IGNORE);
    MPI_Recv(&halo, 1, MPI_FLOAT, rank, HALO_TAG, persistent, MPI_STATUS_IGNORE);
    next = last + 1;
  }
  init_data(data, seed);
  data[LAST] = halo;
  MPI_Sendrecv(&next, 1, MPI_INT, other, NEXT_TAG, &others_next, 1, MPI_INT, other, NEXT_TAG, world,
               MPI_STATUS_IGNORE);

  for (int i = next; i < ITERATIONS; i++) {
    compute(data);
    boundary.iter = i;
    boundary.value = data[0];
    MPI_Send(&boundary, 1, MPI_FLOAT_INT, other, BOUNDARY_TAG, persistent);
    if (i < others_next) { /* the other one has done this iteration */
      do {
        MPI_Recv(&boundary, 1, MPI_FLOAT_INT, other, BOUNDARY_TAG, persistent, MPI_STATUS_IGNORE);
      } while (boundary.iter != i);
      data[LAST] = boundary.value;
    } else {
      MPI_Sendrecv(&data[0], 1, MPI_FLOAT, other, BOUNDARY_TAG, &data[LAST], 1, MPI_FLOAT, other,
                   BOUNDARY_TAG, world, MPI_STATUS_IGNORE);
    }
    seed = aggregate(data);
    printf("%d %d %.10g\n", rank, i, (double)seed);

    MPI_Send(&seed, 1, MPI_FLOAT, rank, SEED_TAG, persistent);
    MPI_Send(&i, 1, MPI_INT, rank, ITER_TAG, persistent);
    MPI_Send(&data[LAST], 1, MPI_FLOAT, rank, HALO_TAG, persistent);
    gab_persist_commit(persistent);
  }

  printf("Final: %d %.10g\n", rank, (double)seed);
  fflush(stdout);
  gab_persist_discard(&persistent);
  MPI_Finalize();
  return 0;
}
