/* SPDX-License-Identifier: Apache-2.0 */
/* For script_respawned.sh: a ring in which rank 1 dies, and then the process that was started for it; each new one
 * begins at main() and goes on from what is stored.
 *
 *   helper_respawned FOLDER STORE COMMIT [live]     live: nobody dies */
#include "core/world/world.h"
#include "resilience/persist/persist.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { STEPS = 40, STATE_TAG = 1, RING_TAG = 2 };
typedef struct state {
  uint64_t value, step;
} state;

static gab_world *world;
static MPI_Comm comm, persistent;
static int comm_rank, size;

static void die(int number)
{
  (void)number;
  kill(getpid(), SIGKILL);
}

static bool open_store(char **argv)
{
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "persist_folder", argv[1]);
  MPI_Info_set(info, "persist_node_folder", argv[1]);
  MPI_Info_set(info, "persist_store", argv[2]);
  MPI_Info_set(info, "persist_commit", argv[3]);
  const int code = MPIX_Comm_persist(comm, "respawned", info, &persistent);
  MPI_Info_free(&info);
  return code == MPI_SUCCESS;
}

static bool step_once(state *now)
{
  uint64_t from = 0;
  if (MPI_Sendrecv(&now->value, 1, MPI_UINT64_T, (comm_rank + 1) % size, RING_TAG, &from, 1, MPI_UINT64_T,
                   (comm_rank + size - 1) % size, RING_TAG, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  const state next = {now->value * 6364136223846793005u + from, now->step + 1};
  if (MPI_Send(&next, 2, MPI_UINT64_T, comm_rank, STATE_TAG, persistent) != MPI_SUCCESS) return false;
  if (gab_persist_commit(persistent) != MPI_SUCCESS) return false;
  *now = next;
  return true;
}

/* From an opening to the end, or to a fault. */
static bool run(int argc, char **argv)
{
  state now = {1000, 0};
  static bool armed;
  MPI_Comm_rank(comm, &comm_rank);
  MPI_Comm_size(comm, &size);
  now.value += (uint64_t)comm_rank;
  if (!open_store(argv)) return false;
  if (gab_failure() &&
      MPI_Recv(&now, 2, MPI_UINT64_T, comm_rank, STATE_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  while (now.step < STEPS) {
    const gab_incarnation life = gab_world_incarnation(world, comm_rank);
    if (argc < 5 && comm_rank == 1 && !armed &&
        ((life == 0 && now.step == 7) || (life == 1 && now.step == 23))) {
      const struct itimerval soon = {.it_value = {0, 1 + (getpid() % 7) * 40}};
      armed = true;
      signal(SIGALRM, die);
      setitimer(ITIMER_REAL, &soon, NULL);
    }
    if (!step_once(&now)) return false;
  }
  uint32_t flags = 1;
  if (gab_world_agree(world, &flags) != GAB_OK) return false;
  printf("rank %d: %llu, life %d\n", comm_rank, (unsigned long long)now.value,
         (int)gab_world_incarnation(world, 1));
  fflush(stdout);
  gab_persist_discard(&persistent);
  return true;
}

int main(int argc, char **argv)
{
  gab_comm *shared;
  gab_status abort_request;
  if (argc < 4 || gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES | GAB_REPLACEMENT_RESPAWN);
  if (gab_world_dup(world, &shared) != GAB_OK) return 1;
  if (gab_world_rest(world, &abort_request) != GAB_OK || abort_request != GAB_OK) return 1;
  comm = gab_comm_mpi(shared);
  while (!run(argc, argv)) {
    if (gab_world_check(world) == GAB_OK) {
      fprintf(stderr, "rank %d: %s\n", comm_rank, gab_persist_message());
      return 1;
    }
    if (gab_world_repair(world, &abort_request) != GAB_OK || abort_request != GAB_OK) return 1;
    comm = gab_comm_mpi(shared);
  }
  if (gab_world_dismiss(world, GAB_OK) != GAB_OK) return 1;
  gab_world_destroy(&world);
  return 0;
}
