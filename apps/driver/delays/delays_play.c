/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the delay model several times and averages. */
#include "apps/driver/delays/plan_delays.h"

#include "core/base/hash.h"

uint64_t gab_app_delays_seed(const delays_options *options, int64_t run)
{
  return gab_hash_counter(options->model.seed, (uint64_t)run, 0);
}

/* With each listed process its whole group fails. */
static gab_status add_listed(const delays_options *options, int32_t processes, gab_failures *failures)
{
  const int32_t group = options->group > 1 ? options->group : 1;
  for (size_t k = 0; k < options->listed.count; k++) {
    const gab_process_failure *one = &options->listed.at[k];
    if (one->process >= processes || one->step > options->model.steps)
      GAB_FAIL(GAB_ERR_INPUT,
               "--fail %" GAB_PRI_STEP ":%" PRId32 ": there are %" GAB_PRI_STEP " steps of %" PRId32
               " processes",
               one->step, one->process, options->model.steps, processes);
    const int32_t first = one->process / group * group;
    for (int32_t m = first; m < processes && m - first < group; m++)
      GAB_TRY(gab_failures_add(failures, one->step, m));
  }
  gab_failures_put_in_order(failures);
  return GAB_OK;
}

gab_status gab_app_delays_failures(const delays_options *options, delays_source source, double value,
                                   int64_t run, gab_failures *failures)
{
  const int32_t processes = gab_neighbourhood_processes(&options->model.neighbourhood);
  const gab_failure_draw draw = {.steps = options->model.steps,
                                 .processes = processes,
                                 .group = options->group,
                                 .seed = gab_app_delays_seed(options, run)};
  const int32_t group = options->group > 1 ? options->group : 1;
  const double groups = (double)((processes - 1) / group + 1);
  switch (source) {
  case DELAYS_BY_RATE:
    return gab_failures_draw_rate(&draw, value, failures);
  case DELAYS_BY_MTBF:
    if (!(options->model.step_time > 0)) GAB_FAIL(GAB_ERR_INPUT, "--mtbf needs steps that take time (--t1)");
    return gab_failures_draw_mtbf(&draw, options->mtbf_each ? gab_mtbf_of_all(value, groups) : value,
                                  options->model.step_time, failures);
  case DELAYS_LISTED:
    break;
  }
  return add_listed(options, processes, failures);
}

/* ---------------------------------------------------------------- one run with each kind of recovery */

typedef struct last_times {
  double *sum; /* NULL: not wanted */
  gab_step last;
  int32_t processes;
} last_times;

static void add_last(void *user, gab_step step, const double *times)
{
  const last_times *last = user;
  if (step != last->last) return;
  for (int32_t k = 0; k < last->processes; k++) last->sum[k] += times[k];
}

static gab_status play_one(const delays_options *options, const gab_failures *failures, int64_t run,
                           double *times, gab_delay_result result[3])
{
  gab_delay_model model = options->model;
  last_times last = {.last = model.steps, .processes = gab_neighbourhood_processes(&model.neighbourhood)};
  model.seed = gab_app_delays_seed(options, run);
  for (int k = 0; k < 3; k++) { /* undisturbed, local, global, in the order of their numbers */
    last.sum = times ? times + (size_t)k * (size_t)last.processes : NULL;
    GAB_TRY(
        gab_delays_run(&model, failures, (gab_delays_recovery)k, times ? add_last : NULL, &last, &result[k]));
  }
  return GAB_OK;
}

static void add_overhead(const gab_delay_result *with, const gab_delay_result *without, int64_t runs,
                         delays_overhead *overhead)
{
  overhead->mean += (with->mean - without->mean) / (double)runs;
  overhead->most += (with->most - without->most) / (double)runs;
}

gab_status gab_app_delays_play(const delays_options *options, delays_source source, double value,
                               double *times, delays_row *row)
{
  const int64_t runs = options->runs;
  *row = (delays_row){.source = source, .value = value};
  for (int64_t run = 0; run < runs; run++) {
    gab_failures failures = {0};
    gab_delay_result result[3];
    gab_status status = gab_app_delays_failures(options, source, value, run, &failures);
    if (status == GAB_OK) status = play_one(options, &failures, run, times, result);
    row->failures += (double)failures.count / (double)runs;
    gab_failures_release(&failures);
    if (status != GAB_OK) return status;
    row->undisturbed += result[GAB_DELAYS_UNDISTURBED].most / (double)runs;
    row->global_steps += (double)result[GAB_DELAYS_LOCAL].global / (double)runs;
    add_overhead(&result[GAB_DELAYS_LOCAL], &result[GAB_DELAYS_UNDISTURBED], runs, &row->local);
    add_overhead(&result[GAB_DELAYS_GLOBAL], &result[GAB_DELAYS_UNDISTURBED], runs, &row->global);
  }
  return GAB_OK;
}
