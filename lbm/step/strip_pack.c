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

/* Level by level, row by row. */
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
  return memcmp(x, y, 3 * sizeof *x) == 0 && y[3] == x[3] + 1;
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

static bool is_wasteful(const gab_strips *home)
{
  int64_t covered = 0;
  for (size_t i = 0; i < home->count; ++i) covered += home->list[i]->covered;
  const int64_t needed = covered + 2 * covered / home->cells;
  return 2 * (int64_t)home->count * home->columns > 3 * needed + 2 * home->columns;
}

/* ------------------------------------------------------------------------------------------ packing */

/* Where a block is to lie. */
typedef struct target {
  gab_lbm_block *block;
  size_t strip; /* counted from 0 */
  int32_t column;
} target;

/* What a layout is worth: blocks with their neighbour beside them, and as few strips as may be. */
typedef struct merit {
  size_t joined, strips;
} merit;

static merit merit_now(const gab_strips *home, gab_lbm_block *const *blocks, size_t count)
{
  merit found = {.strips = home->count - home->empty};
  for (size_t i = 0; i < count; ++i) found.joined += blocks[i]->right != NULL;
  return found;
}

/* One behind the other, strip by strip. @param[in] blocks  in rows */
static merit lay_out(const gab_strips *home, gab_lbm_block *const *blocks, size_t count, target *list)
{
  merit found = {.strips = 1};
  for (size_t i = 0; i < count; ++i) {
    const bool joins = i > 0 && belongs(blocks[i - 1], blocks[i]);
    int32_t column = i == 0 ? 1 : list[i - 1].column + home->cells + (joins ? 0 : 2);
    const bool fits = column + home->cells + 1 <= home->columns;
    if (!fits) {
      found.strips++;
      column = 1;
    }
    found.joined += joins && fits;
    list[i] = (target){.block = blocks[i], .strip = found.strips, .column = column};
  }
  return found;
}

/* Moving all blocks costs some tens of steps; until the grid changes again there are many more. */
static bool is_worth_it(const gab_strips *home, const merit *now, const merit *then, size_t count)
{
  const ptrdiff_t gain = (ptrdiff_t)(then->joined + now->strips) - (ptrdiff_t)(now->joined + then->strips);
  return is_wasteful(home) || 8 * gain >= (ptrdiff_t)count;
}

static gab_status move_all(const gab_lbm_model *model, const target *list, size_t count)
{
  gab_strip *in = NULL;
  const gab_storage *state = NULL;
  for (size_t i = 0; i < count; ++i) {
    const bool is_new = i == 0 || list[i].strip != list[i - 1].strip;
    const bool is_level = i == 0 || list[i].block->at->level != list[i - 1].block->at->level;
    if (is_new) GAB_TRY(gab_strips_find_empty(model->strips, &in));
    if (is_level) state = list[i].block->now;
    move_to(model, list[i].block, in, list[i].column, state);
  }
  return GAB_OK;
}

static gab_status pack(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count)
{
  void *memory;
  if (count == 0) return GAB_OK;
  GAB_TRY(gab_alloc(count * sizeof(target), GAB_MEMORY_OTHER, &memory));
  const merit now = merit_now(model->strips, blocks, count),
              then = lay_out(model->strips, blocks, count, memory);
  const gab_status status =
      is_worth_it(model->strips, &now, &then, count) ? move_all(model, memory, count) : GAB_OK;
  gab_free(&memory);
  return status;
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
  if (!lbm->model.strips) return GAB_OK;
  GAB_TRY(list_rows(lbm, &blocks, &count));
  link_rows(blocks, count);
  const gab_status status = pack(&lbm->model, blocks, count);
  gab_strips_drop_empty(lbm->model.strips);
  for (size_t i = 0; i < count; ++i) blocks[i]->left = blocks[i]->right = NULL;
  link_rows(blocks, count);
  gab_free(&blocks);
  return status;
}
