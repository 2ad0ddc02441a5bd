/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of the data for several levels: see levels_impl.h. */
#include "phasefield/levels/levels_impl.h"

#include <string.h>

static gab_status check_cells(const gab_phasefield_model *model, int levels)
{
  if (levels > GAB_PHASEFIELD_MOST_LEVELS)
    GAB_FAIL(GAB_ERR_INPUT, "%d levels of cells coarser than those of interfaces: there may be %d", levels,
             (int)GAB_PHASEFIELD_MOST_LEVELS);
  for (int axis = 0; axis < model->dimension; axis++)
    if (model->cells[axis] % 2 != 0 || model->cells[axis] < 4 || model->cells[axis] < 1 << levels)
      GAB_FAIL(GAB_ERR_INPUT,
               "blocks of %" PRId32
               " cells along %c cannot be refined %d times: an even number is needed, 4 or more, "
               "and at least %d",
               model->cells[axis], "xyz"[axis], levels, 1 << levels);
  return GAB_OK;
}

static gab_status make_borders(gab_phasefield *phasefield)
{
  gab_phasefield_levels *levels = phasefield->levels;
  gab_forest *forest = phasefield->forest;
  const gab_coupling_kind border = gab_phasefield_border_coupling(),
                          rows = gab_phasefield_rows_coupling(phasefield),
                          near = gab_phasefield_nearness_coupling();
  const gab_ghost_kind near_ghosts = gab_phasefield_nearness_exchange();
  const size_t all = (size_t)levels->finest + 1;
  GAB_TRY(GAB_NEW_ARRAY(&levels->borders, all, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&levels->rows_exchange, all, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&levels->rows_kind, all, GAB_MEMORY_OTHER));
  for (int level = 0; level < levels->finest; level++)
    GAB_TRY(gab_coupling_create(forest, phasefield->data, &border, &levels->borders[level]));
  GAB_TRY(gab_coupling_create(forest, phasefield->data, &rows, &levels->rows));
  GAB_TRY(gab_coupling_create(forest, phasefield->data, &near, &levels->nearness));
  for (int level = 0; level <= levels->finest; level++) {
    levels->rows_kind[level] = (gab_phasefield_rows){.model = gab_phasefield_model_of(phasefield, level),
                                                     .rows = (int32_t)1 << level};
    const gab_ghost_kind kind = gab_phasefield_rows_exchange(&levels->rows_kind[level]);
    GAB_TRY(
        gab_exchange_create_on_level(forest, phasefield->data, &kind, level, &levels->rows_exchange[level]));
  }
  return gab_exchange_create_on_level(forest, phasefield->data, &near_ghosts, levels->finest,
                                      &levels->nearness_exchange);
}

gab_status gab_phasefield_levels_create(gab_phasefield *phasefield)
{
  const int finest = phasefield->model.options.levels;
  if (finest == 0) return GAB_OK;
  GAB_TRY(check_cells(&phasefield->model, finest));
  GAB_TRY(GAB_NEW_ARRAY(&phasefield->levels, 1, GAB_MEMORY_OTHER));
  gab_phasefield_levels *levels = phasefield->levels;
  levels->finest = finest;
  GAB_TRY(GAB_NEW_ARRAY(&levels->coarse, (size_t)finest, GAB_MEMORY_OTHER));
  gab_phasefield_levels_sync(phasefield);
  return make_borders(phasefield);
}

void gab_phasefield_levels_destroy(gab_phasefield *phasefield)
{
  gab_phasefield_levels *gone = phasefield->levels;
  if (!gone) return;
  for (int level = 0; level <= gone->finest; level++) {
    if (gone->borders && gone->borders[level]) gab_coupling_destroy(&gone->borders[level]);
    if (gone->rows_exchange && gone->rows_exchange[level]) gab_exchange_destroy(&gone->rows_exchange[level]);
  }
  if (gone->rows) gab_coupling_destroy(&gone->rows);
  if (gone->nearness) gab_coupling_destroy(&gone->nearness);
  if (gone->nearness_exchange) gab_exchange_destroy(&gone->nearness_exchange);
  gab_free(&gone->borders);
  gab_free(&gone->rows_exchange);
  gab_free(&gone->rows_kind);
  gab_free(&gone->coarse);
  gab_free(&phasefield->levels);
}
