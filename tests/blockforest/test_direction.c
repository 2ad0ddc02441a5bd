/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "blockforest/forest/direction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { WIDTH = 2 };
static const int32_t cells[3] = {5, 4, 3};

static void directions_and_offsets_are_inverse(void **state)
{
  (void)state;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3], back[3];
    gab_direction_offset(direction, offset);
    assert_int_equal(gab_direction_of(offset[0], offset[1], offset[2]), direction);
    gab_direction_offset(gab_direction_opposite(direction), back);
    for (int axis = 0; axis < 3; axis++) assert_int_equal(back[axis], -offset[axis]);
  }
  assert_int_equal(gab_direction_of(0, 0, 0), GAB_DIRECTION_CENTRE);
}

static void directions_of_2d_have_no_z(void **state)
{
  (void)state;
  for (int direction = 9; direction < 18; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    assert_int_equal(offset[2], 0);
  }
}

static void receive_boxes_cover_every_ghost_cell_once(void **state)
{
  (void)state;
  unsigned char hits[3 + 2 * WIDTH][4 + 2 * WIDTH][5 + 2 * WIDTH];
  memset(hits, 0, sizeof hits);
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_box box = gab_direction_receive_box(direction, cells, WIDTH);
    for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
      for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
        for (int64_t x = box.lo[0]; x < box.hi[0]; x++) hits[z + WIDTH][y + WIDTH][x + WIDTH]++;
  }
  for (size_t i = 0; i < sizeof hits; i++) assert_int_equal(((unsigned char *)hits)[i], 1);
}

static void send_boxes_are_the_receivers_ghosts_moved_by_one_block(void **state)
{
  (void)state;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    gab_box send = gab_direction_send_box(direction, cells, WIDTH);
    gab_box receive = gab_direction_receive_box(gab_direction_opposite(direction), cells, WIDTH);
    for (int axis = 0; axis < 3; axis++) {
      assert_int_equal(send.lo[axis], receive.lo[axis] + offset[axis] * cells[axis]);
      assert_int_equal(send.hi[axis], receive.hi[axis] + offset[axis] * cells[axis]);
      assert_true(send.lo[axis] >= 0 && send.hi[axis] <= cells[axis]);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(directions_and_offsets_are_inverse),
      cmocka_unit_test(directions_of_2d_have_no_z),
      cmocka_unit_test(receive_boxes_cover_every_ghost_cell_once),
      cmocka_unit_test(send_boxes_are_the_receivers_ghosts_moved_by_one_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
