/* SPDX-License-Identifier: Apache-2.0 */
/* Places of blocks that are to come, laid out row by row ahead of them. */
#include "lbm/step/fused/fused_field_impl.h"

#include <stdlib.h>

/* Drops the places of all that have not come, and fused fields that hold nothing then. */
static void give_up_awaited(gab_fused_fields *home)
{
  if (home->awaited == 0) return;
  for (size_t b = 0; b < home->buckets && home->awaited > 0; b++)
    for (gab_fused_place *place = home->bucket[b], *next; place; place = next) {
      next = place->next;
      if (place->is_awaited) gab_fused_fields_remove_place(&place);
    }
  gab_fused_fields_drop_empty(home);
}

/* Whether a block will store all cells. Next to other levels all do, which is not known yet: blocks with little fluid
 * take their places on arrival. */
static bool will_be_dense(const gab_lbm_model *model, const gab_fused_key *key)
{
  const double cells = (double)gab_lbm_cells_of(model);
  gab_box box;
  if (model->sparse_below <= 0) return true;
  if (key->at[0] >= GAB_LBM_LEVELS) return false; /* and will be refused */
  for (int axis = 0; axis < 3; axis++) {
    box.lo[axis] = key->at[3 - axis] * model->cells[axis];
    box.hi[axis] = box.lo[axis] + model->cells[axis];
  }
  const uint64_t fluid = gab_geometry_fluid_cells(model->geometry, (int)key->at[0], &box);
  return !((double)fluid < model->sparse_below * cells);
}

static int in_rows(const void *a, const void *b)
{
  const gab_fused_key *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
  return 0;
}

/* Next to its neighbours if there is space, otherwise where the following blocks have space too.
 * @param[in] following  number of adjacent blocks along x from this one on */
static gab_status await_one(const gab_lbm_model *model, const gab_fused_key *key, size_t following)
{
  gab_fused_fields *home = model->fused_fields;
  gab_fused_field *in = NULL;
  gab_fused_place *place;
  int32_t column = 0;
  const gab_storage *now = &model->storage[0];
  const size_t most = (size_t)(home->columns - 2) / (size_t)home->cells;
  if (*gab_fused_fields_place_of(home, key)) return GAB_OK; /* it is to replace that one */
  if (!gab_fused_fields_find_beside(home, key, &in, &column, &now))
    GAB_TRY(gab_fused_fields_find(home, (int)(following < most ? following : most), &in, &column));
  return gab_fused_fields_add_place(home, key, in, column, now, GAB_COLUMN_AWAITED, &place);
}

static bool follows(const gab_fused_key *a, const gab_fused_key *b)
{
  gab_fused_key next = *a;
  next.at[3]++;
  return in_rows(&next, b) == 0;
}

/* @param[in,out] keys  sorted afterwards */
static gab_status await_all(const gab_lbm_model *model, gab_fused_key *keys, size_t count)
{
  size_t end = 0; /* end of the run of adjacent blocks */
  if (count > 1) qsort(keys, count, sizeof *keys, in_rows);
  for (size_t i = 0; i < count; i++) {
    if (end <= i) end = i + 1;
    while (end < count && follows(&keys[end - 1], &keys[end])) end++;
    GAB_TRY(await_one(model, &keys[i], end - i));
  }
  return GAB_OK;
}

/* @param[out] keys  of future dense blocks, owned by the caller @return their number */
static size_t list_keys(const gab_lbm_model *model, const gab_root_grid *grid, const gab_block_id *ids,
                        size_t count, gab_fused_key **keys)
{
  size_t kept = 0;
  *keys = NULL;
  if (GAB_NEW_ARRAY(keys, count, GAB_MEMORY_OTHER) != GAB_OK) return 0;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < count; i++) {
    const gab_block_place place = gab_block_id_place(grid, ids[i]);
    gab_fused_key *key = &(*keys)[i];
    *key = (gab_fused_key){{place.level, place.at[2], place.at[1], place.at[0]}};
    if (!will_be_dense(model, key)) key->at[0] = -1;
  }
  for (size_t i = 0; i < count; i++)
    if ((*keys)[i].at[0] >= 0) (*keys)[kept++] = (*keys)[i];
  return kept;
}

void gab_fused_fields_expect(const gab_lbm_model *model, const gab_root_grid *grid, const gab_block_id *ids,
                             size_t count)
{
  gab_fused_key *keys = NULL;
  if (!model->fused_fields) return;
  const size_t dense = count > 0 ? list_keys(model, grid, ids, count, &keys) : 0;
  gab_status status = GAB_OK;
#pragma omp critical(gab_fused_fields)
  {
    give_up_awaited(model->fused_fields);
    if (dense > 0) status = await_all(model, keys, dense);
  }
  gab_free(&keys);
  if (status != GAB_OK || (count > 0 && !keys)) gab_error_clear(); /* blocks take their places as they come */
}
