/* SPDX-License-Identifier: Apache-2.0 */
/** @file comm_world.c
 *  @brief Refuses the use of MPI_COMM_WORLD after a fault.
 *
 *  MPI_COMM_WORLD cannot be rebuilt: a spare keeps its old rank in it, and in a respawned process it contains only
 *  the processes that were spawned together. A reduction over it would return different results on each process.
 *
 *      set-up, first run        errors of MPI_COMM_WORLD break the world, as those of other communicators do
 *      from the first fault on  it is revoked: all its communication fails, and its error handler raises ::GAB_ERR_STATE
 *      in a respawned process   it is revoked before the set-up
 *
 *  Local queries of a revoked communicator still work. Queries with a wrong answer (rank, size, group) are intercepted through
 *  the profiling interface of MPI and raise the same status; so does a change of the error handler. The definitions are weak, so
 *  those of a tool take precedence; communication is refused without them, too. */
#include "core/base/log.h"
#include "core/world/world_impl.h"

#include <stdio.h>

static gab_world *guarded; /* MPI passes no user pointer to error handlers */
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
static char refusal[768]; /* empty: none */

static bool is_useless(const gab_world *world)
{
  return world && !world->repairing && (world->epoch > 0 || gab_world_was_spawned());
}

static void raise_refusal(gab_world *world)
{
  gab_world_keep_abort_request(world, GAB_ERR_STATE, world->rank, refusal, "MPI call of the application:0");
  gab_world_break(world);
}

/* A respawned process cannot raise in its set-up. An earlier abort request has precedence. */
static void refuse(gab_world *world, const char *what)
{
  if (refusal[0] || world->abort_request != GAB_OK) return;
  snprintf(
      refusal, sizeof refusal,
      "MPI_COMM_WORLD was used after a process had died (%s): it is not rebuilt, and in a respawned process it holds only "
      "those spawned with it; use gab_comm_mpi() of a communicator from gab_world_dup(), or gab_state_comm()",
      what);
  gab_log_all(GAB_LOG_ERROR, "%s", refusal);
  if (!gab_world_replays(world)) raise_refusal(world);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)comm;
  if (!guarded || guarded->repairing || !gab_mpi_is_fault(*code)) return;
  if (!is_useless(guarded)) {
    gab_world_break(guarded);
    return;
  }
  MPI_Error_string(*code, text, &length);
  refuse(guarded, text);
}

gab_status gab_comm_world_guard(gab_world *world)
{
  if (handler == MPI_ERRHANDLER_NULL && MPI_Comm_create_errhandler(on_error, &handler) != MPI_SUCCESS)
    GAB_FAIL(GAB_ERR_MPI, "no error handler can be made");
  refusal[0] = '\0';
  guarded = world;
  world->guards_comm_world = true;
  gab_comm_world_watch(world);
  return GAB_OK;
}

void gab_comm_world_unguard(const gab_world *world)
{
  if (guarded != world) return;
  guarded = NULL;
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

void gab_comm_world_watch(const gab_world *world)
{
  if (guarded == world) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

void gab_comm_world_raise_late(gab_world *world)
{
  if (guarded == world && refusal[0]) raise_refusal(world);
}

/* ------------------------------------------------------------------------------------ calls that cannot fail */

#pragma weak MPI_Comm_rank
#pragma weak MPI_Comm_size
#pragma weak MPI_Comm_group
#pragma weak MPI_Comm_set_errhandler

/* @param[in] right the answer of the communicator of active processes */
static void check_answer(const char *call, int answer, int right)
{
  char what[96];
  if (answer == right && !gab_world_was_spawned()) return;
  snprintf(what, sizeof what, "%s gave %d", call, answer);
  refuse(guarded, what);
}

/* There is no right answer on an idle spare, nor on a respawned process in its set-up; but the latter may use the
 * wrong one later. */
static bool is_to_be_checked(MPI_Comm comm)
{
  if (comm != MPI_COMM_WORLD || !is_useless(guarded)) return false;
  return gab_world_was_spawned() || (!gab_world_is_spare(guarded) && guarded->active_comm != MPI_COMM_NULL);
}

static int ask_active(int (*question)(MPI_Comm comm, int *answer))
{
  int right = -1;
  if (guarded->active_comm != MPI_COMM_NULL) question(guarded->active_comm, &right);
  return right;
}

int MPI_Comm_rank(MPI_Comm comm, int *comm_rank)
{
  const int code = PMPI_Comm_rank(comm, comm_rank);
  if (code == MPI_SUCCESS && is_to_be_checked(comm))
    check_answer("MPI_Comm_rank()", *comm_rank, ask_active(PMPI_Comm_rank));
  return code;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
  const int code = PMPI_Comm_size(comm, size);
  if (code == MPI_SUCCESS && is_to_be_checked(comm))
    check_answer("MPI_Comm_size()", *size, ask_active(PMPI_Comm_size));
  return code;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
  int size = 0;
  const int code = PMPI_Comm_group(comm, group);
  if (code != MPI_SUCCESS || !is_to_be_checked(comm)) return code;
  MPI_Group_size(*group, &size);
  check_answer("MPI_Comm_group()", size, ask_active(PMPI_Comm_size));
  return code;
}

/* A program that repeatedly sets its error handler would otherwise miss the refusal. */
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
  if (comm == MPI_COMM_WORLD && is_useless(guarded)) return MPI_SUCCESS;
  return PMPI_Comm_set_errhandler(comm, errhandler);
}
