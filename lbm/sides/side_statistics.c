/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the statistics of the flow that factors of sides and patches use, at the multiples of an interval. They are constant in
 * between, so each rank, and each thread, evaluates the same formula. */
#include "lbm/lbm_impl.h"
#include "lbm/setup/units.h"

#include <math.h>

static bool uses_means(const gab_lbm_options *options)
{
  bool any = false;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *side = gab_lbm_condition(options, k);
    for (int v = GAB_STATISTIC_VELOCITY; side->is_measured && v <= GAB_STATISTIC_ENERGY; v++)
      any = any || gab_expression_uses(side->factor, v);
  }
  return any;
}

static gab_status measure_sides(gab_lbm *lbm, const gab_units *units, gab_side_statistics *now)
{
  gab_side_load loads[GAB_MOST_CONDITIONS];
  GAB_TRY(gab_lbm_side_loads(lbm, loads));
  for (int k = 0; k < gab_lbm_condition_count(&lbm->model.options); k++) {
    now->flow_rate[k] = loads[k].flow * pow(units->dx, lbm->model.lattice->dimension) / units->dt;
    now->pressure[k] = gab_units_pressure_to_physical(units, 1 + 3 * loads[k].pressure);
  }
  return GAB_OK;
}

static gab_status measure_means(gab_lbm *lbm, const gab_units *units, gab_side_statistics *now)
{
  const double speed = units->dx / units->dt;
  gab_lbm_integrals sums;
  GAB_TRY(gab_lbm_integrate(lbm, false, &sums));
  for (int axis = 0; axis < 3; axis++) now->velocity[axis] = sums.momentum[axis] / sums.mass * speed;
  now->energy = sums.kinetic_energy / sums.volume * units->density * speed * speed;
  return GAB_OK;
}

/* The formulas are evaluated at the end of their interval, by what they had in it; then all statistics are replaced. */
gab_status gab_lbm_measure_statistics(gab_lbm *lbm, const gab_units *units)
{
  const gab_lbm_options *options = &lbm->model.options;
  gab_side_statistics now = {.step = lbm->step};
  bool of_sides;
  if (!gab_lbm_uses_statistics(options, &of_sides) || lbm->statistics.step == lbm->step) return GAB_OK;
  if (of_sides) GAB_TRY(measure_sides(lbm, units, &now));
  if (uses_means(options)) GAB_TRY(measure_means(lbm, units, &now));
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *side = gab_lbm_condition(options, k);
    if (side->is_measured)
      now.previous[k] = gab_side_formula_at(side, (double)lbm->step * side->dt, &lbm->statistics);
  }
  lbm->statistics = now;
  return GAB_OK;
}
