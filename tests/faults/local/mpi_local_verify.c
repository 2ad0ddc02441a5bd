/* SPDX-License-Identifier: Apache-2.0 */
/* A restored rank recomputes messages that its partners have already: the new ones are compared with those received. A
 * program whose messages depend on the process that computes them ends with an error; without the comparison the difference
 * is not detected. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
/* gabion-test: np=6 env=GABION_TEST_UNSTEADY=1 */
/* gabion-test: np=6 env=GABION_TEST_UNSTEADY=unverified */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, SPARES = 2, EVERY = 10, STEPS = 40 };

typedef struct verified_life {
  automaton app;
  gab_timeloop *loop;
  bool unsteady, right;
  uint64_t left_out, compared; /* of all */
} verified_life;

/* If unsteady, its messages contain the process that sends them; the state does not depend on it. */
static gab_status compute(void *user, gab_step step)
{
  verified_life *life = user;
  uint64_t word = life->unsteady ? (uint64_t)getpid() : (uint64_t)step;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  GAB_TRY(automaton_step(&life->app, step));
  GAB_TRY(gab_world_max_u64(life->app.world, &word, 1));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  verified_life *life = user;
  const gab_local_totals own = gab_timeloop_get_stats(life->loop).local;
  uint64_t sums[3] = {automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1, own.left_out,
                      own.compared};
  GAB_TRY(gab_world_sum_u64(life->app.world, sums, 3));
  life->right = sums[0] == 0;
  life->left_out = sums[1];
  life->compared = sums[2];
  return GAB_OK;
}

static gab_status make(verified_life *life, const gab_protection *protection)
{
  const gab_entity total = automaton_entity(&life->app);
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  GAB_TRY(gab_timeloop_add_task(life->loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(life->loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &total));
  return gab_timeloop_protect(life->loop, protection);
}

/* Rank 1 sends to rank 0 in the tree of reductions, which detects the difference if no neighbour does so before. */
static void check_caught(const gab_world *world, gab_status status)
{
  REQUIRE(status == GAB_ERR_CORRUPT);
  const char *said = strstr(gab_error_message(), "computes other results than before its death");
  if (gab_world_rank(world) == 0) CHECK(said && strstr(gab_error_message(), "rank 1 was restored"));
}

int main(int argc, char **argv)
{
  const char *how = getenv("GABION_TEST_UNSTEADY");
  const bool unverified = how && strcmp(how, "unverified") == 0;
  const gab_fault_injection death = {.step = 27,
                                     .point = GAB_FAULT_POINT_EXCHANGE,
                                     .visit = 1,
                                     .rank_count = 1,
                                     .ranks = {1},
                                     .incarnation = 0};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .verify = unverified ? GAB_VERIFY_NEVER : GAB_VERIFY_ALWAYS,
                                     .injections = &death,
                                     .injection_count = 1,
                                     .strategies = {&gab_strategy_local}};
  verified_life life = {.unsteady = how != NULL};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(make(&life, &protection));
  const gab_status status = gab_timeloop_run(life.loop);
  test_doom(1);
  if (how && !unverified) check_caught(world, status);
  else {
    REQUIRE_OK(status);
    if (!gab_world_is_spare(world)) { /* one was not called */
      CHECK(life.right);
      CHECK(life.left_out > 0);
      CHECK(life.compared == (unverified ? 0 : life.left_out));
    }
  }
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
