/* Two neighbours die at the same step, and the spares that take over have heard of both deaths while they rested, when it
 * meant nothing to them; neither holder knows of the other's successor when it sends the image. Each of the two has to find out
 * that the other's process is dead, to whom it sends its greeting, and who plays that slot now. */
/* gabion-test: np=6 timeout=120 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/log.h"
#include "core/world_impl.h"
#include "resilience/beacon.h"
#include "tests/faults/local_order.h"

enum { PLAYERS = 4, SPARES = 2, EVERY = 10, STEPS = 40, DEATHS = 25 };

typedef struct unaware {
  automaton app;
  local_order order;
  bool was_spare, knows, right;
} unaware;

static bool first_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }
static bool second_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 2) > 0; }

/* 1 is kept by 3, and 2 by 0, which do not look after anybody when those die. */
static gab_status part_of(const unaware *life, gab_slot slot)
{
  if (slot == 0 || slot == 3) order_tell(&life->order, slot == 0 ? "0 is there" : "3 is there");
  if (slot == 1 || slot == 2) {
    GAB_TRY(order_serve_for(&life->order, "0 is there"));
    GAB_TRY(order_serve_for(&life->order, "3 is there"));
  }
  if (slot == 1) order_die(&life->order, "1 dies");
  if (slot == 2) order_die(&life->order, "2 dies");
  order_wait(&life->order, "spare 4 knows");
  order_wait(&life->order, "spare 5 knows");
  GAB_TRY(order_serve(&life->order, slot == 0 ? second_is_given : first_is_given));
  order_tell(&life->order, slot == 0 ? "0 has given" : "3 has given");
  order_wait(&life->order, slot == 0 ? "3 has given" : "0 has given");
  return GAB_OK;
}

/* ---------------------------------------------------------------- a spare at rest */

static int failed_processes(const gab_world *world)
{
  int count = 0;
#ifdef GAB_HAVE_ULFM
  MPI_Group failed;
  if (MPIX_Comm_get_failed(world->comm, &failed) != MPI_SUCCESS) return 0;
  MPI_Group_size(failed, &count);
  MPI_Group_free(&failed);
#else
  (void)world;
#endif
  return count;
}

/* As ever; but it says when it has heard of both deaths, and waits with the image until both have been sent. */
static gab_status rest(void *user, bool *plays)
{
  unaware *life = user;
  gab_local_run *run = life->order.loop->guard->local;
  const bool both = !life->knows && failed_processes(life->app.world) == 2;
  char event[32];
  if (run->machine && gab_local_state_of(run->machine) == GAB_LOCAL_RESTORING) {
    order_wait(&life->order, "0 has given");
    order_wait(&life->order, "3 has given");
  }
  GAB_TRY(gab_local_rest(run, plays));
  if (!both) return GAB_OK;
  life->knows = true;
  snprintf(event, sizeof event, "spare %d knows", test_slot());
  order_tell(&life->order, event);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the application */

static gab_status compute(void *user, gab_step step)
{
  unaware *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  if (step == DEATHS && !life->was_spare) GAB_TRY(part_of(life, gab_world_slot(life->app.world)));
  GAB_TRY(automaton_step(&life->app, step));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  unaware *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(unaware *life)
{
  const gab_protection protection = {.every = {.steps = EVERY}, .strategies = {&gab_strategy_local}};
  const gab_entity total = automaton_entity(&life->app);
  gab_timeloop **loop = &life->order.loop;
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, loop));
  GAB_TRY(gab_timeloop_add_task(*loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(*loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(*loop, &total));
  GAB_TRY(gab_timeloop_protect(*loop, &protection));
  gab_world_set_rest(life->app.world, rest, life);
  return gab_timeloop_run(*loop);
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"1 dies",        "2 dies",      "spare 4 knows",
                                       "spare 5 knows", "0 has given", "3 has given",
                                       "0 is there",    "3 is there",  NULL};
  unaware life = {0};
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
  CHECK(stats.local.steps_again == 0 && stats.local.meetings == 0);
  gab_timeloop_destroy(&life.order.loop);
  REQUIRE(gab_beacon_complete(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
