/* SPDX-License-Identifier: Apache-2.0 */
/* A small MPI program that ends in all the ways that gabion-launch has to tell apart. argv[1] says how. */
#include <glob.h>
#include <mpi.h>
#ifdef WITH_ULFM
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

/* Rewrites one of the files of the contract with the launcher, from the root. */
static void write_file(const char *variable, const char *text)
{
  const char *path = getenv(variable);
  char other[4096];
  if (!path || rank != 0) return;
  snprintf(other, sizeof other, "%s.new", path);
  FILE *file = fopen(other, "w");
  if (!file) return;
  fprintf(file, "%s\n", text);
  if (fclose(file) == 0) rename(other, path);
}

static void sleep_for_ever(void)
{
  for (;;) sleep(1000);
}

#ifdef WITH_ULFM
/* Rank 1 dies by SIGKILL; the others repair and continue. @return communicator of the survivors */
static MPI_Comm lose_rank_1(void)
{
  MPI_Comm world, survivors;
  int code = MPI_SUCCESS, flag = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (rank == 1) kill(getpid(), SIGKILL);
  while (code == MPI_SUCCESS) code = MPI_Barrier(world);
  MPIX_Comm_revoke(world);
  MPIX_Comm_shrink(world, &survivors);
  MPI_Comm_set_errhandler(survivors, MPI_ERRORS_RETURN);
  MPIX_Comm_agree(survivors, &flag);
  return survivors;
}
#endif

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  const char *attempt = getenv("GABION_ATTEMPT");
  signal(SIGPIPE, SIG_IGN);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(how, "code")) {
    char text[64];
    snprintf(text, sizeof text, "exit %s", argv[2]);
    write_file("GABION_COMPLETION", text);
#ifdef WITH_ULFM
  } else if (!strcmp(how, "survive")) {
    MPI_Comm survivors = lose_rank_1();
    write_file("GABION_COMPLETION", "exit 0");
    int flag = 1;
    MPIX_Comm_agree(survivors, &flag);
#endif
  } else if (!strcmp(how, "vanish")) {
    kill(getpid(), SIGKILL);
  } else if (!strcmp(how, "forget")) {
    /* a clean end without a marker */
  } else if (!strcmp(how, "hang") || (!strcmp(how, "hang-once") && attempt && !strcmp(attempt, "0"))) {
    write_file("GABION_PROGRESS", "7 nearly there");
    sleep_for_ever();
  } else if (!strcmp(how, "heed")) {
    write_file("GABION_PROGRESS", "7 nearly there");
    while (access(getenv("GABION_STOP"), F_OK)) usleep(50000);
    write_file("GABION_COMPLETION", "exit 75");
  } else if (!strcmp(how, "hang-once")) {
    write_file("GABION_COMPLETION", "exit 0");
  } else if (!strcmp(how, "stopped")) { /* one is stopped, the others complete without it */
    if (rank == 1) raise(SIGSTOP);
    write_file("GABION_COMPLETION", "exit 0");
    _exit(0);                            /* without fault tolerance in force MPI_Finalize would wait for it */
  } else if (!strcmp(how, "deserted")) { /* mpirun, which ignores it, is a process that does not continue */
    if (rank == 0) kill(getppid(), SIGSTOP);
    write_file("GABION_PROGRESS", "7 nearly there");
    if (argc > 2) write_file("GABION_COMPLETION", argv[2]);
    _exit(0);
  } else if (!strcmp(how, "linger")) {
    write_file("GABION_COMPLETION", "exit 4");
    sleep_for_ever();
  } else if (!strcmp(how, "late")) { /* continues while the traces are taken; finds them in its folder */
    glob_t found;
    write_file("GABION_PROGRESS", "7 busy");
    for (int i = 0; i < 3000 && glob("gabion-stall-*", 0, NULL, &found) != 0; i++) usleep(10000);
    write_file("GABION_PROGRESS", "8 going on");
    usleep(500000);
    write_file("GABION_COMPLETION", "exit 0");
  } else if (!strcmp(how, "slow")) {
    for (int step = 0; step < 16; step++) {
      char text[32];
      snprintf(text, sizeof text, "%d steps", step);
      write_file("GABION_PROGRESS", text);
      usleep(250000);
    }
    write_file("GABION_COMPLETION", "exit 0");
  }
  MPI_Finalize();
  return 0;
}
