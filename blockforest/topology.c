#include "blockforest/topology.h"

/* The place of the same size at an offset; unwrapped coordinates may lie outside of a periodic domain. */
static gab_block_id place_at(const gab_topology *topology, int level, const int64_t unwrapped[3])
{
  gab_block_place place = {.level = level, .at = {0, 0, 0}};
  for (int axis = 0; axis < topology->grid.dimension; ++axis) {
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
  for (int axis = 0; axis < 3; ++axis) next[axis] = (int64_t)place.at[axis] + offset[axis];
  return place_at(topology, place.level, next);
}

/* Across an axis in which the direction points away, only the children of the near side touch; along the
 * others all do. */
static bool child_touches(int child, const int offset[3])
{
  for (int axis = 0; axis < 3; ++axis) {
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
  for (int child = 0; child < gab_topology_child_count(topology); ++child) {
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
  for (int axis = 0; axis < 3; ++axis) {
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
  for (int i = 0; i < count; ++i)
    if (children[i] == row->id) return true;
  return false;
}
