/* SPDX-License-Identifier: Apache-2.0 */
/* Molecular dynamics (md.h): an ordinary MPI program. md_reinit.c is the same, and survives. */
#include "apps/papers/reinit2020/md.h"

static md fluid;

static int run(int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 10, .steps = 100});
  const MPI_Comm comm = MPI_COMM_WORLD;
  int64_t step = 0;
  md_begin(&fluid, comm, options.size);
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    md_step(&fluid);
    step++;
  }
  proxy_leave(comm, step);
  md_report(&fluid);
  md_end(&fluid);
  return 0;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
