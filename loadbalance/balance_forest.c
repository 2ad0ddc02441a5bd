/* SPDX-License-Identifier: Apache-2.0 */
/* Forests: computed on proxies, then data follows. */
#include "blockforest/adaptation/adapt.h"
#include "loadbalance/balance.h"

typedef struct first_share {
  gab_balance_options options;
  gab_balance_report *report;
} first_share;

static gab_status distribute_first(void *context, gab_proxies *proxies)
{
  const first_share *share = context;
  return gab_balance_proxies(proxies, &share->options, share->report);
}

gab_status gab_balance_initial(gab_forest *forest, const gab_balance_options *options,
                               gab_balance_report *report)
{
  first_share share = {.report = report};
  if (options) share.options = *options;
  share.options.none_empty = true;
  return gab_forest_build(forest, NULL, NULL, 0, distribute_first, &share, NULL);
}

/* The revision is the same on all processes, also on those without a block. */
static gab_status check_populated(const gab_forest *forest)
{
  if (gab_forest_revision(forest) == 0)
    GAB_FAIL(GAB_ERR_STATE, "a forest without blocks cannot be balanced: gab_balance_initial() makes them");
  return GAB_OK;
}

/* Moves data to the owners of proxies. */
static gab_status follow(gab_forest *forest, gab_proxies **proxies)
{
  gab_world_enter(gab_forest_world(forest), GAB_FAULT_POINT_MIGRATION);
  GAB_TRY(gab_forest_apply_regrid(forest, proxies));
  gab_world_enter(gab_forest_world(forest), GAB_FAULT_POINT_MIGRATION);
  gab_balance_forget_work(forest);
  return GAB_OK;
}

gab_status gab_balance_forest(gab_forest *forest, const gab_balance_options *options,
                              gab_balance_report *report)
{
  gab_proxies *proxies = NULL;
  GAB_TRY(check_populated(forest));
  GAB_TRY(gab_proxies_of_forest(forest, &proxies));
  gab_status status = options && options->measured ? gab_balance_weigh(forest, proxies) : GAB_OK;
  if (status == GAB_OK) status = gab_balance_proxies(proxies, options, report);
  if (status == GAB_OK) status = follow(forest, &proxies);
  gab_proxies_destroy(&proxies);
  return status;
}

/* Predicted gab_balance_unevenness() for the same times. */
static double unevenness_to_be(const gab_balance_report *report, gab_balance_by by, double members)
{
  double busiest = 0;
  if (by == GAB_BALANCE_TOTAL) return report->imbalance;
  for (int level = 0; level < report->levels; level++) busiest += (double)report->level[level].weight_max;
  return busiest * members / (double)report->weight_total;
}

gab_status gab_balance_improve(gab_forest *forest, const gab_balance_options *options, double above,
                               gab_balance_gain *gain)
{
  enum { LEAST_GAIN = 20 }; /* 5 %; a smaller gain may be jitter */
  const gab_members *members = gab_world_members(gab_forest_world(forest));
  gab_proxies *proxies = NULL;
  *gain = (gab_balance_gain){.after = 1};
  const gab_balance_options defaults = {0};
  if (!options) options = &defaults;
  GAB_TRY(check_populated(forest));
  GAB_TRY(gab_balance_unevenness(forest, options->by, &gain->before));
  gain->after = gain->before;
  if (gain->before > above) {
    GAB_TRY(gab_proxies_of_forest(forest, &proxies));
    gab_status status = gab_balance_weigh(forest, proxies);
    if (status == GAB_OK) status = gab_balance_proxies(proxies, options, &gain->report);
    if (status == GAB_OK) {
      const double after = unevenness_to_be(&gain->report, options->by, (double)gab_members_count(members));
      gain->moved = after < gain->before - gain->before / LEAST_GAIN;
      if (gain->moved) gain->after = after;
    }
    if (status == GAB_OK && gain->moved) status = follow(forest, &proxies);
    gab_proxies_destroy(&proxies);
    GAB_TRY(status);
  }
  gab_balance_forget_work(forest);
  return GAB_OK;
}
