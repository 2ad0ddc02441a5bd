/* SPDX-License-Identifier: Apache-2.0 */
/* gabion info: capabilities of this build, and recommendations of a case. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/device/device.h"
#include "resilience/recovery/recovery.h"
#include "resilience/schemes/scheme.h"

#include <hdf5.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const char usage[] =
    "usage: gabion info                           version, libraries, features of this build\n"
    "       gabion info CASE.yaml                 title, recommended processes and kernel of a case\n"
    "       gabion info --processes CASE.yaml     only the recommended number of processes\n"
    "       gabion info --devices                 accelerators, and whether they give the processor's bits\n"
    "\n"
    "  --set KEY=VALUE, -s   override the file; may be repeated\n";

static void print_names(const char *what, const char *(*name_at)(int index))
{
  printf("  %-12s", what);
  for (int i = 0; name_at(i); i++) printf("%s%s", i ? ", " : "", name_at(i));
  printf("\n");
}

static const char *scheme_name(int index)
{
  const gab_scheme *scheme = gab_scheme_at(index);
  return scheme ? scheme->name : NULL;
}

static const char *balancer_name(int index)
{
  const gab_balancer *balancer = gab_balancer_at(index);
  return balancer && balancer->is_built ? balancer->name : NULL; /* missing ones are last */
}

static const char *strategy_name(int index)
{
  const gab_strategy *strategy = gab_strategy_at(index);
  return strategy ? strategy->name : NULL;
}

/* Choices of all solvers of this program, and registered ones. */
static void print_monitors(void)
{
  const gab_solver *solver;
  int count = 0;
  printf("  %-12s", "monitors");
  for (int i = 0; (solver = gab_app_solver_at(i)); i++) {
    const gab_monitor_list list = solver->monitors ? solver->monitors() : (gab_monitor_list){0};
    for (size_t k = 0; k < list.count; k++)
      printf("%s%s (%s)", count++ ? ", " : "", list.items[k].name, solver->name);
  }
  for (int i = 0; gab_monitor_at(i); i++) printf("%s%s", count++ ? ", " : "", gab_monitor_at(i)->name);
  printf("%s\n", count ? "" : "none");
}

static void print_quantities(void)
{
  const gab_solver *solver;
  printf("  %-12s", "quantities");
  for (int i = 0; (solver = gab_app_solver_at(i)); i++)
    for (int k = 0; gab_app_solver_quantity(solver, k).name; k++)
      printf("%s%s", k ? ", " : i ? "; " : "", gab_app_solver_quantity(solver, k).name);
  printf("\n");
}

/* A program may have the names of a solver twice, in a copy of its table. */
static bool is_first_with(const gab_app_names *names, int index)
{
  for (int i = 0; i < index; i++)
    if (gab_app_solver_at(i)->names == names) return false;
  return true;
}

static void print_of_solvers(void)
{
  const gab_solver *solver;
  for (int i = 0; (solver = gab_app_solver_at(i)); i++) {
    if (!is_first_with(solver->names, i)) continue;
    for (const gab_app_names *names = solver->names; names && names->title; names++)
      print_names(names->title, names->at);
  }
}

static void print_build(void)
{
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  printf("Gabion %s, %s build by %s\n", GAB_VERSION, GAB_BUILD_TYPE, GAB_COMPILER);
  printf("  %-12s%s\n", "MPI", gab_world_mpi_name());
  printf("  %-12s%s\n", "deaths",
         gab_world_survives_deaths(NULL) ? "survived (the MPI has ULFM)"
                                         : "end the run: the MPI has no ULFM; all else works");
  printf("  %-12s%u.%u.%u, serial\n", "HDF5", major, minor, release);
  printf("  %-12s%s\n", "pictures", gab_slice_is_built() ? "PNG" : "none: built without libpng");
  const char *formulas = gab_expression_library();
  printf("  %-12s%s%s\n", "formulas", formulas ? "muParser " : "none: built without muParser",
         formulas ? formulas : "");
#ifdef _OPENMP
  printf("  %-12s%d by default\n", "threads", omp_get_max_threads());
#else
  printf("  %-12snone: built without OpenMP\n", "threads");
#endif
  print_names("balancing", balancer_name);
  print_names("schemes", scheme_name);
  print_names("strategies", strategy_name);
  print_of_solvers();
  print_quantities();
  print_monitors();
}

static gab_status print_processes(const gab_app_options *options)
{
  gab_config *config;
  GAB_TRY(gab_app_config_from_file(options, &config));
  printf("%" PRId64 "\n", gab_config_int(config, "run.processes"));
  gab_config_destroy(&config);
  return GAB_OK;
}

/* Prints the case, and the models and kernels of its computation. */
static gab_status print_case(const gab_app_options *options)
{
  gab_app_case *which;
  gab_status status = gab_app_case_from_file(options, &which);
  if (which)
    printf("%s: %s\n  %-12s%" PRId64 " recommended\n", options->word,
           gab_config_string(which->config, "run.title"), "processes",
           gab_config_int(which->config, "run.processes"));
  if (status == GAB_OK && which->solver->print) status = which->solver->print(which, stdout);
  gab_app_case_destroy(&which);
  return status;
}

/* Of the device, then of each solver. */
static gab_status check_device(gab_device *device)
{
  const gab_solver *solver;
  GAB_TRY(gab_device_check_arithmetic(device));
  for (int i = 0; (solver = gab_app_solver_at(i)); i++)
    if (solver->check_device) GAB_TRY(solver->check_device(device));
  return GAB_OK;
}

static void print_device(const char *backend, int number)
{
  gab_device_about about;
  gab_device *device = NULL;
  gab_status status = gab_device_describe(backend, number, &about);
  if (status == GAB_OK) {
    printf("  %s %d: %s, %.1f GiB, %s precision, %s\n", backend, number, about.name,
           (double)about.memory / (1 << 30), about.has_double ? "double" : "only single", about.runtime);
    status = gab_device_open(backend, number, &device);
  }
  if (status == GAB_OK) status = check_device(device);
  gab_device_close(&device);
  if (status == GAB_OK) printf("    self-test passed: the processor's bits\n");
  else printf("    refused: %s\n", gab_error_message());
}

static void print_devices(void)
{
  int total = 0;
  printf("devices\n");
  for (int i = 0; gab_device_backend_at(i); i++) {
    const char *backend = gab_device_backend_at(i);
    int count = 0;
    if (gab_device_count(backend, &count) != GAB_OK) printf("  %s: %s\n", backend, gab_error_message());
    else if (count == 0) printf("  %s: no device\n", backend);
    for (int number = 0; number < count; number++) print_device(backend, number);
    total += count;
  }
  if (total > 0) printf("  no flow of `gabion run' uses them yet (doc/devices.md)\n");
}

int gab_app_command_info(int argc, char **argv)
{
  gab_app_options options;
  gab_status status = gab_app_options_parse(argc, argv, "psd", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK && options.devices) {
    print_devices();
    return 0;
  }
  if (status == GAB_OK && !options.processes) print_build();
  if (status == GAB_OK && options.processes) status = print_processes(&options);
  else if (status == GAB_OK && options.word) status = print_case(&options);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}
