/* SPDX-License-Identifier: Apache-2.0 */
/* Whether and how the image of a snapshot is compressed for its holders. */
#include "resilience/schemes/redundancy_impl.h"
#include "resilience/checkpoint/checkpoint_impl.h"

enum { SAMPLE = 4 << 20 };
/* A lower ratio does not pay for decompression at a restore and a second pass over every byte. */
#define LEAST_RATIO 1.15

static const char *const names[GAB_COMPRESSION_COUNT] = {"none", "auto", "lz4", "zstd"};

const char *gab_compression_name(gab_compression compression)
{
  return compression < GAB_COMPRESSION_COUNT ? names[compression] : "?";
}

gab_status gab_checkpoint_set_compression(gab_checkpoint *checkpoint, gab_compression compression)
{
  static const gab_codec codecs[GAB_COMPRESSION_COUNT] = {GAB_CODEC_NONE, GAB_CODEC_NONE, GAB_CODEC_LZ4,
                                                          GAB_CODEC_ZSTD};
  if (compression >= GAB_COMPRESSION_COUNT || !gab_codec_is_built(codecs[compression]))
    GAB_FAIL(GAB_ERR_ARGUMENT, "compression '%s' is not part of this build (it needs Blosc)",
             gab_compression_name(compression));
  checkpoint->compression = compression;
  return GAB_OK;
}

/* Compression costs 1/speed per byte and saves the fraction (1 - 1/ratio) of the network time per byte, measured in earlier
 * snapshots. Without an earlier one nothing is compressed. Only the fast codec is tried: in memory the other one is slower
 * than any network. */
static bool pays(const gab_checkpoint *checkpoint, int copies, const gab_compress_trial *trial)
{
  const gab_checkpoint_stats *stats = &checkpoint->stats;
  const double sent = checkpoint->all_sent, seconds = stats->exchange_seconds - stats->compress_seconds;
  if (trial->ratio < LEAST_RATIO || !(sent > 0) || !(seconds > 0) || !(trial->bytes_per_second > 0))
    return false;
  const double saved = copies * (1 - 1 / trial->ratio) * seconds / sent;
  return 1 / trial->bytes_per_second < saved;
}

gab_status gab_compression_choose(const gab_checkpoint *checkpoint, const gab_snapshot *next,
                                  gab_codec *codec)
{
  const gab_buffer *own = &next->own;
  gab_compress_trial trial;
  *codec = GAB_CODEC_NONE;
  if (checkpoint->compression == GAB_COMPRESSION_LZ4) *codec = GAB_CODEC_LZ4;
  if (checkpoint->compression == GAB_COMPRESSION_ZSTD) *codec = GAB_CODEC_ZSTD;
  if (checkpoint->compression != GAB_COMPRESSION_AUTO || !gab_codec_is_built(GAB_CODEC_LZ4)) return GAB_OK;
  GAB_TRY(gab_compress_try(GAB_CODEC_LZ4, own->data + GAB_ENVELOPE_BYTES, gab_message_bytes(own), SAMPLE,
                           &trial));
  if (pays(checkpoint, gab_placement_copies(&next->placement), &trial)) *codec = GAB_CODEC_LZ4;
  return GAB_OK;
}
