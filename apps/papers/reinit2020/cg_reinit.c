/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients (cg.h): cg_plain.c, surviving the death of processes. */
#include "apps/papers/reinit2020/cg.h"
#include "resilience/recovery/state.h"

static cg solver;

static gab_status run(gab_state *state, int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 64, .steps = 50});
  const MPI_Comm comm = gab_state_comm(state);
  int64_t step = 0;
  cg_begin(&solver, comm, options.size);
  GAB_TRY(gab_state_add(state, "cg", solver.state, solver.state_bytes));
  GAB_TRY(gab_state_load(state, &step));
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    cg_iterate(&solver);
    GAB_TRY(gab_state_save(state, ++step));
  }
  proxy_leave(comm, step);
  cg_report(&solver);
  cg_end(&solver);
  return 0;
}

int main(int argc, char **argv) { return gab_state_main(argc, argv, run); }
