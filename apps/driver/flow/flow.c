/* The table of the flow, and what is behind its entries. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

/* ---------------------------------------------------------------- check */

/* No process goes without one. */
static uint64_t most_blocks(const gab_app_case *which, gab_proxies *proxies)
{
  return proxies ? gab_proxies_count(proxies) : (uint64_t)gab_app_root_count(&which->grid);
}

/* The run may be for other machines than this one. */
static void warn_of_memory(const gab_app_run *it)
{
  const gab_config *config = it->parameters->config;
  const gab_app_memory memory = gab_app_simulation_memory(it);
  const int processes = (int)gab_config_int(config, "run.processes");
  if (gab_app_memory_check(config, &memory, processes, processes) != GAB_OK)
    gab_log(GAB_LOG_WARNING, "on this machine alone: %s", gab_error_message());
}

/* The grid, too, as proxies. */
static gab_status check(gab_app_run *it)
{
  const gab_app_case *which = it->parameters;
  const flow_case *flow = (const flow_case *)which;
  gab_geometry *geometry = ((simulation *)it)->geometry;
  gab_proxies *proxies = NULL;
  gab_status status = GAB_OK;
  if (flow->refinement.max_level > 0)
    status = gab_app_grid_proxies_build(it->world, flow, geometry, &proxies);
  if (status == GAB_OK)
    status = gab_app_any_processes_check(which->config, which->options, most_blocks(which, proxies));
  if (status == GAB_OK) {
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(which->config));
    gab_app_flow_case_describe(which);
    warn_of_memory(it);
    gab_app_flow_case_describe_blocks(flow, geometry, proxies);
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
  if (plan->forces.every > 0) gab_log(GAB_LOG_INFO, "  forces: %s/forces.csv", it->folder);
  if (plan->integrals.every > 0) gab_log(GAB_LOG_INFO, "  integrals: %s/integrals.csv", it->folder);
  if (plan->probes.every > 0) gab_log(GAB_LOG_INFO, "  probes: %s/probes.csv", it->folder);
}

/* ---------------------------------------------------------------- plan */

/* Bytes of the populations of a block. */
static double image_bytes(const flow_case *flow, const gab_lattice *lattice)
{
  const gab_forest_options *grid = &flow->base.grid;
  double cells = 1;
  for (int axis = 0; axis < grid->grid.dimension; axis++) cells *= grid->cells[axis];
  return cells * lattice->q * (double)gab_precision_bytes(flow->setup.options.precision);
}

/* Bytes that cross in a direction: populations that move so, of the cells at that side. */
static double crossing_bytes(const flow_case *flow, const gab_lattice *lattice, int direction)
{
  const gab_forest_options *grid = &flow->base.grid;
  int offset[3], populations = 0;
  double cells = 1;
  gab_direction_offset(direction, offset);
  for (int q = 0; q < lattice->q; q++) {
    bool crosses = true;
    for (int axis = 0; axis < 3; axis++)
      if (offset[axis] != 0 && lattice->c[q][axis] != offset[axis]) crosses = false;
    populations += crosses;
  }
  for (int axis = 0; axis < grid->grid.dimension; axis++)
    if (offset[axis] == 0) cells *= grid->cells[axis];
  return cells * populations * (double)gab_precision_bytes(flow->setup.options.precision);
}

static double state_on(const void *user, int32_t processes)
{
  const flow_case *flow = user;
  return gab_lbm_block_bytes(&flow->setup.options, &flow->base.grid, processes);
}

static gab_plan_model model_of(const flow_case *flow)
{
  const gab_lbm_options *options = &flow->setup.options;
  const gab_lattice *lattice = options->lattice;
  if (!lattice) lattice = gab_lattice_usual(flow->domain.dimension);
  gab_plan_model model = {.fields = "populations",
                          .state =
                              state_on(flow, (int32_t)gab_config_int(flow->base.config, "run.processes")),
                          .image = image_bytes(flow, lattice),
                          .state_on = state_on,
                          .user = flow,
                          .adapts_every = flow->refinement.max_level > 0 ? flow->refinement.every : 0};
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    model.crossing[direction] = crossing_bytes(flow, lattice, direction);
  return model;
}

static gab_status plan(gab_world *world, const gab_app_case *which, gab_plan_fn *use, void *user)
{
  const flow_case *flow = (const flow_case *)which;
  const gab_plan_model model = model_of(flow);
  gab_geometry *geometry = NULL;
  gab_proxies *proxies = NULL;
  gab_status status =
      gab_geometry_create(&flow->domain, flow->setup.bodies, flow->setup.body_count, &geometry);
  if (status == GAB_OK) status = gab_app_grid_proxies_build(world, flow, geometry, &proxies);
  if (status == GAB_OK) status = use(user, &model, proxies);
  gab_proxies_destroy(&proxies);
  if (geometry) gab_geometry_destroy(&geometry);
  return status;
}

/* ---------------------------------------------------------------- info */

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

static const char *const own[] = {
    "lbm",        "fluid",         "units",         "boundaries",   "bodies",        "initial",
    "refinement", "output.probes", "output.points", "output.lines", "output.forces", "output.integrals",
    NULL};

static const char *const usual_fields[] = {"velocity", "pressure", NULL};

const gab_physics gab_physics_flow = {.name = "flow",
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
                                      .quantities = gab_lbm_quantity_word,
                                      .usual_fields = usual_fields,
                                      .usual_slice = "speed",
                                      .pick_evidence = gab_app_simulation_pick_evidence,
                                      .name_levers = gab_app_simulation_name_levers,
                                      .put_grid = gab_app_grid_put,
                                      .report = report,
                                      .release_run = gab_app_simulation_release,
                                      .plan = plan,
                                      .print = print};
