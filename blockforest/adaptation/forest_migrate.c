/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks change owner: an adaptation in which nothing splits or merges. */
#include "blockforest/adaptation/adapt.h"

gab_status gab_forest_migrate(gab_forest *forest, const gab_rank *targets)
{
  gab_proxies *proxies = NULL;
  GAB_TRY(gab_proxies_of_forest(forest, &proxies));
  gab_world_enter(gab_forest_world(forest), GAB_FAULT_POINT_MIGRATION);
  gab_status status = gab_proxies_move(proxies, targets);
  if (status == GAB_OK) status = gab_forest_apply_regrid(forest, &proxies);
  gab_proxies_destroy(&proxies);
  return status;
}
