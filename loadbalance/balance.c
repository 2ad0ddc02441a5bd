/* Forests along a curve, without proxies: nothing changes but the owners. */
#include "loadbalance/balance.h"

#include "core/collective.h"
#include "loadbalance/homes_impl.h"

static int32_t member_count(const gab_world *world) { return gab_members_count(gab_world_members(world)); }

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
    report->imbalance = (double)heaviest * member_count(homes->world) / (double)homes->weight;
  return GAB_OK;
}

static gab_status place_roots(gab_forest *forest, gab_homes *homes, gab_balance_report *report)
{
  int32_t members = member_count(homes->world);
  GAB_TRY(gab_homes_survey(homes));
  GAB_TRY(gab_homes_cut(homes, members, false));
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
  gab_homes_init(&homes, gab_forest_world(forest), gab_forest_get_options(forest), curve);
  gab_status status = place_roots(forest, &homes, report);
  gab_homes_release(&homes);
  return status;
}

/* The blocks of this process, in arrays of its own. */
typedef struct local_blocks {
  size_t count;
  void *ids, *weights, *parts;
} local_blocks;

static gab_status list_blocks(const gab_forest *forest, const uint64_t *weights, local_blocks *local)
{
  local->count = gab_forest_block_count(forest);
  GAB_TRY(gab_alloc(local->count * sizeof(gab_block_id), GAB_MEMORY_OTHER, &local->ids));
  GAB_TRY(gab_alloc(local->count * sizeof(uint64_t), GAB_MEMORY_OTHER, &local->weights));
  GAB_TRY(gab_alloc(local->count * sizeof(int32_t), GAB_MEMORY_OTHER, &local->parts));
  gab_block_id *ids = local->ids;
  uint64_t *used = local->weights;
  for (size_t i = 0; i < local->count; ++i) {
    ids[i] = gab_block_get_id(gab_forest_block(forest, i));
    used[i] = weights ? weights[i] : gab_forest_block_weight(forest, ids[i]);
  }
  return GAB_OK;
}

static gab_status place_blocks(gab_forest *forest, gab_homes *homes, local_blocks *local,
                               gab_balance_report *report)
{
  GAB_TRY(gab_homes_register(homes, local->ids, local->weights, local->count));
  GAB_TRY(gab_homes_cut(homes, member_count(homes->world), false));
  GAB_TRY(gab_homes_ask(homes, local->ids, local->count, local->parts));
  uint64_t moved = 0;
  gab_slot *targets = local->parts; /* slots are made of parts in place */
  for (size_t i = 0; i < local->count; ++i) {
    targets[i] = gab_members_slot(gab_world_members(homes->world), targets[i]);
    moved += targets[i] != gab_world_slot(homes->world);
  }
  GAB_TRY(gab_forest_migrate(forest, targets));
  return make_report(homes, moved, report);
}

gab_status gab_balance_curve(gab_forest *forest, const gab_curve *curve, const uint64_t *weights,
                             gab_balance_report *report)
{
  local_blocks local = {0};
  gab_homes homes;
  gab_homes_init(&homes, gab_forest_world(forest), gab_forest_get_options(forest), curve);
  gab_status status = list_blocks(forest, weights, &local);
  if (status == GAB_OK) status = place_blocks(forest, &homes, &local, report);
  gab_homes_release(&homes);
  gab_free(&local.ids);
  gab_free(&local.weights);
  gab_free(&local.parts);
  return status;
}
