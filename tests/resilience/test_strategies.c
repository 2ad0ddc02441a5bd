/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies by name, and lists of them: an order in which one could never be reached is refused, with the names in the message.
 * What two strategies are to each other is told by their tables and names: a copy of a table is that strategy. */
#include "resilience/recovery/recovery_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static const gab_strategy *named(const char *name)
{
  const gab_strategy *strategy = gab_strategy_by_name(name);
  assert_non_null(strategy);
  return strategy;
}

/* @return what a list, names with commas between them, is refused for; NULL: it is taken */
static const char *refusal(const char *names)
{
  const gab_strategy *list[GAB_MOST_STRATEGIES];
  char words[128];
  int count = 0;
  snprintf(words, sizeof words, "%s", names);
  for (char *word = strtok(words, ","); word; word = strtok(NULL, ",")) list[count++] = named(word);
  const gab_status status = gab_strategies_check(list, count);
  assert_true(status == GAB_OK || status == GAB_ERR_INPUT);
  return status == GAB_OK ? NULL : gab_error_message();
}

static void orders_in_which_each_can_be_reached_are_taken(void **state)
{
  static const char *const good[] = {"shrink",
                                     "spare",
                                     "respawn",
                                     "local",
                                     "spare,shrink",
                                     "spare,shrink,disk",
                                     "respawn,shrink",
                                     "spare,respawn,shrink,disk",
                                     "local,spare,shrink",
                                     "shrink,disk,reconstruct",
                                     "shrink,reconstruct,disk"};
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (refusal(good[i])) fail_msg("%s: %s", good[i], refusal(good[i]));
}

static void orders_in_which_one_cannot_be_reached_are_refused(void **state)
{
  static const struct {
    const char *names, *words;
  } bad[] = {{"shrink,spare", "strategy 'spare' cannot follow 'shrink'"},
             {"disk,spare", "strategy 'spare' cannot follow 'disk'"},
             {"shrink,respawn", "strategy 'respawn' cannot follow 'shrink'"},
             {"spare,shrink,respawn", "strategy 'respawn' cannot follow 'shrink'"},
             {"respawn,spare", "strategy 'spare' cannot be reached behind 'respawn'"},
             {"spare,local", "strategy 'local' must be the first of the list"},
             {"spare,reconstruct", "strategies 'spare' and 'reconstruct' cannot be combined"},
             {"respawn,shrink,reconstruct", "strategies 'respawn' and 'reconstruct' cannot be combined"},
             {"shrink,disk,shrink", "strategy 'shrink' is named twice"}};
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *said = refusal(bad[i].names);
    if (!said || !strstr(said, bad[i].words))
      fail_msg("%s: %s, expected: %s", bad[i].names, said ? said : "is taken", bad[i].words);
  }
}

static void a_copy_of_a_table_is_the_same_strategy(void **state)
{
  const gab_strategy copy = *named("shrink");
  const gab_strategy *const twice[] = {named("shrink"), &copy};
  (void)state;
  assert_int_equal(gab_strategies_check(twice, 2), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "'shrink' is named twice"));
  const gab_strategy fills = *named("spare");
  const gab_strategy *const late[] = {&copy, &fills};
  assert_int_equal(gab_strategies_check(late, 2), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "'spare' cannot follow 'shrink'"));
}

static gab_status never(const gab_recovery *recovery, gab_fault *fault)
{
  (void)recovery, (void)fault;
  return GAB_ERR_LOST;
}

/* A full list, which no NULL ends, and a list that ends before `local'. */
static void only_local_has_a_table_for_the_loop(void **state)
{
  const gab_strategy *full[GAB_MOST_STRATEGIES], *ended[GAB_MOST_STRATEGIES] = {&gab_strategy_spare};
  (void)state;
  for (int i = 0; i < GAB_MOST_STRATEGIES; i++) full[i] = &gab_strategy_shrink;
  assert_null(gab_strategies_local(full));
  full[GAB_MOST_STRATEGIES - 1] = &gab_strategy_local;
  assert_ptr_equal(gab_strategies_local(full), gab_strategy_local.local);
  ended[2] = &gab_strategy_local;
  assert_null(gab_strategies_local(ended));
  for (int i = 0; gab_strategy_at(i); i++)
    assert_int_equal(gab_strategy_at(i)->local != NULL, gab_strategy_at(i) == &gab_strategy_local);
}

static void a_users_own_is_found_by_its_name_and_follows_the_same_rules(void **state)
{
  static const gab_strategy own = {.name = "own",
                                   .doc = "fills the ranks of the dead",
                                   .restore = never,
                                   .replacement = GAB_REPLACEMENT_SPARES};
  const gab_strategy again = {.name = "shrink", .doc = "another one", .restore = never};
  const gab_strategy idle = {.name = "idle", .doc = "does nothing"};
  (void)state;
  assert_null(gab_strategy_by_name("own"));
  assert_non_null(strstr(gab_error_message(), "shrink, spare, respawn, reconstruct, disk, local"));
  assert_int_equal(gab_strategy_register(&own), GAB_OK);
  assert_ptr_equal(gab_strategy_by_name("own"), &own);
  assert_int_equal(gab_strategy_register(&own), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_strategy_register(&again), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_strategy_register(&idle), GAB_ERR_ARGUMENT);
  assert_null(refusal("own,shrink"));
  assert_non_null(refusal("shrink,own"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_in_which_each_can_be_reached_are_taken),
      cmocka_unit_test(orders_in_which_one_cannot_be_reached_are_refused),
      cmocka_unit_test(a_copy_of_a_table_is_the_same_strategy),
      cmocka_unit_test(only_local_has_a_table_for_the_loop),
      cmocka_unit_test(a_users_own_is_found_by_its_name_and_follows_the_same_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
