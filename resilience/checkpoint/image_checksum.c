/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that protect images in memory. */
#include "resilience/checkpoint/checkpoint_impl.h"

#include "core/base/hash.h"

static const size_t piece_bytes = (size_t)128 * 1024;

/* Hashed by several threads, in pieces of fixed size with their number as seed, so that the sum depends on the order of
 * pieces but not on the number of threads. @param[in] known  NULL, or the hash of each piece if it was computed already,
 * else 0 */
static uint64_t hash_pieces(const unsigned char *bytes, size_t count, const uint64_t *known)
{
  const size_t pieces = count / piece_bytes + 1;
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (pieces > 8)
  for (size_t i = 0; i < pieces; i++) {
    const size_t start = i * piece_bytes, left = count - start;
    sum += known && known[i] ? known[i]
                             : gab_hash64_fast(bytes + start, left < piece_bytes ? left : piece_bytes, i);
  }
  return sum;
}

/* Hashes pieces that lie entirely in the bytes just written by one thread. The first piece is skipped: its head is not
 * final yet. A hash of 0 means unknown, and is computed at the end. */
static const unsigned char *follow(void *user, const unsigned char *from, const unsigned char *to)
{
  gab_checksum_trail *trail = user;
  const unsigned char *start = trail->out->data + trail->start;
  size_t i = (size_t)(from - start + (ptrdiff_t)piece_bytes - 1) / piece_bytes;
  if (i == 0) i = 1;
  for (; i < trail->pieces && (i + 1) * piece_bytes <= (size_t)(to - start); i++) {
    trail->known[i] = gab_hash64_fast(start + i * piece_bytes, piece_bytes, i);
    from = start + (i + 1) * piece_bytes;
  }
  return from;
}

/* The same for bytes that arrive in windows. Incomplete pieces at both ends are hashed at the end. */
static void hash_window(void *user, gab_follower_note *note, const unsigned char *place,
                        const unsigned char *bytes, size_t count)
{
  gab_checksum_trail *trail = user;
  for (size_t at = (size_t)(place - trail->out->data) - trail->start, some; count > 0;
       at += some, bytes += some, count -= some) {
    const size_t piece = at / piece_bytes, left = (piece + 1) * piece_bytes - at;
    some = count < left ? count : left;
    if (at % piece_bytes == 0) {
      note->hashing = piece > 0 && piece < trail->pieces;
      if (note->hashing) gab_hash64_fast_begin(&note->hash, piece);
    }
    if (!note->hashing) continue;
    gab_hash64_fast_add(&note->hash, bytes, some);
    if (some < left) continue;
    trail->known[piece] = gab_hash64_fast_of(&note->hash);
    note->hashing = false;
  }
}

gab_status gab_checksum_trail_begin(gab_checksum_trail *trail, gab_buffer *out, size_t at, size_t bytes)
{
  *trail =
      (gab_checksum_trail){.out = out, .start = at + sizeof(uint64_t), .pieces = bytes / piece_bytes + 1};
  GAB_TRY(GAB_NEW_ARRAY(&trail->known, trail->pieces, GAB_MEMORY_OTHER));
  trail->follower = (gab_buffer_follower){.follow = follow, .look = hash_window, .user = trail};
  out->follower = &trail->follower;
  out->followed = out->size;
  return GAB_OK;
}

void gab_checksum_trail_end(gab_checksum_trail *trail)
{
  if (trail->out) trail->out->follower = NULL;
  gab_free(&trail->known);
}

gab_status gab_checksum_begin(gab_buffer *out) { return gab_put_u64(out, 0); }

void gab_checksum_end(gab_buffer *out, size_t at, const gab_checksum_trail *trail)
{
  const size_t start = at + sizeof(uint64_t);
  const uint64_t hash = hash_pieces(out->data + start, out->size - start, trail ? trail->known : NULL);
  for (size_t i = 0; i < sizeof hash; i++) out->data[at + i] = (unsigned char)(hash >> (8 * i));
}

bool gab_checksum_matches(gab_reader *in)
{
  uint64_t hash;
  return gab_get_u64(in, &hash) == GAB_OK && hash == hash_pieces(in->at, gab_reader_left(in), NULL);
}
