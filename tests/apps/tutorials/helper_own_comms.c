/* SPDX-License-Identifier: Apache-2.0 */
/* The flow of
 * `gabion' with a communicator of the program, over which all sum a number after each step. OWN_COMMS chooses the program: `made'
 * makes it, `said' declares it in gab_solver.own_comms. */
#include "apps/driver/run/run.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static bool does(const char *word)
{
  const char *words = getenv("OWN_COMMS");
  return words && strstr(words, word);
}

/* A failure here ends the step: the handler of the communicator ensures that. */
static gab_status count(void *user, gab_step step)
{
  const gab_comm *comm = user;
  int one = 1, all = 0;
  (void)step;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, gab_comm_mpi(comm));
  return GAB_OK;
}

static gab_status add(gab_app_run *it)
{
  gab_comm *comm;
  GAB_TRY(gab_solver_flow.add(it));
  if (!does("made")) return GAB_OK;
  GAB_TRY(gab_world_dup(it->world, &comm));
  return gab_timeloop_add_task(it->loop, "count", count, comm);
}

int main(int argc, char **argv)
{
  gab_solver flow = gab_solver_flow;
  const gab_solver *const all[] = {&flow};
  flow.add = add;
  flow.own_comms = does("said");
  return gab_app_main(argc, argv, all, 1);
}
