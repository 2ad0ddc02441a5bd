/* SPDX-License-Identifier: Apache-2.0 */
/* Molecular dynamics (md.h): md_plain.c, surviving the death of processes. */
#include "apps/papers/reinit2020/md.h"
#include "resilience/recovery/state.h"

static md fluid;

static gab_status run(gab_state *state, int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 10, .steps = 100});
  const MPI_Comm comm = gab_state_comm(state);
  int64_t step = 0;
  md_begin(&fluid, comm, options.size);
  GAB_TRY(gab_state_add(state, "md", fluid.state, fluid.state_bytes));
  GAB_TRY(gab_state_load(state, &step));
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    md_step(&fluid);
    GAB_TRY(gab_state_save(state, ++step));
  }
  proxy_leave(comm, step);
  md_report(&fluid);
  md_end(&fluid);
  return 0;
}

int main(int argc, char **argv) { return gab_state_main(argc, argv, run); }
