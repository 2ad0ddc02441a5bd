/* SPDX-License-Identifier: Apache-2.0 */
/** @file order_impl.h
 *  @brief The order of all possible blocks of a root grid along a curve.
 *
 *  A curve runs through the smallest cube around the root grid and is outside the grid part of its way. The
 *  *rank* of a root place counts only the places of the grid before it, so equal pieces of ranks are equal
 *  pieces of the domain, however long and thin it is. The *key* of a block refines the rank down to the
 *  deepest level: it is the key of the block's first descendant there. Blocks of any levels that do not
 *  overlap are ordered by it.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_ORDER_IMPL_H
#define GABION_LOADBALANCE_ORDER_IMPL_H

#include "blockforest/forest/block_id.h"
#include "loadbalance/curve.h"

/* Products of two 64-bit numbers, for exact comparison of fractions. */
__extension__ typedef unsigned __int128 gab_wide;

/* Successive queries are for blocks in the same cubes, or in those of the row before: counts are cached until another cube
 * needs the memory. */
enum { GAB_ORDER_CUBES = 256, GAB_ORDER_PARTS = 8 };

/** A cube that contains a root place, cut by the border of the grid. */
typedef struct gab_order_cube {
  uint64_t position;                /* on the curve of its size */
  uint64_t before[GAB_ORDER_PARTS]; /* places of the grid in it before each of its parts */
  int bits;                         /* per direction, of that curve, plus 1; 0: empty */
} gab_order_cube;

typedef struct gab_order {
  const gab_curve *curve;
  gab_root_grid grid;
  int bits;        /* per direction, of the cube of root places */
  int depth;       /* levels below the roots that keys resolve */
  uint64_t places; /* in the root grid */
  gab_order_cube cubes[GAB_ORDER_CUBES];
} gab_order;

void gab_order_init(gab_order *order, const gab_root_grid *grid, const gab_curve *curve);
/** @param[in,out] order  not thread safe @return below places * 2^(dimension * depth) */
uint64_t gab_order_key(gab_order *order, gab_block_id id);
/** Number of the piece, from 0, of `pieces` equal pieces of all keys that contains this key. */
int32_t gab_order_piece(const gab_order *order, uint64_t key, int32_t pieces);

#endif
