/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: the process of rank DIES_RANK (below 0: each) kills itself at its DIES_AT-th call of the MPI
 * functions below, in the first attempt of its launcher. 1 is before MPI_Init, 2 after it, the rest is communication. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#ifdef WITH_ULFM
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls;

static int number(const char *name)
{
  const char *value = getenv(name);
  return value ? atoi(value) : -1;
}

static void *enter(const char *name)
{
  if (++calls == number("DIES_AT") && number("GABION_ATTEMPT") == 0 &&
      (number("DIES_RANK") < 0 || number("OMPI_COMM_WORLD_RANK") == number("DIES_RANK"))) {
    fprintf(stderr, "dies: rank %d in %s\n", number("OMPI_COMM_WORLD_RANK"), name);
    kill(getpid(), SIGKILL);
  }
  return dlsym(RTLD_NEXT, name);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  int (*real)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))enter("MPI_Init_thread");
  return real(argc, argv, required, provided);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *fresh)
{
  int (*real)(MPI_Comm, MPI_Comm *) = (int (*)(MPI_Comm, MPI_Comm *))enter("MPI_Comm_dup");
  return real(comm, fresh);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
      (int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))enter("MPI_Isend");
  return real(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  int (*real)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
      (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))enter("MPI_Irecv");
  return real(data, count, type, from, tag, comm, request);
}

#ifdef WITH_ULFM
int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
  int (*real)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))enter("MPIX_Comm_agree");
  return real(comm, flag);
}
#endif
