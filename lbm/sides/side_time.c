/* SPDX-License-Identifier: Apache-2.0 */
/* The velocity or pressure that a side gives, in time: ramp, formula, series, oscillation. */
#include "lbm/lbm_impl.h"
#include "lbm/setup/units.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static gab_status read_series(const gab_config *config, const char *path, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], repeats[GAB_CONFIG_PATH_CAPACITY], file[PATH_MAX], why[1024];
  const char *text = gab_config_string(config, gab_config_path(key, "%s.series", path));
  gab_config_path(repeats, "%s.series_repeats", path);
  if (!text[0] && gab_config_is_set(config, repeats))
    return gab_config_fail(config, repeats, "has no effect without %s", key);
  if (!text[0]) return GAB_OK;
  GAB_TRY(gab_config_file_of(config, key, file));
  gab_time_series *series;
  const gab_status status = gab_time_series_read(file, gab_config_bool(config, repeats), &series);
  side->series = series;
  if (status != GAB_ERR_INPUT && status != GAB_ERR_IO) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, key, "%s", why);
}

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

gab_status gab_side_read_time(const gab_config *config, const char *path, const gab_units *units,
                              gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  side->ramp_steps = gab_config_real(config, gab_config_path(key, "%s.ramp_time", path)) / units->dt;
  side->factor = gab_config_expression(config, gab_config_path(key, "%s.factor", path));
  side->dt = units->dt;
  GAB_TRY(gab_side_read_statistics(config, path, side));
  return read_series(config, path, side);
}

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

double gab_side_factor_at(const gab_side *side, double steps, const gab_side_statistics *statistics)
{
  const double time = steps * side->dt;
  double factor = steps >= side->ramp_steps ? 1 : (1 - cos(pi * steps / side->ramp_steps)) / 2;
  if (side->factor) factor *= gab_side_formula_at(side, time, statistics);
  if (side->series) factor *= gab_time_series_at(side->series, time);
  return factor;
}

void gab_side_turn_at(const gab_side *side, double steps, double turn[2])
{
  turn[0] = 1;
  turn[1] = 0;
  if (side->profile != GAB_PROFILE_WOMERSLEY) return;
  const double angle = 2 * pi * fmod(steps * side->dt / side->of_profile.period, 1);
  turn[0] = cos(angle);
  turn[1] = sin(angle);
}

bool gab_side_varies(const gab_side *side)
{
  return side->ramp_steps > 0 || side->factor || side->series || side->profile == GAB_PROFILE_WOMERSLEY;
}

static bool same_formula(const gab_expression *a, const gab_expression *b)
{
  return a == b || (a && b && strcmp(gab_expression_text(a), gab_expression_text(b)) == 0);
}

static double period_of(const gab_side *side)
{
  return side->profile == GAB_PROFILE_WOMERSLEY ? side->of_profile.period : 0;
}

bool gab_side_vary_alike(const gab_side *a, const gab_side *b)
{
  if (a == b) return true;
  if (a->flow_rate != 0 || b->flow_rate != 0 || period_of(a) > 0 || period_of(b) > 0) return false;
  return gab_side_vary_in_time_alike(a, b);
}

bool gab_side_vary_in_time_alike(const gab_side *a, const gab_side *b)
{
  return period_of(a) == period_of(b) && a->ramp_steps == b->ramp_steps && a->dt == b->dt &&
         same_formula(a->factor, b->factor) && gab_time_series_equal(a->series, b->series);
}

void gab_lbm_ramps(const gab_lbm *lbm, double time, double ramp[GAB_SIDE_FACTORS])
{
  const gab_lbm_options *options = &lbm->model.options;
  for (int k = 0; k < GAB_SIDE_FACTORS; k++) ramp[k] = 0;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *at = gab_lbm_condition(options, k);
    double turn[2];
    gab_side_turn_at(at, time, turn);
    const double factor = gab_side_factor_at(at, time, &lbm->statistics) * lbm->scale[k];
    ramp[k] = factor * turn[0];
    ramp[k + GAB_MOST_CONDITIONS] = factor * turn[1];
  }
  ramp[GAB_SIDE_TIME] = time;
  ramp[GAB_SIDE_UNIT] = 1;
}
