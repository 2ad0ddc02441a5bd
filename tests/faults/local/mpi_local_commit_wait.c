/* SPDX-License-Identifier: Apache-2.0 */
/* Under local recovery, a checkpoint that waits for its commit is known to all ranks as committed when the next step
 * begins, even if one rank is late. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "resilience/local/local_run_impl.h"
#include "resilience/reports/completion.h"

enum { ACTIVE = 4, SPARES = 2, EVERY = 5, STEPS = 30, LATE = 2 };

typedef struct witness {
  automaton app;
  gab_timeloop *loop;
  int behind_checkpoints, committed;
} witness;

static gab_status compute(void *user, gab_step step)
{
  witness *life = user;
  const gab_local_run *run = life->loop->protection->local;
  if (step % EVERY == 0) {
    life->behind_checkpoints++;
    life->committed += gab_local_committed(run->machine) == step;
  }
  if (gab_world_rank(life->app.world) == LATE && step % EVERY == EVERY - 1) usleep(20000);
  return automaton_step(&life->app, step);
}

int main(int argc, char **argv)
{
  /* more than enough: a hundred times the interval between checkpoints */
  const gab_protection protection = {
      .every = {.steps = EVERY}, .commit_wait = 100, .strategies = {&gab_strategy_local}};
  witness life = {.behind_checkpoints = 0};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == SPARES);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  const gab_entity total = automaton_entity(&life.app);
  REQUIRE_OK(gab_timeloop_create(life.app.forest, STEPS, &life.loop));
  REQUIRE_OK(gab_timeloop_add_task(life.loop, "automaton", compute, &life));
  REQUIRE_OK(gab_timeloop_add_entity(life.loop, &total));
  REQUIRE_OK(gab_timeloop_protect(life.loop, &protection));
  REQUIRE_OK(gab_timeloop_run(life.loop));
  if (!gab_world_is_spare(world)) {
    CHECK(life.behind_checkpoints == STEPS / EVERY);
    /* the first checkpoint has no interval before it, and waits for a tenth of a second */
    CHECK(life.committed >= STEPS / EVERY - 1);
  }
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}
