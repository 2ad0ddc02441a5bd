/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "blockforest/forest/block_id.h"
#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint64_t drawn;
static uint32_t draw(uint32_t below) { return (uint32_t)(gab_hash_counter(7, 0, ++drawn) % below); }

static gab_root_grid draw_grid(void)
{
  gab_root_grid grid = {2 + (int)draw(2), {1, 1, 1}};
  for (int axis = 0; axis < grid.dimension; axis++) grid.roots[axis] = 1 + (int32_t)draw(draw(2) ? 5 : 8192);
  return grid;
}

static gab_block_place draw_place(const gab_root_grid *grid, int level)
{
  gab_block_place place = {level, {0, 0, 0}};
  for (int axis = 0; axis < grid->dimension; axis++) {
    uint64_t extent = (uint64_t)grid->roots[axis] << level;
    place.at[axis] = (int32_t)(gab_hash_counter(9, 1, ++drawn) % extent);
  }
  return place;
}

static void ids_of_random_places_lead_back_to_them(void **state)
{
  (void)state;
  for (int round = 0; round < 20000; round++) {
    gab_root_grid grid = draw_grid();
    assert_int_equal(gab_root_grid_check(&grid), GAB_OK);
    int deepest = gab_root_grid_max_level(&grid);
    assert_true(deepest >= 8);
    gab_block_place place = draw_place(&grid, (int)draw((uint32_t)deepest + 1));
    gab_block_id id = gab_block_id_of(&grid, place);
    assert_true(gab_block_id_is_valid(&grid, id));
    assert_int_equal(gab_block_id_level(&grid, id), place.level);
    gab_block_place back = gab_block_id_place(&grid, id);
    assert_int_equal(back.level, place.level);
    for (int axis = 0; axis < 3; axis++) assert_int_equal(back.at[axis], place.at[axis]);
  }
}

static void children_lie_in_their_parent_and_name_it(void **state)
{
  (void)state;
  for (int round = 0; round < 5000; round++) {
    gab_root_grid grid = draw_grid();
    int deepest = gab_root_grid_max_level(&grid);
    gab_block_place place = draw_place(&grid, (int)draw((uint32_t)deepest));
    gab_block_id id = gab_block_id_of(&grid, place);
    for (int child = 0; child < 1 << grid.dimension; child++) {
      gab_block_id below = gab_block_id_child(&grid, id, child);
      assert_true(gab_block_id_is_valid(&grid, below));
      assert_true(gab_block_id_parent(&grid, below) == id);
      gab_block_place at = gab_block_id_place(&grid, below);
      for (int axis = 0; axis < grid.dimension; axis++)
        assert_int_equal(at.at[axis], 2 * place.at[axis] + (child >> axis & 1));
    }
  }
}

static void roots_have_no_parent_and_the_deepest_no_children(void **state)
{
  (void)state;
  gab_root_grid grid = {3, {3, 2, 2}};
  gab_block_id root = gab_block_id_of(&grid, (gab_block_place){0, {2, 1, 1}});
  assert_true(gab_block_id_parent(&grid, root) == GAB_NO_BLOCK);
  gab_block_place deep = draw_place(&grid, gab_root_grid_max_level(&grid));
  assert_true(gab_block_id_child(&grid, gab_block_id_of(&grid, deep), 0) == GAB_NO_BLOCK);
}

static void places_outside_have_no_id(void **state)
{
  (void)state;
  gab_root_grid grid = {2, {3, 2, 1}};
  gab_block_place outside[] = {{0, {3, 0, 0}}, {0, {0, 2, 0}}, {0, {-1, 0, 0}}, {1, {6, 0, 0}},
                               {0, {0, 0, 1}}, {1, {0, 0, 1}}, {-1, {0, 0, 0}}, {40, {0, 0, 0}}};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
    assert_true(gab_block_id_of(&grid, outside[i]) == GAB_NO_BLOCK);
}

static void numbers_that_name_no_block_are_refused(void **state)
{
  (void)state;
  gab_root_grid grid = {3, {3, 1, 1}}; /* 2 bits of root: 100, 101, 110 are roots */
  assert_false(gab_block_id_is_valid(&grid, GAB_NO_BLOCK));
  assert_false(gab_block_id_is_valid(&grid, 1));
  assert_false(gab_block_id_is_valid(&grid, 3));
  assert_true(gab_block_id_is_valid(&grid, 4));
  assert_true(gab_block_id_is_valid(&grid, 6));
  assert_false(gab_block_id_is_valid(&grid, 7)); /* no fourth root */
  assert_false(gab_block_id_is_valid(&grid, 8)); /* a path of one bit */
  assert_true(gab_block_id_is_valid(&grid, 4 << 3));
  assert_false(gab_block_id_is_valid(&grid, 7 << 3));
  for (int round = 0; round < 20000; round++) {
    gab_root_grid any = draw_grid();
    gab_block_id id = gab_hash_counter(11, 2, ++drawn) >> draw(64);
    if (gab_block_id_is_valid(&any, id))
      assert_true(gab_block_id_of(&any, gab_block_id_place(&any, id)) == id);
  }
}

static uint64_t interleaved(int dimension, const gab_block_place *place)
{
  uint64_t code = 0;
  for (int bit = 0; bit < place->level; bit++)
    for (int axis = 0; axis < dimension; axis++)
      code |= (uint64_t)(place->at[axis] >> bit & 1) << (bit * dimension + axis);
  return code;
}

static void ids_of_one_root_and_level_are_in_morton_order(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    gab_root_grid grid = {dimension, {1, 1, 1}};
    for (int round = 0; round < 5000; round++) {
      int level = 1 + (int)draw(10);
      gab_block_place a = draw_place(&grid, level), b = draw_place(&grid, level);
      bool before = interleaved(dimension, &a) < interleaved(dimension, &b);
      assert_int_equal(gab_block_id_of(&grid, a) < gab_block_id_of(&grid, b), before);
    }
  }
}

static void impossible_grids_are_refused(void **state)
{
  (void)state;
  gab_root_grid bad[] = {{1, {1, 1, 1}}, {4, {1, 1, 1}}, {3, {0, 1, 1}},    {3, {1, -1, 1}},
                         {2, {1, 1, 2}}, {2, {1, 1, 0}}, {3, {8193, 1, 1}}, {2, {1, (1 << 23) + 1, 1}}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(gab_root_grid_check(&bad[i]), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_of_random_places_lead_back_to_them),
      cmocka_unit_test(children_lie_in_their_parent_and_name_it),
      cmocka_unit_test(roots_have_no_parent_and_the_deepest_no_children),
      cmocka_unit_test(places_outside_have_no_id),
      cmocka_unit_test(numbers_that_name_no_block_are_refused),
      cmocka_unit_test(ids_of_one_root_and_level_are_in_morton_order),
      cmocka_unit_test(impossible_grids_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
