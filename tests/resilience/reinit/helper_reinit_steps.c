/* SPDX-License-Identifier: Apache-2.0 */
/* A second process dies at each step of the recovery by gab_reinit(): before its K-th call of MPI in it. For
 * script_reinit_steps.sh:
 *
 *   helper_reinit_steps WHO K [respawn]     WHO: the process that dies there; K 0: none does
 *
 * Five ranks; rank 2 dies while it computes; the dying ranks store no copies for each other. Prints the sum of all at the
 * end, and whether a process died in the recovery. */
/* gabion-test: needs=ulfm */
#include "core/messages/collective.h"
#include "resilience/recovery/state.h"
#include "resilience/reports/completion.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 8, VICTIM = 2 };

static gab_world *world;
static gab_process who;
static int fatal_call, calls;
static bool recovers; /* from the first step of a repair to the next call of the function */

static void on_phase(void *user, gab_world *w, gab_fault_point phase)
{
  (void)user, (void)w;
  if (phase == GAB_FAULT_POINT_REPAIR) recovers = true;
}

static void pass(const char *function)
{
  if (!recovers || gab_world_process(world) != who || ++calls != fatal_call) return;
  fprintf(stderr, "process %d dies before its call %d, %s\n", (int)who, calls, function);
  kill(getpid(), SIGKILL);
}

/* ---------------------------------------------------------------- what a repair and a load call of MPI */

int MPIX_Comm_revoke(MPI_Comm comm)
{
  pass(__func__);
  return PMPIX_Comm_revoke(comm);
}

int MPIX_Comm_agree(MPI_Comm comm, int *flag)
{
  pass(__func__);
  return PMPIX_Comm_agree(comm, flag);
}

int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *fresh)
{
  pass(__func__);
  return PMPIX_Comm_shrink(comm, fresh);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *fresh)
{
  pass(__func__);
  return PMPI_Comm_split(comm, colour, key, fresh);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *fresh)
{
  pass(__func__);
  return PMPI_Comm_dup(comm, fresh);
}

int MPI_Comm_free(MPI_Comm *comm)
{
  pass(__func__);
  return PMPI_Comm_free(comm);
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  pass(__func__);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
  pass(__func__);
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  pass(__func__);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* ---------------------------------------------------------------- the program */

static gab_status compute(gab_state *state, uint64_t *value, gab_step step)
{
  const MPI_Comm comm = gab_state_comm(state);
  int comm_rank, size;
  uint64_t theirs = 0;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
  if (step == 4 && gab_world_process(world) == VICTIM) kill(getpid(), SIGKILL);
  MPI_Sendrecv(value, 1, MPI_UINT64_T, (comm_rank + 1) % size, 0, &theirs, 1, MPI_UINT64_T,
               (comm_rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
  GAB_TRY(gab_reinit_test(world));
  *value = (*value & 0xffffffffu) + 3 * (theirs & 0xffffffffu) + (uint64_t)step;
  return GAB_OK;
}

/* `recovers` ends after the load, with its new copies: a recovery may start again until then. */
static gab_status point(gab_world *w, int argc, char **argv, gab_reinit_state what, void *user)
{
  gab_state *state = user;
  static uint64_t value;
  gab_step step = 0;
  (void)argc, (void)argv, (void)what;
  value = (uint64_t)gab_world_rank(w) + 1;
  GAB_TRY(gab_state_add(state, "value", &value, sizeof value));
  GAB_TRY(gab_state_load(state, &step));
  recovers = false;
  while (step < STEPS) {
    GAB_TRY(compute(state, &value, step));
    GAB_TRY(gab_state_save(state, ++step));
  }
  uint64_t sum = value;
  GAB_TRY(gab_world_sum_u64(w, &sum, 1));
  const gab_members *members = gab_world_members(w);
  if (gab_world_is_root(w))
    printf("sum %" PRIu64 ", %d of %d ranks, %d deaths\n", sum, (int)gab_members_count(members),
           (int)members->ranks,
           (int)(gab_world_processes(w) - gab_members_count(gab_world_living_processes(w))));
  fflush(stdout);
  return GAB_OK;
}

int main(int argc, char **argv)
{
  gab_state *state = NULL;
  if (argc < 3 || gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  who = (gab_process)atoi(argv[1]);
  fatal_call = atoi(argv[2]);
  gab_world_set_fault_point_hook(world, on_phase, NULL);
  gab_status status = gab_reinit_allow_respawning(world, argc > 3);
  if (status == GAB_OK) status = gab_state_create(world, NULL, &state);
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, point, state);
  if (status != GAB_OK) fprintf(stderr, "%s: %s\n", gab_status_name(status), gab_error_message());
  gab_state_destroy(&state);
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}
