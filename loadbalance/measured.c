/* SPDX-License-Identifier: Apache-2.0 */
/* Block weights from measured times. */
#include "core/messages/collective.h"
#include "loadbalance/balance.h"

#include <math.h>

static uint64_t local_work(const gab_forest *forest, const gab_proxy *proxy)
{
  const gab_block *block = proxy->origin == GAB_ORIGIN_SELF ? gab_forest_find(forest, proxy->id) : NULL;
  return block ? gab_forest_block_work(forest, block, false) : 0;
}

gab_status gab_balance_weigh(const gab_forest *forest, gab_proxies *proxies)
{
  const size_t count = gab_proxies_count(proxies);
  uint64_t sums[2] = {0, 0}; /* time and estimated weight of measured blocks */
  for (size_t i = 0; i < count; i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    const uint64_t work = local_work(forest, proxy);
    sums[0] += work;
    sums[1] += work > 0 ? proxy->weight : 0;
  }
  GAB_TRY(gab_world_sum_u64(gab_forest_world(forest), sums, 2));
  if (sums[0] == 0 || sums[1] == 0) return GAB_OK;
  const double per_weight = (double)sums[0] / (double)sums[1];
  for (size_t i = 0; i < count; i++) {
    gab_proxy *proxy = gab_proxies_get(proxies, i);
    const uint64_t work = local_work(forest, proxy);
    const double estimate = ceil(per_weight * (double)proxy->weight);
    proxy->weight = work > 0 ? work : estimate < 0x1p48 ? (uint64_t)estimate : UINT64_C(1) << 48;
    if (proxy->weight == 0) proxy->weight = 1;
  }
  return GAB_OK;
}

gab_status gab_balance_unevenness(const gab_forest *forest, gab_balance_by by, double *ratio)
{
  uint64_t sums[GAB_BALANCE_LEVELS] = {0}, most[GAB_BALANCE_LEVELS];
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    sums[by == GAB_BALANCE_TOTAL ? 0 : gab_block_level(forest, block)] +=
        gab_forest_block_work(forest, block, false);
  }
  for (int level = 0; level < GAB_BALANCE_LEVELS; level++) most[level] = sums[level];
  gab_world *world = gab_forest_world(forest);
  GAB_TRY(gab_world_sum_u64(world, sums, GAB_BALANCE_LEVELS));
  GAB_TRY(gab_world_max_u64(world, most, GAB_BALANCE_LEVELS));
  double all = 0, busiest = 0;
  for (int level = 0; level < GAB_BALANCE_LEVELS; level++) {
    all += (double)sums[level];
    busiest += (double)most[level];
  }
  *ratio = all > 0 ? busiest * (double)gab_members_count(gab_world_members(world)) / all : 1;
  return GAB_OK;
}

void gab_balance_forget_work(const gab_forest *forest)
{
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    (void)gab_forest_block_work(forest, gab_forest_block(forest, i), true);
}
