/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/vtkhdf/dual_mesh_impl.h"
#include "blockforest/forest/direction.h"
#include "blockforest/output/vtkhdf/block_scan_impl.h"
#include "core/messages/collective.h"

#include <stdlib.h>
#include <string.h>

size_t gab_dual_row_words(const gab_forest *forest)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  return ((size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2] + 63) / 64;
}

/* ---------------------------------------------------------------------------------------- blocks of other ranks */

/* A block on its way to the ranks of its neighbours. Without padding. */
typedef struct notice {
  gab_block_id id;
  uint64_t number, has_missing;
} notice;

/* Notices, or rows of missing cells, and their targets. */
typedef struct outbox {
  gab_buffer items, targets;
  size_t count;
} outbox;

static int by_id(const void *a, const void *b)
{
  const gab_block_id left = ((const gab_dual_block *)a)->id, right = ((const gab_dual_block *)b)->id;
  return left < right ? -1 : left > right;
}

static const gab_dual_block *find(const gab_dual_mesh *mesh, gab_block_id id)
{
  const gab_dual_block key = {.id = id};
  return bsearch(&key, mesh->blocks, mesh->block_count, sizeof key, by_id);
}

static bool is_first(const gab_buffer *ranks, size_t from, gab_rank rank)
{
  const gab_rank *all = (const gab_rank *)ranks->data;
  for (size_t i = from; i < ranks->size / sizeof *all; i++)
    if (all[i] == rank) return false;
  return true;
}

/* A block goes once to each other rank with neighbours of the same level or a finer one: they make the cells at it. */
static gab_status put_item(const gab_forest *forest, const gab_block *block, const void *item, size_t bytes,
                           outbox *out)
{
  const gab_root_grid *grid = &gab_forest_get_options(forest)->grid;
  const gab_neighbour *all = gab_block_neighbours(block);
  const size_t first = out->targets.size / sizeof(gab_rank);
  for (size_t n = 0; n < gab_block_neighbour_count(block); n++) {
    const gab_rank owner = all[n].owner;
    if (owner == gab_world_rank(gab_forest_world(forest))) continue;
    if (gab_block_id_level(grid, all[n].id) < gab_block_level(forest, block)) continue;
    if (!is_first(&out->targets, first, owner)) continue;
    GAB_TRY(gab_put_bytes(&out->targets, &owner, sizeof owner));
    GAB_TRY(gab_put_bytes(&out->items, item, bytes));
    out->count++;
  }
  return GAB_OK;
}

static gab_status collect(const gab_dual_mesh *mesh, const uint64_t *numbers, uint64_t *row, outbox *notices,
                          outbox *rows)
{
  const gab_forest *forest = mesh->forest;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    const gab_dual_block *own = &mesh->blocks[b];
    const notice about = {.id = own->id, .number = numbers[b], .has_missing = own->missing >= 0};
    GAB_TRY(put_item(forest, block, &about, sizeof about, notices));
    if (own->missing < 0) continue;
    row[0] = own->id;
    memcpy(row + 1, mesh->missing + (size_t)own->missing * mesh->row_words, mesh->row_words * sizeof *row);
    GAB_TRY(put_item(forest, block, row, (mesh->row_words + 1) * sizeof *row, rows));
  }
  return GAB_OK;
}

static gab_status add_notices(gab_dual_mesh *mesh, const gab_buffer *received, size_t count)
{
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_RESIZE_ARRAY(&mesh->blocks, mesh->block_count + count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    notice about;
    gab_rank from;
    GAB_TRY(gab_get_i32(&in, &from));
    GAB_TRY(gab_get_bytes(&in, &about, sizeof about));
    mesh->blocks[mesh->block_count++] =
        (gab_dual_block){.id = about.id, .number = about.number, .missing = -1};
  }
  if (mesh->block_count > 1) qsort(mesh->blocks, mesh->block_count, sizeof *mesh->blocks, by_id);
  return GAB_OK;
}

static gab_status add_rows(gab_dual_mesh *mesh, const gab_buffer *received, size_t count)
{
  const size_t own = gab_forest_block_count(mesh->forest), words = mesh->row_words;
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_RESIZE_ARRAY(&mesh->missing, (own + count) * words, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    gab_block_id id;
    gab_rank from;
    GAB_TRY(gab_get_i32(&in, &from));
    GAB_TRY(gab_get_bytes(&in, &id, sizeof id));
    GAB_TRY(gab_get_bytes(&in, mesh->missing + (own + i) * words, words * sizeof *mesh->missing));
    gab_dual_block *of = (gab_dual_block *)(uintptr_t)find(mesh, id);
    if (!of) GAB_FAIL(GAB_ERR_CORRUPT, "missing cells of a block that is not a neighbour");
    of->missing = (int64_t)(own + i);
  }
  return GAB_OK;
}

static gab_status exchange(gab_dual_mesh *mesh, const uint64_t *numbers)
{
  gab_world *world = gab_forest_world(mesh->forest);
  const size_t row_bytes = (mesh->row_words + 1) * sizeof(uint64_t);
  outbox notices = {.count = 0}, rows = {.count = 0};
  gab_buffer received = {0};
  uint64_t *row = NULL;
  size_t count;
  gab_status status = GAB_NEW_ARRAY(&row, mesh->row_words + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = collect(mesh, numbers, row, &notices, &rows);
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK)
    status = gab_world_route(world, notices.items.data, (const gab_rank *)notices.targets.data, notices.count,
                             sizeof(notice), &received, &count);
  if (status == GAB_OK) status = gab_world_reduce_status(world, add_notices(mesh, &received, count));
  if (status == GAB_OK)
    status = gab_world_route(world, rows.items.data, (const gab_rank *)rows.targets.data, rows.count,
                             row_bytes, &received, &count);
  if (status == GAB_OK) status = gab_world_reduce_status(world, add_rows(mesh, &received, count));
  gab_free(&row);
  gab_buffer_release(&received);
  gab_buffer_release(&notices.items);
  gab_buffer_release(&notices.targets);
  gab_buffer_release(&rows.items);
  gab_buffer_release(&rows.targets);
  return status;
}

/* ---------------------------------------------------------------------------------------- the mesh */

static gab_status set_own(gab_dual_mesh *mesh, const uint64_t *missing, uint64_t **numbers)
{
  const size_t count = gab_forest_block_count(mesh->forest), words = mesh->row_words;
  GAB_TRY(GAB_NEW_ARRAY(numbers, 2 * count, GAB_MEMORY_OTHER)); /* and a one for each */
  GAB_TRY(GAB_NEW_ARRAY(&mesh->missing, count * words, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&mesh->blocks, count, GAB_MEMORY_OTHER));
  if (count > 0) memcpy(mesh->missing, missing, count * words * sizeof *missing);
  for (size_t b = 0; b < count; b++) {
    bool some = false;
    for (size_t w = 0; w < words; w++) some |= missing[b * words + w] != 0;
    mesh->blocks[b] = (gab_dual_block){.id = gab_block_get_id(gab_forest_block(mesh->forest, b)),
                                       .missing = some ? (int64_t)b : -1};
    (*numbers)[count + b] = 1;
  }
  mesh->block_count = count;
  return GAB_OK;
}

gab_status gab_dual_mesh_create(const gab_forest *forest, const uint64_t *missing, gab_dual_mesh *mesh)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  const size_t count = gab_forest_block_count(forest);
  uint64_t *numbers = NULL, blocks = 0;
  *mesh = (gab_dual_mesh){.forest = forest,
                          .block_cells = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2],
                          .row_words = gab_dual_row_words(forest)};
  gab_status status = gab_world_reduce_status(gab_forest_world(forest), set_own(mesh, missing, &numbers));
  if (status == GAB_OK) status = gab_block_scan(forest, numbers + count, numbers, &blocks);
  for (size_t b = 0; b < count && status == GAB_OK; b++) mesh->blocks[b].number = numbers[b];
  mesh->points = blocks * mesh->block_cells;
  if (status == GAB_OK) status = exchange(mesh, numbers);
  gab_free(&numbers);
  if (status != GAB_OK) gab_dual_mesh_release(mesh);
  return status;
}

void gab_dual_mesh_release(gab_dual_mesh *mesh)
{
  gab_free(&mesh->missing);
  gab_free(&mesh->blocks);
}

uint64_t gab_dual_mesh_number(const gab_dual_mesh *mesh, const gab_block *block)
{
  return find(mesh, gab_block_get_id(block))->number;
}

/* ---------------------------------------------------------------------------------------- cells */

typedef enum around { AROUND_NOTHING, AROUND_SAME, AROUND_COARSER, AROUND_FINER } around;

/* The surroundings of a block in a direction. */
typedef struct side {
  around kind;
  const gab_dual_block *block; /* of the same level, or coarser */
  int64_t first[3];            /* its first cell, in cells of its level */
} side;

typedef struct view {
  const gab_dual_mesh *mesh;
  int dimension;
  int32_t cells[3];
  int64_t first[3]; /* first cell of the block, in cells of its level */
  side sides[GAB_DIRECTIONS];
} view;

/* What is in a direction, as the table of neighbours says. Periodic neighbours are outside. */
static side look(const gab_dual_mesh *mesh, const gab_block *block, int direction)
{
  const gab_forest_options *domain = gab_forest_get_options(mesh->forest);
  const gab_root_grid *grid = &domain->grid;
  gab_block_place place = gab_block_id_place(grid, gab_block_get_id(block));
  int offset[3];
  side found = {.kind = AROUND_NOTHING};
  gab_direction_offset(direction, offset);
  for (int axis = 0; axis < 3; axis++) place.at[axis] += offset[axis];
  const gab_block_id same = gab_block_id_of(grid, place);
  if (same == GAB_NO_BLOCK) return found;
  const gab_block_id coarser = gab_block_id_parent(grid, same);
  const gab_neighbour *all = gab_block_neighbours(block);
  for (size_t n = 0; n < gab_block_neighbour_count(block) && !found.block; n++) {
    if (all[n].direction != direction) continue;
    found.kind = all[n].id == same ? AROUND_SAME : all[n].id == coarser ? AROUND_COARSER : AROUND_FINER;
    if (found.kind == AROUND_FINER) return found;
    found.block = find(mesh, all[n].id);
  }
  if (!found.block) return (side){.kind = AROUND_NOTHING};
  const gab_block_place of = gab_block_id_place(grid, found.block->id);
  for (int axis = 0; axis < 3; axis++) found.first[axis] = (int64_t)of.at[axis] * domain->cells[axis];
  return found;
}

static view look_around(const gab_dual_mesh *mesh, const gab_block *block)
{
  const gab_forest_options *domain = gab_forest_get_options(mesh->forest);
  const gab_box box = gab_block_cells(mesh->forest, block);
  view seen = {.mesh = mesh, .dimension = domain->grid.dimension};
  for (int axis = 0; axis < 3; axis++) {
    seen.cells[axis] = domain->cells[axis];
    seen.first[axis] = box.lo[axis];
  }
  for (int d = 0; d < GAB_DIRECTIONS; d++) {
    const bool is_flat = seen.dimension == 2 && d / 9 != 1;
    if (d != GAB_DIRECTION_CENTRE && !is_flat) seen.sides[d] = look(mesh, block, d);
  }
  seen.sides[GAB_DIRECTION_CENTRE] =
      (side){.kind = AROUND_SAME, .block = find(mesh, gab_block_get_id(block))};
  memcpy(seen.sides[GAB_DIRECTION_CENTRE].first, seen.first, sizeof seen.first);
  return seen;
}

static int direction_to(const view *seen, const int32_t cell[3])
{
  int offset[3];
  for (int axis = 0; axis < 3; axis++) offset[axis] = cell[axis] < 0 ? -1 : cell[axis] >= seen->cells[axis];
  return gab_direction_of(offset[0], offset[1], offset[2]);
}

/* The point of the cell of the forest that covers a cell of this level. @return false if it is missing */
static bool point_at(const view *seen, const side *in, const int32_t cell[3], uint64_t *point)
{
  int64_t at[3];
  for (int axis = 0; axis < 3; axis++) {
    at[axis] = seen->first[axis] + cell[axis];
    if (in->kind == AROUND_COARSER && axis < seen->dimension) at[axis] /= 2;
    at[axis] -= in->first[axis];
  }
  const uint64_t index = (uint64_t)((at[2] * seen->cells[1] + at[1]) * seen->cells[0] + at[0]);
  if (in->block->missing >= 0) {
    const uint64_t *row = seen->mesh->missing + (size_t)in->block->missing * seen->mesh->row_words;
    if (row[index / 64] >> (index % 64) & 1) return false;
  }
  *point = in->block->number * seen->mesh->block_cells + index;
  return true;
}

/* The cell around the corner below cell `at` of the block. @return false if another block has it, or a cell is missing */
static bool join(const view *seen, const int32_t at[3], uint64_t *points)
{
  static const int order[GAB_DUAL_CORNERS] = {0, 1, 3, 2, 4, 5, 7, 6}; /* of VTK_HEXAHEDRON */
  const int corners = 1 << seen->dimension;
  bool is_complete = true, is_first = true;
  for (int k = 0; k < corners; k++) {
    int32_t cell[3];
    for (int axis = 0; axis < 3; axis++)
      cell[axis] = axis < seen->dimension ? at[axis] - 1 + (k >> axis & 1) : 0;
    const int direction = direction_to(seen, cell);
    const side *in = &seen->sides[direction];
    if (in->kind == AROUND_FINER) return false;
    if (in->kind == AROUND_SAME && is_first) {
      if (direction != GAB_DIRECTION_CENTRE) return false;
      is_first = false;
    }
    is_complete = is_complete && in->kind != AROUND_NOTHING && point_at(seen, in, cell, &points[order[k]]);
  }
  return is_complete;
}

void gab_dual_mesh_visit(const gab_dual_mesh *mesh, const gab_block *block, gab_dual_cell_fn *visit,
                         void *user)
{
  const view seen = look_around(mesh, block);
  uint64_t points[GAB_DUAL_CORNERS];
  const int32_t last = seen.dimension == 3 ? seen.cells[2] : 0;
  int32_t at[3];
  for (at[2] = 0; at[2] <= last; at[2]++)
    for (at[1] = 0; at[1] <= seen.cells[1]; at[1]++)
      for (at[0] = 0; at[0] <= seen.cells[0]; at[0]++)
        if (join(&seen, at, points)) visit(user, points);
}
