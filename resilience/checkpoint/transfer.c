/* Copies of images on their way to those that keep them: while the caller waits, or behind the next steps. */
#include "resilience/schemes/redundancy_impl.h"

#include "core/base/log.h"

/* What was received into a buffer that had to grow for it may have grown too far. */
static gab_status trim(gab_buffer *buffer)
{
  if (buffer->capacity - buffer->size <= buffer->size / 64 + 4096) return GAB_OK;
  void *memory = buffer->data;
  GAB_TRY(gab_realloc(buffer->size, buffer->use, &memory));
  buffer->data = memory;
  buffer->capacity = buffer->size;
  return GAB_OK;
}

/* One round moves copy number k of every image: a message can be under way to one holder only, since its
 * envelope names the receiver. Nobody waits for a later round, so all get through. */
static gab_status post_round(gab_checkpoint *checkpoint, gab_snapshot *next, int k)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  gab_buffer *out = transfer->codec == GAB_CODEC_NONE ? &next->own : &transfer->compressed;
  next->sent_each = gab_message_bytes(out);
  transfer->posted = true;
  for (int i = 0; i < next->copy_count; i++)
    if (next->copies[i].number == k)
      GAB_TRY(
          gab_port_receive(transfer->port, next->copies[i].slot, &next->copies[i].image, GAB_SIZE_UNKNOWN));
  gab_slot holder = gab_placement_holder(&next->placement, gab_world_slot(checkpoint->world), k);
  return holder == GAB_NO_SLOT ? GAB_OK : gab_port_send(transfer->port, holder, out);
}

static bool has_holder(const gab_checkpoint *checkpoint, const gab_snapshot *next)
{
  for (int k = 0; k < gab_placement_copies(&next->placement); k++)
    if (gab_placement_holder(&next->placement, gab_world_slot(checkpoint->world), k) != GAB_NO_SLOT)
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
  GAB_TRY(gab_port_finish(transfer->port));
  if (++transfer->round < gab_placement_copies(&next->placement))
    return post_round(checkpoint, next, transfer->round);
  for (int i = 0; i < next->copy_count; i++) GAB_TRY(trim(&next->copies[i].image));
  gab_buffer_release(&transfer->compressed);
  transfer->there = true;
  return GAB_OK;
}

gab_status gab_transfer_help(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_transfer_state *transfer = &checkpoint->transfer;
  if (!transfer->there && !transfer->posted) return squeeze(checkpoint, next);
  while (!transfer->there) {
    bool done;
    GAB_TRY(gab_port_progress(transfer->port, &done));
    if (!done) return GAB_OK;
    GAB_TRY(close_round(checkpoint, next));
  }
  return GAB_OK;
}

gab_status gab_transfer_finish(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  const gab_transfer_state *transfer = &checkpoint->transfer;
  while (!transfer->there && !transfer->posted) GAB_TRY(squeeze(checkpoint, next));
  while (!transfer->there) GAB_TRY(close_round(checkpoint, next));
  return GAB_OK;
}
