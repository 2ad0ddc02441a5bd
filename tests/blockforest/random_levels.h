/* SPDX-License-Identifier: Apache-2.0 */
/* Forests of several levels for tests: random except for the 2:1 rule. Every process knows the whole grid, and
 * computes reference answers from it. */
#ifndef GABION_TESTS_RANDOM_LEVELS_H
#define GABION_TESTS_RANDOM_LEVELS_H

#include "blockforest/forest/forest_impl.h"
#include "core/base/hash.h"
#include "blockforest/forest/topology_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct leaves {
  gab_topology topology;
  gab_block_id *id; /* ascending */
  size_t count, capacity;
} leaves;

static inline int leaves_by_id(const void *a, const void *b)
{
  gab_block_id left = *(const gab_block_id *)a, right = *(const gab_block_id *)b;
  return (left > right) - (left < right);
}
static inline bool leaves_have(const leaves *all, gab_block_id id)
{
  return id != GAB_NO_BLOCK && bsearch(&id, all->id, all->count, sizeof id, leaves_by_id) != NULL;
}
static inline int leaves_level(const leaves *all, gab_block_id id)
{
  return gab_block_id_level(&all->topology.grid, id);
}

static inline void leaves_add(leaves *all, gab_block_id id)
{
  if (all->count == all->capacity) {
    all->capacity = all->capacity ? 2 * all->capacity : 256;
    all->id = realloc(all->id, all->capacity * sizeof *all->id);
    if (!all->id) _Exit(1);
  }
  all->id[all->count++] = id;
}

static inline void leaves_sort(leaves *all) { qsort(all->id, all->count, sizeof *all->id, leaves_by_id); }

/* Replaces the leaf by its children. */
static inline void leaves_split(leaves *all, size_t index)
{
  gab_block_id id = all->id[index];
  all->id[index] = gab_block_id_child(&all->topology.grid, id, 0);
  for (int child = 1; child < gab_topology_child_count(&all->topology); child++)
    leaves_add(all, gab_block_id_child(&all->topology.grid, id, child));
}

/* Splits neighbours of leaves that are more than one level finer, until there are none. */
static inline void leaves_balance(leaves *all)
{
  for (bool changed = true; changed;) {
    changed = false;
    leaves_sort(all);
    for (size_t i = 0; i < all->count && !changed; i++)
      for (int direction = 0; direction < GAB_DIRECTIONS && !changed; direction++) {
        gab_block_id at = gab_topology_next_to(&all->topology, all->id[i], direction);
        if (at == GAB_NO_BLOCK) continue;
        int level = leaves_level(all, at);
        for (; at != GAB_NO_BLOCK && !leaves_have(all, at);
             at = gab_block_id_parent(&all->topology.grid, at)) {}
        if (at == GAB_NO_BLOCK || leaves_level(all, at) >= level - 1) continue;
        const gab_block_id *found = bsearch(&at, all->id, all->count, sizeof at, leaves_by_id);
        leaves_split(all, (size_t)(found - all->id));
        changed = true;
      }
  }
}

/* Splits `percent` of the blocks of each level. */
static inline leaves leaves_make(const gab_forest_options *options, uint64_t seed, int max_level, int percent)
{
  leaves all = {.topology = {.grid = options->grid}};
  for (int axis = 0; axis < 3; axis++) all.topology.periodic[axis] = options->periodic[axis];
  gab_block_place place = {.level = 0};
  for (place.at[2] = 0; place.at[2] < options->grid.roots[2]; place.at[2]++)
    for (place.at[1] = 0; place.at[1] < options->grid.roots[1]; place.at[1]++)
      for (place.at[0] = 0; place.at[0] < options->grid.roots[0]; place.at[0]++)
        leaves_add(&all, gab_block_id_of(&options->grid, place));
  for (int level = 0; level < max_level; level++)
    for (size_t i = 0, count = all.count; i < count; i++)
      if (leaves_level(&all, all.id[i]) == level &&
          gab_hash_counter(seed, 77, all.id[i]) % 100 < (uint64_t)percent)
        leaves_split(&all, i);
  leaves_balance(&all);
  return all;
}

static inline void leaves_release(leaves *all)
{
  free(all->id);
  *all = (leaves){0};
}

/* Removes the places that options.exists excludes. */
static inline void leaves_drop_empty(leaves *all, const gab_forest *forest)
{
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (gab_forest_place_exists(forest, all->id[i])) all->id[kept++] = all->id[i];
  all->count = kept;
}

/* Instead of a seed: all on the root. */
#define LEAVES_ON_ROOT UINT64_MAX

static inline gab_rank leaves_owner(const gab_forest *forest, gab_block_id id, uint64_t seed)
{
  const gab_members *members = gab_world_members(gab_forest_world(forest));
  int32_t count = gab_members_count(members);
  if (seed == LEAVES_ON_ROOT) return gab_world_root(gab_forest_world(forest));
  return gab_members_rank(members, (int32_t)(gab_hash_counter(seed, 78, id) % (uint64_t)count));
}

static inline gab_status leaves_add_row(const gab_forest *forest, gab_block *block, gab_block_id id,
                                        int direction, uint64_t seed)
{
  return gab_block_add_neighbour(
      block,
      (gab_neighbour){.id = id, .owner = leaves_owner(forest, id, seed), .direction = (int8_t)direction});
}

static inline gab_status leaves_table(const leaves *all, const gab_forest *forest, gab_block *block,
                                      uint64_t seed)
{
  const gab_topology *topology = &all->topology;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_block_id next = gab_topology_next_to(topology, block->id, direction), children[GAB_CHILDREN_MAX];
    if (next == GAB_NO_BLOCK) continue;
    gab_block_id parent = gab_block_id_parent(&topology->grid, next);
    if (leaves_have(all, next)) GAB_TRY(leaves_add_row(forest, block, next, direction, seed));
    if (leaves_have(all, parent)) GAB_TRY(leaves_add_row(forest, block, parent, direction, seed));
    int count = gab_topology_touching_children(topology, block->id, direction, children);
    for (int i = 0; i < count; i++)
      if (leaves_have(all, children[i])) GAB_TRY(leaves_add_row(forest, block, children[i], direction, seed));
  }
  return GAB_OK;
}

/* Fills an empty forest with these leaves, each owned by a random rank. */
static inline gab_status leaves_populate(const leaves *all, gab_forest *forest, uint64_t seed)
{
  void *memory;
  GAB_TRY(gab_alloc((all->count + 1) * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory));
  gab_block **blocks = memory;
  size_t count = 0;
  for (size_t i = 0; i < all->count; i++)
    if (leaves_owner(forest, all->id[i], seed) == gab_world_rank(gab_forest_world(forest)))
      GAB_TRY(gab_block_make(forest, all->id[i], &blocks[count++]));
  gab_forest_adopt(forest, blocks, count);
  for (size_t i = 0; i < forest->block_count; i++)
    GAB_TRY(leaves_table(all, forest, forest->blocks[i], seed));
  for (size_t i = 0; i < forest->block_count; i++) {
    GAB_TRY(gab_block_make_data(forest, forest->blocks[i]));
    GAB_TRY(gab_block_initialise(forest, forest->blocks[i]));
  }
  return GAB_OK;
}

#endif
