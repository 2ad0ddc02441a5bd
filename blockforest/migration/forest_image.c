/* SPDX-License-Identifier: Apache-2.0 */
/* Images: this process's part of the forest as bytes, and back. An image is a header that identifies the forest (format, root
 * grid, cells, periodicity, stored kinds by name), the number of blocks, and their records (forest_record.c). A metadata image
 * is the same without data in the records. */
#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/tasks_impl.h"
#include "core/messages/collective.h"
#include "core/base/checkpoint_format.h"
#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t image_magic = 0x74736572664261ffULL, metadata_magic = 0x656e6f62664261ffULL;
enum { KIND_NAME_BYTES = 256 };

/* ---- header */

static uint32_t stored_kinds(const gab_forest *forest)
{
  uint32_t count = 0;
  for (int k = 0; k < forest->kind_count; k++) count += gab_kind_is_stored(&forest->kinds[k]);
  return count;
}

static uint8_t periodic_bits(const gab_forest *forest)
{
  const bool *periodic = forest->options.periodic;
  return (uint8_t)(periodic[0] | periodic[1] << 1 | periodic[2] << 2);
}

static gab_status pack_header(const gab_forest *forest, uint64_t magic, gab_buffer *out)
{
  const gab_forest_options *options = &forest->options;
  GAB_TRY(gab_put_u64(out, magic));
  GAB_TRY(gab_put_u32(out, GAB_CHECKPOINT_FORMAT));
  GAB_TRY(gab_put_u8(out, (uint8_t)options->grid.dimension));
  GAB_TRY(gab_put_u8(out, periodic_bits(forest)));
  for (int axis = 0; axis < 3; axis++) {
    GAB_TRY(gab_put_i32(out, options->grid.roots[axis]));
    GAB_TRY(gab_put_i32(out, options->cells[axis]));
  }
  GAB_TRY(gab_put_u32(out, stored_kinds(forest)));
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k])) GAB_TRY(gab_put_string(out, forest->kinds[k].name));
  return gab_put_u64(out, forest->block_count);
}

static size_t header_size(const gab_forest *forest)
{
  size_t bytes = 8 + 4 + 1 + 1 + 3 * (4 + 4) + 4 + 8;
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k])) bytes += 4 + strlen(forest->kinds[k].name);
  return bytes;
}

static gab_status check_domain(const gab_forest *forest, gab_reader *in)
{
  const gab_forest_options *options = &forest->options;
  uint8_t dimension, periodic;
  GAB_TRY(gab_get_u8(in, &dimension));
  GAB_TRY(gab_get_u8(in, &periodic));
  bool same = dimension == options->grid.dimension && periodic == periodic_bits(forest);
  for (int axis = 0; axis < 3; axis++) {
    int32_t roots, cells;
    GAB_TRY(gab_get_i32(in, &roots));
    GAB_TRY(gab_get_i32(in, &cells));
    same = same && roots == options->grid.roots[axis] && cells == options->cells[axis];
  }
  if (!same) GAB_FAIL(GAB_ERR_CORRUPT, "the image is one of another domain or other blocks");
  return GAB_OK;
}

static gab_status check_kinds(const gab_forest *forest, gab_reader *in)
{
  uint32_t count;
  GAB_TRY(gab_get_u32(in, &count));
  if (count != stored_kinds(forest))
    GAB_FAIL(GAB_ERR_CORRUPT, "the image holds %" PRIu32 " kinds of data, the forest has %" PRIu32, count,
             stored_kinds(forest));
  for (int k = 0; k < forest->kind_count; k++) {
    char name[KIND_NAME_BYTES];
    if (!gab_kind_is_stored(&forest->kinds[k])) continue;
    GAB_TRY(gab_get_string(in, name, sizeof name));
    if (strcmp(name, forest->kinds[k].name) != 0)
      GAB_FAIL(GAB_ERR_CORRUPT, "the image does not hold the data `%s' where it should",
               forest->kinds[k].name);
  }
  return GAB_OK;
}

/* @param[out] blocks  number of records that follow */
static gab_status read_header(const gab_forest *forest, gab_reader *in, bool is_bare, size_t *blocks)
{
  uint64_t magic;
  uint32_t format;
  GAB_TRY(gab_get_u64(in, &magic));
  if (magic != (is_bare ? metadata_magic : image_magic))
    GAB_FAIL(GAB_ERR_CORRUPT, "these bytes are no %s of a forest", is_bare ? "metadata image" : "image");
  GAB_TRY(gab_get_u32(in, &format));
  GAB_TRY(gab_checkpoint_format_check("the image of a forest", format, NULL));
  GAB_TRY(check_domain(forest, in));
  GAB_TRY(check_kinds(forest, in));
  const size_t least = is_bare ? gab_record_bare_size(&(gab_block){.id = 0}) : gab_record_least_size(forest);
  return gab_get_count(in, least, blocks);
}

/* ---- out */

size_t gab_forest_packed_size(const gab_forest *forest)
{
  size_t bytes = header_size(forest);
  for (size_t i = 0; i < forest->block_count; i++) bytes += gab_record_size(forest, forest->blocks[i]);
  return bytes;
}

gab_status gab_forest_pack(const gab_forest *forest, gab_buffer *out)
{
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a forest whose migration failed cannot be packed");
  GAB_TRY(gab_buffer_reserve(out, gab_forest_packed_size(forest)));
  GAB_TRY(pack_header(forest, image_magic, out));
  return gab_records_pack(forest, forest->blocks, forest->block_count, out);
}

gab_status gab_forest_pack_metadata(const gab_forest *forest, gab_buffer *out)
{
  size_t bytes = header_size(forest);
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "a forest whose migration failed cannot be packed");
  for (size_t i = 0; i < forest->block_count; i++) bytes += gab_record_bare_size(forest->blocks[i]);
  GAB_TRY(gab_buffer_reserve(out, bytes));
  GAB_TRY(pack_header(forest, metadata_magic, out));
  for (size_t i = 0; i < forest->block_count; i++) GAB_TRY(gab_record_pack_bare(forest->blocks[i], out));
  return GAB_OK;
}

/* ---- in */

gab_status gab_forest_visit_image(const gab_forest *forest, gab_reader image,
                                  gab_status (*visit)(void *user, gab_block_id id, size_t offset,
                                                      size_t bytes),
                                  void *user)
{
  const unsigned char *start = image.at;
  size_t blocks;
  GAB_TRY(read_header(forest, &image, false, &blocks));
  for (size_t i = 0; i < blocks; i++) {
    const unsigned char *at = image.at;
    gab_record record = {0};
    GAB_TRY(gab_record_find(forest, &image, &record));
    GAB_TRY(visit(user, record.id, (size_t)(at - start), (size_t)(image.at - at)));
  }
  return GAB_OK;
}

typedef struct findings {
  gab_record *records;
  size_t count;
} findings;

static gab_status find_records(const gab_forest *forest, gab_reader *image, bool is_bare, findings *found)
{
  size_t blocks;
  GAB_TRY(read_header(forest, image, is_bare, &blocks));
  GAB_TRY(GAB_RESIZE_ARRAY(&found->records, found->count + blocks, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < blocks; i++) {
    gab_record *record = &found->records[found->count];
    GAB_TRY(is_bare ? gab_record_find_bare(forest, image, record) : gab_record_find(forest, image, record));
    found->count++;
  }
  return GAB_OK;
}

static int by_id(const void *a, const void *b)
{
  gab_block_id left = ((const gab_record *)a)->id, right = ((const gab_record *)b)->id;
  return (left > right) - (left < right);
}

static gab_status find_all(const gab_forest *forest, const gab_forest_parts *parts, findings *found)
{
  for (size_t i = 0; i < parts->image_count; i++)
    GAB_TRY(find_records(forest, &parts->images[i], false, found));
  for (size_t i = 0; i < parts->metadata_count; i++)
    GAB_TRY(find_records(forest, &parts->metadata_images[i], true, found));
  if (found->count > 1) qsort(found->records, found->count, sizeof *found->records, by_id);
  for (size_t i = 1; i < found->count; i++)
    if (found->records[i - 1].id == found->records[i].id)
      GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " is in the images twice", found->records[i].id);
  return GAB_OK;
}

/* Passes existing blocks to their records, and destroys the rest before new blocks are made, so that memory does not
 * hold both. Leaves the forest empty. Approximated blocks must not depend on earlier data here. */
static void reuse_blocks(gab_forest *forest, findings *found)
{
  size_t next = 0;
  for (size_t i = 0; i < forest->block_count; i++) {
    gab_block *block = forest->blocks[i];
    while (next < found->count && found->records[next].id < block->id) next++;
    if (next < found->count && found->records[next].id == block->id && !found->records[next].block &&
        !found->records[next].is_bare) {
      found->records[next].block = block;
      forest->blocks[i] = NULL;
    }
  }
  gab_forest_clear(forest);
}

gab_status gab_forest_restore(gab_forest *forest, gab_reader *images, size_t image_count, gab_owner_map map,
                              void *context)
{
  const gab_forest_parts parts = {.images = images, .image_count = image_count};
  return gab_forest_restore_parts(forest, &parts, map, context);
}

gab_status gab_forest_restore_parts(gab_forest *forest, const gab_forest_parts *parts, gab_owner_map map,
                                    void *context)
{
  findings found = {NULL, 0};
  gab_block **blocks = NULL;
  gab_status status = find_all(forest, parts, &found);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&blocks, found.count, GAB_MEMORY_OTHER);
  if (status != GAB_OK) {
    gab_forest_clear(forest);
    gab_free(&found.records);
    return status;
  }
  reuse_blocks(forest, &found);
  status = gab_records_realise(forest, found.records, found.count, map, context);
  for (size_t i = 0; i < found.count; i++) blocks[i] = found.records[i].block;
  gab_forest_adopt(forest, blocks, found.count);
  forest->borders = gab_forest_sees_border(forest) ? GAB_BORDERS_HERE : GAB_BORDERS_NONE;
  if (status != GAB_OK) gab_forest_clear(forest);
  gab_free(&found.records);
  return status;
}

/* ---- the oracle */

typedef struct hashing {
  const gab_forest *forest;
  uint64_t *hashes;
} hashing;

static const unsigned char *hash_on(void *user, const unsigned char *from, const unsigned char *to)
{
  gab_hash64_add(user, from, (size_t)(to - from));
  return to;
}

/* Piece after piece as it is packed: one block may be as large as half of the memory that a process has left. */
static gab_status hash_kind(const gab_block_data_kind *kind, const void *data, gab_buffer *scratch,
                            uint64_t *hash)
{
  gab_hash64_stream stream;
  const gab_buffer_follower follower = {.follow = hash_on, .user = &stream};
  gab_hash64_begin(&stream, gab_hash64(kind->name, strlen(kind->name), *hash));
  gab_buffer_clear(scratch);
  scratch->follower = &follower;
  scratch->drains = true;
  const gab_status status = kind->pack(kind->user, data, scratch);
  gab_buffer_follow(scratch);
  scratch->follower = NULL;
  scratch->drains = false;
  *hash = gab_hash64_of(&stream);
  return status;
}

static gab_status hash_block(void *context, size_t index)
{
  const hashing *job = context;
  const gab_forest *forest = job->forest;
  const gab_block *block = forest->blocks[index];
  gab_buffer scratch;
  gab_buffer_init(&scratch, GAB_MEMORY_OTHER);
  gab_status status = gab_put_u64(&scratch, block->id);
  uint64_t hash = status == GAB_OK ? gab_hash64(scratch.data, scratch.size, 0) : 0;
  for (int k = 0; k < forest->kind_count && status == GAB_OK; k++)
    if (gab_kind_is_stored(&forest->kinds[k]))
      status = hash_kind(&forest->kinds[k], block->data[k], &scratch, &hash);
  job->hashes[index] = hash;
  gab_buffer_release(&scratch);
  return status;
}

/* Blocks without a state make the forest incomplete; the others would have a checksum nevertheless. */
static bool is_whole(const gab_forest *forest)
{
  bool whole = !forest->torn;
  for (size_t i = 0; i < forest->block_count; i++) whole = whole && !forest->blocks[i]->is_unset;
  return whole;
}

gab_status gab_forest_checksum(gab_forest *forest, uint64_t *checksum)
{
  uint64_t *hashes;
  uint64_t sums[2] = {0, !is_whole(forest)};
  *checksum = 0;
  GAB_TRY(gab_world_check(forest->world));
  GAB_TRY(GAB_NEW_ARRAY(&hashes, forest->block_count, GAB_MEMORY_OTHER));
  hashing job = {forest, hashes};
  gab_status status = sums[1] ? GAB_OK : gab_tasks_run(forest->block_count, hash_block, &job);
  for (size_t i = 0; i < forest->block_count && !sums[1]; i++) sums[0] += job.hashes[i];
  gab_free(&job.hashes);
  GAB_TRY(status);
  GAB_TRY(gab_world_sum_u64(forest->world, sums, 2));
  if (sums[1])
    GAB_FAIL(GAB_ERR_STATE,
             "a forest that is not whole, after a migration that failed or before what was lost "
             "is approximated, has no checksum");
  *checksum = sums[0];
  return GAB_OK;
}

gab_status gab_forest_global_blocks(gab_forest *forest, uint64_t *count)
{
  uint64_t sum = forest->block_count;
  GAB_TRY(gab_world_sum_u64(forest->world, &sum, 1));
  *count = sum;
  return GAB_OK;
}
