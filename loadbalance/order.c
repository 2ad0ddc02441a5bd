/* SPDX-License-Identifier: Apache-2.0 */
#include "loadbalance/order_impl.h"

void gab_order_init(gab_order *order, const gab_root_grid *grid, const gab_curve *curve)
{
  *order = (gab_order){.curve = curve, .grid = *grid, .places = 1};
  for (int axis = 0; axis < grid->dimension; axis++) {
    while ((1LL << order->bits) < grid->roots[axis]) order->bits++;
    order->places *= (uint64_t)grid->roots[axis];
  }
  order->depth = gab_root_grid_max_level(grid);
}

/* Number of places of the grid in a cube `at` of a curve with `bits` per direction. */
static uint64_t places_at(const gab_order *order, int bits, const uint32_t at[3])
{
  uint64_t places = 1;
  for (int axis = 0; axis < order->grid.dimension; axis++) {
    int64_t low = (int64_t)at[axis] << (order->bits - bits);
    int64_t high = ((int64_t)at[axis] + 1) << (order->bits - bits);
    if (high > order->grid.roots[axis]) high = order->grid.roots[axis];
    places *= high > low ? (uint64_t)(high - low) : 0;
  }
  return places;
}

/* The same for the cube at `position` on that curve. */
static uint64_t places_in(const gab_order *order, int bits, uint64_t position)
{
  uint32_t at[3];
  order->curve->decode(order->grid.dimension, bits, position, at);
  return places_at(order, bits, at);
}

/* The parts of a cube `at`. Those of one row are cached separately up to 128 roots along x. */
static const gab_order_cube *parts_of(gab_order *order, int bits, uint64_t position, const uint32_t at[3])
{
  const int dimension = order->grid.dimension;
  gab_order_cube *cube = &order->cubes[(((uint32_t)1 << bits) + at[0]) % GAB_ORDER_CUBES];
  if (cube->bits == bits + 1 && cube->position == position) return cube;
  *cube = (gab_order_cube){.position = position, .bits = bits + 1};
  for (uint64_t part = 1; part < (uint64_t)1 << dimension; part++)
    cube->before[part] =
        cube->before[part - 1] + places_in(order, bits + 1, position << dimension | (part - 1));
  return cube;
}

/* Number of places of the grid before a position of the finest cubes, which is `root`: from the largest cube down to the
 * first one entirely in the grid. */
static uint64_t rank_of(gab_order *order, uint64_t position, const uint32_t root[3])
{
  const int dimension = order->grid.dimension;
  uint64_t rank = 0;
  for (int bits = 0; bits < order->bits; bits++) {
    const int inner = dimension * (order->bits - bits);
    const uint64_t cube = position >> inner, within = position & (((uint64_t)1 << inner) - 1);
    const int up = order->bits - bits;
    const uint32_t at[3] = {root[0] >> up, root[1] >> up, root[2] >> up};
    if (places_at(order, bits, at) == (uint64_t)1 << inner) return rank + within;
    rank += parts_of(order, bits, cube, at)->before[within >> (inner - dimension)];
  }
  return rank;
}

uint64_t gab_order_key(gab_order *order, gab_block_id id)
{
  int dimension = order->grid.dimension;
  gab_block_place place = gab_block_id_place(&order->grid, id);
  uint32_t at[3] = {(uint32_t)place.at[0], (uint32_t)place.at[1], (uint32_t)place.at[2]};
  uint64_t position = order->curve->encode(dimension, order->bits + place.level, at);
  int inner = dimension * place.level;
  uint64_t within = position & (((uint64_t)1 << inner) - 1);
  const uint32_t root[3] = {at[0] >> place.level, at[1] >> place.level, at[2] >> place.level};
  return (rank_of(order, position >> inner, root) << inner | within)
         << (dimension * (order->depth - place.level));
}

int32_t gab_order_piece(const gab_order *order, uint64_t key, int32_t pieces)
{
  uint64_t keys = order->places << (order->grid.dimension * order->depth);
  return (int32_t)((gab_wide)key * (gab_wide)pieces / keys);
}
