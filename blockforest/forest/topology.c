/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/topology_impl.h"

/* The place of the same size at an offset; unwrapped coordinates may lie outside of a periodic domain. */
static gab_block_id place_at(const gab_topology *topology, int level, const int64_t unwrapped[3])
{
  gab_block_place place = {.level = level, .at = {0, 0, 0}};
  for (int axis = 0; axis < topology->grid.dimension; axis++) {
    int64_t extent = (int64_t)topology->grid.roots[axis] << level, at = unwrapped[axis];
    if (topology->periodic[axis]) at = ((at % extent) + extent) % extent;
    if (at < 0 || at >= extent) return GAB_NO_BLOCK;
    place.at[axis] = (int32_t)at;
  }
  return gab_block_id_of(&topology->grid, place);
}

static bool is_direction(const gab_topology *topology, int direction)
{
  if (direction < 0 || direction >= GAB_DIRECTIONS || direction == GAB_DIRECTION_CENTRE) return false;
  return topology->grid.dimension == 3 || direction / 9 == 1;
}

gab_block_id gab_topology_next_to(const gab_topology *topology, gab_block_id id, int direction)
{
  if (!is_direction(topology, direction)) return GAB_NO_BLOCK;
  const gab_block_place place = gab_block_id_place(&topology->grid, id);
  int offset[3];
  gab_direction_offset(direction, offset);
  int64_t next[3];
  for (int axis = 0; axis < 3; axis++) next[axis] = (int64_t)place.at[axis] + offset[axis];
  return place_at(topology, place.level, next);
}

/* One axis of the places around a block: contribution of each of the three coordinates to the root index and to the
 * path. */
typedef struct axis_parts {
  bool exists[3];
  gab_block_id root[3], path[3];
} axis_parts;

/* Bits of `at` with gaps for the other axes. */
static gab_block_id spread(int64_t at, int level, int axis, int dimension)
{
  gab_block_id path = 0;
  for (int bit = 0; bit < level; bit++) path |= (gab_block_id)(at >> bit & 1) << (bit * dimension + axis);
  return path;
}

static axis_parts parts_of_axis(const gab_topology *topology, const gab_block_place *place, int axis,
                                gab_block_id stride)
{
  axis_parts parts = {.exists = {false, true, false}};
  if (axis >= topology->grid.dimension) return parts;
  int64_t extent = (int64_t)topology->grid.roots[axis] << place->level;
  for (int side = 0; side < 3; side++) {
    int64_t at = (int64_t)place->at[axis] + side - 1;
    if (topology->periodic[axis]) at = at < 0 ? extent - 1 : at >= extent ? 0 : at;
    parts.exists[side] = at >= 0 && at < extent;
    if (!parts.exists[side]) continue;
    parts.root[side] = (gab_block_id)(at >> place->level) * stride;
    parts.path[side] = spread(at, place->level, axis, topology->grid.dimension);
  }
  return parts;
}

int gab_topology_around(const gab_topology *topology, gab_block_id id, gab_block_id around[GAB_DIRECTIONS])
{
  const gab_root_grid *grid = &topology->grid;
  const gab_block_place place = gab_block_id_place(grid, id);
  const int path_bits = grid->dimension * place.level;
  axis_parts x = parts_of_axis(topology, &place, 0, 1);
  axis_parts y = parts_of_axis(topology, &place, 1, (gab_block_id)grid->roots[0]);
  axis_parts z =
      parts_of_axis(topology, &place, 2, (gab_block_id)grid->roots[0] * (gab_block_id)grid->roots[1]);
  const gab_block_id marker = (id >> path_bits) - (x.root[1] + y.root[1] + z.root[1]);
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int i = direction % 3, j = direction / 3 % 3, k = direction / 9;
    around[direction] = GAB_NO_BLOCK;
    if (direction == GAB_DIRECTION_CENTRE || !x.exists[i] || !y.exists[j] || !z.exists[k]) continue;
    around[direction] =
        (marker + x.root[i] + y.root[j] + z.root[k]) << path_bits | x.path[i] | y.path[j] | z.path[k];
  }
  return place.level;
}

/* Along axes with an offset only the children of the near side touch; along the other axes all children touch. */
static bool child_touches(int child, const int offset[3])
{
  for (int axis = 0; axis < 3; axis++) {
    int half = child >> axis & 1;
    if ((offset[axis] > 0 && half != 0) || (offset[axis] < 0 && half != 1)) return false;
  }
  return true;
}

int gab_topology_touching_children(const gab_topology *topology, gab_block_id id, int direction,
                                   gab_block_id children[GAB_CHILDREN_MAX])
{
  gab_block_id next = gab_topology_next_to(topology, id, direction);
  if (next == GAB_NO_BLOCK) return 0;
  int offset[3], count = 0;
  gab_direction_offset(direction, offset);
  for (int child = 0; child < gab_topology_child_count(topology); child++) {
    if (!child_touches(child, offset)) continue;
    gab_block_id id_of_child = gab_block_id_child(&topology->grid, next, child);
    if (id_of_child != GAB_NO_BLOCK) children[count++] = id_of_child;
  }
  return count;
}

int gab_topology_back_direction(const gab_topology *topology, gab_block_id fine, int direction)
{
  const gab_block_place place = gab_block_id_place(&topology->grid, fine);
  int offset[3], back[3];
  gab_direction_offset(direction, offset);
  for (int axis = 0; axis < 3; axis++) {
    int half = place.at[axis] & 1;
    /* the neighbour's place in units of the parent level, as seen from the parent place of `fine` */
    int beyond = half + offset[axis] < 0 ? -1 : half + offset[axis] > 1 ? 1 : 0;
    back[axis] = -beyond;
  }
  return gab_direction_of(back[0], back[1], back[2]);
}

bool gab_topology_row_is_possible(const gab_topology *topology, gab_block_id id, const gab_neighbour *row)
{
  if (!is_direction(topology, row->direction)) return false;
  gab_block_id next = gab_topology_next_to(topology, id, row->direction);
  if (next == GAB_NO_BLOCK || row->id == GAB_NO_BLOCK) return false;
  if (row->id == next) return true;
  if (row->id == gab_block_id_parent(&topology->grid, next))
    return gab_topology_back_direction(topology, id, row->direction) != GAB_DIRECTION_CENTRE;
  gab_block_id children[GAB_CHILDREN_MAX];
  int count = gab_topology_touching_children(topology, id, row->direction, children);
  for (int i = 0; i < count; i++)
    if (children[i] == row->id) return true;
  return false;
}
