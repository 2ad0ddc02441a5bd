/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 2 of Gracia et al. 2015: a value outlives the process.
 *
 *   figure2 [VALUE [FOLDER]]      prints the value; started again, with any other, it prints the first one
 *
 * What had to be put right in the listing, besides commas and ampersands:
 * - the arguments of MPI_Comm_persist stand in the order of its declaration;
 * - the communicator is that of a single process, whose rank in it is 0, whatever it is elsewhere;
 * - each process has a key of its own: with the same key on MPI_COMM_SELF all would open the same store, which is locked;
 * - MPI_Send alone stores nothing for good: gab_persist_commit() does, so that values that belong together come back
 *   together. Where nothing was committed, gab_failure() is false after a fault, too: there is nothing to receive. */
#include "resilience/persist/persist.h"

#include <stdio.h>
#include <stdlib.h>

enum { VALUE_TAG = 1 };

int main(int argc, char **argv)
{
  char mykey[64];
  MPI_Comm persistent;
  MPI_Info info;
  int value = argc > 1 ? atoi(argv[1]) : 3, rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(mykey, sizeof mykey, "Run A, June 6 2015, process %d", rank);
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", argc > 2 ? argv[2] : ".");
  MPIX_Comm_persist(MPI_COMM_SELF, mykey, info, &persistent);
  MPI_Info_free(&info);

  if (gab_failure()) {
    MPI_Recv(&value, 1, MPI_INT, 0, VALUE_TAG, persistent, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&value, 1, MPI_INT, 0, VALUE_TAG, persistent);
    gab_persist_commit(persistent);
  }
  printf("Final: %d %d\n", rank, value);
  fflush(stdout);

  MPI_Comm_free(&persistent); /* the value stays stored; gab_persist_discard() would remove it */
  MPI_Finalize();
  return 0;
}
