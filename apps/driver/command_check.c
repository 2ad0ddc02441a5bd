/* gabion check: everything that can be said about a case without computing it. */
#include "apps/driver/phase.h"
#include "apps/driver/simulation.h"

#include "core/log.h"

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

/* The refined grid is made of proxies, which live in a world: of this process alone. */
static gab_status describe_refined(const run_case *which, gab_geometry *geometry)
{
  gab_world *world = NULL;
  gab_proxies *proxies = NULL;
  GAB_TRY(gab_world_create(NULL, NULL, &world));
  gab_status status = grid_proxies_build(world, which, geometry, &proxies);
  if (status == GAB_OK) run_case_describe_blocks(which, geometry, proxies);
  gab_proxies_destroy(&proxies);
  gab_world_destroy(&world);
  return status;
}

static gab_status check_case(const gab_config *config, const driver_options *options, run_case *which)
{
  gab_geometry *geometry = NULL;
  gab_status status = GAB_OK;
  GAB_TRY(run_case_read(config, options, which));
  GAB_TRY(gab_geometry_create(&which->domain, which->setup.bodies, which->setup.body_count, &geometry));
  gab_log(GAB_LOG_INFO, "%s: fine", gab_config_name(config));
  run_case_describe(which);
  if (which->refinement.max_level > 0) status = describe_refined(which, geometry);
  else run_case_describe_blocks(which, geometry, NULL);
  gab_geometry_destroy(&geometry);
  return status;
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
