/* SPDX-License-Identifier: Apache-2.0 */
/* Processes die, one after the other, right before all create a communicator from an earlier one; the others shrink a later
 * one and continue.
 *
 *   make    of N processes N - 3 die; prints the number of deaths at the end */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void require(int code, const char *what)
{
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "wrong: %s\n", what);
  _exit(1);
}

static MPI_Comm copy_of(MPI_Comm comm)
{
  MPI_Comm copy;
  require(MPI_Comm_dup(comm, &copy), "copy");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

int main(void)
{
  int size, rank, deaths = 0;
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(NULL, NULL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm all = copy_of(MPI_COMM_WORLD);
  for (;; deaths++) {
    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &rank);
    if (rank == 0) printf("deaths %d\n", deaths);
    fflush(stdout);
    if (size <= 3) break;
    MPI_Comm earlier = copy_of(all), later = copy_of(all), made, left;
    MPI_Barrier(all); /* all ranks have both */
    if (rank == size / 2) kill(getpid(), SIGKILL);
    if (MPI_Comm_dup(earlier, &made) == MPI_SUCCESS) require(MPI_ERR_OTHER, "copy without one");
    MPIX_Comm_revoke(earlier);
    MPIX_Comm_revoke(all);
    MPIX_Comm_revoke(later);
    require(MPIX_Comm_shrink(later, &left), "shrink");
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_free(&earlier);
    MPI_Comm_free(&later);
    MPI_Comm_free(&all);
    all = left;
    int one = 1, sum = 0, flag = 1;
    MPI_Comm_size(all, &size);
    require(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all), "sum");
    require(MPIX_Comm_agree(all, &flag), "agreement");
    require(sum == size ? MPI_SUCCESS : MPI_ERR_OTHER, "count");
  }
  if (rank == 0) printf("right\n");
  fflush(stdout);
  int flag = 1;
  MPIX_Comm_agree(all, &flag);
  _exit(0);
}
