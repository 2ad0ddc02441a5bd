/* Slots exchange their blocks to and fro, so that neighbours change in each of five sections: with whom a slot has to do,
 * and whose messages the wire looks at each time, is the same whenever the blocks lie alike, and does not grow. Soon behind
 * the last one a process dies, and then one that was its neighbour before: both come back alone. */
/* gabion-test: np=10 timeout=120 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/local/local_run_impl.h"
#include "resilience/reports/beacon.h"

enum { PLAYERS = 8, SPARES = 2, EVERY = 10, STEPS = 70, LAST_MOVE = 50 };

typedef struct moving_life {
  automaton app;
  gab_timeloop *loop;
  uint64_t partners[2]; /* by how the blocks lie: a bit for each slot; 0: not seen yet */
  uint64_t former;      /* neighbours of the other arrangement that are no partners */
  int changed;          /* steps in which they were others than the first time */
  int strangers;        /* steps in which the wire looked at more than partners */
  int looked;
  bool right;
} moving_life;

static uint64_t partners_of(const gab_local *machine)
{
  uint64_t mask = 0;
  for (gab_slot slot = 0; slot < PLAYERS; slot++)
    if (gab_local_is_partner(machine, slot)) mask |= UINT64_C(1) << slot;
  return mask;
}

static void look(moving_life *life, gab_step step)
{
  const gab_local_run *run = life->loop->guard->local;
  const gab_slot me = gab_world_slot(life->app.world);
  const int moves = (int)(step / EVERY), way = moves % 2;
  if (step > LAST_MOVE) return;
  const uint64_t now = partners_of(run->machine);
  life->looked++;
  if (life->partners[way] == 0) life->partners[way] = now;
  life->changed += life->partners[way] != now;
  life->strangers += gab_wire_statistics(run->wire).near > (size_t)__builtin_popcountll(now);
  if (way == 1) life->former += (now >> ((me + 1) % PLAYERS) & 1) == 0;
}

static gab_status compute(void *user, gab_step step)
{
  moving_life *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  look(life, step);
  GAB_TRY(automaton_step(&life->app, step));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static bool move_due(const void *user, gab_step step)
{
  (void)user;
  return step > 0 && step <= LAST_MOVE && step % EVERY == 0;
}

/* Slots lie along a ring of blocks: now each beside the next ones, now beside those three further on. */
static gab_status permute(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                          gab_balance_report *report)
{
  const gab_world *world = gab_proxies_world(proxies);
  void *memory;
  (void)options, (void)report;
  GAB_TRY(gab_alloc((gab_proxies_count(proxies) + 1) * sizeof **part, GAB_MEMORY_OTHER, &memory));
  *part = memory;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) (*part)[i] = 3 * gab_world_slot(world) % PLAYERS;
  return GAB_OK;
}

static gab_status move(void *user, gab_step step)
{
  moving_life *life = user;
  static const gab_balancer permutation = {
      .name = "permutation", .doc = "", .is_built = true, .assign = permute};
  const gab_balance_options other = {.balancer = &permutation};
  (void)step;
  return gab_balance_forest(life->app.forest, &other, NULL);
}

static gab_status judge_result(void *user, gab_step step)
{
  moving_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &life->former, 1));
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
  /* Who dies has the ghosts of the step before, so all others, at most four blocks away along the ring, have begun the step
   * of the last move at least: they have looked at their partners there, and know that its checkpoint is committed, for
   * which they wait as long as it takes. So a death goes back to that one, not to the grid of before. */
  const gab_drill drills[] = {death(3, LAST_MOVE + 4), death(4, LAST_MOVE + 8)};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .commit_wait = 1e6, /* times the time since the last one */
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .drills = drills,
                                     .drill_count = 2,
                                     .strategies = {&gab_strategy_local}};
  moving_life life = {.looked = 0};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->slots == PLAYERS && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){32, 2, 2}));
  REQUIRE_OK(run(&life, &protection));
  test_doom(3);
  test_doom(4);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  CHECK(life.right);
  CHECK(stats.fault_count == 2 && stats.local.faults == 2);
  CHECK(stats.local.steps_again == 0 && stats.local.meetings == 0);
  CHECK(life.changed == 0 && life.strangers == 0);
  CHECK(life.former > 0);
  if (gab_world_seat(world) < PLAYERS) CHECK(life.looked == LAST_MOVE + 1);
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_beacon_complete(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
