/* SPDX-License-Identifier: Apache-2.0 */
/* From a checked parameter file to the flow that it means. */
#include "apps/driver/flow/flow_case.h"

#include "apps/driver/case/case_impl.h"
#include "lbm/observe/quantities.h"
#include "resilience/resilience_config.h"

#include <string.h>

/* ---------------------------------------------------------------- the section `output` */

/* To look up names. */
static gab_quantity_list quantities_of(const flow_case *which, gab_quantity items[FLOW_MOST_QUANTITIES])
{
  const gab_quantity_list own = gab_lbm_quantities_list(NULL, which->domain.dimension, items);
  gab_quantity_list all = gab_app_scalars_names(&which->scalars, items, own.count);
  if (which->means.names) all.count += gab_means_quantities(which->means.names, items + all.count);
  return all;
}

static gab_status check_names(const flow_case *which, const char *path)
{
  gab_quantity items[FLOW_MOST_QUANTITIES];
  const gab_quantity_list list = quantities_of(which, items);
  size_t count;
  const char *const *names = gab_config_strings(which->base.config, path, &count);
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_app_blame(which->base.config, path, gab_quantity_find(list, names[i], &found)));
  }
  return GAB_OK;
}

static gab_status check_slice(const flow_case *which, size_t index)
{
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  const gab_config *config = which->base.config;
  gab_config_path(item, "output.slices.%zu", index);
  gab_schedule schedule;
  GAB_TRY(gab_app_schedule_read(config, item, which->setup.units.dt, &schedule));
  gab_quantity items[FLOW_MOST_QUANTITIES];
  const gab_quantity_list list = quantities_of(which, items);
  const gab_quantity *found;
  gab_component component;
  gab_config_path(path, "%s.quantity", item);
  GAB_TRY(gab_app_blame(
      config, path,
      gab_quantity_find_scalar(list, gab_app_slice_quantity(&which->base, index), &found, &component)));
  gab_config_path(path, "%s.axis", item);
  if (which->domain.dimension == 2 && gab_config_choice_index(config, path) != 2)
    return gab_config_fail(config, path, "in 2D a slice has the normal z");
  if (!gab_slice_is_built())
    return gab_config_fail(config, item, "this Gabion was built without libpng and cannot draw pictures");
  return GAB_OK;
}

/* Checks that a point has a coordinate for each dimension of the domain and lies inside it. */
static gab_status check_point(const flow_case *which, const char *path)
{
  size_t count;
  const double *at = gab_config_reals(which->base.config, path, &count);
  const gab_domain *domain = &which->domain;
  if ((int)count < domain->dimension)
    return gab_config_fail(which->base.config, path, "%zu coordinates in a domain of %d dimensions", count,
                           domain->dimension);
  for (int d = 0; d < domain->dimension; d++) {
    double end = domain->origin[d] + (double)domain->cells[d] * domain->dx;
    if (at[d] < domain->origin[d] || at[d] > end)
      return gab_config_fail(which->base.config, path,
                             "%c = %g is outside the domain, which ranges from %g to %g", (int)"xyz"[d],
                             at[d], domain -> origin[d], end);
  }
  return GAB_OK;
}

static gab_status check_probes(const flow_case *which, output_plan *plan)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  plan->point_count = gab_config_count(which->base.config, "output.points");
  plan->line_count = gab_config_count(which->base.config, "output.lines");
  size_t points = plan->point_count;
  for (size_t i = 0; i < plan->point_count; i++) {
    GAB_TRY(check_point(which, gab_config_path(path, "output.points.%zu.at", i)));
    GAB_TRY(gab_app_column_check(which->base.config, gab_config_path(path, "output.points.%zu.name", i)));
  }
  for (size_t i = 0; i < plan->line_count; i++) {
    points += (size_t)gab_config_int(which->base.config, gab_config_path(path, "output.lines.%zu.count", i));
    if (points > FLOW_MOST_POINTS)
      return gab_config_fail(which->base.config, path, "makes it more than %d points in all",
                             (int)FLOW_MOST_POINTS);
    GAB_TRY(gab_app_column_check(which->base.config, gab_config_path(path, "output.lines.%zu.name", i)));
    GAB_TRY(check_point(which, gab_config_path(path, "output.lines.%zu.from", i)));
    GAB_TRY(check_point(which, gab_config_path(path, "output.lines.%zu.to", i)));
  }
  bool anything = plan->point_count + plan->line_count > 0;
  if (plan->probes.every > 0 && !anything)
    return gab_config_fail(which->base.config, "output.probes", "there are no output.points or output.lines");
  if (plan->probes.every == 0 && anything)
    return gab_config_fail(which->base.config, plan->point_count ? "output.points" : "output.lines",
                           "output.probes has to say how often they are measured");
  return GAB_OK;
}

/* Values on walls use three cells along a link, up to three cells beyond the block. Thinner blocks have fewer ghosts,
 * and the parts would depend on the size of the blocks: friction by up to a quarter. */
static gab_status check_parts(const flow_case *which, const output_plan *plan)
{
  enum { LEAST = 3 };
  const gab_forest_options *grid = &which->base.grid;
  for (int axis = 0; plan->parts && axis < grid->grid.dimension; axis++)
    if (grid->cells[axis] < LEAST)
      return gab_config_fail(which->base.config, "output.forces.parts",
                             "needs blocks of %d cells and more; domain.block has %d along %c", LEAST,
                             (int)grid->cells[axis], (int)"xyz"[axis]);
  return GAB_OK;
}

static gab_status read_output(const flow_case *which, output_plan *plan)
{
  const gab_config *config = which->base.config;
  double dt = which->setup.units.dt;
  GAB_TRY(gab_app_case_refuse_others(&which->base));
  *plan = (output_plan){.strain = gab_config_bool(config, "output.integrals.strain"),
                        .parts = gab_config_bool(config, "output.forces.parts"),
                        .side_forces = gab_config_bool(config, "output.sides.forces"),
                        .slice_count = gab_config_count(config, "output.slices")};
  gab_schedule fields;
  GAB_TRY(gab_app_schedule_read(config, "output.fields", dt, &fields));
  GAB_TRY(gab_app_series_read(config, "output.probes", dt, &plan->probes));
  GAB_TRY(gab_app_series_read(config, "output.forces", dt, &plan->forces));
  GAB_TRY(gab_app_series_read(config, "output.sides", dt, &plan->sides));
  GAB_TRY(gab_app_series_read(config, "output.integrals", dt, &plan->integrals));
  GAB_TRY(gab_app_series_read(config, "output.porous", dt, &plan->porous));
  GAB_TRY(check_names(which, "output.fields.quantities"));
  GAB_TRY(check_names(which, "output.probes.quantities"));
  for (size_t i = 0; i < plan->slice_count; i++) GAB_TRY(check_slice(which, i));
  if (plan->forces.every > 0 && which->setup.body_count == 0)
    return gab_config_fail(config, "output.forces", "there are no bodies");
  if (plan->porous.every > 0 && which->setup.porous_count == 0)
    return gab_config_fail(config, "output.porous",
                           "there are no porous regions: list them in the section porous");
  GAB_TRY(check_parts(which, plan));
  GAB_TRY(gab_app_planes_check(which, quantities_of(which, (gab_quantity[FLOW_MOST_QUANTITIES]){{0}})));
  return check_probes(which, plan);
}

/* Without a row after it an end of the run would never come. */
static gab_status check_start(const flow_case *which, const char *key, gab_step start)
{
  if (start < which->base.steps) return GAB_OK;
  return gab_config_fail(which->base.config, key,
                         "is step %" GAB_PRI_STEP ", but the run has %" GAB_PRI_STEP
                         ": no row would count, and the run would never end by it",
                         start, which->base.steps);
}

static gab_status read_means(flow_case *which)
{
  gab_quantity items[FLOW_MOST_QUANTITIES];
  const until_plan *until = &which->until;
  GAB_TRY(gab_app_until_read(which->base.config, &which->until));
  if (until->of) GAB_TRY(check_start(which, "run.until.converged.start", until->start));
  if (until->periodic.of) GAB_TRY(check_start(which, "run.until.periodic.start", until->periodic.start));
  return gab_app_means_read(which->base.config, quantities_of(which, items), &which->domain,
                            which->setup.units.dt, &which->means);
}

/* ---------------------------------------------------------------- the case */

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

static gab_status check_names_of(const gab_config *config, const char *list)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < gab_config_count(config, list); i++)
    if (gab_config_string(config, gab_config_path(path, "%s.%zu.name", list, i))[0])
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
    add_complaint(&all, check_names_of(config, "bodies"));
    add_complaint(&all, check_names_of(config, "porous"));
  }
  if (found->has_setup) which->dt = found->setup.units.dt;
  add_complaint(&all, gab_app_steps_read(config, which->dt, &which->steps, &which->check_every));
  add_complaint(&all, gab_app_recompute_plan_read(config, which->check_every, &which->recompute));
  if (setup == GAB_OK)
    add_complaint(&all, gab_lbm_setup_check_meaning(config, &found->domain, &found->setup, which->steps));
  if (setup == GAB_OK) add_complaint(&all, gab_app_grid_plan_read(found));
  found->domain.deepest = found->refinement.max_level;
  if (setup == GAB_OK) {
    const scalars_case from = {config, &found->domain, &found->setup, found->refinement.max_level,
                               (double)which->steps * which->dt};
    add_complaint(&all, gab_app_scalars_read(&from, &found->scalars));
  }
  if (setup == GAB_OK) add_complaint(&all, read_means(found));
  if (setup == GAB_OK) add_complaint(&all, read_output(found, &found->output));
  if (setup == GAB_OK)
    add_complaint(&all, gab_app_tracer_plan_read(config, &which->grid, which->dt, &found->tracers));
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
  gab_app_scalars_release(&flow->scalars);
  gab_app_means_release(&flow->means);
  flow->has_setup = false;
}
