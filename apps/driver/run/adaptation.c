/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the grid of a run to its fields. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/messages/collective.h"

static bool adapt_due(const void *user, gab_step step)
{
  const gab_app_run *it = user;
  return step % it->adaptation.every == 0;
}

/* Counts cell updates in a step of level 0. */
static gab_status count_updates(gab_app_run *it)
{
  const int32_t *cells = it->parameters->grid.cells;
  uint64_t updates = 0;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    updates +=
        UINT64_C(1) << (it->adaptation.substeps ? gab_block_level(it->forest, gab_forest_block(it->forest, b))
                                                : 0);
  GAB_TRY(gab_world_sum_u64(it->world, &updates, 1));
  gab_timeloop_set_updates(it->loop, updates * (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2]);
  return GAB_OK;
}

static gab_status adapt(void *user, gab_step step)
{
  gab_app_run *it = user;
  const gab_adapt_options options = {.max_level = it->adaptation.finest,
                                     .mark = it->adaptation.mark,
                                     .user = it,
                                     .distribute = gab_app_run_distribute,
                                     .distribute_context = it};
  gab_adapt_report report;
  if (it->adaptation.prepare) GAB_TRY(it->adaptation.prepare(it));
  GAB_TRY(gab_forest_adapt(it->forest, &options, &report));
  if (!report.changed) return GAB_OK;
  gab_log(GAB_LOG_DEBUG,
          "step %" GAB_PRI_STEP ": the grid adapts: %" PRIu64 " blocks split (%" PRIu64 " for 2:1), %" PRIu64
          " merged, %" PRIu64 " now",
          step, report.grid.split, report.grid.forced, report.grid.merged, report.grid.blocks);
  return count_updates(it);
}

gab_status gab_app_run_add_adaptation(gab_app_run *it, const gab_app_adaptation *how)
{
  it->adaptation = *how;
  if (how->finest == 0 || how->every == 0) return GAB_OK;
  return gab_timeloop_add_action(it->loop, "grid", adapt_due, adapt, it);
}
