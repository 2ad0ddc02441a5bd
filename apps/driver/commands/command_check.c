/* gabion check: everything that can be said about a case without computing it. */

#include "apps/driver/driver.h"
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

/* What a run does before it makes blocks and files, and what the physics has to say. */
static gab_status try_run(gab_world *world, const driver_case *which)
{
  char folder[DRIVER_PATH_LENGTH];
  driver_run *made;
  driver_default_folder(which->options->word, folder, sizeof folder);
  gab_status status = driver_run_create(world, which, folder, &made);
  if (status == GAB_OK) status = driver_run_check(made);
  driver_run_destroy(&made);
  return status;
}

/* In a world of this process alone. What went wrong is said behind the end of MPI, too. */
static gab_status check_case(const driver_case *which)
{
  gab_world *world = NULL;
  char message[4096];
  GAB_TRY(gab_world_create(NULL, NULL, &world));
  gab_status status = try_run(world, which);
  snprintf(message, sizeof message, "%s", gab_error_message());
  gab_world_destroy(&world);
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

static gab_status check(const driver_options *options)
{
  gab_config *config = NULL;
  driver_case *which = NULL;
  GAB_TRY(driver_config_from_file(options, &config));
  gab_status status = driver_case_create(config, options, &which);
  if (status == GAB_OK) status = check_case(which);
  driver_case_destroy(&which);
  gab_config_destroy(&config);
  return status;
}

int command_check(int argc, char **argv)
{
  driver_options options;
  gab_status status = driver_options_parse(argc, argv, "si", &options);
  if (status == GAB_OK && options.help) {
    driver_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = check(&options);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}
