/* SPDX-License-Identifier: Apache-2.0 */
/* A fault while a snapshot is taken: some have all of it, others do not. All go back to the one before, and
 * what some had of the torn one is nothing that the next fault could take for the snapshot that comes in its
 * place. */
/* gabion-test: np=2,4 quick=4 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"

static int round_now, visits; /* of the markers; of the phase `snapshot` in this round */

static bool is_there(const char *what, gab_rank rank)
{
  char name[48];
  snprintf(name, sizeof name, "%s.%d.%" GAB_PRI_RANK, what, round_now, rank);
  return access(name, F_OK) == 0;
}

/* Creates a file in the folder of this run. "packed": this rank has its own image of the new snapshot; "commit": it has the
 * complete snapshot, and waits for the others. */
static void note_phase(void *user, gab_world *world, gab_fault_point phase)
{
  char name[48];
  (void)user;
  if (phase != GAB_FAULT_POINT_COMMIT && (phase != GAB_FAULT_POINT_SNAPSHOT || ++visits != 2)) return;
  snprintf(name, sizeof name, "%s.%d.%" GAB_PRI_RANK, phase == GAB_FAULT_POINT_COMMIT ? "commit" : "packed",
           round_now, gab_world_rank(world));
  FILE *file = fopen(name, "w");
  REQUIRE(file && fclose(file) == 0);
}

static void begin_round(void)
{
  round_now++;
  visits = 0;
}

static uint64_t checksum_of(const automaton *app)
{
  uint64_t checksum = 0;
  CHECK(gab_forest_checksum(app->forest, &checksum) == GAB_OK);
  return checksum;
}

static void take(automaton *app, gab_checkpoint *checkpoint, gab_step step)
{
  CHECK(automaton_step(app, step - 1) == GAB_OK);
  CHECK(gab_checkpoint_take(checkpoint, step) == GAB_OK);
}

static void comes_back(automaton *app, gab_checkpoint *checkpoint, gab_step step, uint64_t checksum)
{
  gab_status abort_request;
  gab_restore_report report;
  REQUIRE_OK(gab_world_repair(app->world, &abort_request));
  REQUIRE_OK(gab_checkpoint_restore(checkpoint, &report));
  CHECK(report.step == step);
  CHECK(checksum_of(app) == checksum);
}

/* Ranks 0 and 2 store each other's copies and reach the commit; 3 waits for the copy of 1, which has not begun, and dies. */
static void a_death_leaves_the_one_before(automaton *app)
{
  gab_checkpoint *checkpoint;
  const gab_redundancy pairs = {.copies = 1, .separate = GAB_DOMAIN_NONE};
  const gab_rank me = gab_world_rank(app->world);
  REQUIRE_OK(gab_checkpoint_create(app->forest, &pairs, &checkpoint));
  for (gab_step step = 1; step <= 2; step++) take(app, checkpoint, step);
  const uint64_t checksum = checksum_of(app);
  CHECK(automaton_step(app, 2) == GAB_OK);
  begin_round();
  if (me != 1) CHECK(gab_checkpoint_take(checkpoint, 3) == GAB_ERR_FAULT);
  else
    while (!is_there("commit", 0) || !is_there("commit", 2) || !is_there("packed", 3)) usleep(1000);
  test_kill(app->world, 1);
  CHECK(gab_checkpoint_next(checkpoint)->complete == (me != 3));
  comes_back(app, checkpoint, 2, checksum);
  gab_checkpoint_destroy(&checkpoint);
}

/* The other rank has not begun, and raises an abort request. */
static void tear(automaton *app, gab_checkpoint *checkpoint, gab_rank first, gab_step step)
{
  uint64_t blocks;
  begin_round();
  if (gab_world_rank(app->world) == first) {
    CHECK(gab_checkpoint_take(checkpoint, step) == GAB_ERR_FAULT);
    return;
  }
  if (round_now > 1)
    CHECK(gab_forest_global_blocks(app->forest, &blocks) == GAB_OK); /* counted again after a restore */
  while (!is_there("commit", first)) usleep(1000);
  (void)gab_error_set(GAB_ERR_SUSPECT, __FILE__, __LINE__, "a try");
  gab_world_raise(app->world, GAB_ERR_SUSPECT);
}

/* Without copies ranks wait only in the commit. Two interrupted snapshots: after the second one the other rank has a
 * complete snapshot with the number that the first rank's has after the first. */
static void two_torn_ones_do_not_make_one(automaton *app)
{
  gab_checkpoint *checkpoint;
  const gab_redundancy none = {.scheme = &gab_scheme_none};
  REQUIRE_OK(gab_checkpoint_create(app->forest, &none, &checkpoint));
  for (gab_step step = 1; step <= 2; step++) take(app, checkpoint, step);
  const uint64_t checksum = checksum_of(app);
  for (gab_rank first = 0; first < 2; first++) {
    for (gab_step step = 2; step <= 3 + first; step++) CHECK(automaton_step(app, step) == GAB_OK);
    tear(app, checkpoint, first, 4 + first);
    comes_back(app, checkpoint, 2, checksum);
  }
  gab_checkpoint_destroy(&checkpoint);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the test needs the warnings */
  gab_world_set_fault_point_hook(world, note_phase, NULL);
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){3, 2, 2}));
  if (gab_world_members(world)->ranks == 4) a_death_leaves_the_one_before(&app);
  else two_torn_ones_do_not_make_one(&app);
  automaton_destroy(&app);
  return test_end(&world);
}
