/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated measurements: medians, and pairs of a measurement and its ceiling. */
#include "apps/bench/bench.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

int32_t bench_processes(const bench *b) { return gab_members_count(gab_world_members(b->world)); }

void bench_set_threads(bench *b, int threads)
{
  b->threads = threads;
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

gab_status bench_comm(bench *b, gab_comm **comm)
{
  if (!b->comm) GAB_TRY(gab_world_dup(b->world, &b->comm));
  *comm = b->comm;
  return GAB_OK;
}

int32_t bench_edge(const bench *b) { return b->quick ? 96 : 128; }

static int ascending(const void *a, const void *b)
{
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

bench_series bench_summarise(double *samples, int count)
{
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  double median = count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
  return (bench_series){.median = median, .min = samples[0], .max = samples[count - 1], .count = count};
}

gab_status bench_time(bench *b, bench_work work, void *user, double *seconds)
{
  gab_report_progress(b->world, ++b->measured, 0);
  GAB_TRY(gab_world_barrier(b->world));
  double start = gab_seconds();
  GAB_TRY(work(user));
  *seconds = gab_seconds() - start;
  return gab_world_max_f64(b->world, seconds, 1);
}

gab_status bench_measure_pair(bench *b, const bench_pair *pair, bench_pair_result *result)
{
  enum { WARM_UP = 1 };
  double rates[BENCH_MOST_SAMPLES], ceilings[BENCH_MOST_SAMPLES], shares[BENCH_MOST_SAMPLES];
  int count = b->repetitions;
  for (int i = -WARM_UP; i < count; i++) {
    double ceiling, seconds;
    GAB_TRY(bench_time(b, pair->ceiling, pair->ceiling_user, &ceiling));
    GAB_TRY(bench_time(b, pair->work, pair->work_user, &seconds));
    if (i < 0) continue;
    rates[i] = pair->work_amount / seconds;
    ceilings[i] = pair->ceiling_amount / ceiling;
    shares[i] = rates[i] / ceilings[i];
  }
  result->rate = bench_summarise(rates, count);
  result->ceiling = bench_summarise(ceilings, count);
  result->share = bench_summarise(shares, count).median;
  return GAB_OK;
}

gab_status bench_measure(bench *b, bench_work work, void *user, double amount, bench_series *rate)
{
  double rates[BENCH_MOST_SAMPLES], seconds;
  GAB_TRY(bench_time(b, work, user, &seconds)); /* warm-up */
  for (int i = 0; i < b->repetitions; i++) {
    GAB_TRY(bench_time(b, work, user, &seconds));
    rates[i] = amount / seconds;
  }
  *rate = bench_summarise(rates, b->repetitions);
  return GAB_OK;
}
