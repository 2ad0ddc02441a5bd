/* From a checked parameter file of the phase field to what it means, and the table of this physics. */
#include "apps/driver/solidification/solidification.h"

#include "core/base/log.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

static const char *const own[] = {"phasefield", "output.profile", "output.slabs", NULL};

const gab_physics solidification_physics = {.name = "solidification",
                                            .title = "a phase field",
                                            .section = "phasefield",
                                            .own = own,
                                            .case_bytes = sizeof(solidification_case),
                                            .declare = solidification_declare,
                                            .read = solidification_read,
                                            .release = solidification_release,
                                            .check = solidification_check,
                                            .run = solidification_run};

gab_status solidification_read(driver_case *which)
{
  solidification_case *found = (solidification_case *)which;
  const gab_config *config = which->config;
  GAB_TRY(driver_case_refuse_others(which));
  GAB_TRY(driver_domain_read(config, &found->forest));
  gab_phasefield_periodic_from_config(config, found->forest.grid.dimension, found->forest.periodic);
  GAB_TRY(driver_balance_read(config, &which->balance, &which->rebalance));
  GAB_TRY(gab_phasefield_setup_from_config(config, &found->forest, &found->setup));
  found->has_setup = true;
  GAB_TRY(solidification_grid_read(found));
  found->series_every = gab_config_int(config, "phasefield.series_every");
  GAB_TRY(driver_steps_read(config, found->setup.options.dt, &which->steps, &which->check_every));
  GAB_TRY(recompute_plan_read(config, which->check_every, &which->recompute));
  GAB_TRY(gab_resilience_check(config, solidification_monitors()));
  if (found->refinement.levels > 0)
    GAB_TRY(driver_reconstruct_refuse(
        config, "lost blocks are made up on one level only (phasefield.refinement.levels: 0)"));
  return driver_drills_check(which->options);
}

void solidification_release(driver_case *which)
{
  solidification_case *found = (solidification_case *)which;
  if (found->has_setup) gab_phasefield_setup_release(&found->setup);
  found->has_setup = false;
}

void solidification_describe(const solidification_case *which)
{
  const gab_forest_options *forest = &which->forest;
  const char *title = gab_config_string(which->base.config, "run.title");
  char cells[80] = "";
  for (int k = 0; k < forest->grid.dimension; k++)
    snprintf(cells + strlen(cells), sizeof cells - strlen(cells), "%s%" PRId64, k ? " x " : "",
             (int64_t)forest->grid.roots[k] * forest->cells[k]);
  if (title[0]) gab_log(GAB_LOG_INFO, "  %s", title);
  gab_log(GAB_LOG_INFO, "  %s cells of width %g, %" GAB_PRI_STEP " steps", cells, forest->dx,
          which->base.steps);
  solidification_grid_describe(which);
  gab_phasefield_setup_describe(&which->setup);
}

gab_status solidification_check(gab_world *world, const driver_case *which)
{
  const solidification_case *found = (const solidification_case *)which;
  GAB_TRY(solidification_try(world, found));
  GAB_TRY(
      driver_any_processes_check(which->config, which->options, (uint64_t)driver_root_count(&which->grid)));
  gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(which->config));
  solidification_describe(found);
  driver_describe_spares(which->config, gab_config_int(which->config, "run.processes"));
  return GAB_OK;
}
