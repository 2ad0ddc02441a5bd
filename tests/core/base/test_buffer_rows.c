/* SPDX-License-Identifier: Apache-2.0 */
/* Rows appended to a buffer by non-temporal or normal stores: the same bytes, and the follower gets all of them. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/base/buffer_rows.h"
#include "core/base/hash.h"
#include "core/memory/nontemporal_impl.h"

enum { CAPACITY = 40000, BEFORE = 100, UNTOUCHED = 0xab };

static uint64_t draw(uint64_t seed, uint64_t what, uint64_t i) { return gab_hash_counter(seed, what, i); }

static void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
  for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)draw(seed, 1, i);
}

/* Follower of every byte at its final place, by either call. */
typedef struct listener {
  const unsigned char *start;
  unsigned char heard[CAPACITY];
  size_t count, looks;
  int wrong; /* places that do not continue the one before */
} listener;

static void hear(listener *it, const unsigned char *place, const unsigned char *bytes, size_t count)
{
  if (place != it->start + it->count || it->count + count > CAPACITY) it->wrong++;
  else memcpy(it->heard + it->count, bytes, count);
  it->count += count;
}

static const unsigned char *follow(void *user, const unsigned char *from, const unsigned char *to)
{
  hear(user, from, from, (size_t)(to - from));
  return to;
}

static void look(void *user, gab_follower_note *note, const unsigned char *place, const unsigned char *bytes,
                 size_t count)
{
  listener *it = user;
  if (note->hashing != (it->looks > 0)) it->wrong++; /* initially false, then as the follower left it */
  note->hashing = true;
  it->looks++;
  hear(it, place, bytes, count);
}

/* Other bytes, then rows of any length, then other bytes again. @return bytes in the buffer */
static size_t append(gab_buffer *buffer, gab_rows_lie lie, uint64_t seed, const unsigned char *bytes)
{
  const size_t head = (size_t)(draw(seed, 2, 0) % 90), all = (size_t)(draw(seed, 2, 1) % 20000), tail = 7;
  gab_buffer_rows rows;
  assert_int_equal(gab_put_bytes(buffer, bytes, head), GAB_OK);
  assert_int_equal(gab_buffer_rows_begin(&rows, buffer, all, lie), GAB_OK);
  for (size_t at = 0, i = 0; at < all; i++) {
    const size_t wanted = (size_t)(draw(seed, 3, i) % (i % 5 == 0 ? 6000 : 300)), left = all - at,
                 count = wanted < left ? wanted : left;
    if (i % 3 == 0) assert_int_equal(gab_buffer_rows_add(&rows, bytes + head + at, count), GAB_OK);
    else assert_int_equal(gab_buffer_rows_put(&rows, bytes + head + at, count), GAB_OK);
    at += count;
  }
  assert_int_equal(gab_buffer_rows_end(&rows), GAB_OK);
  assert_int_equal(gab_put_bytes(buffer, bytes + head + all, tail), GAB_OK);
  gab_buffer_follow(buffer);
  return head + all + tail;
}

static void check_rows(gab_rows_lie lie, uint64_t seed, bool looks)
{
  static unsigned char bytes[CAPACITY], memory[CAPACITY];
  static listener it;
  const size_t first = BEFORE + (size_t)(seed % 64);
  memset(memory, UNTOUCHED, sizeof memory);
  memset(&it, 0, sizeof it);
  fill(bytes, sizeof bytes, seed);
  gab_buffer buffer = gab_buffer_over(memory + first, CAPACITY - 2 * BEFORE - first);
  const gab_buffer_follower follower = {.follow = follow, .look = looks ? look : NULL, .user = &it};
  it.start = buffer.data;
  buffer.follower = &follower;
  const size_t size = append(&buffer, lie, seed, bytes);
  assert_int_equal(buffer.size, size);
  assert_memory_equal(buffer.data, bytes, size);
  for (size_t i = 0; i < first; i++) assert_int_equal(memory[i], UNTOUCHED);
  for (size_t i = first + size; i < CAPACITY; i++) assert_int_equal(memory[i], UNTOUCHED);
  assert_int_equal(it.wrong, 0);
  assert_int_equal(it.count, size);
  assert_memory_equal(it.heard, bytes, size);
  const size_t all = size - (size_t)(draw(seed, 2, 0) % 90) - 7;
  assert_int_equal(it.looks > 0, looks && lie != GAB_ROWS_APART && all > 0);
}

static void rows_lie_as_they_came_and_are_shown_once(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    check_rows(GAB_ROWS_TOGETHER, seed, true);
    check_rows(GAB_ROWS_TOGETHER, seed, false);
    check_rows(GAB_ROWS_APART, seed, true);
    check_rows(GAB_ROWS_IN_TURN, seed, true);
    check_rows(GAB_ROWS_IN_TURN, seed, false);
  }
}

/* Each buffer has rows of different lengths. */
static void rows_of_several_buffers_in_turn_go_to_their_own(void **state)
{
  (void)state;
  enum { MOST = 5 };
  static unsigned char bytes[MOST][CAPACITY], memory[MOST][CAPACITY];
  static listener it[MOST];
  for (uint64_t seed = 0; seed < 40; seed++) {
    gab_buffer_rows rows[MOST];
    gab_buffer buffer[MOST];
    gab_buffer_follower follower[MOST];
    const size_t count = 2 + (size_t)(seed % (MOST - 1));
    size_t at[MOST] = {0}, all[MOST], left = count;
    memset(it, 0, sizeof it);
    for (size_t b = 0; b < count; b++) {
      fill(bytes[b], CAPACITY, seed * MOST + b);
      all[b] = 1 + (size_t)(draw(seed, 4, b) % 20000);
      follower[b] = (gab_buffer_follower){.follow = follow, .look = look, .user = &it[b]};
      buffer[b] = gab_buffer_over(memory[b] + draw(seed, 5, b) % 64, CAPACITY - 64);
      it[b].start = buffer[b].data;
      buffer[b].follower = &follower[b];
      assert_int_equal(gab_buffer_rows_begin(&rows[b], &buffer[b], all[b], GAB_ROWS_IN_TURN), GAB_OK);
    }
    for (uint64_t i = 0; left > 0; i++) {
      const size_t b = (size_t)(i % count), wanted = 1 + (size_t)(draw(seed, 6, i) % 600);
      const size_t some = wanted < all[b] - at[b] ? wanted : all[b] - at[b];
      if (some == 0) continue;
      assert_int_equal(gab_buffer_rows_put(&rows[b], bytes[b] + at[b], some), GAB_OK);
      at[b] += some;
      left -= at[b] == all[b];
    }
    for (size_t b = 0; b < count; b++) {
      assert_int_equal(gab_buffer_rows_end(&rows[b]), GAB_OK);
      assert_memory_equal(buffer[b].data, bytes[b], all[b]);
      assert_int_equal(it[b].wrong, 0);
      assert_int_equal(it[b].count, all[b]);
      assert_memory_equal(it[b].heard, bytes[b], all[b]);
    }
  }
}

static void a_buffer_that_grows_or_drains_takes_rows_piece_by_piece(void **state)
{
  (void)state;
  static unsigned char bytes[CAPACITY];
  static listener it;
  gab_buffer grows;
  fill(bytes, sizeof bytes, 5);
  gab_buffer_init(&grows, GAB_MEMORY_OTHER);
  const size_t size = append(&grows, GAB_ROWS_TOGETHER, 5, bytes);
  assert_int_equal(grows.size, size);
  assert_memory_equal(grows.data, bytes, size);
  gab_buffer_release(&grows);

  const size_t all = 1000000;
  gab_buffer drains;
  gab_buffer_rows rows;
  gab_buffer_init(&drains, GAB_MEMORY_OTHER);
  memset(&it, 0, sizeof it);
  const gab_buffer_follower follower = {.follow = follow, .look = look, .user = &it};
  it.start = bytes;
  drains.follower = &follower;
  drains.drains = true;
  assert_int_equal(gab_buffer_rows_begin(&rows, &drains, all, GAB_ROWS_TOGETHER), GAB_OK);
  for (size_t at = 0; at < all; at += 1000) assert_int_equal(gab_buffer_rows_add(&rows, bytes, 1000), GAB_OK);
  assert_int_equal(gab_buffer_rows_end(&rows), GAB_OK);
  gab_buffer_follow(&drains);
  assert_int_equal(it.count, all);
  assert_int_equal(it.looks, 0);
  assert_in_range(drains.capacity, 1, 200000); /* partial */
  gab_buffer_release(&drains);
}

static void more_or_less_than_was_announced_is_refused(void **state)
{
  (void)state;
  static unsigned char bytes[CAPACITY], memory[CAPACITY];
  static listener it;
  for (int way = 0; way < 4; way++) {
    const bool looks = way % 2;
    const gab_rows_lie lie = way < 2 ? GAB_ROWS_TOGETHER : GAB_ROWS_IN_TURN;
    gab_buffer buffer = gab_buffer_over(memory, CAPACITY);
    const gab_buffer_follower follower = {.follow = follow, .look = looks ? look : NULL, .user = &it};
    memset(&it, 0, sizeof it);
    it.start = buffer.data;
    buffer.follower = &follower;
    gab_buffer_rows rows;
    assert_int_equal(gab_buffer_rows_begin(&rows, &buffer, 1000, lie), GAB_OK);
    assert_int_equal(gab_buffer_rows_add(&rows, bytes, 999), GAB_OK);
    assert_int_equal(gab_buffer_rows_end(&rows), GAB_ERR_ARGUMENT);
    assert_int_equal(gab_buffer_rows_add(&rows, bytes, 2), GAB_ERR_ARGUMENT);
    assert_int_equal(gab_buffer_rows_put(&rows, bytes, 2), GAB_ERR_ARGUMENT);
    assert_int_equal(gab_buffer_rows_add(&rows, bytes, 1), GAB_OK);
    assert_int_equal(gab_buffer_rows_end(&rows), GAB_OK);
    assert_int_equal(gab_buffer_rows_begin(&rows, &buffer, 0, lie), GAB_OK);
    assert_int_equal(gab_buffer_rows_add(&rows, bytes, 1), GAB_ERR_ARGUMENT);
    assert_int_equal(gab_buffer_rows_end(&rows), GAB_OK);
    assert_int_equal(buffer.size, 1000);
    gab_error_clear();
  }
}

static void a_copy_past_the_cache_touches_nothing_around_it(void **state)
{
  (void)state;
  unsigned char from[400], to[500];
  fill(from, sizeof from, 7);
  for (size_t first = 64; first < 128; first++)
    for (size_t count = 0; count < 260; count += count < 140 ? 1 : 17) {
      memset(to, UNTOUCHED, sizeof to);
      gab_nontemporal_copy(to + first, from + first % 13, count);
      gab_nontemporal_fence();
      assert_memory_equal(to + first, from + first % 13, count);
      for (size_t i = 0; i < first; i++) assert_int_equal(to[i], UNTOUCHED);
      for (size_t i = first + count; i < sizeof to; i++) assert_int_equal(to[i], UNTOUCHED);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_lie_as_they_came_and_are_shown_once),
      cmocka_unit_test(rows_of_several_buffers_in_turn_go_to_their_own),
      cmocka_unit_test(a_buffer_that_grows_or_drains_takes_rows_piece_by_piece),
      cmocka_unit_test(more_or_less_than_was_announced_is_refused),
      cmocka_unit_test(a_copy_past_the_cache_touches_nothing_around_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
