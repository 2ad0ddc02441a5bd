/* SPDX-License-Identifier: Apache-2.0 */
/** @file connect_root.c
 *  @brief Connects the root with all processes if silent connections are watched.
 *
 *  A process treats peers as cut off if its connections to them are silent (core/world/quarantine.h). If the node of
 *  the root is cut off and its cable is restored, a process without a connection to the root would accept its
 *  messages again. A first contact of two processes during a repair sometimes kills a live process in Open MPI 5.0.7
 *  (doc/ulfm.md). Trees of messages do not connect the root with all processes: of four, not with the last. So the
 *  root sends an empty message to each at the start of the world, and again in each repair, which may change the
 *  root. */
#include "core/world/quarantine.h"
#include "core/world/world_impl.h"

gab_status gab_world_connect_root(gab_world *world)
{
  int comm_rank = 0, size = 0;
  if (!gab_quarantine_is_watched() || gab_members_count(&world->members) == 0) return GAB_OK;
  MPI_Comm_rank(world->comm, &comm_rank);
  MPI_Comm_size(world->comm, &size);
  const int root = gab_world_comm_rank(world, gab_world_root(world));
  if (comm_rank != root)
    return gab_world_mpi(
        world, MPI_Recv(NULL, 0, MPI_BYTE, root, GAB_CONTEXT_CONNECT, world->comm, MPI_STATUS_IGNORE),
        "MPI_Recv");
  for (int to = 0; to < size; to++)
    if (to != root)
      GAB_TRY(gab_world_mpi(world, MPI_Send(NULL, 0, MPI_BYTE, to, GAB_CONTEXT_CONNECT, world->comm),
                            "MPI_Send"));
  return GAB_OK;
}
