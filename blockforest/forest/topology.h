/* SPDX-License-Identifier: Apache-2.0 */
/** @file topology.h
 *  @brief Possible neighbours on a grid of blocks of several levels: pure functions of ids.
 *
 *  Blocks are 2:1 balanced: levels of blocks that touch in a face, an edge or a corner differ by one at most. The neighbours of
 *  a block in a direction follow from the adjacent *place of the same size*. In a 2:1 balanced grid that place is one of
 *    - a block: a neighbour of the same level;
 *    - a part of a block one level up, its parent place: a *coarser* neighbour. One coarser block may be the neighbour in
 *      several directions;
 *    - split: its touching children are *finer* neighbours: in 3D 4 across a face, 2 across an edge, 1 across a corner; in 2D
 *      2 across a side (a face), 1 across a corner;
 *    - empty: outside the domain, or excluded by gab_forest_options.exists.
 *  A table of neighbours has a row for each (direction, block), in the order of direction, then id.
 *
 *  Stability: extender.
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

#ifdef __cplusplus
}
#endif
#endif
