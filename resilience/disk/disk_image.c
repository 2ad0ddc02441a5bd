/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of images on disk, and the table of the blocks in them. */
#include "core/base/checkpoint_format.h"
#include "core/base/hash.h"
#include "resilience/disk/disk_impl.h"

#include <string.h>

enum { PIECE = 1 << 20, ROW_BYTES = GAB_DISK_COLUMNS * 8 };

static void put_number(unsigned char *place, uint64_t value)
{
  for (int i = 0; i < 8; i++) place[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *place)
{
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)place[i] << (8 * i);
  return value;
}

uint64_t gab_disk_hash(const unsigned char *bytes, size_t count, const atomic_bool *stop)
{
  uint64_t sum = gab_hash64("", 0, count);
  for (size_t done = 0; done < count && !(stop && *stop); done += PIECE)
    sum = gab_hash64(bytes + done, count - done < PIECE ? count - done : PIECE, sum);
  return sum;
}

typedef struct listing {
  gab_buffer *table;
  const gab_root_grid *grid;
  size_t offset; /* of the image of the forest in the whole image */
} listing;

static gab_status list_block(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  const listing *list = user;
  GAB_TRY(gab_put_u64(list->table, id));
  GAB_TRY(gab_put_u64(list->table, (uint64_t)gab_block_id_level(list->grid, id)));
  GAB_TRY(gab_put_u64(list->table, list->offset + offset));
  GAB_TRY(gab_put_u64(list->table, bytes));
  return gab_put_u64(list->table, 0);
}

gab_status gab_disk_table(const gab_forest *forest, const unsigned char *image, size_t bytes,
                          gab_buffer *table)
{
  gab_reader all = gab_reader_of(image, bytes), forest_part, entities;
  GAB_TRY(gab_image_cut(all, GAB_CHECKPOINT_FORMAT, 0, -1, GAB_NO_RANK, &forest_part, &entities));
  listing list = {table, &gab_forest_get_options(forest)->grid, (size_t)(forest_part.at - image)};
  return gab_forest_visit_image(forest, forest_part, list_block, &list);
}

void gab_disk_hash_table(const unsigned char *image, gab_buffer *table, const atomic_bool *stop)
{
  for (size_t i = 0; i < table->size / ROW_BYTES && !(stop && *stop); i++) {
    gab_disk_row row = gab_disk_table_row(table->data, i);
    put_number(table->data + i * ROW_BYTES + 32, gab_hash64(image + row.offset, (size_t)row.bytes, row.id));
  }
}

gab_disk_row gab_disk_table_row(const unsigned char *table, size_t index)
{
  const unsigned char *row = table + index * ROW_BYTES;
  return (gab_disk_row){.id = get_number(row),
                        .level = get_number(row + 8),
                        .offset = get_number(row + 16),
                        .bytes = get_number(row + 24),
                        .hash = get_number(row + 32)};
}
