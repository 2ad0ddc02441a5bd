/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the flow in the factors of sides and patches: flow rates and pressures of sides, mean velocity, kinetic energy. They are
 * measured at the multiples of an interval and constant in between; so each rank, and each thread, evaluates the same formula. */
#include "lbm/lbm_impl.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------ reading */

gab_status gab_side_read_statistics(const gab_config *config, const char *path, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], limit[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(key, "%s.factor", path);
  const bool is_limited = gab_config_is_set(config, gab_config_path(limit, "%s.factor_limit", path));
  if (side->factor) side->is_measured = gab_expression_named(side->factor, 0, NULL) != NULL;
  for (int v = GAB_STATISTIC_TIME + 1; side->factor && v < GAB_STATISTIC_COUNT; v++)
    side->is_measured = side->is_measured || gab_expression_uses(side->factor, v);
  if (is_limited && !side->is_measured)
    return gab_config_fail(config, limit, "has no effect: %s uses no statistics", key);
  if (side->is_measured && !is_limited)
    return gab_config_fail(config, key,
                           "uses statistics of the flow: give factor_limit, the bound of its absolute value");
  if (is_limited) side->factor_limit = gab_config_real(config, limit);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ values */

double gab_side_formula_at(const gab_side *side, double time, const gab_side_statistics *statistics)
{
  static const gab_side_statistics nothing = {0};
  double values[GAB_EXPRESSION_MOST_VARIABLES] = {time};
  int variable;
  if (!side->is_measured) return gab_expression_at(side->factor, values);
  const gab_side_statistics *of = statistics ? statistics : &nothing;
  values[GAB_STATISTIC_PREVIOUS] = of->previous[side->own_condition];
  values[GAB_STATISTIC_INTERVAL] = side->interval;
  memcpy(&values[GAB_STATISTIC_VELOCITY], of->velocity, sizeof of->velocity);
  values[GAB_STATISTIC_ENERGY] = of->energy;
  for (int i = 0; i < GAB_SIDE_MOST_MEASURED && gab_expression_named(side->factor, i, &variable); i++)
    values[GAB_STATISTIC_COUNT + i] =
        (variable == GAB_STATISTIC_FLOW_RATE ? of->flow_rate : of->pressure)[side->measured_at[i]];
  return gab_expression_at(side->factor, values);
}

gab_status gab_lbm_check_factor(const gab_lbm *lbm, int condition, double steps)
{
  const gab_side *side = gab_lbm_condition(&lbm->model.options, condition);
  if (!side->factor) return GAB_OK;
  const double time = steps * side->dt, value = gab_side_formula_at(side, time, &lbm->statistics);
  const char *path = gab_condition_path(lbm->model.options.patches, condition);
  if (!isfinite(value))
    GAB_FAIL(GAB_ERR_INPUT, "%s.factor: the formula '%s' is %g at time %g", path,
             gab_expression_text(side->factor), value, time);
  if (side->is_measured && !(fabs(value) <= side->factor_limit))
    GAB_FAIL(
        GAB_ERR_INPUT,
        "%s.factor: the formula '%s' is %g at time %g, beyond factor_limit = %g; raise that, or bound the formula "
        "by min() and max()",
        path, gab_expression_text(side->factor), value, time, side->factor_limit);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ measuring */

bool gab_lbm_uses_statistics(const gab_lbm_options *options, bool *of_sides)
{
  bool any = false, sides = false;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *side = gab_lbm_condition(options, k);
    any = any || side->is_measured;
    sides = sides || (side->is_measured && gab_expression_named(side->factor, 0, NULL));
  }
  if (of_sides) *of_sides = sides;
  return any;
}

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

/* ------------------------------------------------------------------------------------------ state */

gab_status gab_lbm_pack_statistics(const gab_lbm *lbm, gab_buffer *out)
{
  const gab_side_statistics *at = &lbm->statistics;
  const size_t count = (size_t)gab_lbm_condition_count(&lbm->model.options);
  if (!gab_lbm_uses_statistics(&lbm->model.options, NULL)) return GAB_OK;
  GAB_TRY(gab_put_i64(out, at->step));
  GAB_TRY(gab_put_f64s(out, at->velocity, 3));
  GAB_TRY(gab_put_f64(out, at->energy));
  GAB_TRY(gab_put_f64s(out, at->flow_rate, count));
  GAB_TRY(gab_put_f64s(out, at->pressure, count));
  return gab_put_f64s(out, at->previous, count);
}

gab_status gab_lbm_unpack_statistics(const gab_lbm *lbm, gab_reader *in, gab_side_statistics *read)
{
  const size_t count = (size_t)gab_lbm_condition_count(&lbm->model.options);
  *read = (gab_side_statistics){0};
  if (!gab_lbm_uses_statistics(&lbm->model.options, NULL)) return GAB_OK;
  GAB_TRY(gab_get_i64(in, &read->step));
  GAB_TRY(gab_get_f64s(in, read->velocity, 3));
  GAB_TRY(gab_get_f64(in, &read->energy));
  GAB_TRY(gab_get_f64s(in, read->flow_rate, count));
  GAB_TRY(gab_get_f64s(in, read->pressure, count));
  return gab_get_f64s(in, read->previous, count);
}
