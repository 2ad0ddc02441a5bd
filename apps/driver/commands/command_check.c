/* gabion check: everything that can be said about a case without computing it. */
#include "apps/driver/solidification/phase.h"
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"

static const char usage[] =
    "usage: gabion check CASE.yaml [--set KEY=VALUE]...\n"
    "\n"
    "Checks a parameter file: its form, the grid, units, Mach number, omega, resolution, output, drills;\n"
    "prints what follows from it. Starts no computation and needs no mpirun.\n"
    "\n"
    "  --set KEY=VALUE, -s   over the file, e.g. --set domain.cells=[880,164]; may be repeated\n"
    "  --inject DRILL        check this fault drill too\n"
    "\n"
    "Exit code: 0 if the case can run, 2 with all that is wrong if not.\n";

/* No process goes without one. */
static uint64_t most_blocks(const run_case *which, gab_proxies *proxies)
{
  const int32_t *roots = which->forest.grid.roots;
  return proxies ? gab_proxies_count(proxies) : (uint64_t)roots[0] * (uint64_t)roots[1] * (uint64_t)roots[2];
}

/* The run may be for other machines than this one. */
static void warn_of_memory(const simulation *made)
{
  const driver_memory memory = simulation_memory(made);
  const int processes = (int)gab_config_int(made->parameters->config, "run.processes");
  if (driver_memory_check(made->parameters->config, &memory, processes, processes) != GAB_OK)
    gab_log(GAB_LOG_WARNING, "on this machine alone: %s", gab_error_message());
}

/* What a run does before it makes blocks and files, and then the grid as proxies, in a world of this process alone. */
static gab_status try_run(gab_world *world, const run_case *which, const driver_options *options)
{
  char folder[GAB_PATH_LENGTH];
  simulation made;
  gab_proxies *proxies = NULL;
  driver_default_folder(options->word, folder, sizeof folder);
  gab_status status = simulation_prepare(world, which, options, folder, &made);
  if (status == GAB_OK && which->refinement.max_level > 0)
    status = grid_proxies_build(world, which, made.geometry, &proxies);
  if (status == GAB_OK)
    status = driver_any_processes_check(which->config, options, most_blocks(which, proxies));
  if (status == GAB_OK) {
    gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(which->config));
    run_case_describe(which);
    warn_of_memory(&made);
    run_case_describe_blocks(which, made.geometry, proxies);
  }
  gab_proxies_destroy(&proxies);
  simulation_release(&made);
  return status;
}

static gab_status check_case(const gab_config *config, const driver_options *options, run_case *which)
{
  gab_world *world = NULL;
  char message[4096];
  GAB_TRY(run_case_read(config, options, which));
  GAB_TRY(gab_world_create(NULL, NULL, &world));
  gab_status status = try_run(world, which, options);
  snprintf(message, sizeof message, "%s",
           gab_error_message()); /* the end of the world may have another one */
  gab_world_destroy(&world);
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

static gab_status check(const driver_options *options)
{
  gab_config *config = NULL;
  run_case which = {0};
  GAB_TRY(driver_config_from_file(options, &config));
  gab_status status =
      phase_case_is(config) ? phase_check(config, options) : check_case(config, options, &which);
  run_case_release(&which);
  gab_config_destroy(&config);
  return status;
}

int command_check(int argc, char **argv)
{
  driver_options options;
  gab_status status = driver_options_parse(argc, argv, "si", &options);
  if (status == GAB_OK && options.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = check(&options);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}
