/* SPDX-License-Identifier: Apache-2.0 */
/* gabion converge: a case on several grids, and the limits of its results. */
#include "apps/driver/campaign/grid_convergence.h"
#include "apps/driver/campaign/refined_case.h"
#include "apps/driver/campaign/results_table.h"
#include "apps/driver/campaign/run_command.h"
#include "apps/driver/case/numbers.h"

#include "core/base/log.h"
#include "core/memory/memory.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion converge CASE.yaml --cells 1,2,4 [options]\n"
    "\n"
    "Runs a flow on several grids, with 1, 2, 4 times its cells along each axis, at the same physical\n"
    "size and time. Prints for each number of the results (summary.json) its order of convergence, its\n"
    "limit for cells of width 0, and the uncertainty of that limit (grid convergence index, Roache\n"
    "1994). With two grids the order is assumed to be 2.\n"
    "\n"
    "  --cells LIST          2 to 8 ascending whole numbers\n"
    "  --scaling NAME        how the time step follows the width of a cell. diffusive (default): as its\n"
    "                        square, so that compressibility errors decrease too; k times the cells\n"
    "                        along each axis take k^4 times the work in 2D, k^5 in 3D. acoustic: as the\n"
    "                        width; the Mach number and its error remain\n"
    "  --value NAME          only results whose name contains this; may be repeated\n"
    "  -n PROCESSES          of each run, by gabion-launch; default: one process, without it\n"
    "  --out DIR, -o         results of the grids in DIR/x1, DIR/x2, ..., and the table in\n"
    "                        DIR/convergence.csv (default: out/NAME-convergence for NAME.yaml)\n"
    "  --set KEY=VALUE, -s   override the file; values for the grid of the file\n"
    "  --fresh               run all grids again\n"
    "  --json                the table in a machine-readable form\n"
    "  --verbose, -v         with the messages of the runs\n"
    "\n"
    "Numbers of cells, steps and cells per step are converted, those of balance and resilience and the\n"
    "size of a block excepted. Finished grids are not run again, and interrupted ones resume from their\n"
    "checkpoints: use the same command.\n"
    "Exit code: 0, or that of the first run that failed.\n";

enum { MOST_GRIDS = GAB_APP_MOST_RUNS, CONVERGE_PATH = GAB_APP_PATH_LENGTH + 64 };

typedef struct campaign {
  const gab_app_options *options;
  char folder[GAB_APP_PATH_LENGTH];
  gab_app_scaling scaling;
  int64_t factors[MOST_GRIDS];
  size_t grids;
  gab_app_results results;
} campaign;

/* ---------------------------------------------------------------- command line */

static gab_status read_factors(const char *list, campaign *all)
{
  if (!list) GAB_FAIL(GAB_ERR_INPUT, "--cells is missing, e.g. --cells 1,2,4 (gabion converge --help)");
  for (const char *at = list; *at;) {
    char word[32];
    const size_t length = strcspn(at, ",");
    int64_t factor;
    if (all->grids == MOST_GRIDS) GAB_FAIL(GAB_ERR_INPUT, "--cells %s: more than %d grids", list, MOST_GRIDS);
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    GAB_TRY(gab_app_count_read("--cells", word, 1, 1024, &factor));
    if (all->grids > 0 && factor <= all->factors[all->grids - 1])
      GAB_FAIL(GAB_ERR_INPUT, "--cells %s: must ascend", list);
    all->factors[all->grids++] = factor;
    at += length + (at[length] == ',');
  }
  if (all->grids < 2) GAB_FAIL(GAB_ERR_INPUT, "--cells %s: needs at least two grids", list);
  return GAB_OK;
}

static gab_status read_options(campaign *all)
{
  const gab_app_options *options = all->options;
  char folder[GAB_APP_PATH_LENGTH - 16];
  if (!options->word) GAB_FAIL(GAB_ERR_INPUT, "no case file given (gabion converge --help)");
  GAB_TRY(read_factors(options->cells, all));
  const char *scaling = options->scaling ? options->scaling : "diffusive";
  all->scaling = strcmp(scaling, "acoustic") == 0 ? GAB_APP_SCALING_ACOUSTIC : GAB_APP_SCALING_DIFFUSIVE;
  if (all->scaling == GAB_APP_SCALING_DIFFUSIVE && strcmp(scaling, "diffusive") != 0)
    GAB_FAIL(GAB_ERR_INPUT, "--scaling %s: diffusive or acoustic", scaling);
  if (options->ranks) {
    int64_t ranks;
    GAB_TRY(gab_app_count_read("-n", options->ranks, 1, 1000000, &ranks));
  }
  gab_app_default_folder(options->word, folder, sizeof folder);
  if (options->out) snprintf(all->folder, sizeof all->folder, "%s", options->out);
  else snprintf(all->folder, sizeof all->folder, "%s-convergence", folder);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the runs */

/* Signals that ask a run for a checkpoint go to the run. The terminal sends an interrupt to both, and a second one would end the run. */
static volatile sig_atomic_t running = 0, stopped = 0;
static void pass_on(int signal_number)
{
  stopped = 1;
  if (running > 0) kill((pid_t)running, signal_number);
}

static void pass_signals_on(void)
{
  static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) sigaction(passed[i], &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, NULL);
}

static gab_status call(char *const *words, int *code)
{
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    execvp(words[0], words);
    fprintf(stderr, "error: %s cannot be started: %s\n", words[0], strerror(errno));
    _exit(127);
  }
  if (child < 0) GAB_FAIL(GAB_ERR_INPUT, "cannot start a process: %s", strerror(errno));
  running = (sig_atomic_t)child;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) GAB_FAIL(GAB_ERR_INPUT, "cannot wait for a process: %s", strerror(errno));
  running = 0;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return GAB_OK;
}

static gab_status run_grid(const campaign *all, const char *folder, const gab_app_refined *refined, int *code)
{
  const gab_app_options *options = all->options;
  const char *settings[GAB_APP_MOST_SETTINGS];
  for (size_t i = 0; i < refined->count; i++) settings[i] = refined->settings[i];
  const gab_app_run_start start = {.case_file = options->word,
                                   .out = folder,
                                   .processes = options->ranks,
                                   .settings = {options->settings, settings},
                                   .setting_count = {options->setting_count, refined->count},
                                   .fresh = options->fresh,
                                   .quiet = !options->verbose};
  gab_app_run_command command;
  GAB_TRY(gab_app_run_command_make(&start, &command));
  return call((char *const *)(uintptr_t)command.words, code);
}

/* The case on another grid, checked; it must be the same physical one. */
static gab_status check_grid(const campaign *all, const gab_app_case *base, int64_t factor,
                             const gab_app_refined *refined)
{
  gab_app_options options = *all->options;
  gab_app_case *finer;
  for (size_t i = 0; i < refined->count; i++) {
    if (options.setting_count == GAB_APP_MOST_SETTINGS)
      GAB_FAIL(GAB_ERR_INPUT, "more than %d parameters with those of --set", GAB_APP_MOST_SETTINGS);
    options.settings[options.setting_count++] = refined->settings[i];
  }
  GAB_TRY(gab_app_case_from_file(&options, &finer));
  const double time = (double)base->steps * base->dt, found = (double)finer->steps * finer->dt;
  const double width = base->domain.dx / (double)factor;
  gab_status status = GAB_OK;
  if (!(fabs(finer->domain.dx - width) <= 1e-12 * width) || !(fabs(found - time) <= base->dt))
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                           "on %" PRId64 " times the cells: width %g instead of %g, time %g instead of %g",
                           factor, finer->domain.dx, width, found, time);
  else
    gab_log(GAB_LOG_INFO, "x%" PRId64 ": cells of width %.6g, %" GAB_PRI_STEP " steps of %.6g", factor,
            finer->domain.dx, finer->steps, finer->dt);
  gab_app_case_destroy(&finer);
  return status;
}

/* ---------------------------------------------------------------- the table */

static const char *const kinds[] = {"equal", "assumed", "monotonic", "oscillating", "none"};

static bool is_complete(const campaign *all, const gab_app_result *row)
{
  return gab_app_result_is_complete(row, all->grids);
}

/* Rounding of a component of a vector is that of its largest one. */
static double noise_of(const campaign *all, const gab_app_result *row)
{
  return 1e-9 * gab_app_result_vector_scale(&all->results, row, all->grids);
}

static gab_convergence converge(const campaign *all, const gab_app_result *row)
{
  double width[MOST_GRIDS];
  for (size_t i = 0; i < all->grids; i++) width[i] = 1 / (double)all->factors[i];
  return gab_convergence_of(row->value, width, all->grids, 2, noise_of(all, row));
}

static void print_table(const campaign *all)
{
  size_t longest = strlen("result"), equal = 0;
  for (size_t k = 0; k < all->results.count; k++)
    if (is_complete(all, &all->results.rows[k]) && strlen(all->results.rows[k].name) > longest)
      longest = strlen(all->results.rows[k].name);
  printf("%-*s", (int)longest, "result");
  for (size_t i = 0; i < all->grids; i++) {
    char head[32];
    snprintf(head, sizeof head, "x%" PRId64, all->factors[i]);
    printf("  %12s", head);
  }
  printf("  %6s  %12s  %s\n", "order", "limit", "uncertainty");
  for (size_t k = 0; k < all->results.count; k++) {
    const gab_app_result *row = &all->results.rows[k];
    if (!is_complete(all, row)) continue;
    const gab_convergence found = converge(all, row);
    if (found.kind == GAB_CONVERGENCE_EQUAL) {
      equal++;
      continue;
    }
    printf("%-*s", (int)longest, row->name);
    for (size_t i = 0; i < all->grids; i++) printf("  %12.6g", row->value[i]);
    if (found.kind == GAB_CONVERGENCE_NONE) {
      printf("  %6s  %12s  does not converge, differences up to %.2g\n", "-", "-", found.uncertainty);
      continue;
    }
    char order[16] = "-";
    if (!isnan(found.order)) snprintf(order, sizeof order, "%.2f", found.order);
    printf("  %6s  %12.6g  %.2g", order, found.limit, found.uncertainty);
    if (found.limit != 0) printf(" (%.2g %%)", 100 * found.uncertainty / fabs(found.limit));
    if (found.kind == GAB_CONVERGENCE_OSCILLATING) printf(", oscillating");
    if (found.kind == GAB_CONVERGENCE_ASSUMED) printf(", order assumed");
    printf("\n");
  }
  size_t partial = 0;
  for (size_t k = 0; k < all->results.count; k++) partial += !is_complete(all, &all->results.rows[k]);
  if (partial > 0) printf("%zu more are missing or no number on some grid\n", partial);
  if (equal > 0)
    printf("%zu more are equal on all grids, to rounding: %s/convergence.csv\n", equal, all->folder);
}

static gab_status print_json(const campaign *all)
{
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_list(json, "cells");
  for (size_t i = 0; i < all->grids; i++) gab_json_int(json, NULL, all->factors[i]);
  gab_json_close(json);
  gab_json_object(json, "results");
  for (size_t k = 0; k < all->results.count; k++) {
    const gab_app_result *row = &all->results.rows[k];
    if (!is_complete(all, row)) continue;
    const gab_convergence found = converge(all, row);
    gab_json_object(json, row->name);
    gab_json_list(json, "values");
    for (size_t i = 0; i < all->grids; i++) gab_json_real(json, NULL, row->value[i]);
    gab_json_close(json);
    gab_json_text(json, "kind", kinds[found.kind]);
    gab_json_real(json, "order", found.order);
    gab_json_real(json, "limit", found.limit);
    gab_json_real(json, "uncertainty", found.uncertainty);
    gab_json_close(json);
  }
  gab_json_close(json);
  GAB_TRY(gab_json_end(&json, &text));
  fwrite(text.data, 1, text.size, stdout);
  gab_buffer_release(&text);
  return GAB_OK;
}

static gab_status write_table(const campaign *all)
{
  char path[CONVERGE_PATH + 32];
  snprintf(path, sizeof path, "%s/convergence.csv", all->folder);
  FILE *file = fopen(path, "w");
  if (!file) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be written: %s", path, strerror(errno));
  fprintf(file, "result");
  for (size_t i = 0; i < all->grids; i++) fprintf(file, ",x%" PRId64, all->factors[i]);
  fprintf(file, ",kind,order,limit,uncertainty\n");
  for (size_t k = 0; k < all->results.count; k++) {
    const gab_app_result *row = &all->results.rows[k];
    if (!is_complete(all, row)) continue;
    const gab_convergence found = converge(all, row);
    fprintf(file, "%s", row->name);
    for (size_t i = 0; i < all->grids; i++) fprintf(file, ",%.17g", row->value[i]);
    fprintf(file, ",%s,%.6g,%.17g,%.6g\n", kinds[found.kind], found.order, found.limit, found.uncertainty);
  }
  if (fclose(file) != 0) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be written: %s", path, strerror(errno));
  return GAB_OK;
}

/* ---------------------------------------------------------------- the command */

static gab_status run_all(campaign *all, const gab_app_case *base, int *code)
{
  gab_app_refined *refined;
  pass_signals_on();
  gab_status status = GAB_NEW_ARRAY(&refined, all->grids, GAB_MEMORY_OTHER);
  for (size_t i = 0; i < all->grids && status == GAB_OK; i++) {
    status = gab_app_refine_case(base, all->factors[i], all->scaling, &refined[i]);
    if (status == GAB_OK) status = check_grid(all, base, all->factors[i], &refined[i]);
  }
  if (status == GAB_OK) { /* an old table would not match other results if a grid fails */
    char table[CONVERGE_PATH + 32];
    snprintf(table, sizeof table, "%s/convergence.csv", all->folder);
    (void)remove(table);
  }
  for (size_t i = 0; i < all->grids && status == GAB_OK && *code == 0; i++) {
    if (stopped) { /* between two grids */
      *code = 75;
      gab_log(GAB_LOG_ERROR, "stopped by a signal; the same command resumes");
      break;
    }
    char folder[CONVERGE_PATH];
    snprintf(folder, sizeof folder, "%s/x%" PRId64, all->folder, all->factors[i]);
    status = run_grid(all, folder, &refined[i], code);
    if (status == GAB_OK && *code != 0)
      gab_log(GAB_LOG_ERROR, "x%" PRId64 " ended with exit code %d%s (folder %s)", all->factors[i], *code,
              *code == 75 ? ": stopped in time; the same command resumes" : "", folder);
    if (status == GAB_OK && *code == 0) status = gab_app_results_read(&all->results, i, folder, all->options);
  }
  gab_free(&refined);
  return status;
}

static gab_status converge_case(campaign *all, int *code)
{
  gab_app_case *base = NULL;
  GAB_TRY(read_options(all));
  GAB_TRY(gab_app_case_from_file(all->options, &base));
  gab_status status = run_all(all, base, code);
  gab_app_case_destroy(&base);
  if (status != GAB_OK || *code != 0) return status;
  if (all->results.count == 0)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "no result%s in summary.json: forces (output.forces), flows through sides and planes (output.sides, "
        "output.planes), scalars and permeabilities are results",
        all->options->value_count > 0 ? " of that name" : "");
  GAB_TRY(write_table(all));
  if (all->options->json) return print_json(all);
  print_table(all);
  return GAB_OK;
}

int gab_app_command_converge(int argc, char **argv)
{
  gab_app_options options;
  int code = 0;
  gab_status status = gab_app_options_parse(argc, argv, "osCxVnfjv", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  campaign all = {.options = &options};
  if (status == GAB_OK) status = converge_case(&all, &code);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  gab_app_results_release(&all.results);
  return code != 0 ? code : gab_status_exit_code(status);
}
