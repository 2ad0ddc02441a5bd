/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "field/flags.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

static void names_get_different_bits_and_keep_them(void **state)
{
  (void)state;
  gab_flag_names names = {0};
  gab_flag_bits seen = 0, bit, again;
  for (int i = 0; i < GAB_FLAG_COUNT; i++) {
    char name[32];
    snprintf(name, sizeof name, "flag %d", i);
    assert_int_equal(gab_flag_register(&names, name, &bit), GAB_OK);
    assert_true(bit != 0 && (seen & bit) == 0);
    seen |= bit;
    assert_int_equal(gab_flag_register(&names, name, &again), GAB_OK);
    assert_int_equal(again, bit);
    assert_int_equal(gab_flag_find(&names, name), bit);
  }
  assert_int_equal(seen, 0xFFFF);
  assert_int_equal(gab_flag_register(&names, "one more", &bit), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_flag_find(&names, "nobody"), 0);
}

static void names_have_to_fit(void **state)
{
  (void)state;
  gab_flag_names names = {0};
  gab_flag_bits bit;
  assert_int_equal(gab_flag_register(&names, "", &bit), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_flag_register(&names, "a name of more than thirty-one characters", &bit),
                   GAB_ERR_ARGUMENT);
}

static void boxes_of_flags_are_turned_on_off_and_counted(void **state)
{
  (void)state;
  const int32_t cells[3] = {5, 4, 3}, ghosts[3] = {1, 1, 0};
  gab_flags *flags;
  assert_int_equal(gab_flags_create(cells, ghosts, &flags), GAB_OK);
  gab_box all = {{-1, -1, 0}, {6, 5, 3}}, part = {{-1, 0, 1}, {2, 2, 3}};
  assert_int_equal(gab_flags_count(flags, &all, 1), 0);
  gab_flags_turn_on(flags, &part, 5);
  assert_int_equal(gab_flags_count(flags, &all, 1), 3 * 2 * 2);
  assert_int_equal(gab_flags_count(flags, &all, 5), 3 * 2 * 2);
  assert_int_equal(gab_flags_count(flags, &all, 2), 0);
  assert_true(gab_flags_are_on(flags, -1, 1, 2, 5) && !gab_flags_are_on(flags, 2, 1, 2, 4));
  gab_box corner = {{-1, 0, 1}, {0, 1, 2}};
  gab_flags_turn_off(flags, &corner, 4);
  assert_int_equal(gab_flags_count(flags, &all, 5), 3 * 2 * 2 - 1);
  assert_int_equal(gab_flags_count(flags, &all, 1), 3 * 2 * 2);
  gab_flags_destroy(&flags);
  assert_null(flags);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_get_different_bits_and_keep_them),
      cmocka_unit_test(names_have_to_fit),
      cmocka_unit_test(boxes_of_flags_are_turned_on_off_and_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
