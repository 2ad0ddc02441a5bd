/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "core/base/registry_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct animal {
  const char *name;
  int legs;
} animal;
static const animal bee = {"bee", 6}, cow = {"cow", 4}, eel = {"eel", 0};

static const char *reserved(int index) { return index == 0 ? "auto" : NULL; }

static gab_registry with_bee(int most)
{
  return (gab_registry){.kind = "animal", .most = most, .taken = reserved, .entries = {&bee}};
}

static void entries_stay_in_order_and_are_found_by_name(void **state)
{
  gab_registry animals = with_bee(3);
  (void)state;
  assert_int_equal(gab_registry_add(&animals, &cow), GAB_OK);
  assert_int_equal(gab_registry_add(&animals, &eel), GAB_OK);
  assert_ptr_equal(gab_registry_at(&animals, 1), &cow);
  assert_null(gab_registry_at(&animals, 3));
  assert_null(gab_registry_at(&animals, -1));
  assert_ptr_equal(gab_registry_find(&animals, "eel"), &eel);
  assert_ptr_equal(gab_registry_require(&animals, "bee"), &bee);
  assert_null(gab_registry_find(&animals, "ee"));
}

static void names_that_cannot_be_chosen_are_refused(void **state)
{
  static const char *const names[] = {NULL, "", "a|b", "a/b", "a b", "a,b", "auto", "bee"};
  gab_registry animals = with_bee(3);
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const animal bad = {names[i], 1};
    assert_int_equal(gab_registry_add(&animals, &bad), GAB_ERR_ARGUMENT);
    assert_null(gab_registry_at(&animals, 1));
  }
}

static void full_registry_refuses_further_entries(void **state)
{
  gab_registry animals = with_bee(2);
  (void)state;
  assert_int_equal(gab_registry_add(&animals, &cow), GAB_OK);
  assert_int_equal(gab_registry_add(&animals, &eel), GAB_ERR_ARGUMENT);
  assert_non_null(strstr(gab_error_message(), "cannot add animal 'eel': there are 2 already"));
  assert_null(gab_registry_find(&animals, "eel"));
}

static void message_lists_what_there_is(void **state)
{
  gab_registry animals = with_bee(3);
  (void)state;
  assert_int_equal(gab_registry_add(&animals, &cow), GAB_OK);
  assert_null(gab_registry_require(&animals, "dog"));
  assert_non_null(strstr(gab_error_message(), "no animal 'dog' (there are: bee, cow)"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entries_stay_in_order_and_are_found_by_name),
      cmocka_unit_test(names_that_cannot_be_chosen_are_refused),
      cmocka_unit_test(full_registry_refuses_further_entries),
      cmocka_unit_test(message_lists_what_there_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
