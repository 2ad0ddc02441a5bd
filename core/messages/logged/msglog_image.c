/* SPDX-License-Identifier: Apache-2.0 */
/** @file msglog_image.c
 *  @brief Sender-based message log: its messages in an image, and out of it.
 */
#include "core/messages/logged/msglog_impl.h"

enum { MESSAGE_HEAD = 8 + 8 + 4 + 8 + 8 };

static gab_status pack_message(const gab_msglog_entry *entry, gab_buffer *out)
{
  GAB_TRY(gab_put_i64(out, entry->since));
  GAB_TRY(gab_put_i64(out, entry->label.step));
  GAB_TRY(gab_put_u32(out, entry->label.pattern));
  GAB_TRY(gab_put_u64(out, entry->label.iteration));
  GAB_TRY(gab_put_u64(out, entry->bytes));
  return gab_put_bytes(out, entry->data, entry->bytes);
}

gab_status gab_msglog_pack_messages(const gab_msglog *msglog, gab_rank target, gab_buffer *out)
{
  uint64_t channels = 0;
  for (size_t i = 0; i < msglog->channel_count; i++) channels += msglog->channels[i].target == target;
  GAB_TRY(gab_put_u64(out, channels));
  for (size_t i = 0; i < msglog->channel_count; i++) {
    const gab_msglog_channel *at = &msglog->channels[i];
    if (at->target != target) continue;
    GAB_TRY(gab_put_u32(out, at->context));
    GAB_TRY(gab_put_u64(out, at->end - at->first));
    for (size_t k = at->first; k < at->end; k++) GAB_TRY(pack_message(&at->kept[k]->entry, out));
  }
  return GAB_OK;
}

static gab_status unpack_message(gab_msglog *msglog, gab_msglog_channel *to, uint64_t number, gab_reader *in)
{
  gab_msglog_entry entry = {.number = number};
  gab_reader bytes;
  GAB_TRY(gab_get_i64(in, &entry.since));
  GAB_TRY(gab_get_i64(in, &entry.label.step));
  GAB_TRY(gab_get_u32(in, &entry.label.pattern));
  GAB_TRY(gab_get_u64(in, &entry.label.iteration));
  GAB_TRY(gab_get_count(in, 1, &entry.bytes));
  GAB_TRY(gab_get_view(in, entry.bytes, &bytes));
  GAB_TRY(gab_msglog_reserve(to));
  gab_kept *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  gab_buffer_init(&made->memory, GAB_MEMORY_MESSAGE);
  const gab_status status = gab_put_bytes(&made->memory, bytes.at, entry.bytes);
  if (status != GAB_OK) {
    gab_msglog_release(made);
    return status;
  }
  entry.data = made->memory.data;
  made->entry = entry;
  to->kept[to->end++] = made;
  gab_msglog_stats *stats = &msglog->stats;
  stats->messages++;
  stats->bytes += entry.bytes;
  if (stats->bytes > stats->peak_bytes) stats->peak_bytes = stats->bytes;
  return GAB_OK;
}

gab_status gab_msglog_unpack_messages(gab_msglog *msglog, gab_rank target, gab_reader *in)
{
  size_t channels;
  GAB_TRY(gab_get_count(in, 4 + 8, &channels));
  for (size_t i = 0; i < channels; i++) {
    uint32_t context;
    size_t count;
    GAB_TRY(gab_get_u32(in, &context));
    GAB_TRY(gab_get_count(in, MESSAGE_HEAD, &count));
    gab_msglog_channel *to = (gab_msglog_channel *)gab_msglog_channel_of(msglog, target, context);
    if (!to || to->end > to->first || count > to->next)
      GAB_FAIL(GAB_ERR_CORRUPT,
               "%zu logged messages to rank %" GAB_PRI_RANK " in context %" PRIu32
               " do not fit their numbers",
               count, target, context);
    for (uint64_t number = to->next - count; number < to->next; number++)
      GAB_TRY(unpack_message(msglog, to, number, in));
  }
  return GAB_OK;
}
