/* SPDX-License-Identifier: Apache-2.0 */
/* Random grids of several levels and checks of them. Every process derives the expected grid from the list of all
 * blocks. */
#ifndef GABION_TESTS_ADAPTING_H
#define GABION_TESTS_ADAPTING_H

#include "blockforest/adaptation/adapt.h"
#include "blockforest/exchange/block_field.h"
#include "core/messages/collective.h"
#include "core/base/exact_sum.h"
#include "tests/blockforest/random_domain.h"
#include "blockforest/forest/topology_impl.h"

#include <math.h>

/* ---- the whole grid */

typedef struct grid_block {
  gab_block_id id;
  gab_rank owner;
} grid_block;

typedef struct whole_grid {
  grid_block *blocks; /* ascending by id */
  size_t count;
} whole_grid;

static inline int grid_order(const void *a, const void *b)
{
  const grid_block *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

static inline gab_status grid_visit(void *user, gab_rank from, gab_reader bytes)
{
  gab_buffer *all = user;
  while (gab_reader_left(&bytes) > 0) {
    gab_block_id id;
    GAB_TRY(gab_get_u64(&bytes, &id));
    GAB_TRY(gab_put_u64(all, id));
    GAB_TRY(gab_put_i32(all, from));
  }
  return GAB_OK;
}

static inline whole_grid grid_of(gab_forest *forest)
{
  gab_world *world = gab_forest_world(forest);
  gab_buffer mine = {0}, all = {0};
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    REQUIRE_OK(gab_put_u64(&mine, gab_block_get_id(gab_forest_block(forest, i))));
  REQUIRE_OK(gab_world_gather(world, &mine, grid_visit, &all));
  REQUIRE_OK(gab_world_broadcast(world, gab_world_root(world), &all));
  whole_grid grid = {malloc((all.size / 12 + 1) * sizeof(grid_block)), 0};
  gab_reader in = gab_reader_of_buffer(&all);
  while (gab_reader_left(&in) > 0) {
    REQUIRE_OK(gab_get_u64(&in, &grid.blocks[grid.count].id));
    REQUIRE_OK(gab_get_i32(&in, &grid.blocks[grid.count++].owner));
  }
  qsort(grid.blocks, grid.count, sizeof *grid.blocks, grid_order);
  gab_buffer_release(&mine);
  gab_buffer_release(&all);
  return grid;
}

static inline const grid_block *grid_find(const whole_grid *grid, gab_block_id id)
{
  grid_block key = {id, 0};
  return id == GAB_NO_BLOCK ? NULL : bsearch(&key, grid->blocks, grid->count, sizeof key, grid_order);
}

/* Expected rows of a block's table in one direction. @return number of rows */
static inline size_t grid_rows(const gab_topology *topology, const whole_grid *grid, gab_block_id id,
                               int direction, const grid_block *rows[GAB_CHILDREN_MAX])
{
  gab_block_id next = gab_topology_next_to(topology, id, direction), children[GAB_CHILDREN_MAX];
  size_t count = 0;
  if (next == GAB_NO_BLOCK) return 0;
  if ((rows[0] = grid_find(grid, next))) return 1;
  if ((rows[0] = grid_find(grid, gab_block_id_parent(&topology->grid, next)))) return 1;
  int touching = gab_topology_touching_children(topology, id, direction, children);
  for (int c = 0; c < touching; c++)
    if ((rows[count] = grid_find(grid, children[c]))) count++;
  return count;
}

/* Checks that blocks are unique and do not overlap, and that all tables are correct. */
static inline void grid_check(gab_forest *forest)
{
  const gab_topology *topology = gab_forest_topology(forest);
  whole_grid grid = grid_of(forest);
  REQUIRE(gab_forest_is_valid(forest));
  for (size_t i = 0; i < grid.count; i++) {
    gab_block_id up = grid.blocks[i].id;
    REQUIRE(i == 0 || grid.blocks[i - 1].id != up);
    while ((up = gab_block_id_parent(&topology->grid, up)) != GAB_NO_BLOCK) REQUIRE(!grid_find(&grid, up));
  }
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    const gab_neighbour *row = gab_block_neighbours(block);
    const gab_neighbour *end = row + gab_block_neighbour_count(block);
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      const grid_block *rows[GAB_CHILDREN_MAX];
      size_t count = grid_rows(topology, &grid, gab_block_get_id(block), direction, rows);
      for (size_t r = 0; r < count; r++, row++) {
        REQUIRE(row < end);
        REQUIRE(row->direction == direction && row->id == rows[r]->id && row->owner == rows[r]->owner);
      }
    }
    REQUIRE(row == end);
  }
  free(grid.blocks);
}

/* ---- owners */

static inline gab_status distribute_by_rule(void *context, gab_proxies *proxies)
{
  size_t count = gab_proxies_count(proxies);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  for (size_t i = 0; i < count; i++) targets[i] = random_owner(context, gab_proxies_get(proxies, i)->id);
  gab_status status = gab_proxies_move(proxies, targets);
  free(targets);
  return status;
}

/* ---- marks */

typedef struct random_marks {
  uint64_t seed, round;
} random_marks;

/* Siblings agree often enough that some of them merge. */
static inline gab_status random_mark(void *user, const gab_forest *forest, const gab_block *block,
                                     gab_mark *mark)
{
  const random_marks *rule = user;
  gab_block_id id = gab_block_get_id(block);
  gab_block_id parent = gab_block_id_parent(&gab_forest_topology(forest)->grid, id);
  uint64_t seed = gab_hash_counter(rule->seed, 50, rule->round);
  *mark = gab_hash_counter(seed, 52, id) % 8 < 2 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  if (parent != GAB_NO_BLOCK && gab_hash_counter(seed, 51, parent) % 8 < 4) *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static inline gab_mark random_mark_place(void *user, int level, const gab_box *cells)
{
  const random_marks *rule = user;
  uint64_t place = (uint64_t)(cells->lo[0] + 1000 * cells->lo[1] + 1000000 * cells->lo[2] + level);
  return gab_hash_counter(rule->seed, 53, place) % 4 == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* A domain whose blocks can be halved. */
static inline void adapting_domain(random_domain *domain, uint64_t seed)
{
  domain_make(domain, seed);
  gab_forest_options *options = &domain->options;
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    options->cells[axis] = 2 * (1 + (int32_t)domain_draw(domain, 40 + (uint64_t)axis, 2));
    options->grid.roots[axis] = 1 + (int32_t)domain_draw(domain, 50 + (uint64_t)axis, 3);
  }
}

/* ---- fields: one of small integers at first, so that means and sums are exact; one that splits with slopes */

typedef struct adapting_fields {
  gab_block_field plain, sloped;
  gab_data_id plain_id, sloped_id;
} adapting_fields;

static inline gab_status field_start(void *user, const gab_forest *forest, const gab_block *block, void *data)
{
  const gab_block_field *kind = user;
  gab_field *field = data;
  const int32_t *n = kind->shape.cells;
  for (int32_t z = 0; z < n[2]; z++)
    for (int32_t y = 0; y < n[1]; y++)
      for (int32_t x = 0; x < n[0]; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        for (int c = 0; c < kind->shape.components; c++) {
          double smooth = 1 + at[0] * (1 + c) + 0.5 * at[1] * at[1] + 0.25 * at[2];
          gab_field_set(field, x, y, z, c, kind->linear_split ? sin(smooth) : floor(smooth));
        }
      }
  return GAB_OK;
}

static inline void fields_register(gab_forest *forest, adapting_fields *fields)
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  gab_field_shape shape = {.components = 2};
  for (int axis = 0; axis < 3; axis++) {
    shape.cells[axis] = options->cells[axis];
    shape.ghosts[axis] = axis < options->grid.dimension;
  }
  fields->plain = (gab_block_field){.shape = shape};
  shape.layout = GAB_LAYOUT_AOS;
  fields->sloped = (gab_block_field){.shape = shape, .linear_split = true};
  gab_block_data_kind kinds[] = {gab_block_field_data(&fields->plain, "plain"),
                                 gab_block_field_data(&fields->sloped, "sloped")};
  kinds[0].initialise = kinds[1].initialise = field_start;
  REQUIRE_OK(gab_forest_add_data(forest, &kinds[0], &fields->plain_id));
  REQUIRE_OK(gab_forest_add_data(forest, &kinds[1], &fields->sloped_id));
}

/* Sum over all cells of value × volume, exact. */
static inline double field_total(gab_forest *forest, gab_data_id id, int component)
{
  gab_exact_sum sum;
  gab_exact_clear(&sum);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    const gab_field *field = gab_block_data(block, id);
    const int32_t *n = field->shape.cells;
    int shift = -gab_block_level(forest, block) * gab_forest_topology(forest)->grid.dimension;
    for (int32_t z = 0; z < n[2]; z++)
      for (int32_t y = 0; y < n[1]; y++)
        for (int32_t x = 0; x < n[0]; x++)
          gab_exact_add(&sum, ldexp(gab_field_get(field, x, y, z, component), shift));
  }
  REQUIRE_OK(gab_world_sum_exact(gab_forest_world(forest), &sum, 1));
  return gab_exact_value(&sum);
}

#endif
