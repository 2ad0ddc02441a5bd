/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the model: contributions of steps, failures, checkpoints and reductions to the recurrence. */
#include "resilience/failure_model/delays_impl.h"

#include "core/memory/memory.h"

#include <math.h>

int32_t gab_neighbourhood_processes(const gab_neighbourhood *neighbourhood)
{
  if (neighbourhood->graph) return neighbourhood->graph->count;
  int32_t count = 1;
  for (int axis = 0; axis < neighbourhood->dimension; axis++) count *= neighbourhood->extent[axis];
  return count;
}

/* ---------------------------------------------------------------- cost of a failure */

/* In addition to t1: the recovery, and the repeated steps since the last checkpoint. */
static double extra_time(const gab_delay_model *model, gab_step step)
{
  gab_step since = step - 1;
  if (model->checkpoint_every > 0) since %= model->checkpoint_every;
  return model->failed_step_time - model->step_time + model->rework * model->step_time * (double)since;
}

typedef struct delays_run {
  const gab_delay_model *model;
  const gab_failures *failures;
  gab_delays_recovery recovery;
  size_t next; /* failure to come */
  gab_delays_times times;
  gab_delay_result *result;
} delays_run;

/* Failures of this step; the first `local` ones are handled by spares. */
static size_t failures_of(const delays_run *run, gab_step step, size_t *local)
{
  const gab_failures *failures = run->failures;
  size_t end = run->next;
  *local = 0;
  if (run->recovery == GAB_DELAYS_UNDISTURBED || !failures) return 0;
  while (end < failures->count && failures->at[end].step == step) end++;
  const size_t count = end - run->next;
  if (run->recovery == GAB_DELAYS_LOCAL) {
    const int64_t spares = run->model->spares;
    const size_t left = spares < 0 ? SIZE_MAX : (size_t)spares > run->next ? (size_t)spares - run->next : 0;
    *local = count < left ? count : left;
  }
  return count;
}

static void one_step(delays_run *run, gab_step step)
{
  const gab_delay_model *model = run->model;
  const int32_t depth = model->ghost_depth > 1 ? model->ghost_depth : 1;
  size_t local, count = failures_of(run, step, &local);
  gab_delays_step now = {.step = step, .exchange = (step - 1) % depth == 0, .time = model->step_time};
  if (count > local) {
    now.time += extra_time(model, step);
    run->result->global++;
  }
  if (model->checkpoint_every > 0 && step % model->checkpoint_every == 0) now.time += model->checkpoint_time;
  gab_delays_times_step(&run->times, &now);
  /* A process that fails while all pay has paid, too. */
  for (size_t k = 0; k < local && count == local; k++)
    *gab_delays_time_of(&run->times, run->failures->at[run->next + k].process) += extra_time(model, step);
  run->next += count;
  run->result->failures += count;
  if (model->reduce_every > 0 && step % model->reduce_every == 0)
    gab_delays_times_fill(&run->times, gab_delays_times_latest(&run->times));
}

/* ---------------------------------------------------------------- the run */

static gab_status check(const gab_delay_model *model, const gab_failures *failures, int32_t processes)
{
  const double numbers[] = {model->step_time, model->failed_step_time, model->noise, model->checkpoint_time,
                            model->rework};
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
    if (!(numbers[k] >= 0) || !isfinite(numbers[k]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "times of the model: 0 or more");
  if (model->failed_step_time < model->step_time)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a step with a failure (%g) takes less than one without (%g)",
             model->failed_step_time, model->step_time);
  if (model->steps < 0 || model->ghost_depth < 0 || model->reduce_every < 0 || model->checkpoint_every < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "numbers of steps of the model: 0 or more");
  if (failures && !gab_failures_are_valid(failures, model->steps, processes))
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "failures out of order, or beyond %" GAB_PRI_STEP " steps of %" PRId32 " processes",
             model->steps, processes);
  return GAB_OK;
}

/* One after another, in the order of the processes: the mean does not depend on threads. */
static void summarise(const double *values, int32_t count, gab_delay_result *result)
{
  double sum = 0;
  result->least = INFINITY;
  result->most = -INFINITY;
  for (int32_t k = 0; k < count; k++) {
    sum += values[k];
    if (values[k] < result->least) result->least = values[k];
    if (values[k] > result->most) result->most = values[k];
  }
  result->mean = sum / count;
}

static void play(delays_run *run, double *values, gab_delay_observer observe, void *user)
{
  for (gab_step step = 0; step <= run->model->steps; step++) {
    if (step > 0) one_step(run, step);
    if (!observe && step < run->model->steps) continue;
    gab_delays_times_gather(&run->times, values);
    if (observe) observe(user, step, values);
  }
  summarise(values, run->times.count, run->result);
}

gab_status gab_delays_run(const gab_delay_model *model, const gab_failures *failures,
                          gab_delays_recovery recovery, gab_delay_observer observe, void *user,
                          gab_delay_result *result)
{
  delays_run run = {.model = model, .failures = failures, .recovery = recovery, .result = result};
  double *values = NULL;
  *result = (gab_delay_result){0};
  gab_status status = gab_delays_times_create(model, &run.times);
  if (status == GAB_OK) status = check(model, failures, run.times.count);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&values, (size_t)run.times.count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) play(&run, values, observe, user);
  gab_free(&values);
  gab_delays_times_release(&run.times);
  return status;
}

/* ---------------------------------------------------------------- how far one delay gets */

typedef struct reach {
  int32_t processes;
  double undisturbed; /* time of a process that the delay has not reached */
  double *share;
} reach;

static void count_late(void *user, gab_step step, const double *times)
{
  reach *found = user;
  if (step == 0) return;
  int32_t late = 0;
  found->undisturbed += 1;
  for (int32_t k = 0; k < found->processes; k++) late += times[k] > found->undisturbed;
  found->share[step - 1] = (double)late / found->processes;
}

gab_status gab_delays_reach(const gab_delay_model *model, int32_t process, gab_step steps, double *share)
{
  const gab_delay_model plain = {.neighbourhood = model->neighbourhood,
                                 .form = model->form,
                                 .ghost_depth = model->ghost_depth,
                                 .steps = steps + 1,
                                 .step_time = 1,
                                 .failed_step_time = 2,
                                 .spares = -1};
  const gab_failures one = {.at = &(gab_process_failure){1, process}, .count = 1};
  reach found = {.processes = gab_neighbourhood_processes(&model->neighbourhood), .share = share};
  gab_delay_result result;
  return gab_delays_run(&plain, &one, GAB_DELAYS_LOCAL, count_late, &found, &result);
}
