/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_msglog_impl.h"

#include "core/base/hash.h"

#define GROUP_MAGIC UINT64_C(0x3153524550424147) /* GABPERS1 */
enum { GROUP_HEAD = 40, GROUP_STEP = 1, GROUP_BASE = 2, RECORD_HEAD = 48, RECEIVED_BYTES = 16 };

static gab_status write_records(const persist_msglog *msglog, uint64_t after, uint64_t until,
                                gab_buffer *body)
{
  uint64_t count = 0;
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) GAB_TRY(gab_put_u64(body, count));
    for (size_t i = 0; i < msglog->channel_count; i++) {
      const persist_channel *channel = &msglog->channels[i];
      const size_t behind = gab_persist_channel_behind(channel, until);
      for (size_t k = after > 0 ? gab_persist_channel_behind(channel, after) : channel->first; k < behind;
           k++) {
        const persist_record *record = &channel->records[k];
        count++;
        if (pass == 0) continue;
        GAB_TRY(gab_put_i32(body, channel->target));
        GAB_TRY(gab_put_i32(body, channel->tag));
        GAB_TRY(gab_put_u64(body, record->number));
        GAB_TRY(gab_put_u64(body, record->serial));
        GAB_TRY(gab_put_u64(body, record->epoch));
        GAB_TRY(gab_put_u64(body, record->checksum));
        GAB_TRY(gab_put_u64(body, record->bytes));
        GAB_TRY(gab_put_bytes(body, record->data, record->bytes));
      }
    }
  }
  return GAB_OK;
}

static gab_status write_received(const persist_map *received, gab_buffer *body)
{
  GAB_TRY(gab_put_u64(body, received->count));
  for (size_t i = 0; i < received->capacity; i++) {
    if (!received->entries[i].used) continue;
    GAB_TRY(gab_put_i32(body, received->entries[i].peer));
    GAB_TRY(gab_put_i32(body, received->entries[i].tag));
    GAB_TRY(gab_put_u64(body, received->entries[i].value));
  }
  return GAB_OK;
}

/* A group: head, then body. Epochs in (after, until]. */
static gab_status write_group(const persist_msglog *msglog, uint32_t kind, uint64_t after, uint64_t until,
                              const persist_map *received, gab_buffer *groups)
{
  gab_buffer body = {0};
  gab_status status = write_records(msglog, after, until, &body);
  if (status == GAB_OK) status = write_received(received, &body);
  const size_t start = groups->size;
  GAB_TRY_GOTO(status, end, status);
  GAB_TRY_GOTO(status, end, gab_put_u64(groups, GROUP_MAGIC));
  GAB_TRY_GOTO(status, end, gab_put_u64(groups, ((uint64_t)kind << 56) | until));
  GAB_TRY_GOTO(status, end, gab_put_u64(groups, body.size));
  GAB_TRY_GOTO(status, end, gab_put_u64(groups, gab_hash64(body.data, body.size, until)));
  GAB_TRY_GOTO(status, end,
               gab_put_u64(groups, gab_hash64(groups->data + start, groups->size - start, kind)));
  GAB_TRY_GOTO(status, end, gab_put_bytes(groups, body.data, body.size));
end:
  gab_buffer_release(&body);
  return status;
}

gab_status gab_persist_msglog_close_epoch(const persist_msglog *msglog, gab_buffer *group)
{
  return write_group(msglog, GROUP_STEP, msglog->epoch, msglog->epoch + 1, &msglog->received, group);
}

gab_status gab_persist_msglog_write(const persist_msglog *msglog, gab_buffer *groups)
{
  GAB_TRY(write_group(msglog, GROUP_BASE, 0, msglog->floor, &msglog->received_floor, groups));
  if (msglog->epoch == msglog->floor) return GAB_OK;
  return write_group(msglog, GROUP_STEP, msglog->floor, msglog->epoch, &msglog->received_epoch, groups);
}

typedef struct group_head {
  uint64_t kind, epoch, bytes, checksum;
} group_head;

static persist_group_state read_head(gab_reader *bytes, group_head *head)
{
  const unsigned char *start = bytes->at;
  uint64_t magic, what, checksum;
  if (gab_reader_left(bytes) < GROUP_HEAD) return PERSIST_GROUP_CUT;
  gab_get_u64(bytes, &magic);
  gab_get_u64(bytes, &what);
  gab_get_u64(bytes, &head->bytes);
  gab_get_u64(bytes, &head->checksum);
  gab_get_u64(bytes, &checksum);
  head->kind = what >> 56;
  head->epoch = what & (UINT64_MAX >> 8);
  if (magic != GROUP_MAGIC || checksum != gab_hash64(start, GROUP_HEAD - 8, head->kind))
    return PERSIST_GROUP_DAMAGED;
  return PERSIST_GROUP_WHOLE;
}

persist_group_state gab_persist_group_look(gab_reader bytes, size_t *length)
{
  group_head head;
  *length = 0;
  const persist_group_state state = read_head(&bytes, &head);
  if (state != PERSIST_GROUP_WHOLE) return state;
  if (head.bytes > gab_reader_left(&bytes)) return PERSIST_GROUP_CUT;
  *length = GROUP_HEAD + (size_t)head.bytes;
  return gab_hash64(bytes.at, head.bytes, head.epoch) == head.checksum ? PERSIST_GROUP_WHOLE
                                                                       : PERSIST_GROUP_DAMAGED;
}

static gab_status take_records(persist_msglog *msglog, gab_reader *body)
{
  size_t count;
  GAB_TRY(gab_get_count(body, RECORD_HEAD, &count));
  for (size_t i = 0; i < count; i++) {
    int32_t target, tag;
    uint64_t bytes;
    persist_record record = {0};
    gab_reader data;
    GAB_TRY(gab_get_i32(body, &target));
    GAB_TRY(gab_get_i32(body, &tag));
    GAB_TRY(gab_get_u64(body, &record.number));
    GAB_TRY(gab_get_u64(body, &record.serial));
    GAB_TRY(gab_get_u64(body, &record.epoch));
    GAB_TRY(gab_get_u64(body, &record.checksum));
    GAB_TRY(gab_get_u64(body, &bytes));
    GAB_TRY(gab_get_view(body, bytes, &data));
    record.bytes = bytes;
    if (record.checksum != gab_persist_checksum(target, tag, record.number, data.at, bytes))
      GAB_FAIL(GAB_ERR_CORRUPT, "message %" PRIu64 " to %d with tag %d does not match its checksum",
               record.number, (int)target, (int)tag);
    if (record.number <= gab_persist_msglog_last(msglog, target, tag))
      GAB_FAIL(GAB_ERR_CORRUPT, "message %" PRIu64 " to %d with tag %d is stored twice", record.number,
               (int)target, (int)tag);
    GAB_TRY(gab_persist_msglog_add(msglog, target, tag, &record, data.at));
  }
  return GAB_OK;
}

static gab_status take_received(persist_map *received, gab_reader *body)
{
  size_t count;
  GAB_TRY(gab_get_count(body, RECEIVED_BYTES, &count));
  gab_persist_map_release(received);
  for (size_t i = 0; i < count; i++) {
    int32_t source, tag;
    uint64_t number;
    GAB_TRY(gab_get_i32(body, &source));
    GAB_TRY(gab_get_i32(body, &tag));
    GAB_TRY(gab_get_u64(body, &number));
    GAB_TRY(gab_persist_map_put(received, source, tag, number));
  }
  return gab_reader_expect_end(body);
}

gab_status gab_persist_msglog_take(persist_msglog *msglog, gab_reader *bytes)
{
  size_t length;
  group_head head;
  gab_reader group, body;
  if (gab_persist_group_look(*bytes, &length) != PERSIST_GROUP_WHOLE)
    GAB_FAIL(GAB_ERR_CORRUPT, "an epoch that is stored does not match its checksum");
  GAB_TRY(gab_get_view(bytes, length, &group));
  read_head(&group, &head);
  GAB_TRY(gab_get_view(&group, head.bytes, &body));
  if (head.kind == GROUP_BASE) {
    gab_persist_msglog_release(msglog);
    msglog->epoch = msglog->floor = head.epoch;
    GAB_TRY(take_records(msglog, &body));
    GAB_TRY(take_received(&msglog->received, &body));
    GAB_TRY(gab_persist_map_copy(&msglog->received_epoch, &msglog->received));
    return gab_persist_map_copy(&msglog->received_floor, &msglog->received);
  }
  if (head.kind != GROUP_STEP || head.epoch <= msglog->floor || head.epoch > msglog->epoch + 1)
    GAB_FAIL(GAB_ERR_CORRUPT, "epoch %" PRIu64 " does not follow epoch %" PRIu64, head.epoch, msglog->epoch);
  GAB_TRY(gab_persist_msglog_go_back(msglog, head.epoch - 1));
  GAB_TRY(take_records(msglog, &body));
  GAB_TRY(take_received(&msglog->received, &body));
  return gab_persist_msglog_complete(msglog);
}
