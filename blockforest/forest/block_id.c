/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/block_id.h"

/* Number of bits for the deepest position that a curve or an id holds: 63 and the marker. */
enum { PATH_BITS = 63, LEAST_LEVELS = 8 };

/* Index of the highest set bit; -1 for zero. */
static int highest_bit(uint64_t bits) { return bits ? 63 - __builtin_clzll(bits) : -1; }

/* Smallest b with 2^b >= count. */
static int bits_for(int64_t count) { return count > 1 ? highest_bit((uint64_t)count - 1) + 1 : 0; }

static int64_t root_count(const gab_root_grid *grid)
{
  return (int64_t)grid->roots[0] * grid->roots[1] * grid->roots[2];
}

static int64_t longest_side(const gab_root_grid *grid)
{
  int64_t longest = grid->roots[0];
  for (int axis = 1; axis < 3; axis++)
    if (grid->roots[axis] > longest) longest = grid->roots[axis];
  return longest;
}

int gab_root_grid_max_level(const gab_root_grid *grid)
{
  return PATH_BITS / grid->dimension - bits_for(longest_side(grid));
}

gab_status gab_root_grid_check(const gab_root_grid *grid)
{
  if (grid->dimension != 2 && grid->dimension != 3)
    GAB_FAIL(GAB_ERR_INPUT, "the domain has %d dimensions; 2 and 3 are possible", grid->dimension);
  for (int axis = 0; axis < 3; axis++)
    if (grid->roots[axis] < 1)
      GAB_FAIL(GAB_ERR_INPUT, "the domain has %" PRId32 " blocks in %c; at least one is needed",
               grid->roots[axis], "xyz"[axis]);
  if (grid->dimension == 2 && grid->roots[2] != 1)
    GAB_FAIL(GAB_ERR_INPUT, "a domain in 2D has %" PRId32 " blocks in z; expected exactly one",
             grid->roots[2]);
  int64_t most = (int64_t)1 << (PATH_BITS / grid->dimension - LEAST_LEVELS);
  if (longest_side(grid) > most)
    GAB_FAIL(GAB_ERR_INPUT,
             "the domain has %" PRId64 " blocks in one direction; at most %" PRId64 " are possible",
             longest_side(grid), most);
  return GAB_OK;
}

gab_block_id gab_block_id_of(const gab_root_grid *grid, gab_block_place place)
{
  if (place.level < 0 || place.level > gab_root_grid_max_level(grid)) return GAB_NO_BLOCK;
  for (int axis = 0; axis < 3; axis++) {
    int64_t extent = axis < grid->dimension ? (int64_t)grid->roots[axis] << place.level : 1;
    if (place.at[axis] < 0 || place.at[axis] >= extent) return GAB_NO_BLOCK;
  }
  int64_t root[3] = {0, 0, 0};
  for (int axis = 0; axis < grid->dimension; axis++) root[axis] = place.at[axis] >> place.level;
  gab_block_id id = (gab_block_id)1 << bits_for(root_count(grid));
  id |= (gab_block_id)(root[0] + grid->roots[0] * (root[1] + grid->roots[1] * root[2]));
  for (int bit = place.level - 1; bit >= 0; bit--) {
    int child = 0;
    for (int axis = 0; axis < grid->dimension; axis++) child |= (place.at[axis] >> bit & 1) << axis;
    id = id << grid->dimension | (gab_block_id)child;
  }
  return id;
}

int gab_block_id_level(const gab_root_grid *grid, gab_block_id id)
{
  return (highest_bit(id) - bits_for(root_count(grid))) / grid->dimension;
}

gab_block_place gab_block_id_place(const gab_root_grid *grid, gab_block_id id)
{
  int root_bits = bits_for(root_count(grid));
  int level = gab_block_id_level(grid, id);
  int64_t root = (int64_t)(id >> (grid->dimension * level) & (((gab_block_id)1 << root_bits) - 1));
  int64_t at[3] = {root % grid->roots[0], root / grid->roots[0] % grid->roots[1],
                   root / grid->roots[0] / grid->roots[1]};
  for (int bit = level - 1; bit >= 0; bit--) {
    gab_block_id child = id >> (grid->dimension * bit);
    for (int axis = 0; axis < grid->dimension; axis++) at[axis] = at[axis] * 2 + (int64_t)(child >> axis & 1);
  }
  return (gab_block_place){level, {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]}};
}

bool gab_block_id_is_valid(const gab_root_grid *grid, gab_block_id id)
{
  int root_bits = bits_for(root_count(grid));
  int path_bits = highest_bit(id) - root_bits;
  if (id == GAB_NO_BLOCK || path_bits < 0 || path_bits % grid->dimension != 0) return false;
  if (path_bits / grid->dimension > gab_root_grid_max_level(grid)) return false;
  gab_block_id root = id >> path_bits & (((gab_block_id)1 << root_bits) - 1);
  return root < (gab_block_id)root_count(grid);
}

gab_block_id gab_block_id_parent(const gab_root_grid *grid, gab_block_id id)
{
  return gab_block_id_level(grid, id) > 0 ? id >> grid->dimension : GAB_NO_BLOCK;
}

gab_block_id gab_block_id_child(const gab_root_grid *grid, gab_block_id id, int child)
{
  if (gab_block_id_level(grid, id) >= gab_root_grid_max_level(grid)) return GAB_NO_BLOCK;
  return id << grid->dimension | (gab_block_id)child;
}
