/* SPDX-License-Identifier: Apache-2.0 */
/* Reserves the memory of snapshots before the first one and touches every page of it, so that no checkpoint waits for the
 * system. */
#include "resilience/schemes/redundancy_impl.h"

/* Pages are touched by the threads that will pack into them, in the order of packing. The present content is not kept. */
static void touch(gab_buffer *buffer)
{
  enum { PAGE = 4096 };
  unsigned char *data = buffer->data;
  const size_t bytes = buffer->capacity;
#pragma omp parallel for schedule(static)
  for (size_t at = 0; at < bytes; at += PAGE) data[at] = 0;
}

static gab_status take(gab_buffer *buffer, size_t bytes)
{
  GAB_TRY(gab_buffer_fit(buffer, bytes));
  touch(buffer);
  return GAB_OK;
}

/* Adds capacity for the notes of a rank, which may grow; equal on the rank and on its holders. */
static size_t own_bytes(const gab_checkpoint *checkpoint)
{
  const size_t noted = checkpoint->untouched.size, bytes = gab_image_capacity(checkpoint, noted),
               few = bytes / 128;
  return bytes + (few < noted + 1024 ? few : noted + 1024);
}

/* ---------------------------------------------------------------- of others */

static gab_status post_offers(gab_checkpoint *checkpoint, const gab_snapshot *next, size_t own,
                              gab_buffer *out, gab_buffer *in)
{
  for (int k = 0; k < gab_placement_copies(&next->placement); k++) {
    for (int i = 0; i < next->copy_count; i++)
      if (next->copies[i].number == k)
        GAB_TRY(gab_port_receive(checkpoint->port, next->copies[i].rank, &in[i], GAB_OFFER_BYTES));
    const gab_rank holder = gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), k);
    if (holder == GAB_NO_RANK) continue;
    const gab_buffer unseen = {.data = NULL}; /* only the number of bytes */
    GAB_TRY(gab_offer_pack(gab_offer_is_of_use(checkpoint, holder) ? &next->own : &unseen, own, &out[k]));
    GAB_TRY(gab_port_send(checkpoint->port, holder, &out[k]));
  }
  return gab_port_finish(checkpoint->port);
}

/* No copies of images that holders map. */
static gab_status take_copies(const gab_checkpoint *checkpoint, gab_snapshot *next, const gab_buffer *in)
{
  for (int i = 0; i < next->copy_count; i++) {
    bool visible;
    size_t bytes;
    if (!gab_offer_open(&next->copies[i], &in[i], &bytes, &visible))
      GAB_FAIL(GAB_ERR_CORRUPT, "rank %" GAB_PRI_RANK " does not say how much its image takes",
               next->copies[i].rank);
    if (visible && checkpoint->within_node == GAB_WITHIN_NODE_SHARE) continue;
    if (visible) gab_shared_view_prepare(&next->copies[i].view);
    GAB_TRY(take(&next->copies[i].image, bytes));
  }
  return GAB_OK;
}

/* Sizes equal those of the images whose copies this rank will store. */
static gab_status reserve_copies(gab_checkpoint *checkpoint, gab_snapshot *next, size_t own)
{
  const int sent = gab_placement_copies(&next->placement), all = sent + next->copy_count;
  gab_buffer *messages;
  GAB_TRY(GAB_NEW_ARRAY(&messages, (size_t)all, GAB_MEMORY_OTHER));
  for (int i = 0; i < all; i++) gab_buffer_init(&messages[i], GAB_MEMORY_MESSAGE);
  gab_status status = post_offers(checkpoint, next, own, messages, messages + sent);
  status = gab_port_give_up(checkpoint->port, status); /* transfers would use memory that is released here */
  if (status == GAB_OK) status = take_copies(checkpoint, next, messages + sent);
  for (int i = 0; i < all; i++) gab_buffer_release(&messages[i]);
  gab_free(&messages);
  return status;
}

static gab_status reserve_parities(gab_checkpoint *checkpoint, gab_snapshot *next, size_t own)
{
  GAB_TRY(gab_parities_reserve(checkpoint, own, &next->parities));
  if (next->parities.group.count > 0 && next->parities.rows.data) touch(&next->parities.rows);
  return GAB_OK;
}

/* ---------------------------------------------------------------- all of it */

static gab_status reserve(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const size_t own = own_bytes(checkpoint);
  GAB_TRY(gab_members_copy(&next->members, gab_world_members(checkpoint->world)));
  GAB_TRY(gab_redundancy_plan(checkpoint, next, checkpoint->domains));
  GAB_TRY(gab_own_image_fit(checkpoint, next, own));
  touch(&next->own);
  if (next->placement.scheme->kind != GAB_SCHEME_COPIES) return reserve_parities(checkpoint, next, own);
  /* The size of compressed copies is known only after compression. */
  return checkpoint->compression == GAB_COMPRESSION_NONE ? reserve_copies(checkpoint, next, own) : GAB_OK;
}

gab_status gab_checkpoint_reserve(gab_checkpoint *checkpoint)
{
  gab_snapshot *next = gab_checkpoint_next(checkpoint);
  GAB_TRY(gab_world_check(checkpoint->world));
  if (next->complete || gab_checkpoint_is_pending(checkpoint))
    GAB_FAIL(GAB_ERR_STATE, "the memory of a snapshot is reserved where one is already");
  return reserve(checkpoint, next);
}

size_t gab_checkpoint_messages(const gab_checkpoint *checkpoint)
{
  const gab_parities *parities = &checkpoint->snapshots[checkpoint->valid].parities;
  return parities->group.count > 0 ? gab_group_messages(&parities->group, parities->piece) : 0;
}
