/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* A message log returns at each epoch the messages that a list of all stored ones predicts, for any depth, through commits,
 * overwriting, rollbacks, and being written and read. */
#include "resilience/persist/persist_msglog_impl.h"

#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHANNELS = 3, MOST = 4000 };

/* The list: plain, and never overwritten. */
static struct entry {
  int32_t tag;
  uint64_t number, epoch, value;
} list[MOST];
static size_t listed;

/* The newest `depth` of a tag up to an epoch, newest last. @return their number */
static size_t expected(int32_t tag, uint64_t epoch, uint64_t depth, uint64_t values[MOST])
{
  size_t count = 0;
  for (size_t i = 0; i < listed; i++)
    if (list[i].tag == tag && list[i].epoch <= epoch) values[count++] = list[i].value;
  const size_t kept = count > depth ? (size_t)depth : count;
  memmove(values, values + count - kept, kept * sizeof *values);
  return kept;
}

static void compare(const persist_msglog *msglog, uint64_t epoch)
{
  static uint64_t values[MOST];
  for (int32_t tag = 0; tag < CHANNELS; tag++) {
    const size_t count = expected(tag, epoch, msglog->depth, values);
    const uint64_t *at = gab_persist_map_find(&msglog->index, 9, tag);
    if (!at) {
      assert_int_equal(count, 0);
      continue;
    }
    const persist_channel *channel = &msglog->channels[*at];
    const size_t behind = gab_persist_channel_behind(channel, epoch);
    assert_true(behind - channel->first >= count);
    for (size_t i = 0; i < count; i++) {
      const persist_record *record = &channel->records[behind - count + i];
      uint64_t value;
      memcpy(&value, record->data, sizeof value);
      assert_int_equal(value, values[i]);
      assert_true(record->checksum ==
                  gab_persist_checksum(9, tag, record->number, record->data, record->bytes));
    }
    /* and at most a few times the number that can be requested */
    if (msglog->depth < 100) assert_true(channel->end - channel->first <= 3 * msglog->depth);
  }
}

static void store(persist_msglog *msglog, int32_t tag, uint64_t value)
{
  uint64_t number = 0;
  assert_int_equal(gab_persist_msglog_store(msglog, 9, tag, &value, sizeof value, &number), GAB_OK);
  uint64_t last = 0;
  for (size_t i = 0; i < listed; i++)
    if (list[i].tag == tag) last = list[i].number;
  assert_int_equal(number, last + 1);
  list[listed++] = (struct entry){tag, number, msglog->epoch + 1, value};
}

static void forget_behind(uint64_t epoch)
{
  size_t kept = 0;
  for (size_t i = 0; i < listed; i++)
    if (list[i].epoch <= epoch) list[kept++] = list[i];
  listed = kept;
}

static void copy_by_bytes(persist_msglog *msglog)
{
  gab_buffer groups = {0};
  persist_msglog copy;
  gab_persist_msglog_init(&copy, msglog->depth, msglog->lags);
  assert_int_equal(gab_persist_msglog_write(msglog, &groups), GAB_OK);
  gab_reader bytes = gab_reader_of_buffer(&groups);
  while (gab_reader_left(&bytes) > 0) assert_int_equal(gab_persist_msglog_take(&copy, &bytes), GAB_OK);
  assert_int_equal(copy.epoch, msglog->epoch);
  assert_int_equal(copy.floor, msglog->floor);
  gab_persist_msglog_swap(&copy, msglog);
  gab_persist_msglog_release(&copy);
  gab_buffer_release(&groups);
}

static void play(uint64_t seed, uint64_t depth, bool lags)
{
  persist_msglog msglog;
  gab_persist_msglog_init(&msglog, depth, lags);
  listed = 0;
  for (uint64_t i = 0; i < 300; i++) {
    const uint64_t chance = gab_hash_counter(seed, depth, i);
    const unsigned what = chance % 16;
    if (what < 10) {
      store(&msglog, (int32_t)((chance >> 32) % CHANNELS), chance);
    } else if (what < 13) {
      gab_buffer group = {0};
      assert_int_equal(gab_persist_msglog_close_epoch(&msglog, &group), GAB_OK);
      size_t length;
      assert_int_equal(gab_persist_group_look(gab_reader_of_buffer(&group), &length), PERSIST_GROUP_WHOLE);
      assert_int_equal(length, group.size);
      gab_buffer_release(&group);
      assert_int_equal(gab_persist_msglog_complete(&msglog), GAB_OK);
    } else if (what < 15) {
      const uint64_t epoch = what == 13 ? msglog.epoch : msglog.floor;
      assert_int_equal(gab_persist_msglog_go_back(&msglog, epoch), GAB_OK);
      forget_behind(epoch);
    } else {
      forget_behind(msglog.epoch);
      copy_by_bytes(&msglog);
    }
    compare(&msglog, msglog.epoch);
    compare(&msglog, msglog.floor);
  }
  assert_int_equal(gab_persist_msglog_go_back(&msglog, msglog.epoch + 1), GAB_ERR_LOST);
  gab_persist_msglog_release(&msglog);
  assert_int_equal(gab_memory_now(GAB_MEMORY_MESSAGE), 0);
}

static void a_msglog_gives_back_what_was_stored(void **state)
{
  (void)state;
  const uint64_t depths[] = {1, 2, 5, UINT64_MAX};
  for (uint64_t seed = 0; seed < 40; seed++)
    for (size_t i = 0; i < 4; i++)
      for (int lags = 0; lags < 2; lags++) play(seed, depths[i], lags);
}

static void a_group_that_does_not_follow_is_refused(void **state)
{
  (void)state;
  persist_msglog a, b;
  gab_buffer group = {0};
  gab_persist_msglog_init(&a, 1, true);
  gab_persist_msglog_init(&b, 1, true);
  for (int i = 0; i < 3; i++) assert_int_equal(gab_persist_msglog_complete(&a), GAB_OK);
  assert_int_equal(gab_persist_msglog_close_epoch(&a, &group), GAB_OK); /* epoch 4 */
  gab_reader bytes = gab_reader_of_buffer(&group);
  assert_int_equal(gab_persist_msglog_take(&b, &bytes), GAB_ERR_CORRUPT);
  gab_persist_msglog_release(&a);
  gab_persist_msglog_release(&b);
  gab_buffer_release(&group);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_msglog_gives_back_what_was_stored),
      cmocka_unit_test(a_group_that_does_not_follow_is_refused),
  };
  return cmocka_run_group_tests_name("msglogs", tests, NULL, NULL);
}
