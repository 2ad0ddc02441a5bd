/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "field/field.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const gab_field_shape shapes[] = {
    {{7, 5, 3}, {1, 1, 1}, 4, GAB_LAYOUT_SOA, GAB_PRECISION_DOUBLE},
    {{7, 5, 3}, {2, 1, 3}, 4, GAB_LAYOUT_AOS, GAB_PRECISION_DOUBLE},
    {{16, 4, 1}, {1, 1, 0}, 9, GAB_LAYOUT_SOA, GAB_PRECISION_FLOAT},
    {{1, 1, 1}, {8, 8, 8}, 1, GAB_LAYOUT_SOA, GAB_PRECISION_FLOAT},
    {{9, 2, 2}, {0, 0, 0}, 3, GAB_LAYOUT_AOS, GAB_PRECISION_FLOAT},
    {{64, 3, 2}, {1, 1, 1}, 19, GAB_LAYOUT_SOA, GAB_PRECISION_DOUBLE},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static double value_at(int64_t x, int64_t y, int64_t z, int c)
{
  return (double)(x + 20 + 128 * (y + 20) + 128 * 64 * (z + 20)) + (double)c / 64;
}

static gab_field *field_of(const gab_field_shape *shape)
{
  gab_field *field;
  assert_int_equal(gab_field_create(shape, &field), GAB_OK);
  return field;
}

typedef void (*value_visitor)(gab_field *field, int32_t x, int32_t y, int32_t z, int c);
static void each_value(gab_field *field, value_visitor visit)
{
  gab_box all = gab_field_whole(field);
  for (int c = 0; c < field->shape.components; c++)
    for (int64_t z = all.lo[2]; z < all.hi[2]; z++)
      for (int64_t y = all.lo[1]; y < all.hi[1]; y++)
        for (int64_t x = all.lo[0]; x < all.hi[0]; x++) visit(field, (int32_t)x, (int32_t)y, (int32_t)z, c);
}

static void mark(gab_field *field, int32_t x, int32_t y, int32_t z, int c)
{
  size_t index = gab_field_index(&field->map, x, y, z, c);
  assert_true(index < field->map.elements);
  assert_true(gab_field_get(field, x, y, z, c) == 0); /* nobody else is here */
  gab_field_set(field, x, y, z, c, 1);
}

static void set_value(gab_field *field, int32_t x, int32_t y, int32_t z, int c)
{
  gab_field_set(field, x, y, z, c, (float)value_at(x, y, z, c));
}

static void check_value(gab_field *field, int32_t x, int32_t y, int32_t z, int c)
{
  assert_true(gab_field_get(field, x, y, z, c) == (float)value_at(x, y, z, c));
}

static void every_value_has_a_place_of_its_own_inside_the_memory(void **state)
{
  (void)state;
  for (int i = 0; i < SHAPES; i++) {
    gab_field *field = field_of(&shapes[i]);
    each_value(field, mark);
    gab_field_destroy(&field);
    assert_null(field);
  }
}

static void expect_aligned(const gab_field *field, int32_t y, int32_t z, int c)
{
  uintptr_t address = (uintptr_t)field->data +
                      gab_precision_bytes(field->shape.precision) * gab_field_index(&field->map, 0, y, z, c);
  assert_int_equal(address % GAB_ALIGNMENT, 0);
}

static void rows_are_aligned_unless_that_costs_more_than_an_eighth(void **state)
{
  (void)state;
  int tight = 0;
  for (int i = 0; i < SHAPES; i++) {
    gab_field *field = field_of(&shapes[i]);
    const gab_field_shape *shape = &shapes[i];
    size_t bytes = gab_precision_bytes(shape->precision);
    bool soa = shape->layout == GAB_LAYOUT_SOA;
    size_t values = (size_t)(shape->cells[0] + 2 * shape->ghosts[0]) * (soa ? 1 : (size_t)shape->components) *
                    bytes,
           row = (size_t)field->map.stride[1] * bytes, lines = (values + GAB_ALIGNMENT - 1) / GAB_ALIGNMENT;
    bool padded = 8 * (lines * GAB_ALIGNMENT - values) <= values;
    assert_int_equal(row, padded ? lines * GAB_ALIGNMENT : values);
    tight += !padded;
    for (int c = 0; c < (soa ? shape->components : 1); c++) {
      expect_aligned(field, 0, 0, c);
      for (int32_t z = 0; padded && z < shape->cells[2]; z++)
        for (int32_t y = 0; y < shape->cells[1]; y++) expect_aligned(field, y, z, c);
    }
    if (soa) assert_int_equal((size_t)field->map.component_stride * bytes / GAB_ALIGNMENT % 2, 1);
    gab_field_destroy(&field);
  }
  assert_in_range(tight, 1, SHAPES - 1);
}

static void packed_boxes_are_canonical_and_come_back(void **state)
{
  (void)state;
  const int order[] = {2, 0};
  const gab_box box = {{-1, 0, 0}, {4, 3, 2}};
  unsigned char *bytes[2];
  for (int layout = 0; layout < 2; layout++) {
    gab_field_shape shape = {{7, 5, 3}, {2 - layout, 1, 1}, 3, (gab_layout)layout, GAB_PRECISION_DOUBLE};
    gab_field *field = field_of(&shape), *other = field_of(&shape);
    each_value(field, set_value);
    size_t size = gab_field_box_bytes(field, &box, 2);
    assert_int_equal(size, 2 * 5 * 3 * 2 * sizeof(double));
    bytes[layout] = malloc(size);
    assert_non_null(bytes[layout]);
    gab_field_pack_box(field, &box, order, 2, bytes[layout]);
    double first, second;
    memcpy(&first, bytes[layout], sizeof first);
    memcpy(&second, bytes[layout] + size / 2, sizeof second);
    assert_true(first == gab_field_get(field, -1, 0, 0, 2) && second == gab_field_get(field, -1, 0, 0, 0));
    gab_field_unpack_box(other, &box, order, 2, bytes[layout]);
    for (int32_t z = -1; z < 4; z++)
      for (int32_t y = -1; y < 6; y++)
        for (int32_t x = -1; x < 8; x++)
          for (int c = 0; c < 3; c++) {
            bool inside = x >= -1 && x < 4 && y >= 0 && y < 3 && z >= 0 && z < 2 && c != 1;
            assert_true(gab_field_get(other, x, y, z, c) == (inside ? gab_field_get(field, x, y, z, c) : 0));
          }
    gab_field_destroy(&field);
    gab_field_destroy(&other);
  }
  assert_memory_equal(bytes[0], bytes[1], 2 * 5 * 3 * 2 * sizeof(double));
  free(bytes[0]);
  free(bytes[1]);
}

static void copies_between_layouts_and_precisions_keep_the_values(void **state)
{
  (void)state;
  for (int to = 0; to < 4; to++)
    for (int from = 0; from < 4; from++) {
      gab_field_shape shape = {{6, 4, 2}, {1, 1, 1}, 3, (gab_layout)(from / 2), (gab_precision)(from % 2)};
      gab_field *a = field_of(&shape);
      shape.layout = (gab_layout)(to / 2);
      shape.precision = (gab_precision)(to % 2);
      gab_field *b = field_of(&shape);
      each_value(a, set_value);
      assert_int_equal(gab_field_copy(b, a), GAB_OK);
      each_value(b, check_value);
      assert_int_equal(gab_field_swap(a, b), to == from ? GAB_OK : GAB_ERR_ARGUMENT);
      gab_field_destroy(&a);
      gab_field_destroy(&b);
    }
}

static void a_box_copied_to_another_place_keeps_its_values(void **state)
{
  (void)state;
  for (int layout = 0; layout < 2; layout++) {
    gab_field_shape shape = {{6, 4, 2}, {1, 1, 1}, 3, (gab_layout)layout, GAB_PRECISION_FLOAT};
    gab_field *a = field_of(&shape), *b = field_of(&shape);
    each_value(a, set_value);
    gab_box from = {{4, 0, 0}, {6, 4, 2}}, to = {{-1, 0, 0}, {1, 4, 2}};
    gab_field_copy_box(b, &to, a, &from, NULL, 3);
    for (int c = 0; c < 3; c++) {
      assert_true(gab_field_get(b, -1, 2, 1, c) == gab_field_get(a, 4, 2, 1, c));
      assert_true(gab_field_get(b, 0, 3, 0, c) == gab_field_get(a, 5, 3, 0, c));
      assert_true(gab_field_get(b, 1, 3, 0, c) == 0);
    }
    gab_field_destroy(&a);
    gab_field_destroy(&b);
  }
}

static void filling_touches_one_component_of_the_box(void **state)
{
  (void)state;
  gab_field *field = field_of(&shapes[1]);
  gab_box box = gab_field_interior(field);
  gab_field_fill(field, 2, &box, 3.5);
  assert_true(gab_field_get(field, 6, 4, 2, 2) == 3.5 && gab_field_get(field, 6, 4, 2, 1) == 0 &&
              gab_field_get(field, 7, 4, 2, 2) == 0);
  gab_field_fill(field, -1, &box, 1);
  assert_true(gab_field_get(field, 0, 0, 0, 0) == 1 && gab_field_get(field, 0, 0, 0, 3) == 1);
  gab_field_destroy(&field);
}

static void fields_count_as_field_memory(void **state)
{
  (void)state;
  size_t before = gab_memory_now(GAB_MEMORY_FIELD);
  gab_field *field = field_of(&shapes[0]);
  assert_true(gab_memory_now(GAB_MEMORY_FIELD) >= before + field->map.elements * sizeof(double));
  gab_field_destroy(&field);
  assert_int_equal(gab_memory_now(GAB_MEMORY_FIELD), before);
}

static void impossible_shapes_are_refused(void **state)
{
  (void)state;
  gab_field *field;
  gab_field_shape bad = shapes[0];
  bad.cells[1] = 0;
  assert_int_equal(gab_field_create(&bad, &field), GAB_ERR_ARGUMENT);
  assert_null(field);
  bad = shapes[0];
  bad.ghosts[0] = 9;
  assert_int_equal(gab_field_create(&bad, &field), GAB_ERR_ARGUMENT);
  bad = shapes[0];
  bad.components = 0;
  assert_int_equal(gab_field_create(&bad, &field), GAB_ERR_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_has_a_place_of_its_own_inside_the_memory),
      cmocka_unit_test(rows_are_aligned_unless_that_costs_more_than_an_eighth),
      cmocka_unit_test(packed_boxes_are_canonical_and_come_back),
      cmocka_unit_test(copies_between_layouts_and_precisions_keep_the_values),
      cmocka_unit_test(a_box_copied_to_another_place_keeps_its_values),
      cmocka_unit_test(filling_touches_one_component_of_the_box),
      cmocka_unit_test(fields_count_as_field_memory),
      cmocka_unit_test(impossible_shapes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
