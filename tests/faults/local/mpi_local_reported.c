/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of local recovery: each death of a rank once, with its own steps and the next incarnation, also if the chosen
 * spare died idle before; the same during the run, and for fault injections that name an incarnation. */
/* gabion-test: np=8 timeout=120 needs=ulfm */
/* All initial processes are replaced, one after the other, while two spares are idle: no other rank rolls back. */
/* gabion-test: np=6 env=GABION_TEST_ALL_REPLACED=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/loop/timeloop_impl.h"
#include "resilience/reports/completion.h"

enum { SPARES = 4, EVERY = 10, STEPS = 120, IDLE_DIES = 5, ASKED = 115, MOST_PROCESSES = 8 };

typedef struct reported_life {
  automaton app;
  gab_timeloop *loop;
  bool all_replaced;
  uint64_t pids[MOST_PROCESSES];
  int running; /* faults during the run, at rank 0; -1: not queried */
  bool right;
} reported_life;

/* The first candidate to run rank 1. */
static gab_process first_asked(int active) { return active + 1 % SPARES; }

static gab_status step_and_look(void *user, gab_step step)
{
  reported_life *life = user;
  const gab_world *world = life->app.world;
  if (gab_world_rank(world) == 0 && step == IDLE_DIES && !life->all_replaced)
    kill((pid_t)life->pids[first_asked(gab_world_members(world)->ranks)], SIGKILL);
  if (gab_world_rank(world) == 0 && step == ASKED)
    life->running = gab_loop_local(life->loop)->faults(life->loop);
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  GAB_TRY(automaton_step(&life->app, step));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  reported_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(reported_life *life, const gab_protection *protection)
{
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  gab_timeloop *loop = life->loop;
  gab_entity entity = automaton_entity(&life->app);
  gab_status status = gab_timeloop_add_task(loop, "automaton", step_and_look, life);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, life);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  return status == GAB_OK ? gab_timeloop_run(loop) : status;
}

static gab_fault_injection death(gab_rank rank, gab_step step, gab_incarnation incarnation)
{
  return (gab_fault_injection){.step = step,
                               .point = GAB_FAULT_POINT_COMPUTE,
                               .visit = 1,
                               .rank_count = 1,
                               .ranks = {rank},
                               .incarnation = incarnation};
}

/* The last messages of the dead process may be lost with it. Partners know of all but its last two steps: it had their
 * ghosts of the step before its death, which they send after they have received its own of the step before that. */
static bool is_about(const gab_fault_record *record, gab_rank rank, gab_incarnation incarnation,
                     gab_step died)
{
  const gab_fault *fault = &record->fault;
  return record->lost[0] == rank && fault->incarnation == incarnation && fault->is_local &&
         fault->lost_count == 1 && fault->noticed_step >= died - 2 && fault->noticed_step <= died + 1 &&
         fault->restored_step <= died && fault->restored_step >= died - 2 * EVERY;
}

static int count_faults(const gab_run_stats *stats, gab_rank rank, gab_incarnation incarnation, gab_step died)
{
  int count = 0;
  for (int i = 0; i < stats->fault_record_count; i++)
    count += is_about(&stats->faults[i], rank, incarnation, died);
  return count;
}

int main(int argc, char **argv)
{
  const gab_fault_injection some[] = {death(1, 37, 0), death(1, 75, 1), death(2, 79, 0)},
                            all[] = {death(0, 37, 0), death(1, 77, 0)};
  reported_life life = {.running = -1, .all_replaced = getenv("GABION_TEST_ALL_REPLACED") != NULL};
  gab_world *world;
  setenv("GABION_SPARES", "4", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  const int active = gab_world_members(world)->ranks;
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .injections = life.all_replaced ? all : some,
                                     .injection_count = life.all_replaced ? 2 : 3,
                                     .strategies = {&gab_strategy_local}};
  life.pids[gab_world_process(world)] = (uint64_t)getpid();
  REQUIRE_OK(gab_world_max_u64(world, life.pids, MOST_PROCESSES));
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(run(&life, &protection));
  test_doom(1), test_doom(life.all_replaced ? 0 : 2);
  if (!life.all_replaced) test_doom(first_asked(active)), test_doom(first_asked(active) + 1);
  if (gab_world_is_spare(world)) { /* it has no reports */
    gab_timeloop_destroy(&life.loop);
    REQUIRE(gab_report_completion(world, 0) == 0);
    automaton_destroy(&life.app);
    return test_end(&world);
  }
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  const int expected = life.all_replaced ? 2 : 3;
  CHECK(stats.fault_count == expected && stats.local.faults == (uint64_t)expected &&
        stats.lost_ranks == expected);
  CHECK(stats.rolled_back == 0 && stats.local.steps_again == 0);
  if (life.all_replaced) {
    CHECK(count_faults(&stats, 0, 1, 37) == 1);
    CHECK(count_faults(&stats, 1, 1, 77) == 1);
  } else {
    CHECK(count_faults(&stats, 1, 1, 37) == 1);
    CHECK(count_faults(&stats, 1, 2, 75) == 1);
    CHECK(count_faults(&stats, 2, 1, 79) == 1);
  }
  CHECK(gab_world_rank(world) != 0 || life.running == expected);
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
