/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of the sides are consistent: the properties of a kind agree with each other.
 * gabion-test: labels=quick timeout=30 */
#include "lbm/sides/side_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void each_kind_has_a_name_of_its_own(void **state)
{
  (void)state;
  for (int kind = 0; kind < GAB_SIDE_OWN; kind++) {
    assert_non_null(gab_side_kinds[kind]->name);
    assert_true(strlen(gab_side_kinds[kind]->doc) > 0);
    assert_string_equal(gab_boundary_name(kind), gab_side_kinds[kind]->name);
    for (int other = 0; other < kind; other++)
      assert_string_not_equal(gab_side_kinds[kind]->name, gab_side_kinds[other]->name);
  }
  assert_null(gab_side_kinds[GAB_SIDE_OWN]->name);
  assert_null(gab_boundary_name(GAB_SIDE_OWN)); /* nothing is registered */
}

static void keys_are_read(void **state)
{
  (void)state;
  for (int kind = 0; kind < GAB_SIDE_OWN; kind++) {
    const gab_side_descriptor *it = gab_side_kinds[kind];
    assert_int_equal(it->key_count > 0, it->keys != NULL);
    assert_int_equal(it->read != NULL, it->keys != NULL);
  }
}

static void what_arrives_is_computed_at_open_sides_alone(void **state)
{
  (void)state;
  for (int kind = 0; kind < GAB_SIDE_KIND_COUNT; kind++) {
    const gab_side side = {.kind = (gab_side_kind)kind};
    const gab_side_descriptor *it = gab_side_of(&side);
    const int answers = gab_side_is_periodic(&side) + gab_side_bounces(&side) + gab_side_reflects(&side) +
                        gab_side_is_open(&side);
    assert_int_equal(answers, 1);
    assert_int_equal(gab_side_is_open(&side), it->arrives != NULL);
    assert_int_equal(gab_side_is_open(&side), gab_side_kind_is_open(side.kind));
    assert_int_equal(gab_side_kind_passes_fluid(side.kind), gab_side_is_open(&side) || gab_side_moves(&side));
    assert_true(it->reynolds_along == 0 || gab_side_is_open(&side));
    for (int other = 0; other < kind; other++) /* an edge needs to know which of the two decides */
      assert_true(!it->precedence || it->precedence != gab_side_kinds[other]->precedence);
    assert_true(it->precedence > 0 || gab_side_is_periodic(&side) || gab_side_bounces(&side));
  }
  assert_false(gab_side_kind_is_open(GAB_SIDE_KIND_COUNT) || gab_side_kind_passes_fluid((gab_side_kind)-1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_has_a_name_of_its_own),
      cmocka_unit_test(keys_are_read),
      cmocka_unit_test(what_arrives_is_computed_at_open_sides_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
