/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the sources of redundancy: copies (redundancy.c), coded groups (redundancy_group.c),
 * reconstruction of members (redundancy_rebuild.c), and repair of data that changed in memory (redundancy_repair.c).
 * Internal. */
#ifndef GABION_RESILIENCE_REDUNDANCY_IMPL_H
#define GABION_RESILIENCE_REDUNDANCY_IMPL_H

#include "resilience/checkpoint/checkpoint_impl.h"

/* ---- redundancy_group.c */

/* Allocates the parities of a planned snapshot. Collective over the group. @param[in] own  bytes of the image of this rank */
gab_status gab_parities_reserve(gab_checkpoint *checkpoint, size_t own, gab_parities *parities);
/* Computes *parities of the own group. `wants` are the members whose parities are computed (NULL: all); with lengths_known
 * the lengths of images are not exchanged. Collective over the group. */
gab_status gab_parities_make(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, const bool *wants,
                             bool lengths_known, gab_parities *parities);
/* Copies `bytes` of a piece of an image from byte `at` of the piece on; zeros after the end of the image. */
void gab_piece_copy(const gab_buffer *image, size_t piece_bytes, int piece, size_t at, size_t bytes,
                    unsigned char *into);
/* Bytes of every piece that are in transit at once. */
size_t gab_code_chunk(const gab_group *group, size_t piece_bytes);

/* Messages to and from the members of a group, at most two per member in each direction; reused for all chunks. */
typedef struct gab_group_buffers {
  gab_buffer out[GAB_MOST_GROUP], in[GAB_MOST_GROUP];
} gab_group_buffers;
void gab_group_buffers_init(gab_group_buffers *buffers);
void gab_group_buffers_release(gab_group_buffers *buffers);

/* ---- redundancy_rebuild.c */

/* Lost data of a group, and the members that need it. */
typedef struct gab_group_losses {
  bool living[GAB_MOST_GROUP];
  bool image_gone[GAB_MOST_GROUP], parity_gone[GAB_MOST_GROUP]; /* of failed members: both */
  int target[GAB_MOST_GROUP]; /* member that gets the lost image; -1: none */
} gab_group_losses;

/* Whether all lost images can be reconstructed. Pure. */
bool gab_group_can_rebuild(const gab_group *group, const gab_group_losses *losses);
/* Reconstructs them, piece by piece; every live member solves for some stripes. Collective over the live members of the
 * group. @param[out] images  per member, initialised; images whose target is this rank are filled */
gab_status gab_group_rebuild(gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                             const gab_group_losses *losses, gab_buffer *images);

#endif
