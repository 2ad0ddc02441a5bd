/* SPDX-License-Identifier: Apache-2.0 */
/* Proves that an MPI survives the death of a process: rank 1 kills itself with a real SIGKILL; the others notice,
 * revoke, shrink, agree and compute. Rank 0 prints the marker for setup.sh; mpirun's exit code proves nothing after a
 * death. */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(&argc, &argv);
  MPI_Comm world, survivors;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  int rank, size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (rank == 1) kill(getpid(), SIGKILL);
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) code = MPI_Barrier(world);
  MPIX_Comm_revoke(world);
  if (MPIX_Comm_shrink(world, &survivors) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(survivors, MPI_ERRORS_RETURN);
  int flag = 1, left = 0, one = 1;
  if (MPIX_Comm_agree(survivors, &flag) != MPI_SUCCESS || !flag) return 1;
  if (MPI_Allreduce(&one, &left, 1, MPI_INT, MPI_SUM, survivors) != MPI_SUCCESS) return 1;
  if (rank == 0 && left == size - 1) {
    printf("ulfm-probe: survived\n");
    fflush(stdout);
  }
  MPIX_Comm_agree(survivors, &flag);
  MPI_Finalize();
  return 0;
}
