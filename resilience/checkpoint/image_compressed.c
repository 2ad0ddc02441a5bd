/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed images, as holders store them. Layout: hash of the rest, head, and the output of gab_compress() for each piece
 * of the image, including its hash. */
#include "resilience/checkpoint/checkpoint_impl.h"

#define COMPRESSED_MAGIC UINT32_C(0x47415351)
enum { HEAD_BYTES = 8 + 4 + 8 }; /* hash, magic, bytes of the image */

gab_status gab_image_compress_begin(const gab_buffer *own, gab_buffer *compressed)
{
  GAB_TRY(gab_message_begin(compressed));
  GAB_TRY(gab_checksum_begin(compressed));
  GAB_TRY(gab_put_u32(compressed, COMPRESSED_MAGIC));
  return gab_put_u64(compressed, gab_message_bytes(own));
}

gab_status gab_image_compress_piece(const gab_buffer *own, gab_codec codec, size_t *done,
                                    gab_buffer *compressed)
{
  const size_t all = gab_message_bytes(own), left = all - *done,
               count = left < GAB_SQUEEZE ? left : GAB_SQUEEZE;
  GAB_TRY(gab_compress(codec, own->data + GAB_ENVELOPE_BYTES + *done, count, compressed));
  *done += count;
  if (*done == all) gab_checksum_end(compressed, GAB_ENVELOPE_BYTES, NULL);
  return GAB_OK;
}

bool gab_image_is_compressed(const gab_buffer *message, size_t *image_bytes)
{
  uint64_t hash, bytes;
  uint32_t magic;
  if (gab_message_bytes(message) < HEAD_BYTES) return false;
  gab_reader in = gab_message_reader(message);
  if (gab_get_u64(&in, &hash) != GAB_OK || gab_get_u32(&in, &magic) != GAB_OK ||
      gab_get_u64(&in, &bytes) != GAB_OK)
    return false;
  if (image_bytes) *image_bytes = (size_t)bytes;
  return magic == COMPRESSED_MAGIC;
}

gab_status gab_image_expand(const gab_buffer *message, gab_buffer *image)
{
  size_t bytes;
  if (!gab_image_is_compressed(message, &bytes)) GAB_FAIL(GAB_ERR_CORRUPT, "an image that is not compressed");
  gab_reader in = gab_message_reader(message), head;
  GAB_TRY(gab_get_view(&in, HEAD_BYTES, &head));
  gab_buffer_clear(image);
  GAB_TRY(gab_buffer_reserve(image, bytes + GAB_ENVELOPE_BYTES));
  GAB_TRY(gab_message_begin(image));
  while (gab_reader_left(&in) > 0) GAB_TRY(gab_decompress(&in, image));
  if (gab_message_bytes(image) != bytes)
    GAB_FAIL(GAB_ERR_CORRUPT, "a compressed image of %zu bytes expands to %zu", bytes,
             gab_message_bytes(image));
  return GAB_OK;
}
