/* The first blocks of a forest of one level, and the question who their neighbours are. */
#include "blockforest/forest_impl.h"
#include "blockforest/tasks_impl.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
  gab_block_id left = *(const gab_block_id *)a, right = *(const gab_block_id *)b;
  return (left > right) - (left < right);
}

static size_t sort_unique(gab_block_id *ids, size_t count)
{
  if (count > 1) qsort(ids, count, sizeof *ids, ascending);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i)
    if (kept == 0 || ids[kept - 1] != ids[i]) ids[kept++] = ids[i];
  return kept;
}

static gab_status make_blocks(gab_forest *forest, const gab_block_id *ids, size_t count)
{
  void *memory;
  GAB_TRY(gab_alloc(count * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory));
  gab_block **blocks = memory;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < count && status == GAB_OK; ++i) {
    if (gab_block_id_is_valid(&forest->options.grid, ids[i]))
      status = gab_block_make(forest, ids[i], &blocks[i]);
    else
      status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "impossible block " GAB_PRI_BLOCK, ids[i]);
  }
  gab_forest_adopt(forest, blocks, count);
  for (size_t i = 1; i < forest->block_count && status == GAB_OK; ++i)
    if (forest->blocks[i]->id == forest->blocks[i - 1]->id)
      status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "block " GAB_PRI_BLOCK " is given twice",
                             forest->blocks[i]->id);
    else if (gab_block_level(forest, forest->blocks[i]) != gab_block_level(forest, forest->blocks[0]))
      status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                             "block " GAB_PRI_BLOCK " is of another level than " GAB_PRI_BLOCK
                             ": such a forest is built, not populated",
                             forest->blocks[i]->id, forest->blocks[0]->id);
  return status;
}

/* The places around the local blocks that are not local themselves, ascending. */
static gab_status collect_foreign(const gab_forest *forest, gab_block_id **ids, size_t *count)
{
  void *memory;
  *count = 0;
  GAB_TRY(gab_alloc(forest->block_count * (GAB_DIRECTIONS - 1) * sizeof **ids, GAB_MEMORY_OTHER, &memory));
  *ids = memory;
  for (size_t i = 0; i < forest->block_count; ++i)
    for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
      gab_block_id next = gab_topology_next_to(&forest->topology, forest->blocks[i]->id, direction);
      if (next != GAB_NO_BLOCK && !gab_forest_find(forest, next)) (*ids)[(*count)++] = next;
    }
  *count = sort_unique(*ids, *count);
  return GAB_OK;
}

static gab_status fill_tables(gab_forest *forest, const gab_block_id *ids, const gab_slot *owners,
                              size_t count)
{
  gab_slot me = gab_world_slot(forest->world);
  for (size_t i = 0; i < forest->block_count; ++i)
    for (int direction = 0; direction < GAB_DIRECTIONS; ++direction) {
      gab_block_id next = gab_topology_next_to(&forest->topology, forest->blocks[i]->id, direction);
      if (next == GAB_NO_BLOCK) continue;
      const gab_block_id *found = count > 0 ? bsearch(&next, ids, count, sizeof next, ascending) : NULL;
      gab_slot owner = found ? owners[found - ids] : me;
      if (owner == GAB_NO_SLOT) continue;
      gab_neighbour row = {.id = next, .owner = owner, .direction = (int8_t)direction};
      GAB_TRY(gab_block_add_neighbour(forest->blocks[i], row));
    }
  return GAB_OK;
}

static gab_status make_tables(gab_forest *forest, gab_owner_lookup lookup, void *context)
{
  gab_block_id *ids = NULL;
  gab_slot *owners = NULL;
  size_t count;
  void *memory;
  gab_status status = collect_foreign(forest, &ids, &count);
  if (status != GAB_OK) return status;
  GAB_TRY_GOTO(status, out, gab_alloc(count * sizeof *owners, GAB_MEMORY_OTHER, &memory));
  owners = memory;
  GAB_TRY_GOTO(status, out, lookup(context, ids, count, owners));
  status = fill_tables(forest, ids, owners, count);
out:
  gab_free(&ids);
  gab_free(&owners);
  return status;
}

static gab_status make_data(void *context, size_t index)
{
  gab_forest *forest = context;
  GAB_TRY(gab_block_make_data(forest, forest->blocks[index]));
  return gab_block_initialise(forest, forest->blocks[index]);
}

gab_status gab_forest_populate(gab_forest *forest, const gab_block_id *ids, size_t count,
                               gab_owner_lookup lookup, void *context)
{
  if (forest->block_count > 0) GAB_FAIL(GAB_ERR_STATE, "the forest has blocks already");
  GAB_TRY(gab_world_check(forest->world));
  gab_status status = make_blocks(forest, ids, count);
  if (status == GAB_OK) status = make_tables(forest, lookup, context);
  if (status == GAB_OK) status = gab_tasks_run(forest->block_count, make_data, forest);
  if (status != GAB_OK) gab_forest_clear(forest);
  return status;
}
