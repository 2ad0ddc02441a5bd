/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/failure_model/failures.h"

#include "core/base/hash.h"
#include "core/memory/memory.h"

#include <math.h>
#include <stdlib.h>

void gab_failures_release(gab_failures *failures)
{
  gab_free(&failures->at);
  failures->count = 0;
}

gab_status gab_failures_add(gab_failures *failures, gab_step step, int32_t process)
{
  GAB_TRY(gab_list_reserve(&failures->at, failures->count, sizeof(gab_process_failure)));
  failures->at[failures->count++] = (gab_process_failure){step, process};
  return GAB_OK;
}

static int compare(const void *left, const void *right)
{
  const gab_process_failure *a = left, *b = right;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  return (a->process > b->process) - (a->process < b->process);
}

void gab_failures_put_in_order(gab_failures *failures)
{
  if (failures->count < 2) return;
  qsort(failures->at, failures->count, sizeof(gab_process_failure), compare);
  size_t kept = 1;
  for (size_t i = 1; i < failures->count; i++)
    if (compare(&failures->at[i], &failures->at[kept - 1]) != 0) failures->at[kept++] = failures->at[i];
  failures->count = kept;
}

bool gab_failures_are_valid(const gab_failures *failures, gab_step steps, int32_t processes)
{
  for (size_t i = 0; i < failures->count; i++) {
    const gab_process_failure *one = &failures->at[i];
    if (one->step < 1 || one->step > steps || one->process < 0 || one->process >= processes) return false;
    if (i > 0 && compare(one - 1, one) >= 0) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- drawing */

enum { STREAM_GAP = 1, STREAM_GROUP = 2 };

/* Uniform in (0, 1]: its logarithm is finite. */
static double uniform(uint64_t seed, uint64_t stream, uint64_t counter)
{
  return (double)((gab_hash_counter(seed, stream, counter) >> 11) + 1) * 0x1p-53;
}

static int64_t group_count(const gab_failure_draw *draw)
{
  const int64_t group = draw->group > 1 ? draw->group : 1;
  return (draw->processes + group - 1) / group;
}

static gab_status check(const gab_failure_draw *draw, double expected)
{
  if (draw->steps < 0 || draw->processes < 1 || draw->group < 0)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "failures of %" PRId32 " processes in groups of %" PRId32 ", %" GAB_PRI_STEP " steps",
             draw->processes, draw->group, draw->steps);
  if (!(expected <= 0x1p30)) GAB_FAIL(GAB_ERR_ARGUMENT, "%g failures are more than can be listed", expected);
  return GAB_OK;
}

static gab_status add_group(const gab_failure_draw *draw, gab_step step, int64_t group,
                            gab_failures *failures)
{
  const int64_t size = draw->group > 1 ? draw->group : 1;
  for (int64_t k = group * size; k < (group + 1) * size && k < draw->processes; k++)
    GAB_TRY(gab_failures_add(failures, step, (int32_t)k));
  return GAB_OK;
}

/* (step, group) is one long row of coins; between two heads lies a geometrically distributed number of tails.
 * So the work is that of the failures, not of all coins. */
gab_status gab_failures_draw_rate(const gab_failure_draw *draw, double probability, gab_failures *failures)
{
  if (!(probability >= 0 && probability <= 1))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%g is not a probability", probability);
  const double coins = (double)draw->steps * (double)group_count(draw);
  GAB_TRY(check(draw, probability * coins * (draw->group > 1 ? draw->group : 1)));
  if (probability == 0) return GAB_OK;
  const int64_t groups = group_count(draw);
  double at = -1;
  for (uint64_t k = 0;; k++) {
    const double tails =
        probability < 1 ? floor(log(uniform(draw->seed, STREAM_GAP, k)) / log1p(-probability)) : 0;
    at += 1 + tails;
    if (!(at < coins)) return GAB_OK;
    GAB_TRY(add_group(draw, (int64_t)at / groups + 1, (int64_t)at % groups, failures));
  }
}

gab_status gab_failures_draw_mtbf(const gab_failure_draw *draw, double mtbf, double step_seconds,
                                  gab_failures *failures)
{
  if (!(mtbf > 0) || !(step_seconds > 0))
    GAB_FAIL(GAB_ERR_ARGUMENT, "failures every %g s in steps of %g s", mtbf, step_seconds);
  const double end = (double)draw->steps * step_seconds;
  GAB_TRY(check(draw, end / mtbf * (draw->group > 1 ? draw->group : 1)));
  const size_t before = failures->count;
  double time = 0;
  for (uint64_t k = 0;; k++) {
    time -= mtbf * log(uniform(draw->seed, STREAM_GAP, k));
    if (!(time < end)) break;
    const gab_step step = (gab_step)(time / step_seconds) + 1;
    const int64_t group =
        (int64_t)(gab_hash_counter(draw->seed, STREAM_GROUP, k) % (uint64_t)group_count(draw));
    GAB_TRY(add_group(draw, step <= draw->steps ? step : draw->steps, group, failures));
  }
  if (failures->count > before) gab_failures_put_in_order(failures);
  return GAB_OK;
}

double gab_mtbf_of_all(double mtbf_of_one, double count) { return mtbf_of_one / count; }
