/* SPDX-License-Identifier: Apache-2.0 */
/* Being asked to stop: who is asked is heard by all at the same step, and soon, also where steps were so fast that the next
 * question was far away.
 *
 *   mpi_stop */
/* gabion-test: np=1,3 quick=3 timeout=60 */
#include "core/base/timer.h"
#include "core/messages/collective.h"
#include "resilience/loop/stop.h"
#include "tests/mpi_test.h"

#include <signal.h>

enum { LATEST = 64 }; /* steps that may pass */

static gab_world *world;
static gab_stop *stop;

static gab_stop_reason ask(gab_step step, double step_seconds)
{
  gab_stop_reason reason;
  REQUIRE_OK(gab_stop_ask(stop, step, step_seconds, 0, &reason));
  return reason;
}

/* @return the step at which all heard it */
static gab_step steps_until(gab_stop_reason expected, gab_step first, double step_seconds)
{
  for (gab_step step = first; step <= first + 10 * LATEST; step++) {
    const gab_stop_reason reason = ask(step, step_seconds);
    uint64_t low = (uint64_t)reason, high = low;
    REQUIRE_OK(gab_world_min_u64(world, &low, 1));
    REQUIRE_OK(gab_world_max_u64(world, &high, 1));
    REQUIRE(low == high);
    if (reason == GAB_STOP_NOT) continue;
    CHECK(reason == expected);
    return step;
  }
  return first + 10 * LATEST;
}

/* A minute is left: steps of a tenth of a second may go on, one of two minutes would not end in time. */
static void stops_ahead_of_a_slow_step(void)
{
  REQUIRE_OK(gab_stop_create(world, gab_seconds_since_1970() + 60, &stop));
  CHECK(ask(0, 0.1) == GAB_STOP_NOT);
  gab_stop_restart(stop, 0);
  CHECK(ask(1, 120) == GAB_STOP_DEADLINE);
  gab_stop_destroy(&stop);
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const bool last = gab_world_rank(world) == gab_world_members(world)->ranks - 1;
  stops_ahead_of_a_slow_step();
  REQUIRE_OK(gab_stop_create(world, 0, &stop));
  CHECK(ask(0, 1e-6) == GAB_STOP_NOT);
  if (last) raise(SIGTERM);
  const gab_step heard = steps_until(GAB_STOP_SIGNAL, 1, 1e-6);
  CHECK(heard > 1 && heard <= LATEST); /* not at every step, but soon */
  gab_stop_restart(stop, heard);
  CHECK(steps_until(GAB_STOP_SIGNAL, heard + 1, 10) == heard + 1);
  CHECK(steps_until(GAB_STOP_SIGNAL, heard + 2, 10) == heard + 2); /* slow steps: at each */
  gab_stop_destroy(&stop);
  return test_end(&world);
}
