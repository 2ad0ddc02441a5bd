/* SPDX-License-Identifier: Apache-2.0 */
/* Half of the ranks send their images to the other half, as after deaths, but without a death. */
#ifndef GABION_TESTS_HAND_OVER_H
#define GABION_TESTS_HAND_OVER_H

#include "core/messages/port.h"
#include "tests/blockforest/random_domain.h"

/* Rank 2i adopts rank 2i+1. */
static inline gab_rank even(void *context, gab_rank rank)
{
  (void)context;
  return rank / 2 * 2;
}

/* @param[out] other  the image of rank 2i+1, at rank 2i */
static inline void hand_over(gab_world *world, gab_port *port, const gab_buffer *mine, gab_buffer *other)
{
  gab_rank me = gab_world_rank(world);
  gab_buffer out = {0};
  if (me % 2 == 1) {
    REQUIRE_OK(gab_message_begin(&out));
    REQUIRE_OK(gab_put_bytes(&out, mine->data, mine->size));
    REQUIRE_OK(gab_port_send(port, me - 1, &out));
  } else if (me + 1 < gab_world_members(world)->ranks)
    REQUIRE_OK(gab_port_receive(port, me + 1, other, GAB_SIZE_UNKNOWN));
  REQUIRE_OK(gab_port_finish(port));
  gab_buffer_release(&out);
}

/* Restores the forest on the even ranks from the images of all. */
static inline void restore_on_even(gab_forest *forest, gab_port *port, const gab_buffer *image)
{
  gab_world *world = gab_forest_world(forest);
  gab_rank me = gab_world_rank(world);
  gab_buffer other = {0};
  hand_over(world, port, image, &other);
  gab_reader images[2] = {gab_reader_of_buffer(image)};
  size_t count = me % 2 == 0;
  if (me % 2 == 0 && me + 1 < gab_world_members(world)->ranks) images[count++] = gab_message_reader(&other);
  REQUIRE_OK(gab_forest_restore(forest, images, count, even, NULL));
  gab_buffer_release(&other);
}

#endif
