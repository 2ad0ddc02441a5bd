/* SPDX-License-Identifier: Apache-2.0 */
/* Layout: magic u32, codec u32, original bytes u64, piece sizes u32 each, then the pieces; a piece as long as its original
 * is not compressed. */
#include "resilience/checkpoint/compress.h"

#include "core/base/log.h"

#include <string.h>
#ifdef GAB_HAVE_BLOSC
#include <blosc.h>
#endif

#define COMPRESS_MAGIC UINT32_C(0x5a424147)
enum { PIECE = 1 << 20, HEAD = 16, ELEMENT = sizeof(double) };

static const char *const names[GAB_CODEC_COUNT] = {"none", "lz4", "zstd"};

const char *gab_codec_name(gab_codec codec) { return codec < GAB_CODEC_COUNT ? names[codec] : "?"; }

gab_codec gab_codec_from_name(const char *name)
{
  int codec = 0;
  while (codec < GAB_CODEC_COUNT && strcmp(names[codec], name) != 0) codec++;
  return (gab_codec)codec;
}

bool gab_codec_is_built(gab_codec codec)
{
  if (codec == GAB_CODEC_NONE) return true;
#ifdef GAB_HAVE_BLOSC
  static const char *const compressors[GAB_CODEC_COUNT] = {NULL, BLOSC_LZ4_COMPNAME, BLOSC_ZSTD_COMPNAME};
  return codec < GAB_CODEC_COUNT && blosc_compname_to_compcode(compressors[codec]) >= 0;
#else
  return false;
#endif
}

static size_t piece_count(size_t count) { return (count + PIECE - 1) / PIECE; }
static size_t piece_bytes(size_t count, size_t piece)
{
  const size_t left = count - piece * PIECE;
  return left < PIECE ? left : PIECE;
}

size_t gab_compress_bound(size_t count) { return HEAD + 4 * piece_count(count) + count; }

/* @return bytes written to `to`, which has capacity for `count`; `count` itself if they did not shrink and were copied */
static size_t squeeze(gab_codec codec, const unsigned char *from, size_t count, unsigned char *to)
{
  int made = 0;
#ifdef GAB_HAVE_BLOSC
  if (codec != GAB_CODEC_NONE && count > ELEMENT)
    made = blosc_compress_ctx(codec == GAB_CODEC_ZSTD ? 3 : 5, BLOSC_SHUFFLE, ELEMENT, count, from, to,
                              count - 1, codec == GAB_CODEC_ZSTD ? BLOSC_ZSTD_COMPNAME : BLOSC_LZ4_COMPNAME,
                              0, 1);
#else
  (void)codec;
#endif
  if (made > 0) return (size_t)made;
  memcpy(to, from, count);
  return count;
}

/* @return false if the bytes are not output of squeeze() */
static bool expand(const unsigned char *from, size_t packed, unsigned char *to, size_t count)
{
  if (packed == count) {
    memcpy(to, from, count);
    return true;
  }
#ifdef GAB_HAVE_BLOSC
  size_t original = 0;
  if (blosc_cbuffer_validate(from, packed, &original) != 0 || original != count) return false;
  return blosc_decompress_ctx(from, to, count, 1) == (int)count;
#else
  return false;
#endif
}

static gab_status check_built(gab_codec codec)
{
  if (!gab_codec_is_built(codec))
    GAB_FAIL(GAB_ERR_ARGUMENT, "compression '%s' is not part of this build (it needs Blosc)",
             gab_codec_name(codec));
  return GAB_OK;
}

gab_status gab_compress(gab_codec codec, const void *bytes, size_t count, gab_buffer *out)
{
  GAB_TRY(check_built(codec));
  const size_t pieces = piece_count(count), before = out->size;
  void *place;
  GAB_TRY(gab_buffer_extend(out, gab_compress_bound(count), &place));
  const unsigned char *from = bytes;
  unsigned char *start = (unsigned char *)place + HEAD + 4 * pieces;
  gab_buffer head = gab_buffer_over(place, HEAD + 4 * pieces);
  GAB_TRY(gab_put_u32(&head, COMPRESS_MAGIC));
  GAB_TRY(gab_put_u32(&head, (uint32_t)codec));
  GAB_TRY(gab_put_u64(&head, count));
  size_t *sizes;
  GAB_TRY(GAB_NEW_ARRAY(&sizes, pieces + 1, GAB_MEMORY_OTHER));
  /* Several threads write each piece at the place of its original; then the pieces are made contiguous. */
#pragma omp parallel for schedule(dynamic) if (pieces > 1)
  for (size_t i = 0; i < pieces; i++)
    sizes[i] = squeeze(codec, from + i * PIECE, piece_bytes(count, i), start + i * PIECE);
  size_t used = 0;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < pieces; i++) {
    if (status == GAB_OK) status = gab_put_u32(&head, (uint32_t)sizes[i]);
    memmove(start + used, start + i * PIECE, sizes[i]);
    used += sizes[i];
  }
  gab_free(&sizes);
  out->size = status == GAB_OK ? before + HEAD + 4 * pieces + used : before;
  return status;
}

/* Offsets of the pieces; verifies that the sizes add up. */
static gab_status read_sizes(gab_reader *in, size_t pieces, size_t count, size_t *offsets)
{
  size_t total = 0;
  for (size_t i = 0; i < pieces; i++) {
    uint32_t size;
    GAB_TRY(gab_get_u32(in, &size));
    if (size == 0 || size > piece_bytes(count, i))
      GAB_FAIL(GAB_ERR_CORRUPT, "compressed piece %zu of %zu claims %" PRIu32 " bytes", i, pieces, size);
    offsets[i] = total;
    total += size;
  }
  offsets[pieces] = total;
  if (total > gab_reader_left(in))
    GAB_FAIL(GAB_ERR_CORRUPT, "compressed bytes are cut short: %zu of %zu", gab_reader_left(in), total);
  return GAB_OK;
}

static gab_status expand_all(gab_reader *in, size_t count, size_t *offsets, gab_buffer *out)
{
  const size_t pieces = piece_count(count), before = out->size;
  void *place;
  GAB_TRY(read_sizes(in, pieces, count, offsets));
  GAB_TRY(gab_buffer_extend(out, count, &place));
  const unsigned char *from = in->at;
  unsigned char *to = place;
  size_t bad = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : bad) if (pieces > 1)
  for (size_t i = 0; i < pieces; i++)
    bad += !expand(from + offsets[i], offsets[i + 1] - offsets[i], to + i * PIECE, piece_bytes(count, i));
  in->at += offsets[pieces];
  if (bad == 0) return GAB_OK;
  out->size = before;
  GAB_FAIL(GAB_ERR_CORRUPT, "%zu of %zu compressed pieces do not expand", bad, pieces);
}

gab_status gab_decompress(gab_reader *in, gab_buffer *out)
{
  uint32_t magic, codec;
  uint64_t count;
  GAB_TRY(gab_get_u32(in, &magic));
  GAB_TRY(gab_get_u32(in, &codec));
  GAB_TRY(gab_get_u64(in, &count));
  if (magic != COMPRESS_MAGIC || codec >= GAB_CODEC_COUNT)
    GAB_FAIL(GAB_ERR_CORRUPT, "these bytes were not compressed by this program");
  if (count > UINT64_MAX / 2 || piece_count((size_t)count) > gab_reader_left(in) / 4)
    GAB_FAIL(GAB_ERR_CORRUPT, "compressed bytes claim to be %" PRIu64, count);
  size_t *offsets;
  GAB_TRY(GAB_NEW_ARRAY(&offsets, piece_count((size_t)count) + 1, GAB_MEMORY_OTHER));
  gab_status status = expand_all(in, (size_t)count, offsets, out);
  gab_free(&offsets);
  return status;
}

gab_status gab_compress_try(gab_codec codec, const void *bytes, size_t count, size_t sample,
                            gab_compress_trial *trial)
{
  GAB_TRY(check_built(codec));
  *trial = (gab_compress_trial){.ratio = 1};
  const size_t pieces = piece_count(count), wanted = sample / PIECE + 1,
               taken = wanted < pieces ? wanted : pieces;
  if (taken == 0) return GAB_OK;
  unsigned char *output;
  GAB_TRY(GAB_NEW_ARRAY(&output, taken * PIECE, GAB_MEMORY_OTHER));
  const double start = gab_seconds();
  size_t original = 0, packed = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : original, packed) if (taken > 1)
  for (size_t i = 0; i < taken; i++) {
    const size_t piece = i * pieces / taken, size = piece_bytes(count, piece);
    packed += squeeze(codec, (const unsigned char *)bytes + piece * PIECE, size, output + i * PIECE);
    original += size;
  }
  const double seconds = gab_seconds() - start;
  gab_free(&output);
  trial->ratio = (double)original / (double)packed;
  trial->bytes_per_second = seconds > 0 ? (double)original / seconds : 0;
  return GAB_OK;
}
