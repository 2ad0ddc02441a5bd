/* SPDX-License-Identifier: Apache-2.0 */
/* Whether copies travel behind the steps is decided by what has cost less; both ways are tried first, and each again now and
 * then, so that a machine that has changed is noticed. */
/* gabion-test: labels=quick */
#include "resilience/loop/timeloop_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const double waited_for = 3, behind_steps = 2;

/* @return how many of `count` went behind the steps */
static int decide(gab_overlap_costs *costs, int count, double waits, double behind)
{
  int gone = 0;
  for (int i = 0; i < count; i++) {
    const bool pays = gab_overlap_pays(costs);
    gab_overlap_note(costs, pays, pays ? behind : waits);
    gone += pays;
  }
  return gone;
}

static void both_are_tried_first(void **state)
{
  (void)state;
  gab_overlap_costs costs = {.count = {0, 0}};
  assert_int_equal(decide(&costs, 4, waited_for, behind_steps), 2);
  assert_int_equal(costs.count[0], 2);
  assert_int_equal(costs.count[1], 2);
}

static void then_what_costs_less(void **state)
{
  (void)state;
  gab_overlap_costs less = {.count = {0, 0}}, more = {.count = {0, 0}};
  const int gone_less = decide(&less, 100, waited_for, behind_steps),
            gone_more = decide(&more, 100, behind_steps, waited_for);
  assert_true(gone_less > 85 && gone_less < 98);
  assert_true(gone_more > 2 && gone_more < 15);
}

static void a_change_is_noticed(void **state)
{
  (void)state;
  gab_overlap_costs costs = {.count = {0, 0}};
  decide(&costs, 100, waited_for, behind_steps);
  decide(&costs, 100, 1, behind_steps);
  assert_true(decide(&costs, 100, 1, behind_steps) < 15);
  decide(&costs, 100, waited_for, behind_steps);
  assert_true(decide(&costs, 100, waited_for, behind_steps) > 85);
}

/* One that was disturbed by something else does not decide for long. */
static void one_of_many(void **state)
{
  (void)state;
  gab_overlap_costs costs = {.count = {0, 0}};
  decide(&costs, 100, waited_for, behind_steps);
  gab_overlap_note(&costs, true, 100 * waited_for);
  assert_true(decide(&costs, 100, waited_for, behind_steps) > 50);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_are_tried_first),
                                     cmocka_unit_test(then_what_costs_less),
                                     cmocka_unit_test(a_change_is_noticed), cmocka_unit_test(one_of_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
