/* SPDX-License-Identifier: Apache-2.0 */
/* Two neighbours die at the same step, and one of the replacement processes dies before it has caught up: each time only a
 * spare rolls back. The survivors compute no step twice, need no collective for it, and learn of each fault at the end;
 * global sums that feed back into the state are the same for a rank that recomputes. After the first section everybody
 * knows which process runs which rank, and another death is handled like the first one. */
/* gabion-test: np=8 timeout=120 needs=ulfm labels=quick */
/* The same with a limited log, which makes checkpoints earlier. */
/* gabion-test: np=8 env=GABION_TEST_LOG_LIMIT=3 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, SPARES = 4, EVERY = 10, STEPS = 60, SECTION = 40 };

typedef struct local_life {
  automaton app;
  gab_timeloop *loop;
  gab_step computed; /* last step that this process computed; -1: none */
  int again, faults, alone;
  int told[ACTIVE]; /* of each rank: its incarnations, one digit each */
  bool right;
} local_life;

/* In the task, so it uses logged messages. */
static gab_status step_and_sum(void *user, gab_step step)
{
  local_life *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  GAB_TRY(automaton_step(&life->app, step));
  life->again += step <= life->computed;
  life->computed = step;
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static bool section_due(const void *user, gab_step step)
{
  (void)user;
  return step == SECTION;
}

/* Needs all ranks, as output does. */
static gab_status section(void *user, gab_step step)
{
  const local_life *life = user;
  uint32_t flags = 1;
  (void)step;
  return gab_world_agree(life->app.world, &flags);
}

static void count_fault(void *user, const gab_fault *fault)
{
  local_life *life = user;
  life->faults++;
  life->alone += fault->strategy == gab_strategy_local.name && fault->lost_count == 1 &&
                 fault->returned == 1 && fault->is_local;
  if (fault->lost_count == 1)
    life->told[fault->lost[0]] = 10 * life->told[fault->lost[0]] + (int)fault->incarnation;
}

static gab_status judge_result(void *user, gab_step step)
{
  local_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(local_life *life, const gab_protection *protection)
{
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  gab_timeloop *loop = life->loop;
  gab_entity entity = automaton_entity(&life->app);
  gab_status status = gab_timeloop_add_task(loop, "automaton", step_and_sum, life);
  if (status == GAB_OK) status = gab_timeloop_add_action(loop, "section", section_due, section, life);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, life);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  gab_timeloop_on_fault(loop, count_fault, life);
  return status == GAB_OK ? gab_timeloop_run(loop) : status;
}

static gab_fault_injection death(gab_rank rank, gab_step step, gab_fault_point point,
                                 gab_incarnation incarnation)
{
  return (gab_fault_injection){
      .step = step, .point = point, .visit = 1, .rank_count = 1, .ranks = {rank}, .incarnation = incarnation};
}

int main(int argc, char **argv)
{
  const gab_fault_injection injections[] = {
      death(1, 27, GAB_FAULT_POINT_EXCHANGE, 0), death(2, 27, GAB_FAULT_POINT_COMPUTE, 0),
      death(1, 23, GAB_FAULT_POINT_COMPUTE, 1), death(3, 55, GAB_FAULT_POINT_COMPUTE, 0)};
  local_life life = {.computed = -1};
  gab_world *world;
  setenv("GABION_SPARES", "4", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  const char *limit = getenv("GABION_TEST_LOG_LIMIT");
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .log_limit = limit ? atof(limit) : 0,
                                     .injections = injections,
                                     .injection_count = sizeof injections / sizeof injections[0],
                                     .strategies = {&gab_strategy_local}};
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(run(&life, &protection));
  test_doom(1), test_doom(2), test_doom(3);
  test_doom(ACTIVE + 1); /* the first candidate to run rank 1 */
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  CHECK(gab_members_count(gab_world_members(world)) == ACTIVE);
  CHECK(stats.fault_count == 4 && stats.local.faults == 4 && stats.lost_ranks == 4);
  CHECK(life.again == 0 && stats.local.steps_again == 0);
  if (life.faults == 4)
    CHECK(life.alone == 4 && life.told[1] == 12 && life.told[2] == 1 && life.told[3] == 1);
  else CHECK(gab_world_process(world) >= ACTIVE); /* a process that took part knows the remaining faults */
  const gab_fault_record *last = &stats.faults[3];
  CHECK(last->lost[0] == 3 && last->fault.incarnation == 1 && last->fault.is_local);
  CHECK(stats.local.meetings == 0);
  if (limit) CHECK((double)stats.local.msglog_peak <= atof(limit) * (double)stats.checkpoint.image_bytes);
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
