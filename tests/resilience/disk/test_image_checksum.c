/* SPDX-License-Identifier: Apache-2.0 */
/* The hash of an image, computed while its bytes are written. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/base/buffer_rows.h"
#include "core/base/hash.h"
#include "resilience/schemes/redundancy_impl.h"

static void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
  for (size_t i = 0; i < count; i++)
    bytes[i] = (unsigned char)(gab_hash_counter(seed, 1, i / 8) >> (8 * (i % 8)));
}

typedef enum way { PLAIN, FOLLOWED, NONTEMPORAL, IN_TURN } way;

static size_t size_of_part(uint64_t seed, size_t record, size_t at, size_t left)
{
  const size_t wanted = 1 + (size_t)(gab_hash_counter(seed, record, at) % 100000);
  return wanted < left ? wanted : left;
}

/* @return number of errors */
static int write_pieces(gab_buffer *record, uint64_t seed, size_t number, const unsigned char *first)
{
  while (record->size < record->capacity) {
    void *part;
    const size_t bytes = size_of_part(seed, number, record->size, record->capacity - record->size);
    if (gab_buffer_extend(record, bytes, &part) != GAB_OK) return 1;
    fill(part, bytes, seed + (size_t)((unsigned char *)part - first));
  }
  return 0;
}

/* The same bytes: small ones, then some written by non-temporal stores. */
static int write_rows(gab_buffer *record, gab_rows_lie lie, uint64_t seed, size_t number,
                      const unsigned char *first)
{
  static _Thread_local unsigned char part[100000];
  gab_buffer_rows rows;
  bool begun = false;
  for (size_t at = 0, bytes; at < record->capacity; at += bytes) {
    bytes = size_of_part(seed, number, at, record->capacity - at);
    fill(part, bytes, seed + (size_t)(record->data + at - first));
    gab_status status = GAB_OK;
    if (at == 0) status = gab_put_bytes(record, part, bytes);
    else if (!begun) status = gab_buffer_rows_begin(&rows, record, record->capacity - at, lie);
    begun = begun || at > 0;
    if (begun && status == GAB_OK) status = gab_buffer_rows_add(&rows, part, bytes);
    if (status != GAB_OK) return 1;
  }
  return begun && gab_buffer_rows_end(&rows) != GAB_OK;
}

/* Whole pieces of 128 kB that were hashed while written. */
static size_t count_known(const gab_checksum_trail *trail)
{
  size_t known = 0;
  for (size_t i = 0; i < trail->pieces; i++) known += trail->known[i] != 0;
  return known;
}

/* Writes an image: a head that is changed at the end, records by several threads, each in pieces, and an end. @return
 * number of pieces hashed while written */
static size_t write_image(gab_buffer *out, uint64_t seed, size_t records, const size_t *offsets, way way)
{
  const size_t head = 40, tail = 1000, all = head + offsets[records] + tail;
  gab_checksum_trail trail = {0};
  void *place;
  assert_int_equal(gab_buffer_fit(out, all + 8 + 5), GAB_OK);
  assert_int_equal(gab_put_bytes(out, "12345", 5), GAB_OK); /* it does not begin at the start of the buffer */
  assert_int_equal(gab_checksum_begin(out), GAB_OK);
  assert_int_equal(gab_buffer_extend(out, head, &place), GAB_OK);
  memset(place, 0, head);
  if (way != PLAIN) assert_int_equal(gab_checksum_trail_begin(&trail, out, 5, all), GAB_OK);
  assert_int_equal(gab_buffer_extend(out, offsets[records], &place), GAB_OK);
  unsigned char *first = place;
  int wrong = 0;
#pragma omp parallel for num_threads(3) reduction(+ : wrong)
  for (size_t r = 0; r < records; r++) {
    gab_buffer record = gab_buffer_over(first + offsets[r], offsets[r + 1] - offsets[r]);
    record.follower = out->follower;
    const gab_rows_lie lie = way == IN_TURN ? GAB_ROWS_IN_TURN : GAB_ROWS_TOGETHER;
    wrong +=
        way >= NONTEMPORAL ? write_rows(&record, lie, seed, r, first) : write_pieces(&record, seed, r, first);
    gab_buffer_follow(&record);
  }
  assert_int_equal(wrong, 0);
  out->followed = out->size;
  assert_int_equal(gab_buffer_extend(out, tail, &place), GAB_OK);
  fill(place, tail, seed);
  memset(out->data + 5 + 8, 7, head);
  const size_t known = way != PLAIN ? count_known(&trail) : 0;
  gab_checksum_end(out, 5, way != PLAIN ? &trail : NULL);
  gab_checksum_trail_end(&trail);
  assert_null(out->follower);
  return known;
}

static gab_reader with_checksum(const gab_buffer *image)
{
  return gab_reader_of(image->data + 5, image->size - 5);
}

static void a_followed_image_has_the_same_hash_as_one_hashed_at_the_end(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    size_t offsets[12] = {0}, records = (size_t)(seed % 11) + 1;
    for (size_t r = 0; r < records; r++)
      offsets[r + 1] = offsets[r] + (size_t)(gab_hash_counter(seed, 9, r) % (r % 3 == 0 ? 1000000 : 200000));
    gab_buffer followed, plain, nontemporal;
    gab_buffer_init(&followed, GAB_MEMORY_OTHER);
    gab_buffer_init(&nontemporal, GAB_MEMORY_OTHER);
    gab_buffer_init(&plain, GAB_MEMORY_OTHER);
    const size_t known = write_image(&followed, seed, records, offsets, FOLLOWED);
    write_image(&plain, seed, records, offsets, PLAIN);
    assert_int_equal(followed.size, plain.size);
    assert_memory_equal(followed.data, plain.data, plain.size);
    /* A piece that begins in the small part of a record is not hashed while written. */
    for (way way = NONTEMPORAL; way <= IN_TURN; way++) {
      if (nontemporal.data)
        memset(nontemporal.data, 0xab, nontemporal.size); /* no bytes of the previous way */
      gab_buffer_clear(&nontemporal);
      const size_t past = write_image(&nontemporal, seed, records, offsets, way);
      assert_in_range(past, known > records ? known - records : 0, known);
      assert_int_equal(nontemporal.size, plain.size);
      assert_memory_equal(nontemporal.data, plain.data, plain.size);
    }
    gab_reader in = with_checksum(&followed);
    assert_true(gab_checksum_matches(&in));
    gab_buffer_release(&nontemporal);
    gab_buffer_release(&followed);
    gab_buffer_release(&plain);
  }
}

static void any_flipped_bit_is_seen(void **state)
{
  (void)state;
  const size_t offsets[3] = {0, 700000, 1500000};
  gab_buffer image;
  gab_buffer_init(&image, GAB_MEMORY_OTHER);
  write_image(&image, 3, 2, offsets, NONTEMPORAL);
  for (uint64_t i = 0; i < 200; i++) {
    const size_t byte = 5 + (size_t)(gab_hash_counter(1, 2, i) % (image.size - 5));
    image.data[byte] ^= (unsigned char)(1 << i % 8);
    gab_reader in = with_checksum(&image);
    assert_false(gab_checksum_matches(&in));
    image.data[byte] ^= (unsigned char)(1 << i % 8);
  }
  gab_reader in = with_checksum(&image);
  assert_true(gab_checksum_matches(&in));
  gab_buffer_release(&image);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_followed_image_has_the_same_hash_as_one_hashed_at_the_end),
      cmocka_unit_test(any_flipped_bit_is_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
