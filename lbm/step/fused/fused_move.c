/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that change their places in fused fields, all at once. */
#include "lbm/step/fused/fused_field_impl.h"

#include <string.h>

/* Populations sent by the cells of a block in one direction, row by row, out of its field or into the new one; solid
 * cells too, since messages contain them. */
static void copy_out(const gab_lbm_model *model, const gab_lbm_block *block, int q, unsigned char *to)
{
  const size_t each = gab_precision_bytes(model->options.precision), row = (size_t)model->cells[0] * each;
  const unsigned char *from = block->src->data;
  for (int32_t z = 0; z < model->cells[2]; z++)
    for (int32_t y = 0; y < model->cells[1]; y++, to += row) {
      const size_t cell = gab_field_index(&model->map, 0, y, z, 0);
      memcpy(to, from + gab_place(cell, block->now->sent[q]) * each, row);
    }
}

static void copy_in(const gab_lbm_model *model, const gab_fused_move *move, int q, const unsigned char *from)
{
  const size_t each = gab_precision_bytes(model->options.precision), row = (size_t)model->cells[0] * each;
  const gab_fused_place place = {.in = move->in, .column = move->column};
  gab_field view;
  gab_fused_view(&place, &model->shape, &view);
  unsigned char *to = view.data;
  for (int32_t z = 0; z < model->cells[2]; z++)
    for (int32_t y = 0; y < model->cells[1]; y++, from += row) {
      const size_t cell = gab_field_index(&model->map, 0, y, z, 0);
      memcpy(to + gab_place(cell, move->now->sent[q]) * each, from, row);
    }
}

/* The populations of a direction and its opposite occupy the same two components, in either state (storage_impl.h),
 * and no others do. So these two are taken out of all blocks, then put into place, and the next two use the same
 * memory. */
static void move_values(const gab_lbm_model *model, const gab_fused_move *moves, size_t count,
                        unsigned char *aside)
{
  const size_t bytes = (size_t)gab_lbm_cells_of(model) * gab_precision_bytes(model->options.precision);
#pragma omp parallel
  for (int q = 0; q < model->lattice->q; q++) {
    const int opposite = gab_lattice_opposite(q);
    if (opposite < q) continue;
#pragma omp for schedule(static)
    for (size_t i = 0; i < count; i++) {
      copy_out(model, moves[i].block, q, aside + 2 * i * bytes);
      if (opposite != q) copy_out(model, moves[i].block, opposite, aside + (2 * i + 1) * bytes);
    }
#pragma omp for schedule(static)
    for (size_t i = 0; i < count; i++) {
      copy_in(model, &moves[i], q, aside + 2 * i * bytes);
      if (opposite != q) copy_in(model, &moves[i], opposite, aside + (2 * i + 1) * bytes);
    }
  }
}

/* Fused fields that are left are not freed before others have come. */
static void move_places(const gab_lbm_model *model, const gab_fused_move *moves, size_t count)
{
  gab_fused_fields *home = model->fused_fields;
  for (size_t i = 0; i < count; i++) {
    gab_fused_place *place = moves[i].block->in_fused;
    gab_fused_cover(home, place->in, place->column, GAB_COLUMN_FREE);
  }
  for (size_t i = 0; i < count; i++) {
    gab_fused_cover(home, moves[i].in, moves[i].column, GAB_COLUMN_COVERED);
    gab_fused_come(home, moves[i].in);
  }
  for (size_t i = 0; i < count; i++) {
    gab_lbm_block *block = moves[i].block;
    gab_fused_place *place = block->in_fused;
    gab_fused_field *left = place->in;
    place->in = moves[i].in;
    place->column = moves[i].column;
    place->now = block->now = moves[i].now;
    gab_fused_view(place, &model->shape, block->src);
    gab_fused_go(home, left);
  }
}

gab_status gab_fused_fields_move(const gab_lbm_model *model, const gab_fused_move *moves, size_t count)
{
  void *aside;
  const size_t bytes = (size_t)gab_lbm_cells_of(model) * gab_precision_bytes(model->options.precision);
  GAB_TRY(gab_alloc(2 * count * bytes, GAB_MEMORY_OTHER, &aside));
  move_values(model, moves, count, aside);
  gab_free(&aside);
  move_places(model, moves, count);
  return GAB_OK;
}
