/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_impl.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------ counts (transparent mode) */

/* Writes for each source the numbers that this process has received from it. */
static gab_status write_received(const persist_session *session, gab_buffer *to)
{
  const persist_map *received = &session->msglog.received;
  for (size_t i = 0; i < received->capacity; i++) {
    if (!received->entries[i].used) continue;
    gab_buffer *bytes = &to[received->entries[i].peer];
    GAB_TRY(gab_put_i32(bytes, received->entries[i].tag));
    GAB_TRY(gab_put_u64(bytes, received->entries[i].value));
  }
  return GAB_OK;
}

static gab_status read_received(persist_session *session, const gab_buffer *from)
{
  for (int rank = 0; rank < session->size; rank++) {
    gab_reader bytes = gab_reader_of_buffer(&from[rank]);
    while (gab_reader_left(&bytes) > 0) {
      int32_t tag;
      uint64_t number;
      GAB_TRY(gab_get_i32(&bytes, &tag));
      GAB_TRY(gab_get_u64(&bytes, &number));
      GAB_TRY(gab_persist_map_put(&session->already, rank, tag, number));
    }
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ letters */

/* Writes the messages of a channel that can be received again: of a survivor all sent ones, of others only those of
 * complete epochs, which their message logs contain. */
static gab_status write_channel(const persist_session *session, const persist_channel *channel, int rank,
                                gab_buffer *bytes)
{
  const uint64_t depth = session->set.depth;
  const size_t count = channel->end - channel->first;
  const uint64_t had = gab_persist_map_get(&session->already, rank, channel->tag);
  size_t at = count > depth ? channel->end - (size_t)depth : channel->first;
  while (session->set.transparent && at < channel->end && channel->records[at].number <= had) at++;
  GAB_TRY(gab_put_i32(bytes, channel->tag));
  GAB_TRY(gab_put_i32(bytes, channel->target));
  GAB_TRY(gab_put_u64(bytes, channel->records[channel->end - 1].number));
  GAB_TRY(gab_put_u64(bytes, channel->end - at));
  for (; at < channel->end; at++) {
    const persist_record *record = &channel->records[at];
    GAB_TRY(gab_put_u64(bytes, record->number));
    GAB_TRY(gab_put_u64(bytes, record->serial));
    GAB_TRY(gab_put_u64(bytes, record->checksum));
    GAB_TRY(gab_put_u64(bytes, record->bytes));
    GAB_TRY(gab_put_bytes(bytes, record->data, record->bytes));
  }
  return GAB_OK;
}

static gab_status write_letters(const persist_session *session, gab_buffer *to)
{
  const persist_msglog *msglog = &session->msglog;
  for (size_t i = 0; i < msglog->channel_count; i++) {
    const persist_channel *channel = &msglog->channels[i];
    if (channel->end == channel->first) continue;
    const bool all = channel->target == PERSIST_TO_ALL;
    for (int rank = all ? 0 : channel->target; rank < (all ? session->size : channel->target + 1); rank++)
      if (!all || !session->set.transparent || rank != session->rank)
        GAB_TRY(write_channel(session, channel, rank, &to[rank]));
  }
  return GAB_OK;
}

static gab_status read_letter(persist_inbox *inbox, gab_reader *bytes, int source, int32_t tag,
                              int32_t target)
{
  persist_letter letter = {.source = source, .tag = tag, .target = target};
  uint64_t size;
  gab_reader data;
  GAB_TRY(gab_get_u64(bytes, &letter.number));
  GAB_TRY(gab_get_u64(bytes, &letter.serial));
  GAB_TRY(gab_get_u64(bytes, &letter.checksum));
  GAB_TRY(gab_get_u64(bytes, &size));
  GAB_TRY(gab_get_view(bytes, size, &data));
  letter.bytes = size;
  letter.data = data.at;
  GAB_TRY(gab_list_reserve(&inbox->letters, inbox->count, sizeof letter));
  inbox->letters[inbox->count++] = letter;
  return GAB_OK;
}

static gab_status read_letters(persist_session *session, const gab_buffer *content, int source)
{
  gab_reader bytes = gab_reader_of_buffer(content);
  while (gab_reader_left(&bytes) > 0) {
    int32_t tag, target;
    uint64_t last, count;
    GAB_TRY(gab_get_i32(&bytes, &tag));
    GAB_TRY(gab_get_i32(&bytes, &target));
    GAB_TRY(gab_get_u64(&bytes, &last));
    GAB_TRY(gab_get_u64(&bytes, &count));
    GAB_TRY(gab_persist_map_put(&session->before, source, tag, last));
    for (uint64_t i = 0; i < count; i++) GAB_TRY(read_letter(&session->inbox, &bytes, source, tag, target));
  }
  return GAB_OK;
}

static int by_source_and_serial(const void *a, const void *b)
{
  const persist_letter *x = a, *y = b;
  if (x->source != y->source) return x->source < y->source ? -1 : 1;
  return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* ------------------------------------------------------------------------------------ all of it */

static gab_status exchange(persist_session *session, gab_buffer *to, gab_buffer *from)
{
  if (session->set.transparent) {
    GAB_TRY(gab_persist_all(session, write_received(session, to)));
    GAB_TRY(gab_persist_trade_all(session, to, from));
    GAB_TRY(gab_persist_all(session, read_received(session, from)));
    for (int i = 0; i < session->size; i++) gab_buffer_release(&from[i]);
  }
  GAB_TRY(gab_persist_all(session, write_letters(session, to)));
  GAB_TRY(gab_persist_trade_all(session, to, from));
  gab_status status = GAB_OK;
  for (int i = 0; i < session->size && status == GAB_OK; i++) status = read_letters(session, &from[i], i);
  if (status == GAB_OK && session->inbox.count > 0)
    qsort(session->inbox.letters, session->inbox.count, sizeof *session->inbox.letters, by_source_and_serial);
  return gab_persist_all(session, status);
}

gab_status gab_persist_fill_inbox(persist_session *session)
{
  const size_t n = (size_t)session->size;
  gab_buffer *to = NULL, *from = NULL;
  gab_persist_inbox_release(&session->inbox);
  gab_persist_map_release(&session->before);
  gab_persist_map_release(&session->already);
  gab_status status = GAB_NEW_ARRAY(&to, n, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&from, n, GAB_MEMORY_OTHER);
  status = gab_persist_all(session, status);
  if (status == GAB_OK) status = exchange(session, to, from);
  for (size_t i = 0; to && i < n; i++) gab_buffer_release(&to[i]);
  gab_free(&to);
  session->inbox.memory = from;
  session->inbox.memory_count = from ? n : 0;
  return status;
}
