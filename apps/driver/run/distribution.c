/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution of blocks to ranks: the section `balance`, the first grid, a grid that changes, rebalancing by measured work. */
#include "apps/driver/driver.h"

#include "apps/driver/case/case_impl.h"
#include "core/base/log.h"

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

static bool is_due(const gab_app_rebalance *when, gab_step step, gab_step last_step)
{
  return when->every > 0 && step > 0 && step % when->every == 0 && step < last_step;
}

static gab_status improve(const gab_app_rebalance *when, const gab_balance_options *options,
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

gab_status gab_app_run_distribute(void *context, gab_proxies *proxies)
{
  gab_app_run *it = context;
  if (it->parameters->balance.measured) GAB_TRY(gab_balance_weigh(it->forest, proxies));
  return gab_balance_proxies(proxies, &it->parameters->balance, &it->balance);
}

gab_status gab_app_run_distribute_first(void *context, gab_proxies *proxies)
{
  gab_app_run *it = context;
  gab_balance_options options = it->parameters->balance;
  options.none_empty = true;
  return gab_balance_proxies(proxies, &options, &it->balance);
}

static bool balance_due(const void *user, gab_step step)
{
  const gab_app_case *which = ((const gab_app_run *)user)->parameters;
  return is_due(&which->rebalance, step, which->steps);
}

static gab_status balance_now(void *user, gab_step step)
{
  gab_app_run *it = user;
  return improve(&it->parameters->rebalance, &it->parameters->balance, it->forest, step, &it->balance);
}

gab_status gab_app_run_add_balance(gab_app_run *it)
{
  if (it->parameters->rebalance.every == 0) return GAB_OK;
  return gab_timeloop_add_action(it->loop, "balance", balance_due, balance_now, it);
}
