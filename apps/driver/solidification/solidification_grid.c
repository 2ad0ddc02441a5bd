/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of a phase field: fine where interfaces are, see phasefield/levels/refinement.h. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"

/* ---------------------------------------------------------------- parameters */

/* Refuses windows and output that would cut wide cells. */
static gab_status check_grid(solidification_case *which)
{
  const gab_config *config = which->base.config;
  const int64_t unit = (int64_t)1 << which->refinement.levels;
  if (which->refinement.levels == 0) return GAB_OK;
  if (gab_config_is_set(config, "output.slabs"))
    return gab_config_fail(config, "output.slabs",
                           "slabs are written from one grid: phasefield.refinement.levels must be 0");
  if (which->setup.window_row < 0 || which->setup.window_rows % unit == 0) return GAB_OK;
  if (which->setup.window_rows != 1)
    return gab_config_fail(config, "phasefield.window.rows",
                           "with %d levels of wider cells a window moves by multiples of %" PRId64
                           " rows, not by %" PRId64,
                           which->refinement.levels, unit, which->setup.window_rows);
  which->setup.window_rows = unit; /* default chosen by the program */
  return GAB_OK;
}

gab_status gab_app_solidification_grid_read(solidification_case *which)
{
  which->base.grid = which->base.domain;
  GAB_TRY(gab_phasefield_refinement_from_config(which->base.config, which->setup.window_row >= 0,
                                                &which->base.grid, &which->refinement));
  which->setup.options.levels = which->refinement.levels;
  return check_grid(which);
}

void gab_app_solidification_grid_describe(const solidification_case *which)
{
  const gab_phasefield_refinement_setup *setup = &which->refinement;
  if (setup->levels > 0)
    gab_log(GAB_LOG_INFO,
            "  cells up to %d times as wide more than %d cells away from interfaces; the grid adapts every "
            "%" GAB_PRI_STEP " steps",
            1 << setup->levels, setup->margin, setup->every);
}

/* ---------------------------------------------------------------- life */

static gab_phasefield_grid grid_of(growth *it, gab_distribute_fn who)
{
  return (gab_phasefield_grid){.margin = it->parameters->refinement.margin,
                               .steepest = it->parameters->refinement.steepest,
                               .distribute = who,
                               .context = it};
}

gab_status gab_app_growth_build_grid(growth *it)
{
  const gab_phasefield_grid grid = grid_of(it, gab_app_run_distribute_first);
  return gab_phasefield_build(it->model, &grid, NULL);
}

gab_status gab_app_growth_plan(gab_app_run *run, gab_app_plan *plan)
{
  growth *it = (growth *)run;
  const gab_phasefield_refinement_setup *setup = &it->parameters->refinement;
  const gab_phasefield_grid grid = grid_of(it, NULL);
  gab_ghost_kind ghosts[2];
  plan->fields = "phases";
  plan->adapts_every = setup->levels > 0 ? setup->every : 0;
  gab_phasefield_get_ghosts(it->model, ghosts);
  for (int i = 0; i < 2; i++) gab_app_plan_add_ghosts(plan, &ghosts[i]);
  GAB_TRY(gab_app_plan_add_data(plan, gab_phasefield_data(it->model)));
  return gab_phasefield_refine_places(it->model, &grid, plan->proxies);
}

bool gab_app_growth_grid_due(const void *user, gab_step step)
{
  const solidification_case *which = ((const growth *)user)->parameters;
  return which->refinement.levels > 0 && step % which->refinement.every == 0;
}

gab_status gab_app_growth_adapt_grid(void *user, gab_step step)
{
  growth *it = user;
  const gab_phasefield_grid grid = grid_of(it, gab_app_run_distribute);
  const int32_t *cells = it->parameters->base.grid.cells;
  gab_adapt_report report;
  GAB_TRY(gab_phasefield_adapt(it->model, &grid, &report));
  if (!report.changed) return GAB_OK;
  gab_balance_forget_work(it->base.forest);
  gab_timeloop_set_updates(it->base.loop,
                           report.grid.blocks * (uint64_t)cells[0] * (uint64_t)cells[1] * (uint64_t)cells[2]);
  gab_log(GAB_LOG_DEBUG,
          "step %" GAB_PRI_STEP ": the grid adapts: %" PRIu64 " blocks split, %" PRIu64 " merged, %" PRIu64
          " now",
          step, report.grid.split, report.grid.merged, report.grid.blocks);
  return GAB_OK;
}
