/* SPDX-License-Identifier: Apache-2.0 */
/* Packed blocks. A record is: id, number of rows, rows (id, owner, direction), then for each stored kind its
 * size and its canonical bytes. */
#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/tasks_impl.h"

enum { ROW_BYTES = 8 + 4 + 1, RECORD_HEAD_BYTES = 8 + 8, KIND_HEAD_BYTES = 8 };

size_t gab_record_size(const gab_forest *forest, const gab_block *block)
{
  size_t bytes = gab_record_bare_size(block);
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k]))
      bytes += KIND_HEAD_BYTES + forest->kinds[k].packed_size(forest->kinds[k].user, block->data[k]);
  return bytes;
}

size_t gab_record_least_size(const gab_forest *forest)
{
  size_t bytes = RECORD_HEAD_BYTES;
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k])) bytes += KIND_HEAD_BYTES;
  return bytes;
}

size_t gab_record_bare_size(const gab_block *block)
{
  return RECORD_HEAD_BYTES + block->neighbour_count * ROW_BYTES;
}

gab_status gab_record_pack_bare(const gab_block *block, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, block->id));
  GAB_TRY(gab_put_u64(out, block->neighbour_count));
  for (size_t i = 0; i < block->neighbour_count; i++) {
    GAB_TRY(gab_put_u64(out, block->neighbours[i].id));
    GAB_TRY(gab_put_i32(out, block->neighbours[i].owner));
    GAB_TRY(gab_put_u8(out, (uint8_t)block->neighbours[i].direction));
  }
  return GAB_OK;
}

typedef struct packing {
  const gab_forest *forest;
  gab_block *const *blocks;
  gab_buffer *out; /* one for each record, over its place */
} packing;

static gab_status pack_head(void *context, size_t index)
{
  const packing *job = context;
  const gab_block *block = job->blocks[index];
  if (block->is_unset)
    GAB_FAIL(GAB_ERR_STATE,
             "block " GAB_PRI_BLOCK " is lost and has not been approximated yet: it cannot be packed",
             block->id);
  return gab_record_pack_bare(block, &job->out[index]);
}

/* One behind the other. */
static gab_status find_places(const packing *job, size_t count, gab_buffer *out)
{
  size_t all = 0;
  void *memory;
  for (size_t i = 0; i < count; i++) all += gab_record_size(job->forest, job->blocks[i]);
  GAB_TRY(gab_buffer_extend(out, all, &memory));
  unsigned char *place = memory;
  for (size_t i = 0; i < count; i++) {
    job->out[i] = gab_buffer_over(place, gab_record_size(job->forest, job->blocks[i]));
    job->out[i].follower = out->follower;
    place += job->out[i].capacity;
  }
  return GAB_OK;
}

gab_status gab_records_pack(const gab_forest *forest, gab_block *const *blocks, size_t count, gab_buffer *out)
{
  gab_buffer *parts;
  GAB_TRY(GAB_NEW_ARRAY(&parts, count, GAB_MEMORY_OTHER));
  packing job = {forest, blocks, parts};
  gab_status status = find_places(&job, count, out);
  if (status == GAB_OK) {
    status = gab_tasks_run(count, pack_head, &job);
    if (status == GAB_OK) status = gab_blocks_pack(forest, blocks, count, job.out);
    for (size_t i = 0; i < count && status == GAB_OK; i++) gab_buffer_follow(&job.out[i]);
    out->followed = out->size; /* the records were shown one by one */
  }
  gab_free(&parts);
  return status;
}

static gab_status read_row(gab_reader *in, gab_neighbour *row)
{
  uint8_t direction;
  GAB_TRY(gab_get_u64(in, &row->id));
  GAB_TRY(gab_get_i32(in, &row->owner));
  GAB_TRY(gab_get_u8(in, &direction));
  row->direction = (int8_t)(direction < GAB_DIRECTIONS ? direction : -1);
  return GAB_OK;
}

gab_status gab_record_find_bare(const gab_forest *forest, gab_reader *in, gab_record *record)
{
  *record = (gab_record){.id = GAB_NO_BLOCK, .is_bare = true};
  GAB_TRY(gab_get_u64(in, &record->id));
  if (!gab_block_id_is_valid(&forest->options.grid, record->id))
    GAB_FAIL(GAB_ERR_CORRUPT, "packed block with the impossible id " GAB_PRI_BLOCK, record->id);
  size_t rows;
  GAB_TRY(gab_get_count(in, ROW_BYTES, &rows));
  return gab_get_view(in, rows * ROW_BYTES, &record->rows);
}

gab_status gab_record_find(const gab_forest *forest, gab_reader *in, gab_record *record)
{
  GAB_TRY(gab_record_find_bare(forest, in, record));
  record->is_bare = false;
  const unsigned char *start = in->at;
  for (int k = 0; k < forest->kind_count; k++) {
    if (!gab_kind_is_stored(&forest->kinds[k])) continue;
    size_t bytes;
    gab_reader skipped;
    GAB_TRY(gab_get_count(in, 1, &bytes));
    GAB_TRY(gab_get_view(in, bytes, &skipped));
  }
  record->data = gab_reader_of(start, (size_t)(in->at - start));
  return GAB_OK;
}

static gab_status unpack_table(const gab_forest *forest, gab_reader rows, gab_owner_map map, void *context,
                               gab_block *block)
{
  block->neighbour_count = 0;
  while (gab_reader_left(&rows) > 0) {
    gab_neighbour row;
    size_t count = block->neighbour_count;
    GAB_TRY(read_row(&rows, &row));
    /* Owners in the image may be ranks that this run never had: the present owner counts, or none. */
    const gab_rank then = row.owner;
    if (map && then >= 0) row.owner = map(context, then);
    const gab_rank now = row.owner;
    if (then >= 0 && now == GAB_NO_RANK) row.owner = 0;
    if (!gab_forest_row_is_possible(forest, block->id, count ? &block->neighbours[count - 1] : NULL, &row))
      GAB_FAIL(GAB_ERR_CORRUPT, "packed block " GAB_PRI_BLOCK " has an impossible neighbour table",
               block->id);
    row.owner = now;
    GAB_TRY(gab_block_add_neighbour(block, row));
  }
  return GAB_OK;
}

/* The block without its data. */
static gab_status make_block(const gab_forest *forest, gab_record *record, gab_owner_map map, void *context)
{
  if (!record->block) GAB_TRY(gab_block_make(forest, record->id, &record->block));
  if (!record->has_table) GAB_TRY(unpack_table(forest, record->rows, map, context, record->block));
  GAB_TRY(gab_block_make_data(forest, record->block));
  record->block->is_unset = record->is_bare;
  return GAB_OK;
}

gab_status gab_record_realise(const gab_forest *forest, gab_record *record, gab_owner_map map, void *context)
{
  GAB_TRY(make_block(forest, record, map, context));
  gab_reader data = record->data;
  return record->is_bare ? GAB_OK : gab_blocks_unpack(forest, &record->block, 1, &data);
}

typedef struct realising {
  const gab_forest *forest;
  gab_record *records;
  gab_owner_map map;
  void *context;
} realising;

static gab_status make_one(void *context, size_t index)
{
  const realising *job = context;
  return make_block(job->forest, &job->records[index], job->map, job->context);
}

/* Only records with data. */
static gab_status unpack_all(const gab_forest *forest, const gab_record *records, size_t count)
{
  gab_block **blocks;
  gab_reader *data;
  size_t full = 0;
  GAB_TRY(GAB_NEW_ARRAY(&blocks, count, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(&data, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    for (size_t i = 0; i < count; i++) {
      if (records[i].is_bare) continue;
      blocks[full] = records[i].block;
      data[full++] = records[i].data;
    }
    status = gab_blocks_unpack(forest, blocks, full, data);
    gab_free(&data);
  }
  gab_free(&blocks);
  return status;
}

gab_status gab_records_realise(const gab_forest *forest, gab_record *records, size_t count, gab_owner_map map,
                               void *context)
{
  realising job = {forest, records, map, context};
  size_t fresh = 0;
  gab_block_id *ids;
  GAB_TRY(GAB_NEW_ARRAY(&ids, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++)
    if (!records[i].block) ids[fresh++] = records[i].id;
  if (fresh > 0) gab_forest_expect(forest, ids, fresh);
  gab_free(&ids);
  const gab_status status = gab_tasks_run(count, make_one, &job);
  if (fresh > 0) gab_forest_expect(forest, NULL, 0);
  return status == GAB_OK ? unpack_all(forest, records, count) : status;
}
