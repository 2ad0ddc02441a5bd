/* SPDX-License-Identifier: Apache-2.0 */
/** @file nodes.c
 *  @brief Ranks of this node, and choice of the nodes for respawned processes.
 *
 *  A process knows only its own node: its ranks at the end of the last repair. This tells whether a dead rank was on
 *  this node and how many ranks the node has; the best choice is found by reductions. A lost node is not recorded
 *  anywhere.
 *
 *  A node with replacement processes only gets no further ones while other nodes exist, since its daemon has
 *  forgotten the first job (doc/ulfm.md). So only processes of the start represent a node. */
#include "core/base/hash.h"
#include "core/world/spares/respawn_impl.h"

#include <limits.h>
#include <string.h>

void gab_node_name(char name[MPI_MAX_PROCESSOR_NAME])
{
  int length;
  memset(name, 0, MPI_MAX_PROCESSOR_NAME);
  if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS) name[0] = '\0';
}

gab_process gab_world_process_beside(const gab_world *world, gab_process process)
{
  if (process < world->first_processes) return process;
  const gab_process index = process - world->first_processes;
  return index < world->origin_count ? world->origins[index] : GAB_NO_PROCESS;
}

/* ------------------------------------------------------------------------------------ processes of the node */

static gab_status keep_ranks(gab_world *world, const int32_t *ranks, int count)
{
  GAB_TRY(GAB_RESIZE_ARRAY(&world->node_ranks, (size_t)count, GAB_MEMORY_OTHER));
  world->node_rank_count = 0;
  for (int i = 0; i < count; i++)
    if (ranks[i] != GAB_NO_RANK) world->node_ranks[world->node_rank_count++] = ranks[i];
  return GAB_OK;
}

/* @param[in] node communicator of the processes of this node */
static gab_status ask_node(gab_world *world, MPI_Comm node)
{
  int here, all;
  int32_t *ranks = NULL;
  const int32_t mine = gab_world_is_spare(world) ? GAB_NO_RANK : world->rank;
  MPI_Comm_size(node, &here);
  MPI_Comm_size(world->comm, &all);
  if (here != all) world->has_nodes = true;
  GAB_TRY(GAB_NEW_ARRAY(&ranks, (size_t)here, GAB_MEMORY_OTHER));
  gab_status status = gab_world_mpi(world, MPI_Allgather(&mine, 1, MPI_INT32_T, ranks, 1, MPI_INT32_T, node),
                                    "MPI_Allgather");
  if (status == GAB_OK) status = keep_ranks(world, ranks, here);
  gab_free(&ranks);
  return status;
}

/* Equal hashes of two names only place a replacement process on another node, which it detects. */
gab_status gab_nodes_find(gab_world *world)
{
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm made, node = MPI_COMM_NULL;
  gab_node_name(name);
  const int colour = (int)(gab_hash64(name, strlen(name), 0) & INT_MAX);
  const int code = MPI_Comm_split(world->comm, colour, 0, &made);
  if (code == MPI_SUCCESS) node = made;
  GAB_TRY(gab_world_mpi(world, code, "MPI_Comm_split"));
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  const gab_status status = ask_node(world, node);
  if (status == GAB_OK) MPI_Comm_free(&node);
  else gab_comm_revoke(node); /* others may wait in it; messages may be in transit */
  return status;
}

static bool is_here(const gab_world *world, gab_rank rank)
{
  for (int32_t i = 0; i < world->node_rank_count; i++)
    if (world->node_ranks[i] == rank) return true;
  return false;
}

/* ------------------------------------------------------------------------------------ nodes of replacement
 * processes */

static bool is_vacant(const gab_world *world, gab_rank rank)
{
  return gab_members_has(&world->whole, rank) && !gab_members_has(&world->members, rank);
}

int32_t gab_world_vacancies(const gab_world *world)
{
  int32_t count = 0;
  for (int32_t i = 0; i < world->members.gone_count; i++) count += is_vacant(world, world->members.gone[i]);
  return count;
}

/* The rank of a replacement process. */
static gab_rank vacancy(const gab_world *world, int32_t number)
{
  for (int32_t i = 0; i < world->members.gone_count; i++)
    if (is_vacant(world, world->members.gone[i]) && number-- == 0) return world->members.gone[i];
  return GAB_NO_RANK;
}

void gab_replacement_plan_release(gab_replacement_plan *plan)
{
  gab_free(&plan->origins);
  gab_free(&plan->groups);
  gab_free(&plan->hosts);
  *plan = (gab_replacement_plan){.count = 0};
}

static gab_status allocate(gab_replacement_plan *plan, int32_t count)
{
  *plan = (gab_replacement_plan){.count = count};
  GAB_TRY(GAB_NEW_ARRAY(&plan->origins, (size_t)count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&plan->groups, (size_t)count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&plan->hosts, (size_t)count, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static gab_process origin_of_rank(const gab_world *world, gab_rank rank)
{
  return gab_world_process_beside(world, gab_members_last_process(&world->members, rank));
}

static bool speaks_for_node(const gab_world *world) { return world->process < world->first_processes; }

/* Determines for each rank the lowest communicator rank that represents its former node; INT_MAX if there is none. */
static int find_old_nodes(const gab_world *world, int32_t count, int *comm_ranks)
{
  int me;
  MPI_Comm_rank(world->comm, &me);
  for (int32_t i = 0; i < count; i++)
    comm_ranks[i] = speaks_for_node(world) && is_here(world, vacancy(world, i)) ? me : INT_MAX;
  return MPI_Allreduce(MPI_IN_PLACE, comm_ranks, count, MPI_INT, MPI_MIN, world->comm);
}

/* Number of ranks of this node, including replacement processes that return to it. */
static int count_load(const gab_world *world, int32_t count, const int *comm_ranks)
{
  int load = 0;
  for (int32_t i = 0; i < world->node_rank_count; i++)
    load += gab_members_has(&world->members, world->node_ranks[i]);
  for (int32_t i = 0; i < count; i++) load += comm_ranks[i] != INT_MAX && is_here(world, vacancy(world, i));
  return load;
}

/* Chooses nodes one by one, since each choice increases the load of its node. Processes of one node offer the same;
 * the lowest represents it. */
static int find_new_nodes(const gab_world *world, int32_t count, int *comm_ranks, gab_process *origins)
{
  int me, load = count_load(world, count, comm_ranks);
  if (!speaks_for_node(world)) load += INT_MAX / 2; /* after all nodes that are represented */
  MPI_Comm_rank(world->comm, &me);
  for (int32_t i = 0; i < count; i++) {
    if (comm_ranks[i] != INT_MAX) continue;
    int offer[2] = {load, me};
    const int code = MPI_Allreduce(MPI_IN_PLACE, offer, 1, MPI_2INT, MPI_MINLOC, world->comm);
    if (code != MPI_SUCCESS) return code;
    const gab_process process = gab_world_process_of_comm_rank(world, offer[1]);
    comm_ranks[i] = offer[1];
    origins[i] = gab_world_process_beside(world, process);
    load += is_here(world, gab_members_rank_of_process(&world->members, process));
  }
  return MPI_SUCCESS;
}

static void number_groups(gab_replacement_plan *plan, const int *comm_ranks)
{
  for (int32_t i = 0; i < plan->count; i++) {
    int32_t same = 0;
    while (comm_ranks[same] != comm_ranks[i]) same++;
    plan->groups[i] = same < i ? plan->groups[same] : plan->group_count++;
  }
}

/* Sends host names from the representatives to rank 0. */
static int collect_hosts(const gab_world *world, gab_replacement_plan *plan, const int *comm_ranks)
{
  int me, code = MPI_SUCCESS;
  int32_t next = 0;
  MPI_Comm_rank(world->comm, &me);
  for (int32_t i = 0; i < plan->count && code == MPI_SUCCESS; i++) {
    if (plan->groups[i] != next) continue;
    char *host = plan->hosts[next++];
    if (comm_ranks[i] == me) gab_node_name(host);
    if (me == comm_ranks[i] && me != 0)
      code = MPI_Send(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, GAB_CONTEXT_REPAIR, world->comm);
    if (me == 0 && comm_ranks[i] != 0)
      code = MPI_Recv(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, comm_ranks[i], GAB_CONTEXT_REPAIR, world->comm,
                      MPI_STATUS_IGNORE);
  }
  return code;
}

static int plan_nodes(const gab_world *world, gab_replacement_plan *plan, int *comm_ranks)
{
  int code = find_old_nodes(world, plan->count, comm_ranks);
  if (code == MPI_SUCCESS) code = find_new_nodes(world, plan->count, comm_ranks, plan->origins);
  if (code != MPI_SUCCESS) return code;
  number_groups(plan, comm_ranks);
  return collect_hosts(world, plan, comm_ranks);
}

gab_status gab_nodes_plan(gab_world *world, gab_replacement_plan *plan)
{
  int *comm_ranks = NULL;
  GAB_TRY(allocate(plan, gab_world_vacancies(world)));
  for (int32_t i = 0; i < plan->count; i++) plan->origins[i] = origin_of_rank(world, vacancy(world, i));
  plan->group_count = 1; /* only one node: all in group 0 */
  if (!world->has_nodes) return GAB_OK;
  plan->group_count = 0;
  GAB_TRY(GAB_NEW_ARRAY(&comm_ranks, (size_t)plan->count, GAB_MEMORY_OTHER));
  const int code = plan_nodes(world, plan, comm_ranks);
  gab_free(&comm_ranks);
  return gab_world_mpi(world, code, "finding nodes for processes to be started");
}
