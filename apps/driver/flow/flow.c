/* The table of the flow, and what is behind its entries. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

/* ---------------------------------------------------------------- check */

/* No process goes without one. */
static uint64_t most_blocks(const driver_case *which, gab_proxies *proxies)
{
  return proxies ? gab_proxies_count(proxies) : (uint64_t)driver_root_count(&which->grid);
}

/* The run may be for other machines than this one. */
static void warn_of_memory(const simulation *made)
{
  const gab_config *config = made->parameters->base.config;
  const driver_memory memory = simulation_memory(made);
  const int processes = (int)gab_config_int(config, "run.processes");
  if (driver_memory_check(config, &memory, processes, processes) != GAB_OK)
    gab_log(GAB_LOG_WARNING, "on this machine alone: %s", gab_error_message());
}

/* What a run does before it makes blocks and files, and then the grid as proxies. */
static gab_status check(gab_world *world, const driver_case *which)
{
  const flow_case *flow = (const flow_case *)which;
  char folder[DRIVER_PATH_LENGTH];
  simulation made;
  gab_proxies *proxies = NULL;
  driver_default_folder(which->options->word, folder, sizeof folder);
  gab_status status = simulation_prepare(world, flow, which->options, folder, &made);
  if (status == GAB_OK && flow->refinement.max_level > 0)
    status = grid_proxies_build(world, flow, made.geometry, &proxies);
  if (status == GAB_OK)
    status = driver_any_processes_check(which->config, which->options, most_blocks(which, proxies));
  if (status == GAB_OK) {
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(which->config));
    flow_case_describe(flow);
    warn_of_memory(&made);
    flow_case_describe_blocks(flow, made.geometry, proxies);
  }
  gab_proxies_destroy(&proxies);
  simulation_release(&made);
  return status;
}

/* ---------------------------------------------------------------- run */

static void report(const simulation *done)
{
  const output_plan *plan = &done->parameters->output;
  gab_summary_log(&done->summary, done->loop, done->folder);
  grid_report(done);
  forces_report(done);
  if (plan->slice_count > 0) gab_log(GAB_LOG_INFO, "  pictures: %s/*.png", done->folder);
  if (plan->fields)
    gab_log(GAB_LOG_INFO, "  fields, to be opened with ParaView: %s/fields/fields.xdmf", done->folder);
  if (plan->forces.every > 0) gab_log(GAB_LOG_INFO, "  forces: %s/forces.csv", done->folder);
  if (plan->integrals.every > 0) gab_log(GAB_LOG_INFO, "  integrals: %s/integrals.csv", done->folder);
  if (plan->probes.every > 0) gab_log(GAB_LOG_INFO, "  probes: %s/probes.csv", done->folder);
}

static gab_status run(gab_world *world, const driver_case *which, const char *folder,
                      driver_continuation *begin)
{
  simulation *made = NULL;
  void *memory;
  GAB_TRY(gab_alloc(sizeof *made, GAB_MEMORY_OTHER, &memory));
  made = memory;
  gab_status status = simulation_create(world, (const flow_case *)which, which->options, folder, begin, made);
  status = driver_end_of_setup(world, status);
  if (status == GAB_OK) status = gab_timeloop_run(made->loop);
  if (status == GAB_OK) report(made);
  else driver_tell_end(world, status);
  simulation_release(made);
  gab_free(&made);
  return status;
}

/* ---------------------------------------------------------------- plan */

/* Bytes of a field of populations of a block with `ghosts` layers around it. */
static double field_bytes(const flow_case *flow, const gab_lattice *lattice, int ghosts)
{
  const gab_forest_options *grid = &flow->base.grid;
  double cells = 1;
  for (int axis = 0; axis < grid->grid.dimension; axis++) cells *= grid->cells[axis] + 2 * ghosts;
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

static plan_model model_of(const flow_case *flow)
{
  const gab_lbm_options *options = &flow->setup.options;
  const gab_lattice *lattice = options->lattice;
  if (!lattice) lattice = flow->domain.dimension == 2 ? &gab_lattice_d2q9 : &gab_lattice_d3q19;
  plan_model model = {.fields = "populations",
                      .state = gab_lbm_fields(options) * field_bytes(flow, lattice, 1),
                      .image = field_bytes(flow, lattice, 0),
                      .adapts_every = flow->refinement.max_level > 0 ? flow->refinement.every : 0};
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    model.crossing[direction] = crossing_bytes(flow, lattice, direction);
  return model;
}

static gab_status plan(gab_world *world, const driver_case *which, plan_fn *use, void *user)
{
  const flow_case *flow = (const flow_case *)which;
  const plan_model model = model_of(flow);
  gab_geometry *geometry = NULL;
  gab_proxies *proxies = NULL;
  gab_status status =
      gab_geometry_create(&flow->domain, flow->setup.bodies, flow->setup.body_count, &geometry);
  if (status == GAB_OK) status = grid_proxies_build(world, flow, geometry, &proxies);
  if (status == GAB_OK) status = use(user, &model, proxies);
  gab_proxies_destroy(&proxies);
  if (geometry) gab_geometry_destroy(&geometry);
  return status;
}

/* ---------------------------------------------------------------- info */

/* The kernel that blocks get, and why. */
static gab_status print(const driver_case *which, FILE *out)
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

const gab_physics flow_physics = {.name = "flow",
                                  .title = "a flow",
                                  .own = own,
                                  .case_bytes = sizeof(flow_case),
                                  .declare = flow_declare,
                                  .read = flow_case_read,
                                  .release = flow_case_release,
                                  .check = check,
                                  .run = run,
                                  .plan = plan,
                                  .print = print};
