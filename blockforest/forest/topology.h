/* SPDX-License-Identifier: Apache-2.0 */
/** @file topology.h
 *  @brief Who can be next to whom on a grid of blocks of several levels: pure functions of ids.
 *
 *  Blocks are 2:1 balanced: levels of blocks that touch in a face, an edge or a corner differ by one at most.
 *  What lies beyond a block in a direction is told by the *place of the same size* there. In a 2:1 balanced
 *  grid that place is one of
 *    - a block: a neighbour of the same level;
 *    - a part of a block one level up, its parent place: a *coarser* neighbour. One block may lie so in
 * several directions of a finer one;
 *    - split: those of its children that touch are *finer* neighbours: in 3D 4 across a face, 2 across an
 * edge, 1 across a corner; in 2D 2 across a side (a face), 1 across a corner;
 *    - no block at all: outside the domain, or left out by gab_forest_options.exists.
 *  A table of neighbours has a row for each (direction, block), in the order of direction, then id.
 *
 *  Tier: extender header.
 */
#ifndef GABION_BLOCKFOREST_TOPOLOGY_H
#define GABION_BLOCKFOREST_TOPOLOGY_H

#include "blockforest/forest/block_id.h"
#include "blockforest/forest/direction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_topology {
  gab_root_grid grid;
  bool periodic[3];
} gab_topology;

/** A neighbour of a block: one row of its table. */
typedef struct gab_neighbour {
  gab_block_id id;
  gab_rank owner;
  int8_t direction; /**< see blockforest/forest/direction.h */
} gab_neighbour;

#define GAB_CHILDREN_MAX 8
static inline int gab_topology_child_count(const gab_topology *topology)
{
  return topology->grid.dimension == 3 ? 8 : 4;
}

/** @return the id of the place of the same size next to block `id`, over periodic borders too; GAB_NO_BLOCK
 *  outside the domain, for the centre, and for z in 2D */
gab_block_id gab_topology_next_to(const gab_topology *topology, gab_block_id id, int direction);

/** The places of the same size around `id` in all directions at once: what gab_topology_next_to() returns for
 *  each, but at the cost of one or two calls. @return the level of `id` */
int gab_topology_around(const gab_topology *topology, gab_block_id id, gab_block_id around[GAB_DIRECTIONS]);

/** The children of the place next to `id` in `direction` that touch `id`, ascending by id.
 *  @return how many: 0 outside of the domain or below the deepest level */
int gab_topology_touching_children(const gab_topology *topology, gab_block_id id, int direction,
                                   gab_block_id children[GAB_CHILDREN_MAX]);

/** The direction in which the coarser neighbour of `fine` that lies in `direction` of it sees the parent
 * place of `fine`, for the contact in question: in a periodic domain of few blocks two blocks can touch in
 * several ways. GAB_DIRECTION_CENTRE if that neighbour is the parent place itself (then there is none). */
int gab_topology_back_direction(const gab_topology *topology, gab_block_id fine, int direction);

/** True if a row can stand in the table of block `id`: direction and place exist, and the levels fit. */
bool gab_topology_row_is_possible(const gab_topology *topology, gab_block_id id, const gab_neighbour *row);

#ifdef __cplusplus
}
#endif
#endif
