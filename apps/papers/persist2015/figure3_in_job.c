/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 3 of Gracia et al. 2015 as its authors mean it: the job goes on. A process dies, a spare takes its place and begins
 * where its last commit was; the survivor keeps its data and goes on where it was.
 *
 *   GABION_SPARES=1 mpirun (flags of doc/persist.md) -n 3 figure3_in_job [FOLDER]
 *
 * figure3.c says what had to be put right in the listing. What is new here:
 * - a gab_world mends the communicator: the spare rests until it is needed, and everybody falls out of the calls that wait
 *   for the dead with an error;
 * - the store is the memory of the node, which outlives the process;
 * - the iteration is cut where a fault may find the survivor: what it has computed, exchanged and stored it does not do
 *   again. */
#include "apps/papers/persist2015/figure3.h"
#include "core/world/world.h"
#include "resilience/reports/completion.h"
#include "resilience/persist/persist.h"

#include <stdio.h>

static gab_world *world;
static gab_comm *shared;
static MPI_Comm comm, persistent;

/* All that a process has of the run. */
static struct {
  float data[SIZE], seed;
  int iter;                                     /* the present iteration */
  bool computed, stored, exchanged, aggregated; /* what is done of it */
  int others_next;                              /* the first exchange that the other one still needs */
} now;

static bool open_store(const char *folder)
{
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_store", "node");
  MPI_Info_set(info, "persist_node_folder", folder);
  MPI_Info_set(info, "persist_depth", "2");
  MPI_Info_set(info, "persist_order", "lifo");
  const int code = MPIX_Comm_persist(comm, "session 1001", info, &persistent);
  MPI_Info_free(&info);
  return code == MPI_SUCCESS;
}

/* @return false after a fault, in any of the following */
static bool restore(int rank)
{
  float halo = 0;
  int last = -1;
  now.seed = 321 + (float)rank;
  if (gab_failure()) {
    if (MPI_Recv(&now.seed, 1, MPI_FLOAT, rank, SEED_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
    if (MPI_Recv(&last, 1, MPI_INT, rank, ITER_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
    if (MPI_Recv(&halo, 1, MPI_FLOAT, rank, HALO_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return false;
  }
  init_data(now.data, now.seed);
  now.data[LAST] = halo;
  now.iter = last + 1;
  now.computed = now.stored = now.exchanged = now.aggregated = false;
  return true;
}

/* Where the other one is: also the first call after each repair. */
static bool compare(int other)
{
  const int next = now.exchanged ? now.iter + 1 : now.iter;
  return MPI_Sendrecv(&next, 1, MPI_INT, other, NEXT_TAG, &now.others_next, 1, MPI_INT, other, NEXT_TAG, comm,
                      MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static bool exchange(int other)
{
  message boundary = {now.data[0], now.iter};
  float halo = 0;
  if (now.iter < now.others_next) { /* the other one has done this exchange */
    do {
      if (MPI_Recv(&boundary, 1, MPI_FLOAT_INT, other, BOUNDARY_TAG, persistent, MPI_STATUS_IGNORE) !=
          MPI_SUCCESS)
        return false;
    } while (boundary.iter != now.iter);
    halo = boundary.value;
  } else if (MPI_Sendrecv(&boundary.value, 1, MPI_FLOAT, other, BOUNDARY_TAG, &halo, 1, MPI_FLOAT, other,
                          BOUNDARY_TAG, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    return false;
  }
  now.data[LAST] = halo;
  return true;
}

static bool iterate(int rank, int other)
{
  if (!now.computed) {
    compute(now.data);
    now.computed = true;
  }
  if (!now.stored) {
    const message boundary = {now.data[0], now.iter};
    if (MPI_Send(&boundary, 1, MPI_FLOAT_INT, other, BOUNDARY_TAG, persistent) != MPI_SUCCESS) return false;
    now.stored = true;
  }
  if (!now.exchanged) {
    if (!exchange(other)) return false;
    now.exchanged = true;
  }
  if (!now.aggregated) {
    now.seed = aggregate(now.data);
    printf("%d %d %.10g\n", rank, now.iter, (double)now.seed);
    fflush(stdout);
    now.aggregated = true;
  }
  /* Sent again after a fault, they stand behind those of before: the newest come back first. */
  if (MPI_Send(&now.seed, 1, MPI_FLOAT, rank, SEED_TAG, persistent) != MPI_SUCCESS) return false;
  if (MPI_Send(&now.iter, 1, MPI_INT, rank, ITER_TAG, persistent) != MPI_SUCCESS) return false;
  if (MPI_Send(&now.data[LAST], 1, MPI_FLOAT, rank, HALO_TAG, persistent) != MPI_SUCCESS) return false;
  if (gab_persist_commit(persistent) != MPI_SUCCESS) return false;
  now.iter++;
  now.computed = now.stored = now.exchanged = now.aggregated = false;
  return true;
}

/* From the first opening, or from the one behind a repair, to the end. */
static bool run(const char *folder, bool *begun)
{
  int rank;
  MPI_Comm_rank(comm, &rank);
  const int other = 1 - rank;
  if (!open_store(folder)) return false;
  if (!*begun && !restore(rank)) return false;
  *begun = true;
  if (!compare(other)) return false;
  while (now.iter < ITERATIONS)
    if (!iterate(rank, other)) return false;
  printf("Final: %d %.10g\n", rank, (double)now.seed);
  fflush(stdout);
  /* Both are at the end, and know it, or neither is: from here on nobody needs anybody. */
  uint32_t flags = 1;
  if (gab_world_agree(world, &flags) != GAB_OK) return false;
  gab_persist_discard(&persistent);
  return true;
}

int main(int argc, char **argv)
{
  bool begun = false;
  gab_status abort_request;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  if (gab_world_dup(world, &shared) != GAB_OK) return 1;
  if (gab_world_rest(world, &abort_request) != GAB_OK || abort_request != GAB_OK) return 1;
  if (!gab_world_is_spare(world)) {
    comm = gab_comm_mpi(shared);
    while (!run(argc > 1 ? argv[1] : "/dev/shm", &begun)) {
      if (gab_world_check(world) == GAB_OK) { /* no fault: it cannot go on */
        fprintf(stderr, "%s\n", gab_persist_message());
        return 1;
      }
      if (gab_world_repair(world, &abort_request) != GAB_OK || abort_request != GAB_OK) return 1;
      comm = gab_comm_mpi(shared);
    }
  }
  if (gab_world_dismiss(world, GAB_OK) != GAB_OK) return 1;
  const int code = gab_report_completion(world, 0); /* without it gabion-launch cannot know */
  gab_world_destroy(&world);
  return code;
}
