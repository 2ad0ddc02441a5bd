/* Hashes that guard the images while they lie in memory. */
#include "resilience/checkpoint_impl.h"

#include "core/hash.h"

gab_status gab_seal_begin(gab_buffer *out) { return gab_put_u64(out, 0); }

void gab_seal_end(gab_buffer *out, size_t at)
{
  const size_t start = at + sizeof(uint64_t);
  uint64_t hash = gab_hash64(out->data + start, out->size - start, 0);
  for (size_t i = 0; i < sizeof hash; i++) out->data[at + i] = (unsigned char)(hash >> (8 * i));
}

bool gab_seal_is_whole(gab_reader *in)
{
  uint64_t hash;
  return gab_get_u64(in, &hash) == GAB_OK && hash == gab_hash64(in->at, gab_reader_left(in), 0);
}
