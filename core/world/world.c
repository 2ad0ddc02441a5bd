/* SPDX-License-Identifier: Apache-2.0 */
/** @file world.c
 *  @brief Creation and end of a world. */
#include "core/world/lease.h"
#include "core/world/start_impl.h"
#include "core/world/quarantine.h"
#include "core/world/launcher.h"
#include "core/system/file.h"
#include "core/system/float_modes.h"
#include "core/base/log.h"
#include "core/world/world_impl.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ beginning */

static gab_status start_mpi(int *argc, char ***argv, bool *started)
{
  int level = MPI_THREAD_SINGLE;
  const bool is_spawned = gab_world_was_spawned();
  if (is_spawned) gab_spawn_limit_set();
  GAB_TRY(gab_mpi_start(argc, argv, is_spawned, &level, started));
  if (level < MPI_THREAD_FUNNELED) GAB_FAIL(GAB_ERR_MPI, "MPI gives no support for threads (FUNNELED)");
  GAB_TRY(gab_lease_start_from_environment());
  return gab_quarantine_watch_as_told();
}

/* Creates the main communicator of all processes. A death meanwhile may leave it on some processes only, so they
 * agree, and processes whose creation failed release those that still wait. @param[out] spares number of spares, the
 * last ranks @param[out] lost processes died: the world then uses MPI_COMM_WORLD, or the communicator if all have
 * it, and needs a repair */
static gab_status make_main_comm(gab_world *world, int32_t *spares, bool *lost)
{
  enum { MADE = 1 };
  gab_spares_wish wish;
  GAB_TRY(gab_spares_told(&wish));
  world->spares_per_node = wish.per_node ? wish.count : 0;
  int bits = gab_spares_set_aside(&wish, &world->comm, spares) == MPI_SUCCESS ? MADE : 0;
  if (!bits) gab_comm_revoke(MPI_COMM_WORLD);
  GAB_TRY(gab_comm_agree(MPI_COMM_WORLD, &bits, lost));
  if (bits & MADE) return GAB_OK;
  if (!*lost) GAB_FAIL(GAB_ERR_MPI, "MPI_COMM_WORLD could not be duplicated");
  if (world->comm != MPI_COMM_NULL) MPI_Comm_free(&world->comm);
  world->comm = MPI_COMM_WORLD;
  *spares = 0; /* the run does not start, so the choice of spares is irrelevant */
  return GAB_OK;
}

/* A process that died during MPI's start cannot be replaced, and a run does not start with fewer processes than
 * requested. An abort request breaks the world on all. */
static gab_status begin_anew(gab_world *world)
{
  gab_status abort_request;
  GAB_TRY(gab_world_repair(world, &abort_request));
  (void)gab_error_set(GAB_ERR_AGAIN, __FILE__, __LINE__,
                      "a process died while MPI was being started: nothing is lost");
  (void)gab_world_raise(world, GAB_ERR_AGAIN);
  return GAB_OK;
}

/* The first sign of life for the launcher, which limits the time of a start by --start-within. */
static void tell_launcher(const gab_world *world)
{
  static const char text[] = "setting up\n";
  const char *path = getenv("GABION_PROGRESS");
  if (!path || !gab_world_is_root(world)) return;
  if (gab_file_replace(path, text, sizeof text - 1, GAB_FILE_RENAMED) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "for the launcher: %s", gab_error_message());
}

/* Set by the launcher, which also configures mpirun for respawned processes. Otherwise no set-up is recorded. */
static bool may_respawn(void)
{
  const char *told = getenv("GABION_RESPAWN");
  return told && strcmp(told, "1") == 0;
}

/* Compares the number of processes on this node, from the MPI library, with its cores. GABION_SHARES_CORES overrides
 * it, so that both kinds of waits can be tested on any machine. */
static bool shares_cores(void)
{
  const char *said = getenv("GABION_SHARES_CORES");
  if (said && said[0]) return strcmp(said, "0") != 0;
  return gab_launcher_local_processes() > sysconf(_SC_NPROCESSORS_ONLN);
}

gab_status gab_world_open_ports(gab_world *world)
{
  GAB_TRY(gab_port_open(world, "tree", GAB_CONTEXT_TREE, &world->tree));
  gab_port_set_logged(world->tree);
  GAB_TRY(gab_port_open(world, "gather", GAB_CONTEXT_GATHER, &world->gather[0]));
  GAB_TRY(gab_port_open(world, "gather (odd)", GAB_CONTEXT_GATHER_ODD, &world->gather[1]));
  GAB_TRY(gab_port_open(world, "gather (long)", GAB_CONTEXT_GATHER_LONG, &world->gather_long));
  return gab_port_open(world, "route", GAB_CONTEXT_ROUTE, &world->route);
}

/* @param[in,out] lost processes died: the repair then creates the communicator of the active processes */
static gab_status find_rank(gab_world *world, int32_t spares, bool *lost)
{
  int comm_rank = 0, size = 0;
  MPI_Comm_rank(world->comm, &comm_rank);
  MPI_Comm_size(world->comm, &size);
  if (spares >= size)
    GAB_FAIL(GAB_ERR_INPUT,
             "%" PRId32
             " spare processes asked for, but there are %d processes in all: none is left to compute",
             spares, size);
  gab_members_init(&world->processes, size);
  gab_members_init(&world->members, size - spares);
  gab_members_init(&world->whole, 0);
  world->first_processes = size;
  world->process = comm_rank;
  world->rank = comm_rank;
  world->meets_on_active = true;
  world->active_comm = world->comm;
  gab_status status = *lost ? GAB_ERR_FAULT : gab_world_remake_comms(world);
  if (status == GAB_OK) status = gab_world_connect_root(world);
  *lost = status == GAB_ERR_FAULT;
  if (*lost && world->active_comm == MPI_COMM_NULL) world->active_comm = world->comm;
  return *lost ? GAB_OK : status;
}

void gab_world_initialise(gab_world *world)
{
  world->comm = world->active_comm = MPI_COMM_NULL;
  world->drop_messages = gab_world_abandon_ports;
  world->step = -1;
  world->next_context = GAB_CONTEXT_FIRST_FREE;
  gab_buffer_init(&world->inbox, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&world->outbox, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&world->replay.record, GAB_MEMORY_OTHER);
}

static gab_status begin(gab_world *world, int *argc, char ***argv)
{
  world->shares_cores = shares_cores();
  world->replay.state = may_respawn() ? GAB_REPLAY_WRITES : GAB_REPLAY_NONE;
  GAB_TRY(gab_world_note_folder(world));
  GAB_TRY(start_mpi(argc, argv, &world->owns_mpi));
  /* Calls without a communicator report to these two, which must return instead of aborting. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  GAB_TRY(gab_world_watch(world));
  if (gab_world_was_spawned()) {
    GAB_TRY(gab_world_arrive(world));
    return gab_world_open_ports(world);
  }
  bool lost;
  int32_t spares;
  GAB_TRY(make_main_comm(world, &spares, &lost));
  gab_world_watch_comm(world->comm);
  if (world->comm != MPI_COMM_WORLD) GAB_TRY(gab_comm_world_guard(world));
  GAB_TRY(find_rank(world, spares, &lost));
  GAB_TRY(gab_world_open_ports(world));
  return lost ? begin_anew(world) : GAB_OK;
}

void gab_world_release(gab_world *world)
{
  gab_port_destroy(&world->tree);
  gab_port_destroy(&world->gather[0]);
  gab_port_destroy(&world->gather[1]);
  gab_port_destroy(&world->gather_long);
  gab_port_destroy(&world->route);
  for (gab_port *port = world->ports; port; port = port->next) {
    gab_port_abandon(port);
    port->world = NULL;
  }
  gab_world_free_deferred(world);
  while (world->comms) {
    gab_comm *comm = world->comms;
    world->comms = comm->next;
    gab_free(&comm);
  }
  gab_world_forget_abort_request(world);
  gab_buffer_release(&world->inbox);
  gab_buffer_release(&world->outbox);
  gab_members_release(&world->members);
  gab_members_release(&world->processes);
  gab_members_release(&world->whole);
  gab_arrival_destroy(&world->arrival);
  gab_buffer_release(&world->replay.record);
  gab_free(&world->patterns.iterations);
  gab_free(&world->folder);
  gab_free(&world->node_ranks);
  gab_free(&world->origins);
  gab_comm_world_unguard(world);
  gab_world_unwatch(world);
  gab_free(&world);
}

#undef gab_world_create /* the macro that records the version of a program's headers */
gab_status gab_world_create(int *argc, char ***argv, gab_world **world)
{
  *world = NULL;
  GAB_TRY(gab_version_check_headers());
  gab_world *fresh;
  GAB_TRY(GAB_NEW(&fresh, GAB_MEMORY_OTHER));
  gab_world_initialise(fresh);
  const gab_status status = begin(fresh, argc, argv);
  if (status != GAB_OK) {
    int started = 0;
    MPI_Initialized(&started);
    const bool finalise = started && fresh->owns_mpi;
    gab_world_free_comms(fresh);
    if (fresh->comm != MPI_COMM_NULL && fresh->comm != MPI_COMM_WORLD) MPI_Comm_free(&fresh->comm);
    gab_world_release(fresh);
    if (finalise) MPI_Finalize();
    return status;
  }
  gab_log_set_identity(fresh->rank, gab_world_is_root(fresh));
  (void)gab_float_modes_settle();
  tell_launcher(fresh);
  *world = fresh;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ end */

/* Returns true if all live processes are here, so that none waits in MPI_Finalize. A death meanwhile causes another
 * repair. */
static bool part_in_peace(gab_world *world)
{
  if (world->lost) return false;
  for (;;) {
    uint32_t flags = 1;
    const gab_status status = gab_world_agree(world, &flags);
    if (status == GAB_OK) return true;
    gab_status abort_request;
    if (status != GAB_ERR_FAULT || gab_world_repair(world, &abort_request) != GAB_OK || world->lost)
      return false;
  }
}

/* After the end of a process without MPI_Finalize the launcher kills the others, though the lowest rank may still be
 * writing files. */
static void let_root_end_first(const gab_world *world)
{
  const struct timespec a_second = {.tv_sec = 1};
  if (world->lost && !gab_world_is_root(world)) nanosleep(&a_second, NULL);
}

void gab_world_destroy(gab_world **world_pointer)
{
  gab_world *world = *world_pointer;
  if (!world) return;
  if (gab_world_replays(world)) gab_world_leave();
  const bool finalise = part_in_peace(world);
  /* MPI_Finalize of Open MPI 5 hangs or fails in many runs in which processes were spawned (doc/ulfm.md). */
  const bool owns_mpi =
      world->owns_mpi && !world->has_spawned && world->processes.ranks == world->first_processes;
  world->repairing = true; /* the error handler does nothing from now on */
  if (finalise) {
    gab_world_abandon_ports(world);
    gab_world_free_deferred(world);
    gab_world_free_comms(world);
    if (!world->is_without_mpi) MPI_Comm_free(&world->comm);
    gab_world_release(world);
    if (owns_mpi) {
      MPI_Finalize();
      gab_mpi_clean_up();
    }
  } else {
    /* Messages may be in transit in a broken communicator, so MPI and its memory are not released. */
    let_root_end_first(world);
  }
  *world_pointer = NULL;
}

/* ------------------------------------------------------------------------------------ facts */

/* Some libraries return a long text; its first clause is the name. */
const char *gab_world_mpi_name(void)
{
  static char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(name, &length) != MPI_SUCCESS) return "unknown";
  name[strcspn(name, ",\n")] = '\0';
  return name;
}

bool gab_world_survives_deaths(const gab_world *world)
{
  (void)world;
#ifdef GAB_HAVE_ULFM
  return true;
#else
  return false;
#endif
}
