/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=3 timeout=60 needs=ulfm labels=quick */
/* persist_commit = self: a survivor keeps its state and continues, also if it is ahead; a replacement process resumes from
 * the last own epoch, and gets the messages that the survivor has sent. With depth 1 the message that it needs is
 * overwritten. */
#include "tests/persist/deaths.h"

enum { STATE_TAG = 1, BOUNDARY_TAG = 2 };

static int latest(int source, int tag)
{
  int value = -2;
  const int code = MPI_Recv(&value, 1, MPI_INT, source, tag, persistent, MPI_STATUS_IGNORE);
  if (gab_persist_error_of(code) == GAB_PERSIST_NOTHING) return -1;
  REQUIRE(code == MPI_SUCCESS);
  return value;
}

static void put(int target, int tag, int value)
{
  REQUIRE(MPI_Send(&value, 1, MPI_INT, target, tag, persistent) == MPI_SUCCESS);
}

/* Rank 1 dies in iteration 4, rank 0 has stored the boundary of iteration 5 already. */
static void play(const char *settings, int expected)
{
  const bool replacement = was_called;
  int word = 0;
  REQUIRE(replacement || deaths_open(settings) == GAB_PERSIST_OK);
  if (!replacement) {
    for (int i = 1; i <= 4; i++) {
      put(1 - comm_rank, BOUNDARY_TAG, 10 * i + comm_rank);
      if (comm_rank == 1 && i == 4) { /* not committed by rank 1 */
        put(comm_rank, STATE_TAG, 4);
        REQUIRE(MPI_Send(&word, 1, MPI_INT, 0, 9, comm) == MPI_SUCCESS);
        while (MPI_Recv(&word, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) usleep(1000);
        raise(SIGKILL);
      }
      put(comm_rank, STATE_TAG, i);
      REQUIRE(gab_persist_commit(persistent) == MPI_SUCCESS);
    }
    put(1 - comm_rank, BOUNDARY_TAG, 50 + comm_rank); /* ahead, not committed */
    REQUIRE(MPI_Recv(&word, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    REQUIRE(MPI_Send(&word, 1, MPI_INT, 1, 9, comm) == MPI_SUCCESS);
    CHECK(MPI_Recv(&word, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS); /* rank 1 dies */
    /* messages between the fault and the repair are not stored */
    CHECK(MPI_Send(&word, 1, MPI_INT, 1, BOUNDARY_TAG, persistent) != MPI_SUCCESS);
    CHECK(gab_persist_commit(persistent) != MPI_SUCCESS);
  }
  REQUIRE(deaths_open(settings) == GAB_PERSIST_OK);
  CHECK(gab_failure() == replacement);
  long long epoch = -1;
  REQUIRE(gab_persist_status(persistent, &epoch, 0, 0, NULL) == MPI_SUCCESS);
  CHECK(epoch == (replacement ? 3 : 4));
  if (replacement) {
    if (expected == 40) CHECK(latest(1, STATE_TAG) == 2);
    CHECK(latest(1, STATE_TAG) == 3);
    CHECK(latest(0, BOUNDARY_TAG) ==
          expected); /* that of iteration 4 if two are kept, as one more was sent after it */
    if (expected == 40) CHECK(latest(0, BOUNDARY_TAG) == 50);
    put(0, BOUNDARY_TAG, 41);
    put(1, STATE_TAG, 4);
  } else {
    CHECK(latest(1, BOUNDARY_TAG) == (expected == 40 ? 21 : 31)); /* of a dead rank: committed messages */
  }
  REQUIRE(gab_persist_commit(persistent) ==
          MPI_SUCCESS); /* of the survivor: messages of its open epoch when the other one died */
  REQUIRE(MPI_Barrier(comm) == MPI_SUCCESS);
  REQUIRE(MPI_Comm_free(&persistent) == MPI_SUCCESS);
  REQUIRE(MPI_Barrier(comm) == MPI_SUCCESS);
  REQUIRE(deaths_open(settings) == GAB_PERSIST_OK); /* as in a restarted job */
  CHECK(gab_failure());
  if (replacement)
    CHECK(latest(0, BOUNDARY_TAG) == expected && (expected == 50 || latest(0, BOUNDARY_TAG) == 50));
  else CHECK(latest(1, BOUNDARY_TAG) == (expected == 40 ? 31 : 41));
  CHECK(gab_persist_discard(&persistent) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *settings = argc > 1 ? argv[1] : "store=node depth=2";
  if (!deaths_begin(&argc, &argv, "1")) return deaths_end(false);
  play(settings, argc > 1 ? 50 : 40);
  doomed = 1u << 1;
  return deaths_end(true);
}
