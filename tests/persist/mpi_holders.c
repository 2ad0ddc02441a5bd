/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=6 timeout=60 needs=ulfm labels=quick */
/* A process dies together with the holder of its copy. With one copy its state is lost, and all processes get this error,
 * replacement processes too; with two it is not lost.
 *
 *   mpi_holders [COPIES] */
#include "tests/persist/deaths.h"

enum { TAG = 1 };

static int step_once(int value)
{
  int code = MPI_Send(&value, 1, MPI_INT, comm_rank, TAG, persistent);
  if (code == MPI_SUCCESS) code = gab_persist_commit(persistent);
  return code;
}

/* Ranks 1 and 3 die at step 5: each stores the copy of the other one. @return whether it was completed */
static bool play(const char *settings, bool lost)
{
  int value = 0;
  bool first = !was_called;
  while (value < 10) {
    if (persistent == MPI_COMM_NULL) {
      const gab_persist_error error = deaths_open(settings);
      CHECK(error == (lost && !first ? GAB_PERSIST_LOST : GAB_PERSIST_OK));
      if (error == GAB_PERSIST_LOST) {
        CHECK(strstr(gab_persist_message(), "state of rank 1") != NULL);
        CHECK(persistent == MPI_COMM_NULL && !gab_failure());
        return true;
      }
      CHECK(gab_failure() == !first);
      if (!first) {
        REQUIRE(MPI_Recv(&value, 1, MPI_INT, comm_rank, TAG, persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(value == 5);
      }
      first = false;
    }
    if (value == 5 && (comm_rank == 1 || comm_rank == 3) && gab_world_incarnation(world, comm_rank) == 0)
      raise(SIGKILL);
    if (step_once(value + 1) == MPI_SUCCESS) {
      value++;
      continue;
    }
    REQUIRE(gab_world_check(world) != GAB_OK);
    persistent = MPI_COMM_NULL; /* its handle becomes invalid */
  }
  return false;
}

int main(int argc, char **argv)
{
  const bool two = argc > 1 && strcmp(argv[1], "2") == 0;
  if (!deaths_begin(&argc, &argv, "2")) return deaths_end(false);
  const bool lost = play(
      two ? "commit=together store=neighbour copies=2 scheme=ring" : "commit=together store=neighbour", !two);
  CHECK(lost == !two);
  if (!lost) CHECK(gab_persist_discard(&persistent) == MPI_SUCCESS);
  doomed = 1u << 1 | 1u << 3;
  return deaths_end(true);
}
