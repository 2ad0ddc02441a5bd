/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks exchange their blocks in a section, so that they get new neighbours. One of these dies afterwards and is recovered
 * by its new neighbours. With GABION_TEST_EARLY a death precedes the section: all ranks meet for it, its spare too, and
 * continue with the new neighbours. With own checkpoints of each rank in between (GABION_TEST_OWN: the interval in steps),
 * messages of new neighbours are in the logs of images. */
/* gabion-test: np=8 timeout=120 needs=ulfm */
/* gabion-test: np=8 env=GABION_TEST_EARLY=1 */
/* gabion-test: np=8 env=GABION_TEST_OWN=4 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/moving_blocks.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 6, SPARES = 2, EVERY = 10, STEPS = 60, SECTION = 34 };

static gab_status compute(void *user, gab_step step) { return moving_blocks_step(user, step); }

static uint64_t neighbours_of(const automaton *app)
{
  uint64_t mask = 0;
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++) {
    const gab_block *block = gab_forest_block(app->forest, i);
    for (size_t k = 0; k < gab_block_neighbour_count(block); k++)
      mask |= UINT64_C(1) << gab_block_neighbours(block)[k].owner;
  }
  return mask;
}

static bool move_due(const void *user, gab_step step)
{
  (void)user;
  return step == SECTION;
}

/* Ranks lie along a ring of blocks: former neighbours are no longer neighbours. Counts ranks with a new neighbour. */
static gab_status move(void *user, gab_step step)
{
  static const int32_t other[ACTIVE] = {0, 2, 4, 1, 3, 5};
  moving_blocks *blocks = user;
  const uint64_t before = neighbours_of(&blocks->app);
  (void)step;
  GAB_TRY(moving_blocks_move(blocks, other));
  blocks->counted = (neighbours_of(&blocks->app) & ~before) != 0;
  return GAB_OK;
}

int main(int argc, char **argv)
{
  const bool early = getenv("GABION_TEST_EARLY") != NULL;
  const char *const own = getenv("GABION_TEST_OWN");
  const gab_fault_injection injections[] = {moving_blocks_death(3, 47), moving_blocks_death(1, 27)};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .own_every = own ? strtol(own, NULL, 10) : 0,
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .injections = injections,
                                     .injection_count = early ? 2 : 1,
                                     .strategies = {&gab_strategy_local}};
  moving_blocks blocks = {.steps = STEPS};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&blocks.app, world, (int32_t[]){36, 2, 2}));
  REQUIRE_OK(moving_blocks_run(&blocks, &protection, compute, move_due, move, &blocks));
  test_doom(3);
  if (early) test_doom(1);
  if (!gab_world_is_spare(world)) { /* one may not have been called */
    const gab_run_stats stats = gab_timeloop_get_stats(blocks.loop);
    CHECK(blocks.right);
    CHECK(stats.fault_count == 1 + early && stats.local.faults == 1 + (uint64_t)early);
    CHECK(stats.local.steps_again == 0 && stats.local.meetings == 0);
    CHECK(blocks.counted > 0);
    if (gab_world_rank(world) != 3) CHECK((stats.local.own_checkpoints > 0) == (own != NULL));
    else CHECK((stats.local.restored_messages > 0) == (own != NULL));
  }
  gab_timeloop_destroy(&blocks.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&blocks.app);
  return test_end(&world);
}
