/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "core/base/hash.h"
#include "loadbalance/order_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static const gab_curve *const curves[] = {&gab_curve_morton, &gab_curve_hilbert};

static int ascending(const void *a, const void *b)
{
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Keys of all roots in the order of positions on the curve. */
static uint64_t *keys_of(gab_order *order)
{
  const int32_t *roots = order->grid.roots;
  uint64_t *pairs = malloc(2 * order->places * sizeof *pairs), *keys = malloc(order->places * sizeof *keys);
  size_t count = 0;
  for (gab_block_place at = {0, {0, 0, 0}}; at.at[2] < roots[2]; at.at[2]++)
    for (at.at[1] = 0; at.at[1] < roots[1]; at.at[1]++)
      for (at.at[0] = 0; at.at[0] < roots[0]; at.at[0]++) {
        const uint32_t place[3] = {(uint32_t)at.at[0], (uint32_t)at.at[1], (uint32_t)at.at[2]};
        pairs[2 * count] = order->curve->encode(order->grid.dimension, order->bits, place);
        pairs[2 * count++ + 1] = gab_order_key(order, gab_block_id_of(&order->grid, at));
      }
  qsort(pairs, count, 2 * sizeof *pairs, ascending);
  for (size_t i = 0; i < count; i++) keys[i] = pairs[2 * i + 1];
  free(pairs);
  return keys;
}

static void pieces_hold_all_roots_in_ascending_order_and_equal_shares(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 400; round++) {
    gab_root_grid grid = {2 + (int)(round % 2), {1, 1, 1}};
    for (int axis = 0; axis < grid.dimension; axis++)
      grid.roots[axis] = 1 + (int32_t)(gab_hash_counter(1, round, (uint64_t)axis) % (axis == 0 ? 70 : 7));
    gab_order order;
    gab_order_init(&order, &grid, curves[round / 2 % 2]);
    const int32_t pieces = 1 + (int32_t)(gab_hash_counter(1, round, 9) % 40);
    const int inner = grid.dimension * order.depth;
    uint64_t share[41] = {0}, *keys = keys_of(&order);
    int32_t last = 0;
    for (uint64_t i = 0; i < order.places; i++) {
      assert_true(keys[i] == i << inner); /* counts the places before it */
      const int32_t piece = gab_order_piece(&order, keys[i], pieces);
      assert_true(piece >= last && piece < pieces);
      last = piece;
      share[piece]++;
    }
    for (int32_t piece = 0; piece < pieces; piece++) {
      const uint64_t fair = order.places / (uint64_t)pieces;
      assert_true(share[piece] == fair || share[piece] == fair + 1);
    }
    free(keys);
  }
}

static void a_block_has_the_key_of_its_first_descendant(void **state)
{
  (void)state;
  for (uint64_t round = 0; round < 2000; round++) {
    gab_root_grid grid = {2 + (int)(round % 2), {5, 3, 1}};
    gab_order order;
    gab_order_init(&order, &grid, curves[round / 2 % 2]);
    gab_block_id id =
        gab_block_id_of(&grid, (gab_block_place){0, {(int32_t)(round % 5), (int32_t)(round % 3), 0}});
    int children = 1 << grid.dimension;
    for (int level = (int)(gab_hash_counter(2, round, 0) % 10); level > 0; level--)
      id = gab_block_id_child(&grid, id,
                              (int)(gab_hash_counter(2, round, (uint64_t)level) % (uint64_t)children));
    uint64_t first = UINT64_MAX, last = 0, key = gab_order_key(&order, id);
    for (int child = 0; child < children; child++) {
      uint64_t of_child = gab_order_key(&order, gab_block_id_child(&grid, id, child));
      if (of_child < first) first = of_child;
      if (of_child > last) last = of_child;
    }
    assert_true(first == key);
    uint64_t span = (uint64_t)1 << (grid.dimension * (order.depth - gab_block_id_level(&grid, id)));
    assert_true(last - first == span / (uint64_t)children * (uint64_t)(children - 1));
  }
}

static void the_largest_grids_have_keys(void **state)
{
  (void)state;
  for (int c = 0; c < 2; c++)
    for (int dimension = 2; dimension <= 3; dimension++) {
      int32_t side = dimension == 3 ? 8192 : 1 << 23;
      gab_root_grid grid = {dimension, {side, side, dimension == 3 ? side : 1}};
      gab_order order;
      gab_order_init(&order, &grid, curves[c]);
      gab_block_id id = gab_block_id_of(&grid, (gab_block_place){0, {side - 1, side - 1, grid.roots[2] - 1}});
      uint64_t key = gab_order_key(&order, id);
      assert_true(key < order.places << (dimension * order.depth));
      int32_t piece = gab_order_piece(&order, key, INT32_MAX);
      assert_true(piece >= 0 && piece < INT32_MAX);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_hold_all_roots_in_ascending_order_and_equal_shares),
      cmocka_unit_test(a_block_has_the_key_of_its_first_descendant),
      cmocka_unit_test(the_largest_grids_have_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
