/* SPDX-License-Identifier: Apache-2.0 */
/* Copies are as good as what they are copies of: when every rank drops its own part and takes that of another
 * from the copy, with nobody dead, the state is that of the snapshot, and the run goes on from it as if
 * nothing were. */
/* gabion-test: np=1,2,3,5 quick=3 timeout=60 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint.h"

static void run_steps(automaton *app, gab_step first, gab_step last)
{
  if (first == 0) CHECK(automaton_sum(app, 0) == GAB_OK);
  for (gab_step step = first; step < last; step++) {
    CHECK(automaton_step(app, step) == GAB_OK);
    if (automaton_sum_due(app, step + 1)) CHECK(automaton_sum(app, step + 1) == GAB_OK);
  }
}

/* One block of this rank, to detect its move. */
static gab_block_id some_block(const automaton *app)
{
  return gab_block_get_id(gab_forest_block(app->forest, 0));
}

static void go_back_swapped(automaton *app, gab_checkpoint *checkpoint)
{
  gab_restore_report report;
  run_steps(app, 0, 9);
  CHECK(gab_checkpoint_take(checkpoint, 9) == GAB_OK);
  gab_block_id mine = some_block(app);
  run_steps(app, 9, 12);
  CHECK(gab_checkpoint_restore_swapped(checkpoint, &report) == GAB_OK);
  CHECK(report.step == 9 && report.lost_ranks == 0);
  CHECK(report.adopted == gab_forest_block_count(app->forest));
  CHECK(gab_forest_find(app->forest, mine) == NULL);
  CHECK(automaton_is_right(app, 9));
  run_steps(app, 9, 20);
  CHECK(automaton_is_right(app, 20));
}

/* Snapshots of the swapped state are ordinary ones. */
static void go_on(automaton *app, gab_checkpoint *checkpoint)
{
  gab_restore_report report;
  CHECK(gab_checkpoint_take(checkpoint, 20) == GAB_OK);
  run_steps(app, 20, 25);
  CHECK(gab_checkpoint_restore_swapped(checkpoint, &report) == GAB_OK && report.step == 20);
  CHECK(automaton_is_right(app, 20));
  run_steps(app, 20, 22);
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_OK && report.step == 20);
  run_steps(app, 20, 30);
  CHECK(automaton_is_right(app, 30));
}

static void one_scheme(gab_world *world, const gab_redundancy *redundancy, gab_compression compression,
                       gab_status expected)
{
  automaton app;
  gab_checkpoint *checkpoint;
  gab_restore_report report;
  CHECK(automaton_create(&app, world, (int32_t[]){4, 3, 2}) == GAB_OK);
  gab_entity entity = automaton_entity(&app);
  CHECK(gab_checkpoint_create(app.forest, redundancy, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_OK);
  (void)gab_checkpoint_set_compression(checkpoint, compression);               /* if this build has it */
  CHECK(gab_checkpoint_restore_swapped(checkpoint, &report) == GAB_ERR_STATE); /* no snapshot yet */
  if (expected == GAB_OK) {
    go_back_swapped(&app, checkpoint);
    go_on(&app, checkpoint);
  } else {
    CHECK(gab_checkpoint_take(checkpoint, 0) == GAB_OK);
    CHECK(gab_checkpoint_restore_swapped(checkpoint, &report) == expected);
    run_steps(&app, 0, 8);
    CHECK(automaton_is_right(&app, 8));
  }
  gab_checkpoint_destroy(&checkpoint);
  automaton_destroy(&app);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR); /* the test needs the errors */
  const gab_status whole = gab_members_count(gab_world_members(world)) == 1 ? GAB_ERR_STATE : GAB_OK;
  one_scheme(world, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, GAB_COMPRESSION_NONE, whole);
  one_scheme(world, &(gab_redundancy){.scheme = &gab_scheme_pairwise}, GAB_COMPRESSION_LZ4, whole);
  one_scheme(world, &(gab_redundancy){.scheme = &gab_scheme_ring, .copies = 2}, GAB_COMPRESSION_NONE, whole);
  one_scheme(world, &(gab_redundancy){.scheme = &gab_scheme_parity}, GAB_COMPRESSION_NONE, GAB_ERR_STATE);
  return test_end(&world);
}
