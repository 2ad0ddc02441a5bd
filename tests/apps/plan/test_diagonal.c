/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=20 labels=quick */
/* The scheme of the tutorial apps/tutorial/pump.c, for any number of places: copies are in the other row, never
 * opposite, each at another place; so a row or a column may die. */
#define main pump_main
#include "apps/tutorial/pump.c"
#undef main

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void copies_lie_in_the_other_row_and_not_opposite(void **state)
{
  (void)state;
  for (int32_t count = 2; count <= 41; count++)
    for (int32_t cabinet = 1; cabinet <= count / 2; cabinet++)
      for (int32_t place = 0; place < count; place++) {
        const gab_scheme_places places = {.count = count, .largest = cabinet};
        const int32_t columns = (count + 1) / 2,
                      opposite = place < columns ? place + columns : place - columns;
        const int copies = most_copies(count);
        assert_true(copies >= 1);
        for (int copy = 0; copy < copies; copy++) {
          const int32_t there = holder(&places, place, copy, copies);
          assert_true(there >= 0 && there < count && (there < columns) != (place < columns));
          assert_true(there != opposite || count < 4);
          for (int other = 0; other < copy; other++)
            assert_true(there != holder(&places, place, other, copies));
        }
      }
  assert_int_equal(most_copies(1), 0);
}

static void a_copy_is_a_cabinet_further(void **state)
{
  (void)state;
  const gab_scheme_places known = {.count = 16, .largest = 2}, unknown = {.count = 16, .largest = 1};
  assert_int_equal(holder(&known, 0, 0, 1), 8 + 2);
  assert_int_equal(holder(&unknown, 0, 0, 1), 8 + 1);
  assert_int_equal(holder(&unknown, 15, 0, 1), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(copies_lie_in_the_other_row_and_not_opposite),
                                     cmocka_unit_test(a_copy_is_a_cabinet_further)};
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
