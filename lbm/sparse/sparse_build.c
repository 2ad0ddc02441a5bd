/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a sparse block: numbers, extra places, directions to ghosts, moves. Data for finding places lives only during the
 * build. */
#include "lbm/sparse/sparse_impl.h"

#include <stdlib.h>

#define NO_NUMBER UINT32_MAX

/* A list at its final length. @param[in,out] list  address of a pointer of any object type */
static gab_status trim(size_t count, size_t bytes_each, void *list)
{
  if (count > 0) return gab_realloc_elements(count, bytes_each, GAB_MEMORY_OTHER, list);
  gab_free(list);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ numbers */

static gab_status number_cells(gab_sparse_draft *draft)
{
  gab_lbm_block *block = draft->block;
  GAB_TRY(GAB_NEW_ARRAY(&draft->number, block->flags->elements, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < block->flags->elements; i++) draft->number[i] = NO_NUMBER;
  uint32_t next = 0;
  for (size_t k = 0; k < block->run_count; k++) {
    gab_run *run = &block->runs[k];
    run->start = next;
    for (int32_t i = 0; i < run->length; i++)
      draft->number[gab_flags_index(block->flags, run->x + i, run->y, run->z)] = next++;
  }
  block->sparse->cells = next;
  return GAB_OK;
}

/* An odd number of cache lines, so that directions do not compete for the same cache sets. */
static uint32_t stride_of(const gab_lbm_model *model, uint32_t cells)
{
  const uint32_t line = (uint32_t)(GAB_ALIGNMENT / gab_precision_bytes(model->options.precision));
  return ((cells + line - 1) / line | 1) * line;
}

static void set_storage(const gab_lbm_model *model, gab_sparse *sparse)
{
  gab_storage *even = &sparse->storage[0], *odd = &sparse->storage[1];
  for (int q = 0; q < model->lattice->q; q++) {
    const int opposite = gab_lattice_opposite(q);
    even->sent[q] = (ptrdiff_t)opposite * sparse->stride;
    odd->arriving[q] = (ptrdiff_t)q * sparse->stride;
    sparse->rows.arriving[q] = (ptrdiff_t)q * GAB_SPARSE_ROW;
    sparse->rows.sent[q] = (ptrdiff_t)opposite * GAB_SPARSE_ROW;
  }
  even->next = odd;
  odd->next = even;
  sparse->rows.next = &sparse->rows;
}

/* Every way between two cells of the block; the others are set by the links and the ghosts. */
static void reach_cells(gab_sparse_draft *draft)
{
  const gab_lbm_block *block = draft->block;
  const gab_lattice *lattice = draft->model->lattice;
  for (size_t k = 0; k < block->run_count; k++)
    for (int q = 0; q < lattice->q; q++)
      for (int32_t i = 0; i < block->runs[k].length; i++) {
        const gab_run *run = &block->runs[k];
        const int8_t *c = lattice->c[q];
        const int32_t from[3] = {run->x + i - c[0], run->y - c[1], run->z - c[2]};
        uint32_t number = gab_sparse_number(draft, from);
        *gab_sparse_arrives(draft, run->start + (uint32_t)i, q) =
            number == NO_NUMBER ? NO_NUMBER : gab_sparse_own(block->sparse, number, gab_lattice_opposite(q));
      }
}

/* Sets the populations sent by open cells in the odd state. */
static void fill_open_cells(const gab_sparse_draft *draft)
{
  const gab_sparse *sparse = draft->block->sparse;
  const int count = draft->model->lattice->q;
  for (size_t k = 0; k < sparse->open_count; k++) {
    uint32_t *row = &sparse->open_cells[k * (size_t)count];
    for (int q = 1; q < count; q++) row[q] = *gab_sparse_arrives(draft, row[0], gab_lattice_opposite(q));
  }
}

/* Near and far were noted as if both were places of the cell: see add_body_link() in lbm/boundaries/links/links.c. */
static void find_far_places(const gab_sparse_draft *draft)
{
  const gab_links *links = &draft->block->links;
  for (size_t i = 0; i < links->linear_count; i++) {
    gab_linear_link *link = &links->linears[i];
    uint32_t cell = link->near - gab_sparse_own(draft->block->sparse, 0, link->q);
    link->far = *gab_sparse_arrives(draft, cell, gab_lattice_opposite(link->q));
  }
}

/* ------------------------------------------------------------------------------------------ ways to ghosts
 */

static int by_kind_and_position(const void *a, const void *b)
{
  const gab_sparse_record *left = a, *right = b;
  if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
  return (left->position > right->position) - (left->position < right->position);
}

/* The number of q among the populations that cross in a direction. */
static int item_of(const gab_lattice *lattice, int direction, int q)
{
  int offset[3], item = 0;
  gab_direction_offset(direction, offset);
  for (int other = 1; other < q; other++) {
    bool crosses = true;
    for (int axis = 0; axis < 3; axis++)
      crosses = crosses && (offset[axis] == 0 || lattice->c[other][axis] == offset[axis]);
    item += crosses;
  }
  return item;
}

static gab_sparse_group group_of(const gab_lbm_model *model, uint32_t kind, uint32_t first)
{
  const gab_lattice *lattice = model->lattice;
  gab_sparse_group group = {.in = (int8_t)(kind % GAB_LATTICE_MAX_Q),
                            .out = (int8_t)(kind / GAB_LATTICE_MAX_Q % GAB_LATTICE_MAX_Q),
                            .direction = (int8_t)(kind / GAB_LATTICE_MAX_Q / GAB_LATTICE_MAX_Q),
                            .first = first};
  const int back = gab_direction_opposite(group.direction);
  group.out_item = (int8_t)item_of(lattice, group.direction, group.out);
  group.in_item = (int8_t)item_of(lattice, back, group.in);
  /* Both boxes have the same extent; along the direction they are one layer. */
  gab_box box = gab_direction_send_box(group.direction, model->cells, 1);
  int32_t stride = 1, offset[3];
  gab_direction_offset(group.direction, offset);
  for (int axis = 0; axis < 3; axis++) {
    const int moved = (lattice->c[group.out][axis] - lattice->c[group.in][axis]) / 2;
    if (offset[axis] == 0) group.shift += moved * stride;
    stride *= (int32_t)(box.hi[axis] - box.lo[axis]);
  }
  return group;
}

static gab_status list_groups(gab_sparse_draft *draft)
{
  gab_sparse *sparse = draft->block->sparse;
  size_t count = 0;
  for (size_t i = 0; i < draft->record_count; i++)
    count += i == 0 || draft->records[i].kind != draft->records[i - 1].kind;
  GAB_TRY(GAB_NEW_ARRAY(&sparse->groups, count + 1, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&sparse->ways, draft->record_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < draft->record_count; i++) {
    const gab_sparse_record *record = &draft->records[i];
    if (i == 0 || record->kind != draft->records[i - 1].kind)
      sparse->groups[sparse->group_count++] = group_of(draft->model, record->kind, (uint32_t)i);
    sparse->ways[i] = (gab_sparse_way){.position = record->position, .cell = record->cell};
  }
  for (int direction = 0, g = 0; direction < GAB_DIRECTIONS; direction++) {
    while (g < (int)count && sparse->groups[g].direction < direction) g++;
    sparse->first_group[direction] = (uint16_t)g;
  }
  sparse->groups[count] = (gab_sparse_group){.direction = -1, .first = (uint32_t)draft->record_count};
  return GAB_OK;
}

/* For sides along which slabs follow each other; their boxes have the layers of the block. */
static void find_slabs(const gab_lbm_model *model, const gab_sparse *sparse, const gab_sparse_group *group,
                       uint32_t *slab_ways)
{
  const gab_box box = gab_direction_send_box(group->direction, model->cells, 1);
  const int64_t layer = (int64_t)gab_box_count(&box) / (box.hi[model->slab_axis] - box.lo[model->slab_axis]);
  uint32_t way = group[0].first;
  for (int32_t slab = 0; slab <= model->slabs; slab++) {
    while (way < group[1].first &&
           (int64_t)sparse->ways[way].position + group->shift < (int64_t)slab * model->slab_layers * layer)
      way++;
    slab_ways[slab] = way;
  }
}

static gab_status list_slabs(const gab_lbm_model *model, gab_sparse *sparse)
{
  const size_t each = (size_t)model->slabs + 1;
  GAB_TRY(GAB_NEW_ARRAY(&sparse->slab_ways, sparse->group_count * each, GAB_MEMORY_OTHER));
  for (size_t g = 0; g < sparse->group_count; g++)
    find_slabs(model, sparse, &sparse->groups[g], sparse->slab_ways + g * each);
  return GAB_OK;
}

static gab_status place_ghosts(gab_sparse_draft *draft)
{
  gab_sparse *sparse = draft->block->sparse;
  if (draft->record_count > 0)
    qsort(draft->records, draft->record_count, sizeof *draft->records, by_kind_and_position);
  GAB_TRY(list_groups(draft));
  GAB_TRY(list_slabs(draft->model, sparse));
  sparse->ghosts = (uint32_t)draft->places;
  for (size_t g = 0; g < sparse->group_count; g++)
    for (uint32_t w = sparse->groups[g].first; w < sparse->groups[g + 1].first; w++) {
      uint32_t place = 0;
      GAB_TRY(gab_sparse_take_place(draft, &place));
      *gab_sparse_arrives(draft, sparse->ways[w].cell, gab_lattice_opposite(sparse->groups[g].out)) = place;
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ chunks and moves
 */

static uint32_t first_cell(const gab_lbm_block *block, size_t slab)
{
  size_t run = block->run_start[slab];
  return run < block->run_count ? block->runs[run].start : block->sparse->cells;
}

/* Of a slab; only counted as long as there is no list. */
static void cut_slab(gab_sparse *sparse, uint32_t first, uint32_t last)
{
  for (uint32_t cell = first; cell < last; cell += GAB_SPARSE_CHUNK) {
    if (sparse->chunks) sparse->chunks[sparse->chunk_count].cell = cell;
    sparse->chunk_count++;
  }
}

static gab_status cut_chunks(gab_sparse_draft *draft)
{
  const size_t slabs = (size_t)draft->model->slabs;
  gab_sparse *sparse = draft->block->sparse;
  GAB_TRY(GAB_NEW_ARRAY(&sparse->chunk_start, slabs + 1, GAB_MEMORY_OTHER));
  for (int pass = 0; pass < 2; pass++) {
    sparse->chunk_count = 0;
    for (size_t slab = 0; slab < slabs; slab++) {
      sparse->chunk_start[slab] = sparse->chunk_count;
      cut_slab(sparse, first_cell(draft->block, slab), first_cell(draft->block, slab + 1));
    }
    sparse->chunk_start[slabs] = sparse->chunk_count;
    if (pass > 0) break;
    GAB_TRY(GAB_NEW_ARRAY(&sparse->chunks, sparse->chunk_count + 1, GAB_MEMORY_OTHER));
  }
  sparse->chunks[sparse->chunk_count].cell = sparse->cells;
  return GAB_OK;
}

static gab_status add_move(gab_sparse *sparse, size_t *count, uint32_t place, uint32_t row)
{
  GAB_TRY(gab_list_reserve(&sparse->move_place, *count, sizeof *sparse->move_place));
  GAB_TRY(gab_list_reserve(&sparse->move_row, *count, sizeof *sparse->move_row));
  sparse->move_place[*count] = place;
  sparse->move_row[*count] = (uint16_t)row;
  ++*count;
  return GAB_OK;
}

/* Places that follow each other are moved together, by the powers of two that their number is made of; here
 * those of one length. */
static gab_status add_moves(const gab_sparse_draft *draft, const gab_sparse_chunk *chunk, int length,
                            size_t *count)
{
  gab_sparse *sparse = draft->block->sparse;
  const uint32_t cells = chunk[1].cell - chunk->cell, longest = 1 << (GAB_SPARSE_LENGTHS - 1);
  for (int q = 1; q < draft->model->lattice->q; q++) {
    const uint32_t *place = gab_sparse_arrives(draft, chunk->cell, q);
    for (uint32_t i = 0, end; i < cells; i = end) {
      for (end = i + 1; end < cells && place[end] == place[end - 1] + 1; end++) continue;
      for (uint32_t at = i, size; at < end; at += size) {
        for (size = longest; size > end - at;) size /= 2;
        if (size == UINT32_C(1) << length)
          GAB_TRY(add_move(sparse, count, place[at], (uint32_t)q * GAB_SPARSE_ROW + at));
      }
    }
  }
  return GAB_OK;
}

static gab_status list_moves(gab_sparse_draft *draft)
{
  gab_sparse *sparse = draft->block->sparse;
  size_t count = 0;
  for (size_t k = 0; k < sparse->chunk_count; k++)
    for (int length = 0; length < GAB_SPARSE_LENGTHS; length++) {
      sparse->chunks[k].move[length] = (uint32_t)count;
      GAB_TRY(add_moves(draft, &sparse->chunks[k], length, &count));
    }
  for (int length = 0; length < GAB_SPARSE_LENGTHS; length++)
    sparse->chunks[sparse->chunk_count].move[length] = (uint32_t)count;
  GAB_TRY(trim(count, sizeof *sparse->move_place, &sparse->move_place));
  GAB_TRY(trim(count, sizeof *sparse->move_row, &sparse->move_row));
  return trim(sparse->open_count * (size_t)draft->model->lattice->q, sizeof(uint32_t), &sparse->open_cells);
}

/* ------------------------------------------------------------------------------------------ main */

static gab_status open_draft(gab_sparse_draft *draft)
{
  gab_sparse *sparse = draft->block->sparse;
  const size_t directions = (size_t)draft->model->lattice->q;
  GAB_TRY(number_cells(draft));
  sparse->stride = stride_of(draft->model, sparse->cells);
  draft->places = directions * sparse->stride;
  if (draft->places > INT32_MAX) {
    uint32_t ignored;
    return gab_sparse_take_place(draft, &ignored); /* says why not */
  }
  set_storage(draft->model, sparse);
  GAB_TRY(GAB_NEW_ARRAY(&draft->arrives, directions * sparse->cells, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&draft->open, sparse->cells, GAB_MEMORY_OTHER));
  reach_cells(draft);
  return GAB_OK;
}

static gab_status make_field(const gab_sparse_draft *draft)
{
  const gab_field_shape shape = {.cells = {draft->places > 0 ? (int32_t)draft->places : 1, 1, 1},
                                 .components = 1,
                                 .layout = GAB_LAYOUT_SOA,
                                 .precision = draft->model->options.precision};
  draft->block->now = &draft->block->sparse->storage[0];
  return gab_field_create(&shape, &draft->block->src);
}

static gab_status build(gab_sparse_draft *draft)
{
  GAB_TRY(open_draft(draft));
  GAB_TRY(gab_links_build(draft->model, draft->block, draft));
  GAB_TRY(place_ghosts(draft));
  fill_open_cells(draft);
  find_far_places(draft);
  GAB_TRY(cut_chunks(draft));
  GAB_TRY(list_moves(draft));
  return make_field(draft);
}

gab_status gab_sparse_build(const gab_lbm_model *model, gab_lbm_block *block)
{
  GAB_TRY(GAB_NEW(&block->sparse, GAB_MEMORY_OTHER));
  gab_sparse_draft draft = {.model = model, .block = block};
  gab_status status = build(&draft);
  gab_free(&draft.number);
  gab_free(&draft.arrives);
  gab_free(&draft.open);
  gab_free(&draft.records);
  return status;
}

void gab_sparse_release(gab_lbm_block *block)
{
  gab_sparse *gone = block->sparse;
  if (!gone) return;
  gab_free(&gone->chunks);
  gab_free(&gone->chunk_start);
  gab_free(&gone->move_place);
  gab_free(&gone->move_row);
  gab_free(&gone->groups);
  gab_free(&gone->ways);
  gab_free(&gone->slab_ways);
  gab_free(&gone->open_cells);
  gab_free(&block->sparse);
}
