/* Copies of images on their way to those that keep them: while the caller waits, or behind the next steps. */
#include "resilience/redundancy_impl.h"

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
  gab_port *port = checkpoint->transfer.port;
  for (int i = 0; i < next->copy_count; i++)
    if (next->copies[i].number == k)
      GAB_TRY(gab_port_receive(port, next->copies[i].slot, &next->copies[i].image, GAB_SIZE_UNKNOWN));
  gab_slot holder = gab_placement_holder(&next->placement, gab_world_slot(checkpoint->world), k);
  return holder == GAB_NO_SLOT ? GAB_OK : gab_port_send(port, holder, &next->own);
}

gab_status gab_transfer_begin(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  transfer->round = 0;
  transfer->there = gab_placement_copies(&next->placement) == 0;
  return transfer->there ? GAB_OK : post_round(checkpoint, next, 0);
}

static gab_status close_round(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  GAB_TRY(gab_port_finish(transfer->port));
  if (++transfer->round < gab_placement_copies(&next->placement))
    return post_round(checkpoint, next, transfer->round);
  for (int i = 0; i < next->copy_count; i++) GAB_TRY(trim(&next->copies[i].image));
  transfer->there = true;
  return GAB_OK;
}

gab_status gab_transfer_help(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  while (!checkpoint->transfer.there) {
    bool done;
    GAB_TRY(gab_port_progress(checkpoint->transfer.port, &done));
    if (!done) return GAB_OK;
    GAB_TRY(close_round(checkpoint, next));
  }
  return GAB_OK;
}

gab_status gab_transfer_finish(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  while (!checkpoint->transfer.there) GAB_TRY(close_round(checkpoint, next));
  return GAB_OK;
}
