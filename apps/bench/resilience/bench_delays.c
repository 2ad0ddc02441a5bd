/* SPDX-License-Identifier: Apache-2.0 */
/* The model of delays: a million processes. */
#include "apps/bench/bench.h"

#include "resilience/failure_model/delays.h"

typedef struct model_run {
  gab_delay_model model;
  gab_failures failures;
} model_run;

static gab_status play(void *user)
{
  const model_run *run = user;
  gab_delay_result result;
  return gab_delays_run(&run->model, &run->failures, GAB_DELAYS_LOCAL, NULL, NULL, &result);
}

/* Each process runs its own model. */
static gab_status play_million(bench *b, const char *name, double noise)
{
  const gab_step steps = b->quick ? 20 : 200;
  const gab_failure_draw draw = {.steps = steps, .processes = 1000000, .seed = 1};
  model_run run = {.model = {.neighbourhood = {.dimension = 3, .extent = {100, 100, 100}, .neighbours = 6},
                             .steps = steps,
                             .step_time = 1,
                             .failed_step_time = 5,
                             .noise = noise,
                             .spares = -1}};
  bench_series rate;
  GAB_TRY(gab_failures_draw_rate(&draw, 1e-6, &run.failures));
  gab_status status = bench_measure(b, play, &run, 1e6 * (double)steps * bench_processes(b), &rate);
  gab_failures_release(&run.failures);
  if (status == GAB_OK) bench_report_series(b, name, &rate, 1e-6, "M/s");
  return status;
}

gab_status bench_delays(bench *b)
{
  bench_set_threads(b, b->most_threads);
  GAB_TRY(play_million(b, "delays.processes-1000000", 0));
  return play_million(b, "delays.processes-1000000.noise", 0.1);
}
