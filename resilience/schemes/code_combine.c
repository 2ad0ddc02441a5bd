/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the code to long byte arrays: linear combinations of columns, multithreaded, in pieces that fit into the cache. */
#include "resilience/schemes/code_impl.h"

#include <string.h>
#ifdef GAB_HAVE_ISAL
#include <isa-l/erasure_code.h>
#endif

enum { PIECE = 32 * 1024 };

static bool all_ones(const uint8_t *factors, int count)
{
  for (int i = 0; i < count; i++)
    if (factors[i] != 1) return false;
  return true;
}

/* Adds two columns at a time: the sum is loaded and stored half as often. */
static void add_up(const unsigned char *const *from, int count, size_t at, size_t bytes, unsigned char *into)
{
  unsigned char *restrict sum = into + at;
  memcpy(sum, from[0] + at, bytes);
  int k = 1;
  for (; k + 1 < count; k += 2) {
    const unsigned char *restrict a = from[k] + at, *restrict b = from[k + 1] + at;
    for (size_t i = 0; i < bytes; i++) sum[i] = (unsigned char)(sum[i] ^ a[i] ^ b[i]);
  }
  for (; k < count; k++) {
    const unsigned char *restrict a = from[k] + at;
    for (size_t i = 0; i < bytes; i++) sum[i] ^= a[i];
  }
}

#ifdef GAB_HAVE_ISAL
typedef struct tables {
  unsigned char of[32 * GAB_CODE_COLUMNS];
} tables;

static void prepare(const uint8_t *factors, int count, tables *t)
{
  ec_init_tables(count, 1, (unsigned char *)(uintptr_t)factors, t->of);
}

static void weigh_up(const tables *t, const unsigned char *const *from, int count, size_t at, size_t bytes,
                     unsigned char *into)
{
  unsigned char *columns[GAB_CODE_COLUMNS], *sum = into + at;
  for (int k = 0; k < count; k++) columns[k] = (unsigned char *)(uintptr_t)(from[k] + at);
  ec_encode_data((int)bytes, count, 1, (unsigned char *)(uintptr_t)t->of, columns, &sum);
}
#else
/* All products with each factor. */
typedef struct tables {
  uint8_t of[GAB_CODE_COLUMNS][256];
} tables;

static void prepare(const uint8_t *factors, int count, tables *t)
{
  for (int k = 0; k < count; k++)
    for (int value = 0; value < 256; value++) t->of[k][value] = gab_gf_multiply(factors[k], (uint8_t)value);
}

static void weigh_up(const tables *t, const unsigned char *const *from, int count, size_t at, size_t bytes,
                     unsigned char *into)
{
  unsigned char *restrict sum = into + at;
  memset(sum, 0, bytes);
  for (int k = 0; k < count; k++) {
    const unsigned char *restrict column = from[k] + at;
    for (size_t i = 0; i < bytes; i++) sum[i] ^= t->of[k][column[i]];
  }
}
#endif

void gab_code_combine(const uint8_t *factors, const unsigned char *const *from, int count, size_t bytes,
                      unsigned char *into)
{
  const bool plain = all_ones(factors, count);
  tables t;
  if (!plain) prepare(factors, count, &t);
  const size_t pieces = (bytes + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) if (pieces > 3)
  for (size_t i = 0; i < pieces; i++) {
    const size_t at = i * PIECE, left = bytes - at, size = left < PIECE ? left : PIECE;
    if (plain) add_up(from, count, at, size, into);
    else weigh_up(&t, from, count, at, size, into);
  }
}
