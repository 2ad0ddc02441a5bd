/* SPDX-License-Identifier: Apache-2.0 */
/** @file direction.h
 *  @brief The 26 directions to neighbours, and their slabs of cells.
 *
 *  Direction d in 0 … 26 stands for the offset (d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1); 13 is the block itself.
 *  In 2D only those with z offset 0 occur.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_DIRECTION_H
#define GABION_BLOCKFOREST_DIRECTION_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_DIRECTIONS       27
#define GAB_DIRECTION_CENTRE 13

static inline int gab_direction_of(int x, int y, int z) { return (x + 1) + 3 * (y + 1) + 9 * (z + 1); }
static inline void gab_direction_offset(int direction, int offset[3])
{
  offset[0] = direction % 3 - 1;
  offset[1] = direction / 3 % 3 - 1;
  offset[2] = direction / 9 - 1;
}
static inline int gab_direction_opposite(int direction) { return GAB_DIRECTIONS - 1 - direction; }

/** Cells that the neighbour in `direction` needs as ghost layer of `width` cells: interior cells of a block of
 *  `cells` cells, local indices from 0. */
static inline gab_box gab_direction_send_box(int direction, const int32_t cells[3], int width)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = offset[axis] > 0 ? cells[axis] - width : 0;
    box.hi[axis] = offset[axis] < 0 ? width : cells[axis];
  }
  return box;
}
/** Ghost cells that the neighbour in `direction` fills (indices -width … -1 and cells … cells+width-1). */
static inline gab_box gab_direction_receive_box(int direction, const int32_t cells[3], int width)
{
  int offset[3];
  gab_direction_offset(direction, offset);
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = offset[axis] > 0 ? cells[axis] : offset[axis] < 0 ? -width : 0;
    box.hi[axis] = offset[axis] > 0 ? cells[axis] + width : offset[axis] < 0 ? 0 : cells[axis];
  }
  return box;
}

#ifdef __cplusplus
}
#endif
#endif
