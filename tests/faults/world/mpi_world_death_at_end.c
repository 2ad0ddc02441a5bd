/* SPDX-License-Identifier: Apache-2.0 */
/* An active process dies, by SIGKILL, after all have agreed on the end: no spare is called for it, since the others have left.
 *
 *   mpi_world_death_at_end */
/* gabion-test: np=3,6 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "tests/mpi_test.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static gab_world *world;

int main(int argc, char **argv)
{
  gab_status abort_request;
  uint32_t flags = 0;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  const gab_rank last = gab_world_members(world)->ranks - 1;
  const bool was_spare = gab_world_is_spare(world);
  REQUIRE_OK(gab_world_rest(world, &abort_request));
  REQUIRE(abort_request == GAB_OK && gab_world_is_spare(world) == was_spare);
  if (!was_spare)
    REQUIRE_OK(gab_world_agree(world, &flags)); /* of the active processes: this was the last step */
  if (gab_world_rank(world) == last) kill(getpid(), SIGKILL);
  REQUIRE_OK(gab_world_dismiss(world, GAB_OK));
  const gab_members *members = gab_world_members(world);
  CHECK(gab_members_count(members) == last && !gab_members_has(members, last));
  CHECK(gab_world_is_spare(world) == was_spare);
  test_doom(last); /* the process */
  return test_end(&world);
}
