/* SPDX-License-Identifier: Apache-2.0 */
/* The erasure code: columns come back from any sufficient rest, whatever the sizes. */
/* gabion-test: labels=quick */
#include "resilience/schemes/code_impl.h"

#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

enum { BYTES = 100 * 1024 + 13, MOST = 12 };

static unsigned char columns[MOST + GAB_CODE_PARITIES][BYTES], again[BYTES];

static void fill(int data, uint64_t seed, size_t bytes)
{
  for (int c = 0; c < data; c++)
    for (size_t i = 0; i < bytes; i++)
      columns[c][i] = (unsigned char)(gab_hash_counter(seed, (uint64_t)c, i) >> 7);
}

static void encode(int data, int parities, size_t bytes)
{
  const unsigned char *from[MOST];
  uint8_t factors[MOST];
  for (int c = 0; c < data; c++) from[c] = columns[c];
  for (int r = 0; r < parities; r++) {
    for (int c = 0; c < data; c++) factors[c] = gab_code_factor(data, r, c);
    gab_code_combine(factors, from, data, bytes, columns[data + r]);
  }
}

/* Those of `gone` (bits) are not there. */
static void decode(int data, int parities, unsigned gone, size_t bytes)
{
  const unsigned char *from[MOST];
  int present[MOST], count = 0;
  uint8_t factors[MOST];
  for (int c = 0; c < data + parities && count < data; c++) {
    if (gone >> c & 1) continue;
    from[count] = columns[c];
    present[count++] = c;
  }
  assert_int_equal(count, data);
  for (int c = 0; c < data; c++) {
    if (!(gone >> c & 1)) continue;
    assert_int_equal(gab_code_solve(data, present, c, factors), GAB_OK);
    gab_code_combine(factors, from, data, bytes, again);
    assert_memory_equal(again, columns[c], bytes);
  }
}

static void any_losses_up_to_the_parities_come_back(void **state)
{
  (void)state;
  for (int data = 1; data <= 7; data++)
    for (int parities = 1; parities <= 4; parities++) {
      size_t bytes = 1 + gab_hash_counter(3, (uint64_t)data, (uint64_t)parities) % 300;
      fill(data, (uint64_t)(data + 10 * parities), bytes);
      encode(data, parities, bytes);
      for (unsigned gone = 0; gone < 1u << (data + parities); gone++)
        if (__builtin_popcount(gone) <= parities) decode(data, parities, gone, bytes);
    }
}

static void long_columns_too(void **state)
{
  (void)state;
  for (int parities = 1; parities <= 3; parities++) {
    fill(5, 9, BYTES);
    encode(5, parities, BYTES);
    for (unsigned gone = 0; gone < 1u << (5 + parities); gone++)
      if (__builtin_popcount(gone) == parities) decode(5, parities, gone, BYTES);
  }
}

static void the_first_parity_is_the_exclusive_or(void **state)
{
  (void)state;
  for (int data = 1; data < GAB_CODE_COLUMNS - GAB_CODE_PARITIES; data++)
    for (int c = 0; c < data; c++) {
      assert_int_equal(gab_code_factor(data, 0, c), 1);
      for (int r = 1; r < GAB_CODE_PARITIES; r++) assert_int_not_equal(gab_code_factor(data, r, c), 0);
    }
}

/* Every square part of the matrix is regular: any `data` columns solve for every other one. */
static void wide_groups_can_lose_as_many(void **state)
{
  (void)state;
  const int data = 24;
  uint8_t factors[GAB_CODE_COLUMNS];
  int present[GAB_CODE_COLUMNS];
  for (uint64_t round = 0; round < 200; round++) {
    int gone[GAB_CODE_PARITIES];
    bool is_gone[64] = {false};
    for (int k = 0; k < GAB_CODE_PARITIES; k++) {
      gone[k] = (int)(gab_hash_counter(4, round, (uint64_t)k) % (uint64_t)(data + GAB_CODE_PARITIES));
      is_gone[gone[k]] = true;
    }
    int count = 0;
    for (int c = 0; c < data + GAB_CODE_PARITIES && count < data; c++)
      if (!is_gone[c]) present[count++] = c;
    for (int k = 0; k < GAB_CODE_PARITIES; k++)
      if (gone[k] < data) assert_int_equal(gab_code_solve(data, present, gone[k], factors), GAB_OK);
  }
}

static void multiplication_is_that_of_a_field(void **state)
{
  (void)state;
  for (int a = 1; a < 256; a++) {
    assert_int_equal(gab_gf_multiply((uint8_t)a, gab_gf_invert((uint8_t)a)), 1);
    assert_int_equal(gab_gf_multiply((uint8_t)a, 1), a);
    for (int b = 0; b < 256; b += 7) {
      uint8_t sum = (uint8_t)(b ^ 0x35);
      assert_int_equal(gab_gf_multiply((uint8_t)a, (uint8_t)b), gab_gf_multiply((uint8_t)b, (uint8_t)a));
      assert_int_equal(gab_gf_multiply((uint8_t)a, (uint8_t)b) ^ gab_gf_multiply((uint8_t)a, 0x35),
                       gab_gf_multiply((uint8_t)a, sum));
    }
  }
  assert_int_equal(gab_gf_multiply(2, 0x80), 0x1d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_losses_up_to_the_parities_come_back),
      cmocka_unit_test(long_columns_too),
      cmocka_unit_test(the_first_parity_is_the_exclusive_or),
      cmocka_unit_test(wide_groups_can_lose_as_many),
      cmocka_unit_test(multiplication_is_that_of_a_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
