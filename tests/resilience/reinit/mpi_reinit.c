/* SPDX-License-Identifier: Apache-2.0 */
/* What gab_reinit() promises to the function that it calls, and to those that are never called. On 3 processes: who has
 * returned is called again when another one dies behind it, in the state that says so, and what was to be cleaned up is;
 * who takes over knows that, too. On 4: an error of one ends all, spares included, with its status and words. On 5: with
 * fewer processes nobody goes on who did not ask for that. */
/* gabion-test: np=3,4,5 quick=4 timeout=60 needs=ulfm */
#include "core/messages/collective.h"
#include "core/base/status.h"
#include "resilience/recovery/reinit.h"
#include "tests/mpi_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VICTIM = 1 };

static gab_world *world;
static int calls, cleaned;
static gab_reinit_state first, last;

static void count_cleanup(void *user)
{
  (void)user;
  cleaned++;
}

static void note_call(gab_reinit_state state)
{
  if (calls++ == 0) first = state;
  last = state;
}

static bool is_victim(void)
{
  const gab_rank me = gab_world_rank(world);
  return me == VICTIM && gab_world_incarnation(world, me) == 0;
}

static gab_status work(gab_world *w, int argc, char **argv, gab_reinit_state state, void *user)
{
  (void)argc, (void)argv, (void)user;
  note_call(state);
  GAB_TRY(gab_reinit_add_cleanup(w, count_cleanup, NULL));
  GAB_TRY(gab_world_barrier(w));
  if (is_victim()) {
    usleep(100000); /* the other one has returned, or is about to */
    kill(getpid(), SIGKILL);
  }
  return GAB_OK;
}

static gab_status refuse(gab_world *w, int argc, char **argv, gab_reinit_state state, void *user)
{
  (void)argc, (void)argv, (void)user;
  note_call(state);
  if (gab_world_rank(w) == VICTIM) GAB_FAIL(GAB_ERR_INPUT, "rank %d does not like it", VICTIM);
  return gab_world_barrier(w);
}

static void one_dies_behind_the_last_word(int argc, char **argv)
{
  const bool was_spare = gab_world_is_spare(world), dies = is_victim();
  test_doom(VICTIM);
  REQUIRE_OK(gab_reinit(world, argc, argv, work, NULL));
  REQUIRE(!dies);
  REQUIRE(calls == (was_spare ? 1 : 2));
  REQUIRE(first == (was_spare ? GAB_REINIT_RESTARTED : GAB_REINIT_NEW));
  REQUIRE(last == (was_spare ? GAB_REINIT_RESTARTED : GAB_REINIT_REINITED));
  REQUIRE(cleaned == calls - 1);
}

static void an_error_of_one_ends_all(int argc, char **argv)
{
  const bool is_spare = gab_world_is_spare(world);
  REQUIRE(gab_reinit(world, argc, argv, refuse, NULL) == GAB_ERR_INPUT);
  REQUIRE(calls == !is_spare);
  REQUIRE(strstr(gab_error_message(), "rank 1 does not like it") != NULL);
}

static void nobody_goes_on_with_fewer(int argc, char **argv)
{
  test_doom(VICTIM);
  REQUIRE(gab_reinit(world, argc, argv, work, NULL) == GAB_ERR_LOST);
  REQUIRE(calls == 1 && cleaned == 1);
}

int main(int argc, char **argv)
{
  int size = 0;
  const char *told = getenv("OMPI_COMM_WORLD_SIZE");
  if (told) size = atoi(told);
  setenv("GABION_SPARES", size == 5 ? "0" : "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (size == 3) one_dies_behind_the_last_word(argc, argv);
  else if (size == 4) an_error_of_one_ends_all(argc, argv);
  else nobody_goes_on_with_fewer(argc, argv);
  return test_end(&world);
}
