/* Where the curve is cut. With P members, n blocks in curve order, total weight W, and w_j the weight before
 * block j:
 *
 *   1. s_j = floor(w_j P / W): a block belongs to the piece of [0, W) in which it begins. The blocks that
 * begin in one piece weigh less than W/P plus the last of them, so no member gets more than mean + heaviest
 * block.
 *   2. A block heavier than the mean makes s jump over members. u_j = j + min over k <= j of (s_k - k) is the
 *      largest sequence below s that rises by at most 1 from block to block: after a heavy block, members get
 *      one block each until s is reached again.
 *   3. t_j = max(u_j, P - (n - j)) if n >= P: members left over at the end get one block each.
 *
 * Steps 2 and 3 give members only a single block or a part of what step 1 gave them, so the bound holds; t
 * rises from 0 to P - 1 in steps of at most 1, so no member stays empty if there are enough blocks. All of it
 * follows from prefix sums (w, j) and a prefix minimum. */
#include "loadbalance/balance.h"

#include "core/collective.h"
#include "loadbalance/homes_impl.h"

/* ------------------------------------------------------------------ cut */

/* Minimum of `value` over the members before this one (INT64_MAX for the first), by doubling distances. */
static gab_status minimum_before(gab_world *world, int64_t value, int64_t *before)
{
  const gab_members *members = gab_world_members(world);
  int32_t count = gab_members_count(members), index = gab_members_index(members, gab_world_slot(world));
  int64_t upto = value;
  gab_status status = GAB_OK;
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  *before = INT64_MAX;
  for (int64_t distance = 1; distance < count && status == GAB_OK; distance *= 2) {
    bool sends = index + distance < count;
    gab_slot target = sends ? gab_members_slot(members, (int32_t)(index + distance)) : GAB_NO_SLOT;
    size_t arrived = 0;
    status = gab_world_route(world, &upto, &target, sends, sizeof upto, &received, &arrived);
    gab_reader in = gab_reader_of_buffer(&received);
    for (size_t i = 0; i < arrived && status == GAB_OK; ++i) {
      gab_slot source;
      int64_t part;
      status = gab_get_i32(&in, &source);
      if (status == GAB_OK) status = gab_get_bytes(&in, &part, sizeof part);
      if (status != GAB_OK) break;
      if (part < *before) *before = part;
      if (part < upto) upto = part;
    }
  }
  gab_buffer_release(&received);
  return status;
}

gab_status gab_homes_cut(gab_homes *homes)
{
  const gab_members *members = gab_world_members(homes->world);
  int64_t member_count = gab_members_count(members);
  uint64_t own = 0, weight, first;
  for (size_t i = 0; i < homes->count; ++i) own += homes->entries[i].weight;
  GAB_TRY(gab_world_scan_u64(homes->world, own, &weight, &homes->weight));
  GAB_TRY(gab_world_scan_u64(homes->world, homes->count, &first, &homes->blocks));

  int64_t low = INT64_MAX; /* of s_k - k, here; the targets hold s_k meanwhile */
  for (size_t i = 0; i < homes->count; ++i) {
    gab_home_entry *entry = &homes->entries[i];
    entry->target = (gab_slot)((gab_wide)weight * (gab_wide)member_count / homes->weight);
    weight += entry->weight;
    int64_t ahead = entry->target - (int64_t)(first + i);
    if (ahead < low) low = ahead;
  }
  int64_t running;
  GAB_TRY(minimum_before(homes->world, low, &running));
  for (size_t i = 0; i < homes->count; ++i) {
    int64_t j = (int64_t)(first + i), target = homes->entries[i].target;
    if (target - j < running) running = target - j;
    target = j + running;
    int64_t rest = (int64_t)homes->blocks - j;
    if ((int64_t)homes->blocks >= member_count && target < member_count - rest) target = member_count - rest;
    homes->entries[i].target = gab_members_slot(members, (int32_t)target);
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------ balance */

static gab_status make_report(gab_homes *homes, uint64_t moved, gab_balance_report *report)
{
  uint64_t heaviest;
  GAB_TRY(gab_homes_my_weight(homes, &heaviest));
  GAB_TRY(gab_world_max_u64(homes->world, &heaviest, 1));
  GAB_TRY(gab_world_sum_u64(homes->world, &moved, 1));
  if (!report) return GAB_OK;
  *report = (gab_balance_report){.blocks = homes->blocks,
                                 .blocks_moved = moved,
                                 .weight_max = heaviest,
                                 .weight_total = homes->weight,
                                 .imbalance = 1};
  if (homes->weight > 0)
    report->imbalance =
        (double)heaviest * gab_members_count(gab_world_members(homes->world)) / (double)homes->weight;
  return GAB_OK;
}

static gab_status place_roots(gab_forest *forest, gab_homes *homes, gab_balance_report *report)
{
  GAB_TRY(gab_homes_survey(homes));
  GAB_TRY(gab_homes_cut(homes));
  int32_t members = gab_members_count(gab_world_members(homes->world));
  if (homes->blocks < (uint64_t)members)
    GAB_FAIL(GAB_ERR_INPUT,
             "the domain has %" PRIu64 " blocks for %" PRId32 " processes; each needs at least one",
             homes->blocks, members);
  gab_block_id *ids;
  size_t count;
  GAB_TRY(gab_homes_claim(homes, &ids, &count));
  gab_status status = gab_forest_populate(forest, ids, count, gab_homes_lookup, homes);
  gab_free(&ids);
  GAB_TRY(status);
  return make_report(homes, 0, report);
}

gab_status gab_balance_initial(gab_forest *forest, const gab_curve *curve, gab_balance_report *report)
{
  if (gab_forest_block_count(forest) > 0) GAB_FAIL(GAB_ERR_STATE, "the forest has blocks already");
  gab_homes homes;
  gab_homes_init(&homes, forest, curve);
  gab_status status = place_roots(forest, &homes, report);
  gab_homes_release(&homes);
  return status;
}

static gab_status place_blocks(gab_forest *forest, gab_homes *homes, const uint64_t *weights,
                               gab_slot *targets, gab_balance_report *report)
{
  GAB_TRY(gab_homes_register(homes, weights));
  GAB_TRY(gab_homes_cut(homes));
  GAB_TRY(gab_homes_ask_targets(homes, targets));
  uint64_t moved = 0;
  for (size_t i = 0; i < gab_forest_block_count(forest); ++i)
    moved += targets[i] != gab_world_slot(homes->world);
  GAB_TRY(gab_forest_migrate(forest, targets));
  return make_report(homes, moved, report);
}

gab_status gab_balance_curve(gab_forest *forest, const gab_curve *curve, const uint64_t *weights,
                             gab_balance_report *report)
{
  void *targets;
  gab_homes homes;
  GAB_TRY(gab_alloc(gab_forest_block_count(forest) * sizeof(gab_slot), GAB_MEMORY_OTHER, &targets));
  gab_homes_init(&homes, forest, curve);
  gab_status status = place_blocks(forest, &homes, weights, targets, report);
  gab_homes_release(&homes);
  gab_free(&targets);
  return status;
}
