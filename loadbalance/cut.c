/* SPDX-License-Identifier: Apache-2.0 */
/* Division of the curve. With P parts, and of the blocks of one level (or of all) in curve order: n of them, total weight
 * W, and w_j the weight before block j:
 *
 * 1. s_j = floor(w_j P / W): a block belongs to the piece of [0, W) in which it begins. The blocks that begin in one piece
 *   weigh less than W/P plus the last of them, so no part gets more than mean + heaviest block.
 * 2. A block heavier than the mean makes s jump over parts. u_j = j + min over k <= j of (s_k - k) is the largest sequence
 *   below s that rises by at most 1 from block to block: after a heavy block, parts get one block each until s is reached
 *   again.
 * 3. t_j = max(u_j, P - (n - j)) if n >= P: parts left over at the end get one block each.
 *
 * In steps 2 and 3 a part gets a single block or a subset of its blocks from step 1, so the bound holds; t rises from 0 to
 * P - 1 in steps of at most 1, so no part stays empty if there are enough blocks. All of it follows from prefix sums (w, j)
 * and a prefix minimum.
 *
 * If each level is divided separately, one level of at least P blocks leaves no part empty; levels of fewer blocks are
 * distributed by step 1 only. If there is no such level, but at least as many blocks in all as parts, every level continues
 * to distribute single blocks where the level before stopped. */
#include "core/messages/collective.h"
#include "loadbalance/rendezvous_impl.h"

#include <string.h>

enum { MOST_LEVELS = 32 };

/* ------------------------------------------------------------------ prefixes */

static void add(void *into, const void *from, size_t count)
{
  uint64_t *a = into;
  const uint64_t *b = from;
  for (size_t i = 0; i < count; i++) a[i] += b[i];
}

static void lesser(void *into, const void *from, size_t count)
{
  int64_t *a = into;
  const int64_t *b = from;
  for (size_t i = 0; i < count; i++) a[i] = b[i] < a[i] ? b[i] : a[i];
}

/* Combines received values into both vectors. */
static gab_status take_prefix(gab_reader in, size_t arrived, gab_combine_fn combine, void *before, void *upto,
                              size_t count)
{
  uint64_t part[2 * MOST_LEVELS];
  for (size_t i = 0; i < arrived; i++) {
    gab_rank source;
    GAB_TRY(gab_get_i32(&in, &source));
    GAB_TRY(gab_get_bytes(&in, part, count * sizeof *part));
    combine(before, part, count);
    combine(upto, part, count);
  }
  return GAB_OK;
}

/* Combines numbers of 8 bytes over the members before this one, by doubling distances. before: on entry the neutral
 * elements, on return the result. */
static gab_status prefix(gab_world *world, gab_combine_fn combine, const void *values, void *before,
                         size_t count)
{
  const gab_members *members = gab_world_members(world);
  int32_t size = gab_members_count(members), index = gab_members_index(members, gab_world_rank(world));
  if (index < 0) return GAB_OK; /* a spare contributes nothing */
  uint64_t upto[2 * MOST_LEVELS];
  memcpy(upto, values, count * sizeof *upto);
  gab_status status = GAB_OK;
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  for (int64_t distance = 1; distance < size && status == GAB_OK; distance *= 2) {
    bool sends = index + distance < size;
    gab_rank target = sends ? gab_members_rank(members, (int32_t)(index + distance)) : GAB_NO_RANK;
    size_t arrived = 0;
    status = gab_world_route(world, upto, &target, sends, count * sizeof *upto, &received, &arrived);
    if (status == GAB_OK)
      status = take_prefix(gab_reader_of_buffer(&received), arrived, combine, before, upto, count);
  }
  gab_buffer_release(&received);
  return status;
}

/* ------------------------------------------------------------------ the cut */

typedef struct cut {
  gab_rendezvous *rendezvous;
  int64_t parts;
  bool per_level;
  int classes;
  uint64_t weight[MOST_LEVELS], blocks[MOST_LEVELS];      /* of all */
  uint64_t weight_at[MOST_LEVELS], block_at[MOST_LEVELS]; /* before the first local block, then running */
  int64_t low[MOST_LEVELS];                               /* of s_k - k */
} cut;

static int class_of(const cut *now, const gab_home_entry *entry) { return now->per_level ? entry->level : 0; }

static gab_status count_all(cut *now)
{
  gab_rendezvous *rendezvous = now->rendezvous;
  uint64_t deepest = 0, sums[2 * MOST_LEVELS] = {0}, before[2 * MOST_LEVELS] = {0};
  for (size_t i = 0; i < rendezvous->count && now->per_level; i++)
    if ((uint64_t)rendezvous->entries[i].level > deepest) deepest = (uint64_t)rendezvous->entries[i].level;
  GAB_TRY(gab_world_max_u64(rendezvous->world, &deepest, 1));
  now->classes = (int)deepest + 1;
  for (size_t i = 0; i < rendezvous->count; i++) {
    int c = class_of(now, &rendezvous->entries[i]);
    sums[c] += rendezvous->entries[i].weight;
    sums[now->classes + c]++;
  }
  size_t count = 2 * (size_t)now->classes, bytes = (size_t)now->classes * sizeof *sums;
  GAB_TRY(prefix(rendezvous->world, add, sums, before, count));
  memcpy(now->weight_at, before, bytes);
  memcpy(now->block_at, before + now->classes, bytes);
  GAB_TRY(gab_world_sum_u64(rendezvous->world, sums, count));
  memcpy(now->weight, sums, bytes);
  memcpy(now->blocks, sums + now->classes, bytes);
  rendezvous->blocks = 0;
  for (int c = 0; c < now->classes; c++) rendezvous->blocks += now->blocks[c];
  return GAB_OK;
}

/* floor(at * parts / weight), at < weight; usually 64 bits are enough, and much faster. */
static int32_t piece_of(const cut *now, uint64_t at, uint64_t weight)
{
  const uint64_t parts = (uint64_t)now->parts;
  if (weight <= UINT64_MAX / parts) return (int32_t)(at * parts / weight);
  return (int32_t)((gab_wide)at * parts / weight);
}

/* Step 1; then the minimum of s_k - k before this home. */
static gab_status place_by_weight(cut *now)
{
  int64_t low[MOST_LEVELS];
  uint64_t at[MOST_LEVELS], j[MOST_LEVELS];
  memcpy(at, now->weight_at, sizeof at);
  memcpy(j, now->block_at, sizeof j);
  for (int c = 0; c < now->classes; c++) low[c] = now->low[c] = INT64_MAX;
  for (size_t i = 0; i < now->rendezvous->count; i++) {
    gab_home_entry *entry = &now->rendezvous->entries[i];
    int c = class_of(now, entry);
    entry->part = piece_of(now, at[c], now->weight[c]);
    at[c] += entry->weight;
    int64_t ahead = entry->part - (int64_t)j[c]++;
    if (ahead < low[c]) low[c] = ahead;
  }
  return prefix(now->rendezvous->world, lesser, low, now->low, (size_t)now->classes);
}

/* Steps 2 and 3. */
static void leave_none_empty(cut *now)
{
  for (size_t i = 0; i < now->rendezvous->count; i++) {
    gab_home_entry *entry = &now->rendezvous->entries[i];
    int c = class_of(now, entry);
    int64_t j = (int64_t)now->block_at[c]++, blocks = (int64_t)now->blocks[c];
    if (now->per_level && blocks < now->parts) continue;
    if (entry->part - j < now->low[c]) now->low[c] = entry->part - j;
    int64_t part = j + now->low[c];
    if (blocks >= now->parts && part < now->parts - (blocks - j)) part = now->parts - (blocks - j);
    entry->part = (int32_t)part;
  }
}

static void deal_out(cut *now)
{
  for (size_t i = 0; i < now->rendezvous->count; i++) {
    gab_home_entry *entry = &now->rendezvous->entries[i];
    int c = class_of(now, entry);
    uint64_t before = now->block_at[c]++;
    for (int level = 0; level < c; level++) before += now->blocks[level];
    entry->part = (int32_t)(before % (uint64_t)now->parts);
  }
}

gab_status gab_rendezvous_cut(gab_rendezvous *rendezvous, int32_t parts, bool per_level)
{
  cut now = {.rendezvous = rendezvous, .parts = parts, .per_level = per_level};
  GAB_TRY(count_all(&now));
  bool has_level = !per_level;
  for (int c = 0; c < now.classes; c++) has_level = has_level || now.blocks[c] >= (uint64_t)parts;
  if (!has_level && rendezvous->blocks >= (uint64_t)parts) {
    deal_out(&now);
    return GAB_OK;
  }
  GAB_TRY(place_by_weight(&now));
  leave_none_empty(&now);
  return GAB_OK;
}
