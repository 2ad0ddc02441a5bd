/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of redundancy share: copies (redundancy.c), coded groups (redundancy_group.c), their
 * members back (redundancy_rebuild.c), and the search for what has changed in memory (redundancy_repair.c).
 * Internal. */
#ifndef GABION_RESILIENCE_REDUNDANCY_IMPL_H
#define GABION_RESILIENCE_REDUNDANCY_IMPL_H

#include "resilience/checkpoint/checkpoint_impl.h"

/* ---- redundancy_group.c */

/* Gives the parities of a snapshot that is planned their memory. Collective over the group.
 * @param[in] own  bytes of the image of this rank */
gab_status gab_parities_reserve(gab_checkpoint *checkpoint, size_t own, gab_parities *parities);
/* Fills *parities of the own group. `wants` are the members that are to have theirs made (NULL: all); with
 * lengths_known nobody is asked how long the images are. Collective over the group. */
gab_status gab_parities_make(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, const bool *wants,
                             bool lengths_known, gab_parities *parities);
/* Copies `bytes` of a piece of an image, from byte `at` of it on; zeros behind the end of the image. */
void gab_piece_copy(const gab_buffer *image, size_t piece_bytes, int piece, size_t at, size_t bytes,
                    unsigned char *into);
/* So many bytes of every piece are under way at once. */
size_t gab_code_chunk(const gab_group *group, size_t piece_bytes);

/* Messages to and from the members of a group, two of each per member at most: they are made once and serve
 * chunk after chunk. */
typedef struct gab_group_buffers {
  gab_buffer out[GAB_MOST_GROUP], in[GAB_MOST_GROUP];
} gab_group_buffers;
void gab_group_buffers_init(gab_group_buffers *buffers);
void gab_group_buffers_release(gab_group_buffers *buffers);

/* ---- redundancy_rebuild.c */

/* What is missing in a group, and where what is missing is wanted. */
typedef struct gab_group_losses {
  bool living[GAB_MOST_GROUP];
  bool image_gone[GAB_MOST_GROUP], parity_gone[GAB_MOST_GROUP]; /* of the dead: both */
  int target[GAB_MOST_GROUP]; /* member that gets the image that is gone; -1: nobody */
} gab_group_losses;

/* Whether all images that are gone can be made from the rest. Pure. */
bool gab_group_can_rebuild(const gab_group *group, const gab_group_losses *losses);
/* Makes them, piece by piece: every living member makes those of some stripes. Collective over the living
 * members of the group. @param[out] images  per member, initialised: those whose target is this one are
 * filled */
gab_status gab_group_rebuild(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                             const gab_group_losses *losses, gab_buffer *images);

#endif
