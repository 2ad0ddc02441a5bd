/* SPDX-License-Identifier: Apache-2.0 */
/** @file connect_root.c
 *  @brief The root is connected with everybody, where silence of connections tells who is cut off.
 *
 *  A process counts those as cut off with which it has connections that have fallen silent (core/world/quarantine.h). When the node
 *  of the root is cut off and its cable comes back, who had no connection to it listens to it again; and the first contact of the two
 *  in the midst of a repair costs a process that lives, now and then, in Open MPI 5.0.7 (doc/ulfm.md). Trees of
 *  messages do not connect the root with all: of four processes not with the last. So it sends an empty message to each when the
 *  world begins, and again in each repair, which may have given another root. */
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
