/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of images on their way to those that keep them: while the caller waits, or behind the next steps.
 *
 * A round, as a rank with holder H and images of ranks S to keep sees it:
 *
 *   images    sends H its image, or an offer of it; receives from each S an image or an offer
 *   copying   what was offered and is to be copied is, piece by piece
 *   answers   tells each S that offered what became of it; receives that from H, if H had an offer
 *   refused   sends H the image if H could not see it; receives those that it could not see itself
 *
 * Invariants. An image is written before it is offered, and not again before all have agreed on the snapshot, or the world has
 * been repaired: then nobody copies any more. Who answers COPIED has all bytes. Who answers SHARED has none, and sees the
 * image until its rank writes the next snapshot but one, ahead of which all have agreed on the next one. */
#include "resilience/schemes/redundancy_impl.h"

#include "core/base/log.h"
#include "core/memory/memory_impl.h"

/* Releases excess capacity of a buffer that grew while it received. */
static gab_status trim(gab_buffer *buffer)
{
  if (buffer->capacity - buffer->size <= buffer->size / 64 + 4096) return GAB_OK;
  GAB_TRY(GAB_RESIZE_ARRAY(&buffer->data, buffer->size, buffer->use));
  buffer->capacity = buffer->size;
  return GAB_OK;
}

/* One round moves copy number k of every image: a message can be under way to one holder only, since its envelope names
 * the receiver. No rank waits for a later round, nor for a later part of a round, so there is no deadlock. */
static gab_status post_round(gab_checkpoint *checkpoint, gab_snapshot *next, int k)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  gab_buffer *out = transfer->codec == GAB_CODEC_NONE ? &next->own : &transfer->compressed;
  gab_shared_key key;
  next->sent_each = gab_message_bytes(out);
  transfer->posted = true;
  transfer->part = GAB_TRANSFER_IMAGES;
  for (int i = 0; i < next->copy_count; i++)
    if (next->copies[i].number == k)
      GAB_TRY(
          gab_port_receive(transfer->port, next->copies[i].rank, &next->copies[i].image, GAB_SIZE_UNKNOWN));
  gab_rank holder = gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), k);
  transfer->offered = holder != GAB_NO_RANK && out == &next->own && gab_offer_is_of_use(checkpoint, holder) &&
                      gab_shared_key_of(out->data, &key);
  if (transfer->offered) {
    GAB_TRY(gab_offer_pack(out, out->size, &transfer->offer));
    out = &transfer->offer;
  }
  return holder == GAB_NO_RANK ? GAB_OK : gab_port_send(transfer->port, holder, out);
}

/* ---------------------------------------------------------------- images that are offered */

/* A holder that reads images in the memory of their ranks needs nothing more. */
static gab_status take_offer(gab_checkpoint *checkpoint, gab_copy *copy)
{
  size_t bytes;
  bool visible;
  if (!gab_offer_open(copy, &copy->image, &bytes, &visible)) { /* the buffer is the image */
    gab_shared_view_close(
        &copy->view); /* an image of a rank that may be dead; the view would keep its memory */
    return GAB_OK;
  }
  copy->decision = !visible                                           ? GAB_OFFER_REFUSED
                   : checkpoint->within_node == GAB_WITHIN_NODE_SHARE ? GAB_OFFER_SHARED
                                                                      : GAB_OFFER_COPIED;
  if (copy->decision == GAB_OFFER_SHARED) gab_copy_share(copy, bytes);
  if (copy->decision != GAB_OFFER_COPIED) return GAB_OK;
  GAB_TRY(gab_buffer_fit(&copy->image, bytes));
  copy->image.size = bytes;
  return GAB_OK;
}

static gab_status take_offers(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  for (int i = 0; i < next->copy_count; i++)
    if (next->copies[i].number == transfer->round) GAB_TRY(take_offer(checkpoint, &next->copies[i]));
  transfer->copying = 0;
  transfer->copied = 0;
  transfer->part = GAB_TRANSFER_COPYING;
  return GAB_OK;
}

/* Copies one piece of the offered images. @return false if none is left */
static bool copy_some(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  for (; transfer->copying < next->copy_count; transfer->copying++) {
    gab_copy *copy = &next->copies[transfer->copying];
    if (copy->number != transfer->round || copy->decision != GAB_OFFER_COPIED) continue;
    if (!gab_copy_piece(copy, &transfer->copied)) return true;
    transfer->copied = 0;
  }
  return false;
}

static gab_status post_answers(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  transfer->part = GAB_TRANSFER_ANSWERS;
  for (int i = 0; i < next->copy_count; i++) {
    gab_copy *copy = &next->copies[i];
    if (copy->number != transfer->round || copy->decision == GAB_OFFER_NONE) continue;
    GAB_TRY(gab_message_begin(&copy->answer));
    GAB_TRY(gab_put_u8(&copy->answer, (uint8_t)copy->decision));
    GAB_TRY(gab_port_send(transfer->port, copy->rank, &copy->answer));
  }
  if (!transfer->offered) return GAB_OK;
  const gab_rank holder =
      gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), transfer->round);
  return gab_port_receive(transfer->port, holder, &transfer->answer, 1);
}

static gab_status post_refused(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  uint8_t answer = GAB_OFFER_NONE;
  transfer->part = GAB_TRANSFER_REFUSED;
  for (int i = 0; i < next->copy_count; i++) {
    gab_copy *copy = &next->copies[i];
    if (copy->number == transfer->round && copy->decision == GAB_OFFER_REFUSED)
      GAB_TRY(gab_port_receive(transfer->port, copy->rank, &copy->image, GAB_SIZE_UNKNOWN));
  }
  if (!transfer->offered) return GAB_OK;
  const gab_rank holder =
      gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), transfer->round);
  gab_reader in = gab_message_reader(&transfer->answer);
  GAB_TRY(gab_get_u8(&in, &answer));
  next->shared_holders += answer == GAB_OFFER_SHARED;
  if (answer != GAB_OFFER_REFUSED) return GAB_OK;
  if (!checkpoint->refusal_logged)
    gab_log_all(GAB_LOG_INFO,
                "rank %" GAB_PRI_RANK
                " runs on this node but cannot see memory of this process: images go there by messages",
                holder);
  checkpoint->refusal_logged = true;
  return gab_port_send(transfer->port, holder, &next->own);
}

static bool has_holder(const gab_checkpoint *checkpoint, const gab_snapshot *next)
{
  for (int k = 0; k < gab_placement_copies(&next->placement); k++)
    if (gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), k) != GAB_NO_RANK)
      return true;
  return false;
}

gab_status gab_transfer_begin(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  const double start = gab_seconds();
  transfer->round = 0;
  transfer->done = 0;
  transfer->posted = false;
  transfer->codec = GAB_CODEC_NONE;
  transfer->there = gab_placement_copies(&next->placement) == 0;
  next->sent_each = gab_message_bytes(&next->own);
  if (transfer->there) return GAB_OK;
  if (has_holder(checkpoint, next)) GAB_TRY(gab_compression_choose(checkpoint, &next->own, &transfer->codec));
  checkpoint->stats.compress_seconds += gab_seconds() - start;
  if (transfer->codec == GAB_CODEC_NONE) return post_round(checkpoint, next, 0);
  return gab_image_compress_begin(&next->own, &transfer->compressed);
}

/* One piece, so that it fits between two tasks. */
static gab_status squeeze(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  const double start = gab_seconds();
  const size_t before = transfer->done;
  GAB_TRY(gab_image_compress_piece(&next->own, transfer->codec, &transfer->done, &transfer->compressed));
  checkpoint->stats.compress_seconds += gab_seconds() - start;
  checkpoint->stats.compressed_bytes += transfer->done - before;
  return transfer->done < gab_message_bytes(&next->own) ? GAB_OK : post_round(checkpoint, next, 0);
}

static gab_status close_round(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  if (++transfer->round < gab_placement_copies(&next->placement))
    return post_round(checkpoint, next, transfer->round);
  for (int i = 0; i < next->copy_count; i++)
    if (!next->copies[i].image.fixed) GAB_TRY(trim(&next->copies[i].image));
  gab_buffer_release(&transfer->compressed);
  transfer->there = true;
  return GAB_OK;
}

/* The step after messages that have all arrived or, without messages, the next piece. */
static gab_status go_on(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  switch (checkpoint->transfer.part) {
  case GAB_TRANSFER_IMAGES:
    return take_offers(checkpoint, next);
  case GAB_TRANSFER_COPYING:
    return copy_some(checkpoint, next) ? GAB_OK : post_answers(checkpoint, next);
  case GAB_TRANSFER_ANSWERS:
    return post_refused(checkpoint, next);
  case GAB_TRANSFER_REFUSED:
    break;
  }
  return close_round(checkpoint, next);
}

gab_status gab_transfer_help(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_transfer_state *transfer = &checkpoint->transfer;
  if (!transfer->there && !transfer->posted) return squeeze(checkpoint, next);
  while (!transfer->there) {
    bool done;
    GAB_TRY(gab_port_progress(transfer->port, &done));
    if (!done) return GAB_OK;
    GAB_TRY(gab_port_finish(transfer->port));
    GAB_TRY(go_on(checkpoint, next));
    if (transfer->part == GAB_TRANSFER_COPYING && transfer->copied > 0)
      return GAB_OK; /* one piece between two tasks */
  }
  return GAB_OK;
}

gab_status gab_transfer_finish(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_transfer_state *transfer = &checkpoint->transfer;
  while (!transfer->there && !transfer->posted) GAB_TRY(squeeze(checkpoint, next));
  while (!transfer->there) {
    GAB_TRY(gab_port_finish(transfer->port));
    GAB_TRY(go_on(checkpoint, next));
  }
  return GAB_OK;
}
