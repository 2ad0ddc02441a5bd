/* SPDX-License-Identifier: Apache-2.0 */
/* A process that fails alone outside the time loop takes the others along: nobody waits for it, all end with
 * its code. The same goes for the protection: what one rank cannot do, none does. */
/* gabion-test: np=1,2,5 quick=2 timeout=30 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

/* The root is to write its events into a folder that is not there. */
static void protection_fails_on_all_or_none(automaton *app)
{
  gab_timeloop *loop;
  gab_protection protection = {.folder = "/nowhere/at/all"};
  CHECK(gab_timeloop_create(app->forest, 5, &loop) == GAB_OK);
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_ERR_INPUT);
  protection.folder = NULL;
  CHECK(gab_world_check(app->world) == GAB_OK);
  CHECK(gab_timeloop_add_task(loop, "automaton", automaton_step, app) == GAB_OK);
  CHECK(gab_timeloop_protect(loop, &protection) == GAB_OK);
  CHECK(gab_timeloop_run(loop) == GAB_OK);
  gab_timeloop_destroy(&loop);
}

static gab_status set_up(gab_world *world, gab_rank weak)
{
  if (gab_world_rank(world) == weak) GAB_FAIL(GAB_ERR_INPUT, "rank %" GAB_PRI_RANK " cannot", weak);
  return gab_world_barrier(world);
}

static void the_code_of_the_weak_one_is_that_of_all(gab_world *world)
{
  const gab_status status = set_up(world, gab_world_members(world)->ranks - 1);
  CHECK(status == GAB_ERR_INPUT || status == GAB_ERR_FAULT);
  CHECK(gab_report_completion(world, gab_status_exit_code(status)) == 2);
}

static void equal_failures_keep_their_code(gab_world *world)
{
  CHECK(gab_report_completion(world, 7) == 7);
  CHECK(gab_report_completion(world, 4) == 4);
  CHECK(gab_report_completion(world, 0) == 0);
  CHECK(gab_world_check(world) == GAB_OK);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR); /* the errors are wanted */
  CHECK(automaton_create(&app, world, (int32_t[]){3, 2, 2}) == GAB_OK);
  protection_fails_on_all_or_none(&app);
  the_code_of_the_weak_one_is_that_of_all(world);
  equal_failures_keep_their_code(world);
  automaton_destroy(&app);
  return test_end(&world);
}
