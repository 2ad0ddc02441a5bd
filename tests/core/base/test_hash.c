/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

/* The test data of the xxHash sources: bytes made by a multiplicative generator. */
static void fill(unsigned char *bytes, size_t count)
{
  uint64_t generator = UINT64_C(2654435761);
  for (size_t i = 0; i < count; i++) {
    bytes[i] = (unsigned char)(generator >> 56);
    generator *= UINT64_C(11400714785074694797);
  }
}

static void hashes_equal_the_published_values(void **state)
{
  (void)state;
  static const struct {
    size_t count;
    uint64_t seed, hash;
  } known[] = {
      {0, 0, 0xEF46DB3751D8E999},
      {0, 2654435761, 0xAC75FDA2929B17EF},
      {1, 0, 0xE934A84ADB052768},
      {1, 2654435761, 0x5014607643A9B4C3},
      {4, 0, 0x9136A0DCA57457EE},
      {14, 0, 0x8282DCC4994E35C8},
      {14, 2654435761, 0xC3BD6BF63DEB6DF0},
      {222, 0, 0xB641AE8CB691C174},
      {222, 2654435761, 0x20CB8AB7AE10C14A},
  };
  unsigned char bytes[256];
  fill(bytes, sizeof bytes);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(gab_hash64(bytes, known[i].count, known[i].seed) == known[i].hash);
  assert_true(gab_hash64("a", 1, 0) == UINT64_C(0xD24EC4F1A98C6E5B));
  assert_true(gab_hash64("abc", 3, 0) == UINT64_C(0x44BC2CF5AD770999));
  assert_true(gab_hash64(NULL, 0, 0) == UINT64_C(0xEF46DB3751D8E999));
}

static void a_hash_does_not_depend_on_alignment(void **state)
{
  (void)state;
  unsigned char bytes[200], moved[216];
  fill(bytes, sizeof bytes);
  for (size_t shift = 0; shift < 16; shift++) {
    memcpy(moved + shift, bytes, sizeof bytes);
    for (size_t count = 0; count <= sizeof bytes; count += 7)
      assert_true(gab_hash64(moved + shift, count, 5) == gab_hash64(bytes, count, 5));
  }
}

static void the_fast_hash_of_pieces_is_that_of_the_whole(void **state)
{
  (void)state;
  static unsigned char bytes[20000];
  fill(bytes, sizeof bytes);
  for (uint64_t seed = 0; seed < 100; seed++) {
    const size_t all = (size_t)(gab_hash_counter(seed, 1, 0) % (seed % 2 ? sizeof bytes : 300));
    gab_hash64_fast_stream stream;
    gab_hash64_fast_begin(&stream, seed);
    for (size_t at = 0, i = 0; at < all; i++) {
      const size_t wanted = (size_t)(gab_hash_counter(seed, 2, i) % (i % 3 ? 300 : 5000)),
                   count = wanted < all - at ? wanted : all - at;
      gab_hash64_fast_add(&stream, bytes + at, count);
      at += count;
      assert_true(gab_hash64_fast_of(&stream) == gab_hash64_fast(bytes, at, seed));
    }
    assert_true(gab_hash64_fast_of(&stream) == gab_hash64_fast(bytes, all, seed));
  }
}

static void uniform_numbers_fill_the_unit_interval(void **state)
{
  enum { COUNT = 4096, PARTS = 16 };
  int count[PARTS] = {0};
  (void)state;
  for (uint64_t i = 0; i < COUNT; i++) {
    const double share = gab_hash_uniform(3, 4, i);
    assert_true(share >= 0 && share < 1 && share * 0x1p53 == floor(share * 0x1p53));
    assert_true(share == gab_hash_uniform(3, 4, i) && share != gab_hash_uniform(3, 5, i));
    count[(int)(share * PARTS)]++;
  }
  for (int i = 0; i < PARTS; i++) assert_true(abs(count[i] - COUNT / PARTS) < 80); /* 5 standard deviations */
}

static void every_byte_changes_the_hash(void **state)
{
  (void)state;
  unsigned char bytes[100];
  fill(bytes, sizeof bytes);
  uint64_t hash = gab_hash64(bytes, sizeof bytes, 0);
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] ^= 1;
    assert_true(gab_hash64(bytes, sizeof bytes, 0) != hash);
    bytes[i] ^= 1;
  }
}

static int ones(uint64_t x)
{
  int count = 0;
  for (; x; x &= x - 1) count++;
  return count;
}

static void neighbouring_counters_give_unrelated_numbers(void **state)
{
  (void)state;
  assert_true(gab_hash_counter(1, 2, 3) == gab_hash_counter(1, 2, 3));
  long flipped[3] = {0, 0, 0};
  const int samples = 4096;
  for (uint64_t i = 0; i < (uint64_t)samples; i++) {
    uint64_t number = gab_hash_counter(7, 8, i);
    flipped[0] += ones(number ^ gab_hash_counter(7, 8, i + 1));
    flipped[1] += ones(number ^ gab_hash_counter(7, 9, i));
    flipped[2] += ones(number ^ gab_hash_counter(8, 8, i));
  }
  /* 32 of 64 bits expected with a deviation of 4 per sample, 0.0625 for the mean: eight deviations. */
  for (int i = 0; i < 3; i++) assert_in_range(flipped[i], (long)(31.5 * samples), (long)(32.5 * samples));
}

static void bytes_that_come_in_pieces_have_the_hash_of_the_whole(void **state)
{
  (void)state;
  unsigned char bytes[300];
  fill(bytes, sizeof bytes);
  for (size_t count = 0; count <= sizeof bytes; count += 11)
    for (size_t piece = 1; piece <= count + 1; piece += 1 + piece / 3) {
      gab_hash64_stream stream;
      gab_hash64_begin(&stream, count + 7);
      for (size_t at = 0; at < count; at += piece) {
        assert_true(gab_hash64_of(&stream) == gab_hash64(bytes, at, count + 7));
        gab_hash64_add(&stream, bytes + at, piece < count - at ? piece : count - at);
      }
      gab_hash64_add(&stream, NULL, 0);
      assert_true(gab_hash64_of(&stream) == gab_hash64(bytes, count, count + 7));
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hashes_equal_the_published_values),
      cmocka_unit_test(a_hash_does_not_depend_on_alignment),
      cmocka_unit_test(the_fast_hash_of_pieces_is_that_of_the_whole),
      cmocka_unit_test(uniform_numbers_fill_the_unit_interval),
      cmocka_unit_test(every_byte_changes_the_hash),
      cmocka_unit_test(bytes_that_come_in_pieces_have_the_hash_of_the_whole),
      cmocka_unit_test(neighbouring_counters_give_unrelated_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
