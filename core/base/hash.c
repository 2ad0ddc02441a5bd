#include "core/base/hash.h"

#ifdef GAB_HAVE_XXHASH

/* Compiled in here, so that XXH3 uses the widest vectors that this build may use. */
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t gab_hash64_fast(const void *bytes, size_t count, uint64_t seed)
{
  return XXH3_64bits_withSeed(bytes, count, seed);
}

uint64_t gab_hash64(const void *bytes, size_t count, uint64_t seed) { return XXH64(bytes, count, seed); }

#else

/* XXH64 after the specification in doc/xxhash_spec.md of xxHash (version 0.1.1, Yann Collet). */

static const uint64_t prime1 = 0x9E3779B185EBCA87U, prime2 = 0xC2B2AE3D27D4EB4FU,
                      prime3 = 0x165667B19E3779F9U, prime4 = 0x85EBCA77C2B2AE63U,
                      prime5 = 0x27D4EB2F165667C5U;

static uint64_t rotate_left(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

static uint64_t read_little_endian(const unsigned char *from, int bytes)
{
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= (uint64_t)from[i] << (8 * i);
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

/* The stripes of 32 bytes, four lanes side by side. */
static uint64_t hash_stripes(const unsigned char **at, size_t stripes, uint64_t seed)
{
  uint64_t lane[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
  for (; stripes > 0; --stripes, *at += 32)
    for (int i = 0; i < 4; ++i) lane[i] = lane_round(lane[i], read_little_endian(*at + 8 * i, 8));
  uint64_t sum =
      rotate_left(lane[0], 1) + rotate_left(lane[1], 7) + rotate_left(lane[2], 12) + rotate_left(lane[3], 18);
  for (int i = 0; i < 4; ++i) sum = merge_lane(sum, lane[i]);
  return sum;
}

uint64_t gab_hash64_fast(const void *bytes, size_t count, uint64_t seed)
{
  return gab_hash64(bytes, count, seed);
}

uint64_t gab_hash64(const void *bytes, size_t count, uint64_t seed)
{
  const unsigned char *at = bytes;
  size_t left = count % 32;
  uint64_t sum = count >= 32 ? hash_stripes(&at, count / 32, seed) : seed + prime5;
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
