/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and unpacks data of many blocks: each by itself, or together with blocks that share memory with it. */
#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/tasks_impl.h"
#include "core/base/lower_bound_impl.h"

#include <stdlib.h>

/* Most that go to one call. */
enum { MOST_TOGETHER = 32 };

/* The data of a block, where it lies, and where its bytes are or go. */
typedef struct item {
  gab_data_place place;
  size_t index;
  void *data;
  size_t bytes;
  size_t until; /* bytes of all items up to this one, and one more for each */
} item;

/* All of one kind. */
typedef struct job {
  const gab_block_data_kind *kind;
  gab_block *const *blocks;
  item *items; /* adjacent by shared memory */
  size_t count, shares;
  gab_buffer *out; /* packing: one for each block */
  gab_reader *in;  /* unpacking */
} job;

static int by_place(const void *a, const void *b)
{
  const item *x = a, *y = b;
  if (x->place.memory != y->place.memory) return x->place.memory < y->place.memory ? -1 : 1;
  if (x->place.at != y->place.at) return x->place.at < y->place.at ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static bool are_together(const item *a, const item *b)
{
  return a->place.memory != 0 && a->place.memory == b->place.memory;
}

/* ---- packing */

static gab_status check_packed(const job *all, const item *one, size_t before)
{
  const size_t packed = all->out[one->index].size - before;
  if (packed == one->bytes) return GAB_OK;
  GAB_FAIL(GAB_ERR_ARGUMENT, "data `%s' of block " GAB_PRI_BLOCK " announced %zu bytes and packed %zu",
           all->kind->name, all->blocks[one->index]->id, one->bytes, packed);
}

static gab_status pack_some(const job *all, item *items, size_t count)
{
  const gab_block_data_kind *kind = all->kind;
  const void *data[MOST_TOGETHER];
  gab_buffer *out[MOST_TOGETHER];
  size_t before[MOST_TOGETHER];
  for (size_t i = 0; i < count; i++) {
    data[i] = items[i].data;
    out[i] = &all->out[items[i].index];
    GAB_TRY(gab_put_u64(out[i], items[i].bytes));
    before[i] = out[i]->size;
  }
  GAB_TRY(count > 1 ? kind->pack_together(kind->user, data, count, out)
                    : kind->pack(kind->user, data[0], out[0]));
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(check_packed(all, &items[i], before[i]));
    gab_buffer_follow(out[i]);
  }
  return GAB_OK;
}

/* ---- unpacking */

static gab_status unpack_some(const job *all, const item *items, size_t count)
{
  const gab_block_data_kind *kind = all->kind;
  void *data[MOST_TOGETHER];
  gab_reader own[MOST_TOGETHER], *in[MOST_TOGETHER];
  for (size_t i = 0; i < count; i++) {
    size_t bytes;
    data[i] = items[i].data;
    in[i] = &own[i];
    GAB_TRY(gab_get_count(&all->in[items[i].index], 1, &bytes));
    GAB_TRY(gab_get_view(&all->in[items[i].index], bytes, in[i]));
  }
  GAB_TRY(count > 1 ? kind->unpack_together(kind->user, data, count, in)
                    : kind->unpack(kind->user, data[0], in[0]));
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_reader_expect_end(in[i]));
  return GAB_OK;
}

/* ---- both */

/* Each thread has the same number of bytes, except for a block: shared memory is cut at the end of a part. */
static size_t begin_of(const job *all, size_t share)
{
  const double part = (double)all->items[all->count - 1].until / (double)all->shares;
  size_t at = 0; /* the first item that is not within the shares before */
  GAB_LOWER_BOUND(size_t, at, all->count, i, (double)all->items[i].until <= part * (double)share);
  return share == all->shares ? all->count : at;
}

static gab_status run_share(void *context, size_t share)
{
  const job *all = context;
  const size_t last = begin_of(all, share + 1);
  for (size_t first = begin_of(all, share), end; first < last; first = end) {
    item *items = &all->items[first];
    for (end = first + 1; end < last && end - first < MOST_TOGETHER; end++)
      if (!are_together(items, &all->items[end])) break;
    GAB_TRY(all->out ? pack_some(all, items, end - first) : unpack_some(all, items, end - first));
  }
  return GAB_OK;
}

static gab_status run_kind(const gab_forest *forest, int k, job *all)
{
  const gab_block_data_kind *kind = &forest->kinds[k];
  all->kind = kind;
  for (size_t i = 0; i < all->count; i++) {
    all->items[i] = (item){.index = i, .data = all->blocks[i]->data[k]};
    if (kind->place) all->items[i].place = kind->place(kind->user, all->items[i].data);
  }
  if (kind->place && all->count > 1) qsort(all->items, all->count, sizeof *all->items, by_place);
  size_t sum = 0;
  for (size_t i = 0; i < all->count; i++) {
    item *one = &all->items[i];
    if (all->out) {
      one->bytes = kind->packed_size(kind->user, one->data);
    } else {
      gab_reader ahead = all->in[one->index];
      GAB_TRY(gab_get_count(&ahead, 1, &one->bytes));
    }
    one->until = sum += one->bytes + 1;
  }
  return gab_tasks_run(all->shares, run_share, all);
}

static gab_status run(const gab_forest *forest, job *all)
{
  if (all->count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&all->items, all->count, GAB_MEMORY_OTHER));
  all->shares = gab_tasks_threads();
  if (all->shares > all->count) all->shares = all->count;
  gab_status status = GAB_OK;
  for (int k = 0; k < forest->kind_count && status == GAB_OK; k++)
    if (gab_kind_is_stored(&forest->kinds[k])) status = run_kind(forest, k, all);
  gab_free(&all->items);
  return status;
}

gab_status gab_blocks_pack(const gab_forest *forest, gab_block *const *blocks, size_t count, gab_buffer *out)
{
  return run(forest, &(job){.blocks = blocks, .count = count, .out = out});
}

gab_status gab_blocks_unpack(const gab_forest *forest, gab_block *const *blocks, size_t count, gab_reader *in)
{
  GAB_TRY(run(forest, &(job){.blocks = blocks, .count = count, .in = in}));
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_reader_expect_end(&in[i]));
  return GAB_OK;
}
