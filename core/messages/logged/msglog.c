/* SPDX-License-Identifier: Apache-2.0 */
/** @file msglog.c
 *  @brief Sender-based message log: channels, intervals, and the free list of handed-over buffers. */
#include "core/messages/logged/msglog_impl.h"
#include "core/base/lower_bound_impl.h"

#include <string.h>

gab_status gab_msglog_create(size_t copy_below, gab_msglog **msglog)
{
  *msglog = NULL;
  GAB_TRY(GAB_NEW(msglog, GAB_MEMORY_OTHER));
  (*msglog)->copy_below = copy_below;
  (*msglog)->interval = -1;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ the free list */

void gab_msglog_release(gab_kept *message)
{
  gab_buffer_release(&message->memory);
  gab_free(&message);
}

/* If the list cannot grow, the buffer remains with the caller, who releases it. */
static void put_aside(gab_msglog *msglog, gab_buffer *buffer)
{
  if (msglog->free_count == msglog->free_capacity) {
    const size_t more = msglog->free_capacity ? 2 * msglog->free_capacity : 8;
    if (GAB_RESIZE_ARRAY(&msglog->free, more, GAB_MEMORY_OTHER) != GAB_OK) return;
    msglog->free_capacity = more;
  }
  gab_msglog_spare *place = &msglog->free[msglog->free_count++];
  *place = (gab_msglog_spare){.buffer = *buffer};
  *buffer = (gab_buffer){.use = buffer->use};
  gab_buffer_clear(&place->buffer);
  msglog->stats.free_bytes += place->buffer.capacity;
}

static void recycle(gab_msglog *msglog, gab_kept *message)
{
  if (message->handed_over) put_aside(msglog, &message->memory);
  gab_msglog_release(message);
}

static void take_out(gab_msglog *msglog, size_t place, gab_buffer *buffer)
{
  msglog->stats.free_bytes -= msglog->free[place].buffer.capacity;
  *buffer = msglog->free[place].buffer;
  msglog->free[place] = msglog->free[--msglog->free_count];
}

/* The smallest that is large enough: messages of a channel tend to have the size of the previous ones. */
static void take_free(gab_msglog *msglog, size_t bytes, gab_buffer *buffer)
{
  size_t best = msglog->free_count;
  for (size_t i = 0; i < msglog->free_count; i++) {
    const gab_buffer *candidate = &msglog->free[i].buffer;
    if (candidate->capacity < bytes || candidate->use != buffer->use) continue;
    if (best == msglog->free_count || candidate->capacity < msglog->free[best].buffer.capacity) best = i;
  }
  if (best < msglog->free_count) take_out(msglog, best, buffer);
}

static void release_unused(gab_msglog *msglog)
{
  for (size_t i = msglog->free_count; i-- > 0;) {
    if (!msglog->free[i].old) {
      msglog->free[i].old = true;
      continue;
    }
    gab_buffer buffer;
    take_out(msglog, i, &buffer);
    gab_buffer_release(&buffer);
  }
}

/* ------------------------------------------------------------------------------------ channels */

static bool comes_before(const gab_msglog_channel *channel, gab_rank target, uint32_t context)
{
  return channel->target != target ? channel->target < target : channel->context < context;
}

static size_t channel_place(const gab_msglog *msglog, gab_rank target, uint32_t context)
{
  size_t place = 0;
  GAB_LOWER_BOUND(size_t, place, msglog->channel_count, i,
                  comes_before(&msglog->channels[i], target, context));
  return place;
}

const gab_msglog_channel *gab_msglog_channel_of(const gab_msglog *msglog, gab_rank target, uint32_t context)
{
  const size_t place = channel_place(msglog, target, context);
  if (place == msglog->channel_count) return NULL;
  const gab_msglog_channel *found = &msglog->channels[place];
  return found->target == target && found->context == context ? found : NULL;
}

static gab_status find_channel(gab_msglog *msglog, gab_rank target, uint32_t context,
                               gab_msglog_channel **found)
{
  const size_t place = channel_place(msglog, target, context);
  if (!gab_msglog_channel_of(msglog, target, context)) {
    GAB_TRY(gab_list_reserve(&msglog->channels, msglog->channel_count, sizeof *msglog->channels));
    memmove(msglog->channels + place + 1, msglog->channels + place,
            (msglog->channel_count - place) * sizeof *msglog->channels);
    msglog->channels[place] = (gab_msglog_channel){.target = target, .context = context};
    msglog->channel_count++;
  }
  *found = &msglog->channels[place];
  return GAB_OK;
}

gab_status gab_msglog_reserve(gab_msglog_channel *to)
{
  if (to->end < to->capacity) return GAB_OK;
  if (to->first > 0 && to->first >= to->capacity / 2) {
    memmove(to->kept, to->kept + to->first, (to->end - to->first) * sizeof(gab_kept *));
    to->end -= to->first;
    to->first = 0;
    return GAB_OK;
  }
  const size_t more = to->capacity ? 2 * to->capacity : 8;
  GAB_TRY(GAB_RESIZE_ARRAY(&to->kept, more, GAB_MEMORY_OTHER));
  to->capacity = more;
  return GAB_OK;
}

uint64_t gab_msglog_next(const gab_msglog *msglog, gab_rank target, uint32_t context)
{
  const gab_msglog_channel *found = gab_msglog_channel_of(msglog, target, context);
  return found ? found->next : 0;
}

uint64_t gab_msglog_first(const gab_msglog *msglog, gab_rank target, uint32_t context)
{
  const gab_msglog_channel *found = gab_msglog_channel_of(msglog, target, context);
  return found ? found->next - (found->end - found->first) : 0;
}

gab_msglog_entry *gab_msglog_find(const gab_msglog *msglog, gab_rank target, uint32_t context,
                                  uint64_t number)
{
  const gab_msglog_channel *found = gab_msglog_channel_of(msglog, target, context);
  if (!found || number >= found->next || found->next - number > found->end - found->first) return NULL;
  return &found->kept[found->end - (size_t)(found->next - number)]->entry;
}

/* ------------------------------------------------------------------------------------ logging */

gab_status gab_msglog_begin_interval(gab_msglog *msglog, gab_step checkpoint)
{
  if (checkpoint < msglog->interval)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "the message log is at checkpoint %" GAB_PRI_STEP " already, %" GAB_PRI_STEP " is earlier",
             msglog->interval, checkpoint);
  msglog->interval = checkpoint;
  return GAB_OK;
}

/* Takes the bytes of the message, by ownership or by copying. */
static gab_status take_bytes(gab_msglog *msglog, gab_buffer *message, gab_kept *to)
{
  gab_buffer_init(&to->memory, message->use);
  to->handed_over = message->size >= msglog->copy_below && message->size > 0 && !message->fixed;
  if (!to->handed_over) {
    GAB_TRY(gab_put_bytes(&to->memory, message->data, message->size));
    msglog->stats.copied++;
    msglog->stats.copied_bytes += message->size;
    if (message->size > msglog->stats.largest_copied) msglog->stats.largest_copied = message->size;
    return GAB_OK;
  }
  const size_t bytes = message->size;
  gab_buffer_swap(&to->memory, message);
  to->memory.follower = NULL;
  take_free(msglog, bytes, message);
  msglog->stats.handed_over++;
  return GAB_OK;
}

gab_status gab_msglog_append(gab_msglog *msglog, gab_rank target, uint32_t context,
                             const gab_msglog_label *label, gab_buffer *message, gab_msglog_entry **entry)
{
  gab_msglog_channel *to;
  GAB_TRY(find_channel(msglog, target, context, &to));
  GAB_TRY(gab_msglog_reserve(to));
  gab_kept *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = take_bytes(msglog, message, made);
  if (status != GAB_OK) {
    gab_msglog_release(made);
    return status;
  }
  made->entry = (gab_msglog_entry){.number = to->next++,
                                   .since = msglog->interval,
                                   .label = *label,
                                   .data = made->memory.data,
                                   .bytes = made->memory.size};
  to->kept[to->end++] = made;
  gab_msglog_stats *stats = &msglog->stats;
  stats->messages++;
  stats->bytes += made->entry.bytes;
  stats->logged_bytes += made->entry.bytes;
  if (stats->bytes > stats->peak_bytes) stats->peak_bytes = stats->bytes;
  *entry = &made->entry;
  return GAB_OK;
}

void gab_msglog_hold(gab_msglog *msglog, gab_msglog_entry *entry)
{
  (void)msglog;
  ((gab_kept *)entry)->holds++;
}

void gab_msglog_let_go(gab_msglog *msglog, gab_msglog_entry *entry)
{
  gab_kept *message = (gab_kept *)entry;
  if (--message->holds == 0 && message->dropped) recycle(msglog, message);
}

/* ------------------------------------------------------------------------------------ freeing */

static void drop_oldest(gab_msglog *msglog, gab_msglog_channel *from)
{
  gab_kept *message = from->kept[from->first++];
  msglog->stats.messages--;
  msglog->stats.bytes -= message->entry.bytes;
  message->dropped = true;
  if (message->holds == 0) recycle(msglog, message);
}

void gab_msglog_free_before(gab_msglog *msglog, gab_step checkpoint)
{
  release_unused(msglog);
  for (size_t i = 0; i < msglog->channel_count; i++) {
    gab_msglog_channel *at = &msglog->channels[i];
    while (at->first < at->end && at->kept[at->first]->entry.since < checkpoint) drop_oldest(msglog, at);
  }
}

void gab_msglog_free_below(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t number)
{
  gab_msglog_channel *at = (gab_msglog_channel *)gab_msglog_channel_of(msglog, target, context);
  while (at && at->first < at->end && at->kept[at->first]->entry.number < number) drop_oldest(msglog, at);
}

gab_status gab_msglog_begin_channel(gab_msglog *msglog, gab_rank target, uint32_t context, uint64_t next)
{
  gab_msglog_channel *made;
  if (gab_msglog_channel_of(msglog, target, context))
    GAB_FAIL(GAB_ERR_STATE, "the message log has a channel to rank %" GAB_PRI_RANK " in context %" PRIu32,
             target, context);
  GAB_TRY(find_channel(msglog, target, context, &made));
  made->next = next;
  return GAB_OK;
}

void gab_msglog_forget_target(gab_msglog *msglog, gab_rank target)
{
  size_t kept = 0;
  for (size_t i = 0; i < msglog->channel_count; i++) {
    gab_msglog_channel *at = &msglog->channels[i];
    if (at->target != target) {
      msglog->channels[kept++] = *at;
      continue;
    }
    while (at->first < at->end) drop_oldest(msglog, at);
    gab_free(&at->kept);
  }
  msglog->channel_count = kept;
}

bool gab_msglog_is_full(const gab_msglog *msglog, size_t limit)
{
  return limit > 0 && msglog->stats.bytes > limit;
}

gab_msglog_stats gab_msglog_statistics(const gab_msglog *msglog) { return msglog->stats; }

static void forget_all(gab_msglog *msglog)
{
  for (size_t i = 0; i < msglog->channel_count; i++) {
    gab_msglog_channel *at = &msglog->channels[i];
    while (at->first < at->end) drop_oldest(msglog, at);
    gab_free(&at->kept);
  }
  gab_free(&msglog->channels);
  msglog->channel_count = 0;
}

void gab_msglog_destroy(gab_msglog **msglog_pointer)
{
  gab_msglog *msglog = *msglog_pointer;
  if (!msglog) return;
  *msglog_pointer = NULL;
  for (size_t i = 0; i < msglog->channel_count; i++)
    for (size_t k = msglog->channels[i].first; k < msglog->channels[i].end; k++)
      msglog->channels[i].kept[k]->holds = 0;
  forget_all(msglog);
  for (size_t i = 0; i < msglog->free_count; i++) gab_buffer_release(&msglog->free[i].buffer);
  gab_free(&msglog->free);
  gab_free(&msglog);
}

/* ------------------------------------------------------------------------------------ numbers */

enum { NUMBER_BYTES = 4 + 4 + 8 };

gab_status gab_msglog_pack_numbers(const gab_msglog *msglog, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, msglog->channel_count));
  for (size_t i = 0; i < msglog->channel_count; i++) {
    GAB_TRY(gab_put_i32(out, msglog->channels[i].target));
    GAB_TRY(gab_put_u32(out, msglog->channels[i].context));
    GAB_TRY(gab_put_u64(out, msglog->channels[i].next));
  }
  return GAB_OK;
}

static gab_status read_numbers(gab_msglog *msglog, gab_reader *in)
{
  size_t count;
  GAB_TRY(gab_get_count(in, NUMBER_BYTES, &count));
  for (size_t i = 0; i < count; i++) {
    gab_rank target;
    uint32_t context;
    uint64_t next;
    gab_msglog_channel *made;
    GAB_TRY(gab_get_i32(in, &target));
    GAB_TRY(gab_get_u32(in, &context));
    GAB_TRY(gab_get_u64(in, &next));
    GAB_TRY(find_channel(msglog, target, context, &made));
    made->next = next;
  }
  return GAB_OK;
}

gab_status gab_msglog_restart(gab_msglog *msglog, gab_step checkpoint, gab_reader *in)
{
  forget_all(msglog);
  msglog->interval = checkpoint;
  const gab_status status = read_numbers(msglog, in);
  if (status != GAB_OK) forget_all(msglog);
  return status;
}
