/* SPDX-License-Identifier: Apache-2.0 */
/* A test of several processes for script_judge.sh, which lets it end in many ways.
 *
 *   helper_ends [doom=RANK] [kill=RANK] [check=RANK] ...
 *
 * doom: the survivors say that this rank dies; kill: it does; check: a CHECK of it does not hold. In this order. */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

static void meet(gab_world *world)
{
  gab_status abort_request;
  while (gab_world_barrier(world) != GAB_OK) REQUIRE_OK(gab_world_repair(world, &abort_request));
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int i = 1; i < argc; i++) {
    const gab_rank rank = strchr(argv[i], '=') ? atoi(strchr(argv[i], '=') + 1) : GAB_NO_RANK;
    const bool here = rank == gab_world_rank(world);
    if (strncmp(argv[i], "doom", 4) == 0) test_doom(rank);
    else if (strncmp(argv[i], "check", 5) == 0) CHECK(!here);
    else if (here) raise(SIGKILL);
  }
  meet(world);
  return test_end(&world);
}
