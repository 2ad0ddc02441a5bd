/* SPDX-License-Identifier: Apache-2.0 */
/** @file fault.c
 *  @brief Faults: error handler, broken state, abort requests, agreement. */
#include "core/base/log.h"
#include "core/world/world_impl.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Worlds of the error handlers, which get no user pointer from MPI. */
static gab_world *watched;
static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

bool gab_mpi_is_fault(int code)
{
#ifdef GAB_HAVE_ULFM
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
#else
  (void)code;
  return false;
#endif
}

static bool is_revocation(int code)
{
#ifdef GAB_HAVE_ULFM
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_REVOKED;
#else
  (void)code;
  return false;
#endif
}

void gab_comm_revoke(MPI_Comm comm)
{
#ifdef GAB_HAVE_ULFM
  if (comm != MPI_COMM_NULL) MPIX_Comm_revoke(comm);
#else
  (void)comm;
#endif
}

void gab_world_revoke(gab_world *world)
{
  gab_comm_revoke(world->comm);
  if (world->active_comm != world->comm) gab_comm_revoke(world->active_comm);
  for (gab_comm *comm = world->comms; comm; comm = comm->next) gab_comm_revoke(comm->mpi);
  if (world->guards_comm_world) gab_comm_revoke(MPI_COMM_WORLD); /* see comm_world.c */
}

void gab_world_break(gab_world *world)
{
  if (world->broken) return;
  world->broken = true;
  gab_world_revoke(world);
}

/* ------------------------------------------------------------------------------------ error handler */

static gab_world *world_of(MPI_Comm comm, bool *derived)
{
  for (gab_world *world = watched; world; world = world->next) {
    *derived = false;
    if (world->comm == comm || world->active_comm == comm) return world;
    *derived = true;
    for (const gab_comm *own = world->comms; own; own = own->next)
      if (own->mpi == comm) return world;
  }
  return NULL;
}

/* An application that ignores the code of its own MPI call would continue with garbage. Such an error is visible
 * only here, so it is raised on behalf of the application. */
static void raise_for_application(gab_world *world, int code)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  gab_world_keep_abort_request(world, GAB_ERR_MPI, world->rank, text, "MPI call of the application:0");
  gab_world_break(world);
}

static void on_mpi_error(MPI_Comm *comm, int *code, ...)
{
  bool derived = false;
  gab_world *world = world_of(*comm, &derived);
  if (!world || world->repairing) return;
  world->last_code = *code;
  if (gab_mpi_is_fault(*code)) {
    if (world->policy == GAB_POLICY_REVOKE_ALL || is_revocation(*code)) gab_world_break(world);
  } else if (derived) {
    raise_for_application(world, *code);
  }
}

gab_status gab_world_watch(gab_world *world)
{
  if (!watched && MPI_Comm_create_errhandler(on_mpi_error, &handler) != MPI_SUCCESS)
    GAB_FAIL(GAB_ERR_MPI, "no error handler can be made");
  world->next = watched;
  watched = world;
  return GAB_OK;
}

void gab_world_unwatch(gab_world *world)
{
  gab_world **place = &watched;
  while (*place && *place != world) place = &(*place)->next;
  if (!*place) return;
  *place = world->next;
  if (!watched) MPI_Errhandler_free(&handler);
}

void gab_world_watch_comm(MPI_Comm comm) { MPI_Comm_set_errhandler(comm, handler); }

/* ------------------------------------------------------------------------------------ broken state */

gab_status gab_world_fault(gab_world *world)
{
  if (world->broken) world->drop_messages(world);
  if (world->abort_message && *world->abort_message)
    GAB_FAIL(GAB_ERR_FAULT, "communicators must be rebuilt: rank %d requested an abort: %s",
             (int)world->abort_rank, world->abort_message);
  GAB_FAIL(GAB_ERR_FAULT, "process failure or abort request; communicators must be rebuilt");
}

gab_status gab_world_mpi(gab_world *world, int code, const char *function)
{
  if (code == MPI_SUCCESS) return GAB_OK;
  if (code == MPI_ERR_IN_STATUS) code = world->last_code;
  if (world->broken || gab_mpi_is_fault(code)) return gab_world_fault(world);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  GAB_FAIL(GAB_ERR_MPI, "%s: %s", function, text);
}

/* A probe with a named source that finds nothing lets MPI make progress. */
void gab_mpi_progress(void)
{
  int there;
  MPI_Iprobe(0, 0, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
}

gab_status gab_world_count_deaths(gab_world *world, int *processes, int32_t *members)
{
  *processes = 0;
  *members = 0;
  if (world->is_without_mpi) return GAB_OK;
#ifdef GAB_HAVE_ULFM
  MPI_Group failed = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  GAB_TRY(gab_world_mpi(world, MPIX_Comm_get_failed(world->comm, &failed), "MPIX_Comm_get_failed"));
  MPI_Group_size(failed, processes);
  if (*processes > 0) MPI_Comm_group(world->comm, &all);
  for (int i = 0, comm_rank; i < *processes; i++) {
    MPI_Group_translate_ranks(failed, 1, &i, all, &comm_rank);
    *members += gab_members_rank_of_process(&world->members,
                                            gab_world_process_of_comm_rank(world, comm_rank)) != GAB_NO_RANK;
  }
  if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
  MPI_Group_free(&failed);
#endif
  return GAB_OK;
}

gab_status gab_world_look_for_deaths(gab_world *world)
{
  int processes;
  int32_t members;
  GAB_TRY(gab_world_check(world));
  GAB_TRY(gab_world_count_deaths(world, &processes, &members));
  if (members > 0) gab_world_break(world);
  return gab_world_check(world);
}

gab_status gab_world_check(gab_world *world)
{
  if (gab_world_replays(world)) return GAB_OK; /* its faults are handled after the set-up */
#ifdef GAB_HAVE_ULFM
  if (!world->broken && !world->is_without_mpi) {
    int revoked = 0;
    MPIX_Comm_is_revoked(world->comm, &revoked);
    if (revoked) gab_world_break(world);
  }
#endif
  return world->broken ? gab_world_fault(world) : GAB_OK;
}

gab_status gab_world_nap(gab_world *world, double seconds)
{
  struct timespec pause = {.tv_sec = (time_t)seconds};
  pause.tv_nsec = (long)(1e9 * (seconds - (double)pause.tv_sec));
  if (!world->is_without_mpi) gab_mpi_progress();
  nanosleep(&pause, NULL);
  return gab_world_check(world);
}

/* ------------------------------------------------------------------------------------ abort requests */

static char *copy_text(const char *text)
{
  void *memory = NULL;
  const size_t bytes = strlen(text) + 1;
  if (gab_alloc(bytes, GAB_MEMORY_OTHER, &memory) != GAB_OK) return NULL;
  return memcpy(memory, text, bytes);
}

void gab_world_forget_abort_request(gab_world *world)
{
  world->abort_request = GAB_OK;
  gab_free(&world->abort_message);
  gab_free(&world->abort_where);
}

void gab_world_keep_abort_request(gab_world *world, gab_status abort_request, gab_rank rank,
                                  const char *message, const char *where)
{
  if (world->abort_request > abort_request ||
      (world->abort_request == abort_request && world->abort_rank <= rank))
    return;
  gab_world_forget_abort_request(world);
  world->abort_request = abort_request;
  world->abort_rank = rank;
  world->abort_message = copy_text(message);
  world->abort_where = copy_text(where);
}

void gab_world_leave(void)
{
  gab_log_all(GAB_LOG_ERROR, "a respawned process gives up before it runs its rank: %s", gab_error_message());
  kill(getpid(), SIGKILL);
}

gab_status gab_world_raise(gab_world *world, gab_status abort_request)
{
  if (abort_request <= GAB_OK || abort_request == GAB_ERR_FAULT || abort_request >= GAB_STATUS_COUNT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "status %d cannot be raised", (int)abort_request);
  if (gab_world_replays(world)) gab_world_leave();
  gab_world_keep_abort_request(world, abort_request, world->rank, gab_error_message(), gab_error_where());
  gab_world_break(world);
  return gab_world_fault(world);
}

/* ------------------------------------------------------------------------------------ agreement */

gab_status gab_comm_agree(MPI_Comm comm, int *bits, bool *deaths)
{
  if (deaths) *deaths = false;
  if (comm == MPI_COMM_NULL) return GAB_OK; /* a world without MPI has one process */
#ifdef GAB_HAVE_ULFM
  const int code = MPIX_Comm_agree(comm, bits);
  if (code != MPI_SUCCESS && !gab_mpi_is_fault(code)) GAB_FAIL(GAB_ERR_MPI, "the agreement failed");
  if (deaths) *deaths = code != MPI_SUCCESS;
#else
  if (MPI_Allreduce(MPI_IN_PLACE, bits, 1, MPI_INT, MPI_BAND, comm) != MPI_SUCCESS)
    GAB_FAIL(GAB_ERR_MPI, "the agreement failed");
#endif
  return GAB_OK;
}

/* The present communicator of agreements in steps. */
static MPI_Comm comm_at_work(const gab_world *world)
{
  return world->resting ? world->active_comm : world->comm;
}

gab_status gab_world_refuse_logged(const gab_world *world, const char *what)
{
  if (!world->logger) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_STATE,
      "%s needs all processes at once, which strategy `local' allows in post-step actions and finishes of a time loop "
      "only, not in tasks and monitors",
      what);
}

/* Processes that are in a repair already take part in this agreement without the bit of processes in a step, so it
 * is missing on all. */
gab_status gab_world_agree(gab_world *world, uint32_t *flags)
{
  GAB_TRY(gab_world_check(world));
  GAB_TRY(gab_world_refuse_logged(world, "an agreement"));
  if (*flags >> GAB_AGREE_FLAGS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "flags 0x%" PRIx32 " to be agreed on: there are %d", *flags,
             (int)GAB_AGREE_FLAGS);
  if (gab_world_replays(world)) return gab_replay_into(world, GAB_REPLAY_AGREEMENT, flags, sizeof *flags);
  int bits = (int)(GAB_AGREE_WORK | *flags << GAB_AGREE_PAYLOAD_SHIFT);
  bool deaths;
  world->meetings++;
  GAB_TRY(gab_comm_agree(comm_at_work(world), &bits, &deaths));
  if (deaths || !(bits & GAB_AGREE_WORK)) {
    gab_world_break(world);
    return gab_world_fault(world);
  }
  *flags = ((uint32_t)bits >> GAB_AGREE_PAYLOAD_SHIFT) & ((1u << GAB_AGREE_FLAGS) - 1);
  gab_replay_note(world, GAB_REPLAY_AGREEMENT, flags, sizeof *flags);
  return GAB_OK;
}
