/* SPDX-License-Identifier: Apache-2.0 */
/* The solver table of the flow, and the functions of its entries that belong to no other file. */
#include "apps/driver/flow/flow.h"
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "lbm/boundaries/body_shape.h"
#include "lbm/sides/boundary.h"
#include "lbm/device/device_flow.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/levels/refinement/cell_criterion.h"
#include "apps/driver/case/case_impl.h"

#include <math.h>

/* ---------------------------------------------------------------- of a run */

gab_lbm *gab_app_run_flow(const gab_app_run *it)
{
  return it->parameters->solver->prepare == gab_app_simulation_prepare ? ((const simulation *)it)->lbm : NULL;
}

/* ---------------------------------------------------------------- check */

/* Number of blocks, which bounds the number of processes: each needs a block. */
static uint64_t most_blocks(const gab_app_case *which, gab_proxies *proxies)
{
  return proxies ? gab_proxies_count(proxies) : (uint64_t)gab_app_root_count(&which->grid);
}

/* A warning only: the run may be meant for another machine. */
static void warn_of_memory(const gab_app_run *it)
{
  const gab_config *config = it->parameters->config;
  const gab_app_memory memory = gab_app_simulation_memory(it);
  const int processes = (int)gab_config_int(config, "run.processes");
  if (gab_app_memory_check(config, &memory, processes, processes) != GAB_OK)
    gab_log(GAB_LOG_WARNING, "on this machine alone: %s", gab_error_message());
}

/* Visits all blocks at sides that could exist. */
static gab_status sum_sides(simulation *made, gab_proxies *proxies)
{
  gab_side_sums sums[GAB_MOST_CONDITIONS] = {0};
  const gab_forest_options *grid = &made->parameters->base.grid;
  const size_t count = proxies ? gab_proxies_count(proxies) : (size_t)gab_app_root_count(grid);
  for (size_t i = 0; i < count; i++) {
    const gab_block_id id = proxies ? gab_proxies_get(proxies, i)->id : (gab_block_id){0};
    const gab_box cells = proxies ? gab_proxies_cells(proxies, id) : gab_app_root_cells(grid, (int64_t)i);
    gab_lbm_add_side_sums(made->lbm, proxies ? gab_proxies_level(proxies, id) : 0, &cells, sums);
  }
  return gab_app_sides_set(made, sums);
}

/* Includes the refined grid, as proxies. */
static gab_status check(gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  const flow_case *flow = (const flow_case *)which;
  simulation *made = (simulation *)it;
  gab_proxies *proxies = NULL;
  gab_status status = GAB_OK;
  if (flow->refinement.max_level > 0)
    status = gab_proxies_create(it->world, gab_forest_get_options(it->forest), &proxies);
  if (proxies) status = gab_app_grid_refine(made, proxies);
  if (status == GAB_OK) status = gab_app_any_processes_check(which, most_blocks(which, proxies));
  if (status == GAB_OK) status = sum_sides(made, proxies);
  if (status == GAB_OK && gab_app_start_is_wanted(flow)) status = gab_app_start_check(made);
  if (status == GAB_OK && flow->setup.initial_flow.is_used) status = gab_app_initial_check(made);
  if (status == GAB_OK) status = gab_app_porous_check(made, proxies, false);
  if (status == GAB_OK) {
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(which->config));
    gab_app_flow_case_describe(which);
    warn_of_memory(it);
    gab_app_flow_case_describe_blocks(flow, made->geometry, proxies);
    gab_app_sides_describe(made);
    gab_app_start_describe(made);
    gab_app_sides_warn(made);
    status = gab_app_porous_check(made, proxies, true);
  }
  gab_proxies_destroy(&proxies);
  return status;
}

/* ---------------------------------------------------------------- the end of a run */

static void report(const gab_app_run *it)
{
  const simulation *done = (const simulation *)it;
  const output_plan *plan = &done->parameters->output;
  gab_app_grid_report(done);
  gab_app_forces_report(done);
  gab_app_side_series_report(done);
  gab_app_porous_report(done);
  gab_app_drive_report(done);
  if (plan->forces.every > 0) gab_log(GAB_LOG_INFO, "  forces: %s/forces.csv", it->folder);
  if (plan->sides.every > 0) gab_log(GAB_LOG_INFO, "  sides: %s/sides.csv", it->folder);
  if (plan->porous.every > 0) gab_log(GAB_LOG_INFO, "  porous regions: %s/porous.csv", it->folder);
  if (plan->integrals.every > 0) gab_log(GAB_LOG_INFO, "  integrals: %s/integrals.csv", it->folder);
  if (plan->probes.every > 0) gab_log(GAB_LOG_INFO, "  probes: %s/probes.csv", it->folder);
  gab_app_planes_report(done);
  if (done->profile.means && done->profile.axis >= 0)
    gab_log(GAB_LOG_INFO, "  profile of the means: %s/means_profile.csv", it->folder);
  if (done->parameters->scalars.output.every > 0)
    gab_log(GAB_LOG_INFO, "  scalars: %s/scalars.csv", it->folder);
  if (done->parameters->tracers.output.every > 0)
    gab_log(GAB_LOG_INFO, "  tracers: %s/tracers.csv; for ParaView: %s/fields/tracers.xdmf", it->folder,
            it->folder);
}

/* ---------------------------------------------------------------- plan */

/* Solid cells are not in images. Blocks with few fluid cells store only these, unless another level is adjacent. */
static gab_app_plan_block block_of(const gab_app_plan *plan, const gab_proxy *proxy)
{
  const int level = gab_proxies_level(plan->proxies, proxy->id);
  const gab_lbm_footprint flow = gab_lbm_get_footprint(((const simulation *)plan->run)->lbm, plan->ranks);
  const int32_t *cells = plan->run->parameters->grid.cells;
  const double fluid = ldexp((double)proxy->weight, -level);
  gab_app_plan_block block = plan->block;
  bool borders = false;
  block.updates = (double)proxy->weight;
  for (size_t r = 0; r < proxy->neighbour_count; r++)
    borders |= gab_proxies_level(plan->proxies, proxy->neighbours[r].id) != level;
  const double all = (double)cells[0] * cells[1] * cells[2];
  double fields, images;
  gab_app_flow_extra_bytes(((const simulation *)plan->run)->parameters, &fields, &images);
  block.image = fluid * (double)flow.cell + all * images;
  if (borders || fluid >= flow.sparse_below * all) return block;
  return (gab_app_plan_block){
      .state = fluid * (double)flow.cell + all * fields, .image = block.image, .updates = block.updates};
}

void gab_app_plan_add_flow(gab_app_plan *plan, const gab_lbm *lbm)
{
  const gab_lbm_footprint flow = gab_lbm_get_footprint(lbm, plan->ranks);
  const int32_t *cells = plan->run->parameters->grid.cells;
  plan->block.image += (double)flow.cell * cells[0] * cells[1] * cells[2];
  if (flow.places > 1) {
    plan->block.shares = true;
    plan->shared_state = (double)flow.field;
    plan->places = flow.places;
  } else plan->block.state += (double)flow.field;
  gab_app_plan_add_ghosts(plan, &flow.ghosts);
  plan->substeps = true;
}

static gab_status plan(gab_app_run *it, gab_app_plan *plan)
{
  simulation *made = (simulation *)it;
  const flow_case *flow = made->parameters;
  gab_data_id seen[GAB_LBM_MOST_NEEDS];
  plan->fields = flow->scalars.count > 0 ? "populations, scalars" : "populations";
  plan->block_of = block_of;
  plan->adapts_every = flow->refinement.max_level > 0 ? flow->refinement.every : 0;
  gab_app_plan_add_flow(plan, made->lbm);
  const int count = gab_lbm_quantities_data(made->view, seen);
  for (int i = 0; i < count; i++) GAB_TRY(gab_app_plan_add_data(plan, seen[i]));
  if (made->tracers) GAB_TRY(gab_app_flow_tracers_plan(made->tracers, plan));
  GAB_TRY(gab_app_flow_scalars_plan(made->scalars, plan));
  if (made->means) GAB_TRY(gab_app_plan_add_data(plan, gab_means_data(made->means)));
  if (flow->until.every > 0) GAB_TRY(gab_app_plan_add_data(plan, made->until.data));
  return gab_app_grid_refine(made, plan->proxies);
}

/* ---------------------------------------------------------------- info */

static const char *kernel_name(int index)
{
  const gab_kernel_family *kernel = gab_kernel_family_at(index + 1); /* without auto */
  return kernel ? kernel->name : NULL;
}

static const char *precision_name(int index)
{
  static const char *const precisions[] = {"double", "float", "mixed"};
  return index < (int)(sizeof precisions / sizeof precisions[0]) ? precisions[index] : NULL;
}

static const char *lattice_name(int index)
{
  const gab_lattice *lattice = gab_lattice_at(index);
  return lattice ? lattice->name : NULL;
}

static const char *collision_name(int index)
{
  const gab_collision *model = gab_collision_at(index);
  return model ? model->name : NULL;
}

static const gab_app_names names[] = {{"kernels", kernel_name},
                                      {"precisions", precision_name},
                                      {"lattices", lattice_name},
                                      {"collisions", collision_name},
                                      {"boundaries", gab_boundary_name},
                                      {"bodies", gab_body_shape_name},
                                      {"criteria", gab_lbm_criterion_name},
                                      {NULL, NULL}};

/* The kernel that blocks get, and why. */
static gab_status print(const gab_app_case *which, FILE *out)
{
  const flow_case *flow = (const flow_case *)which;
  gab_lbm_kernel_choice choice;
  GAB_TRY(gab_lbm_choose_kernel(&flow->setup.options, which->grid.cells, &choice));
  fprintf(out, "  %-12s%s\n  %-12s%s\n  %-12s%s\n", "kernel", choice.name, "", choice.family, "",
          choice.processor);
  if (choice.advice[0]) fprintf(out, "  %-12s%s\n", "", choice.advice);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the table */

static const char *const own[] = {"lbm",
                                  "fluid",
                                  "units",
                                  "boundaries",
                                  "bodies",
                                  "porous",
                                  "initial",
                                  "refinement",
                                  "output.probes",
                                  "output.points",
                                  "output.lines",
                                  "output.forces",
                                  "output.sides",
                                  "output.integrals",
                                  "output.planes",
                                  "output.porous",
                                  "tracers",
                                  "output.tracers",
                                  "scalars",
                                  "scalar_boundaries",
                                  "output.scalars",
                                  "output.means",
                                  "run.until",
                                  "run.until.converged",
                                  "run.until.periodic",
                                  NULL};

static const char *const usual_fields[] = {"velocity", "pressure", NULL};

const gab_solver gab_solver_flow = {.name = "flow",
                                    .title = "a flow",
                                    .own = own,
                                    .case_bytes = sizeof(flow_case),
                                    .declare = gab_app_flow_declare,
                                    .read = gab_app_flow_case_read,
                                    .release = gab_app_flow_case_release,
                                    .describe = gab_app_flow_case_describe,
                                    .check = check,
                                    .run_bytes = sizeof(simulation),
                                    .prepare = gab_app_simulation_prepare,
                                    .add_writers = gab_app_simulation_add_writers,
                                    .memory = gab_app_simulation_memory,
                                    .build = gab_app_simulation_build,
                                    .describe_run = gab_app_simulation_describe,
                                    .add = gab_app_simulation_add,
                                    .monitors = gab_app_flow_monitors,
                                    .rebalance = gab_app_grid_rebalance,
                                    .check_finite = gab_app_simulation_check_finite,
                                    .check_recomputed = gab_app_simulation_check_recomputed,
                                    .recomputation = gab_app_simulation_recomputation,
                                    .update_quantities = gab_app_simulation_update_quantities,
                                    .quantities = gab_lbm_quantity_choice,
                                    .usual_fields = usual_fields,
                                    .usual_slice = "speed",
                                    .pick_evidence = gab_app_simulation_pick_evidence,
                                    .name_levers = gab_app_simulation_name_levers,
                                    .put_grid = gab_app_grid_put,
                                    .put_results = gab_app_results_put,
                                    .draw = gab_app_simulation_draw,
                                    .finish = gab_app_simulation_finish,
                                    .report = report,
                                    .release_run = gab_app_simulation_release,
                                    .plan = plan,
                                    .names = names,
                                    .check_device = gab_lbm_check_device,
                                    .print = print};
