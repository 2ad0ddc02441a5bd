/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a loss: the state that was restored, with the blocks of the dead left blank. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_ids(const void *a, const void *b)
{
  const gab_block_id x = *(const gab_block_id *)a, y = *(const gab_block_id *)b;
  return (x > y) - (x < y);
}

gab_status gab_app_growth_note_blocks(growth *it)
{
  const size_t count = gab_forest_block_count(it->base.forest);
  gab_buffer_clear(&it->own_blocks);
  for (size_t i = 0; i < count; i++) {
    const gab_block_id id = gab_block_get_id(gab_forest_block(it->base.forest, i));
    GAB_TRY(gab_put_bytes(&it->own_blocks, &id, sizeof id));
  }
  if (count) qsort(it->own_blocks.data, count, sizeof(gab_block_id), compare_ids);
  return GAB_OK;
}

static bool was_here(const growth *it, gab_block_id id)
{
  const size_t count = it->own_blocks.size / sizeof id;
  return count && bsearch(&id, it->own_blocks.data, count, sizeof id, compare_ids);
}

/* Values of a slice, except in blocks that have just been adopted. */
static gab_status evaluate(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const lost_view *view = user;
  if (was_here(view->owner, gab_block_get_id(block)))
    return view->shown.evaluate(view->shown.user, forest, block, values);
  const size_t count = gab_quantity_block_values(forest, &view->shown);
  for (size_t i = 0; i < count; i++) values[i] = NAN;
  return GAB_OK;
}

gab_status gab_app_growth_add_lost_slice(growth *it, const gab_slice_options *options)
{
  if (it->lost_count == GROWTH_MOST_LOST) return GAB_OK;
  lost_view *view = &it->lost[it->lost_count++];
  *view = (lost_view){.owner = it, .shown = *options->quantity};
  gab_quantity quantity = view->shown;
  quantity.evaluate = evaluate;
  quantity.user = view;
  gab_slice_options mine = *options;
  mine.quantity = &quantity;
  snprintf(view->name, sizeof view->name, "%s_lost", options->name ? options->name : quantity.name);
  mine.name = view->name;
  return gab_output_add_slice(it->base.recovery_output, (gab_schedule){0}, &mine);
}

gab_status gab_app_growth_draw_lost(growth *it)
{
  const gab_step step = gab_phasefield_get_step(it->model);
  if (it->lost_count == 0) return GAB_OK;
  GAB_TRY(gab_phasefield_update_quantities(it->model));
  return gab_output_write_now(it->base.recovery_output, GAB_OUTPUT_SLICE, step,
                              gab_app_run_time(&it->base, step));
}
