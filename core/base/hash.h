/* SPDX-License-Identifier: Apache-2.0 */
/** @file hash.h
 *  @brief 64-bit hashing (XXH64 of the xxHash family) of bytes.
 *
 *  Uses libxxhash if available, else an implementation of the same function, so that checksums do not depend on the build.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_HASH_H
#define GABION_CORE_HASH_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** XXH64 of `count` bytes (0 allowed) with a seed. */
uint64_t gab_hash64(const void *bytes, size_t count, uint64_t seed);

/** The same for bytes that arrive in pieces. */
typedef struct gab_hash64_stream {
  uint64_t state[12]; /**< opaque */
} gab_hash64_stream;
void gab_hash64_begin(gab_hash64_stream *stream, uint64_t seed);
void gab_hash64_add(gab_hash64_stream *stream, const void *bytes, size_t count);
/** @return gab_hash64() of all bytes so far, with the seed; more may follow */
uint64_t gab_hash64_of(const gab_hash64_stream *stream);

/** The fastest good hash of this build: XXH3 with libxxhash, else gab_hash64(). Its values differ between builds, so use it
 * only to compare bytes within one run. */
uint64_t gab_hash64_fast(const void *bytes, size_t count, uint64_t seed);

/** The same for bytes that arrive in pieces. Not to be copied or moved. */
typedef struct gab_hash64_fast_stream {
  uint64_t state[80]; /**< opaque */
} gab_hash64_fast_stream;
void gab_hash64_fast_begin(gab_hash64_fast_stream *stream, uint64_t seed);
void gab_hash64_fast_add(gab_hash64_fast_stream *stream, const void *bytes, size_t count);
/** @return gab_hash64_fast() of all bytes so far, with the seed; more may follow */
uint64_t gab_hash64_fast_of(const gab_hash64_fast_stream *stream);

/** A counter-based random number: a well-mixed function of its arguments, the same on every process and
 *  independent of any order. */
uint64_t gab_hash_counter(uint64_t seed, uint64_t stream, uint64_t counter);

/** The same as a number in [0, 1), a multiple of 2^-53. */
double gab_hash_uniform(uint64_t seed, uint64_t stream, uint64_t counter);

#ifdef __cplusplus
}
#endif
#endif
