/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution of proxies: common part of all strategies, and the report. */
#include "core/messages/collective.h"
#include "loadbalance/balance_impl.h"

static const gab_members *members_of(const gab_proxies *proxies)
{
  return gab_world_members(gab_proxies_world(proxies));
}

/* ------------------------------------------------------------------ handing over */

gab_status gab_balance_hand_over(gab_proxies *proxies, const int32_t *part, uint64_t *moved)
{
  gab_world *world = gab_proxies_world(proxies);
  size_t count = gab_proxies_count(proxies);
  gab_rank *targets;
  GAB_TRY(GAB_NEW_ARRAY(&targets, count, GAB_MEMORY_OTHER));
  uint64_t leaving = 0;
  for (size_t i = 0; i < count; i++) {
    targets[i] = gab_members_rank(members_of(proxies), part[i]);
    leaving += targets[i] != gab_world_rank(world);
  }
  gab_status status = gab_world_sum_u64(world, &leaving, 1);
  if (status == GAB_OK && leaving > 0) status = gab_proxies_move(proxies, targets);
  *moved += leaving;
  gab_free(&targets);
  return status;
}

/* ------------------------------------------------------------------ what came out */

/* Loads of the local parts: level by level, the sum, and the number of blocks. */
enum { SUM = GAB_BALANCE_LEVELS, BLOCKS, COLUMNS };

static gab_status add_loads(gab_proxies *proxies, const int32_t *part, uint64_t *loads,
                            gab_balance_report *report)
{
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    int level = gab_proxies_level(proxies, proxy->id);
    uint64_t weight = gab_balance_weight(proxy), *row = loads + COLUMNS * (part ? (size_t)part[i] : 0);
    gab_balance_share *share = &report->level[level];
    row[level] += weight;
    row[SUM] += weight;
    row[BLOCKS]++;
    share->blocks++;
    share->weight_total += weight;
    if (weight > share->heaviest) share->heaviest = weight;
    if (level >= report->levels) report->levels = level + 1;
  }
  return GAB_OK;
}

static void take_extremes(const uint64_t *loads, int32_t rows, gab_balance_report *report)
{
  report->least_blocks = UINT64_MAX;
  for (int32_t p = 0; p < rows; p++) {
    const uint64_t *row = loads + COLUMNS * (size_t)p;
    for (int l = 0; l < report->levels; l++)
      if (row[l] > report->level[l].weight_max) report->level[l].weight_max = row[l];
    if (row[SUM] > report->weight_max) report->weight_max = row[SUM];
    if (row[BLOCKS] < report->least_blocks) report->least_blocks = row[BLOCKS];
  }
}

/* Reduces the numbers of this process to those of all. */
static gab_status combine(gab_world *world, gab_balance_report *report)
{
  uint64_t sums[2 * GAB_BALANCE_LEVELS], most[2 * GAB_BALANCE_LEVELS + 2];
  for (int l = 0; l < GAB_BALANCE_LEVELS; l++) {
    gab_balance_share *share = &report->level[l];
    sums[2 * l] = share->blocks;
    sums[2 * l + 1] = share->weight_total;
    most[2 * l] = share->weight_max;
    most[2 * l + 1] = share->heaviest;
  }
  most[2 * GAB_BALANCE_LEVELS] = report->weight_max;
  most[2 * GAB_BALANCE_LEVELS + 1] = (uint64_t)report->levels;
  GAB_TRY(gab_world_sum_u64(world, sums, 2 * GAB_BALANCE_LEVELS));
  GAB_TRY(gab_world_max_u64(world, most, 2 * GAB_BALANCE_LEVELS + 2));
  GAB_TRY(gab_world_min_u64(world, &report->least_blocks, 1));
  report->blocks = report->weight_total = 0;
  for (int l = 0; l < GAB_BALANCE_LEVELS; l++) {
    report->level[l] = (gab_balance_share){sums[2 * l], sums[2 * l + 1], most[2 * l], most[2 * l + 1], 1};
    report->blocks += sums[2 * l];
    report->weight_total += sums[2 * l + 1];
  }
  report->weight_max = most[2 * GAB_BALANCE_LEVELS];
  report->levels = (int)most[2 * GAB_BALANCE_LEVELS + 1];
  return GAB_OK;
}

static double ratio(uint64_t most, uint64_t total, int32_t parts)
{
  return total > 0 ? (double)most * parts / (double)total : 1;
}

gab_status gab_balance_measure(gab_proxies *proxies, int32_t parts, const int32_t *part,
                               gab_balance_report *report)
{
  uint64_t *loads;
  int32_t rows = part ? parts : 1;
  GAB_TRY(GAB_NEW_ARRAY(&loads, (size_t)rows * COLUMNS, GAB_MEMORY_OTHER));
  gab_status status = add_loads(proxies, part, loads, report);
  take_extremes(loads, rows, report);
  gab_free(&loads);
  if (status == GAB_OK) status = combine(gab_proxies_world(proxies), report);
  for (int l = 0; l < report->levels; l++)
    report->level[l].imbalance = ratio(report->level[l].weight_max, report->level[l].weight_total, parts);
  report->imbalance = ratio(report->weight_max, report->weight_total, parts);
  return status;
}

/* ------------------------------------------------------------------ the frame */

static gab_status fill_in(const gab_proxies *proxies, gab_balance_options *options)
{
  int32_t members = gab_members_count(members_of(proxies));
  if (options->plan && members > 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "planning is for one process, not %" PRId32, members);
  if (options->plan && options->parts < 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%" PRId32 " parts cannot be planned", options->parts);
  if (options->by != GAB_BALANCE_PER_LEVEL && options->by != GAB_BALANCE_TOTAL)
    GAB_FAIL(GAB_ERR_ARGUMENT, "weights cannot be spread in way %d (gab_balance_by)", (int)options->by);
  if (options->balancer && !options->balancer->assign)
    GAB_FAIL(GAB_ERR_ARGUMENT, "balancing strategy '%s' assigns nothing", options->balancer->name);
  if (!options->plan) options->parts = members;
  if (!options->balancer) options->balancer = &gab_balancer_hilbert;
  if (options->most_iterations < 1) options->most_iterations = 100;
  if (options->flow_rounds < 1) options->flow_rounds = 24;
  if (!(options->goal >= 0)) options->goal = 0;
  return GAB_OK;
}

static gab_status check_parts(const gab_balance_options *options, const gab_proxies *proxies,
                              const int32_t *part)
{
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    if (part[i] < 0 || part[i] >= options->parts)
      GAB_FAIL(GAB_ERR_STATE, "strategy %s gives a block to part %" PRId32 " of %" PRId32,
               options->balancer->name, part[i], options->parts);
  return GAB_OK;
}

static gab_status settle(const gab_balance_options *options, gab_proxies *proxies, const int32_t *part,
                         gab_balance_report *report)
{
  GAB_TRY(check_parts(options, proxies, part));
  if (!options->plan) GAB_TRY(gab_balance_hand_over(proxies, part, &report->blocks_moved));
  for (size_t i = 0; i < gab_proxies_count(proxies) && options->plan; i++) options->plan[i] = part[i];
  GAB_TRY(gab_balance_measure(proxies, options->parts, options->plan ? part : NULL, report));
  if (options->none_empty && report->blocks < (uint64_t)options->parts)
    GAB_FAIL(GAB_ERR_INPUT,
             "the grid has %" PRIu64 " blocks for %" PRId32 " processes; each needs at least one",
             report->blocks, options->parts);
  return GAB_OK;
}

/* Errors that may occur on this process alone, e.g. lack of memory: the others wait for messages. Refusals are the same on
 * all. */
static bool is_lonely(const gab_balance_options *options, gab_status status)
{
  return !options->plan && status != GAB_OK && status != GAB_ERR_FAULT && status != GAB_ERR_INPUT &&
         status != GAB_ERR_ARGUMENT;
}

gab_status gab_balance_proxies(gab_proxies *proxies, const gab_balance_options *given,
                               gab_balance_report *report)
{
  gab_balance_options options = {0};
  gab_balance_report came = {0};
  int32_t *part = NULL;
  if (given) options = *given;
  GAB_TRY(fill_in(proxies, &options));
  gab_status status = options.balancer->assign(&options, proxies, &part, &came);
  if (status == GAB_OK) status = settle(&options, proxies, part, &came);
  if (is_lonely(&options, status)) status = gab_world_raise(gab_proxies_world(proxies), status);
  gab_free(&part);
  if (status == GAB_OK && report) *report = came;
  return status;
}

gab_status gab_balance_distribute(void *options, gab_proxies *proxies)
{
  return gab_balance_proxies(proxies, options, NULL);
}
