/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots whose copies are sent after the following steps: the time for which the run stops, and the slowdown of
 * its steps meanwhile. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "resilience/checkpoint/checkpoint.h"

enum { PACK, WAITED, BEGIN, PLAIN, LADEN, COMPLETE, PART_COUNT, STEPS = 4 /* times BENCH_SWEEPS */ };

typedef struct stage {
  bench_flow flow;
  gab_checkpoint *checkpoint;
  gab_step taken;
} stage;

/* Steps, with the help that a time loop gives between tasks. */
static gab_status step_and_help(void *user)
{
  stage *s = user;
  bool there;
  for (int i = 0; i < STEPS; i++) {
    GAB_TRY(bench_flow_step(&s->flow));
    GAB_TRY(gab_checkpoint_progress(s->checkpoint, &there));
  }
  return GAB_OK;
}

static gab_status begin(void *user)
{
  stage *s = user;
  return gab_checkpoint_begin(s->checkpoint, s->taken++);
}

static gab_status complete(void *user) { return gab_checkpoint_complete(((stage *)user)->checkpoint); }

/* One that is waited for, then one that is not: the same machine for both. */
static gab_status measure_once(bench *b, stage *s, double seconds[PART_COUNT])
{
  const gab_checkpoint_stats before = gab_checkpoint_get_stats(s->checkpoint);
  GAB_TRY(gab_world_barrier(b->world));
  GAB_TRY(gab_checkpoint_take(s->checkpoint, s->taken++));
  const gab_checkpoint_stats after = gab_checkpoint_get_stats(s->checkpoint);
  seconds[PACK] = after.pack_seconds - before.pack_seconds;
  seconds[WAITED] = after.last_seconds;
  GAB_TRY(gab_world_max_f64(b->world, seconds, WAITED + 1));
  GAB_TRY(bench_time(b, step_and_help, s, &seconds[PLAIN]));
  GAB_TRY(bench_time(b, begin, s, &seconds[BEGIN]));
  GAB_TRY(bench_time(b, step_and_help, s, &seconds[LADEN]));
  return bench_time(b, complete, s, &seconds[COMPLETE]);
}

static void report(bench *b, const char *name, double (*times)[PART_COUNT], int part, int beside)
{
  double samples[BENCH_MOST_SAMPLES], others[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  for (int i = 0; i < b->repetitions; i++) {
    samples[i] = times[i][part];
    others[i] = times[i][beside];
    shares[i] = samples[i] / others[i];
  }
  const bench_series series = bench_summarise(samples, b->repetitions),
                     other = bench_summarise(others, b->repetitions);
  bench_report(b, &(bench_result){.name = name,
                                  .value = series.median * 1e3,
                                  .min = series.min * 1e3,
                                  .max = series.max * 1e3,
                                  .samples = b->repetitions,
                                  .unit = "ms",
                                  .ceiling = other.median * 1e3,
                                  .percent = 100 * bench_summarise(shares, b->repetitions).median});
}

static gab_status measure(bench *b, stage *s)
{
  double times[BENCH_MOST_SAMPLES][PART_COUNT];
  GAB_TRY(gab_checkpoint_create(s->flow.forest, &(gab_redundancy){0}, &s->checkpoint));
  for (int i = 0; i < 2; i++)
    GAB_TRY(gab_checkpoint_take(s->checkpoint, s->taken++)); /* both have memory then */
  for (int i = 0; i < b->repetitions; i++) GAB_TRY(measure_once(b, s, times[i]));
  report(b, "overlap.blocking", times, BEGIN, PACK);          /* other: the own copy */
  report(b, "overlap.blocking-of-all", times, BEGIN, WAITED); /* other: a copy with waiting */
  report(b, "overlap.steps", times, LADEN, PLAIN);            /* other: the same steps alone */
  report(b, "overlap.complete", times, COMPLETE, WAITED);
  return GAB_OK;
}

gab_status bench_overlap(bench *b)
{
  stage s = {.taken = 0};
  bench_flow_options options = bench_flow_usual(b, 32);
  GAB_TRY(bench_flow_create(b, &options, &s.flow));
  gab_status status = measure(b, &s);
  gab_checkpoint_destroy(&s.checkpoint);
  bench_flow_destroy(&s.flow);
  return status;
}
