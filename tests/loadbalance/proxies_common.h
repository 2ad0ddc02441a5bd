/* SPDX-License-Identifier: Apache-2.0 */
/* Random grids of several levels for the tests of balancing, and all of it on the root. */
#ifndef GABION_TESTS_PROXIES_COMMON_H
#define GABION_TESTS_PROXIES_COMMON_H

#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/blockforest/random_domain.h"

static inline uint64_t grid_weight(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2] + level);
  uint64_t weight = gab_hash_counter(domain->seed, 20, place);
  return weight % 9 == 0 ? 1 + weight % 1000 : 1 + weight % 10; /* now and then a heavy one */
}

static inline bool grid_has_weights(const random_domain *domain) { return domain_draw(domain, 50, 2); }

/* A domain, refined at random `rounds` times, up to some ten thousand blocks. */
static inline gab_proxies *grid_make(gab_world *world, random_domain *domain, uint64_t seed, int rounds)
{
  gab_proxies *proxies;
  domain_make(domain, seed);
  domain->options.exists = NULL; /* a hole may have no parent */
  if (grid_has_weights(domain)) domain->options.weight = grid_weight;
  REQUIRE_OK(gab_proxies_create(world, &domain->options, &proxies));
  for (int round = 0; round < rounds; round++) {
    size_t count = gab_proxies_count(proxies);
    gab_mark *marks = malloc((count + 1) * sizeof *marks);
    for (size_t i = 0; i < count; i++) {
      uint64_t draw = gab_hash_counter(seed, 30 + (uint64_t)round, gab_proxies_get(proxies, i)->id);
      marks[i] = draw % 16 < domain_draw(domain, 51, 8) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
    }
    REQUIRE_OK(gab_proxies_refine(proxies, marks, rounds, NULL));
    free(marks);
  }
  return proxies;
}

/* To members at random, or all to few of them. */
static inline void grid_scatter(gab_proxies *proxies, uint64_t seed)
{
  const gab_members *members = gab_world_members(gab_proxies_world(proxies));
  uint64_t count = (uint64_t)gab_members_count(members), mode = gab_hash_counter(seed, 40, 0) % 4;
  uint64_t one = gab_hash_counter(seed, 40, 1) % count;
  gab_rank *targets = malloc((gab_proxies_count(proxies) + 1) * sizeof *targets);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    uint64_t draw = gab_hash_counter(seed, 41, gab_proxies_get(proxies, i)->id) % count;
    if (mode == 0) draw = one;
    if (mode == 1 && draw == one) draw = (one + 1) % count; /* one has none */
    if (mode == 2) draw = draw * draw / count;              /* the first ones have more */
    targets[i] = gab_members_rank(members, (int32_t)draw);
  }
  REQUIRE_OK(gab_proxies_move(proxies, targets));
  free(targets);
}

/* ---- all blocks, on the root */

typedef struct listed {
  uint64_t position, weight;
  gab_block_id id;
  int32_t part; /* index of the member that has it */
  int level;
} listed;

typedef struct listing {
  listed *block;
  size_t count;
} listing;

static inline gab_status listing_take(void *user, gab_rank from, gab_reader bytes)
{
  listing *all = user;
  (void)from;
  while (gab_reader_left(&bytes) > 0) {
    all->block = realloc(all->block, (all->count + 1) * sizeof *all->block);
    GAB_TRY(gab_get_bytes(&bytes, &all->block[all->count++], sizeof *all->block));
  }
  return GAB_OK;
}

static inline int listing_order(const void *a, const void *b)
{
  const listed *left = a, *right = b;
  if (left->level != right->level) return left->level - right->level;
  return (left->position > right->position) - (left->position < right->position);
}

/* Position on the curve of the block's first cell of the deepest level there is. */
static inline uint64_t listing_position(const gab_root_grid *grid, const gab_curve *curve, gab_block_id id)
{
  int bits = 0, depth = 4;
  while (1 << bits < grid->roots[0] || 1 << bits < grid->roots[1] || 1 << bits < grid->roots[2]) bits++;
  gab_block_place place = gab_block_id_place(grid, id);
  uint32_t at[3];
  for (int axis = 0; axis < 3; axis++) at[axis] = (uint32_t)place.at[axis] << (depth - place.level);
  uint64_t position = curve->encode(grid->dimension, bits + depth, at), of_level;
  /* The curve may reach a block in another corner first: what counts is the block's own position. */
  for (int axis = 0; axis < 3; axis++) at[axis] = (uint32_t)place.at[axis];
  of_level = curve->encode(grid->dimension, bits + place.level, at);
  REQUIRE(position >> (grid->dimension * (depth - place.level)) == of_level);
  return of_level << (grid->dimension * (depth - place.level));
}

/* Sorted by level (or not) and position. Collective; empty on all but the root.
 * part: who is to have the local ones, NULL: who has them now */
static inline listing listing_make(gab_proxies *proxies, const gab_curve *curve, const int32_t *part,
                                   bool per_level)
{
  gab_world *world = gab_proxies_world(proxies);
  const gab_root_grid *grid = &gab_proxies_options(proxies)->grid;
  listing all = {0};
  gab_buffer mine = {0};
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    listed item;
    memset(&item, 0, sizeof item);
    item.id = proxy->id;
    item.weight = proxy->weight;
    item.position = listing_position(grid, curve, proxy->id);
    item.part = part ? part[i] : gab_members_index(gab_world_members(world), gab_world_rank(world));
    item.level = per_level ? gab_proxies_level(proxies, proxy->id) : 0;
    REQUIRE_OK(gab_put_bytes(&mine, &item, sizeof item));
  }
  REQUIRE_OK(gab_world_gather(world, &mine, listing_take, &all));
  gab_buffer_release(&mine);
  if (all.count > 0) qsort(all.block, all.count, sizeof *all.block, listing_order);
  return all;
}

/* ---- what is promised */

typedef struct promise {
  size_t first, count; /* of the level */
  uint64_t total, heaviest;
} promise;

static inline promise promise_of(const listing *all, size_t first)
{
  promise level = {.first = first};
  for (size_t j = first; j < all->count && all->block[j].level == all->block[first].level; j++) {
    level.count++;
    level.total += all->block[j].weight;
    if (all->block[j].weight > level.heaviest) level.heaviest = all->block[j].weight;
  }
  return level;
}

/* Checks the bounds of balance.h, and the report of the level. */
static inline void check_level(const listing *all, const promise *level, int32_t parts,
                               const gab_balance_share *share)
{
  uint64_t *load = calloc((size_t)parts, sizeof *load), most = 0, least_weight = UINT64_MAX;
  for (size_t j = level->first; j < level->first + level->count; j++) {
    load[all->block[j].part] += all->block[j].weight;
    if (all->block[j].weight < least_weight) least_weight = all->block[j].weight;
  }
  for (int32_t p = 0; p < parts; p++)
    if (load[p] > most) most = load[p];
  free(load);
  REQUIRE(most * (uint64_t)parts <= level->total + level->heaviest * (uint64_t)parts);
  bool equal = least_weight == level->heaviest;
  if (equal && level->count >= 10 * (size_t)parts)
    REQUIRE((double)most * parts <= 1.10000001 * (double)level->total);
  if (!share) return;
  REQUIRE(share->weight_max == most && share->weight_total == level->total);
  REQUIRE(share->blocks == level->count && share->heaviest == level->heaviest);
  REQUIRE(share->imbalance == (double)most * parts / (double)level->total);
}

static inline void check_promises(const listing *all, int32_t parts, bool per_level,
                                  const gab_balance_report *report)
{
  size_t *blocks = calloc((size_t)parts, sizeof *blocks), least = SIZE_MAX;
  for (size_t j = 0; j < all->count; j++) {
    REQUIRE(all->block[j].part >= 0 && all->block[j].part < parts);
    ++blocks[all->block[j].part];
  }
  for (int32_t p = 0; p < parts; p++)
    if (blocks[p] < least) least = blocks[p];
  free(blocks);
  REQUIRE(report->blocks == all->count && report->least_blocks == least);
  REQUIRE(least > 0 || all->count < (size_t)parts);
  for (size_t first = 0; first < all->count;) {
    promise level = promise_of(all, first);
    check_level(all, &level, parts, per_level ? &report->level[all->block[first].level] : NULL);
    first += level.count;
  }
}

#endif
