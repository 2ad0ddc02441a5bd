/* SPDX-License-Identifier: Apache-2.0 */
/* Decision on the new level of each block.
 *
 * All levels start at the requested values and only increase, round by round, according to the levels of the neighbours
 * in the previous round:
 * - at least the neighbour's level minus one (2:1; refinement has precedence);
 * - coarser than now only while all existing siblings have level and request in common. Missing children take part as
 *   holes (proxy_missing_children.c), which may merge or stay, but not be refined. The rules are monotone, so the
 *   result is the smallest solution above the requests, independent of distribution and order. An increase only causes
 *   increases of coarser blocks or siblings, so the rounds are bounded by twice the number of levels.
 *
 * Schornbaum & Rüde 2018, algorithm 1, decides on splits first and then accepts merges from the finest level up. A
 * merge depends on finer blocks only, so both give the same result. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/messages/collective.h"

#include <string.h>

/* Whether all siblings of proxy `index` request to be merged. */
static bool siblings_agree(const gab_proxies *all, const gab_border *border, const int8_t *levels,
                           size_t index, int8_t merged)
{
  const int dimension = all->options.grid.dimension;
  const gab_proxy *proxy = &all->proxies[index];
  unsigned agree = 1U << (proxy->id & ((1U << dimension) - 1));
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    const gab_block_id id = proxy->neighbours[r].id;
    if (id >> dimension != proxy->id >> dimension) continue;
    if (levels[gab_border_link(all, border, index, r)] == merged)
      agree |= 1U << (id & ((1U << dimension) - 1));
  }
  return agree == (1U << (1U << dimension)) - 1;
}

static int8_t next_level(const gab_proxies *all, const gab_border *border, int8_t now, const int8_t *levels,
                         size_t index)
{
  const gab_proxy *proxy = &all->proxies[index];
  int8_t level = levels[index];
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    if (proxy->neighbours[r].direction == GAB_DIRECTION_HOLE) continue; /* gab_widened.least */
    const int8_t least = (int8_t)(levels[gab_border_link(all, border, index, r)] - 1);
    if (least > level) level = least;
  }
  if (level < now && !siblings_agree(all, border, levels, index, level)) level = now;
  if (level > now && gab_proxy_is_hole(proxy)) level = now;
  return level;
}

/* Determines the new levels: the smallest ones at or above the requests that satisfy 2:1 and the agreement of siblings.
 * Collective. @param[in] now levels of the local proxies @param[in,out] levels per number: requested, then decided
 * @param[out] rounds  of messages */
static gab_status settle_levels(gab_proxies *all, gab_border *border, const int8_t *now, int8_t *levels,
                                int *rounds)
{
  int8_t *next;
  GAB_TRY(GAB_NEW_ARRAY(&next, all->count, GAB_MEMORY_OTHER));
  gab_status status = GAB_OK;
  uint64_t changed = 1;
  for (*rounds = 0; changed > 0 && status == GAB_OK; ++*rounds) {
    status = gab_border_exchange(all, border, levels, sizeof *levels);
    if (status != GAB_OK) break;
    changed = 0;
    for (size_t i = 0; i < all->count; i++) {
      next[i] = next_level(all, border, now[i], levels, i);
      changed |= next[i] != levels[i];
    }
    if (all->count > 0) memcpy(levels, next, all->count * sizeof *levels);
    status = gab_world_max_u64(all->world, &changed, 1);
  }
  gab_free(&next);
  return status;
}

/* ------------------------------------------------------------------------------------------ the whole */

/* Ids of one level have the same highest bit, and those of finer levels a higher one. */
static void find_levels(const gab_proxies *all, int8_t *now)
{
  gab_block_id end = 0; /* end of the ids of the present level */
  int8_t level = 0;
  for (size_t i = 0; i < all->count; i++) {
    const gab_block_id id = all->proxies[i].id;
    if (id >= end) {
      level = (int8_t)gab_proxies_level(all, id);
      for (end = 1; end != 0 && end <= id;) end <<= 1; /* 0: there are no higher ids */
    }
    now[i] = level;
  }
}

/* @param[in] least  of gab_widened; may be NULL */
static void wish(const gab_proxies *all, const gab_mark *marks, const int8_t *least, int max_level,
                 const int8_t *now, int8_t *levels)
{
  for (size_t i = 0; i < all->count; i++) {
    int change = 0;
    if (marks[i] == GAB_MARK_REFINE && now[i] < max_level) change = 1;
    if (marks[i] == GAB_MARK_COARSEN && now[i] > (least ? least[i] : 0)) change = -1;
    levels[i] = (int8_t)(now[i] + change);
  }
}

/* Sums over all ranks. */
typedef struct tally {
  uint64_t split, merged, forced, refused, blocks;
  uint64_t twice; /* blocks that would change level twice before their data has moved */
} tally;

enum { TALLY_NUMBERS = sizeof(tally) / sizeof(uint64_t) };

static tally count_changes(const gab_proxies *all, const gab_mark *marks, const int8_t *now,
                           const int8_t *levels)
{
  tally sum = {0};
  const gab_block_id last = (gab_block_id)gab_topology_child_count(&all->topology) - 1;
  for (size_t i = 0; i < all->count; i++) {
    const gab_proxy *proxy = &all->proxies[i];
    const int change = levels[i] - now[i];
    sum.blocks += !gab_proxy_is_hole(proxy);
    sum.split += change > 0;
    sum.forced += change > 0 && marks[i] != GAB_MARK_REFINE;
    sum.merged += change < 0 && (proxy->id & last) == 0;
    sum.refused += change >= 0 && marks[i] == GAB_MARK_COARSEN && now[i] > 0 && !gab_proxy_is_hole(proxy);
    sum.twice += (change > 0 && proxy->origin == GAB_ORIGIN_PARENT) ||
                 (change < 0 && proxy->origin == GAB_ORIGIN_CHILDREN);
  }
  return sum;
}

/* With a known border. @param[out] sum `twice` > 0: no changes */
static gab_status refine_within(gab_proxies *all, gab_border *border, const gab_mark *marks,
                                const int8_t *least, int max_level, tally *sum, int *rounds)
{
  int8_t *now;
  GAB_TRY(GAB_NEW_ARRAY(&now, 2 * all->count + border->theirs_count, GAB_MEMORY_OTHER));
  int8_t *levels = now + all->count;
  find_levels(all, now);
  wish(all, marks, least, max_level, now, levels);
  gab_status status = settle_levels(all, border, now, levels, rounds);
  if (status == GAB_OK) {
    *sum = count_changes(all, marks, now, levels);
    status = gab_world_sum_u64(all->world, &sum->split, TALLY_NUMBERS);
  }
  if (status == GAB_OK && sum->twice == 0 && sum->split + sum->merged > 0) {
    status = gab_proxies_change(all, border, now, levels);
    sum->blocks = all->count;
    if (status == GAB_OK) status = gab_world_sum_u64(all->world, &sum->blocks, 1);
  }
  gab_free(&now);
  return status;
}

static gab_status refine(gab_proxies *all, const gab_mark *marks, const int8_t *least, int max_level,
                         tally *sum, int *rounds)
{
  gab_border border;
  gab_status status = gab_border_make(all, &border);
  if (status == GAB_OK) status = refine_within(all, &border, marks, least, max_level, sum, rounds);
  if (status != GAB_OK) status = gab_proxies_abandon(all, status); /* releases the buffers of the border */
  gab_border_release(&border);
  return status;
}

/* With holes, if they may be relevant. */
static gab_status refine_widened(gab_proxies *all, const gab_mark *marks, int max_level, tally *sum,
                                 int *rounds)
{
  gab_widened wide;
  gab_status status = gab_proxies_widen(all, marks, &wide);
  if (status != GAB_OK) status = gab_proxies_abandon(all, status);
  else if (!wide.is_wide) return refine(all, marks, NULL, max_level, sum, rounds);
  else status = refine(&wide.proxies, wide.marks, wide.least, max_level, sum, rounds);
  if (status == GAB_OK && sum->twice == 0 && sum->split + sum->merged > 0) { /* no holes remain */
    gab_proxies old = *all;
    *all = wide.proxies;
    wide.proxies = old;
  }
  gab_widened_release(&wide);
  return status;
}

gab_status gab_proxies_refine(gab_proxies *proxies, const gab_mark *marks, int max_level,
                              gab_refine_report *report)
{
  GAB_TRY(gab_proxies_check(proxies));
  const int deepest = gab_root_grid_max_level(&proxies->options.grid);
  if (max_level < 0 || max_level > deepest)
    GAB_FAIL(GAB_ERR_INPUT,
             "blocks are to be refined up to level %d; with %" PRId32 " x %" PRId32 " x %" PRId32
             " root blocks levels 0 to %d are possible",
             max_level, proxies->options.grid.roots[0], proxies->options.grid.roots[1],
             proxies->options.grid.roots[2], deepest);
  gab_world_enter(proxies->world, GAB_FAULT_POINT_ADAPT_MARK);
  tally sum = {0};
  int rounds = 0;
  GAB_TRY(refine_widened(proxies, marks, max_level, &sum, &rounds));
  if (sum.twice > 0)
    GAB_FAIL(GAB_ERR_STATE,
             "%" PRIu64 " blocks would be split or merged twice before their data has moved; the data has to "
             "follow first",
             sum.twice);
  if (report)
    *report = (gab_refine_report){.split = sum.split,
                                  .merged = sum.merged,
                                  .forced = sum.forced,
                                  .refused = sum.refused,
                                  .blocks = sum.blocks,
                                  .rounds = rounds};
  return GAB_OK;
}
