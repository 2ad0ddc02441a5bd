/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "resilience/checkpoint/compress.h"

#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 3 * (1 << 20) + 4321 };
static unsigned char *original;

/* A smooth field, or noise: the extremes of images. */
static void fill(bool smooth, size_t count)
{
  for (size_t i = 0; i + 8 <= count; i += 8) {
    double value = sin((double)i * 1e-5) + 1;
    uint64_t noise = gab_hash_counter(7, i, count);
    memcpy(original + i, smooth ? (void *)&value : (void *)&noise, 8);
  }
}

static int allocate(void **state)
{
  (void)state;
  original = calloc(1, LONGEST);
  return original ? 0 : -1;
}

static int release(void **state)
{
  (void)state;
  free(original);
  return 0;
}

static void what_was_compressed_comes_back(void **state)
{
  (void)state;
  static const size_t sizes[] = {0, 1, 7, 8, 9, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, LONGEST};
  for (int codec = 0; codec < GAB_CODEC_COUNT; codec++)
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
      const size_t count = sizes[k / 2];
      if (!gab_codec_is_built((gab_codec)codec)) continue;
      fill(k % 2, count);
      gab_buffer packed = {0}, back = {0};
      assert_int_equal(gab_put_string(&packed, "before"), GAB_OK);
      assert_int_equal(gab_put_string(&back, "before"), GAB_OK);
      const size_t before = packed.size;
      assert_int_equal(gab_compress((gab_codec)codec, original, count, &packed), GAB_OK);
      assert_true(packed.size - before <= gab_compress_bound(count));
      assert_int_equal(gab_put_u32(&packed, 99), GAB_OK);
      gab_reader in = gab_reader_of(packed.data + before, packed.size - before);
      assert_int_equal(gab_decompress(&in, &back), GAB_OK);
      assert_int_equal(back.size - before, count);
      assert_memory_equal(back.data + before, original, count);
      uint32_t behind;
      assert_int_equal(gab_get_u32(&in, &behind), GAB_OK);
      assert_int_equal(behind, 99);
      gab_buffer_release(&packed);
      gab_buffer_release(&back);
    }
}

static void a_smooth_field_shrinks_and_noise_hardly_grows(void **state)
{
  (void)state;
  if (!gab_codec_is_built(GAB_CODEC_LZ4)) skip();
  gab_compress_trial smooth, noise;
  gab_buffer packed = {0};
  fill(true, LONGEST);
  assert_int_equal(gab_compress_try(GAB_CODEC_LZ4, original, LONGEST, 1 << 20, &smooth), GAB_OK);
  assert_true(smooth.ratio > 1.2);
  fill(false, LONGEST);
  assert_int_equal(gab_compress_try(GAB_CODEC_LZ4, original, LONGEST, 1 << 20, &noise), GAB_OK);
  assert_true(noise.ratio > 0.999 && noise.ratio < 1.01);
  assert_int_equal(gab_compress(GAB_CODEC_LZ4, original, LONGEST, &packed), GAB_OK);
  assert_true((double)packed.size < 1.0001 * LONGEST + 100);
  gab_buffer_release(&packed);
}

/* Flipped bits and cut ends: an error or other bytes of the same length, never an access outside. */
static void damaged_bytes_do_no_harm(void **state)
{
  (void)state;
  const gab_codec codec = gab_codec_is_built(GAB_CODEC_LZ4) ? GAB_CODEC_LZ4 : GAB_CODEC_NONE;
  const size_t count = (1 << 20) + 5000;
  gab_buffer packed = {0}, back = {0};
  fill(true, count);
  assert_int_equal(gab_compress(codec, original, count, &packed), GAB_OK);
  for (int round = 0; round < 300; round++) {
    const uint64_t draw = gab_hash_counter(11, (uint64_t)round, 0);
    const size_t at = round < 24 ? (size_t)round : (size_t)(draw % packed.size);
    const unsigned char was = packed.data[at];
    packed.data[at] ^= (unsigned char)(1u << (draw >> 40) % 8);
    gab_reader in = gab_reader_of(packed.data, packed.size);
    gab_buffer_clear(&back);
    if (gab_decompress(&in, &back) == GAB_OK) assert_int_equal(back.size, count);
    else assert_int_equal(back.size, 0);
    packed.data[at] = was;
    in = gab_reader_of(packed.data, (size_t)(draw % packed.size));
    assert_int_equal(gab_decompress(&in, &back), GAB_ERR_CORRUPT);
    gab_buffer_clear(&back);
  }
  gab_buffer_release(&packed);
  gab_buffer_release(&back);
}

static void codecs_have_names(void **state)
{
  (void)state;
  for (int codec = 0; codec < GAB_CODEC_COUNT; codec++)
    assert_int_equal(gab_codec_from_name(gab_codec_name((gab_codec)codec)), codec);
  assert_int_equal(gab_codec_from_name("gzip"), GAB_CODEC_COUNT);
  gab_buffer out = {0};
  assert_int_equal(gab_compress(GAB_CODEC_COUNT, "", 0, &out), GAB_ERR_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_was_compressed_comes_back, allocate, release),
      cmocka_unit_test_setup_teardown(a_smooth_field_shrinks_and_noise_hardly_grows, allocate, release),
      cmocka_unit_test_setup_teardown(damaged_bytes_do_no_harm, allocate, release),
      cmocka_unit_test(codecs_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
