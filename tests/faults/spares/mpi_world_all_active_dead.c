/* SPDX-License-Identifier: Apache-2.0 */
/* All active processes die at once, by SIGKILL, while the spares idle: no process is left to break the world, so the spares
 * must detect it and run the ranks.
 *
 *   mpi_world_all_active_dead */
/* gabion-test: np=2,5,8 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static gab_world *world;

/* As many active processes as spares, or one fewer. */
static void count_the_spares(int argc, char **argv)
{
  char spares[16];
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  REQUIRE(size != NULL);
  snprintf(spares, sizeof spares, "%d", (atoi(size) + 1) / 2);
  setenv("GABION_SPARES", spares, 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
}

/* All initial active processes are dead, and each rank has returned once. */
static void all_came_back(gab_rank ranks)
{
  const gab_members *members = gab_world_members(world);
  REQUIRE(members->ranks == ranks && gab_members_count(members) == ranks);
  for (gab_rank rank = 0; rank < ranks; rank++) {
    CHECK(gab_members_incarnation(members, rank) == 1);
    CHECK(gab_members_process(members, rank) >= ranks);
    test_doom(rank); /* the process */
  }
}

int main(int argc, char **argv)
{
  gab_status abort_request;
  count_the_spares(argc, argv);
  const gab_rank ranks = gab_world_members(world)->ranks;
  REQUIRE(ranks >= 1 && ranks <= gab_world_spares(world));
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
  if (gab_world_process(world) < ranks) {
    (void)gab_world_barrier(world); /* some detect it, others are dead already: all of them die */
    kill(getpid(), SIGKILL);
  }
  if (!gab_world_is_spare(world)) {
    uint64_t one = 1;
    REQUIRE_OK(gab_world_sum_u64(world, &one, 1));
    CHECK(one == (uint64_t)ranks);
  }
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  all_came_back(ranks);
  return test_end(&world);
}
