/* SPDX-License-Identifier: Apache-2.0 */
/* Who has which block: the section `balance`, and sharing out anew by what blocks took. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "apps/driver/case/case_impl.h"

gab_status gab_app_balance_read(const gab_config *config, gab_balance_options *found, gab_app_rebalance *when)
{
  found->balancer = gab_balancer_by_name(gab_config_string(config, "balance.strategy"));
  if (!found->balancer) return gab_config_fail(config, "balance.strategy", "%s", gab_error_message());
  found->by =
      gab_config_choice_index(config, "balance.weights") == 0 ? GAB_BALANCE_PER_LEVEL : GAB_BALANCE_TOTAL;
  found->measured = gab_config_choice_index(config, "balance.work") == 1;
  *when = (gab_app_rebalance){.every = gab_config_int(config, "balance.every"),
                              .above = gab_config_real(config, "balance.above")};
  if (when->every > 0 && !found->measured)
    return gab_config_fail(config, "balance.every", "rebalancing at intervals needs balance.work: measured");
  return GAB_OK;
}

bool gab_app_rebalance_due(const gab_app_rebalance *when, gab_step step, gab_step last_step)
{
  return when->every > 0 && step > 0 && step % when->every == 0 && step < last_step;
}

gab_status gab_app_rebalance_now(const gab_app_rebalance *when, const gab_balance_options *options,
                                 gab_forest *forest, gab_step step, gab_balance_report *report)
{
  gab_balance_gain gain;
  GAB_TRY(gab_balance_improve(forest, options, when->above, &gain));
  if (!gain.moved) return GAB_OK;
  *report = gain.report;
  gab_log(GAB_LOG_DEBUG,
          "step %" GAB_PRI_STEP ": the busiest process worked %.2f times the mean: %" PRIu64
          " blocks move, %.2f by the same times",
          step, gain.before, gain.report.blocks_moved, gain.after);
  return GAB_OK;
}
