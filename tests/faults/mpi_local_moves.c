/* Slots exchange their blocks in a section, so that they get neighbours that they did not have: one of these
 * dies behind it, and is recovered by the others as if it had always been so. A death before, whose spare plays on, makes all gather
 * for the section, and begin anew with the neighbours of then. */
/* gabion-test: np=8 timeout=120 labels=quick needs=ulfm */
/* gabion-test: np=8 env=GABION_TEST_EARLY=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/beacon.h"

enum { PLAYERS = 6, SPARES = 2, EVERY = 10, STEPS = 60, SECTION = 34 };

typedef struct moving_life {
  automaton app;
  gab_timeloop *loop;
  uint64_t gained; /* slots that have got a neighbour which they did not have */
  bool right;
} moving_life;

static gab_status compute(void *user, gab_step step)
{
  moving_life *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  GAB_TRY(automaton_step(&life->app, step));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

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

/* Slots lie along a ring of blocks: who was beside whom is so no longer. */
static gab_status permute(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                          gab_balance_report *report)
{
  static const int32_t other[PLAYERS] = {0, 2, 4, 1, 3, 5};
  const gab_world *world = gab_proxies_world(proxies);
  void *memory;
  (void)options, (void)report;
  GAB_TRY(gab_alloc((gab_proxies_count(proxies) + 1) * sizeof **part, GAB_MEMORY_OTHER, &memory));
  *part = memory;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) (*part)[i] = other[gab_world_slot(world)];
  return GAB_OK;
}

static gab_status move(void *user, gab_step step)
{
  moving_life *life = user;
  static const gab_balancer permutation = {
      .name = "permutation", .doc = "", .is_built = true, .assign = permute};
  const gab_balance_options other = {.balancer = &permutation};
  const uint64_t before = neighbours_of(&life->app);
  (void)step;
  GAB_TRY(gab_balance_forest(life->app.forest, &other, NULL));
  life->gained = (neighbours_of(&life->app) & ~before) != 0;
  return gab_world_sum_u64(life->app.world, &life->gained, 1);
}

static gab_status judge_result(void *user, gab_step step)
{
  moving_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(moving_life *life, const gab_protection *protection)
{
  const gab_entity total = automaton_entity(&life->app);
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  GAB_TRY(gab_timeloop_add_task(life->loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_duty(life->loop, "move", move_due, move, life));
  GAB_TRY(gab_timeloop_add_finish(life->loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &total));
  GAB_TRY(gab_timeloop_protect(life->loop, protection));
  return gab_timeloop_run(life->loop);
}

static gab_drill death(gab_slot slot, gab_step step)
{
  return (gab_drill){.step = step, .phase = GAB_PHASE_EXCHANGE, .visit = 1, .slot_count = 1, .slots = {slot}};
}

int main(int argc, char **argv)
{
  const bool early = getenv("GABION_TEST_EARLY") != NULL;
  const gab_drill drills[] = {death(3, 47), death(1, 27)};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .drills = drills,
                                     .drill_count = early ? 2 : 1,
                                     .strategies = {&gab_strategy_local}};
  moving_life life = {.gained = 0};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->slots == PLAYERS && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){36, 2, 2}));
  REQUIRE_OK(run(&life, &protection));
  test_doom(3);
  if (early) test_doom(1);
  if (!gab_world_is_spare(world)) { /* one may not have been called */
    const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
    CHECK(life.right);
    CHECK(stats.fault_count == 1 + early && stats.local.faults == 1 + (uint64_t)early);
    CHECK(stats.local.steps_again == 0 && stats.local.meetings == 0);
    if (gab_world_slot(world) == 0) CHECK(life.gained > 0);
  }
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_beacon_complete(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
