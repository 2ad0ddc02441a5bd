/* SPDX-License-Identifier: Apache-2.0 */
/* A program keeps ghosts from one step to the next and renews them by messages when the forest has changed. Local recovery
 * makes it renew them after each checkpoint, so that a process that rolls back alone finds the messages for it. If the
 * program does not request this, a death ends the run with an error, never with a wrong result. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
/* gabion-test: np=6 env=GABION_TEST_UNTOLD=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, SPARES = 2, EVERY = 10, STEPS = 40 };

typedef struct kept_ghosts {
  automaton app;
  uint64_t known_of; /* revision of the forest; 0: unknown */
  gab_step told;     /* last checkpoint reported to it; -1: none */
  bool right;
} kept_ghosts;

static gab_status exchange(automaton *app)
{
  GAB_TRY(gab_exchange_start(app->exchange));
  return gab_exchange_finish(app->exchange);
}

static gab_status compute(void *user, gab_step step)
{
  kept_ghosts *life = user;
  automaton *app = &life->app;
  if (step == 0) GAB_TRY(automaton_sum(app, 0));
  if (life->known_of != gab_forest_revision(app->forest)) GAB_TRY(exchange(app));
  life->known_of = gab_forest_revision(app->forest);
  for (size_t i = 0; i < gab_forest_block_count(app->forest); i++)
    step_block(gab_block_data(gab_forest_block(app->forest, i), app->data), app->total);
  GAB_TRY(exchange(app));
  return automaton_sum_due(app, step + 1) ? automaton_sum(app, step + 1) : GAB_OK;
}

static void forget(void *user, gab_step step)
{
  kept_ghosts *life = user;
  life->known_of = 0;
  life->told = step;
}

static gab_status judge_result(void *user, gab_step step)
{
  kept_ghosts *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status make(kept_ghosts *life, const gab_protection *protection, bool asks, gab_timeloop **made)
{
  const gab_entity total = automaton_entity(&life->app);
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, made));
  GAB_TRY(gab_timeloop_add_task(*made, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(*made, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(*made, &total));
  if (asks) gab_timeloop_on_checkpoint(*made, forget, life);
  return gab_timeloop_protect(*made, protection);
}

int main(int argc, char **argv)
{
  const bool asks = getenv("GABION_TEST_UNTOLD") == NULL;
  const gab_fault_injection death = {.step = 27,
                                     .point = GAB_FAULT_POINT_EXCHANGE,
                                     .visit = 1,
                                     .rank_count = 1,
                                     .ranks = {1},
                                     .incarnation = 0};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .injections = &death,
                                     .injection_count = 1,
                                     .strategies = {&gab_strategy_local}};
  kept_ghosts life = {.told = -1};
  gab_timeloop *loop;
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(make(&life, &protection, asks, &loop));
  const gab_status status = gab_timeloop_run(loop);
  test_doom(1);
  if (asks) {
    REQUIRE_OK(status);
    if (!gab_world_is_spare(world)) { /* one was not called */
      CHECK(life.right);
      CHECK(life.told == STEPS - EVERY);
      CHECK(gab_timeloop_get_stats(loop).local.faults == 1);
    }
  } else {
    REQUIRE(status == GAB_ERR_CORRUPT);
    CHECK(!life.right);
  }
  gab_timeloop_destroy(&loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
