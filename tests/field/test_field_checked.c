/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#define GABION_CHECKED
#include "field/field.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gab_field *made(void)
{
  const gab_field_shape shape = {.cells = {7, 5, 1}, .ghosts = {1, 2, 0}, .components = 2};
  gab_field *field;
  assert_int_equal(gab_field_create(&shape, &field), GAB_OK);
  return field;
}

/* The last access was refused, from this line of this file, and once. */
static void refused(int line, const char *what)
{
  char place[64];
  snprintf(place, sizeof place, "test_field_checked.c:%d: ", line);
  assert_int_equal(gab_field_check(), GAB_ERR_ARGUMENT);
  assert_non_null(strstr(gab_error_message(), place));
  assert_non_null(strstr(gab_error_message(), what));
  assert_int_equal(gab_field_check(), GAB_OK);
}

static void cells_and_ghosts_are_read_and_written(void **state)
{
  gab_field *field = made();
  (void)state;
  for (int32_t y = -2; y < 7; y++)
    for (int32_t x = -1; x < 8; x++)
      for (int c = 0; c < 2; c++) {
        gab_field_set(field, x, y, 0, c, 100 * x + 10 * y + c);
        assert_true(gab_field_get(field, x, y, 0, c) == 100 * x + 10 * y + c);
        assert_true(((double *)field->data)[gab_field_index(&field->map, x, y, 0, c)] ==
                    100 * x + 10 * y + c);
      }
  assert_int_equal(gab_field_check(), GAB_OK);
  gab_field_destroy(&field);
}

static void other_places_are_refused_with_file_line_cell_and_component(void **state)
{
  gab_field *field = made();
  (void)state;
  assert_true(isnan(gab_field_get(field, -2, 3, 0, 1)));
  refused(__LINE__ - 1, "gab_field_get() of cell (-2, 3, 0), component 1: the field has x from -1 to 7");
  assert_true(isnan(gab_field_get(field, 0, 7, 0, 0)));
  refused(__LINE__ - 1,
          "cell (0, 7, 0), component 0: the field has y from -2 to 6 with ghosts, cells 0 to 4");
  gab_field_set(field, 0, 0, 1, 0, 5);
  refused(__LINE__ - 1, "gab_field_set() of cell (0, 0, 1), component 0: the field has z from 0 to 0");
  gab_field_set(field, 0, 0, 0, 2, 5);
  refused(__LINE__ - 1, "component 2: the field has components 0 to 1");
  assert_true(isnan(gab_field_get(field, 0, 0, 0, -1)));
  refused(__LINE__ - 1, "component -1");
  assert_int_equal(gab_field_index(&field->map, 0, 0, 0, 9), 0);
  refused(__LINE__ - 1, "gab_field_index() of cell (0, 0, 0), component 9: it is outside of the memory");
  for (size_t i = 0; i < field->map.elements; i++) assert_true(((double *)field->data)[i] == 0);
  gab_field_destroy(&field);
}

static void name(const void *what, char *text, size_t capacity)
{
  snprintf(text, capacity, "block %s", (const char *)what);
}

static void the_first_access_is_kept_with_what_is_computed(void **state)
{
  gab_field *field = made();
  (void)state;
  gab_field_computes(name, "of the test");
  (void)gab_field_get(field, 9, 0, 0, 0);
  gab_field_computes(NULL, NULL);
  (void)gab_field_get(field, 10, 0, 0, 0);
  refused(__LINE__ - 3, "cell (9, 0, 0), component 0, in block of the test: ");
  gab_field_destroy(&field);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_and_ghosts_are_read_and_written),
      cmocka_unit_test(other_places_are_refused_with_file_line_cell_and_component),
      cmocka_unit_test(the_first_access_is_kept_with_what_is_computed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
