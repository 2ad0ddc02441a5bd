/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
/* The log of a sender: sequence numbers, intervals, ownership of memory, and when messages are freed. */
#include "core/messages/logged/msglog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

enum { COPY_BELOW = 64, LARGE = 4096 };

static const gab_msglog_label no_label = {0};

static gab_msglog *msglog;

static int make(void **state)
{
  (void)state;
  return gab_msglog_create(COPY_BELOW, &msglog) != GAB_OK;
}

static int end(void **state)
{
  (void)state;
  gab_msglog_destroy(&msglog);
  return 0;
}

static void fill(gab_buffer *buffer, size_t bytes, int value)
{
  void *place;
  gab_buffer_clear(buffer);
  assert_int_equal(gab_buffer_extend(buffer, bytes, &place), GAB_OK);
  memset(place, value, bytes);
}

static gab_msglog_entry *log_message(gab_rank target, uint32_t context, size_t bytes, int value)
{
  gab_buffer buffer;
  gab_msglog_entry *entry;
  gab_buffer_init(&buffer, GAB_MEMORY_MESSAGE);
  fill(&buffer, bytes, value);
  assert_int_equal(gab_msglog_append(msglog, target, context, &no_label, &buffer, &entry), GAB_OK);
  gab_buffer_release(&buffer);
  return entry;
}

static void each_channel_counts_for_itself(void **state)
{
  (void)state;
  assert_int_equal(gab_msglog_next(msglog, 7, 1), 0);
  for (int i = 0; i < 100; i++)
    for (gab_rank target = 9; target >= 0; target -= 3)
      for (uint32_t context = 0; context < 2; context++)
        assert_int_equal(log_message(target, context, 8, i + target + (int)context)->number, i);
  for (uint64_t i = 0; i < 100; i++) {
    const gab_msglog_entry *entry = gab_msglog_find(msglog, 6, 1, i);
    assert_non_null(entry);
    assert_int_equal(entry->number, i);
    assert_int_equal(entry->data[7], i + 7);
  }
  assert_null(gab_msglog_find(msglog, 6, 1, 100));
  assert_null(gab_msglog_find(msglog, 6, 2, 0));
  assert_null(gab_msglog_find(msglog, 5, 1, 0));
  assert_int_equal(gab_msglog_next(msglog, 6, 1), 100);
  assert_int_equal(gab_msglog_first(msglog, 6, 1), 0);
}

static void labels_are_kept(void **state)
{
  (void)state;
  gab_buffer buffer = {0};
  gab_msglog_entry *entry;
  const gab_msglog_label label = {.step = 42, .pattern = 3, .iteration = 1000000007};
  fill(&buffer, 10, 1);
  assert_int_equal(gab_msglog_begin_interval(msglog, 40), GAB_OK);
  assert_int_equal(gab_msglog_append(msglog, 1, 0, &label, &buffer, &entry), GAB_OK);
  assert_ptr_equal(entry, gab_msglog_find(msglog, 1, 0, 0));
  assert_int_equal(entry->label.step, 42);
  assert_int_equal(entry->label.pattern, 3);
  assert_int_equal(entry->label.iteration, 1000000007);
  assert_int_equal(entry->since, 40);
  assert_int_equal(gab_msglog_begin_interval(msglog, 39), GAB_ERR_ARGUMENT);
  gab_buffer_release(&buffer);
}

static void large_messages_change_hands_small_ones_are_copied(void **state)
{
  (void)state;
  gab_buffer buffer;
  gab_msglog_entry *entry;
  gab_buffer_init(&buffer, GAB_MEMORY_MESSAGE);
  fill(&buffer, LARGE, 5);
  const unsigned char *memory = buffer.data;
  assert_int_equal(gab_msglog_append(msglog, 1, 0, &no_label, &buffer, &entry), GAB_OK);
  assert_ptr_equal(entry->data, memory);
  assert_ptr_not_equal(buffer.data, memory);
  assert_int_equal(buffer.size, 0);
  assert_int_equal(entry->bytes, LARGE);
  fill(&buffer, COPY_BELOW - 1, 6);
  memory = buffer.data;
  assert_int_equal(gab_msglog_append(msglog, 1, 0, &no_label, &buffer, &entry), GAB_OK);
  assert_ptr_equal(buffer.data, memory);
  assert_int_equal(buffer.size, COPY_BELOW - 1);
  memset(buffer.data, 0, buffer.size);
  assert_int_equal(entry->data[COPY_BELOW - 2], 6);
  const gab_msglog_stats stats = gab_msglog_statistics(msglog);
  assert_int_equal(stats.handed_over, 1);
  assert_int_equal(stats.copied, 1);
  assert_int_equal(stats.copied_bytes, COPY_BELOW - 1);
  assert_int_equal(stats.largest_copied, COPY_BELOW - 1);
  assert_int_equal(stats.bytes, LARGE + COPY_BELOW - 1);
  gab_buffer_release(&buffer);
}

static void intervals_are_freed_from_the_oldest_on(void **state)
{
  (void)state;
  for (int interval = 0; interval < 5; interval++) {
    assert_int_equal(gab_msglog_begin_interval(msglog, 10 * interval), GAB_OK);
    for (int i = 0; i < 10; i++) log_message(1, 0, 100, interval), log_message(2, 0, 10, interval);
  }
  gab_msglog_free_before(msglog, 20);
  assert_int_equal(gab_msglog_first(msglog, 1, 0), 20);
  assert_null(gab_msglog_find(msglog, 1, 0, 19));
  assert_int_equal(gab_msglog_find(msglog, 1, 0, 20)->since, 20);
  assert_int_equal(gab_msglog_find(msglog, 2, 0, 49)->data[0], 4);
  gab_msglog_stats stats = gab_msglog_statistics(msglog);
  assert_int_equal(stats.messages, 60);
  assert_int_equal(stats.bytes, 30 * 110);
  assert_int_equal(stats.peak_bytes, 50 * 110);
  assert_true(gab_msglog_is_full(msglog, 30 * 110 - 1));
  assert_false(gab_msglog_is_full(msglog, 30 * 110));
  assert_false(gab_msglog_is_full(msglog, 0));
  gab_msglog_free_before(msglog, 1000);
  stats = gab_msglog_statistics(msglog);
  assert_int_equal(stats.messages + stats.bytes, 0);
  assert_int_equal(gab_msglog_first(msglog, 1, 0), 50);
  assert_int_equal(log_message(1, 0, 1, 1)->number, 50);
}

/* In the steady state no memory is allocated for large messages, and no unused memory is kept. */
static void freed_memory_serves_the_next_messages(void **state)
{
  (void)state;
  enum { INTERVALS = 20, MESSAGES = 8 };
  gab_buffer buffer;
  gab_buffer_init(&buffer, GAB_MEMORY_MESSAGE);
  size_t steady = 0;
  for (int interval = 0; interval < INTERVALS; interval++) {
    assert_int_equal(gab_msglog_begin_interval(msglog, interval), GAB_OK);
    for (int i = 0; i < MESSAGES; i++) {
      gab_msglog_entry *entry;
      fill(&buffer, LARGE, interval);
      assert_int_equal(gab_msglog_append(msglog, 1, 0, &no_label, &buffer, &entry), GAB_OK);
    }
    gab_msglog_free_before(msglog, interval - 1);
    if (interval == 4) steady = gab_memory_now(GAB_MEMORY_MESSAGE);
    if (interval > 4) assert_true(gab_memory_now(GAB_MEMORY_MESSAGE) <= steady);
  }
  gab_buffer_release(&buffer);
  gab_msglog_free_before(msglog, INTERVALS);
  gab_msglog_free_before(msglog, INTERVALS);
  gab_msglog_free_before(msglog, INTERVALS);
  assert_int_equal(gab_msglog_statistics(msglog).free_bytes, 0);
  assert_int_equal(gab_memory_now(GAB_MEMORY_MESSAGE), 0);
}

static void what_passes_through_is_freed_by_number(void **state)
{
  (void)state;
  for (int i = 0; i < 10; i++) log_message(1, 0, 20, i), log_message(1, 1, LARGE, i);
  gab_msglog_entry *held = gab_msglog_find(msglog, 1, 1, 3);
  gab_msglog_hold(msglog, held);
  gab_msglog_free_below(msglog, 1, 1, 4);
  gab_msglog_free_below(msglog, 1, 1, 2);
  gab_msglog_free_below(msglog, 2, 0, 7); /* never used */
  assert_int_equal(gab_msglog_first(msglog, 1, 1), 4);
  assert_int_equal(gab_msglog_next(msglog, 1, 1), 10);
  assert_null(gab_msglog_find(msglog, 1, 1, 3));
  assert_int_equal(held->data[0], 3);
  gab_msglog_let_go(msglog, held);
  assert_int_equal(gab_msglog_first(msglog, 1, 0), 0);
  assert_int_equal(gab_msglog_statistics(msglog).messages, 16);
  gab_msglog_free_below(msglog, 1, 1, 100);
  assert_int_equal(gab_msglog_first(msglog, 1, 1), 10);
  assert_int_equal(gab_msglog_statistics(msglog).bytes, 10 * 20);
  assert_int_equal(log_message(1, 1, 20, 0)->number, 10);
}

static void what_is_held_outlives_its_interval(void **state)
{
  (void)state;
  gab_msglog_entry *entry = log_message(1, 0, LARGE, 77);
  gab_msglog_hold(msglog, entry);
  gab_msglog_hold(msglog, entry);
  gab_msglog_free_before(msglog, 100);
  assert_null(gab_msglog_find(msglog, 1, 0, 0));
  assert_int_equal(gab_msglog_statistics(msglog).free_bytes, 0);
  assert_int_equal(entry->data[LARGE - 1], 77);
  gab_msglog_let_go(msglog, entry);
  assert_int_equal(entry->data[LARGE - 1], 77);
  gab_msglog_let_go(msglog, entry);
  assert_true(gab_msglog_statistics(msglog).free_bytes >= LARGE);
}

static void restarts_from_the_numbers_of_an_image(void **state)
{
  (void)state;
  gab_buffer image = {0};
  for (int i = 0; i < 7; i++) log_message(3, 1, 20, i);
  log_message(0, 0, 20, 0);
  assert_int_equal(gab_msglog_pack_numbers(msglog, &image), GAB_OK);
  for (int i = 0; i < 9; i++) log_message(3, 1, 20, i), log_message(5, 0, LARGE, i);
  gab_reader in = gab_reader_of_buffer(&image);
  assert_int_equal(gab_msglog_restart(msglog, 30, &in), GAB_OK);
  assert_int_equal(gab_reader_left(&in), 0);
  assert_int_equal(gab_msglog_statistics(msglog).messages, 0);
  assert_int_equal(gab_msglog_next(msglog, 3, 1), 7);
  assert_int_equal(gab_msglog_first(msglog, 3, 1), 7);
  assert_int_equal(gab_msglog_next(msglog, 0, 0), 1);
  assert_int_equal(gab_msglog_next(msglog, 5, 0), 0);
  assert_int_equal(log_message(3, 1, 20, 0)->since, 30);
  for (size_t cut = 0; cut < image.size; cut++) {
    in = gab_reader_of(image.data, cut);
    assert_int_equal(gab_msglog_restart(msglog, 30, &in), GAB_ERR_CORRUPT);
  }
  gab_buffer_release(&image);
}

static void a_channel_may_begin_at_any_number(void **state)
{
  (void)state;
  const uint64_t first = UINT64_C(3) << 32;
  gab_buffer image = {0};
  assert_int_equal(gab_msglog_begin_interval(msglog, 40), GAB_OK);
  log_message(1, 0, 20, 0);
  assert_int_equal(gab_msglog_begin_channel(msglog, 1, 1, first), GAB_OK);
  assert_int_equal(gab_msglog_begin_channel(msglog, 0, 0, 5), GAB_OK);
  assert_int_equal(gab_msglog_next(msglog, 1, 1), first);
  assert_int_equal(gab_msglog_first(msglog, 1, 1), first);
  assert_null(gab_msglog_find(msglog, 1, 1, first - 1));
  assert_null(gab_msglog_find(msglog, 1, 1, 0));
  assert_int_equal(gab_msglog_next(msglog, 1, 0), 1);
  for (uint64_t i = 0; i < 3; i++) assert_int_equal(log_message(1, 1, 20, (int)i)->number, first + i);
  assert_int_equal(gab_msglog_find(msglog, 1, 1, first + 2)->data[0], 2);
  assert_null(gab_msglog_find(msglog, 1, 1, 2));
  assert_int_equal(log_message(0, 0, 20, 0)->number, 5);
  assert_int_equal(gab_msglog_begin_channel(msglog, 1, 1, 2 * first), GAB_ERR_STATE);
  assert_int_equal(gab_msglog_begin_channel(msglog, 1, 0, first), GAB_ERR_STATE);
  assert_int_equal(gab_msglog_next(msglog, 1, 1), first + 3);
  assert_int_equal(gab_msglog_next(msglog, 1, 0), 1);
  assert_int_equal(gab_msglog_pack_numbers(msglog, &image), GAB_OK);
  gab_reader in = gab_reader_of_buffer(&image);
  assert_int_equal(gab_msglog_restart(msglog, 40, &in), GAB_OK);
  assert_int_equal(gab_msglog_next(msglog, 1, 1), first + 3);
  gab_buffer_release(&image);
}

/* Restores the kept messages of one target, with their numbers and labels; not those of other targets or freed ones. */
static void messages_come_back_with_an_image(void **state)
{
  (void)state;
  gab_buffer numbers, messages, buffer = {0};
  gab_msglog_entry *entry;
  gab_buffer_init(&numbers, GAB_MEMORY_OTHER);
  gab_buffer_init(&messages, GAB_MEMORY_OTHER);
  for (int i = 0; i < 6; i++) {
    const gab_msglog_label label = {.step = 10 + i, .pattern = 3, .iteration = (uint64_t)(1000 + i)};
    assert_int_equal(gab_msglog_begin_interval(msglog, i / 2), GAB_OK);
    for (uint32_t context = 0; context < 2; context++) {
      fill(&buffer, context ? 8 : LARGE, i);
      assert_int_equal(gab_msglog_append(msglog, 4, context, &label, &buffer, &entry), GAB_OK);
    }
    log_message(5, 0, LARGE, 77);
  }
  gab_msglog_free_below(msglog, 4, 0, 2);
  gab_msglog_free_below(msglog, 4, 1, 6); /* all of them */
  assert_int_equal(gab_msglog_pack_numbers(msglog, &numbers), GAB_OK);
  assert_int_equal(gab_msglog_pack_messages(msglog, 4, &messages), GAB_OK);
  for (int i = 0; i < 5; i++) log_message(4, 0, 8, 99); /* after the image */
  gab_reader in = gab_reader_of_buffer(&numbers);
  assert_int_equal(gab_msglog_restart(msglog, 3, &in), GAB_OK);
  in = gab_reader_of_buffer(&messages);
  assert_int_equal(gab_msglog_unpack_messages(msglog, 4, &in), GAB_OK);
  assert_int_equal(gab_reader_left(&in), 0);
  assert_int_equal(gab_msglog_statistics(msglog).messages, 4);
  assert_int_equal(gab_msglog_statistics(msglog).bytes, 4 * LARGE);
  assert_int_equal(gab_msglog_first(msglog, 4, 0), 2);
  assert_int_equal(gab_msglog_first(msglog, 4, 1), 6);
  for (uint64_t i = 2; i < 6; i++) {
    const gab_msglog_entry *found = gab_msglog_find(msglog, 4, 0, i);
    assert_non_null(found);
    assert_int_equal(found->number, i);
    assert_int_equal(found->since, i / 2);
    assert_int_equal(found->label.step, 10 + i);
    assert_int_equal(found->label.pattern, 3);
    assert_int_equal(found->label.iteration, 1000 + i);
    assert_int_equal(found->bytes, LARGE);
    assert_int_equal(found->data[LARGE - 1], i);
  }
  assert_int_equal(log_message(4, 0, 8, 6)->number, 6);
  gab_msglog_free_before(msglog, 2);
  assert_int_equal(gab_msglog_first(msglog, 4, 0), 4);
  /* numbers that do not match */
  in = gab_reader_of_buffer(&messages);
  assert_int_equal(gab_msglog_unpack_messages(msglog, 4, &in), GAB_ERR_CORRUPT);
  in = gab_reader_of_buffer(&messages);
  assert_int_equal(gab_msglog_unpack_messages(msglog, 9, &in), GAB_ERR_CORRUPT);
  gab_buffer_release(&buffer);
  gab_buffer_release(&messages);
  gab_buffer_release(&numbers);
}

static void what_went_to_a_target_is_forgotten(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++)
    for (gab_rank target = 1; target <= 3; target++)
      for (uint32_t context = 0; context < 2; context++) log_message(target, context, LARGE, 10 * target + i);
  gab_msglog_entry *held = gab_msglog_find(msglog, 2, 1, 3);
  const unsigned char *bytes = held->data;
  gab_msglog_hold(msglog, held);
  gab_msglog_forget_target(msglog, 7); /* never used */
  assert_int_equal(gab_msglog_statistics(msglog).messages, 24);
  gab_msglog_forget_target(msglog, 2);
  for (uint32_t context = 0; context < 2; context++) {
    assert_null(gab_msglog_find(msglog, 2, context, 3));
    assert_int_equal(gab_msglog_next(msglog, 2, context), 0);
    assert_int_equal(gab_msglog_first(msglog, 2, context), 0);
    for (gab_rank target = 1; target <= 3; target += 2)
      for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(gab_msglog_find(msglog, target, context, i)->data[LARGE - 1], 10 * target + (int)i);
  }
  assert_int_equal(gab_msglog_statistics(msglog).messages, 16);
  assert_int_equal(gab_msglog_statistics(msglog).bytes, 16 * LARGE);
  assert_int_equal(gab_msglog_begin_channel(msglog, 2, 1, 100), GAB_OK);
  assert_int_equal(log_message(2, 1, LARGE, 99)->number, 100);
  gab_buffer buffer;
  gab_buffer_init(&buffer, GAB_MEMORY_MESSAGE);
  for (int i = 0; i < 12; i++) { /* more than were freed */
    gab_msglog_entry *entry;
    fill(&buffer, LARGE, 99);
    assert_int_equal(gab_msglog_append(msglog, 1, 0, &no_label, &buffer, &entry), GAB_OK);
  }
  gab_buffer_release(&buffer);
  for (size_t i = 0; i < LARGE; i++) assert_int_equal(bytes[i], 23);
  const size_t before = gab_msglog_statistics(msglog).free_bytes;
  gab_msglog_let_go(msglog, held);
  assert_true(gab_msglog_statistics(msglog).free_bytes >= before + LARGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_channel_counts_for_itself, make, end),
      cmocka_unit_test_setup_teardown(labels_are_kept, make, end),
      cmocka_unit_test_setup_teardown(large_messages_change_hands_small_ones_are_copied, make, end),
      cmocka_unit_test_setup_teardown(intervals_are_freed_from_the_oldest_on, make, end),
      cmocka_unit_test_setup_teardown(freed_memory_serves_the_next_messages, make, end),
      cmocka_unit_test_setup_teardown(what_passes_through_is_freed_by_number, make, end),
      cmocka_unit_test_setup_teardown(what_is_held_outlives_its_interval, make, end),
      cmocka_unit_test_setup_teardown(restarts_from_the_numbers_of_an_image, make, end),
      cmocka_unit_test_setup_teardown(a_channel_may_begin_at_any_number, make, end),
      cmocka_unit_test_setup_teardown(messages_come_back_with_an_image, make, end),
      cmocka_unit_test_setup_teardown(what_went_to_a_target_is_forgotten, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
