/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of sides with statistics of the flow: their limits, and the statistics as a part of the state. */
#include "lbm/lbm_impl.h"

#include <math.h>

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
