/* Setting a simulation up and taking it down. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

#ifdef _OPENMP
#include <omp.h>
#endif

double simulation_time(const simulation *which, gab_step step)
{
  return (double)step * which->parameters->setup.units.dt;
}

/* ---------------------------------------------------------------- grid and flow */

static bool wants_gradients(const flow_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  static const char *const lists[] = {"output.fields.quantities", "output.probes.quantities"};
  for (size_t k = 0; k < 2; k++) {
    size_t count;
    const char *const *names = gab_config_strings(which->base.config, lists[k], &count);
    for (size_t i = 0; i < count; i++)
      if (gab_lbm_quantity_is_gradient(names[i])) return true;
  }
  for (size_t i = 0; i < which->output.slice_count; i++) {
    gab_config_path(path, "output.slices.%zu.quantity", i);
    if (gab_lbm_quantity_is_gradient(gab_config_string(which->base.config, path))) return true;
  }
  return false;
}

static gab_status make_geometry(simulation *made)
{
  const gab_lbm_setup *setup = &made->parameters->setup;
  return gab_geometry_create(&made->parameters->domain, setup->bodies, setup->body_count, &made->geometry);
}

/* Without blocks, and without a word to the output folder: all of it can be tried by `gabion check`. */
static gab_status make_flow(simulation *made)
{
  const flow_case *which = made->parameters;
  /* A picture may be missing on one machine only: all have to hear of it. */
  GAB_TRY(gab_output_settle(made->world, make_geometry(made)));
  gab_forest_options options = which->base.grid;
  options.exists = gab_geometry_block_exists;
  options.weight = grid_block_weight;
  options.user = made->geometry;
  GAB_TRY(gab_forest_create(made->world, &options, &made->forest));
  GAB_TRY(gab_lbm_create(made->forest, made->geometry, &which->setup.options, &made->lbm));
  gab_lbm_time_blocks(made->lbm, which->base.balance.measured);
  GAB_TRY(gab_lbm_quantities_create(made->forest, made->lbm, &which->setup.units, wants_gradients(which),
                                    &made->view));
  made->quantities = gab_lbm_quantities_list(made->view, which->domain.dimension, made->quantity_items);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the first lines of the log */

static void log_start(const simulation *made)
{
  const flow_case *which = made->parameters;
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  gab_log(GAB_LOG_INFO, "Gabion %s, %s", GAB_VERSION, gab_config_name(which->base.config));
  for (size_t i = 0; i < made->options->setting_count; i++)
    gab_log(GAB_LOG_INFO, "  --set %s", made->options->settings[i]);
  for (size_t i = 0; i < made->options->drill_count; i++)
    gab_log(GAB_LOG_INFO, "  --inject %s", made->options->drills[i]);
  flow_case_describe(which);
  int processes = (int)gab_members_count(gab_world_members(made->world));
  gab_log(GAB_LOG_INFO,
          "  %" PRIu64 " blocks (%" PRIu64
          " fluid cells) on %d process%s of %d thread%s, imbalance %.3f, kernel %s",
          made->balance.blocks, made->start.fluid_cells, processes, processes == 1 ? "" : "es", threads,
          threads == 1 ? "" : "s", made->balance.imbalance, gab_lbm_kernel_name(made->lbm));
  grid_describe(made);
  gab_log(GAB_LOG_INFO, "  results go to %s", made->folder);
}

/* ---------------------------------------------------------------- all of it */

gab_status simulation_prepare(gab_world *world, const flow_case *which, const driver_options *options,
                              const char *folder, simulation *made)
{
  *made = (simulation){.parameters = which, .options = options, .folder = folder, .world = world};
  GAB_TRY(make_flow(made));
  GAB_TRY(flow_fluid_check(which, made->geometry));
  GAB_TRY(forces_prepare(made));
  GAB_TRY(gab_output_create(made->forest, folder, &made->output));
  GAB_TRY(gab_output_create(made->forest, folder, &made->failure_output));
  GAB_TRY(gab_output_create(made->forest, folder, &made->good_output));
  return simulation_add_writers(made);
}

/* Fluid cells of level 0, in the order of the blocks, until they are too many. */
static double count_fluid(const void *user, double most)
{
  const simulation *made = user;
  const gab_forest_options *forest = &made->parameters->base.grid;
  const int64_t roots = driver_root_count(forest);
  double count = 0;
  for (int64_t root = 0; root < roots && count <= most; root++) {
    const gab_box box = driver_root_cells(forest, root);
    count += (double)gab_geometry_fluid_cells(made->geometry, 0, &box);
  }
  return count;
}

driver_memory simulation_memory(const simulation *made)
{
  const flow_case *which = made->parameters;
  const gab_lbm_options *options = &which->setup.options;
  const double bytes = options->lattice->q * (double)gab_precision_bytes(options->precision);
  driver_memory memory = {.cells = 1, .state = gab_lbm_fields(options) * bytes, .image = bytes, .user = made};
  for (int d = 0; d < which->domain.dimension; d++) memory.cells *= (double)which->domain.cells[d];
  if (which->setup.body_count > 0) memory.count = count_fluid;
  return memory;
}

gab_status simulation_create(gab_world *world, const flow_case *which, const driver_options *options,
                             const char *folder, driver_continuation *begin, simulation *made)
{
  gab_status status = simulation_prepare(world, which, options, folder, made);
  made->restart = begin->restart;
  begin->restart = NULL;
  GAB_TRY(gab_output_settle(world, status));
  GAB_TRY(driver_processes_check(world, which->base.config, options));
  const driver_memory memory = simulation_memory(made);
  GAB_TRY(driver_memory_settle(world, which->base.config, options, &memory));
  GAB_TRY(grid_build(made));
  GAB_TRY(gab_lbm_integrate(made->lbm, false, &made->start));
  GAB_TRY(driver_folder_open(world, which->base.config, options, folder, made->restart != NULL));
  log_start(made);
  GAB_TRY(gab_timeloop_create(made->forest, which->base.steps, &made->loop));
  gab_timeloop_set_updates(made->loop, made->updates);
  const bool continues = made->restart != NULL;
  const gab_status continued = gab_timeloop_continue(made->loop, made->restart);
  made->restart = NULL;
  GAB_TRY(continued);
  GAB_TRY(simulation_add_duties(made));
  const gab_resilience_context context = {.rebalance = grid_rebalance,
                                          .rebalance_user = made,
                                          .monitors = flow_monitors(),
                                          .monitor_user = made,
                                          .folder = folder,
                                          .lock = begin->lock,
                                          .inject = options->drills,
                                          .inject_count = options->drill_count,
                                          .walltime = options->walltime};
  GAB_TRY(gab_resilience_protect(made->loop, which->base.config, &context));
  GAB_TRY(simulation_add_check(made));
  gab_output *const outputs[] = {made->output, made->failure_output, made->good_output, NULL};
  return driver_folder_settle(world, folder, outputs, NULL, continues);
}

void simulation_release(simulation *which)
{
  gab_timeloop_destroy(&which->loop);
  gab_restart_destroy(&which->restart);
  gab_output_destroy(&which->good_output);
  gab_output_destroy(&which->failure_output);
  gab_output_destroy(&which->output);
  gab_lbm_quantities_destroy(&which->view);
  if (which->lbm) gab_lbm_destroy(&which->lbm);
  if (which->forest) gab_forest_destroy(&which->forest);
  if (which->geometry) gab_geometry_destroy(&which->geometry);
  gab_free(&which->forces);
  gab_free(&which->records);
}
