/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients (cg.h): an ordinary MPI program. cg_reinit.c is the same, and survives. */
#include "apps/papers/reinit2020/cg.h"

static cg solver;

static int run(int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 64, .steps = 50});
  const MPI_Comm comm = MPI_COMM_WORLD;
  int64_t step = 0;
  cg_begin(&solver, comm, options.size);
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    cg_iterate(&solver);
    step++;
  }
  proxy_leave(comm, step);
  cg_report(&solver);
  cg_end(&solver);
  return 0;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
