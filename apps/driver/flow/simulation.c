/* Setting a simulation up and taking it down. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "resilience/reports/beacon.h"
#include "resilience/run_folder/run_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

double simulation_time(const simulation *which, gab_step step)
{
  return (double)step * which->parameters->setup.units.dt;
}

/* ---------------------------------------------------------------- grid and flow */

static bool wants_gradients(const run_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  static const char *const lists[] = {"output.fields.quantities", "output.probes.quantities"};
  for (size_t k = 0; k < 2; k++) {
    size_t count;
    const char *const *names = gab_config_strings(which->config, lists[k], &count);
    for (size_t i = 0; i < count; i++)
      if (gab_lbm_quantity_is_gradient(names[i])) return true;
  }
  for (size_t i = 0; i < which->output.slice_count; i++) {
    gab_config_path(path, "output.slices.%zu.quantity", i);
    if (gab_lbm_quantity_is_gradient(gab_config_string(which->config, path))) return true;
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
  const run_case *which = made->parameters;
  /* A picture may be missing on one machine only: all have to hear of it. */
  GAB_TRY(gab_output_settle(made->world, make_geometry(made)));
  gab_forest_options options = which->forest;
  options.exists = gab_geometry_block_exists;
  options.weight = grid_block_weight;
  options.user = made->geometry;
  GAB_TRY(gab_forest_create(made->world, &options, &made->forest));
  GAB_TRY(gab_lbm_create(made->forest, made->geometry, &which->setup.options, &made->lbm));
  gab_lbm_time_blocks(made->lbm, which->balance.measured);
  GAB_TRY(gab_lbm_quantities_create(made->forest, made->lbm, &which->setup.units, wants_gradients(which),
                                    &made->view));
  made->quantities = gab_lbm_quantities_list(made->view, which->domain.dimension, made->quantity_items);
  return GAB_OK;
}

/* ---------------------------------------------------------------- output folder */

static gab_status write_text(const char *path, const char *text, size_t length)
{
  FILE *file = fopen(path, "w");
  if (!file) GAB_FAIL(GAB_ERR_INPUT, "cannot write %s: %s", path, strerror(errno));
  bool fine = fwrite(text, 1, length, file) == length;
  fine = fclose(file) == 0 && fine;
  if (fine) return GAB_OK;
  int why = errno;
  unlink(path);
  GAB_FAIL(GAB_ERR_INPUT, "cannot write %s: %s", path, strerror(why));
}

/* The root's part: a folder in which the results of an older run are not taken for those of this one. */
static gab_status prepare_folder(const gab_config *config, const driver_options *options, const char *folder,
                                 bool continues)
{
  char path[GAB_PATH_LENGTH + 32];
  GAB_TRY(gab_output_folder_prepare(folder));
  snprintf(path, sizeof path, "%s/summary.json", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/log.txt", folder);
  if (!continues && gab_launch_attempt() == 0) unlink(path); /* started again a run goes on logging */
  snprintf(path, sizeof path, "%s/checkpoints", folder);
  if (driver_starts_anew(options)) GAB_TRY(gab_restart_remove_all(path));
  gab_buffer text = {0};
  gab_status status = gab_config_effective(config, &text);
  snprintf(path, sizeof path, "%s/case.yaml", folder);
  if (status == GAB_OK) status = write_text(path, (const char *)text.data, text.size);
  gab_buffer_release(&text);
  return status;
}

gab_status driver_folder_open(gab_world *world, const gab_config *config, const driver_options *options,
                              const char *folder, bool continues)
{
  gab_status status = GAB_OK;
  char path[GAB_PATH_LENGTH + 32];
  if (strlen(folder) >= GAB_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is too long: %.60s...", folder);
  if (gab_world_is_root(world)) status = prepare_folder(config, options, folder, continues);
  GAB_TRY(gab_output_settle(world, status));
  snprintf(path, sizeof path, "%s/log.txt", folder);
  return gab_output_settle(world, gab_log_open(path));
}

/* Files of every run, and of these the ones that are there when it begins. */
#define BEGUN_FILES "case.yaml\nlog.txt\nevents.jsonl\n"
#define OWN_FILES   BEGUN_FILES "progress.json\nsummary.json\n"

static gab_status settle_folder(const char *folder, gab_output *const *outputs, const char *more,
                                bool continues)
{
  gab_buffer names = {0};
  uint64_t removed = 0;
  gab_status status = gab_put_bytes(&names, OWN_FILES, sizeof OWN_FILES - 1);
  for (size_t i = 0; outputs[i] && status == GAB_OK; i++) status = gab_output_list_files(outputs[i], &names);
  if (status == GAB_OK && more) status = gab_put_bytes(&names, more, strlen(more));
  if (status == GAB_OK)
    status = gab_run_files_settle(folder, &names, BEGUN_FILES,
                                  continues ? GAB_RUN_FILES_KEEP : GAB_RUN_FILES_REMOVE, &removed);
  gab_buffer_release(&names);
  if (removed > 0)
    gab_log(GAB_LOG_INFO, "removed %" PRIu64 " file%s of an earlier run from %s (those of its %s)", removed,
            removed == 1 ? "" : "s", folder, GAB_RUN_FILES);
  return status;
}

gab_status driver_folder_settle(gab_world *world, const char *folder, gab_output *const *outputs,
                                const char *more, bool continues)
{
  const bool again = gab_launch_attempt() > 0; /* what the attempt before has written is this run's */
  gab_status status = GAB_OK;
  if (gab_world_is_root(world)) status = settle_folder(folder, outputs, more, continues || again);
  return gab_output_settle(world, status);
}

/* ---------------------------------------------------------------- the first lines of the log */

static void log_start(const simulation *made)
{
  const run_case *which = made->parameters;
  int threads = 1;
#ifdef _OPENMP
  threads = omp_get_max_threads();
#endif
  gab_log(GAB_LOG_INFO, "Gabion %s, %s", GAB_VERSION, gab_config_name(which->config));
  for (size_t i = 0; i < made->options->setting_count; i++)
    gab_log(GAB_LOG_INFO, "  --set %s", made->options->settings[i]);
  for (size_t i = 0; i < made->options->drill_count; i++)
    gab_log(GAB_LOG_INFO, "  --inject %s", made->options->drills[i]);
  run_case_describe(which);
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

gab_status simulation_prepare(gab_world *world, const run_case *which, const driver_options *options,
                              const char *folder, simulation *made)
{
  *made = (simulation){.parameters = which, .options = options, .folder = folder, .world = world};
  GAB_TRY(make_flow(made));
  GAB_TRY(driver_fluid_check(which, made->geometry));
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
  const gab_forest_options *forest = &made->parameters->forest;
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
  const run_case *which = made->parameters;
  const gab_lbm_options *options = &which->setup.options;
  const double bytes = options->lattice->q * (double)gab_precision_bytes(options->precision);
  driver_memory memory = {.cells = 1, .state = gab_lbm_fields(options) * bytes, .image = bytes, .user = made};
  for (int d = 0; d < which->domain.dimension; d++) memory.cells *= (double)which->domain.cells[d];
  if (which->setup.body_count > 0) memory.count = count_fluid;
  return memory;
}

gab_status simulation_create(gab_world *world, const run_case *which, const driver_options *options,
                             const char *folder, driver_continuation *begin, simulation *made)
{
  gab_status status = simulation_prepare(world, which, options, folder, made);
  made->restart = begin->restart;
  begin->restart = NULL;
  GAB_TRY(gab_output_settle(world, status));
  GAB_TRY(driver_processes_check(world, which->config, options));
  const driver_memory memory = simulation_memory(made);
  GAB_TRY(driver_memory_settle(world, which->config, options, &memory));
  GAB_TRY(grid_build(made));
  GAB_TRY(gab_lbm_integrate(made->lbm, false, &made->start));
  GAB_TRY(driver_folder_open(world, which->config, options, folder, made->restart != NULL));
  log_start(made);
  GAB_TRY(gab_timeloop_create(made->forest, which->steps, &made->loop));
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
  GAB_TRY(gab_resilience_protect(made->loop, which->config, &context));
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
