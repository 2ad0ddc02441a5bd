/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_msglog_impl.h"

#include "core/base/hash.h"
#include "core/base/lower_bound_impl.h"

#include <string.h>

void gab_persist_msglog_init(persist_msglog *msglog, uint64_t depth, bool lags)
{
  *msglog = (persist_msglog){.depth = depth, .lags = lags};
}

static void release_channel(persist_channel *channel)
{
  for (size_t i = channel->first; i < channel->end; i++) gab_free(&channel->records[i].data);
  gab_free(&channel->records);
}

void gab_persist_msglog_release(persist_msglog *msglog)
{
  for (size_t i = 0; i < msglog->channel_count; i++) release_channel(&msglog->channels[i]);
  gab_free(&msglog->channels);
  gab_persist_map_release(&msglog->index);
  gab_persist_map_release(&msglog->received);
  gab_persist_map_release(&msglog->received_epoch);
  gab_persist_map_release(&msglog->received_floor);
  gab_persist_msglog_init(msglog, msglog->depth, msglog->lags);
}

void gab_persist_msglog_swap(persist_msglog *a, persist_msglog *b)
{
  const persist_msglog other = *a;
  *a = *b;
  *b = other;
}

uint64_t gab_persist_checksum(int32_t target, int32_t tag, uint64_t number, const void *bytes, size_t count)
{
  const uint64_t who = gab_hash_counter((uint32_t)target, (uint32_t)tag, number);
  return gab_hash64(bytes, count, who);
}

/* ------------------------------------------------------------------------------------ channels */

static gab_status channel_of(persist_msglog *msglog, int32_t target, int32_t tag, persist_channel **channel)
{
  const uint64_t *at = gab_persist_map_find(&msglog->index, target, tag);
  if (!at) {
    GAB_TRY(gab_list_reserve(&msglog->channels, msglog->channel_count, sizeof(persist_channel)));
    GAB_TRY(gab_persist_map_put(&msglog->index, target, tag, msglog->channel_count));
    msglog->channels[msglog->channel_count] = (persist_channel){.target = target, .tag = tag};
    *channel = &msglog->channels[msglog->channel_count++];
    return GAB_OK;
  }
  *channel = &msglog->channels[*at];
  return GAB_OK;
}

size_t gab_persist_channel_behind(const persist_channel *channel, uint64_t epoch)
{
  size_t at = channel->first;
  GAB_LOWER_BOUND(size_t, at, channel->end, i, channel->records[i].epoch <= epoch);
  return at;
}

/* Removes records and closes the gap from the shorter side. */
static void drop(persist_channel *channel, size_t from, size_t count)
{
  persist_record *records = channel->records;
  for (size_t i = from; i < from + count; i++) gab_free(&records[i].data);
  const size_t before = from - channel->first, behind = channel->end - from - count;
  if (before <= behind) {
    memmove(&records[channel->first + count], &records[channel->first], before * sizeof *records);
    channel->first += count;
  } else {
    memmove(&records[from], &records[from + count], behind * sizeof *records);
    channel->end -= count;
  }
}

/* Among records that are visible at the same epochs, only the newest `depth` can be requested. */
static void overwrite(const persist_msglog *msglog, persist_channel *channel)
{
  if (channel->end - channel->first <= msglog->depth) return;
  const uint64_t last[] = {msglog->floor, msglog->epoch, UINT64_MAX};
  size_t from = channel->first;
  for (int i = 0; i < 3; i++) {
    const size_t behind = gab_persist_channel_behind(channel, last[i]);
    const size_t count = behind - from;
    if (count > msglog->depth) {
      const size_t end = channel->end, excess = count - (size_t)msglog->depth;
      drop(channel, from, excess);
      from = behind - (end - channel->end);
    } else {
      from = behind;
    }
  }
}

static gab_status append(persist_channel *channel, const persist_record *record)
{
  if (channel->end == channel->capacity && channel->first > channel->capacity / 2) {
    memmove(channel->records, &channel->records[channel->first],
            (channel->end - channel->first) * sizeof *channel->records);
    channel->end -= channel->first;
    channel->first = 0;
  }
  if (channel->end == channel->capacity) {
    const size_t capacity = channel->capacity > 0 ? 2 * channel->capacity : 2;
    GAB_TRY(GAB_RESIZE_ARRAY(&channel->records, capacity, GAB_MEMORY_OTHER));
    channel->capacity = capacity;
  }
  channel->records[channel->end++] = *record;
  return GAB_OK;
}

gab_status gab_persist_msglog_add(persist_msglog *msglog, int32_t target, int32_t tag,
                                  const persist_record *like, const void *bytes)
{
  persist_record record = *like;
  GAB_TRY(GAB_NEW_ARRAY(&record.data, record.bytes, GAB_MEMORY_MESSAGE));
  if (record.bytes > 0) memcpy(record.data, bytes, record.bytes);
  persist_channel *channel = NULL;
  gab_status status = channel_of(msglog, target, tag, &channel);
  if (status == GAB_OK) status = append(channel, &record);
  if (status != GAB_OK) {
    gab_free(&record.data);
    return status;
  }
  if (record.serial > msglog->serial) msglog->serial = record.serial;
  overwrite(msglog, channel);
  return GAB_OK;
}

uint64_t gab_persist_msglog_last(const persist_msglog *msglog, int32_t target, int32_t tag)
{
  const uint64_t *at = gab_persist_map_find(&msglog->index, target, tag);
  if (!at) return 0;
  const persist_channel *channel = &msglog->channels[*at];
  return channel->end > channel->first ? channel->records[channel->end - 1].number : 0;
}

gab_status gab_persist_msglog_store(persist_msglog *msglog, int32_t target, int32_t tag, const void *bytes,
                                    size_t count, uint64_t *number)
{
  persist_record record = {.number = gab_persist_msglog_last(msglog, target, tag) + 1,
                           .serial = msglog->serial + 1,
                           .epoch = msglog->epoch + 1,
                           .bytes = count};
  record.checksum = gab_persist_checksum(target, tag, record.number, bytes, count);
  if (number) *number = record.number;
  return gab_persist_msglog_add(msglog, target, tag, &record, bytes);
}

void gab_persist_msglog_unstore(persist_msglog *msglog, int32_t target, int32_t tag)
{
  const uint64_t *at = gab_persist_map_find(&msglog->index, target, tag);
  if (!at) return;
  persist_channel *channel = &msglog->channels[*at];
  if (channel->end > channel->first && channel->records[channel->end - 1].epoch > msglog->epoch)
    drop(channel, channel->end - 1, 1);
}

uint64_t gab_persist_msglog_pending(const persist_msglog *msglog)
{
  uint64_t pending = 0;
  for (size_t i = 0; i < msglog->channel_count; i++)
    pending += msglog->channels[i].end - gab_persist_channel_behind(&msglog->channels[i], msglog->epoch);
  return pending;
}

/* ------------------------------------------------------------------------------------ epochs */

gab_status gab_persist_msglog_complete(persist_msglog *msglog)
{
  GAB_TRY(gab_persist_map_copy(&msglog->received_floor,
                               msglog->lags ? &msglog->received_epoch : &msglog->received));
  GAB_TRY(gab_persist_map_copy(&msglog->received_epoch, &msglog->received));
  msglog->epoch++;
  msglog->floor = msglog->lags ? msglog->epoch - 1 : msglog->epoch;
  return GAB_OK;
}

/* Removes channels without records. */
static gab_status tidy(persist_msglog *msglog)
{
  size_t kept = 0;
  gab_persist_map_release(&msglog->index);
  msglog->serial = 0;
  for (size_t i = 0; i < msglog->channel_count; i++) {
    persist_channel *channel = &msglog->channels[i];
    if (channel->first == channel->end) {
      release_channel(channel);
      continue;
    }
    const uint64_t serial = channel->records[channel->end - 1].serial;
    if (serial > msglog->serial) msglog->serial = serial;
    msglog->channels[kept++] = *channel;
  }
  msglog->channel_count = kept;
  size_t capacity = 1; /* a list that grows by doubling must not shrink to a size in between */
  while (capacity < kept) capacity *= 2;
  GAB_TRY(GAB_RESIZE_ARRAY(&msglog->channels, capacity, GAB_MEMORY_OTHER));
  if (kept == 0) gab_free(&msglog->channels);
  for (size_t i = 0; i < kept; i++)
    GAB_TRY(gab_persist_map_put(&msglog->index, msglog->channels[i].target, msglog->channels[i].tag, i));
  return GAB_OK;
}

gab_status gab_persist_msglog_go_back(persist_msglog *msglog, uint64_t epoch)
{
  if (epoch < msglog->floor || epoch > msglog->epoch)
    GAB_FAIL(GAB_ERR_LOST, "epoch %" PRIu64 " is not kept any more: %" PRIu64 " to %" PRIu64 " are", epoch,
             msglog->floor, msglog->epoch);
  for (size_t i = 0; i < msglog->channel_count; i++) {
    persist_channel *channel = &msglog->channels[i];
    const size_t behind = gab_persist_channel_behind(channel, epoch);
    drop(channel, behind, channel->end - behind);
  }
  if (epoch < msglog->epoch) GAB_TRY(gab_persist_map_copy(&msglog->received_epoch, &msglog->received_floor));
  GAB_TRY(gab_persist_map_copy(&msglog->received, &msglog->received_epoch));
  msglog->epoch = epoch;
  return tidy(msglog);
}
