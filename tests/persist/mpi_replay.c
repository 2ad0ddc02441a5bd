/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=4,5 quick=4 timeout=120 needs=ulfm */
/* Transparent mode with deaths in the job: a replacement process receives again the messages to its predecessor, messages
 * that it sends again are not delivered twice, survivors continue, and each has the undisturbed result. The state of a
 * process is a message to itself, received after the commit; there is also a sum over all.
 *
 *   mpi_replay [SETTINGS...] */
#include "tests/persist/deaths.h"

enum { STATE_TAG = 1, RING_TAG = 2 };
typedef struct state {
  uint64_t value, sum, step;
} state;

static char settings[300] = "mode=transparent";
static uint64_t sums[STEPS];

/* The undisturbed sums over all, in sums[], and the last value of this rank. */
static uint64_t undisturbed_run(void)
{
  uint64_t value[16] = {0}, next[16] = {0};
  for (int i = 0; i < size; i++) value[i] = 1000 + (uint64_t)i;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < size; i++) next[i] = mixed(value[i], value[(i + size - 1) % size]);
    memcpy(value, next, sizeof value);
    sums[step] = 0;
    for (int i = 0; i < size; i++) sums[step] += value[i];
  }
  return value[comm_rank];
}

/* Parts of the present step that a survivor has completed: it does not repeat them. */
static struct {
  bool sent, got, summed, stored, committed;
  uint64_t from;
  state next;
} done;

static bool step_once(state *now)
{
  const int right = (comm_rank + 1) % size, left = (comm_rank + size - 1) % size;
  if (!done.sent && MPI_Send(&now->value, 1, MPI_UINT64_T, right, RING_TAG, persistent) != MPI_SUCCESS)
    return false;
  done.sent = true;
  if (!done.got &&
      MPI_Recv(&done.from, 1, MPI_UINT64_T, left, RING_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  done.got = true;
  if (!done.summed) {
    done.next = (state){mixed(now->value, done.from), 0, now->step + 1};
    if (MPI_Allreduce(&done.next.value, &done.next.sum, 1, MPI_UINT64_T, MPI_SUM, persistent) != MPI_SUCCESS)
      return false;
    CHECK(done.next.sum == sums[now->step]);
  }
  done.summed = true;
  if (!done.stored && MPI_Send(&done.next, 3, MPI_UINT64_T, comm_rank, STATE_TAG, persistent) != MPI_SUCCESS)
    return false;
  done.stored = true;
  if (!done.committed && gab_persist_commit(persistent) != MPI_SUCCESS) return false;
  done.committed = true;
  if (MPI_Recv(now, 3, MPI_UINT64_T, comm_rank, STATE_TAG, persistent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  memset(&done, 0, sizeof done);
  return true;
}

/* Rank 1 dies first, then rank 0, when rank 1 runs again: both may store each other's copies. */
static void maybe_die(const state *now)
{
  static bool armed;
  const bool first = comm_rank == 1 && now->step == 7,
             second = comm_rank == 0 && now->step >= 19 && gab_world_incarnation(world, 1) == 1;
  if (armed || gab_world_incarnation(world, comm_rank) > 0 || (!first && !second)) return;
  armed = true;
  die_within(20 + (long)(getpid() % 11) * 20);
}

/* @return false after a fault, which was repaired */
static bool open_again(state *now, bool replacement)
{
  static bool opened;
  REQUIRE(deaths_open(settings) == GAB_PERSIST_OK);
  CHECK(gab_failure() == (replacement && !opened));
  opened = true;
  if (!replacement) return true;
  return MPI_Recv(now, 3, MPI_UINT64_T, comm_rank, STATE_TAG, persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    strcat(settings, " ");
    strcat(settings, argv[i]);
  }
  if (!deaths_begin(&argc, &argv, "2")) return deaths_end(false);
  const uint64_t expected = undisturbed_run();
  state now = {1000 + (uint64_t)comm_rank, 0, 0};
  uint32_t flags = 1;
  bool has_state = !was_called;
  while (!open_again(&now, !has_state)) continue;
  has_state = true;
  while (true) {
    maybe_die(&now);
    if (now.step < STEPS && step_once(&now)) continue;
    if (now.step == STEPS && gab_world_agree(world, &flags) == GAB_OK) break; /* all are at the end */
    REQUIRE(gab_world_check(world) != GAB_OK);
    while (!open_again(&now, false)) continue;
  }
  CHECK(now.step == STEPS && now.value == expected && now.sum == sums[STEPS - 1]);
  CHECK(gab_persist_discard(&persistent) == MPI_SUCCESS);
  doomed = 1u << 1 | 1u << 0;
  return deaths_end(true);
}
