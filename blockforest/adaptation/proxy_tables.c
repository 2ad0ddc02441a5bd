/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbour tables, built from known adjacent blocks. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/base/lower_bound_impl.h"
#include "blockforest/forest/topology_impl.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ known blocks */

static int by_id(const void *a, const void *b)
{
  const gab_known_block *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

static bool is_ascending(const gab_known *known)
{
  for (size_t i = 1; i < known->count; i++)
    if (known->blocks[i - 1].id >= known->blocks[i].id) return false;
  return true;
}

void gab_known_sort(gab_known *known)
{
  if (is_ascending(known)) return;
  qsort(known->blocks, known->count, sizeof *known->blocks, by_id);
  size_t kept = 0;
  for (size_t i = 0; i < known->count; i++)
    if (kept == 0 || known->blocks[kept - 1].id != known->blocks[i].id)
      known->blocks[kept++] = known->blocks[i];
  known->count = kept;
}

size_t gab_known_find(const gab_known *known, gab_block_id id, size_t *finger)
{
  const gab_known_block *blocks = known->blocks;
  size_t low = *finger, high, step = 1; /* finally blocks[low - 1] < id <= blocks[high] */
  if (known->count == 0) return SIZE_MAX;
  if (low < known->count - 1 && blocks[low + 1].id == id) return *finger = low + 1; /* the usual case */
  if (low < known->count && blocks[low].id < id) {
    for (++low; known->count - low > step && blocks[low + step].id < id; step *= 2) low += step + 1;
    high = known->count - low > step ? low + step : known->count;
  } else {
    if (low > known->count) low = known->count;
    for (high = low; high > step && blocks[high - step].id >= id; step *= 2) high -= step;
    low = high > step ? high - step + 1 : 0;
  }
  GAB_LOWER_BOUND(size_t, low, high, i, blocks[i].id < id);
  *finger = low;
  return low < known->count && blocks[low].id == id ? low : SIZE_MAX;
}

/* ------------------------------------------------------------------------------------------ tables */

/* Maximum number of rows in one direction: blocks across a split face. */
enum { ROWS_PER_DIRECTION = 4, MOST_ROWS = GAB_DIRECTIONS * ROWS_PER_DIRECTION };

typedef struct table_maker {
  const gab_topology *topology;
  const gab_known *known;
  int max_level, dimension;
  uint8_t touching[GAB_DIRECTIONS]; /* bit c: child c of the place in that direction is adjacent */
  size_t same[GAB_DIRECTIONS], coarse[GAB_DIRECTIONS], fine[GAB_DIRECTIONS]; /* fingers */
  gab_neighbour *rows;
  size_t count, capacity;
} table_maker;

static gab_status reserve_rows(table_maker *maker)
{
  if (maker->capacity - maker->count >= MOST_ROWS) return GAB_OK;
  size_t capacity = maker->capacity + maker->capacity / 2 + MOST_ROWS;
  GAB_TRY(GAB_RESIZE_ARRAY(&maker->rows, capacity, GAB_MEMORY_OTHER));
  maker->capacity = capacity;
  return GAB_OK;
}

static bool add_row(table_maker *maker, gab_block_id id, int direction, size_t *finger)
{
  size_t found = gab_known_find(maker->known, id, finger);
  if (found == SIZE_MAX) return false;
  gab_neighbour *row = &maker->rows[maker->count++];
  row->id = id;
  row->owner = maker->known->blocks[found].value;
  row->direction = (int8_t)direction;
  return true;
}

static void add_rows(table_maker *maker, int level, gab_block_id next, int direction)
{
  if (add_row(maker, next, direction, &maker->same[direction])) return;
  if (level > 0 && add_row(maker, next >> maker->dimension, direction, &maker->coarse[direction])) return;
  if (level >= maker->max_level) return;
  for (int child = 0; child < GAB_CHILDREN_MAX; child++)
    if (maker->touching[direction] >> child & 1)
      (void)add_row(maker, next << maker->dimension | (gab_block_id)child, direction,
                    &maker->fine[direction]);
}

/* The adjacent children depend only on the direction. */
static void find_touching(table_maker *maker)
{
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    for (int child = 0; child < gab_topology_child_count(maker->topology); child++) {
      bool touches = true;
      for (int axis = 0; axis < 3; axis++)
        if (offset[axis] != 0) touches = touches && (child >> axis & 1) == (offset[axis] < 0);
      if (touches) maker->touching[direction] |= (uint8_t)(1U << child);
    }
  }
}

static gab_status make_rows(table_maker *maker, gab_proxy *proxies, size_t count)
{
  gab_block_id around[GAB_DIRECTIONS];
  for (size_t i = 0; i < count; i++) {
    GAB_TRY(reserve_rows(maker));
    const size_t first = maker->count;
    const int level = gab_topology_around(maker->topology, proxies[i].id, around);
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
      if (around[direction] != GAB_NO_BLOCK) add_rows(maker, level, around[direction], direction);
    proxies[i].neighbour_count = maker->count - first;
  }
  return GAB_OK;
}

void gab_proxy_tables_attach(gab_proxy *proxies, size_t count, gab_neighbour *rows)
{
  for (size_t i = 0; i < count; i++) {
    proxies[i].neighbours = rows;
    rows += proxies[i].neighbour_count;
  }
}

gab_status gab_proxy_tables_make(const gab_topology *topology, const gab_known *known, gab_proxy *proxies,
                                 size_t count, gab_neighbour **rows, size_t *row_count)
{
  table_maker maker = {.topology = topology,
                       .known = known,
                       .max_level = gab_root_grid_max_level(&topology->grid),
                       .dimension = topology->grid.dimension};
  find_touching(&maker);
  const size_t usual = topology->grid.dimension == 3 ? 26 : 8;
  gab_status status = GAB_NEW_ARRAY(&maker.rows, count * usual, GAB_MEMORY_OTHER);
  maker.capacity = status == GAB_OK ? count * usual : 0;
  if (status == GAB_OK) status = make_rows(&maker, proxies, count);
  if (status == GAB_OK && maker.count < maker.capacity / 8 * 7) /* a nearly full array is not copied */
    status = GAB_RESIZE_ARRAY(&maker.rows, maker.count, GAB_MEMORY_OTHER);
  if (status != GAB_OK) {
    gab_free(&maker.rows);
    return status;
  }
  gab_proxy_tables_attach(proxies, count, maker.rows);
  *rows = maker.rows;
  *row_count = maker.count;
  return GAB_OK;
}
