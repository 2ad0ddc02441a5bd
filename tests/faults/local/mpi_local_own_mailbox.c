/* SPDX-License-Identifier: Apache-2.0 */
/* Own checkpoints of a cluster in a program with a mailbox: refused by all ranks before the first step. The messages
 * received by a mailbox in a step depend on the network, so messages that cross such a checkpoint could not be
 * counted. With common checkpoints alone the program runs. */
/* gabion-test: np=3 timeout=60 needs=ulfm labels=quick */
/* gabion-test: np=3 env=GABION_TEST_COMMON=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/messages/mailbox.h"

enum { ACTIVE = 2, EVERY = 10, STEPS = 20 };

typedef struct counted {
  automaton app;
  int steps;
} counted;

static gab_status compute(void *user, gab_step step)
{
  counted *it = user;
  it->steps++;
  return automaton_step(&it->app, step);
}

static gab_status run(counted *it, gab_step own_every)
{
  const gab_protection protection = {
      .every = {.steps = EVERY}, .own_every = own_every, .strategies = {&gab_strategy_local}};
  gab_timeloop *loop;
  it->steps = 0;
  GAB_TRY(gab_timeloop_create(it->app.forest, STEPS, &loop));
  gab_status status = gab_timeloop_add_task(loop, "automaton", compute, it);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &protection);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  gab_timeloop_destroy(&loop);
  return status;
}

int main(int argc, char **argv)
{
  counted it = {.steps = 0};
  gab_world *world;
  gab_mailbox *mail;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE);
  REQUIRE_OK(automaton_create(&it.app, world, (int32_t[]){4, 2, 2}));
  REQUIRE_OK(gab_mailbox_create(world, "mail", &mail));
  if (getenv("GABION_TEST_COMMON")) {
    REQUIRE_OK(run(&it, 0));
    CHECK(it.steps == STEPS || gab_world_is_spare(world));
  } else {
    CHECK(run(&it, 4) == GAB_ERR_INPUT);
    CHECK(gab_world_is_spare(world) ||
          strstr(gab_error_message(), "resilience.local.own_every excludes a program with a mailbox"));
    CHECK(it.steps == 0);
  }
  gab_mailbox_destroy(&mail);
  automaton_destroy(&it.app);
  return test_end(&world);
}
