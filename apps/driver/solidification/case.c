/* From a checked parameter file of the phase field to what it means, and the table of this physics. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

static gab_status read_case(driver_case *which)
{
  solidification_case *found = (solidification_case *)which;
  const gab_config *config = which->config;
  GAB_TRY(driver_case_refuse_others(which));
  GAB_TRY(driver_domain_read(config, &which->domain));
  gab_phasefield_periodic_from_config(config, which->domain.grid.dimension, which->domain.periodic);
  GAB_TRY(driver_balance_read(config, &which->balance, &which->rebalance));
  GAB_TRY(gab_phasefield_setup_from_config(config, &which->domain, &found->setup));
  found->has_setup = true;
  which->dt = found->setup.options.dt;
  GAB_TRY(solidification_grid_read(found));
  found->series_every = gab_config_int(config, "phasefield.series_every");
  if (found->refinement.levels > 0)
    GAB_TRY(driver_reconstruct_refuse(
        config, "lost blocks are made up on one level only (phasefield.refinement.levels: 0)"));
  return driver_case_settle(which);
}

static void release_case(driver_case *which)
{
  solidification_case *found = (solidification_case *)which;
  if (found->has_setup) gab_phasefield_setup_release(&found->setup);
  found->has_setup = false;
}

static void describe(const driver_case *which)
{
  const solidification_case *found = (const solidification_case *)which;
  const gab_forest_options *forest = &which->domain;
  const char *title = gab_config_string(which->config, "run.title");
  char cells[80] = "";
  for (int k = 0; k < forest->grid.dimension; k++)
    snprintf(cells + strlen(cells), sizeof cells - strlen(cells), "%s%" PRId64, k ? " x " : "",
             (int64_t)forest->grid.roots[k] * forest->cells[k]);
  if (title[0]) gab_log(GAB_LOG_INFO, "  %s", title);
  gab_log(GAB_LOG_INFO, "  %s cells of width %g, %" GAB_PRI_STEP " steps", cells, forest->dx, which->steps);
  solidification_grid_describe(found);
  gab_phasefield_setup_describe(&found->setup);
}

/* ---------------------------------------------------------------- the table */

static const char *const own[] = {"phasefield", "output.profile", "output.slabs", NULL};
static const char *const usual_fields[] = {"phase", "solid", NULL};

const gab_physics gab_physics_solidification = {.name = "solidification",
                                                .title = "a phase field",
                                                .section = "phasefield",
                                                .own = own,
                                                .case_bytes = sizeof(solidification_case),
                                                .declare = solidification_declare,
                                                .read = read_case,
                                                .release = release_case,
                                                .describe = describe,
                                                .run_bytes = sizeof(growth),
                                                .prepare = growth_prepare,
                                                .add_writers = growth_add_writers,
                                                .memory = growth_memory,
                                                .build = growth_build,
                                                .describe_run = growth_describe,
                                                .add = growth_add,
                                                .monitors = solidification_monitors,
                                                .rebalance = growth_rebalance,
                                                .check_finite = growth_check_finite,
                                                .check_recomputed = growth_check_recomputed,
                                                .recomputation = growth_recomputation,
                                                .usual_fields = usual_fields,
                                                .usual_slice = "phase",
                                                .settle_slice = growth_settle_slice,
                                                .pick_evidence = growth_pick_evidence,
                                                .pack_series = growth_pack_series,
                                                .unpack_series = growth_unpack_series,
                                                .finish = growth_finish_slabs,
                                                .levels = growth_levels,
                                                .name_levers = growth_name_levers,
                                                .report = growth_report,
                                                .files = growth_files,
                                                .release_run = growth_release};
