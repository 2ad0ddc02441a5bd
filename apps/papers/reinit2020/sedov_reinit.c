/* SPDX-License-Identifier: Apache-2.0 */
/* The blast wave of Sedov (sedov.h): sedov_plain.c, surviving the death of processes. */
#include "apps/papers/reinit2020/sedov.h"
#include "resilience/recovery/state.h"

static sedov blast;

static gab_status run(gab_state *state, int argc, char **argv)
{
  const proxy_options options = proxy_read_options(argc, argv, (proxy_options){.size = 32, .steps = 100});
  const MPI_Comm comm = gab_state_comm(state);
  int64_t step = 0;
  sedov_begin(&blast, comm, options.size);
  GAB_TRY(gab_state_add(state, "sedov", blast.state, blast.state_bytes));
  GAB_TRY(gab_state_load(state, &step));
  proxy_enter(comm, step);
  while (step < options.steps) {
    proxy_iteration(step);
    sedov_step(&blast);
    GAB_TRY(gab_state_save(state, ++step));
  }
  proxy_leave(comm, step);
  sedov_report(&blast);
  sedov_end(&blast);
  return 0;
}

int main(int argc, char **argv) { return gab_state_main(argc, argv, run); }
