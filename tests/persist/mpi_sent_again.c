/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=3 timeout=60 needs=ulfm labels=quick */
/* Transparent mode: a send interrupted by a death was not sent. Repeated after the repair, the message arrives once. */
#include "tests/persist/deaths.h"

enum { MANY = 1 << 20, TAG = 1 };
static const char *const settings = "mode=transparent store=node";
static int large[MANY];

static int send(int first)
{
  large[0] = first;
  return MPI_Send(large, MANY, MPI_INT, 1, TAG, persistent);
}

static int receive(void)
{
  large[0] = -1;
  REQUIRE(MPI_Recv(large, MANY, MPI_INT, 0, TAG, persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  return large[0];
}

int main(int argc, char **argv)
{
  if (!deaths_begin(&argc, &argv, "1")) return deaths_end(false);
  int sum = -1, other = -1;
  if (!was_called) {
    REQUIRE(deaths_open(settings) == GAB_PERSIST_OK);
    if (comm_rank == 1) {
      REQUIRE(receive() == 10);
      raise(SIGKILL);
    }
    REQUIRE(send(10) == MPI_SUCCESS);
    CHECK(send(11) != MPI_SUCCESS); /* no process is there to receive it */
    REQUIRE(gab_world_check(world) != GAB_OK);
  }
  REQUIRE(deaths_open(settings) == GAB_PERSIST_OK);
  CHECK(!gab_failure()); /* the dead process had committed nothing */
  if (comm_rank == 0) {
    REQUIRE(send(11) == MPI_SUCCESS);
    REQUIRE(send(12) == MPI_SUCCESS);
  } else {
    for (int i = 10; i <= 12; i++) CHECK(receive() == i);
  }
  REQUIRE(MPI_Allreduce(&comm_rank, &sum, 1, MPI_INT, MPI_SUM, persistent) == MPI_SUCCESS);
  CHECK(sum == 1);
  REQUIRE(MPI_Sendrecv(&comm_rank, 1, MPI_INT, 1 - comm_rank, 2, &other, 1, MPI_INT, 1 - comm_rank, 2,
                       persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(other == 1 - comm_rank);
  CHECK(gab_persist_discard(&persistent) == MPI_SUCCESS);
  doomed = 1u << 1;
  return deaths_end(true);
}
