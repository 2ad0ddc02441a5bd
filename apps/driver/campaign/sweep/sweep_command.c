/* SPDX-License-Identifier: Apache-2.0 */
/* gabion sweep: a case at many points, several runs at once, and a table of their results. */
#include "apps/driver/campaign/sweep/sweep_impl.h"
#include "apps/driver/case/numbers.h"

#include "core/base/log.h"
#include "core/system/file.h"
#include "core/world/alone.h"

#include <string.h>

static const char usage[] =
    "usage: gabion sweep SWEEP.yaml [options]\n"
    "\n"
    "Runs a case at many points, several at once, each in a folder whose name says its values, and writes\n"
    "a table of their results. SWEEP.yaml:\n"
    "\n"
    "  case: cylinder.yaml                # parameter file of the runs, from the folder of SWEEP.yaml\n"
    "  set: [run.steps=2000]              # for all runs, as after --set\n"
    "  design: grid                       # all combinations; list: the k-th values together;\n"
    "                                     # latin_hypercube: samples of ranges\n"
    "  vary:                              # parameters, with values as after --set\n"
    "    - {key: fluid.reynolds, name: re, values: [20, 40, 100]}\n"
    "    - {key: domain.cells, values: [[64, 64], [128, 128]], labels: [coarse, fine]}\n"
    "  results:                           # columns of the table\n"
    "    - {summary: max_speed_m_per_s}   # a number of summary.json\n"
    "    - {series: forces, column: cylinder.cx, take: mean, from: 10}   # last|mean|min|max\n"
    "  processes: 1                       # of each run; further: threads, at_once (default: cores over\n"
    "                                     # threads of a run), tries (3: starts of a run that dies)\n"
    "\n"
    "A list may have `names: [a, b, ...]` of its points. A Latin hypercube has `samples: 20`, `seed: 1`,\n"
    "and keys with `range: [0.1, 10]`, `scale: log` and `whole: true`, or with values.\n"
    "\n"
    "  --out DIR, -o         folders of the runs and sweep.csv (default: out/NAME for NAME.yaml)\n"
    "  --dry-run             list the points and what `gabion check` says of each; start nothing\n"
    "  --set KEY=VALUE, -s   for all runs, over `set` of the file\n"
    "  --redo                also compute again points that diverged\n"
    "  --fresh               compute all points again\n"
    "  --table               write the table of the points that are done; start nothing\n"
    "  --point K             run point K alone, from 1, without the table: for arrays of batch systems\n"
    "  --slurm, --pbs        print the script of such an array\n"
    "  --walltime TIME       stop all runs before this time with checkpoints: 24 h, 30 min, 12:00:00\n"
    "  --launch OPTIONS      further options of gabion-launch, which then starts each run\n"
    "  --quiet, -q           warnings and errors only\n"
    "\n"
    "Use the same command to continue: points that are done are kept, and interrupted runs resume from\n"
    "their checkpoints. A run that dies starts again. On a signal all runs save their state.\n"
    "Exit code: 0 all points are done; 2 invalid input; 75 stopped, or the time limit: the same command\n"
    "resumes; else that of the first point that failed (1 if a signal ended it).\n";

#define SWEEP_OPTIONS "osyRfakLBwlq"

/* ---------------------------------------------------------------- parts */

/* Refuses options of which one would go without effect, or would spoil what the other one does. */
static gab_status check_options(const gab_app_options *options)
{
  const bool is_script = options->slurm || options->pbs;
  const char *script = options->slurm ? "--slurm" : "--pbs";
  const struct {
    bool are_both;
    const char *one, *other, *remedy;
  } pairs[] = {
      {options->slurm && options->pbs, "--slurm", "--pbs", "print one script after the other"},
      {is_script && options->dry_run, script, "--dry-run", "list the points first"},
      {is_script && options->table, script, "--table", "write the table when the array is done"},
      {is_script && options->point, script, "--point", "edit the numbers of the array in the script"},
      {is_script && options->walltime > 0, script, "--walltime", "edit the limit in the script"},
      {is_script && options->fresh, script, "--fresh",
       "a task that returns to the queue would start again each time; take another --out"},
      {options->table && options->dry_run, "--table", "--dry-run", "leave one of them out"},
      {options->table && options->point, "--table", "--point", "the table has all points that are done"},
      {options->table && options->fresh, "--table", "--fresh",
       "no point would count as done; leave --fresh out"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (pairs[i].are_both)
      GAB_FAIL(GAB_ERR_INPUT, "%s and %s exclude each other: %s", pairs[i].one, pairs[i].other,
               pairs[i].remedy);
  return GAB_OK;
}

/* The point of --point; the others are left alone. */
static gab_status choose_point(gab_app_sweep *sweep)
{
  int64_t number;
  if (!sweep->options->point) return GAB_OK;
  GAB_TRY(gab_app_count_read("--point", sweep->options->point, 1, (int64_t)sweep->point_count, &number));
  for (size_t i = 0; i < sweep->point_count; i++)
    if (i + 1 != (size_t)number) sweep->points[i].state = GAB_APP_SWEEP_LEFT;
  return GAB_OK;
}

static gab_status read_done(gab_app_sweep *sweep)
{
  size_t kept = 0;
  for (size_t i = 0; i < sweep->point_count; i++) {
    if (sweep->points[i].state != GAB_APP_SWEEP_DONE) continue;
    kept++;
    GAB_TRY(gab_app_sweep_results_read(sweep, i));
  }
  if (kept > 0) gab_log(GAB_LOG_INFO, "%zu of %zu points are done and kept", kept, sweep->point_count);
  return GAB_OK;
}

static gab_status take_end(gab_app_sweep *sweep, size_t point)
{
  if (sweep->options->point) return GAB_OK;
  GAB_TRY(gab_app_sweep_results_read(sweep, point));
  return gab_app_sweep_table_write(sweep);
}

/* The file of the sweep beside its results. */
static gab_status write_file(const gab_app_sweep *sweep)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  gab_buffer text = {0};
  snprintf(path, sizeof path, "%s/sweep.yaml", sweep->folder);
  gab_status status = gab_config_effective(sweep->config, &text);
  if (status == GAB_OK) status = gab_file_replace(path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
  return status;
}

/* Names the points without results. @return exit code */
static int tell_end(const gab_app_sweep *sweep)
{
  size_t done = 0, left = 0;
  int failed = 0;
  for (size_t i = 0; i < sweep->point_count; i++) {
    const gab_app_sweep_point *point = &sweep->points[i];
    done += point->state == GAB_APP_SWEEP_DONE;
    left += point->state == GAB_APP_SWEEP_STOPPED;
    if (point->state != GAB_APP_SWEEP_FAILED) continue;
    gab_log(GAB_LOG_ERROR, "point %zu, %s, failed with exit code %d: %s (%s/%s)", i + 1, point->name,
            point->code, point->message && point->message[0] ? point->message : "it said nothing",
            sweep->folder, point->name);
    if (failed == 0) failed = point->code > 0 && point->code < 128 ? point->code : 1;
  }
  if (!sweep->options->point)
    gab_log(GAB_LOG_INFO, "%zu of %zu points are done: %s/sweep.csv", done, sweep->point_count,
            sweep->folder);
  if (left > 0) gab_log(GAB_LOG_INFO, "%zu are not; the same command resumes", left);
  return left > 0 ? gab_status_exit_code(GAB_ERR_REQUEUE) : failed;
}

/* ---------------------------------------------------------------- the command */

/* Runs all points, or with --table only writes the table. Holds the lock of the sweep's folder. */
static gab_status run_all(gab_app_sweep *sweep, int *code)
{
  GAB_TRY(write_file(sweep));
  GAB_TRY(read_done(sweep));
  gab_app_sweep_name_others(sweep);
  GAB_TRY(gab_app_sweep_table_write(sweep));
  if (!sweep->options->table) GAB_TRY(gab_app_sweep_run(sweep, take_end));
  for (size_t i = 0; i < sweep->point_count; i++)
    if (sweep->points[i].state == GAB_APP_SWEEP_WAITING) sweep->points[i].state = GAB_APP_SWEEP_STOPPED;
  *code = tell_end(sweep);
  return gab_app_sweep_results_check(sweep);
}

static gab_status run_locked(gab_app_sweep *sweep, int *code)
{
  gab_world *world = NULL;
  gab_run_lock *lock = NULL;
  GAB_TRY(gab_world_create_alone(&world));
  gab_status status = gab_run_lock_take(world, sweep->folder, &lock);
  if (status == GAB_OK) status = run_all(sweep, code);
  gab_run_lock_release(&lock, GAB_RUN_LOCK_REMOVE);
  gab_world_destroy(&world);
  return status;
}

static gab_status sweep_case(gab_app_sweep *sweep, const gab_app_options *options, int *code)
{
  GAB_TRY(check_options(options));
  GAB_TRY(gab_app_sweep_read(options, sweep));
  GAB_TRY(choose_point(sweep));
  if (options->dry_run) return gab_app_sweep_list(sweep);
  GAB_TRY(gab_app_sweep_check(sweep));
  if (options->slurm || options->pbs) return gab_app_sweep_script_print(sweep);
  if (!options->point) return run_locked(sweep, code);
  GAB_TRY(gab_app_sweep_run(sweep, take_end));
  *code = tell_end(sweep);
  return GAB_OK;
}

int gab_app_command_sweep(int argc, char **argv)
{
  gab_app_options options;
  gab_app_sweep sweep = {.point_count = 0};
  int code = 0;
  gab_status status = gab_app_options_parse(argc, argv, SWEEP_OPTIONS, &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = sweep_case(&sweep, &options, &code);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  gab_app_sweep_release(&sweep);
  return code != 0 ? code : gab_status_exit_code(status);
}
