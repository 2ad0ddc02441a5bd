/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of proxies: of the root grid, or of the blocks of a forest. */
#include "blockforest/forest/forest_impl.h"
#include "blockforest/adaptation/proxy_impl.h"
#include "blockforest/forest/topology_impl.h"

#include <stdlib.h>
#include <string.h>

/* Products of two 64-bit numbers. */
__extension__ typedef unsigned __int128 wide;

gab_box gab_proxies_cells(const gab_proxies *all, gab_block_id id)
{
  const gab_block_place place = gab_block_id_place(&all->options.grid, id);
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = (int64_t)place.at[axis] * all->options.cells[axis];
    box.hi[axis] = box.lo[axis] + all->options.cells[axis];
  }
  return box;
}

bool gab_proxy_exists(const gab_proxies *all, gab_block_id id)
{
  if (!all->options.exists) return true;
  const gab_box cells = gab_proxies_cells(all, id);
  return all->options.exists(all->options.user, gab_block_id_level(&all->options.grid, id), &cells);
}

uint64_t gab_proxy_weight(const gab_proxies *all, gab_block_id id)
{
  if (!all->options.weight) return 1;
  const gab_box cells = gab_proxies_cells(all, id);
  uint64_t weight =
      all->options.weight(all->options.user, gab_block_id_level(&all->options.grid, id), &cells);
  return weight > 0 ? weight : 1;
}

gab_status gab_proxies_check(const gab_proxies *all)
{
  GAB_TRY(gab_world_check(all->world));
  if (all->epoch != gab_world_epoch(all->world))
    GAB_FAIL(GAB_ERR_STATE, "these proxies were made before the world was repaired");
  return GAB_OK;
}

gab_status gab_proxies_abandon(gab_proxies *all, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(all->world, status);
  (void)gab_port_finish(all->port);
  return status;
}

/* ------------------------------------------------------------------------------------------ life */

static gab_status make_empty(gab_world *world, const gab_forest_options *options, gab_proxies **proxies)
{
  gab_proxies *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  made->epoch = gab_world_epoch(world);
  made->options = *options;
  made->topology.grid = options->grid;
  memcpy(made->topology.periodic, options->periodic, sizeof made->topology.periodic);
  *proxies = made;
  return GAB_OK;
}

void gab_proxies_destroy(gab_proxies **proxies)
{
  gab_proxies *dying = *proxies;
  if (!dying) return;
  if (dying->owns_port) gab_port_destroy(&dying->port);
  gab_free(&dying->proxies);
  gab_free(&dying->rows);
  gab_free(proxies);
}

/* ------------------------------------------------------------------------------------------ of roots */

/* This process's piece of the root places, by their linear index. */
typedef struct piece {
  uint64_t places, members, first, end;
} piece;

static uint64_t first_of_piece(const piece *of, uint64_t index)
{
  return (uint64_t)(((wide)index * of->places + of->members - 1) / of->members);
}

static piece piece_of(const gab_proxies *all)
{
  const gab_members *members = gab_world_members(all->world);
  const int32_t *roots = all->options.grid.roots;
  piece own = {.places = (uint64_t)roots[0] * (uint64_t)roots[1] * (uint64_t)roots[2],
               .members = (uint64_t)gab_members_count(members)};
  if (gab_world_is_spare(all->world)) return own; /* none */
  uint64_t index = (uint64_t)gab_members_index(members, gab_world_rank(all->world));
  own.first = first_of_piece(&own, index);
  own.end = first_of_piece(&own, index + 1);
  return own;
}

static gab_rank holder_of_place(const gab_proxies *all, const piece *of, uint64_t place)
{
  uint64_t index = (uint64_t)((wide)place * of->members / of->places);
  return gab_members_rank(gab_world_members(all->world), (int32_t)index);
}

/* The id of the first root block; the others follow in the order of places. */
static gab_block_id first_root(const gab_root_grid *grid)
{
  return gab_block_id_of(grid, (gab_block_place){0, {0, 0, 0}});
}

static gab_status make_roots(gab_proxies *all, const piece *own)
{
  const gab_root_grid *grid = &all->options.grid;
  const uint64_t x = (uint64_t)grid->roots[0], y = (uint64_t)grid->roots[1];
  GAB_TRY(GAB_NEW_ARRAY(&all->proxies, (size_t)(own->end - own->first), GAB_MEMORY_OTHER));
  for (uint64_t i = own->first; i < own->end; i++) {
    gab_block_place place = {0, {(int32_t)(i % x), (int32_t)(i / x % y), (int32_t)(i / x / y)}};
    gab_proxy root = {.id = gab_block_id_of(grid, place), .origin = GAB_ORIGIN_NONE};
    if (!gab_proxy_exists(all, root.id)) continue;
    root.weight = gab_proxy_weight(all, root.id);
    for (int c = 0; c < GAB_CHILDREN_MAX; c++) root.sources[c] = GAB_NO_RANK;
    all->proxies[all->count++] = root;
  }
  if (all->count == own->end - own->first) return GAB_OK;
  return GAB_RESIZE_ARRAY(&all->proxies, all->count, GAB_MEMORY_OTHER);
}

/* Finds the existing root places next to this piece. */
static gab_status survey_around(const gab_proxies *all, const piece *own, gab_known *known)
{
  gab_block_id around[GAB_DIRECTIONS];
  const gab_block_id first = first_root(&all->options.grid);
  size_t capacity = 0;
  for (size_t i = 0; i < all->count; i++) {
    (void)gab_topology_around(&all->topology, all->proxies[i].id, around);
    if (known->count + GAB_DIRECTIONS > capacity) {
      capacity = 2 * capacity + 1024;
      GAB_TRY(GAB_RESIZE_ARRAY(&known->blocks, capacity, GAB_MEMORY_OTHER));
    }
    for (int d = 0; d < GAB_DIRECTIONS; d++) {
      if (around[d] == GAB_NO_BLOCK) continue;
      const uint64_t place = around[d] - first;
      if (place >= own->first && place < own->end) continue;
      known->blocks[known->count++] = (gab_known_block){around[d], holder_of_place(all, own, place)};
    }
  }
  gab_known_sort(known);
  size_t kept = 0;
  for (size_t i = 0; i < known->count; i++)
    if (gab_proxy_exists(all, known->blocks[i].id)) known->blocks[kept++] = known->blocks[i];
  known->count = kept;
  return GAB_OK;
}

static gab_status make_root_tables(gab_proxies *all, const piece *own, gab_known *known)
{
  GAB_TRY(survey_around(all, own, known));
  GAB_TRY(GAB_RESIZE_ARRAY(&known->blocks, known->count + all->count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < all->count; i++)
    known->blocks[known->count++] = (gab_known_block){all->proxies[i].id, gab_world_rank(all->world)};
  gab_known_sort(known);
  return gab_proxy_tables_make(&all->topology, known, all->proxies, all->count, &all->rows, &all->row_count);
}

gab_status gab_proxies_create(gab_world *world, const gab_forest_options *options, gab_proxies **proxies)
{
  return gab_proxies_create_on(world, options, NULL, proxies);
}

gab_status gab_proxies_create_on(gab_world *world, const gab_forest_options *options, gab_port *port,
                                 gab_proxies **proxies)
{
  *proxies = NULL;
  GAB_TRY(gab_world_check(world));
  GAB_TRY(gab_root_grid_check(&options->grid));
  gab_proxies *made = NULL;
  gab_known known = {0};
  gab_status status = make_empty(world, options, &made);
  if (status != GAB_OK) return gab_world_raise(world, status);
  made->port = port;
  if (!port) GAB_TRY_GOTO(status, out, gab_port_create(world, "proxies", &made->port));
  made->owns_port = !port;
  const piece own = piece_of(made);
  GAB_TRY_GOTO(status, out, make_roots(made, &own));
  status = make_root_tables(made, &own, &known);
out:
  gab_free(&known.blocks);
  if (status == GAB_OK) {
    *proxies = made;
    return GAB_OK;
  }
  gab_proxies_destroy(&made);
  return status == GAB_ERR_FAULT ? status : gab_world_raise(world, status);
}

/* ------------------------------------------------------------------------------------------ of blocks */

static gab_status copy_blocks(const gab_forest *forest, gab_proxies *all)
{
  for (size_t i = 0; i < forest->block_count; i++) all->row_count += forest->blocks[i]->neighbour_count;
  GAB_TRY(GAB_NEW_ARRAY(&all->proxies, forest->block_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&all->rows, all->row_count, GAB_MEMORY_OTHER));
  gab_neighbour *rows = all->rows;
  for (; all->count < forest->block_count; all->count++) {
    const gab_block *block = forest->blocks[all->count];
    gab_proxy *proxy = &all->proxies[all->count];
    *proxy = (gab_proxy){.id = block->id,
                         .weight = gab_proxy_weight(all, block->id),
                         .neighbour_count = block->neighbour_count,
                         .origin = GAB_ORIGIN_SELF};
    for (int c = 0; c < GAB_CHILDREN_MAX; c++) proxy->sources[c] = GAB_NO_RANK;
    proxy->sources[0] = gab_world_rank(all->world);
    if (block->neighbour_count > 0) memcpy(rows, block->neighbours, block->neighbour_count * sizeof *rows);
    rows += block->neighbour_count;
  }
  gab_proxy_tables_attach(all->proxies, all->count, all->rows);
  return GAB_OK;
}

gab_status gab_proxies_of_forest(gab_forest *forest, gab_proxies **proxies)
{
  *proxies = NULL;
  GAB_TRY(gab_world_check(forest->world));
  if (forest->torn) GAB_FAIL(GAB_ERR_STATE, "the forest is incomplete: restore it first");
  gab_proxies *made = NULL;
  gab_status status = make_empty(forest->world, &forest->options, &made);
  if (status == GAB_OK) {
    made->port = forest->port;
    status = copy_blocks(forest, made);
  }
  if (status != GAB_OK) {
    gab_proxies_destroy(&made);
    return gab_world_raise(forest->world, status);
  }
  *proxies = made;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ access */

size_t gab_proxies_count(const gab_proxies *proxies) { return proxies->count; }
gab_proxy *gab_proxies_get(gab_proxies *proxies, size_t index) { return &proxies->proxies[index]; }
gab_world *gab_proxies_world(const gab_proxies *proxies) { return proxies->world; }
gab_port *gab_proxies_port(const gab_proxies *proxies) { return proxies->port; }
const gab_forest_options *gab_proxies_options(const gab_proxies *proxies) { return &proxies->options; }

int gab_proxies_level(const gab_proxies *proxies, gab_block_id id)
{
  return gab_block_id_level(&proxies->options.grid, id);
}

size_t gab_proxies_bytes(const gab_proxies *proxies)
{
  return sizeof *proxies + proxies->count * sizeof(gab_proxy) + proxies->row_count * sizeof(gab_neighbour);
}
