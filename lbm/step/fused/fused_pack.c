/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a process put side by side. */
#include "lbm/step/fused/fused_field_impl.h"

#include <stdlib.h>
#include <string.h>

static bool follows(const gab_lbm_block *a, const gab_lbm_block *b)
{
  if (a->in_fused->in != b->in_fused->in) return false;
  return b->in_fused->column == a->in_fused->column + a->in_fused->home->cells && a->now == b->now &&
         memcmp(a->in_fused->key.at, b->in_fused->key.at, 3 * sizeof(int64_t)) == 0 &&
         b->in_fused->key.at[3] == a->in_fused->key.at[3] + 1;
}

/* Level by level, row by row. */
static int in_rows(const void *a, const void *b)
{
  const gab_lbm_block *x = *(gab_lbm_block *const *)a, *y = *(gab_lbm_block *const *)b;
  for (int i = 0; i < 4; i++)
    if (x->in_fused->key.at[i] != y->in_fused->key.at[i])
      return x->in_fused->key.at[i] < y->in_fused->key.at[i] ? -1 : 1;
  return 0;
}

/* Whether b belongs behind a. */
static bool belongs(const gab_lbm_block *a, const gab_lbm_block *b)
{
  const int64_t *x = a->in_fused->key.at, *y = b->in_fused->key.at;
  return memcmp(x, y, 3 * sizeof *x) == 0 && y[3] == x[3] + 1;
}

/* All fused blocks, row by row. @param[out] blocks  owned by the caller */
static gab_status list_rows(const gab_lbm *lbm, gab_lbm_block ***blocks, size_t *count)
{
  size_t all, kept = 0;
  GAB_TRY(gab_lbm_list_blocks(lbm, -1, blocks, &all));
  for (size_t i = 0; i < all; i++) {
    (*blocks)[i]->left = (*blocks)[i]->right = NULL;
    if ((*blocks)[i]->in_fused) (*blocks)[kept++] = (*blocks)[i];
  }
  if (kept > 1) qsort(*blocks, kept, sizeof **blocks, in_rows);
  *count = kept;
  return GAB_OK;
}

static void link_rows(gab_lbm_block *const *blocks, size_t count)
{
  for (size_t i = 1; i < count; i++)
    if (follows(blocks[i - 1], blocks[i])) {
      blocks[i - 1]->right = blocks[i];
      blocks[i]->left = blocks[i - 1];
    }
}

static bool is_wasteful(const gab_fused_fields *home)
{
  int64_t covered = 0;
  for (size_t i = 0; i < home->count; i++) covered += home->list[i]->covered;
  const int64_t needed = covered + 2 * covered / home->cells;
  return 2 * (int64_t)home->count * home->columns > 3 * needed + 2 * home->columns;
}

/* ------------------------------------------------------------------------------------------ packing */

/* Quality of a layout: blocks with an adjacent neighbour, and the number of fused fields. */
typedef struct merit {
  size_t joined, fused_fields;
} merit;

static merit merit_now(const gab_fused_fields *home, gab_lbm_block *const *blocks, size_t count)
{
  merit found = {.fused_fields = home->count - home->empty};
  for (size_t i = 0; i < count; i++) found.joined += blocks[i]->right != NULL;
  return found;
}

/* One after the other, fused field by fused field; all of a level in one state. @param[in] blocks  in rows
 * @param[out] moves  one for each block @param[out] fused  of each, counted from 0 */
static merit lay_out(const gab_fused_fields *home, gab_lbm_block *const *blocks, size_t count,
                     gab_fused_move *moves, size_t *fused)
{
  merit found = {.fused_fields = 1};
  for (size_t i = 0; i < count; i++) {
    const bool joins = i > 0 && belongs(blocks[i - 1], blocks[i]);
    const bool is_level = i > 0 && blocks[i - 1]->at->level == blocks[i]->at->level;
    int32_t column = i == 0 ? 1 : moves[i - 1].column + home->cells + (joins ? 0 : 2);
    const bool fits = column + home->cells + 1 <= home->columns;
    if (!fits) {
      found.fused_fields++;
      column = 1;
    }
    found.joined += joins && fits;
    fused[i] = found.fused_fields - 1;
    moves[i] = (gab_fused_move){
        .block = blocks[i], .column = column, .now = is_level ? moves[i - 1].now : blocks[i]->now};
  }
  return found;
}

/* Moving all blocks costs some steps; until the grid changes again there are many more. */
static bool is_worth_it(const gab_fused_fields *home, const merit *now, const merit *then, size_t count)
{
  const ptrdiff_t gain =
      (ptrdiff_t)(then->joined + now->fused_fields) - (ptrdiff_t)(now->joined + then->fused_fields);
  return is_wasteful(home) || 8 * gain >= (ptrdiff_t)count;
}

/* Assigns existing fused fields to those of the layout: the one with its first block, or any other if that is taken;
 * new ones are made only if there are too few. @param[out] chosen  one for each fused field of the layout
 * @param[in,out] is_chosen  all false; for the number of existing fields and of the layout */
static gab_status choose_fused_fields(gab_fused_fields *home, const gab_fused_move *moves,
                                      const size_t *fused, size_t count, gab_fused_field **chosen,
                                      bool *is_chosen)
{
  size_t next = 0;
  for (size_t i = 0; i < count; i++) {
    gab_fused_field *wish = moves[i].block->in_fused->in;
    if ((i > 0 && fused[i] == fused[i - 1]) || is_chosen[wish->index]) continue;
    chosen[fused[i]] = wish;
    is_chosen[wish->index] = true;
  }
  for (size_t s = 0; s <= fused[count - 1]; s++) {
    if (chosen[s]) continue;
    while (next < home->count && is_chosen[next]) next++;
    if (next < home->count) chosen[s] = home->list[next];
    else GAB_TRY(gab_fused_fields_add(home, &chosen[s]));
    is_chosen[chosen[s]->index] = true;
    GAB_TRY(gab_fused_make_field(home, chosen[s]));
  }
  return GAB_OK;
}

static gab_status set_fused_fields(gab_fused_fields *home, gab_fused_move *moves, const size_t *fused,
                                   size_t count)
{
  gab_fused_field **chosen;
  bool *is_chosen;
  const size_t fused_fields = fused[count - 1] + 1;
  GAB_TRY(GAB_NEW_ARRAY(&chosen, fused_fields, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(&is_chosen, home->count + fused_fields, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    status = choose_fused_fields(home, moves, fused, count, chosen, is_chosen);
    for (size_t i = 0; i < count; i++) moves[i].in = chosen[fused[i]];
    gab_free(&is_chosen);
  }
  gab_free(&chosen);
  return status;
}

/* Removes moves of blocks already in place. @return number of remaining moves */
static size_t drop_idle(gab_fused_move *moves, size_t count)
{
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const gab_fused_place *place = moves[i].block->in_fused;
    if (place->in == moves[i].in && place->column == moves[i].column && place->now == moves[i].now) continue;
    moves[kept++] = moves[i];
  }
  return kept;
}

/* The new neighbourhood of a block must not contain old data. */
static void clear_ghosts(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count)
{
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i++) gab_fused_clear_ghosts(model, blocks[i]);
}

static gab_status pack_by(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count,
                          gab_fused_move *moves, size_t *fused)
{
  const merit now = merit_now(model->fused_fields, blocks, count),
              then = lay_out(model->fused_fields, blocks, count, moves, fused);
  if (!is_worth_it(model->fused_fields, &now, &then, count)) return GAB_OK;
  GAB_TRY(set_fused_fields(model->fused_fields, moves, fused, count));
  const size_t moved = drop_idle(moves, count);
  if (moved == 0) return GAB_OK;
  GAB_TRY(gab_fused_fields_move(model, moves, moved));
  clear_ghosts(model, blocks, count);
  return GAB_OK;
}

/* Without memory for it nothing changes. @param[in] blocks  in rows, linked; linked again afterwards */
static void pack(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count)
{
  gab_fused_move *moves;
  size_t *fused;
  if (count == 0) return;
  gab_status status = GAB_NEW_ARRAY(&moves, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) {
    status = GAB_NEW_ARRAY(&fused, count, GAB_MEMORY_OTHER);
    if (status == GAB_OK) {
      status = pack_by(model, blocks, count, moves, fused);
      gab_free(&fused);
    }
    gab_free(&moves);
  }
  if (status != GAB_OK) gab_error_clear();
  gab_fused_fields_drop_empty(model->fused_fields);
  for (size_t i = 0; i < count; i++) blocks[i]->left = blocks[i]->right = NULL;
  link_rows(blocks, count);
}

gab_status gab_fused_fields_link(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  if (!lbm->model.fused_fields) return GAB_OK;
  GAB_TRY(list_rows(lbm, &blocks, &count));
  link_rows(blocks, count);
  if (is_wasteful(lbm->model.fused_fields)) pack(&lbm->model, blocks, count);
  gab_free(&blocks);
  return GAB_OK;
}

void gab_fused_fields_pack(gab_lbm *lbm)
{
  gab_lbm_block **blocks;
  size_t count;
  if (!lbm->model.fused_fields) return;
  if (list_rows(lbm, &blocks, &count) != GAB_OK) {
    gab_error_clear();
    return;
  }
  link_rows(blocks, count);
  pack(&lbm->model, blocks, count);
  gab_free(&blocks);
}
