/* SPDX-License-Identifier: Apache-2.0 */
/** @file spares_chosen.c
 *  @brief Choice of the spare processes: the last ones of the run, or the last ones of each node.
 *
 *  Either way they have the last process ids. With spares on each node, the communicator of the world orders the processes
 *  accordingly, so that process ids stay ranks of it and no list is needed. */
#include "core/world/world_impl.h"

#include <stdlib.h>
#include <string.h>

gab_status gab_spares_told(gab_spares_wish *wish)
{
  const char *told = getenv("GABION_SPARES");
  char *end = NULL;
  *wish = (gab_spares_wish){.count = 0};
  if (!told || !told[0]) return GAB_OK;
  const long count = strtol(told, &end, 10);
  wish->per_node = strcmp(end, "/node") == 0;
  if (end == told || (*end && !wish->per_node) || count < 0 || count > INT32_MAX)
    GAB_FAIL(GAB_ERR_INPUT, "GABION_SPARES is '%s': it must be a number of processes, or NUMBER/node", told);
  wish->count = (int32_t)count;
  return GAB_OK;
}

/* Whether this process is one of the last `count` of its node. */
static int is_last_of_node(int32_t count, bool *last)
{
  MPI_Comm node;
  int place = 0, here = 0;
  const int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(node, &place);
  MPI_Comm_size(node, &here);
  *last = place >= here - count;
  return MPI_Comm_free(&node);
}

/* After an error Open MPI 5.0.7 may return the handle of an incomplete communicator. */
static int make(const gab_spares_wish *wish, bool is_spare, MPI_Comm *comm)
{
  MPI_Comm made;
  const int code = wish->per_node ? MPI_Comm_split(MPI_COMM_WORLD, 0, is_spare, &made)
                                  : MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (code == MPI_SUCCESS) *comm = made;
  return code;
}

int gab_spares_set_aside(const gab_spares_wish *wish, MPI_Comm *comm, int32_t *spares)
{
  bool is_spare = false;
  *spares = wish->count;
  if (!wish->per_node) return make(wish, false, comm);
  int code = is_last_of_node(wish->count, &is_spare);
  if (code == MPI_SUCCESS) code = make(wish, is_spare, comm);
  if (code != MPI_SUCCESS) return code;
  int mine = is_spare, all = 0;
  code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  *spares = all;
  return code;
}
