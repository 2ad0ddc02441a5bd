/* SPDX-License-Identifier: Apache-2.0 */
/* The blast wave of Sedov (sedov.h): an ordinary MPI program. sedov_reinit.c is the same, and survives. */
#include "apps/papers/reinit2020/sedov.h"

static sedov blast;

static int run(int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 32, .steps = 100});
  const MPI_Comm comm = MPI_COMM_WORLD;
  int64_t step = 0;
  sedov_begin(&blast, comm, options.size);
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    sedov_step(&blast);
    step++;
  }
  proxy_leave(comm, step);
  sedov_report(&blast);
  sedov_end(&blast);
  return 0;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
