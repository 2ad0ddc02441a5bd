/* SPDX-License-Identifier: Apache-2.0 */
/* Where connections are watched everybody has heard from the root before anything else, and from the next root before a repair
 * is over. */
/* gabion-test: np=1,2,5 quick=2 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/world/world_impl.h"
#include "tests/mpi_test.h"

static gab_world *world;
static int heard, told;

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
  const int code = PMPI_Recv(data, count, type, from, tag, comm, status);
  if (tag == GAB_CONTEXT_CONNECT && code == MPI_SUCCESS) heard++;
  return code;
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  if (tag == GAB_CONTEXT_CONNECT) told++;
  return PMPI_Send(data, count, type, to, tag, comm);
}

static void all_have_heard_from_the_root(void)
{
  const int others = gab_members_count(gab_world_members(world)) - 1;
  const bool is_root = gab_world_is_root(world);
  CHECK((heard > 0) == !is_root);
  CHECK(is_root ? told >= others : told == 0); /* a repair may need several attempts */
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  setenv("GABION_CUT_AFTER", "60", 1); /* as the launcher does with several nodes */
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  all_have_heard_from_the_root();
  REQUIRE_OK(gab_world_barrier(world));
  if (gab_members_count(gab_world_members(world)) > 1) {
    test_kill(world, 0);
    heard = told = 0;
    REQUIRE(gab_world_barrier(world) == GAB_ERR_FAULT);
    REQUIRE_OK(gab_world_repair(world, &abort_request));
    REQUIRE(abort_request == GAB_OK && gab_world_root(world) == 1);
    all_have_heard_from_the_root();
    REQUIRE_OK(gab_world_barrier(world));
  }
  return test_end(&world);
}
