/* SPDX-License-Identifier: Apache-2.0 */
/** @file comm.c
 *  @brief Communicators for the MPI calls of an application, registered so that repairs rebuild them. */
#include "core/world/world_impl.h"

#include <stdlib.h>

/* If creation of a communicator fails, Open MPI calls the error handler with a dangling handle in the output argument, and
 * the handler revokes all communicators of the world; so the result is registered only when valid. */
static gab_status make(gab_comm *comm)
{
  gab_world *world = comm->world;
  comm->mpi = MPI_COMM_NULL;
  if (gab_world_is_spare(world) || world->is_without_mpi) return GAB_OK;
  MPI_Comm made = MPI_COMM_NULL;
  const int code = comm->split ? MPI_Comm_split(world->active_comm, comm->colour,
                                                gab_members_index(&world->members, world->rank), &made)
                               : MPI_Comm_dup(world->active_comm, &made);
  GAB_TRY(gab_world_mpi(world, code, comm->split ? "MPI_Comm_split" : "MPI_Comm_dup"));
  comm->mpi = made;
  if (comm->mpi != MPI_COMM_NULL) gab_world_watch_comm(comm->mpi);
  return GAB_OK;
}

/* Registered only if all processes have it: after a death only some may, but the repair needs the same list on all. */
static gab_status add(gab_world *world, bool split, int colour, gab_comm **out)
{
  *out = NULL;
  GAB_TRY(gab_world_check(world));
  gab_comm *comm;
  GAB_TRY(GAB_NEW(&comm, GAB_MEMORY_OTHER));
  *comm = (gab_comm){.world = world, .mpi = MPI_COMM_NULL, .split = split, .colour = colour};
  gab_status status = make(comm);
  if (status == GAB_OK) {
    uint32_t flags = 1;
    status = gab_world_agree(world, &flags);
  }
  if (status != GAB_OK) {
    if (comm->mpi != MPI_COMM_NULL) MPI_Comm_free(&comm->mpi);
    gab_free(&comm);
    return status;
  }
  gab_comm **place = &world->comms;
  while (*place) place = &(*place)->next;
  *place = comm;
  *out = comm;
  return GAB_OK;
}

gab_status gab_world_dup(gab_world *world, gab_comm **comm) { return add(world, false, 0, comm); }

gab_status gab_world_split(gab_world *world, int colour, gab_comm **comm)
{
  return add(world, true, colour, comm);
}

MPI_Comm gab_comm_mpi(const gab_comm *comm) { return comm->mpi; }

static gab_status make_active_comm(gab_world *world)
{
  world->active_comm = world->comm;
  if (!gab_world_has_benches(world)) return GAB_OK;
  const bool active = !gab_world_is_spare(world);
  MPI_Comm made = MPI_COMM_NULL;
  world->active_comm = MPI_COMM_NULL;
  GAB_TRY(gab_world_mpi(world,
                        MPI_Comm_split(world->comm, active ? 0 : MPI_UNDEFINED, (int)world->rank, &made),
                        "MPI_Comm_split"));
  world->active_comm = made;
  if (world->active_comm != MPI_COMM_NULL) gab_world_watch_comm(world->active_comm);
  return GAB_OK;
}

gab_status gab_world_remake_comms(gab_world *world)
{
  GAB_TRY(make_active_comm(world));
  for (gab_comm *comm = world->comms; comm; comm = comm->next) GAB_TRY(make(comm));
  return GAB_OK;
}

void gab_world_free_comms(gab_world *world)
{
  for (gab_comm *comm = world->comms; comm; comm = comm->next)
    if (comm->mpi != MPI_COMM_NULL) MPI_Comm_free(&comm->mpi);
  if (world->active_comm != MPI_COMM_NULL && world->active_comm != world->comm)
    MPI_Comm_free(&world->active_comm);
  world->active_comm = MPI_COMM_NULL;
}

/* Ids belong to the process, for all worlds. */
static struct {
  MPI_Comm *comms;
  size_t count, capacity;
} retired;

void gab_comm_retire(MPI_Comm comm)
{
  void *comms = retired.comms;
  if (comm == MPI_COMM_NULL) return;
  const gab_status status = gab_array_reserve(&comms, &retired.capacity, retired.count + 1, sizeof comm);
  retired.comms = comms;
  if (status == GAB_OK) retired.comms[retired.count++] = comm;
  else MPI_Comm_free(&comm);
}

void gab_comm_free_retired(void)
{
  for (size_t i = 0; i < retired.count; i++) MPI_Comm_free(&retired.comms[i]);
  gab_free(&retired.comms);
  retired.count = retired.capacity = 0;
}

void gab_world_retire_comms(gab_world *world)
{
  for (gab_comm *comm = world->comms; comm; comm = comm->next) {
    gab_comm_retire(comm->mpi);
    comm->mpi = MPI_COMM_NULL;
  }
  if (world->active_comm != world->comm) gab_comm_retire(world->active_comm);
  world->active_comm = MPI_COMM_NULL;
}
