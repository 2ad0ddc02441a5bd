/* SPDX-License-Identifier: Apache-2.0 */
/* Random domains for tests of the forest, and reference answers computed from scratch by every process. */
#ifndef GABION_TESTS_RANDOM_DOMAIN_H
#define GABION_TESTS_RANDOM_DOMAIN_H

#include "blockforest/adaptation/adapt.h"
#include "blockforest/forest/direction.h"
#include "core/base/hash.h"
#include "tests/mpi_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct random_domain {
  uint64_t seed;
  int holes; /* number of empty places among 16 */
  gab_forest_options options;
} random_domain;

static inline uint64_t domain_draw(const random_domain *domain, uint64_t what, uint64_t below)
{
  return gab_hash_counter(domain->seed, 1, what) % below;
}

static inline bool domain_exists(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2] + level);
  return gab_hash_counter(domain->seed, 2, place) % 16 >= (uint64_t)domain->holes;
}

/* The domain is its own options.user, so it must not be moved afterwards. */
static inline void domain_make(random_domain *domain, uint64_t seed)
{
  *domain = (random_domain){.seed = seed};
  domain->holes = (int)domain_draw(domain, 0, 3) * 4;
  gab_forest_options *options = &domain->options;
  options->grid.dimension = 2 + (int)domain_draw(domain, 1, 2);
  for (int axis = 0; axis < 3; axis++) {
    bool flat = axis == 2 && options->grid.dimension == 2;
    options->grid.roots[axis] = flat ? 1 : 1 + (int32_t)domain_draw(domain, 10 + (uint64_t)axis, 5);
    options->cells[axis] = flat ? 1 : 2 + (int32_t)domain_draw(domain, 20 + (uint64_t)axis, 4);
    options->periodic[axis] = domain_draw(domain, 30 + (uint64_t)axis, 2);
  }
  options->dx = 0.5;
  options->exists = domain->holes ? domain_exists : NULL;
  options->user = domain;
}

static inline bool domain_has(const random_domain *domain, const int32_t at[3])
{
  gab_box cells;
  for (int axis = 0; axis < 3; axis++) {
    cells.lo[axis] = (int64_t)at[axis] * domain->options.cells[axis];
    cells.hi[axis] = cells.lo[axis] + domain->options.cells[axis];
  }
  return !domain->options.exists || domain_exists((void *)(uintptr_t)domain, 0, &cells);
}

static inline gab_block_id domain_id(const random_domain *domain, const int32_t at[3])
{
  return gab_block_id_of(&domain->options.grid, (gab_block_place){0, {at[0], at[1], at[2]}});
}

/* The place next to `at`, over periodic borders; false outside or where no block exists. */
static inline bool domain_next(const random_domain *domain, const int32_t at[3], const int step[3],
                               int32_t next[3])
{
  for (int axis = 0; axis < 3; axis++) {
    int32_t roots = domain->options.grid.roots[axis];
    next[axis] = at[axis] + step[axis];
    bool wraps = domain->options.periodic[axis] && (axis < 2 || domain->options.grid.dimension == 3);
    if (wraps) next[axis] = (next[axis] + roots) % roots;
    if (next[axis] < 0 || next[axis] >= roots) return false;
  }
  return domain_has(domain, next);
}

#define FOR_PLACES(domain, at)                                                                               \
  for (int32_t at[3] = {0, 0, 0}; at[2] < (domain)->options.grid.roots[2]; at[2]++)                          \
    for (at[1] = 0; at[1] < (domain)->options.grid.roots[1]; at[1]++)                                        \
      for (at[0] = 0; at[0] < (domain)->options.grid.roots[0]; at[0]++)

/* Owner of a block: a pure function that every process can evaluate. */
typedef gab_rank (*owner_fn)(const void *rule, gab_block_id id);

/* Checks this process's blocks, ids, and every row of every table. */
static inline void domain_check(const random_domain *domain, const gab_forest *forest, owner_fn owner,
                                const void *rule)
{
  gab_rank me = gab_world_rank(gab_forest_world(forest));
  size_t mine = 0;
  REQUIRE(gab_forest_is_valid(forest));
  FOR_PLACES(domain, at)
  {
    if (!domain_has(domain, at)) continue;
    gab_block_id id = domain_id(domain, at);
    const gab_block *block = gab_forest_find(forest, id);
    REQUIRE((block != NULL) == (owner(rule, id) == me));
    if (!block) continue;
    mine++;
    size_t row = 0;
    const gab_neighbour *rows = gab_block_neighbours(block);
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      int step[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
      int32_t next[3];
      if (direction == 13 || !domain_next(domain, at, step, next)) continue;
      REQUIRE(row < gab_block_neighbour_count(block));
      REQUIRE(rows[row].direction == direction);
      REQUIRE(rows[row].id == domain_id(domain, next));
      REQUIRE(rows[row].owner == owner(rule, rows[row].id));
      row++;
    }
    REQUIRE(row == gab_block_neighbour_count(block));
  }
  REQUIRE(mine == gab_forest_block_count(forest));
}

static inline uint64_t domain_blocks(const random_domain *domain)
{
  uint64_t count = 0;
  FOR_PLACES(domain, at) count += domain_has(domain, at);
  return count;
}

/* Random owners, or all on a few ranks. */
typedef struct random_owners {
  uint64_t seed;
  gab_rank ranks; /* blocks go to ranks below */
  gab_rank first; /* … from here up */
} random_owners;

static inline gab_rank random_owner(const void *rule, gab_block_id id)
{
  const random_owners *owners = rule;
  uint64_t width = (uint64_t)(owners->ranks - owners->first);
  return owners->first + (gab_rank)(gab_hash_counter(owners->seed, 3, id) % width);
}

static inline random_owners owners_make(const gab_world *world, uint64_t seed)
{
  gab_rank ranks = gab_world_members(world)->ranks;
  random_owners owners = {seed, ranks, 0};
  uint64_t mode = gab_hash_counter(seed, 4, 0) % 4;
  gab_rank one = (gab_rank)(gab_hash_counter(seed, 4, 1) % (uint64_t)ranks);
  if (mode == 0) owners = (random_owners){seed, one + 1, one};
  if (mode == 1) owners = (random_owners){seed, ranks, one};
  return owners;
}

typedef struct placement {
  owner_fn owner;
  const void *rule;
} placement;

static inline gab_status place_by_rule(void *context, gab_proxies *proxies)
{
  const placement *to = context;
  const size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) targets[i] = to->owner(to->rule, gab_proxies_get(proxies, i)->id);
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

static inline void domain_populate(gab_forest *forest, owner_fn owner, const void *rule)
{
  placement to = {owner, rule};
  REQUIRE_OK(gab_forest_build(forest, NULL, NULL, 0, place_by_rule, &to, NULL));
}

/* ---- block data: numbers that encode their block and the number of changes */

typedef struct stones {
  size_t count;
  uint64_t *value;
} stones;

static inline gab_status stones_create(void *user, const gab_forest *forest, const gab_block *block,
                                       void **data)
{
  (void)forest;
  gab_block_id id = gab_block_get_id(block);
  stones *made = malloc(sizeof *made);
  made->count = gab_hash_counter(*(const uint64_t *)user, 5, id) % 300;
  made->value = malloc((made->count + 1) * sizeof *made->value);
  for (size_t i = 0; i < made->count; i++) made->value[i] = id + 7 * i;
  *data = made;
  return GAB_OK;
}

static inline void stones_destroy(void *user, void *data)
{
  (void)user;
  free(((stones *)data)->value);
  free(data);
}

static inline size_t stones_size(void *user, const void *data)
{
  (void)user;
  return 8 + 8 * ((const stones *)data)->count;
}

static inline gab_status stones_pack(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  const stones *from = data;
  GAB_TRY(gab_put_u64(out, from->count));
  for (size_t i = 0; i < from->count; i++) GAB_TRY(gab_put_u64(out, from->value[i]));
  return GAB_OK;
}

static inline gab_status stones_unpack(void *user, void *data, gab_reader *in)
{
  (void)user;
  stones *to = data;
  size_t count;
  GAB_TRY(gab_get_count(in, 8, &count));
  if (count != to->count) GAB_FAIL(GAB_ERR_CORRUPT, "%zu stones where %zu belong", count, to->count);
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_get_u64(in, &to->value[i]));
  return GAB_OK;
}

/* Derived data: stores the id of its block, is never packed. */
static inline gab_status sign_create(void *user, const gab_forest *forest, const gab_block *block,
                                     void **data)
{
  (void)user;
  (void)forest;
  gab_block_id *id = malloc(sizeof *id);
  *id = gab_block_get_id(block);
  *data = id;
  return GAB_OK;
}

static inline void sign_destroy(void *user, void *data)
{
  (void)user;
  free(data);
}

/* @param[in] seed  borrowed as long as the forest lives */
static inline gab_data_id stones_register(gab_forest *forest, uint64_t *seed)
{
  gab_data_id sign, id;
  gab_block_data_kind derived = {.name = "sign", .create = sign_create, .destroy = sign_destroy};
  gab_block_data_kind kind = {.name = "stones",
                              .user = seed,
                              .create = stones_create,
                              .destroy = stones_destroy,
                              .packed_size = stones_size,
                              .pack = stones_pack,
                              .unpack = stones_unpack};
  REQUIRE_OK(gab_forest_add_data(forest, &derived, &sign));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  return id;
}

/* Changes all blocks in the same way, for any owners. */
static inline void stones_change(gab_forest *forest, gab_data_id id)
{
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    stones *data = gab_block_data(gab_forest_block(forest, b), id);
    for (size_t i = 0; i < data->count; i++) data->value[i] = gab_hash_counter(data->value[i], 6, i);
  }
}

/* @param[in] id  of any data of the forest: signs were registered first */
static inline void signs_check(const gab_forest *forest, gab_data_id id)
{
  const gab_data_id signs = {id.forest, 1};
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    REQUIRE(*(gab_block_id *)gab_block_data(block, signs) == gab_block_get_id(block));
  }
}

/* A gab_distribute_fn: blocks to ranks in turn. @param[in] context  gab_rank, number of ranks */
static inline gab_status blocks_in_turn(void *context, gab_proxies *proxies)
{
  const gab_rank ranks = *(const gab_rank *)context;
  gab_rank *targets = malloc((gab_proxies_count(proxies) + 1) * sizeof *targets);
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    targets[i] = (gab_rank)(gab_proxies_get(proxies, i)->id % (uint64_t)ranks);
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

#endif
