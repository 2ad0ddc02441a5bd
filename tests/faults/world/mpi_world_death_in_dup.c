/* SPDX-License-Identifier: Apache-2.0 */
/* A process dies in a repair right before it recreates a communicator of the application, while the others create it:
 * the next repair succeeds. (Remains of the failed one in Open MPI must not stop later communicators:
 * gab_comm_retire().) */
/* gabion-test: np=5,8 quick=5 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

enum { SPARES = 2, FIRST = 1, SECOND = 2 };

static gab_world *world;

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *fresh)
{
  if (world && gab_world_process(world) == SECOND && gab_world_fault_point(world) == GAB_FAULT_POINT_REPAIR)
    kill(getpid(), SIGKILL);
  return PMPI_Comm_dup(comm, fresh);
}

/* Until all stand together again. */
static void mend(void)
{
  gab_status abort_request;
  while (gab_world_barrier(world) == GAB_OK) {}
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  gab_comm *comm;
  int size = 0;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE(gab_world_spares(world) == SPARES);
  REQUIRE_OK(gab_world_dup(world, &comm));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  const bool was_spare = gab_world_is_spare(world);
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  if (gab_world_process(world) == FIRST) kill(getpid(), SIGKILL);
  if (!was_spare) mend();
  test_doom(FIRST);
  test_doom(SECOND);
  REQUIRE(!gab_world_is_spare(world) && gab_members_count(gab_world_members(world)) == ranks);
  MPI_Comm_size(gab_comm_mpi(comm), &size);
  REQUIRE(size == ranks);
  uint64_t one = 1;
  REQUIRE_OK(gab_world_sum_u64(world, &one, 1));
  REQUIRE(one == (uint64_t)ranks);
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  return test_end(&world);
}
