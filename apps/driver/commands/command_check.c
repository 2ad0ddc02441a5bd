/* SPDX-License-Identifier: Apache-2.0 */
/* gabion check: everything that can be said about a case without computing it. */

#include "apps/driver/driver.h"
#include "core/base/log.h"
#include "core/world/alone.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: gabion check CASE.yaml [--set KEY=VALUE]... [--draw FOLDER]\n"
    "\n"
    "Checks a parameter file (form, grid, units, Mach number, omega, resolution, output, fault\n"
    "injections) and prints derived quantities. Computes nothing and needs no mpirun.\n"
    "\n"
    "  --set KEY=VALUE, -s   override the file, e.g. --set domain.cells=[880,164]; may be repeated\n"
    "  --inject FAULT        also check this fault injection\n"
    "  --draw FOLDER         of a flow with bodies: write slices of them as the grid sees them\n"
    "                        (bodies-x.png, -y, -z) and their surface for ParaView (bodies.vtp)\n"
    "\n"
    "Exit code: 0 if the case can run, else 2, with all errors.\n";

static gab_status draw(gab_app_run *made, const gab_app_case *which)
{
  if (!which->solver->draw)
    GAB_FAIL(GAB_ERR_INPUT, "--draw: solver '%s' has nothing to draw", which->solver->name);
  if (mkdir(which->options->draw, 0777) != 0 && errno != EEXIST)
    GAB_FAIL(GAB_ERR_INPUT, "--draw: folder %s cannot be made: %s", which->options->draw, strerror(errno));
  return which->solver->draw(made, which->options->draw);
}

/* Set-up of a run before it makes blocks and files, and messages of the solver. */
static gab_status try_run(gab_world *world, const gab_app_case *which)
{
  char folder[GAB_APP_PATH_LENGTH];
  gab_app_run *made;
  gab_app_default_folder(which->options->word, folder, sizeof folder);
  gab_status status = gab_app_run_create(world, which, folder, &made);
  if (status == GAB_OK) status = gab_app_run_check(made);
  if (status == GAB_OK && which->options->draw) status = draw(made, which);
  gab_app_run_destroy(&made);
  return status;
}

/* In a world of this process alone, without MPI: nothing is left behind, whatever ends the check. */
gab_status gab_app_case_check(const gab_app_case *which)
{
  gab_world *world = NULL;
  char message[4096];
  GAB_TRY(gab_world_create_alone(&world));
  gab_status status = try_run(world, which);
  snprintf(message, sizeof message, "%s", gab_error_message());
  gab_world_destroy(&world);
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", message);
}

static gab_status check(const gab_app_options *options)
{
  gab_app_case *which;
  gab_status status = gab_app_case_from_file(options, &which);
  if (status == GAB_OK) status = gab_app_case_check(which);
  gab_app_case_destroy(&which);
  return status;
}

int gab_app_command_check(int argc, char **argv)
{
  gab_app_options options;
  gab_status status = gab_app_options_parse(argc, argv, "siD", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = check(&options);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}
