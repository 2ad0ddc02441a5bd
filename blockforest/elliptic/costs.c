/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what elliptic.c and elliptic_cycle.c do. */
#include "blockforest/elliptic/costs.h"
#include "blockforest/elliptic/elliptic_impl.h"

#include "core/base/exact_sum.h"

static void add_exchange(gab_elliptic_costs *costs, const elliptic_level *level, int once, int per_cycle)
{
  costs->exchanges[costs->exchange_count] = gab_block_field_ghosts(&level->shapes[level->finest]);
  costs->exchange_repeats[costs->exchange_count++] = (gab_elliptic_repeats){once, per_cycle};
}

static void add_reduction(gab_elliptic_costs *costs, double bytes, int once, int per_cycle)
{
  costs->reductions[costs->reduction_count] = bytes;
  costs->reduction_repeats[costs->reduction_count++] = (gab_elliptic_repeats){once, per_cycle};
}

static void add_fields(const gab_elliptic *elliptic, const elliptic_level *level, gab_elliptic_costs *costs)
{
  const int fields = elliptic->options.operation.apply ? FIELD_KINDS : FIELD_DIAGONAL;
  for (int which = 0; which < fields; which++) {
    if (level->is_whole) costs->process_bytes += (double)(level->whole[which]->map.elements * sizeof(double));
    else costs->data[costs->data_count++] = level->blocks[which];
  }
}

gab_status gab_elliptic_find_costs(const gab_elliptic *elliptic, gab_elliptic_costs *costs)
{
  const elliptic_level *whole = &elliptic->levels[elliptic->first_whole];
  const int sweeps = elliptic->options.sweeps, is_singular = elliptic->is_singular;
  *costs = (gab_elliptic_costs){0};
  if (elliptic->options.method != GAB_ELLIPTIC_MULTIGRID)
    GAB_FAIL(GAB_ERR_ARGUMENT, "costs of an elliptic solver are known of multigrid alone");
  for (int i = 0; i < elliptic->level_count; i++) {
    const elliptic_level *level = &elliptic->levels[i];
    add_fields(elliptic, level, costs);
    if (level->is_whole) continue;
    /* A cycle smooths before and after, with a residual between. Level 0 needs residuals of its own; on others the first sweep begins
     * with zeros, and ghosts of the correction are filled. */
    if (i == 0) add_exchange(costs, level, 2, 2 * sweeps + 2);
    else add_exchange(costs, level, 0, 2 * sweeps + 1);
  }
  add_reduction(costs, sizeof(double), 2 + is_singular + (elliptic->options.finest > 0), 1);
  add_reduction(costs, (double)whole->cells[0] * whole->cells[1] * whole->cells[2] * sizeof(uint64_t), 0, 1);
  if (is_singular) add_reduction(costs, sizeof(gab_exact_sum), 2, 0);
  return GAB_OK;
}
