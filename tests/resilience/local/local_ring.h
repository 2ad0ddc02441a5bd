/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks in a ring, for tests that loop over situations. */
#ifndef GABION_TESTS_LOCAL_RING_H
#define GABION_TESTS_LOCAL_RING_H

#include "tests/resilience/local/local_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* Stride of a loop over situations: `usual`, or 1 with GABION_TEST_EVERY_CASE in the environment (script_local_long.sh). Primes keep
 * all residues of seeds. */
static inline int stride(int usual) { return getenv("GABION_TEST_EVERY_CASE") ? 1 : usual; }

/* An orderly schedule: rank s has its image at rank s + shift. */
static schedule ring(gab_rank ranks, gab_process spares, int shift)
{
  static uint32_t none; /* no choices */
  schedule plan = {.seed = 1, .choices = &none};
  plan.problem = (problem){.ranks = ranks,
                           .spares = spares,
                           .steps = 10,
                           .checkpoint_every = 3,
                           .reduce_every = 4,
                           .decide_every = 2,
                           .stop_behind = 6,
                           .ahead = 2,
                           .children = 2};
  for (gab_rank s = 0; s < ranks; s++) {
    plan.problem.holder[s] = (s + shift) % ranks;
    plan.problem.adjacent[s][(s + 1) % ranks] = plan.problem.adjacent[(s + 1) % ranks][s] = true;
  }
  return plan;
}

/* Runs a schedule; fails the test if an invariant is violated. */
static outcome run(const schedule *plan)
{
  const outcome out = run_schedule(plan, false, NULL);
  if (out.failure[0]) {
    print_error("%s\n", out.failure);
    for (int i = 0; i < plan->death_count; i++)
      print_error("death of process %d at event %ld\n", (int)plan->deaths[i].process, plan->deaths[i].event);
  }
  assert_string_equal(out.failure, "");
  return out;
}

/* In a ring of three, rank 1 stores the image of 0, and 0 that of 2. When both are lost, rank 1 offers 0 to a spare
 * and asks it for the processes of 2 and 0. The spare accepts, announces that it runs 0, and dies. Rank 1 may learn
 * of its death first, offer 0 to the next spare, and then receive the announcement of the dead one: it must still
 * wait for the next spare. */
static inline void kill_first_spare_while_it_answers(schedule *plan, uint64_t seed, long begin)
{
  const long event = begin + (long)(mix(seed, 1) % 30);
  const gab_process first_spare = 3;
  plan->seed = seed;
  plan->choices = NULL;
  plan->deaths[plan->death_count++] = (death){event, 0};
  plan->deaths[plan->death_count++] = (death){event, 2};
  plan->deaths[plan->death_count++] = (death){event + 8 + (long)(mix(seed, 2) % 16), first_spare};
}

#endif
