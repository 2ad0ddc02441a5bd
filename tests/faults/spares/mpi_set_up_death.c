/* SPDX-License-Identifier: Apache-2.0 */
/* A process dies in the last collective call of the set-up. One of the others has received nothing yet and fails in
 * that call; the rest have passed it and wait until the spares idle. All end with the code of a start to be repeated,
 * and no process waits for one that has ended. */
/* gabion-test: np=10 timeout=60 needs=ulfm */
/* gabion-test: np=10 env=GABION_TEST_REINIT=1 */
/* Or nobody dies, and one process fails alone at the end, where the others dismiss the spares: all end with its code. */
/* gabion-test: np=10 env=GABION_TEST_LEFT=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/recovery/reinit.h"
#include "resilience/reports/completion.h"

/* In the tree of a broadcast over ten processes, 7 receives from 6. Over the nine remaining ones 7 sends to a spare. */
enum { VICTIM = 6, FAILS = 7 };

static void die(void *user, gab_world *world, gab_fault_point point)
{
  (void)user;
  if (point == GAB_FAULT_POINT_REDUCTION && gab_world_rank(world) == VICTIM) kill(getpid(), SIGKILL);
}

static gab_status last_call(gab_world *world)
{
  gab_buffer nothing;
  gab_buffer_init(&nothing, GAB_MEMORY_OTHER);
  gab_world_set_fault_point_hook(world, die, NULL);
  const gab_status status = gab_world_broadcast(world, 0, &nothing);
  gab_world_set_fault_point_hook(world, NULL, NULL);
  gab_buffer_release(&nothing);
  return status;
}

static gab_status point(gab_world *world, int argc, char **argv, gab_reinit_state state, void *user)
{
  (void)argc, (void)argv, (void)state, (void)user;
  CHECK(!"called although a process is missing");
  return gab_world_check(world);
}

/* The end of a program after a failed set-up. */
static int end_of_set_up(gab_world *world)
{
  gab_status abort_request;
  CHECK(gab_world_repair(world, &abort_request) == GAB_OK);
  CHECK(abort_request == GAB_OK);
  return gab_report_completion(world, gab_status_exit_code(GAB_ERR_AGAIN));
}

static int one_leaves(gab_world *world)
{
  gab_status abort_request, status;
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR);
  gab_world_set_replacement(world, GAB_REPLACEMENT_SPARES);
  status = gab_world_rest(world, &abort_request);
  CHECK(status == (gab_world_is_spare(world) ? GAB_ERR_INPUT : GAB_OK));
  if (gab_world_rank(world) == FAILS)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "rank %d cannot", FAILS);
  else status = gab_world_dismiss(world, status);
  CHECK(status == GAB_ERR_INPUT);
  CHECK(gab_report_completion(world, gab_status_exit_code(status)) == gab_status_exit_code(GAB_ERR_INPUT));
  return test_end(&world);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_timeloop *loop;
  automaton app;
  const bool reinit = getenv("GABION_TEST_REINIT") != NULL;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (getenv("GABION_TEST_LEFT")) return one_leaves(world);
  test_doom(VICTIM);
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR);
  REQUIRE_OK(automaton_create(&app, world, (int32_t[]){4, 3, 2}));
  REQUIRE_OK(gab_timeloop_create(app.forest, 4, &loop));
  REQUIRE_OK(automaton_add(&app, loop));
  REQUIRE_OK(gab_timeloop_protect(loop, &(gab_protection){.strategies = {&gab_strategy_spare}}));
  gab_status status = last_call(world);
  REQUIRE(status == GAB_OK || status == GAB_ERR_FAULT);
  REQUIRE(status == GAB_ERR_FAULT || gab_world_rank(world) != FAILS);
  int code = gab_status_exit_code(GAB_ERR_AGAIN);
  if (status == GAB_ERR_FAULT) {
    CHECK(end_of_set_up(world) == code);
  } else {
    status = reinit ? gab_reinit(world, argc, argv, point, NULL) : gab_timeloop_run(loop);
    CHECK(status == GAB_ERR_AGAIN);
    CHECK(gab_report_completion(world, gab_status_exit_code(status)) == code);
  }
  gab_timeloop_destroy(&loop);
  automaton_destroy(&app);
  return test_end(&world);
}
