/* SPDX-License-Identifier: Apache-2.0 */
/* The live monitor `recompute`: when blocks are computed twice, and the findings. */
#include "apps/driver/driver.h"

#include "core/messages/collective.h"
#include "core/base/log.h"

#include <stdio.h>
#include <string.h>

static const gab_config_key keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 9e15,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Interval of checked steps; default: run.check_every."},
    {.name = "share",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .min_excluded = true,
     .default_text = "0.1",
     .outside = true,
     .doc = "Probability of computing a block twice in a checked step, from the same values, by "
            "another thread if there is one; until the next step a hash of it is compared. 1 with "
            "`every: 1` detects all errors of computing, at about three times the cost."},
};
static const gab_config_section section = {.path = "resilience.recompute",
                                           .doc =
                                               "Monitor recompute: blocks are computed twice and compared.",
                                           .keys = keys,
                                           .count = sizeof keys / sizeof keys[0]};

gab_status gab_app_recompute_declare(gab_config *config) { return gab_config_declare(config, &section); }

static void warn_of_no_effect(const gab_config *config)
{
  char path[64], where[GAB_APP_PATH_LENGTH];
  for (size_t i = 0; i < section.count; i++) {
    snprintf(path, sizeof path, "%s.%s", section.path, keys[i].name);
    if (gab_config_is_set(config, path))
      gab_log(GAB_LOG_WARNING, "%s: %s has no effect: resilience.monitors does not name 'recompute'",
              gab_config_where(config, path, where, sizeof where), path);
  }
}

gab_status gab_app_recompute_plan_read(const gab_config *config, gab_step check_every,
                                       gab_app_recompute *plan)
{
  size_t count = 0;
  const char *const *names = NULL;
  *plan = (gab_app_recompute){0};
  if (gab_config_is_set(config, "resilience.monitors"))
    names = gab_config_strings(config, "resilience.monitors", &count);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(names[i], "recompute") != 0) continue;
    plan->every = gab_config_is_set(config, "resilience.recompute.every")
                      ? (gab_step)gab_config_int(config, "resilience.recompute.every")
                      : check_every;
    plan->share = gab_config_real(config, "resilience.recompute.share");
    if (plan->every == 0)
      return gab_config_fail(config, "resilience.monitors",
                             "'recompute' needs resilience.recompute.every, since run.check_every is 0");
  }
  if (plan->every == 0) warn_of_no_effect(config);
  return GAB_OK;
}

bool gab_app_recompute_plan_has(const gab_app_recompute *plan, gab_step steps)
{
  return plan->every > 0 && steps > 0 && steps % plan->every == 0;
}

bool gab_app_recompute_plan_looks(const gab_app_recompute *plan, gab_step steps)
{
  return gab_app_recompute_plan_has(plan, steps) || gab_app_recompute_plan_has(plan, steps - 1);
}

gab_status gab_app_recompute_report(gab_world *world, const gab_app_recompute *plan,
                                    const gab_sample_report *mine)
{
  if (plan->every == 0) return GAB_OK;
  uint64_t counts[3] = {mine->blocks, mine->differed, mine->changed};
  uint64_t longest = (uint64_t)(1e6 * mine->seconds);
  GAB_TRY(gab_world_sum_u64(world, counts, 3));
  GAB_TRY(gab_world_max_u64(world, &longest, 1));
  gab_log(GAB_LOG_INFO,
          "  recompute: %" PRIu64 " times a block was computed twice; %" PRIu64 " differed, %" PRIu64
          " changed between two steps; %.3f s at most of a process",
          counts[0], counts[1], counts[2], 1e-6 * (double)longest);
  return GAB_OK;
}
