/* SPDX-License-Identifier: Apache-2.0 */
/* The moving window, and the rows that leave it: slabs of whole rows, each written by its blocks just before it
 * leaves. Rows are counted from the first position of the window, so a slab that is written again after a rollback is
 * the same file. The final window is written as well; both together are the whole solid (gabion assemble). */
#include "apps/driver/solidification/growth.h"
#include "apps/driver/case/case_impl.h"
#include "apps/driver/run/run_impl.h"

gab_status gab_app_growth_add_slabs(growth *it)
{
  const gab_config *config = it->parameters->base.config;
  char folder[GAB_APP_PATH_LENGTH + 16];
  gab_quantity picked[GAB_APP_MOST_PICKED];
  size_t count;
  if (!gab_config_is_set(config, "output.slabs")) return GAB_OK;
  GAB_TRY(gab_app_run_pick(&it->base, "output.slabs.quantities", picked, &count));
  snprintf(folder, sizeof folder, "%s/slabs", it->base.folder);
  const gab_slab_writer_options options = {
      .folder = folder,
      .quantities = picked,
      .quantity_count = count,
      .precision = gab_config_choice_index(config, "output.slabs.precision") == 0 ? GAB_OUTPUT_FLOAT
                                                                                  : GAB_OUTPUT_DOUBLE,
      .compression = gab_app_compression_read(config, "output.slabs")};
  return gab_app_blame(config, "output.slabs", gab_slab_writer_create(it->base.forest, &options, &it->slabs));
}

/* Files of an older run, or of this one before a rollback: slabs of the same rows, which will be written again, and
 * an outdated final window. */
static gab_status clean_slabs(growth *it)
{
  const gab_epoch epoch = gab_world_epoch(it->base.world);
  if (it->slabs_known && it->slabs_epoch == epoch) return GAB_OK;
  GAB_TRY(gab_slab_writer_remove(it->slabs, "slab", gab_phasefield_get_shift(it->model)));
  GAB_TRY(gab_slab_writer_remove(it->slabs, "last", 0));
  it->slabs_known = true;
  it->slabs_epoch = epoch;
  return GAB_OK;
}

bool gab_app_growth_window_due(const void *user, gab_step step)
{
  const growth *it = user;
  const gab_phasefield_setup *setup = &it->parameters->setup;
  return setup->window_row >= 0 && step % setup->window_every == 0;
}

gab_status gab_app_growth_move_window(void *user, gab_step step)
{
  growth *it = user;
  const int64_t at_once = it->parameters->setup.window_rows;
  int64_t front;
  if (it->slabs) /* also at the start: files of an older run must not be taken for those of this one */
    GAB_TRY(clean_slabs(it));
  GAB_TRY(gab_phasefield_front(it->model, &front));
  for (; front - at_once >= it->parameters->setup.window_row; front -= at_once) {
    if (it->slabs) {
      gab_world_enter(it->base.world, GAB_FAULT_POINT_OUTPUT);
      GAB_TRY(gab_phasefield_update_quantities(it->model));
      GAB_TRY(gab_slab_writer_write(it->slabs, "slab", 0, at_once, gab_phasefield_get_shift(it->model), step,
                                    gab_app_run_time(&it->base, step)));
    }
    GAB_TRY(gab_phasefield_shift(it->model, at_once));
  }
  return GAB_OK;
}

gab_status gab_app_growth_finish_slabs(gab_app_run *run, gab_step step)
{
  growth *it = (growth *)run;
  const gab_forest_options *forest = &it->parameters->base.domain;
  const int axis = forest->grid.dimension - 1;
  const int64_t rows = (int64_t)forest->grid.roots[axis] * forest->cells[axis];
  if (!it->slabs) return GAB_OK;
  gab_world_enter(it->base.world, GAB_FAULT_POINT_OUTPUT);
  GAB_TRY(clean_slabs(it));
  GAB_TRY(gab_phasefield_update_quantities(it->model));
  return gab_slab_writer_write(it->slabs, "last", 0, rows, gab_phasefield_get_shift(it->model), step,
                               gab_app_run_time(&it->base, step));
}
