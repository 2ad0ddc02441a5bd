/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/base/buffer.h"

static gab_buffer sample(void)
{
  gab_buffer buffer = {0};
  const double values[3] = {1.5, -0.0, INFINITY};
  assert_int_equal(gab_put_u8(&buffer, 200), GAB_OK);
  assert_int_equal(gab_put_u32(&buffer, 0x01020304), GAB_OK);
  assert_int_equal(gab_put_i32(&buffer, INT32_MIN), GAB_OK);
  assert_int_equal(gab_put_u64(&buffer, UINT64_MAX - 1), GAB_OK);
  assert_int_equal(gab_put_i64(&buffer, INT64_MIN), GAB_OK);
  assert_int_equal(gab_put_f64(&buffer, 0x1.123456789abcdp-1000), GAB_OK);
  assert_int_equal(gab_put_f64s(&buffer, values, 3), GAB_OK);
  assert_int_equal(gab_put_string(&buffer, "slab"), GAB_OK);
  assert_int_equal(gab_put_bytes(&buffer, "xyz", 3), GAB_OK);
  return buffer;
}

/* Reads a complete sample, also a truncated one. */
static gab_status read_sample(gab_reader *reader)
{
  uint8_t u8 = 0;
  uint32_t u32 = 0;
  int32_t i32 = 0;
  uint64_t u64 = 0;
  int64_t i64 = 0;
  double f64 = 0, values[3] = {0};
  char text[5], bytes[3];
  GAB_TRY(gab_get_u8(reader, &u8));
  assert_int_equal(u8, 200);
  GAB_TRY(gab_get_u32(reader, &u32));
  assert_int_equal(u32, 0x01020304);
  GAB_TRY(gab_get_i32(reader, &i32));
  assert_true(i32 == INT32_MIN);
  GAB_TRY(gab_get_u64(reader, &u64));
  assert_true(u64 == UINT64_MAX - 1);
  GAB_TRY(gab_get_i64(reader, &i64));
  assert_true(i64 == INT64_MIN);
  GAB_TRY(gab_get_f64(reader, &f64));
  assert_true(f64 == 0x1.123456789abcdp-1000);
  GAB_TRY(gab_get_f64s(reader, values, 3));
  assert_true(values[0] == 1.5 && values[1] == 0 && signbit(values[1]) && isinf(values[2]));
  GAB_TRY(gab_get_string(reader, text, sizeof text));
  assert_string_equal(text, "slab");
  GAB_TRY(gab_get_bytes(reader, bytes, 3));
  assert_memory_equal(bytes, "xyz", 3);
  return gab_reader_expect_end(reader);
}

static void what_was_packed_is_unpacked(void **state)
{
  (void)state;
  gab_buffer buffer = sample();
  gab_reader reader = gab_reader_of_buffer(&buffer);
  assert_int_equal(read_sample(&reader), GAB_OK);
  assert_int_equal(gab_reader_left(&reader), 0);
  gab_buffer_release(&buffer);
}

static void packed_numbers_are_little_endian(void **state)
{
  (void)state;
  gab_buffer buffer = {0};
  assert_int_equal(gab_put_u32(&buffer, 0x01020304), GAB_OK);
  assert_int_equal(gab_put_f64(&buffer, 1.0), GAB_OK);
  assert_memory_equal(buffer.data, "\x04\x03\x02\x01\0\0\0\0\0\0\xf0\x3f", 12);
  gab_buffer_release(&buffer);
}

static void data_cut_off_anywhere_is_corrupt(void **state)
{
  (void)state;
  gab_buffer buffer = sample();
  for (size_t cut = 0; cut < buffer.size; cut++) {
    gab_reader reader = gab_reader_of(buffer.data, cut);
    assert_int_equal(read_sample(&reader), GAB_ERR_CORRUPT);
  }
  gab_buffer_release(&buffer);
}

static void a_failed_read_leaves_target_and_reader_untouched(void **state)
{
  (void)state;
  const unsigned char bytes[] = {3, 0, 0, 0, 'a', 0, 'b'};
  gab_reader reader = gab_reader_of(bytes, 3), before = reader;
  uint32_t number = 77;
  uint64_t wide = 78;
  double real = 0.5, reals[1] = {0.25};
  char text[8] = "old";
  assert_int_equal(gab_get_u32(&reader, &number), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_u64(&reader, &wide), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_f64(&reader, &real), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_f64s(&reader, reals, 1), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_f64s(&reader, reals, SIZE_MAX / 4), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_string(&reader, text, sizeof text), GAB_ERR_CORRUPT);
  assert_true(number == 77 && wide == 78 && real == 0.5 && reals[0] == 0.25);
  assert_ptr_equal(reader.at, before.at);
  reader = gab_reader_of(bytes, sizeof bytes);
  assert_int_equal(gab_get_string(&reader, text, sizeof text), GAB_ERR_CORRUPT); /* zero byte inside */
  assert_int_equal(gab_get_string(&reader, text, 3), GAB_ERR_CORRUPT);           /* does not fit */
  assert_string_equal(text, "old");
  assert_int_equal(gab_reader_left(&reader), sizeof bytes);
}

static void counts_that_cannot_be_are_corrupt(void **state)
{
  (void)state;
  const uint64_t counts[] = {3, UINT64_MAX, UINT64_MAX / 8 + 1, UINT64_C(1) << 61};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    gab_buffer buffer = {0};
    const double two[2] = {1, 2};
    size_t count = 99;
    assert_int_equal(gab_put_u64(&buffer, counts[i]), GAB_OK);
    assert_int_equal(gab_put_f64s(&buffer, two, 2), GAB_OK);
    gab_reader reader = gab_reader_of_buffer(&buffer);
    assert_int_equal(gab_get_count(&reader, 8, &count), GAB_ERR_CORRUPT);
    assert_int_equal(count, 99);
    assert_int_equal(gab_reader_left(&reader), 24);
    gab_buffer_release(&buffer);
  }
  const unsigned char good[] = {2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'};
  gab_reader reader = gab_reader_of(good, sizeof good);
  size_t count;
  assert_int_equal(gab_get_count(&reader, 0, &count), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_get_count(&reader, 1, &count), GAB_OK);
  assert_int_equal(count, 2);
}

static void a_view_is_bounded_by_its_own_end(void **state)
{
  (void)state;
  gab_reader reader = gab_reader_of("abcdef", 6), view;
  char byte[4];
  assert_int_equal(gab_get_view(&reader, 7, &view), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_view(&reader, 2, &view), GAB_OK);
  assert_int_equal(gab_get_bytes(&view, byte, 3), GAB_ERR_CORRUPT);
  assert_int_equal(gab_get_bytes(&view, byte, 2), GAB_OK);
  assert_memory_equal(byte, "ab", 2);
  assert_int_equal(gab_reader_left(&reader), 4);
  assert_int_equal(gab_reader_expect_end(&view), GAB_OK);
  assert_int_equal(gab_reader_expect_end(&reader), GAB_ERR_CORRUPT);
}

static void buffers_grow_count_their_memory_and_can_be_swapped(void **state)
{
  (void)state;
  gab_buffer a, b = {0};
  gab_buffer_init(&a, GAB_MEMORY_SNAPSHOT);
  for (uint32_t i = 0; i < 10000; i++) assert_int_equal(gab_put_u32(&a, i), GAB_OK);
  assert_int_equal(a.size, 40000);
  assert_int_equal((uintptr_t)a.data % GAB_ALIGNMENT, 0);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), a.capacity);
  assert_int_equal(gab_buffer_reserve(&a, SIZE_MAX), GAB_ERR_MEMORY);
  assert_int_equal(gab_buffer_reserve(&a, SIZE_MAX / 2), GAB_ERR_MEMORY);
  gab_buffer_swap(&a, &b);
  gab_reader reader = gab_reader_of_buffer(&b);
  for (uint32_t i = 0, value; i < 10000; i++) {
    assert_int_equal(gab_get_u32(&reader, &value), GAB_OK);
    assert_int_equal(value, i);
  }
  size_t capacity = b.capacity;
  gab_buffer_clear(&b);
  assert_int_equal(b.size, 0);
  assert_int_equal(b.capacity, capacity);
  gab_buffer_release(&b);
  gab_buffer_release(&a);
  assert_int_equal(gab_memory_now(GAB_MEMORY_SNAPSHOT), 0);
}

static void an_empty_buffer_is_an_empty_reader(void **state)
{
  (void)state;
  gab_buffer buffer = {0};
  assert_int_equal(gab_put_bytes(&buffer, NULL, 0), GAB_OK);
  gab_reader reader = gab_reader_of_buffer(&buffer);
  uint8_t byte;
  assert_int_equal(gab_reader_left(&reader), 0);
  assert_int_equal(gab_get_bytes(&reader, NULL, 0), GAB_OK);
  assert_int_equal(gab_get_u8(&reader, &byte), GAB_ERR_CORRUPT);
  assert_int_equal(gab_reader_expect_end(&reader), GAB_OK);
  gab_buffer_release(&buffer);
}

/* Takes bytes in pieces of three, so that one or two remain for the next call. */
typedef struct listener {
  unsigned char heard[64];
  size_t count;
} listener;

static const unsigned char *listen(void *user, const unsigned char *from, const unsigned char *to)
{
  listener *it = user;
  for (; to - from >= 3; from += 3, it->count += 3) memcpy(it->heard + it->count, from, 3);
  return from;
}

static void a_follower_is_shown_everything_once_before_more_is_appended(void **state)
{
  (void)state;
  unsigned char memory[64];
  listener it = {.count = 0};
  const gab_buffer_follower follower = {.follow = listen, .user = &it};
  gab_buffer buffer = gab_buffer_over(memory, sizeof memory);
  buffer.follower = &follower;
  assert_int_equal(gab_put_bytes(&buffer, "abcd", 4), GAB_OK);
  assert_int_equal(it.count, 0);
  assert_int_equal(gab_put_bytes(&buffer, "e", 1), GAB_OK);
  assert_int_equal(it.count, 3);
  assert_int_equal(gab_put_bytes(&buffer, "fghijkl", 7), GAB_OK);
  assert_int_equal(it.count, 3);
  gab_buffer_follow(&buffer);
  gab_buffer_follow(&buffer);
  assert_int_equal(it.count, 12);
  assert_memory_equal(it.heard, "abcdefghijkl", 12);
  gab_buffer_clear(&buffer);
  assert_int_equal(gab_put_bytes(&buffer, "xyz", 3), GAB_OK);
  gab_buffer_follow(&buffer);
  assert_memory_equal(it.heard + 12, "xyz", 3);
}

static void what_was_followed_reserves_capacity_for_what_comes(void **state)
{
  (void)state;
  static const char text[] = "abcdefghijklmnopqrstuvwxyz";
  listener it = {.count = 0};
  const gab_buffer_follower follower = {.follow = listen, .user = &it};
  gab_buffer buffer;
  gab_buffer_init(&buffer, GAB_MEMORY_OTHER);
  buffer.follower = &follower;
  buffer.drains = true;
  for (size_t at = 0, piece = 1; at < sizeof text - 1; at += piece, piece = 1 + (piece + 1) % 4) {
    if (piece > sizeof text - 1 - at) piece = sizeof text - 1 - at;
    assert_int_equal(gab_put_bytes(&buffer, text + at, piece), GAB_OK);
    assert_in_range(buffer.size, piece, piece + 2); /* including earlier bytes not taken yet */
  }
  gab_buffer_follow(&buffer);
  assert_int_equal(it.count, 24); /* in pieces of three */
  assert_memory_equal(it.heard, text, 24);
  assert_int_equal(buffer.size - buffer.followed, 2);
  gab_buffer_release(&buffer);
}

static void an_append_that_doubles_what_there_is_takes_no_more_capacity_than_it_needs(void **state)
{
  (void)state;
  gab_buffer buffer;
  void *place;
  gab_buffer_init(&buffer, GAB_MEMORY_OTHER);
  assert_int_equal(gab_buffer_extend(&buffer, 1000, &place), GAB_OK);
  assert_int_equal(gab_buffer_extend(&buffer, 1100, &place), GAB_OK);
  assert_int_equal(buffer.capacity, 2100);
  assert_int_equal(gab_buffer_extend(&buffer, 10, &place), GAB_OK);
  assert_int_equal(buffer.capacity, 3150); /* small capacities grow by half */
  buffer.size = 100;
  assert_int_equal(gab_buffer_extend(&buffer, 3100, &place), GAB_OK);
  assert_int_equal(buffer.capacity, 3200);
  gab_buffer_release(&buffer);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_packed_is_unpacked),
      cmocka_unit_test(packed_numbers_are_little_endian),
      cmocka_unit_test(data_cut_off_anywhere_is_corrupt),
      cmocka_unit_test(a_failed_read_leaves_target_and_reader_untouched),
      cmocka_unit_test(counts_that_cannot_be_are_corrupt),
      cmocka_unit_test(a_view_is_bounded_by_its_own_end),
      cmocka_unit_test(buffers_grow_count_their_memory_and_can_be_swapped),
      cmocka_unit_test(an_empty_buffer_is_an_empty_reader),
      cmocka_unit_test(a_follower_is_shown_everything_once_before_more_is_appended),
      cmocka_unit_test(what_was_followed_reserves_capacity_for_what_comes),
      cmocka_unit_test(an_append_that_doubles_what_there_is_takes_no_more_capacity_than_it_needs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
