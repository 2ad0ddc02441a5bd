/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/direction.h"

gab_box gab_direction_send_box(int direction, const int32_t cells[3], int width)
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

gab_box gab_direction_receive_box(int direction, const int32_t cells[3], int width)
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
