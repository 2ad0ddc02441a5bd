/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a sparse block, and reading its state; see sparse_impl.h. */
#include "lbm/sparse/sparse_impl.h"

#include "lbm/porous/drag_impl.h"

#include <string.h>

#define REAL       double
#define NAME(part) sparse_double##part
#include "lbm/sparse/sparse_body.inc"

#define REAL       float
#define NAME(part) sparse_float##part
#include "lbm/sparse/sparse_body.inc"

static bool in_float(const gab_lbm_model *model) { return model->options.precision == GAB_PRECISION_FLOAT; }

/* The cells' own places follow each other over all of the slab. */
static void sweep_own_places(const gab_lbm_model *model, gab_lbm_block *block, size_t first, size_t last)
{
  const gab_sparse_chunk *chunks = block->sparse->chunks;
  const gab_run run = {.start = chunks[first].cell,
                       .length = (int32_t)(chunks[last].cell - chunks[first].cell)};
  void *f = block->src->data;
  gab_lbm_sweep_runs(model, block, f, f, block->now, block->now->next, &run, 1, NULL);
}

void gab_sparse_sweep(const gab_lbm_model *model, gab_lbm_block *block, size_t slab,
                      const double ramp[GAB_SIDE_FACTORS])
{
  const size_t first = block->sparse->chunk_start[slab], last = block->sparse->chunk_start[slab + 1];
  if (first == last) return;
  const gab_sponge_cells cells = {.field = block->src, .sent = block->now->next->sent};
  if (!gab_sparse_is_odd(block)) {
    if (in_float(model)) sparse_float_sweep_chunks(model, block, slab, ramp);
    else sparse_double_sweep_chunks(model, block, slab, ramp);
    return;
  }
  sweep_own_places(model, block, first, last);
  if (model->sponges) gab_sponge_apply(model, block, slab, &cells, ramp);
  if (block->porous) gab_porous_apply(model, block, slab, &cells);
}

void gab_sparse_apply_links(const gab_lbm_model *model, const gab_lbm_job *job,
                            const double ramp[GAB_SIDE_FACTORS])
{
  if (in_float(model)) sparse_float_links(model, job, ramp);
  else sparse_double_links(model, job, ramp);
}

void gab_sparse_pack(const gab_lbm_model *model, const gab_lbm_block *block, void *bytes)
{
  if (in_float(model)) sparse_float_pack(model, block, bytes);
  else sparse_double_pack(model, block, bytes);
}

void gab_sparse_unpack(const gab_lbm_model *model, gab_lbm_block *block, const void *bytes)
{
  if (in_float(model)) sparse_float_unpack(model, block, bytes);
  else sparse_double_unpack(model, block, bytes);
}

void gab_sparse_open_window(const gab_lbm_model *model, const gab_lbm_block *block, size_t chunk,
                            enum gab_sparse_wanted wanted, gab_sparse_window *window)
{
  const gab_sparse *sparse = block->sparse;
  const gab_sparse_chunk *cells = &sparse->chunks[chunk];
  window->view = *block;
  window->count = (int32_t)(cells[1].cell - cells[0].cell);
  window->start = cells->cell;
  if (gab_sparse_is_odd(block) == (wanted == GAB_SPARSE_ARRIVING)) return;
  window->field = (gab_field){.shape = block->src->shape, .data = window->values};
  if (in_float(model)) sparse_float_collect(sparse, cells, block->src->data, (float *)window->field.data);
  else sparse_double_collect(sparse, cells, block->src->data, window->values);
  window->view.src = &window->field;
  window->view.now = &sparse->rows;
  window->start = 0;
}

size_t gab_sparse_chunk_of(const gab_sparse *sparse, uint32_t cell)
{
  size_t first = 0, last = sparse->chunk_count;
  while (last - first > 1) {
    size_t middle = (first + last) / 2;
    if (sparse->chunks[middle].cell <= cell) first = middle;
    else last = middle;
  }
  return first;
}
