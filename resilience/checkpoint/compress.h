/* SPDX-License-Identifier: Apache-2.0 */
/** @file compress.h
 *  @brief Lossless compression of images, in transit and in memory.
 *
 *  Data is divided into pieces of 1 MiB. Each is shuffled (the first bytes of all numbers, then the second ones, …;
 *  neighbouring values of a field share their leading bytes) and compressed separately, by several threads, with Blosc
 *  (Alted 2010). A piece that does not shrink is stored uncompressed, so packed data exceeds the input by at most 0.01 %
 *  and a hundred bytes.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_COMPRESS_H
#define GABION_RESILIENCE_COMPRESS_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_codec {
  GAB_CODEC_NONE = 0,
  GAB_CODEC_LZ4,  /**< fast: speed of copying memory with two threads */
  GAB_CODEC_ZSTD, /**< smaller, several times slower */
  GAB_CODEC_COUNT
} gab_codec;

/** "none", "lz4", "zstd". */
const char *gab_codec_name(gab_codec codec);
/** @return GAB_CODEC_COUNT for an unknown name */
gab_codec gab_codec_from_name(const char *name);
/** False for all but `none` in a build without Blosc. */
bool gab_codec_is_built(gab_codec codec);

/** Appends the compressed bytes. Local; uses the threads of OpenMP. @param[in,out] out grows by at most
 * gab_compress_bound() @return ::GAB_ERR_ARGUMENT for a codec that is not built */
gab_status gab_compress(gab_codec codec, const void *bytes, size_t count, gab_buffer *out);
/** Upper bound of the bytes that gab_compress() appends for `count` bytes. */
size_t gab_compress_bound(size_t count);
/** Appends the original bytes of one gab_compress() call, and reads exactly its output. @return ::GAB_ERR_CORRUPT if the
 * bytes are invalid; `out` is then unchanged */
gab_status gab_decompress(gab_reader *in, gab_buffer *out);

/** Result of compressing a sample. */
typedef struct gab_compress_trial {
  double ratio;            /**< original / compressed bytes */
  double bytes_per_second; /**< original bytes, all threads */
} gab_compress_trial;
/** Compresses evenly spaced pieces of at most `sample` bytes in total, to estimate ratio and speed. */
gab_status gab_compress_try(gab_codec codec, const void *bytes, size_t count, size_t sample,
                            gab_compress_trial *trial);

#ifdef __cplusplus
}
#endif
#endif
