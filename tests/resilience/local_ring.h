/* Slots in a ring, for tests that look at one situation after another. */
#ifndef GABION_TESTS_LOCAL_RING_H
#define GABION_TESTS_LOCAL_RING_H

#include "local_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* An orderly schedule: slot s has its image at slot s + shift. */
static schedule ring(gab_slot slots, gab_seat spares, int shift)
{
  static uint32_t none; /* no choices */
  schedule plan = {.seed = 1, .choices = &none};
  plan.problem = (problem){.slots = slots,
                           .spares = spares,
                           .steps = 10,
                           .checkpoint_every = 3,
                           .reduce_every = 4,
                           .decide_every = 2,
                           .stop_behind = 6,
                           .ahead = 2,
                           .children = 2};
  for (gab_slot s = 0; s < slots; s++) {
    plan.problem.holder[s] = (s + shift) % slots;
    plan.problem.adjacent[s][(s + 1) % slots] = plan.problem.adjacent[(s + 1) % slots][s] = true;
  }
  return plan;
}

/* Fails the test if anything that has to hold does not. */
static outcome run(const schedule *plan)
{
  const outcome out = run_schedule(plan, false, NULL);
  if (out.failure[0]) {
    print_error("%s\n", out.failure);
    for (int i = 0; i < plan->death_count; i++)
      print_error("death of seat %d at event %ld\n", (int)plan->deaths[i].seat, plan->deaths[i].event);
  }
  assert_string_equal(out.failure, "");
  return out;
}

#endif
