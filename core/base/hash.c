/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/hash.h"

#include <string.h>

#ifdef GAB_HAVE_XXHASH

/* Compiled in here, so that XXH3 uses the widest vectors of this build. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t gab_hash64_fast(const void *bytes, size_t count, uint64_t seed)
{
  return XXH3_64bits_withSeed(bytes, count, seed);
}

/* The library needs its state aligned to a cache line. */
enum { STATE_LINE = 64 };
_Static_assert(sizeof(XXH3_state_t) + STATE_LINE <= sizeof(gab_hash64_fast_stream),
               "the state of the library has to fit");

static XXH3_state_t *state_of(const gab_hash64_fast_stream *stream)
{
  const uintptr_t at = (uintptr_t)stream->state;
  return (XXH3_state_t *)((at + STATE_LINE - 1) / STATE_LINE * STATE_LINE);
}

void gab_hash64_fast_begin(gab_hash64_fast_stream *stream, uint64_t seed)
{
  XXH3_INITSTATE(state_of(stream));
  XXH3_64bits_reset_withSeed(state_of(stream), seed);
}

void gab_hash64_fast_add(gab_hash64_fast_stream *stream, const void *bytes, size_t count)
{
  if (count > 0) XXH3_64bits_update(state_of(stream), bytes, count);
}

uint64_t gab_hash64_fast_of(const gab_hash64_fast_stream *stream)
{
  return XXH3_64bits_digest(state_of(stream));
}

uint64_t gab_hash64(const void *bytes, size_t count, uint64_t seed) { return XXH64(bytes, count, seed); }

_Static_assert(sizeof(XXH64_state_t) <= sizeof(gab_hash64_stream), "the state of the library has to fit");

void gab_hash64_begin(gab_hash64_stream *stream, uint64_t seed)
{
  XXH64_state_t state;
  XXH64_reset(&state, seed);
  memcpy(stream, &state, sizeof state);
}

void gab_hash64_add(gab_hash64_stream *stream, const void *bytes, size_t count)
{
  XXH64_state_t state;
  memcpy(&state, stream, sizeof state);
  if (count > 0) XXH64_update(&state, bytes, count);
  memcpy(stream, &state, sizeof state);
}

uint64_t gab_hash64_of(const gab_hash64_stream *stream)
{
  XXH64_state_t state;
  memcpy(&state, stream, sizeof state);
  return XXH64_digest(&state);
}

#else

/* XXH64 after the specification in doc/xxhash_spec.md of xxHash (version 0.1.1, Yann Collet). */

static const uint64_t prime1 = 0x9E3779B185EBCA87U, prime2 = 0xC2B2AE3D27D4EB4FU,
                      prime3 = 0x165667B19E3779F9U, prime4 = 0x85EBCA77C2B2AE63U,
                      prime5 = 0x27D4EB2F165667C5U;

static uint64_t rotate_left(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

static uint64_t read_little_endian(const unsigned char *from, int bytes)
{
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static uint64_t lane_round(uint64_t lane, uint64_t input)
{
  return rotate_left(lane + input * prime2, 31) * prime1;
}

static uint64_t merge_lane(uint64_t sum, uint64_t lane)
{
  return (sum ^ lane_round(0, lane)) * prime1 + prime4;
}

/* Words of a stream: four lanes, the seed, the number of bytes, and the bytes of the last, incomplete stripe. */
enum { LANES = 4, SEED = 4, COUNT = 5, REST = 6, STRIPE = 32 };

static void add_stripes(uint64_t lane[LANES], const unsigned char *at, size_t stripes)
{
  for (; stripes > 0; stripes--, at += STRIPE)
    for (int i = 0; i < LANES; i++) lane[i] = lane_round(lane[i], read_little_endian(at + 8 * i, 8));
}

void gab_hash64_begin(gab_hash64_stream *stream, uint64_t seed)
{
  *stream = (gab_hash64_stream){{seed + prime1 + prime2, seed + prime2, seed, seed - prime1, seed}};
}

void gab_hash64_add(gab_hash64_stream *stream, const void *bytes, size_t count)
{
  const unsigned char *at = bytes;
  unsigned char *rest = (unsigned char *)&stream->state[REST];
  const size_t waiting = (size_t)(stream->state[COUNT] % STRIPE);
  if (count == 0) return;
  stream->state[COUNT] += count;
  if (waiting + count < STRIPE) {
    memcpy(rest + waiting, at, count);
    return;
  }
  if (waiting > 0) {
    memcpy(rest + waiting, at, STRIPE - waiting);
    add_stripes(stream->state, rest, 1);
    at += STRIPE - waiting;
    count -= STRIPE - waiting;
  }
  add_stripes(stream->state, at, count / STRIPE);
  if (count % STRIPE > 0) memcpy(rest, at + count / STRIPE * STRIPE, count % STRIPE);
}

uint64_t gab_hash64_of(const gab_hash64_stream *stream)
{
  const uint64_t *lane = stream->state, count = stream->state[COUNT];
  const unsigned char *at = (const unsigned char *)&stream->state[REST];
  size_t left = (size_t)(count % STRIPE);
  uint64_t sum = stream->state[SEED] + prime5;
  if (count >= STRIPE) {
    sum = rotate_left(lane[0], 1) + rotate_left(lane[1], 7) + rotate_left(lane[2], 12) +
          rotate_left(lane[3], 18);
    for (int i = 0; i < LANES; i++) sum = merge_lane(sum, lane[i]);
  }
  sum += count;
  for (; left >= 8; left -= 8, at += 8)
    sum = rotate_left(sum ^ lane_round(0, read_little_endian(at, 8)), 27) * prime1 + prime4;
  for (; left >= 4; left -= 4, at += 4)
    sum = rotate_left(sum ^ read_little_endian(at, 4) * prime1, 23) * prime2 + prime3;
  for (; left >= 1; left -= 1, at += 1) sum = rotate_left(sum ^ *at * prime5, 11) * prime1;
  sum = (sum ^ (sum >> 33)) * prime2;
  sum = (sum ^ (sum >> 29)) * prime3;
  return sum ^ (sum >> 32);
}

uint64_t gab_hash64(const void *bytes, size_t count, uint64_t seed)
{
  gab_hash64_stream stream;
  gab_hash64_begin(&stream, seed);
  gab_hash64_add(&stream, bytes, count);
  return gab_hash64_of(&stream);
}

uint64_t gab_hash64_fast(const void *bytes, size_t count, uint64_t seed)
{
  return gab_hash64(bytes, count, seed);
}

static gab_hash64_stream *plain(const gab_hash64_fast_stream *stream)
{
  return (gab_hash64_stream *)(uintptr_t)stream->state;
}

void gab_hash64_fast_begin(gab_hash64_fast_stream *stream, uint64_t seed)
{
  gab_hash64_begin(plain(stream), seed);
}

void gab_hash64_fast_add(gab_hash64_fast_stream *stream, const void *bytes, size_t count)
{
  gab_hash64_add(plain(stream), bytes, count);
}

uint64_t gab_hash64_fast_of(const gab_hash64_fast_stream *stream) { return gab_hash64_of(plain(stream)); }

#endif

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014, variant 13 of Stafford): a bijection in which every
 * input bit flips every output bit with probability close to one half. */
static uint64_t mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

uint64_t gab_hash_counter(uint64_t seed, uint64_t stream, uint64_t counter)
{
  const uint64_t golden =
      0x9E3779B97F4A7C15U; /* 2^64 / golden ratio: moves 0, 0, 0 away from the fixed point */
  return mix(mix(mix(seed + golden) + stream + golden) + counter + golden);
}

double gab_hash_uniform(uint64_t seed, uint64_t stream, uint64_t counter)
{
  return (double)(gab_hash_counter(seed, stream, counter) >> 11) * 0x1p-53;
}
