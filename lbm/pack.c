/* SPDX-License-Identifier: Apache-2.0 */
/* Images of the populations of blocks: direction by direction the fluid cells in z, y, x order, in the precision of the
 * field.
 *
 * In a fused field a row of a block is a small part of a row in memory, and the processor loads the parts of its
 * neighbours, too. So blocks of a fused field are packed together: row by row of the fused field, a part of each row to the
 * image of each block. A restore assembles each row of the fused field first. */
#include "core/base/buffer_rows.h"
#include "core/memory/nontemporal_impl.h"
#include "lbm/lbm_impl.h"
#include "lbm/sparse/sparse_impl.h"

#include <string.h>

size_t gab_lbm_packed_size(const gab_lbm_model *model, const gab_lbm_block *block)
{
  return (size_t)block->fluid_cells * (size_t)model->lattice->q *
         gab_precision_bytes(model->options.precision);
}

/* Population q that the first cell of a run sent; those of the other cells follow. */
static unsigned char *row_of(const gab_lbm_block *block, const gab_run *run, int q)
{
  return (unsigned char *)block->src->data +
         gab_place(run->start, block->now->sent[q]) * gab_precision_bytes(block->src->shape.precision);
}

/* In a fused field each block has one part, cells and two ghosts, in each row. @param[in] count  blocks that are packed
 * together */
static gab_rows_lie how_rows_lie(const gab_lbm_block *block, size_t count)
{
  const gab_field *field = block->src;
  const ptrdiff_t cells = (ptrdiff_t)field->shape.cells[0], stride = field->map.stride[1];
  if (count == 1) return stride > 2 * cells ? GAB_ROWS_APART : GAB_ROWS_TOGETHER;
  return stride > 2 * (ptrdiff_t)count * (cells + 2) ? GAB_ROWS_APART : GAB_ROWS_IN_TURN;
}

/* ------------------------------------------------------------------------------------------ one */

gab_status gab_lbm_pack(const gab_lbm_model *model, const gab_lbm_block *block, gab_buffer *out)
{
  const size_t bytes = gab_precision_bytes(model->options.precision), all = gab_lbm_packed_size(model, block);
  if (block->sparse) {
    void *place;
    GAB_TRY(gab_buffer_extend(out, all, &place));
    gab_sparse_pack(model, block, place);
    return GAB_OK;
  }
  gab_buffer_rows rows;
  GAB_TRY(gab_buffer_rows_begin(&rows, out, all, how_rows_lie(block, 1)));
  for (int q = 0; q < model->lattice->q; q++)
    for (size_t i = 0; i < block->run_count; i++) {
      const gab_run *run = &block->runs[i];
      GAB_TRY(gab_buffer_rows_add(&rows, row_of(block, run, q), (size_t)run->length * bytes));
    }
  return gab_buffer_rows_end(&rows);
}

/* Minimum bytes of a row for a non-temporal store to pay off, although its ends share their lines with others. */
static size_t nontemporal_from(const gab_lbm_block *block)
{
  return how_rows_lie(block, 1) == GAB_ROWS_APART ? 256 : 1024;
}

gab_status gab_lbm_unpack(const gab_lbm_model *model, gab_lbm_block *block, gab_reader *in)
{
  const size_t bytes = gab_precision_bytes(model->options.precision);
  gab_reader cells;
  GAB_TRY(gab_get_view(in, gab_lbm_packed_size(model, block), &cells));
  if (block->sparse) {
    gab_sparse_unpack(model, block, cells.at);
    return GAB_OK;
  }
  const unsigned char *from = cells.at;
  const size_t long_enough = nontemporal_from(block);
  for (int q = 0; q < model->lattice->q; q++)
    for (size_t i = 0; i < block->run_count; i++) {
      size_t length = (size_t)block->runs[i].length * bytes;
      unsigned char *to = row_of(block, &block->runs[i], q);
      if (length < long_enough) memcpy(to, from, length);
      else gab_nontemporal_copy(to, from, length);
      from += length;
    }
  gab_nontemporal_fence();
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ those of a fused field */

/* One of the blocks, and its progress. */
typedef struct part {
  _Alignas(GAB_CACHE_LINE) gab_buffer_rows rows; /* packing */
  const unsigned char *from;                     /* unpacking */
  const gab_lbm_block *block;
  bool is_full;         /* without solid cells: one run per row */
  unsigned char *first; /* if so: the population that its first cell sent in the direction */
  size_t run;           /* if not: the next run */
} part;

/* A row of cells, in one direction. */
typedef struct row {
  int q;
  int32_t y, z;
  size_t offset; /* from the first cell of the block, in bytes */
  size_t bytes;  /* of the row */
  size_t each;   /* of a value */
} row;

static gab_status make_parts(const gab_lbm_model *model, const gab_lbm_block *const *blocks, size_t count,
                             part **parts)
{
  GAB_TRY(GAB_NEW_ARRAY(parts, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    (*parts)[i].block = blocks[i];
    (*parts)[i].is_full = blocks[i]->fluid_cells == gab_lbm_cells_of(model);
  }
  return GAB_OK;
}

/* The next run of a block with solid cells, if it is in that row. */
static inline const gab_run *next_run(part *of, const row *at)
{
  if (of->run == of->block->run_count) return NULL;
  const gab_run *run = &of->block->runs[of->run];
  if (run->y != at->y || run->z != at->z) return NULL;
  of->run++;
  return run;
}

/* Visits all rows of a fused field, direction by direction. */
static gab_status walk(const gab_lbm_model *model, part *parts, size_t count,
                       gab_status (*at_row)(part *parts, size_t count, const row *at))
{
  row at = {.each = gab_precision_bytes(model->options.precision)};
  at.bytes = (size_t)model->cells[0] * at.each;
  for (at.q = 0; at.q < model->lattice->q; at.q++) {
    for (size_t i = 0; i < count; i++) {
      parts[i].run = 0;
      if (parts[i].is_full) parts[i].first = row_of(parts[i].block, parts[i].block->runs, at.q);
    }
    for (at.z = 0; at.z < model->cells[2]; at.z++)
      for (at.y = 0; at.y < model->cells[1]; at.y++) {
        at.offset = (size_t)(at.y * model->map.stride[1] + at.z * model->map.stride[2]) * at.each;
        GAB_TRY(at_row(parts, count, &at));
      }
  }
  return GAB_OK;
}

static gab_status pack_row(part *parts, size_t count, const row *at)
{
  for (size_t i = 0; i < count; i++) {
    part *of = &parts[i];
    if (of->is_full) GAB_TRY(gab_buffer_rows_put(&of->rows, of->first + at->offset, at->bytes));
    else
      for (const gab_run *run; (run = next_run(of, at));)
        GAB_TRY(
            gab_buffer_rows_put(&of->rows, row_of(of->block, run, at->q), (size_t)run->length * at->each));
  }
  return GAB_OK;
}

static gab_status pack_rows(const gab_lbm_model *model, part *parts, size_t count, gab_buffer *const *out)
{
  for (size_t i = 0; i < count; i++)
    GAB_TRY(gab_buffer_rows_begin(&parts[i].rows, out[i], gab_lbm_packed_size(model, parts[i].block),
                                  GAB_ROWS_IN_TURN));
  GAB_TRY(walk(model, parts, count, pack_row));
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_buffer_rows_end(&parts[i].rows));
  return GAB_OK;
}

gab_status gab_lbm_pack_together(const gab_lbm_model *model, const gab_lbm_block *const *blocks, size_t count,
                                 gab_buffer *const *out)
{
  part *parts;
  if (how_rows_lie(blocks[0], count) != GAB_ROWS_IN_TURN ||
      make_parts(model, blocks, count, &parts) != GAB_OK) {
    for (size_t i = 0; i < count; i++) GAB_TRY(gab_lbm_pack(model, blocks[i], out[i]));
    return GAB_OK; /* so it needs no memory */
  }
  const gab_status status = pack_rows(model, parts, count, out);
  gab_free(&parts);
  return status;
}

/* Bytes that will be contiguous. */
typedef struct gathered {
  _Alignas(GAB_CACHE_LINE) unsigned char bytes[2048];
  unsigned char *to;
  size_t count;
} gathered;

static void store(gathered *piece)
{
  gab_nontemporal_copy(piece->to, piece->bytes, piece->count);
  piece->count = 0;
}

static inline void gather(gathered *piece, unsigned char *to, const unsigned char *from, size_t count)
{
  if (piece->to + piece->count != to || count > sizeof piece->bytes - piece->count) {
    store(piece);
    piece->to = to;
  }
  if (count <= sizeof piece->bytes) {
    gab_copy_short(piece->bytes + piece->count, from, count);
    piece->count += count;
  } else gab_nontemporal_copy(to, from, count);
}

static gab_status unpack_row(part *parts, size_t count, const row *at)
{
  gathered piece;
  piece.to = piece.bytes; /* empty */
  piece.count = 0;
  for (size_t i = 0; i < count; i++) {
    part *of = &parts[i];
    if (of->is_full) {
      gather(&piece, of->first + at->offset, of->from, at->bytes);
      of->from += at->bytes;
      continue;
    }
    for (const gab_run *run; (run = next_run(of, at));) {
      const size_t bytes = (size_t)run->length * at->each;
      gather(&piece, row_of(of->block, run, at->q), of->from, bytes);
      of->from += bytes;
    }
  }
  store(&piece);
  return GAB_OK;
}

static gab_status unpack_rows(const gab_lbm_model *model, part *parts, size_t count, gab_reader *const *in)
{
  for (size_t i = 0; i < count; i++) {
    gab_reader cells;
    GAB_TRY(gab_get_view(in[i], gab_lbm_packed_size(model, parts[i].block), &cells));
    parts[i].from = cells.at;
  }
  GAB_TRY(walk(model, parts, count, unpack_row));
  gab_nontemporal_fence();
  return GAB_OK;
}

gab_status gab_lbm_unpack_together(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count,
                                   gab_reader *const *in)
{
  part *parts;
  if (how_rows_lie(blocks[0], count) != GAB_ROWS_IN_TURN ||
      make_parts(model, (const gab_lbm_block *const *)blocks, count, &parts) != GAB_OK) {
    for (size_t i = 0; i < count; i++) GAB_TRY(gab_lbm_unpack(model, blocks[i], in[i]));
    return GAB_OK;
  }
  const gab_status status = unpack_rows(model, parts, count, in);
  gab_free(&parts);
  return status;
}
