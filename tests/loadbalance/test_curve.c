/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "loadbalance/curve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const gab_curve *const curves[] = {&gab_curve_morton, &gab_curve_hilbert};

static void every_place_has_one_position_and_back(void **state)
{
  (void)state;
  for (size_t c = 0; c < 2; c++)
    for (int dimension = 2; dimension <= 3; dimension++)
      for (int bits = 0; bits <= 5; bits++) {
        uint64_t count = (uint64_t)1 << (dimension * bits);
        for (uint64_t position = 0; position < count; position++) {
          uint32_t at[3];
          curves[c]->decode(dimension, bits, position, at);
          for (int axis = 0; axis < 3; axis++) assert_true(at[axis] < 1u << (axis < dimension ? bits : 0));
          assert_true(curves[c]->encode(dimension, bits, at) == position);
        }
      }
}

static void consecutive_hilbert_positions_share_a_face(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int bits = 1; bits <= 5; bits++) {
      uint32_t before[3], at[3];
      gab_curve_hilbert.decode(dimension, bits, 0, before);
      for (uint64_t position = 1; position < (uint64_t)1 << (dimension * bits); position++) {
        gab_curve_hilbert.decode(dimension, bits, position, at);
        int distance = 0;
        for (int axis = 0; axis < 3; axis++) distance += abs((int)at[axis] - (int)before[axis]);
        assert_int_equal(distance, 1);
        memcpy(before, at, sizeof at);
      }
    }
}

/* Halves of the curve, and in 3D quarters, are cut across the last axes: rows along x are whole in each. */
static void pieces_hold_whole_rows(void **state)
{
  (void)state;
  enum { BITS = 3, EDGE = 1 << BITS };
  for (size_t c = 0; c < sizeof curves / sizeof curves[0]; c++)
    for (int dimension = 2; dimension <= 3; dimension++)
      for (uint32_t z = 0; z < (dimension == 3 ? EDGE : 1); z++)
        for (uint32_t y = 0; y < EDGE; y++)
          for (uint32_t x = 1; x < EDGE; x++) {
            const uint32_t first[3] = {0, y, z}, at[3] = {x, y, z};
            const int pieces = dimension - 1; /* two to that power */
            const uint64_t own = curves[c]->encode(dimension, BITS, at) >> (dimension * BITS - pieces);
            assert_true(own == curves[c]->encode(dimension, BITS, first) >> (dimension * BITS - pieces));
          }
}

static void morton_interleaves_bits_with_x_lowest(void **state)
{
  (void)state;
  assert_true(gab_curve_morton.encode(2, 2, (uint32_t[3]){3, 0, 0}) == 5);
  assert_true(gab_curve_morton.encode(2, 2, (uint32_t[3]){0, 3, 0}) == 10);
  assert_true(gab_curve_morton.encode(3, 2, (uint32_t[3]){2, 1, 3}) == (1 << 3 | 1 << 1 | 1 << 5 | 1 << 2));
}

static void the_finer_curve_refines_the_coarser_one(void **state)
{
  (void)state;
  for (size_t c = 0; c < 2; c++)
    for (int dimension = 2; dimension <= 3; dimension++)
      for (int bits = 1; bits <= 5; bits++)
        for (uint64_t position = 0; position < (uint64_t)1 << (dimension * bits); position++) {
          uint32_t at[3];
          curves[c]->decode(dimension, bits, position, at);
          uint32_t half[3] = {at[0] / 2, at[1] / 2, at[2] / 2};
          assert_true(curves[c]->encode(dimension, bits - 1, half) == position >> dimension);
        }
}

static void the_deepest_positions_fit(void **state)
{
  (void)state;
  for (size_t c = 0; c < 2; c++)
    for (int dimension = 2; dimension <= 3; dimension++) {
      int bits = 63 / dimension;
      uint64_t last = ((uint64_t)1 << (dimension * bits)) - 1;
      for (uint64_t position = last; position > last - 1000; position--) {
        uint32_t at[3];
        curves[c]->decode(dimension, bits, position, at);
        assert_true(curves[c]->encode(dimension, bits, at) == position);
      }
    }
}

static void curves_are_found_by_name(void **state)
{
  (void)state;
  assert_ptr_equal(gab_curve_by_name("morton"), &gab_curve_morton);
  assert_ptr_equal(gab_curve_by_name("hilbert"), &gab_curve_hilbert);
  assert_null(gab_curve_by_name("peano"));
  assert_non_null(strstr(gab_error_message(), "morton"));
  assert_non_null(strstr(gab_error_message(), "hilbert"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_place_has_one_position_and_back),
      cmocka_unit_test(consecutive_hilbert_positions_share_a_face),
      cmocka_unit_test(pieces_hold_whole_rows),
      cmocka_unit_test(morton_interleaves_bits_with_x_lowest),
      cmocka_unit_test(the_finer_curve_refines_the_coarser_one),
      cmocka_unit_test(the_deepest_positions_fit),
      cmocka_unit_test(curves_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
