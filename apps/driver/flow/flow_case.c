/* SPDX-License-Identifier: Apache-2.0 */
/* From a checked parameter file to the flow that it means. */
#include "apps/driver/flow/flow_case.h"

#include "resilience/resilience_config.h"
#include "apps/driver/case/case_impl.h"

#include <string.h>

/* Independent mistakes are collected, so that a user learns of all at once. */
typedef struct complaints {
  char text[6000];
  size_t count;
} complaints;

static void add_complaint(complaints *all, gab_status status)
{
  if (status == GAB_OK) return;
  size_t used = strlen(all->text);
  snprintf(all->text + used, sizeof all->text - used, "%s%s", all->count++ ? "\n" : "", gab_error_message());
}

static gab_status check_body_names(const gab_config *config)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < gab_config_count(config, "bodies"); i++)
    if (gab_config_string(config, gab_config_path(path, "bodies.%zu.name", i))[0])
      GAB_TRY(gab_app_column_check(config, path));
  return GAB_OK;
}

static gab_status read_domain(flow_case *found)
{
  GAB_TRY(gab_app_domain_read(found->base.config, &found->base.grid));
  GAB_TRY(gab_lbm_periodic_from_config(found->base.config, found->base.grid.grid.dimension,
                                       found->base.grid.periodic));
  found->base.domain = found->base.grid;
  found->domain = gab_lbm_domain(&found->base.grid);
  return GAB_OK;
}

gab_status gab_app_flow_fluid_check(const flow_case *which, const gab_geometry *geometry)
{
  const int64_t roots = gab_app_root_count(&which->base.grid);
  for (int64_t root = 0; root < roots; root++) {
    const gab_box box = gab_app_root_cells(&which->base.grid, root);
    if (gab_geometry_has_fluid(geometry, 0, &box)) return GAB_OK;
  }
  return gab_config_fail(which->base.config, "bodies", "all cells are solid: there is nothing to compute");
}

gab_status gab_app_flow_case_read(gab_app_case *which)
{
  flow_case *found = (flow_case *)which;
  const gab_config *config = which->config;
  complaints all = {.count = 0};
  char folder[GAB_APP_PATH_LENGTH];
  gab_app_folder_of(gab_config_name(config), folder, sizeof folder);
  gab_status domain = read_domain(found), setup = GAB_ERR_INPUT;
  add_complaint(&all, domain);
  if (domain == GAB_OK) {
    setup = gab_lbm_setup_from_config(config, &found->domain, folder, &found->setup);
    add_complaint(&all, setup);
    found->has_setup = setup == GAB_OK;
    add_complaint(&all, check_body_names(config));
  }
  if (found->has_setup) which->dt = found->setup.units.dt;
  add_complaint(&all, gab_app_steps_read(config, which->dt, &which->steps, &which->check_every));
  add_complaint(&all, gab_app_recompute_plan_read(config, which->check_every, &which->recompute));
  if (setup == GAB_OK)
    add_complaint(&all, gab_lbm_setup_check_meaning(config, &found->domain, &found->setup, which->steps));
  if (setup == GAB_OK) add_complaint(&all, gab_app_grid_plan_read(found));
  found->domain.deepest = found->refinement.max_level;
  if (setup == GAB_OK) add_complaint(&all, gab_app_flow_output_read(found, &found->output));
  if (setup == GAB_OK)
    add_complaint(&all, tracer_plan_read(config, &which->grid, which->dt, &found->tracers));
  add_complaint(&all, gab_resilience_check(config, gab_app_case_monitors(which)));
  add_complaint(&all,
                gab_app_reconstruct_refuse(config, "populations without any copy cannot be approximated"));
  add_complaint(&all, gab_app_injections_check(which->options));
  if (all.count) GAB_FAIL(GAB_ERR_INPUT, "%s", all.text);
  return GAB_OK;
}

void gab_app_flow_case_release(gab_app_case *which)
{
  flow_case *flow = (flow_case *)which;
  if (flow->has_setup) gab_lbm_setup_release(&flow->setup);
  gab_refinement_setup_release(&flow->refinement);
  flow->has_setup = false;
}
