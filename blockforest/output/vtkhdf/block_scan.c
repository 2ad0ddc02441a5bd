/* SPDX-License-Identifier: Apache-2.0 */
/* Each block is sent to the rank of its part of the order, which sorts what it receives. The prefix sums return the same
 * way. Two passes of the crystal router, one scan over ranks. */
#include "blockforest/output/vtkhdf/block_scan_impl.h"
#include "core/messages/collective.h"

#include <stdlib.h>

/* A block on its way to the rank that sorts it. Without padding. */
typedef struct item {
  uint64_t key, value;
  uint64_t block; /* index at its owner */
} item;

typedef struct sorted {
  item item;
  gab_rank owner;
} sorted;

static int by_key(const void *a, const void *b)
{
  const uint64_t left = ((const sorted *)a)->item.key, right = ((const sorted *)b)->item.key;
  return left < right ? -1 : left > right;
}

/* Position of the first cell of a block on the curve through all blocks of the finest level. */
static uint64_t key_of(const gab_root_grid *grid, gab_block_id id, int finest)
{
  const int level = gab_block_id_level(grid, id);
  const uint64_t path = (UINT64_C(1) << (grid->dimension * level)) - 1;
  const gab_block_place place = gab_block_id_place(grid, id);
  uint64_t root = 0;
  for (int axis = 2; axis >= 0; axis--)
    root = root * (uint64_t)grid->roots[axis] +
           (uint64_t)(place.at[axis] >> (axis < grid->dimension ? level : 0));
  return ((root << (grid->dimension * level)) | (id & path)) << (grid->dimension * (finest - level));
}

static gab_status find_finest(const gab_forest *forest, uint64_t *finest)
{
  *finest = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const uint64_t level = (uint64_t)gab_block_level(forest, gab_forest_block(forest, b));
    if (level > *finest) *finest = level;
  }
  return gab_world_max_u64(gab_forest_world(forest), finest, 1);
}

/* @param[out] items, targets  for each local block */
static void address(const gab_forest *forest, const uint64_t *values, int finest, item *items,
                    gab_rank *targets)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  const gab_members *members = gab_world_members(gab_forest_world(forest));
  const uint64_t ranks = (uint64_t)gab_members_count(members);
  const uint64_t keys = (uint64_t)grid->roots[0] * (uint64_t)grid->roots[1] * (uint64_t)grid->roots[2]
                        << (grid->dimension * finest);
  const uint64_t part = (keys + ranks - 1) / ranks;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    items[b] = (item){.key = key_of(grid, gab_block_get_id(gab_forest_block(forest, b)), finest),
                      .value = values[b],
                      .block = b};
    targets[b] = gab_members_rank(members, (int32_t)(items[b].key / part));
  }
}

static gab_status read_sorted(const gab_buffer *received, size_t count, sorted *all)
{
  gab_reader in = gab_reader_of_buffer(received);
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(gab_get_i32(&in, &all[i].owner));
    GAB_TRY(gab_get_bytes(&in, &all[i].item, sizeof all[i].item));
  }
  if (count > 1) qsort(all, count, sizeof *all, by_key);
  return gab_reader_expect_end(&in);
}

/* Replaces the values of sorted blocks by the sums over earlier blocks. Collective. */
static gab_status sum_up(gab_world *world, sorted *all, size_t blocks, uint64_t *total)
{
  uint64_t own = 0, sum;
  for (size_t i = 0; i < blocks; i++) own += all[i].item.value;
  GAB_TRY(gab_world_scan_u64(world, own, &sum, total));
  for (size_t i = 0; i < blocks; i++) {
    const uint64_t value = all[i].item.value;
    all[i].item.value = sum;
    sum += value;
  }
  return GAB_OK;
}

static gab_status send_back(gab_world *world, const sorted *all, size_t count, gab_buffer *received,
                            size_t *received_count)
{
  item *items = NULL;
  gab_rank *targets = NULL;
  gab_status status = GAB_NEW_ARRAY(&items, count, GAB_MEMORY_MESSAGE);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&targets, count, GAB_MEMORY_MESSAGE);
  for (size_t i = 0; i < count && status == GAB_OK; i++) {
    items[i] = all[i].item;
    targets[i] = all[i].owner;
  }
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK)
    status = gab_world_route(world, items, targets, count, sizeof *items, received, received_count);
  gab_free(&targets);
  gab_free(&items);
  return status;
}

static gab_status take_back(const gab_forest *forest, const gab_buffer *received, size_t received_count,
                            uint64_t *before)
{
  gab_reader in = gab_reader_of_buffer(received);
  if (received_count != gab_forest_block_count(forest))
    GAB_FAIL(GAB_ERR_CORRUPT, "order of blocks: %zu answers for %zu blocks", received_count,
             gab_forest_block_count(forest));
  for (size_t i = 0; i < received_count; i++) {
    item it;
    gab_rank from;
    GAB_TRY(gab_get_i32(&in, &from));
    GAB_TRY(gab_get_bytes(&in, &it, sizeof it));
    if (it.block >= received_count) GAB_FAIL(GAB_ERR_CORRUPT, "order of blocks: an answer for another block");
    before[it.block] = it.value;
  }
  return GAB_OK;
}

static gab_status send_out(const gab_forest *forest, const uint64_t *values, int finest, gab_buffer *received,
                           size_t *received_count)
{
  gab_world *world = gab_forest_world(forest);
  const size_t blocks = gab_forest_block_count(forest);
  item *items = NULL;
  gab_rank *targets = NULL;
  gab_status status = GAB_NEW_ARRAY(&items, blocks, GAB_MEMORY_MESSAGE);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&targets, blocks, GAB_MEMORY_MESSAGE);
  if (status == GAB_OK) address(forest, values, finest, items, targets);
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK)
    status = gab_world_route(world, items, targets, blocks, sizeof *items, received, received_count);
  gab_free(&targets);
  gab_free(&items);
  return status;
}

gab_status gab_block_scan(const gab_forest *forest, const uint64_t *values, uint64_t *before, uint64_t *total)
{
  gab_world *world = gab_forest_world(forest);
  gab_buffer received;
  size_t sorted_count = 0, answers = 0;
  sorted *all = NULL;
  uint64_t finest;
  GAB_TRY(find_finest(forest, &finest));
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  gab_status status = send_out(forest, values, (int)finest, &received, &sorted_count);
  if (status == GAB_OK) {
    status = GAB_NEW_ARRAY(&all, sorted_count, GAB_MEMORY_MESSAGE);
    if (status == GAB_OK) status = read_sorted(&received, sorted_count, all);
    status = gab_world_reduce_status(world, status);
  }
  if (status == GAB_OK) status = sum_up(world, all, sorted_count, total);
  if (status == GAB_OK) status = send_back(world, all, sorted_count, &received, &answers);
  if (status == GAB_OK)
    status = gab_world_reduce_status(world, take_back(forest, &received, answers, before));
  gab_free(&all);
  gab_buffer_release(&received);
  return status;
}
