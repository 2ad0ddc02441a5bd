/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "blockforest/forest/topology_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const gab_topology topologies[] = {
    {{3, {1, 1, 1}}, {true, true, true}},   {{3, {2, 1, 1}}, {true, false, true}},
    {{3, {3, 2, 4}}, {false, true, false}}, {{3, {3, 3, 3}}, {true, true, true}},
    {{2, {1, 1, 1}}, {true, true, true}},   {{2, {4, 3, 1}}, {true, false, true}},
    {{2, {2, 2, 1}}, {false, false, false}}};
enum { TOPOLOGIES = sizeof topologies / sizeof topologies[0], BLOCKS = 40 };

/* Blocks of all levels, at the corners and in the middle of the domain. */
static gab_block_id draw(const gab_topology *topology, uint32_t *state)
{
  gab_block_place place = {.level = 0};
  *state = *state * 1664525U + 1013904223U;
  place.level = (int)(*state >> 16) % (gab_root_grid_max_level(&topology->grid) + 1);
  for (int axis = 0; axis < topology->grid.dimension; axis++) {
    int64_t extent = (int64_t)topology->grid.roots[axis] << place.level;
    *state = *state * 1664525U + 1013904223U;
    uint32_t where = *state >> 16;
    place.at[axis] = (int32_t)(where % 4 == 0   ? 0
                               : where % 4 == 1 ? extent - 1
                                                : (int64_t)where * 37 % extent);
  }
  return gab_block_id_of(&topology->grid, place);
}

#define FOR_BLOCKS(topology, id)                                                                             \
  for (size_t t_ = 0; t_ < TOPOLOGIES; t_++)                                                                 \
    for (uint32_t state_ = 7, n_ = 0; n_ < BLOCKS; n_++)                                                     \
      for (const gab_topology *topology = &topologies[t_]; topology; topology = NULL)                        \
        for (gab_block_id id = draw(topology, &state_); id != GAB_NO_BLOCK; id = GAB_NO_BLOCK)

static gab_neighbour row(gab_block_id id, int direction)
{
  return (gab_neighbour){.id = id, .owner = 0, .direction = (int8_t)direction};
}

static void the_place_beyond_a_side_is_one_further_or_wrapped_or_outside(void **state)
{
  (void)state;
  FOR_BLOCKS(topology, id)
  {
    gab_block_place place = gab_block_id_place(&topology->grid, id);
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      int offset[3];
      gab_direction_offset(direction, offset);
      bool inside = direction != GAB_DIRECTION_CENTRE && (topology->grid.dimension == 3 || offset[2] == 0);
      int64_t wanted[3] = {0, 0, 0};
      for (int axis = 0; axis < topology->grid.dimension; axis++) {
        int64_t extent = (int64_t)topology->grid.roots[axis] << place.level;
        wanted[axis] = place.at[axis] + (int64_t)offset[axis];
        if (topology->periodic[axis]) wanted[axis] = (wanted[axis] + extent) % extent;
        else inside = inside && wanted[axis] >= 0 && wanted[axis] < extent;
      }
      gab_block_id next = gab_topology_next_to(topology, id, direction);
      assert_int_equal(next != GAB_NO_BLOCK, inside);
      if (!inside) continue;
      gab_block_place found = gab_block_id_place(&topology->grid, next);
      assert_int_equal(found.level, place.level);
      for (int axis = 0; axis < 3; axis++) assert_int_equal(found.at[axis], wanted[axis]);
    }
  }
}

static void going_back_leads_home(void **state)
{
  (void)state;
  FOR_BLOCKS(topology, id)
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_block_id next = gab_topology_next_to(topology, id, direction);
    if (next == GAB_NO_BLOCK) continue;
    assert_true(gab_topology_next_to(topology, next, gab_direction_opposite(direction)) == id);
  }
}

static void all_places_around_are_those_of_each_direction(void **state)
{
  (void)state;
  FOR_BLOCKS(topology, id)
  {
    gab_block_id around[GAB_DIRECTIONS];
    assert_int_equal(gab_topology_around(topology, id, around), gab_block_id_level(&topology->grid, id));
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
      assert_true(around[direction] == gab_topology_next_to(topology, id, direction));
  }
}

static void touching_children_are_4_at_a_face_2_at_an_edge_1_at_a_corner(void **state)
{
  (void)state;
  FOR_BLOCKS(topology, id)
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_block_id children[GAB_CHILDREN_MAX], next = gab_topology_next_to(topology, id, direction);
    int offset[3], wanted = gab_topology_child_count(topology);
    gab_direction_offset(direction, offset);
    for (int axis = 0; axis < 3; axis++) wanted /= offset[axis] != 0 ? 2 : 1;
    bool deepest = gab_block_id_level(&topology->grid, id) == gab_root_grid_max_level(&topology->grid);
    int count = gab_topology_touching_children(topology, id, direction, children);
    assert_int_equal(count, next == GAB_NO_BLOCK || deepest ? 0 : wanted);
    for (int c = 0; c < count; c++) {
      assert_true(c == 0 || children[c - 1] < children[c]);
      assert_true(gab_block_id_parent(&topology->grid, children[c]) == next);
      /* from the child back: the adjacent place of its size is a part of `id` */
      gab_block_id back = gab_topology_next_to(topology, children[c], gab_direction_opposite(direction));
      assert_true(gab_block_id_parent(&topology->grid, back) == id);
    }
  }
}

/* The rows of the finer and of the coarser block agree; so do two rows of the same level. */
static void rows_are_possible_both_ways_or_not_at_all(void **state)
{
  (void)state;
  FOR_BLOCKS(topology, id)
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_block_id next = gab_topology_next_to(topology, id, direction);
    if (next == GAB_NO_BLOCK) continue;
    gab_neighbour same = row(next, direction);
    assert_true(gab_topology_row_is_possible(topology, id, &same));
    gab_block_id coarse = gab_block_id_parent(&topology->grid, next);
    if (coarse == GAB_NO_BLOCK) continue;
    int back = gab_topology_back_direction(topology, id, direction);
    gab_neighbour there = row(coarse, direction), here = row(id, back);
    bool possible = gab_topology_row_is_possible(topology, id, &there);
    assert_int_equal(possible, back != GAB_DIRECTION_CENTRE);
    assert_int_equal(possible, gab_topology_row_is_possible(topology, coarse, &here));
    if (possible) /* the back direction leads to the parent place */
      assert_true(gab_topology_next_to(topology, coarse, back) == gab_block_id_parent(&topology->grid, id));
  }
}

static void impossible_rows_are_told(void **state)
{
  (void)state;
  const gab_topology *topology = &topologies[2]; /* 3 x 2 x 4, periodic in y */
  gab_block_id id = gab_block_id_of(&topology->grid, (gab_block_place){2, {4, 4, 4}});
  gab_block_id next = gab_topology_next_to(topology, id, 14),
               above = gab_block_id_parent(&topology->grid, next);
  gab_neighbour bad[] = {row(next, GAB_DIRECTION_CENTRE),
                         row(next, -1),
                         row(next, GAB_DIRECTIONS),
                         row(next, 12),
                         row(GAB_NO_BLOCK, 14),
                         row(id, 14),
                         row(above, 14),                                        /* the common parent */
                         row(gab_block_id_child(&topology->grid, next, 1), 14), /* at the far side */
                         row(gab_block_id_parent(&topology->grid, above), 14)};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(gab_topology_row_is_possible(topology, id, &bad[i]));
  gab_neighbour good = row(gab_block_id_child(&topology->grid, next, 0), 14);
  assert_true(gab_topology_row_is_possible(topology, id, &good));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_place_beyond_a_side_is_one_further_or_wrapped_or_outside),
      cmocka_unit_test(going_back_leads_home),
      cmocka_unit_test(all_places_around_are_those_of_each_direction),
      cmocka_unit_test(touching_children_are_4_at_a_face_2_at_an_edge_1_at_a_corner),
      cmocka_unit_test(rows_are_possible_both_ways_or_not_at_all),
      cmocka_unit_test(impossible_rows_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
