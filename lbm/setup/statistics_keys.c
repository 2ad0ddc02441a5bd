/* SPDX-License-Identifier: Apache-2.0 */
/* The section `statistics`, and the sides that factors name (lbm/sides/side_statistics.c). */
#include "lbm/setup/statistics_keys.h"

#include "lbm/sides/side_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const gab_config_key keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "10",
     .unit = "steps",
     .doc = "Interval at which the statistics that factors of sides use are measured."},
};
static const gab_config_section section = {
    .path = "statistics",
    .doc = "Statistics of the flow in the factors of sides: doc/sides.md.",
    .keys = keys,
    .count = 1,
    .optional = true};

gab_status gab_statistics_declare(gab_config *config) { return gab_config_declare(config, &section); }

static const char *name_of(const gab_lbm_options *options, int condition)
{
  return condition < GAB_SIDE_COUNT ? gab_side_paths[condition] + strlen("boundaries.")
                                    : options->patches->list[condition - GAB_SIDE_COUNT].name;
}

/* Whether fluid passes it; with a pressure also walls of the domain count. */
static bool is_there(const gab_lbm_options *options, const gab_domain *domain, int condition)
{
  const int of = gab_lbm_condition_side(options, condition);
  return of == GAB_PATCH_ON_BODY || (of / 2 < domain->dimension && !domain->periodic[of / 2]);
}

static bool passes(const gab_lbm_options *options, int condition)
{
  const gab_side *side = gab_lbm_condition(options, condition);
  const int of = gab_lbm_condition_side(options, condition);
  if (gab_side_is_open(side)) return true;
  if (!gab_side_moves(side) || side->on_body == GAB_BODY_VELOCITY_ALONG) return false;
  return of == GAB_PATCH_ON_BODY || side->velocity[of / 2] != 0;
}

/* @return GAB_ERR_INPUT with the conditions that there are */
static gab_status find_condition(const gab_config *config, const char *key, const gab_domain *domain,
                                 const gab_lbm_options *options, const char *statistic, const char *name,
                                 bool must_pass, int *found)
{
  char known[1024] = "";
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    if (!is_there(options, domain, k) || (must_pass && !passes(options, k))) continue;
    *found = k;
    if (strcmp(name_of(options, k), name) == 0) return GAB_OK;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", name_of(options, k));
  }
  return gab_config_fail(config, key, "%s(%s): not a side or patch%s; there are: %s", statistic, name,
                         must_pass ? " that fluid passes" : "", known[0] ? known : "none");
}

static gab_status resolve(const gab_config *config, const gab_domain *domain, const gab_lbm_options *options,
                          const char *path, int condition, double interval, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  const char *name;
  int variable;
  if (!side->is_measured) return GAB_OK;
  gab_config_path(key, "%s.factor", path);
  side->own_condition = condition;
  side->interval = interval;
  for (int i = 0; (name = gab_expression_named(side->factor, i, &variable)); i++) {
    const bool is_flow = variable == GAB_STATISTIC_FLOW_RATE;
    if (i == GAB_SIDE_MOST_MEASURED)
      return gab_config_fail(config, key, "uses more than %d values of sides", GAB_SIDE_MOST_MEASURED);
    GAB_TRY(find_condition(config, key, domain, options, is_flow ? "flow_rate" : "mean_pressure", name,
                           is_flow, &side->measured_at[i]));
  }
  const double value = gab_side_formula_at(side, 0, NULL);
  if (isfinite(value) && fabs(value) <= side->factor_limit) return GAB_OK;
  return gab_config_fail(config, key,
                         "the formula '%s' is %g at time 0, where all statistics are 0; factor_limit is %g",
                         gab_expression_text(side->factor), value, side->factor_limit);
}

gab_status gab_statistics_read(const gab_config *config, const gab_domain *domain, const gab_units *units,
                               gab_lbm_options *options, gab_patches *patches, gab_step *every)
{
  *every = gab_config_int(config, "statistics.every");
  const double interval = (double)*every * units->dt;
  for (int k = 0; k < 2 * domain->dimension; k++)
    GAB_TRY(resolve(config, domain, options, gab_side_paths[k], k, interval, &options->sides[k]));
  for (int k = 0; patches && k < patches->count; k++)
    GAB_TRY(resolve(config, domain, options, patches->list[k].path, GAB_SIDE_COUNT + k, interval,
                    &patches->list[k].condition));
  if (gab_config_is_set(config, "statistics.every") && !gab_lbm_uses_statistics(options, NULL))
    return gab_config_fail(config, "statistics.every", "has no effect: no factor of a side uses statistics");
  return GAB_OK;
}
