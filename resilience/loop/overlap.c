/* SPDX-License-Identifier: Apache-2.0 */
/* Overlap of copies with steps: over how many steps, and whether that costs less than waiting for the copies. */
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"
#include "core/messages/collective.h"

#include <math.h>

enum {
  LONGEST_OVERLAP = 1000, /* steps that copies may overlap */
  TRIALS = 2,             /* checkpoints with and without overlap before these are compared */
  MOST_GROWTH = 4,        /* bound on a new sample, in units of the mean so far */
  AGAIN = 16              /* of this many checkpoints one is in the more expensive mode */
};

/* Steps that the copies of this rank need. After an overlapped checkpoint: the steps that it took, plus one; twice as
 * many if these did not suffice. Otherwise from the time of the exchange, to which a step contributes at most half of its
 * time, since messages progress only inside MPI calls. */
uint64_t gab_overlap_wanted_lag(const gab_timeloop *loop)
{
  const gab_overlap *overlap = &loop->protection->overlap;
  const gab_checkpoint_stats costs = gab_checkpoint_get_stats(loop->protection->checkpoint);
  const double step_seconds = gab_protection_step_seconds(loop);
  const gab_placement *placement = gab_checkpoint_placement(loop->protection->checkpoint);
  if (overlap->wanted == GAB_OVERLAP_NEVER || !placement || placement->scheme->kind != GAB_SCHEME_COPIES ||
      costs.sent_bytes == 0)
    return 0;
  if (overlap->from >= 0 && overlap->there >= 0) return (uint64_t)(overlap->there - overlap->from) + 1;
  if (overlap->from >= 0) return 2 * (uint64_t)overlap->lag;
  if (!(step_seconds > 0) || costs.taken == 0) return overlap->lag ? (uint64_t)overlap->lag : 1;
  const double steps = ceil(2 * costs.exchange_seconds / (double)costs.taken / step_seconds);
  return steps < LONGEST_OVERLAP ? (uint64_t)fmax(steps, 1) : LONGEST_OVERLAP;
}

/* All ranks must have finished a checkpoint before the next is due: at most half of the interval. */
void gab_overlap_set_lag(gab_timeloop *loop, uint64_t wanted)
{
  gab_overlap *overlap = &loop->protection->overlap;
  const gab_step next[2] = {loop->protection->memory.next, loop->protection->on_disk.next};
  overlap->lag = wanted > LONGEST_OVERLAP ? LONGEST_OVERLAP : (gab_step)wanted;
  for (int i = 0; i < 2; i++)
    if (next[i] >= 0 && overlap->lag > (next[i] - loop->step) / 2) overlap->lag = (next[i] - loop->step) / 2;
}

/* ---------------------------------------------------------------- whether it pays */

double gab_overlap_watch(const gab_timeloop *loop) { return gab_seconds() - loop->stats.action_seconds; }

/* A disturbed sample should not decide for long. */
void gab_overlap_note(gab_overlap_costs *costs, bool behind, double seconds)
{
  if (costs->count[behind] >= TRIALS && costs->seconds[behind] > 0)
    seconds = fmin(seconds, MOST_GROWTH * costs->seconds[behind]);
  const double share = costs->count[behind] < 4 ? 1 / (double)(costs->count[behind] + 1) : 0.25;
  costs->seconds[behind] += share * (seconds - costs->seconds[behind]);
  costs->count[behind]++;
}

bool gab_overlap_pays(const gab_overlap_costs *costs)
{
  for (int behind = 0; behind < 2; behind++)
    if (costs->count[behind] < TRIALS) return behind;
  const bool less = costs->seconds[1] < costs->seconds[0];
  return (costs->count[0] + costs->count[1]) % AGAIN == AGAIN - 1 ? !less : less;
}

/* Processes that joined later have fewer samples. The extra time of steps may be negative on a shared machine. */
gab_status gab_overlap_compare(gab_timeloop *loop, gab_overlap_costs *all)
{
  const gab_overlap_costs *own = &loop->protection->overlap.costs;
  uint64_t values[4];
  for (int i = 0; i < 2; i++) {
    values[i] = own->count[i];
    values[2 + i] = (uint64_t)(fmax(own->seconds[i], 0) * 1e9);
  }
  GAB_TRY(gab_world_max_u64(loop->world, values, 4));
  for (int i = 0; i < 2; i++) {
    all->count[i] = values[i];
    all->seconds[i] = (double)values[2 + i] * 1e-9;
  }
  return GAB_OK;
}
