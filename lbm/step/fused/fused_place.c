/* SPDX-License-Identifier: Apache-2.0 */
/* Places of fused blocks. */
#include "lbm/step/fused/fused_field_impl.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------ places */

/* Its own field is a view of the fused field from there on. */
void gab_fused_view(const gab_fused_place *place, const gab_field_shape *shape, gab_field *view)
{
  const gab_field *whole = place->in->field;
  const size_t skipped = (size_t)place->column - 1;
  *view = (gab_field){.shape = *shape, .map = whole->map};
  view->map.elements = whole->map.elements - skipped;
  view->data = (unsigned char *)whole->data + skipped * gab_precision_bytes(shape->precision);
}

/* The place that it is awaited in. */
static void settle(gab_fused_fields *home, gab_fused_place *place)
{
  gab_fused_cover(home, place->in, place->column, GAB_COLUMN_COVERED);
  place->is_awaited = false;
  home->awaited--;
}

/* A place for one that was not expected. */
static gab_status find_place(gab_fused_fields *home, const gab_lbm_model *model, const gab_fused_key *key,
                             bool is_second, gab_fused_place **place)
{
  gab_fused_field *in = NULL;
  int32_t column = 0;
  const gab_storage *now = &model->storage[0];
  if (is_second || !gab_fused_fields_find_beside(home, key, &in, &column, &now))
    GAB_TRY(gab_fused_fields_find(home, 1, &in, &column));
  GAB_TRY(gab_fused_make_field(home, in));
  return gab_fused_fields_add_place(home, key, in, column, now, GAB_COLUMN_COVERED, place);
}

static gab_status take(gab_fused_fields *home, const gab_lbm_model *model, gab_lbm_block *block)
{
  const gab_fused_key key = gab_fused_key_of(block, model->cells);
  gab_fused_place *place = *gab_fused_fields_place_of(home, &key);
  void *view;
  if (place && place->is_awaited) {
    GAB_TRY(gab_fused_make_field(home, place->in));
    GAB_TRY(gab_alloc(sizeof(gab_field), GAB_MEMORY_FIELD, &view));
    settle(home, place);
  } else {
    const bool is_second = place != NULL; /* one that is to replace the other */
    GAB_TRY(gab_alloc(sizeof(gab_field), GAB_MEMORY_FIELD, &view));
    const gab_status status = find_place(home, model, &key, is_second, &place);
    if (status != GAB_OK) {
      gab_free(&view);
      return status;
    }
  }
  block->src = view;
  block->in_fused = place;
  block->now = place->now;
  gab_fused_view(place, &model->shape, block->src);
  gab_fused_clear_solid(model, block); /* no other thread may take the adjacent place meanwhile */
  return GAB_OK;
}

int gab_fused_compare(const gab_lbm_block *a, const gab_lbm_block *b)
{
  const size_t x = a->in_fused->in->index, y = b->in_fused->in->index;
  if (x != y) return x < y ? -1 : 1;
  if (a->at->level != b->at->level) return a->at->level < b->at->level ? -1 : 1;
  return (a->now > b->now) - (a->now < b->now);
}

int32_t gab_fused_column(const gab_lbm_block *block) { return block->in_fused->column; }

gab_data_place gab_fused_place_of(const gab_lbm_block *block)
{
  const gab_fused_place *place = block->in_fused;
  if (!place) return (gab_data_place){0};
  return (gab_data_place){.memory = place->in->index + 1, .at = (uint64_t)place->column};
}

gab_status gab_fused_take(const gab_lbm_model *model, gab_lbm_block *block)
{
  gab_status status;
#pragma omp critical(gab_fused_fields)
  status = take(model->fused_fields, model, block);
  return status;
}

void gab_fused_leave(gab_lbm_block *block)
{
  if (!block->in_fused) return;
  gab_free(&block->src); /* the view; the data is the fused field's */
#pragma omp critical(gab_fused_fields)
  gab_fused_fields_remove_place(&block->in_fused);
}

void gab_fused_turn_over(gab_lbm_block *block)
{
  if (block->in_fused) block->in_fused->now = block->now;
}

/* ------------------------------------------------------------------------------------------ solid cells */

/* Zeroes the populations sent in direction q by the cells first … last - 1 of a row, ghosts or not. */
static void clear_sent(const gab_lbm_model *model, gab_lbm_block *block, int q, int32_t first, int32_t last,
                       int32_t y, int32_t z)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  if (last <= first) return;
  const size_t start = gab_field_index(&model->map, first, y, z, 0);
  memset((unsigned char *)block->src->data + gab_place(start, block->now->sent[q]) * each, 0,
         (size_t)(last - first) * each);
}

static void clear_cells(const gab_lbm_model *model, gab_lbm_block *block, int32_t first, int32_t last,
                        int32_t y, int32_t z)
{
  for (int q = 0; q < model->lattice->q; q++) clear_sent(model, block, q, first, last, y, z);
}

static bool is_inside(const gab_lbm_model *model, int axis, int32_t at)
{
  return at >= 0 && at < model->cells[axis];
}

/* A population of a solid cell has a place in each of the two states. In the other state the place may be that of a
 * ghost outside of the domain, or in a block of another level, which is never filled. Cells of a neighbour in the
 * fused field are not ghosts: their populations are its state. */
void gab_fused_clear_ghosts(const gab_lbm_model *model, gab_lbm_block *block)
{
  if (block->fluid_cells == gab_lbm_cells_of(model)) return;
  const int32_t *n = model->cells, *g = model->shape.ghosts, width = n[0];
  const uint8_t *used = block->in_fused->in->used + block->in_fused->column;
  for (int q = 1; q < model->lattice->q; q++) {
    const int8_t *c = model->lattice->c[q];
    for (int32_t z = -g[2]; z < n[2] + g[2]; z++)
      for (int32_t y = -g[1]; y < n[1] + g[1]; y++) {
        if (!is_inside(model, 1, y + c[1]) || !is_inside(model, 2, z + c[2])) continue;
        if (!is_inside(model, 1, y) || !is_inside(model, 2, z))
          clear_sent(model, block, q, -c[0], width - c[0], y, z);
        else if (c[0] > 0 && used[-1] != GAB_COLUMN_COVERED) clear_sent(model, block, q, -1, 0, y, z);
        else if (c[0] < 0 && used[width] != GAB_COLUMN_COVERED)
          clear_sent(model, block, q, width, width + 1, y, z);
      }
  }
}

void gab_fused_clear_solid(const gab_lbm_model *model, gab_lbm_block *block)
{
  size_t k = 0;
  if (block->fluid_cells == gab_lbm_cells_of(model)) return;
  gab_fused_clear_ghosts(model, block);
  for (int32_t z = 0; z < model->cells[2]; z++)
    for (int32_t y = 0; y < model->cells[1]; y++) {
      int32_t x = 0;
      for (; k < block->run_count && block->runs[k].y == y && block->runs[k].z == z; k++) {
        clear_cells(model, block, x, block->runs[k].x, y, z);
        x = block->runs[k].x + block->runs[k].length;
      }
      clear_cells(model, block, x, model->cells[0], y, z);
    }
}
