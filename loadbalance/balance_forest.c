/* Forests: decided on proxies, then data follows. */
#include "blockforest/adapt.h"
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

gab_status gab_balance_forest(gab_forest *forest, const gab_balance_options *options,
                              gab_balance_report *report)
{
  gab_proxies *proxies = NULL;
  GAB_TRY(gab_proxies_of_forest(forest, &proxies));
  gab_status status = options && options->measured ? gab_balance_weigh(forest, proxies) : GAB_OK;
  if (status == GAB_OK) status = gab_balance_proxies(proxies, options, report);
  if (status == GAB_OK) {
    gab_world_enter(gab_forest_world(forest), GAB_PHASE_MIGRATION);
    status = gab_forest_follow(forest, &proxies);
    if (status == GAB_OK) gab_world_enter(gab_forest_world(forest), GAB_PHASE_MIGRATION);
    if (status == GAB_OK) gab_balance_forget_work(forest);
  }
  gab_proxies_destroy(&proxies);
  return status;
}
