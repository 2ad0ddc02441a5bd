/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a checked parameter file of the phase field to a case; the table of this solver. */
#include "apps/driver/solidification/growth.h"

#include "core/base/log.h"
#include "resilience/resilience_config.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>
#include <string.h>

static gab_status read_case(gab_app_case *which)
{
  solidification_case *found = (solidification_case *)which;
  const gab_config *config = which->config;
  GAB_TRY(gab_app_case_refuse_others(which));
  GAB_TRY(gab_app_domain_read(config, &which->domain));
  gab_phasefield_periodic_from_config(config, which->domain.grid.dimension, which->domain.periodic);
  GAB_TRY(gab_app_balance_read(config, &which->balance, &which->rebalance));
  GAB_TRY(gab_phasefield_setup_from_config(config, &which->domain, &found->setup));
  found->has_setup = true;
  which->dt = found->setup.options.dt;
  GAB_TRY(gab_app_solidification_grid_read(found));
  found->series_every = gab_config_int(config, "phasefield.series_every");
  if (found->refinement.levels > 0)
    GAB_TRY(gab_app_reconstruct_refuse(
        config, "lost blocks are approximated on one level only (phasefield.refinement.levels: 0)"));
  return gab_app_case_settle(which);
}

static void release_case(gab_app_case *which)
{
  solidification_case *found = (solidification_case *)which;
  if (found->has_setup) gab_phasefield_setup_release(&found->setup);
  found->has_setup = false;
}

static void describe(const gab_app_case *which)
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
  gab_app_solidification_grid_describe(found);
  gab_phasefield_setup_describe(&found->setup);
}

/* ---------------------------------------------------------------- the table */

static const char *const own[] = {"phasefield", "output.profile", "output.slabs", NULL};
static const char *const usual_fields[] = {"phase", "solid", NULL};

const gab_solver gab_solver_solidification = {.name = "solidification",
                                              .title = "a phase field",
                                              .section = "phasefield",
                                              .own = own,
                                              .case_bytes = sizeof(solidification_case),
                                              .declare = gab_app_solidification_declare,
                                              .read = read_case,
                                              .release = release_case,
                                              .describe = describe,
                                              .run_bytes = sizeof(growth),
                                              .prepare = gab_app_growth_prepare,
                                              .add_writers = gab_app_growth_add_writers,
                                              .memory = gab_app_growth_memory,
                                              .build = gab_app_growth_build,
                                              .describe_run = gab_app_growth_describe,
                                              .add = gab_app_growth_add,
                                              .monitors = gab_app_solidification_monitors,
                                              .rebalance = gab_app_growth_rebalance,
                                              .check_finite = gab_app_growth_check_finite,
                                              .check_recomputed = gab_app_growth_check_recomputed,
                                              .recomputation = gab_app_growth_recomputation,
                                              .update_quantities = gab_app_growth_update_quantities,
                                              .quantities = gab_app_solidification_quantity,
                                              .usual_fields = usual_fields,
                                              .usual_slice = "phase",
                                              .settle_slice = gab_app_growth_settle_slice,
                                              .pick_evidence = gab_app_growth_pick_evidence,
                                              .pack_series = gab_app_growth_pack_series,
                                              .unpack_series = gab_app_growth_unpack_series,
                                              .finish = gab_app_growth_finish_slabs,
                                              .levels = gab_app_growth_levels,
                                              .name_levers = gab_app_growth_name_levers,
                                              .report = gab_app_growth_report,
                                              .files = gab_app_growth_files,
                                              .release_run = gab_app_growth_release,
                                              .plan = gab_app_growth_plan};
