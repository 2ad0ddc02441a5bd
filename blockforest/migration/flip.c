/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/migration/flip.h"

#include "blockforest/forest/forest_impl.h"

static size_t bytes_of(const gab_block_data_kind *kind, const gab_block *block, int index)
{
  return gab_kind_is_stored(kind) ? kind->packed_size(kind->user, block->data[index]) : 0;
}

static gab_status flip_in(const gab_block_data_kind *kind, void *data, uint64_t bit)
{
  gab_buffer packed;
  gab_buffer_init(&packed, GAB_MEMORY_OTHER);
  gab_status status = kind->pack(kind->user, data, &packed);
  if (status == GAB_OK) {
    packed.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
    gab_reader reader = gab_reader_of_buffer(&packed);
    status = kind->unpack(kind->user, data, &reader);
  }
  gab_buffer_release(&packed);
  return status;
}

gab_status gab_forest_flip_bit(gab_forest *forest, uint64_t bit, gab_block_id *block)
{
  uint64_t all = 0;
  *block = 0;
  for (size_t i = 0; i < forest->block_count; i++)
    for (int k = 0; k < forest->kind_count; k++) all += bytes_of(&forest->kinds[k], forest->blocks[i], k);
  if (all == 0) return GAB_OK;
  bit %= 8 * all;
  for (size_t i = 0; i < forest->block_count; i++)
    for (int k = 0; k < forest->kind_count; k++) {
      const uint64_t bits = 8 * (uint64_t)bytes_of(&forest->kinds[k], forest->blocks[i], k);
      if (bit < bits) {
        *block = forest->blocks[i]->id;
        return flip_in(&forest->kinds[k], forest->blocks[i]->data[k], bit);
      }
      bit -= bits;
    }
  return GAB_OK;
}
