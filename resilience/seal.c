/* Hashes that guard the images while they lie in memory. */
#include "resilience/checkpoint_impl.h"

#include "core/hash.h"

/* Hashed by several threads, as packing is done by several: pieces of fixed size, each with its number as
 * seed, so that the sum depends on their order and not on who hashed them. */
static uint64_t hash_pieces(const unsigned char *bytes, size_t count)
{
  const size_t piece = (size_t)256 * 1024, pieces = count / piece + 1;
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (pieces > 4)
  for (size_t i = 0; i < pieces; i++) {
    const size_t start = i * piece, left = count - start;
    sum += gab_hash64_fast(bytes + start, left < piece ? left : piece, i);
  }
  return sum;
}

gab_status gab_seal_begin(gab_buffer *out) { return gab_put_u64(out, 0); }

void gab_seal_end(gab_buffer *out, size_t at)
{
  const size_t start = at + sizeof(uint64_t);
  const uint64_t hash = hash_pieces(out->data + start, out->size - start);
  for (size_t i = 0; i < sizeof hash; i++) out->data[at + i] = (unsigned char)(hash >> (8 * i));
}

bool gab_seal_is_whole(gab_reader *in)
{
  uint64_t hash;
  return gab_get_u64(in, &hash) == GAB_OK && hash == hash_pieces(in->at, gab_reader_left(in));
}
