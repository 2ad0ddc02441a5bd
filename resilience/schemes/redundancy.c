/* SPDX-License-Identifier: Apache-2.0 */
/* Images that each rank stores for others according to the scheme: their list, and their transfer. */
#include "resilience/schemes/redundancy_impl.h"
#include "resilience/schemes/placement_impl.h"

#include "core/base/log.h"

/* ---------------------------------------------------------------- images that this rank stores */

static gab_status add_copy(void *user, gab_rank rank, int number)
{
  gab_snapshot *next = user;
  if (next->copy_count == next->copy_capacity) {
    int capacity = next->copy_capacity + 4;
    GAB_TRY(GAB_RESIZE_ARRAY(&next->copies, (size_t)capacity, GAB_MEMORY_OTHER));
    for (int i = next->copy_capacity; i < capacity; i++) {
      next->copies[i] = (gab_copy){.rank = GAB_NO_RANK};
      gab_buffer_init(&next->copies[i].image, GAB_MEMORY_SNAPSHOT);
      gab_buffer_init(&next->copies[i].answer, GAB_MEMORY_MESSAGE);
    }
    next->copy_capacity = capacity;
  }
  gab_copy *copy = &next->copies[next->copy_count++];
  copy->rank = rank;
  copy->number = number;
  copy->condition = GAB_CONDITION_UNKNOWN;
  copy->decision = GAB_OFFER_NONE;
  gab_copy_forget(copy);
  return GAB_OK;
}

/* Frees the memory of copies that this rank no longer stores. */
static void release_unused(gab_snapshot *next)
{
  for (int i = next->copy_count; i < next->copy_capacity; i++) gab_copy_release(&next->copies[i]);
}

gab_status gab_redundancy_plan(gab_checkpoint *checkpoint, gab_snapshot *next, const gab_domains *domains)
{
  GAB_TRY(gab_placement_make(&next->placement, &checkpoint->redundancy, &next->members, domains));
  next->copy_count = 0;
  next->shared_holders = 0;
  GAB_TRY(gab_placement_each_kept(&next->placement, gab_world_rank(checkpoint->world), add_copy, next));
  release_unused(next);
  bool grouped =
      gab_placement_group(&next->placement, gab_world_rank(checkpoint->world), &next->parities.group);
  if (!grouped) next->parities.group.count = 0;
  if (!grouped || next->parities.group.parities == 0) gab_buffer_release(&next->parities.rows);
  return GAB_OK;
}

/* ---------------------------------------------------------------- copies to their holders */

/* Releases excess capacity of a buffer that grew while it received. */
static gab_status trim(gab_buffer *buffer)
{
  if (buffer->capacity - buffer->size <= buffer->size / 64 + 4096) return GAB_OK;
  GAB_TRY(GAB_RESIZE_ARRAY(&buffer->data, buffer->size, buffer->use));
  buffer->capacity = buffer->size;
  return GAB_OK;
}

/* One round sends copy number k of every image: a message can have only one receiver at a time, since its envelope names
 * it. */
static gab_status post_round(gab_checkpoint *checkpoint, gab_snapshot *next, int k)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  const bool is_raw = transfer->codec == GAB_CODEC_NONE;
  gab_buffer *out = is_raw ? &next->own : &transfer->compressed;
  const gab_rank holder = gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), k);
  next->sent_each = gab_message_bytes(out);
  transfer->posted = true;
  transfer->moves.maps = checkpoint->within_node == GAB_WITHIN_NODE_SHARE;
  for (int i = 0; i < next->copy_count; i++) {
    gab_copy *copy = &next->copies[i];
    if (copy->number == k) GAB_TRY(gab_image_moves_receive(&transfer->moves, copy->rank, &copy->image, copy));
  }
  if (holder != GAB_NO_RANK)
    GAB_TRY(gab_image_moves_send(&transfer->moves, holder, out,
                                 is_raw && gab_offer_is_of_use(checkpoint, holder) ? GAB_IMAGE_OFFERED
                                                                                   : GAB_IMAGE_SENT));
  return gab_image_moves_post(&transfer->moves);
}

static bool has_holder(const gab_checkpoint *checkpoint, const gab_snapshot *next)
{
  for (int k = 0; k < gab_placement_copies(&next->placement); k++)
    if (gab_placement_holder(&next->placement, gab_world_rank(checkpoint->world), k) != GAB_NO_RANK)
      return true;
  return false;
}

static gab_status begin_copies(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  const double start = gab_seconds();
  (void)gab_image_moves_end(&transfer->moves, GAB_OK); /* a set of transfers that a repair interrupted */
  transfer->round = 0;
  transfer->done = 0;
  transfer->posted = false;
  transfer->codec = GAB_CODEC_NONE;
  transfer->there = gab_placement_copies(&next->placement) == 0;
  next->sent_each = gab_message_bytes(&next->own);
  if (transfer->there) return GAB_OK;
  if (has_holder(checkpoint, next)) GAB_TRY(gab_compression_choose(checkpoint, next, &transfer->codec));
  checkpoint->stats.compress_seconds += gab_seconds() - start;
  if (transfer->codec == GAB_CODEC_NONE) return post_round(checkpoint, next, 0);
  return gab_image_compress_begin(&next->own, &transfer->compressed);
}

/* Compresses one piece, to fit between two tasks. */
static gab_status compress_piece(gab_checkpoint *checkpoint, gab_snapshot *next)
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
  gab_image_moves *moves = &transfer->moves;
  for (int i = 0; i < moves->departure_count; i++)
    next->shared_holders += moves->departures[i].answered == GAB_OFFER_SHARED;
  GAB_TRY(gab_image_moves_end(moves, GAB_OK));
  if (++transfer->round < gab_placement_copies(&next->placement))
    return post_round(checkpoint, next, transfer->round);
  for (int i = 0; i < next->copy_count; i++)
    if (!next->copies[i].image.fixed) GAB_TRY(trim(&next->copies[i].image));
  gab_buffer_release(&transfer->compressed);
  transfer->there = true;
  return GAB_OK;
}

gab_status gab_redundancy_begin(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  if (next->placement.scheme->kind == GAB_SCHEME_COPIES) return begin_copies(checkpoint, next);
  checkpoint->transfer.there = true;
  return gab_parities_make(checkpoint, next, NULL, false, &next->parities);
}

gab_status gab_redundancy_help(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  if (!transfer->there && !transfer->posted) return compress_piece(checkpoint, next);
  while (!transfer->there) {
    bool done;
    GAB_TRY(gab_image_moves_progress(&transfer->moves, &done));
    if (!done) return GAB_OK;
    GAB_TRY(close_round(checkpoint, next));
  }
  return GAB_OK;
}

gab_status gab_redundancy_finish(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  gab_transfer_state *transfer = &checkpoint->transfer;
  while (!transfer->there && !transfer->posted) GAB_TRY(compress_piece(checkpoint, next));
  while (!transfer->there) {
    GAB_TRY(gab_image_moves_finish(&transfer->moves));
    GAB_TRY(close_round(checkpoint, next));
  }
  return GAB_OK;
}

gab_status gab_redundancy_exchange(gab_checkpoint *checkpoint, gab_snapshot *next)
{
  GAB_TRY(gab_redundancy_begin(checkpoint, next));
  return gab_redundancy_finish(checkpoint, next);
}

/* ---------------------------------------------------------------- bytes */

size_t gab_redundancy_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++) bytes += gab_message_bytes(&snapshot->copies[i].image);
  if (snapshot->parities.group.count > 0) bytes += snapshot->parities.rows.size;
  return bytes;
}

size_t gab_redundancy_shared_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = 0;
  for (int i = 0; i < snapshot->copy_count; i++)
    if (snapshot->copies[i].image.fixed) bytes += gab_message_bytes(&snapshot->copies[i].image);
  return bytes;
}

size_t gab_redundancy_raw_bytes(const gab_snapshot *snapshot)
{
  size_t bytes = snapshot->parities.group.count > 0 ? snapshot->parities.rows.size : 0;
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_buffer *image = &snapshot->copies[i].image;
    size_t raw;
    bytes += gab_image_is_compressed(image, &raw) ? raw : gab_message_bytes(image);
  }
  return bytes;
}

size_t gab_redundancy_sent(const gab_snapshot *snapshot, gab_rank rank)
{
  const gab_group *group = &snapshot->parities.group;
  size_t copies = 0;
  if (group->count > 0)
    return (size_t)group->parities * (size_t)gab_group_pieces(group) * snapshot->parities.piece;
  for (int k = 0; k < gab_placement_copies(&snapshot->placement); k++)
    copies += gab_placement_holder(&snapshot->placement, rank, k) != GAB_NO_RANK;
  return (copies - (size_t)snapshot->shared_holders) * snapshot->sent_each;
}

void gab_redundancy_release(gab_snapshot *snapshot)
{
  for (int k = 0; k < snapshot->copy_capacity; k++) gab_copy_release(&snapshot->copies[k]);
  gab_free(&snapshot->copies);
  gab_buffer_release(&snapshot->parities.rows);
}
