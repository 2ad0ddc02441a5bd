#include "blockforest/adapt.h"
#include "loadbalance/balance.h"

#include "core/world.h"

gab_status gab_balance_forest(gab_forest *forest, const gab_balance_options *options,
                              gab_balance_report *report)
{
  gab_proxies *proxies = NULL;
  GAB_TRY(gab_proxies_of_forest(forest, &proxies));
  gab_status status = gab_balance_proxies(proxies, options, report);
  if (status == GAB_OK) {
    gab_world_enter(gab_forest_world(forest), GAB_PHASE_MIGRATION);
    status = gab_forest_follow(forest, &proxies);
    if (status == GAB_OK) gab_world_enter(gab_forest_world(forest), GAB_PHASE_MIGRATION);
  }
  gab_proxies_destroy(&proxies);
  return status;
}
