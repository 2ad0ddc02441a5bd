/* From a checked parameter file of the phase field to what it means. */
#include "apps/driver/solidification/phase.h"

#include "core/base/log.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

bool phase_case_is(const gab_config *config) { return gab_config_is_set(config, "phasefield"); }

/* What belongs to a flow has no meaning here. */
static gab_status refuse_flow(const gab_config *config)
{
  static const char *const paths[] = {"lbm",           "fluid",           "units",      "boundaries",
                                      "bodies",        "initial",         "refinement", "output.probes",
                                      "output.forces", "output.integrals"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    if (gab_config_is_set(config, paths[i]))
      return gab_config_fail(config, paths[i], "belongs to a flow, but this is a phase field");
  return GAB_OK;
}

gab_status phase_case_read(const gab_config *config, const driver_options *options, phase_case *found)
{
  *found = (phase_case){.config = config};
  GAB_TRY(refuse_flow(config));
  GAB_TRY(driver_domain_read(config, &found->forest));
  gab_phasefield_periodic_from_config(config, found->forest.grid.dimension, found->forest.periodic);
  GAB_TRY(driver_balance_read(config, &found->balance, &found->rebalance));
  GAB_TRY(gab_phasefield_setup_from_config(config, &found->forest, &found->setup));
  found->has_setup = true;
  GAB_TRY(phase_grid_read(config, found));
  found->series_every = gab_config_int(config, "phasefield.series_every");
  GAB_TRY(driver_steps_read(config, found->setup.options.dt, &found->steps, &found->check_every));
  GAB_TRY(recompute_plan_read(config, found->check_every, &found->recompute));
  GAB_TRY(gab_resilience_check(config, phase_monitors()));
  if (found->refinement.levels > 0)
    GAB_TRY(driver_reconstruct_refuse(
        config, "lost blocks are made up on one level only (phasefield.refinement.levels: 0)"));
  return driver_drills_check(options);
}

void phase_case_release(phase_case *which)
{
  if (which->has_setup) gab_phasefield_setup_release(&which->setup);
  which->has_setup = false;
}

void phase_case_describe(const phase_case *which)
{
  const gab_forest_options *forest = &which->forest;
  const char *title = gab_config_string(which->config, "run.title");
  char cells[80] = "";
  for (int k = 0; k < forest->grid.dimension; k++)
    snprintf(cells + strlen(cells), sizeof cells - strlen(cells), "%s%" PRId64, k ? " x " : "",
             (int64_t)forest->grid.roots[k] * forest->cells[k]);
  if (title[0]) gab_log(GAB_LOG_INFO, "  %s", title);
  gab_log(GAB_LOG_INFO, "  %s cells of width %g, %" GAB_PRI_STEP " steps", cells, forest->dx, which->steps);
  phase_grid_describe(which);
  gab_phasefield_setup_describe(&which->setup);
}

gab_status phase_check(const gab_config *config, const driver_options *options)
{
  phase_case which = {0};
  gab_world *world = NULL;
  char message[4096];
  gab_status status = phase_case_read(config, options, &which);
  if (status == GAB_OK) status = gab_world_create(NULL, NULL, &world);
  if (status == GAB_OK) status = phase_try(world, &which, options);
  if (status == GAB_OK)
    status =
        driver_any_processes_check(config, options,
                                   (uint64_t)which.grid.grid.roots[0] * (uint64_t)which.grid.grid.roots[1] *
                                       (uint64_t)which.grid.grid.roots[2]);
  snprintf(message, sizeof message, "%s",
           gab_error_message()); /* the end of the world may have another one */
  if (world) gab_world_destroy(&world);
  if (status != GAB_OK) (void)gab_error_set(status, __FILE__, __LINE__, "%s", message);
  if (status == GAB_OK) {
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(config));
    phase_case_describe(&which);
    driver_describe_spares(config, gab_config_int(config, "run.processes"));
  }
  phase_case_release(&which);
  return status;
}
