/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=5,6 quick=5 timeout=120 needs=ulfm args=store=neighbour */
/* Processes are killed at random places in a commit, one after another; spares replace them, all roll back to the last
 * common epoch, stored in the neighbours' memory, and the result is the undisturbed one.
 *
 *   mpi_deaths SETTINGS... */
#include "tests/persist/deaths.h"

enum { STATE_TAG = 1, RING_TAG = 2 };
typedef struct state {
  uint64_t value, step;
} state;

static char settings[300] = "commit=together";

static int step_once(state *now)
{
  uint64_t from = 0;
  int code = MPI_Sendrecv(&now->value, 1, MPI_UINT64_T, (comm_rank + 1) % size, RING_TAG, &from, 1,
                          MPI_UINT64_T, (comm_rank + size - 1) % size, RING_TAG, comm, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  const state next = {mixed(now->value, from), now->step + 1};
  code = MPI_Send(&next, 2, MPI_UINT64_T, comm_rank, STATE_TAG, persistent);
  if (code == MPI_SUCCESS) code = gab_persist_commit(persistent);
  if (code == MPI_SUCCESS) *now = next;
  return code;
}

/* Rank 1 dies first; when it runs again rank 2 does, or with four ranks the replacement of rank 1: two ranks that store
 * each other's copies must not be dead at the same time. */
static void maybe_die(const state *now)
{
  static bool armed;
  const gab_incarnation mine = gab_world_incarnation(world, comm_rank);
  const bool first = comm_rank == 1 && mine == 0 && now->step == 7;
  const bool second = now->step >= 19 && gab_world_incarnation(world, 1) == 1 &&
                      (size == 4 ? comm_rank == 1 : comm_rank == 2 && mine == 0);
  if (armed || (!first && !second)) return;
  armed = true;
  die_within(50 + (long)(getpid() % 7) * 40);
}

static void read_state(state *now)
{
  *now = (state){1000 + (uint64_t)comm_rank, 0};
  REQUIRE(deaths_open(settings) == GAB_PERSIST_OK);
  CHECK(gab_failure() == (gab_world_spares(world) < 2));
  if (!gab_failure()) return;
  REQUIRE(MPI_Recv(now, 2, MPI_UINT64_T, comm_rank, STATE_TAG, persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  uint64_t same[2] = {now->step, ~now->step}, most[2];
  if (MPI_Allreduce(same, most, 2, MPI_UINT64_T, MPI_MAX, comm) == MPI_SUCCESS) CHECK(most[0] == ~most[1]);
  CHECK(now->step >= 7);
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    strcat(settings, " ");
    strcat(settings, argv[i]);
  }
  if (!deaths_begin(&argc, &argv, "2")) return deaths_end(false);
  state now;
  read_state(&now);
  while (now.step < STEPS) {
    maybe_die(&now);
    if (step_once(&now) == MPI_SUCCESS) continue;
    REQUIRE(gab_world_check(world) != GAB_OK);
    read_state(&now);
  }
  CHECK(now.value == undisturbed(comm_rank));
  if (gab_persist_discard(&persistent) != MPI_SUCCESS) CHECK(false);
  doomed = (uint64_t)1 << 1 | (uint64_t)1 << (size == 4 ? 4 : 2);
  return deaths_end(true);
}
