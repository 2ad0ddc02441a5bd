/* SPDX-License-Identifier: Apache-2.0 */
/* A member's image in transit to the aggregator: hello (sizes), chunks, trailer (hashes and table of blocks). */
#include "resilience/disk/disk_impl.h"

gab_status gab_disk_sender_begin(gab_disk *disk)
{
  gab_disk_sender *sender = &disk->sender;
  const int32_t first = disk->index - disk->index % disk->group;
  sender->stage = GAB_SEND_HELLO;
  sender->aggregator = gab_members_rank(&disk->members, first);
  sender->sent = 0;
  sender->sending = false;
  return GAB_OK;
}

static gab_status pack_hello(gab_disk *disk)
{
  GAB_TRY(gab_message_begin(&disk->sender.out));
  GAB_TRY(gab_put_u64(&disk->sender.out, disk->image_bytes));
  return gab_put_u64(&disk->sender.out, disk->table.size / (GAB_DISK_COLUMNS * 8));
}

static gab_status pack_chunk(gab_disk *disk)
{
  gab_disk_sender *sender = &disk->sender;
  uint64_t left = disk->image_bytes - sender->sent, count = left < GAB_DISK_CHUNK ? left : GAB_DISK_CHUNK;
  GAB_TRY(gab_message_begin(&sender->out));
  GAB_TRY(gab_put_bytes(&sender->out, disk->image + sender->sent, (size_t)count));
  sender->sent += count;
  return GAB_OK;
}

static gab_status pack_trailer(gab_disk *disk)
{
  GAB_TRY(gab_message_begin(&disk->sender.out));
  GAB_TRY(gab_put_u64(&disk->sender.out, disk->hashes.image));
  GAB_TRY(gab_put_u64(&disk->sender.out, disk->hashes.table));
  GAB_TRY(gab_put_u8(&disk->sender.out, disk->hashes.changed));
  return gab_put_bytes(&disk->sender.out, disk->table.data, disk->table.size);
}

/* Packs the next message, if it is ready. */
static gab_status pack_next(gab_disk *disk, bool *packed)
{
  gab_disk_sender *sender = &disk->sender;
  *packed = true;
  if (sender->stage == GAB_SEND_HELLO) return pack_hello(disk);
  if (sender->stage == GAB_SEND_CHUNKS) return pack_chunk(disk);
  *packed = gab_worker_is_done(disk->worker, &disk->hashing);
  return *packed ? pack_trailer(disk) : GAB_OK;
}

/* Called when a message was sent. */
static void advance(gab_disk *disk)
{
  gab_disk_sender *sender = &disk->sender;
  if (sender->stage == GAB_SEND_HELLO) sender->stage = GAB_SEND_CHUNKS;
  else if (sender->stage == GAB_SEND_TRAILER) {
    sender->stage = GAB_SEND_DONE;
    gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_COMMIT);
  } else {
    if (sender->sent == disk->image_bytes) sender->stage = GAB_SEND_TRAILER;
    gab_world_enter(disk->world, GAB_FAULT_POINT_DISK_WRITE);
  }
}

gab_status gab_disk_sender_progress(gab_disk *disk)
{
  gab_disk_sender *sender = &disk->sender;
  while (sender->stage != GAB_SEND_DONE) {
    bool done;
    if (sender->sending) {
      GAB_TRY(gab_port_progress(disk->port, &done));
      if (!done) return GAB_OK;
      GAB_TRY(gab_port_finish(disk->port));
      sender->sending = false;
      advance(disk);
      continue;
    }
    GAB_TRY(pack_next(disk, &done));
    if (!done) return GAB_OK;
    GAB_TRY(gab_port_send(disk->port, sender->aggregator, &sender->out));
    sender->sending = true;
  }
  return GAB_OK;
}
