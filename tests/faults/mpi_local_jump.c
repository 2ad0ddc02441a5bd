/* Two neighbours come back at once, one from an earlier checkpoint than the other: its holder does not know yet that the later one
 * is committed. It lacks messages that nobody has any more, fetches the later image, and goes on from there. Nobody else goes
 * back, and the result is that of the undisturbed run.
 *
 * Slots 0 and 2 keep each other's images, and 1 and 3. In the tree of acknowledgements 1 and 2 stand below 0, and 3
 * below 1. Behind the checkpoint of step 20 each step of this comes when the one before has happened: 1 dies when 0 has heard from
 * it that it and 3 have their images, and before it hears of the commit, which 3 so does not hear of either; 2 dies when 0,
 * which keeps its image, knows of the commit; then 3 gives 1 to a spare, and then 0 does so with 2. */
/* gabion-test: np=6 timeout=120 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/log.h"
#include "resilience/beacon.h"
#include "tests/faults/local_order.h"

enum { PLAYERS = 4, SPARES = 2, EVERY = 10, STEPS = 40, LATER = 20 };

typedef struct jumping {
  automaton app;
  local_order order;
  bool was_spare, right;
  gab_step computed; /* the last step that this process has computed; -1: none */
  int again;
} jumping;

/* ---------------------------------------------------------------- what happens when */

static bool child_has(const gab_local *local) { return gab_local_find(local, 1)->have >= LATER; }
static bool subtree_has(const gab_local *local) { return local->told_have >= LATER; }
static bool is_committed(const gab_local *local) { return local->committed >= LATER; }
static bool ward_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }

static gab_status root_part(const jumping *life)
{
  GAB_TRY(order_serve(&life->order, child_has));
  order_tell(&life->order, "child has");
  GAB_TRY(order_serve(&life->order, is_committed));
  order_tell(&life->order, "committed");
  order_wait(&life->order, "given");
  return GAB_OK;
}

static gab_status part_of(const jumping *life, gab_slot slot)
{
  if (slot == 0) return root_part(life);
  if (slot == 2) order_wait(&life->order, "1 dies");
  GAB_TRY(order_serve(&life->order, subtree_has));
  if (slot == 1) {
    order_wait(&life->order, "child has");
    order_die(&life->order, "1 dies");
  }
  if (slot == 2) {
    order_wait(&life->order, "committed");
    order_die(&life->order, "2 dies");
  }
  order_wait(&life->order, "2 dies");
  GAB_TRY(order_serve(&life->order, ward_is_given));
  order_tell(&life->order, "given");
  return GAB_OK;
}

/* ---------------------------------------------------------------- the application */

static gab_status compute(void *user, gab_step step)
{
  jumping *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  if (step == LATER && !life->was_spare) GAB_TRY(part_of(life, gab_world_slot(life->app.world)));
  GAB_TRY(automaton_step(&life->app, step));
  life->again += step <= life->computed;
  life->computed = step;
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  jumping *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(jumping *life)
{
  const gab_protection protection = {.every = {.steps = EVERY}, .strategies = {&gab_strategy_local}};
  const gab_entity total = automaton_entity(&life->app);
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->order.loop));
  GAB_TRY(gab_timeloop_add_task(life->order.loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(life->order.loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->order.loop, &total));
  GAB_TRY(gab_timeloop_protect(life->order.loop, &protection));
  return gab_timeloop_run(life->order.loop);
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"child has", "committed", "1 dies", "2 dies", "given", NULL};
  jumping life = {.computed = -1};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->slots == PLAYERS && gab_world_spares(world) == SPARES);
  life.was_spare = gab_world_is_spare(world);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(order_create(&life.order, world));
  REQUIRE_OK(run(&life));
  test_doom(1), test_doom(2);
  if (gab_world_slot(world) == 0) order_remove(&life.order, events);
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.order.loop);
  CHECK(gab_members_count(gab_world_members(world)) == PLAYERS);
  CHECK(stats.fault_count == 2 && stats.local.faults == 2);
  CHECK(stats.local.jumps == (gab_world_slot(world) == 1));
  CHECK(stats.local.meetings == 0);
  if (!life.was_spare) CHECK(life.again == 0 && stats.local.steps_again == 0);
  gab_timeloop_destroy(&life.order.loop);
  REQUIRE(gab_beacon_complete(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
