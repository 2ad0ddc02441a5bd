/* SPDX-License-Identifier: Apache-2.0 */
/* With one buffer a death finds those that have taken the new snapshot beside one that has not begun it:
 * nothing in memory is common to all, and all say so alike, so that the disk can be tried. */
/* gabion-test: np=4 timeout=30 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "resilience/checkpoint/checkpoint.h"

/* Creates a file in the folder of this run: this rank has the complete new snapshot. */
static void note_commit(void *user, gab_world *world, gab_fault_point phase)
{
  char name[32];
  (void)user;
  if (phase != GAB_FAULT_POINT_COMMIT) return;
  snprintf(name, sizeof name, "commit.%" GAB_PRI_RANK, gab_world_rank(world));
  FILE *file = fopen(name, "w");
  REQUIRE(file && fclose(file) == 0);
}

/* Copies are sent from 0 to 2 and back: these two reach the commit, where they wait for 1, which dies, and for 3. */
static void part(gab_world *world, gab_checkpoint *checkpoint)
{
  const gab_rank me = gab_world_rank(world);
  gab_world_set_fault_point_hook(world, note_commit, NULL);
  if (me == 0 || me == 2) CHECK(gab_checkpoint_take(checkpoint, 1) == GAB_ERR_FAULT);
  else
    while (access("commit.0", F_OK) != 0 || access("commit.2", F_OK) != 0) usleep(1000);
  test_kill(world, 1);
}

static void all_lose_it_alike(gab_world *world, gab_checkpoint *checkpoint)
{
  gab_status abort_request;
  gab_restore_report report;
  REQUIRE_OK(gab_world_repair(world, &abort_request));
  REQUIRE(abort_request == GAB_OK);
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_ERR_LOST);
  CHECK(strstr(gab_error_message(), "memory holds one only"));
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  gab_checkpoint *checkpoint = NULL;
  const gab_redundancy pairs = {.copies = 1, .separate = GAB_DOMAIN_NONE};
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(gab_checkpoint_create(app.forest, &pairs, &checkpoint));
  REQUIRE_OK(gab_checkpoint_set_buffers(checkpoint, 1));
  REQUIRE_OK(gab_checkpoint_take(checkpoint, 0));
  part(world, checkpoint);
  all_lose_it_alike(world, checkpoint);
  gab_checkpoint_destroy(&checkpoint);
  automaton_destroy(&app);
  return test_end(&world);
}
