/* SPDX-License-Identifier: Apache-2.0 */
/* Topology functions that only the forest and its proxies use. Stability: internal. */
#ifndef GABION_BLOCKFOREST_FOREST_TOPOLOGY_IMPL_H
#define GABION_BLOCKFOREST_FOREST_TOPOLOGY_IMPL_H

#include "blockforest/forest/topology.h"

/** @return the id of the place of equal size adjacent to block `id`, also across periodic borders; GAB_NO_BLOCK
 *  outside of the domain, for the centre, and for z in 2D */
gab_block_id gab_topology_next_to(const gab_topology *topology, gab_block_id id, int direction);

/** The places of equal size adjacent to `id` in all directions: gab_topology_next_to() for each direction, at the
 *  cost of one or two calls. @return the level of `id` */
int gab_topology_around(const gab_topology *topology, gab_block_id id, gab_block_id around[GAB_DIRECTIONS]);

/** The children of the place next to `id` in `direction` that touch `id`, ascending by id.
 *  @return their number; 0 outside of the domain or below the deepest level */
int gab_topology_touching_children(const gab_topology *topology, gab_block_id id, int direction,
                                   gab_block_id children[GAB_CHILDREN_MAX]);

/** Direction from the coarser neighbour of `fine` in `direction` back to the parent place of `fine`, for this
 *  contact: in a small periodic domain two blocks can touch in several ways. GAB_DIRECTION_CENTRE if that neighbour is
 *  the parent place, which has no direction. */
int gab_topology_back_direction(const gab_topology *topology, gab_block_id fine, int direction);

/** Whether a row is possible in the table of block `id`: direction and place exist, and the levels fit. */
bool gab_topology_row_is_possible(const gab_topology *topology, gab_block_id id, const gab_neighbour *row);

#endif
