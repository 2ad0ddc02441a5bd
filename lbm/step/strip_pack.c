/* Blocks of a process put side by side. */
#include "lbm/step/strip_room_impl.h"

#include <stdlib.h>
#include <string.h>

static bool follows(const gab_lbm_block *a, const gab_lbm_block *b)
{
  if (a->in_strip->in != b->in_strip->in) return false;
  return b->in_strip->column == a->in_strip->column + a->in_strip->home->cells && a->now == b->now &&
         memcmp(a->in_strip->key.at, b->in_strip->key.at, 3 * sizeof(int64_t)) == 0 &&
         b->in_strip->key.at[3] == a->in_strip->key.at[3] + 1;
}

static int in_rows(const void *a, const void *b)
{
  const gab_lbm_block *x = *(gab_lbm_block *const *)a, *y = *(gab_lbm_block *const *)b;
  for (int i = 0; i < 4; ++i)
    if (x->in_strip->key.at[i] != y->in_strip->key.at[i])
      return x->in_strip->key.at[i] < y->in_strip->key.at[i] ? -1 : 1;
  return 0;
}

/* Whether b belongs behind a. */
static bool belongs(const gab_lbm_block *a, const gab_lbm_block *b)
{
  const int64_t *x = a->in_strip->key.at, *y = b->in_strip->key.at;
  return memcmp(x, y, 3 * sizeof *x) == 0 && y[3] == x[3] + 1 &&
         y[3] / a->in_strip->home->places == x[3] / a->in_strip->home->places;
}

/* What the fluid cells have sent, into another view and state. */
static void copy_state(const gab_lbm_model *model, const gab_lbm_block *from, const gab_field *to,
                       const gab_storage *state)
{
  const size_t each = gab_precision_bytes(model->options.precision);
  for (int q = 0; q < model->lattice->q; ++q)
    for (size_t k = 0; k < from->run_count; ++k) {
      const gab_run *run = &from->runs[k];
      memcpy((unsigned char *)to->data + gab_place(run->start, state->sent[q]) * each,
             (const unsigned char *)from->src->data + gab_place(run->start, from->now->sent[q]) * each,
             (size_t)run->length * each);
    }
}

static void move_to(const gab_lbm_model *model, gab_lbm_block *block, gab_strip *in, int32_t column,
                    const gab_storage *state)
{
  gab_strip_place *place = block->in_strip;
  gab_strip *left = place->in;
  gab_field view;
  gab_strip_cover(place->home, left, place->column, false);
  place->in = in;
  place->column = column;
  gab_strip_cover(place->home, in, column, true);
  gab_strip_come(place->home, in);
  gab_strip_view(place, &model->shape, &view);
  copy_state(model, block, &view, state);
  *block->src = view;
  block->now = place->now = state;
  gab_strip_clear_solid(model, block);
  gab_strip_go(place->home, left);
}

/* Blocks that belong behind each other, ascending. */
static gab_status pack_pencil(const gab_lbm_model *model, gab_lbm_block **blocks, size_t count)
{
  bool is_packed = true;
  for (size_t i = 1; i < count; ++i) is_packed = is_packed && follows(blocks[i - 1], blocks[i]);
  if (is_packed) return GAB_OK;
  gab_strips *home = model->strips;
  gab_strip *in;
  int32_t column;
  GAB_TRY(gab_strips_find(home, (int32_t)count * home->cells, &in, &column));
  const gab_storage *state = blocks[0]->now;
  for (size_t i = 0; i < count; ++i) move_to(model, blocks[i], in, column + (int32_t)i * home->cells, state);
  return GAB_OK;
}

/* All blocks in strips, row by row. @param[out] blocks  owned by the caller */
static gab_status list_rows(const gab_lbm *lbm, gab_lbm_block ***blocks, size_t *count)
{
  size_t all, kept = 0;
  GAB_TRY(gab_lbm_list_blocks(lbm, -1, blocks, &all));
  for (size_t i = 0; i < all; ++i) {
    (*blocks)[i]->left = (*blocks)[i]->right = NULL;
    if ((*blocks)[i]->in_strip) (*blocks)[kept++] = (*blocks)[i];
  }
  if (kept > 1) qsort(*blocks, kept, sizeof **blocks, in_rows);
  *count = kept;
  return GAB_OK;
}

static void link_rows(gab_lbm_block *const *blocks, size_t count)
{
  for (size_t i = 1; i < count; ++i)
    if (follows(blocks[i - 1], blocks[i])) {
      blocks[i - 1]->right = blocks[i];
      blocks[i]->left = blocks[i - 1];
    }
}

/* Fills strips that have some room from those that have more. */
static void fill_up(const gab_lbm_model *model, gab_lbm_block **blocks, size_t count)
{
  gab_strips *home = model->strips;
  gab_strip *in, *from = blocks[0]->in_strip->in;
  int32_t column;
  if (!gab_strips_find_open(home, (int32_t)count * home->cells, from, &in, &column)) return;
  for (size_t i = 0; i < count; ++i)
    move_to(model, blocks[i], in, column + (int32_t)i * home->cells, blocks[i]->now);
}

static bool is_wasteful(const gab_strips *home)
{
  int64_t covered = 0;
  for (size_t i = 0; i < home->count; ++i) covered += home->list[i]->covered;
  const int64_t needed = covered + 2 * covered / home->cells;
  return 2 * (int64_t)home->count * home->columns > 3 * needed + 2 * home->columns;
}

gab_status gab_strips_link(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  if (!lbm->model.strips) return GAB_OK;
  if (is_wasteful(lbm->model.strips)) return gab_strips_pack(lbm);
  GAB_TRY(list_rows(lbm, &blocks, &count));
  link_rows(blocks, count);
  gab_free(&blocks);
  return GAB_OK;
}

gab_status gab_strips_pack(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  gab_status status = GAB_OK;
  if (!lbm->model.strips) return GAB_OK;
  GAB_TRY(list_rows(lbm, &blocks, &count));
  for (size_t first = 0, last; status == GAB_OK && first < count; first = last) {
    for (last = first + 1; last < count && belongs(blocks[last - 1], blocks[last]); ++last) continue;
    status = pack_pencil(&lbm->model, blocks + first, last - first);
  }
  const bool fills_up = is_wasteful(lbm->model.strips);
  for (size_t first = 0, last; status == GAB_OK && fills_up && first < count; first = last) {
    for (last = first + 1; last < count && follows(blocks[last - 1], blocks[last]); ++last) continue;
    fill_up(&lbm->model, blocks + first, last - first);
  }
  if (fills_up) gab_strips_drop_empty(lbm->model.strips);
  link_rows(blocks, count);
  gab_free(&blocks);
  return status;
}
