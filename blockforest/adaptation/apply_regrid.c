/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilds the forest according to its proxies. The new owner of a block requests data from the present owners (crystal
 * router), which send packed blocks, once to each requesting rank. A received or local block becomes a block of the new
 * grid, its children, or a part of its parent. Blocks that stay are not touched.
 *
 * A packed parent is no larger than a packed child, since blocks have the same number of cells on each level. So the
 * parent is sent and split on the rank of its children; local parents are split in place.
 *
 * Order, with regard to memory: local merges first, then migration (sent blocks are destroyed before received ones
 * are created), then local splits, block by block. Each thread holds one received block that only serves as a source
 * at a time. Local siblings merge together, since none of them can be freed before the parent exists. */
#include "blockforest/adaptation/apply_regrid_impl.h"

#include "blockforest/migration/forest_transport_impl.h"
#include "blockforest/forest/tasks_impl.h"
#include "core/messages/collective.h"
#include "core/base/lower_bound_impl.h"

#include <stdlib.h>

/* Remaining uses of a block of the old grid. */
typedef struct old_block {
  uint32_t sends; /* number of ranks that need it */
  bool local;     /* needed by this rank */
} old_block;

typedef struct following {
  gab_forest *forest;
  gab_proxies *proxies;
  gab_block **fresh; /* block of each proxy; NULL until it is created */
  size_t count;
  old_block *old; /* per block of the forest */
  gab_leaver *leaving;
  size_t leaving_count;
  size_t most_bytes; /* maximum memory */
} following;

/* A block whose data is needed, and its owner. */
typedef struct request {
  gab_rank source;
  gab_block_id id;
} request;

/* Use of a block of the old grid. */
typedef enum destiny { DESTINY_NONE, DESTINY_SAME, DESTINY_SPLIT, DESTINY_MERGE } destiny;

/* One source of data. */
typedef struct source {
  gab_block_id result; /* sources of one result are used one after another, by one thread */
  gab_block_id id;
  size_t index;       /* index of a local block */
  gab_record *record; /* or a received block */
} source;

static void note_memory(following *all)
{
  size_t now = gab_memory_now(GAB_MEMORY_USE_COUNT);
#pragma omp critical(gab_regrid_memory)
  if (now > all->most_bytes) all->most_bytes = now;
}

static gab_rank myself(const following *all) { return gab_world_rank(all->forest->world); }

/* @return the index of the local proxy `id`, or the number of proxies */
static size_t find_proxy(const following *all, gab_block_id id)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, all->count, i, gab_proxies_get(all->proxies, i)->id < id);
  return at < all->count && gab_proxies_get(all->proxies, at)->id == id ? at : all->count;
}

/* @return the index of the local proxy `id` if its data has that origin, or the number of proxies */
static size_t find_result(const following *all, gab_block_id id, gab_origin origin)
{
  size_t index = id == GAB_NO_BLOCK ? all->count : find_proxy(all, id);
  if (index < all->count && gab_proxies_get(all->proxies, index)->origin != origin) return all->count;
  return index;
}

/* ------------------------------------------------------------------ requests */

static size_t list_requests(const following *all, const gab_proxy *proxy, request *list)
{
  const gab_root_grid *grid = &all->forest->options.grid;
  const int children = gab_topology_child_count(&all->forest->topology);
  size_t count = 0;
  switch (proxy->origin) {
  case GAB_ORIGIN_NONE:
    break;
  case GAB_ORIGIN_SELF:
    list[count++] = (request){proxy->sources[0], proxy->id};
    break;
  case GAB_ORIGIN_PARENT:
    list[count++] = (request){proxy->sources[0], gab_block_id_parent(grid, proxy->id)};
    break;
  case GAB_ORIGIN_CHILDREN:
    for (int c = 0; c < children; c++)
      if (proxy->sources[c] != GAB_NO_RANK)
        list[count++] = (request){proxy->sources[c], gab_block_id_child(grid, proxy->id, c)};
    break;
  }
  return count;
}

static int by_source_and_id(const void *a, const void *b)
{
  const request *left = a, *right = b;
  if (left->source != right->source) return left->source < right->source ? -1 : 1;
  return (left->id > right->id) - (left->id < right->id);
}

/* @param[out] requests ascending by source, then id, without duplicates; owned by the caller */
static gab_status collect_requests(const following *all, request **requests, size_t *count)
{
  request some[GAB_CHILDREN_MAX];
  size_t total = 0, kept = 0;
  for (size_t i = 0; i < all->count; i++) total += list_requests(all, gab_proxies_get(all->proxies, i), some);
  GAB_TRY(GAB_NEW_ARRAY(requests, total, GAB_MEMORY_OTHER));
  total = 0;
  for (size_t i = 0; i < all->count; i++)
    total += list_requests(all, gab_proxies_get(all->proxies, i), *requests + total);
  if (total > 1) qsort(*requests, total, sizeof(request), by_source_and_id);
  for (size_t i = 0; i < total; i++)
    if (kept == 0 || by_source_and_id(&(*requests)[kept - 1], &(*requests)[i]) != 0)
      (*requests)[kept++] = (*requests)[i];
  *count = kept;
  return GAB_OK;
}

/* @return the index of a local block of the old grid */
static gab_status find_old(const following *all, gab_block_id id, gab_rank asking, size_t *index)
{
  const gab_forest *forest = all->forest;
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, forest->block_count, i, forest->blocks[i]->id < id);
  if (at == forest->block_count || forest->blocks[at]->id != id)
    GAB_FAIL(GAB_ERR_STATE,
             "rank %" GAB_PRI_RANK " wants the data of block " GAB_PRI_BLOCK
             ", which is not on rank %" GAB_PRI_RANK,
             asking, id, myself(all));
  *index = at;
  return GAB_OK;
}

static gab_status read_requests(following *all, const gab_buffer *received, size_t count)
{
  gab_reader in = gab_reader_of_buffer(received);
  GAB_TRY(GAB_NEW_ARRAY(&all->leaving, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    gab_leaver *leaver = &all->leaving[all->leaving_count];
    gab_block_id id;
    GAB_TRY(gab_get_i32(&in, &leaver->target));
    GAB_TRY(gab_get_bytes(&in, &id, sizeof id));
    GAB_TRY(find_old(all, id, leaver->target, &leaver->index));
    all->old[leaver->index].sends++;
    all->leaving_count++;
  }
  return GAB_OK;
}

static gab_status note_local(following *all, const request *requests, size_t count)
{
  const gab_members *members = gab_world_members(all->forest->world);
  for (size_t i = 0; i < count; i++) {
    size_t index;
    if (!gab_members_has(members, requests[i].source))
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "block " GAB_PRI_BLOCK " is to come from rank %" GAB_PRI_RANK ", which is not there",
               requests[i].id, requests[i].source);
    if (requests[i].source != myself(all)) continue;
    GAB_TRY(find_old(all, requests[i].id, myself(all), &index));
    all->old[index].local = true;
  }
  return GAB_OK;
}

static gab_status ask(following *all, const request *requests, size_t count)
{
  void *memory;
  GAB_TRY(gab_alloc(count * (sizeof(gab_block_id) + sizeof(gab_rank)), GAB_MEMORY_OTHER, &memory));
  gab_block_id *items = memory;
  gab_rank *targets = (gab_rank *)(items + count);
  size_t remote = 0;
  for (size_t i = 0; i < count; i++)
    if (requests[i].source != myself(all)) {
      items[remote] = requests[i].id;
      targets[remote++] = requests[i].source;
    }
  gab_buffer received;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  size_t asked = 0;
  gab_status status =
      gab_world_route(all->forest->world, items, targets, remote, sizeof *items, &received, &asked);
  if (status == GAB_OK) status = read_requests(all, &received, asked);
  gab_buffer_release(&received);
  gab_free(&memory);
  return status;
}

/* Determines the uses of each block of the old grid. */
static gab_status plan(following *all)
{
  request *requests = NULL;
  size_t count = 0;
  GAB_TRY(GAB_NEW_ARRAY(&all->fresh, all->count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&all->old, all->forest->block_count, GAB_MEMORY_OTHER));
  gab_status status = collect_requests(all, &requests, &count);
  if (status == GAB_OK) status = note_local(all, requests, count);
  if (status == GAB_OK) status = ask(all, requests, count);
  gab_free(&requests);
  return status;
}

/* ------------------------------------------------------------------ blocks of the new grid */

static gab_status set_table(gab_block *block, const gab_proxy *proxy)
{
  block->neighbour_count = 0;
  for (size_t i = 0; i < proxy->neighbour_count; i++)
    GAB_TRY(gab_block_add_neighbour(block, proxy->neighbours[i]));
  return GAB_OK;
}

static bool is_partial(const following *all, const gab_proxy *proxy)
{
  if (proxy->origin != GAB_ORIGIN_CHILDREN) return false;
  for (int c = 0; c < gab_topology_child_count(&all->forest->topology); c++)
    if (proxy->sources[c] == GAB_NO_RANK) return true;
  return false;
}

/* Creates the block of a proxy, without its data. */
static gab_status make_fresh(following *all, size_t index)
{
  const gab_proxy *proxy = gab_proxies_get(all->proxies, index);
  GAB_TRY(gab_block_make(all->forest, proxy->id, &all->fresh[index]));
  return set_table(all->fresh[index], proxy);
}

/* The same with data. Parts without a source get initial values. */
static gab_status make_fresh_data(following *all, size_t index)
{
  const gab_proxy *proxy = gab_proxies_get(all->proxies, index);
  if (all->fresh[index]) return GAB_OK;
  GAB_TRY(make_fresh(all, index));
  GAB_TRY(gab_block_make_data(all->forest, all->fresh[index]));
  if (proxy->origin == GAB_ORIGIN_NONE || is_partial(all, proxy))
    GAB_TRY(gab_block_initialise(all->forest, all->fresh[index]));
  return GAB_OK;
}

static gab_status split(following *all, const gab_block *parent)
{
  const gab_forest *forest = all->forest;
  const gab_block *children[GAB_CHILDREN_MAX] = {NULL};
  for (int c = 0; c < gab_topology_child_count(&forest->topology); c++) {
    size_t index =
        find_result(all, gab_block_id_child(&forest->options.grid, parent->id, c), GAB_ORIGIN_PARENT);
    if (index == all->count) continue;
    GAB_TRY(make_fresh_data(all, index));
    children[c] = all->fresh[index];
  }
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    void *data[GAB_CHILDREN_MAX] = {NULL};
    if (!gab_kind_is_stored(kind)) continue;
    for (int c = 0; c < GAB_CHILDREN_MAX; c++)
      if (children[c]) data[c] = children[c]->data[k];
    GAB_TRY(kind->split(kind->user, forest, parent, parent->data[k], children, data));
  }
  return GAB_OK;
}

/* @param[in] siblings one entry per child of the parent; NULL for missing ones */
static gab_status merge(following *all, const gab_block *const *siblings, size_t index)
{
  const gab_forest *forest = all->forest;
  GAB_TRY(make_fresh_data(all, index));
  const gab_block *parent = all->fresh[index];
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    const void *data[GAB_CHILDREN_MAX] = {NULL};
    if (!gab_kind_is_stored(kind)) continue;
    for (int c = 0; c < GAB_CHILDREN_MAX; c++)
      if (siblings[c]) data[c] = siblings[c]->data[k];
    GAB_TRY(kind->merge(kind->user, forest, siblings, data, parent, parent->data[k]));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------ conversion */

/* @param[out] index of the proxy of the same block, or of its parent */
static destiny destiny_of(const following *all, gab_block_id id, size_t *index)
{
  const gab_root_grid *grid = &all->forest->options.grid;
  *index = find_result(all, id, GAB_ORIGIN_SELF);
  if (*index < all->count) return DESTINY_SAME;
  *index = find_result(all, gab_block_id_parent(grid, id), GAB_ORIGIN_CHILDREN);
  if (*index < all->count) return DESTINY_MERGE;
  for (int c = 0; c < gab_topology_child_count(&all->forest->topology); c++)
    if (find_result(all, gab_block_id_child(grid, id, c), GAB_ORIGIN_PARENT) < all->count)
      return DESTINY_SPLIT;
  return DESTINY_NONE;
}

static int which_child(const following *all, gab_block_id id)
{
  return (int)(id & (gab_block_id)(gab_topology_child_count(&all->forest->topology) - 1));
}

/* @param[in] blocks  one, or several that merge into the same parent */
static gab_status convert(following *all, const gab_block *const *blocks, size_t count)
{
  size_t index;
  const gab_block *siblings[GAB_CHILDREN_MAX] = {NULL};
  switch (destiny_of(all, blocks[0]->id, &index)) {
  case DESTINY_SPLIT:
    return split(all, blocks[0]);
  case DESTINY_MERGE:
    for (size_t i = 0; i < count; i++) siblings[which_child(all, blocks[i]->id)] = blocks[i];
    return merge(all, siblings, index);
  case DESTINY_SAME:
  case DESTINY_NONE:
    break;
  }
  GAB_FAIL(GAB_ERR_STATE, "nothing of the new grid is made of block " GAB_PRI_BLOCK, blocks[0]->id);
}

static void drop_unneeded(following *all, size_t index)
{
  if (all->old[index].sends == 0 && !all->old[index].local)
    gab_block_unmake(all->forest, &all->forest->blocks[index]);
}

static gab_status use_arrived(following *all, gab_record *record)
{
  size_t index;
  if (destiny_of(all, record->id, &index) == DESTINY_SAME) {
    if (all->fresh[index]) GAB_FAIL(GAB_ERR_CORRUPT, "block " GAB_PRI_BLOCK " arrives twice", record->id);
    GAB_TRY(make_fresh(all, index));
    record->block = all->fresh[index];
    record->has_table = true;
    gab_status status = gab_record_realise(all->forest, record, NULL, NULL);
    record->block = NULL; /* it belongs to `fresh` */
    return status;
  }
  GAB_TRY(gab_record_realise(all->forest, record, NULL, NULL));
  const gab_block *arrived = record->block;
  GAB_TRY(convert(all, &arrived, 1));
  note_memory(all);
  gab_block_unmake(all->forest, &record->block);
  return GAB_OK;
}

/* Sources of one result. */
static gab_status use_local(following *all, const source *sources, size_t count)
{
  const gab_block *blocks[GAB_CHILDREN_MAX];
  for (size_t i = 0; i < count; i++) blocks[i] = all->forest->blocks[sources[i].index];
  GAB_TRY(convert(all, blocks, count));
  note_memory(all);
  for (size_t i = 0; i < count; i++) {
    all->old[sources[i].index].local = false;
    drop_unneeded(all, sources[i].index);
  }
  return GAB_OK;
}

typedef struct batch {
  following *all;
  source *sources;
  size_t *starts; /* start of the sources of each result, and the end */
} batch;

/* All local sources of a result together, so that a merge can process siblings that are adjacent in memory. */
static gab_status use_group(void *context, size_t group)
{
  const batch *job = context;
  const source *first = &job->sources[job->starts[group]], *end = &job->sources[job->starts[group + 1]];
  if (!first->record) return use_local(job->all, first, (size_t)(end - first));
  for (const source *from = first; from < end; from++) GAB_TRY(use_arrived(job->all, from->record));
  return GAB_OK;
}

/* Announces the next blocks to the kinds of data; omitted if there is no memory for the list. */
typedef struct expected {
  const following *all;
  gab_block_id *ids; /* owned */
  size_t count;
} expected;

static void note_expected(expected *list, size_t index)
{
  void *memory = list->ids;
  if (index == list->all->count || list->all->fresh[index]) return;
  if (gab_list_reserve(&memory, list->count, sizeof *list->ids) != GAB_OK) {
    gab_error_clear();
    return;
  }
  list->ids = memory;
  list->ids[list->count++] = gab_proxies_get(list->all->proxies, index)->id;
}

/* Adds the local blocks that derive from a source. */
static void expect_results(expected *list, gab_block_id id)
{
  const gab_forest *forest = list->all->forest;
  size_t index;
  const destiny which = destiny_of(list->all, id, &index);
  if (which != DESTINY_SPLIT) note_expected(list, index);
  for (int c = 0; which == DESTINY_SPLIT && c < gab_topology_child_count(&forest->topology); c++)
    note_expected(
        list, find_result(list->all, gab_block_id_child(&forest->options.grid, id, c), GAB_ORIGIN_PARENT));
}

/* Runs the tasks that create them. */
static gab_status run_expected(expected *list, size_t count, gab_task task, void *context)
{
  const gab_forest *forest = list->all->forest;
  const bool are_many = list->count > 0;
  if (are_many) gab_forest_expect(forest, list->ids, list->count);
  gab_free(&list->ids);
  const gab_status status = gab_tasks_run(count, task, context);
  if (are_many) gab_forest_expect(forest, NULL, 0);
  return status;
}

static int by_result(const void *a, const void *b)
{
  const source *left = a, *right = b;
  if (left->result != right->result) return left->result < right->result ? -1 : 1;
  return (left->id > right->id) - (left->id < right->id);
}

static gab_status use_sources(following *all, source *sources, size_t count)
{
  size_t *starts;
  size_t groups = 0;
  expected list = {.all = all};
  for (size_t i = 0; i < count; i++) {
    size_t index;
    bool merges = destiny_of(all, sources[i].id, &index) == DESTINY_MERGE;
    sources[i].result = merges ? gab_proxies_get(all->proxies, index)->id : sources[i].id;
  }
  if (count > 1) qsort(sources, count, sizeof *sources, by_result);
  GAB_TRY(GAB_NEW_ARRAY(&starts, count + 1, GAB_MEMORY_OTHER));
  batch job = {all, sources, starts};
  for (size_t i = 0; i < count; i++)
    if (i == 0 || sources[i].result != sources[i - 1].result) job.starts[groups++] = i;
  job.starts[groups] = count;
  for (size_t group = 0; group < groups; group++) expect_results(&list, sources[job.starts[group]].id);
  gab_status status = run_expected(&list, groups, use_group, &job);
  gab_free(&starts);
  return status;
}

static gab_status take_records(void *context, gab_record *records, size_t count)
{
  following *all = context;
  note_memory(all);
  source *sources;
  GAB_TRY(GAB_NEW_ARRAY(&sources, count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) sources[i] = (source){.id = records[i].id, .record = &records[i]};
  gab_status status = use_sources(all, sources, count);
  for (size_t i = 0; i < count; i++) gab_block_unmake(all->forest, &records[i].block); /* after a failure */
  gab_free(&sources);
  return status;
}

static void note_sent(void *context, size_t index)
{
  following *all = context;
  note_memory(all); /* including messages and sent data */
  all->old[index].sends--;
  drop_unneeded(all, index);
}

/* Uses the local blocks of one destiny. */
static gab_status use_blocks_here(following *all, destiny which)
{
  size_t count = 0, index;
  source *sources;
  GAB_TRY(GAB_NEW_ARRAY(&sources, all->forest->block_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < all->forest->block_count; i++)
    if (all->old[i].local && destiny_of(all, all->forest->blocks[i]->id, &index) == which)
      sources[count++] = (source){.id = all->forest->blocks[i]->id, .index = i};
  gab_status status = use_sources(all, sources, count);
  gab_free(&sources);
  return status;
}

static gab_status make_new(void *context, size_t index)
{
  following *all = context;
  bool is_new = gab_proxies_get(all->proxies, index)->origin == GAB_ORIGIN_NONE;
  return is_new ? make_fresh_data(all, index) : GAB_OK;
}

static gab_status make_all_new(following *all)
{
  expected list = {.all = all};
  for (size_t i = 0; i < all->count; i++)
    if (gab_proxies_get(all->proxies, i)->origin == GAB_ORIGIN_NONE) note_expected(&list, i);
  return run_expected(&list, all->count, make_new, all);
}

static gab_status move_data(following *all, gab_regrid_report *report)
{
  gab_forest *forest = all->forest;
  gab_transport transport = {.forest = forest, .context = all, .sent = note_sent, .take = take_records};
  GAB_TRY(plan(all));
  for (size_t i = 0; i < forest->block_count; i++) drop_unneeded(all, i);
  note_memory(all);
  GAB_TRY(use_blocks_here(all, DESTINY_MERGE));
  GAB_TRY(gab_transport_run(&transport, all->leaving, all->leaving_count));
  report->sent_bytes = transport.sent_bytes;
  GAB_TRY(use_blocks_here(all, DESTINY_SPLIT));
  return make_all_new(all);
}

/* ------------------------------------------------------------------ the forest */

/* Blocks that stay get new tables and a new position in the list. */
static gab_status rebuild(following *all)
{
  gab_forest *forest = all->forest;
  for (size_t i = 0; i < forest->block_count; i++) {
    if (!forest->blocks[i]) continue;
    size_t index = find_result(all, forest->blocks[i]->id, GAB_ORIGIN_SELF);
    if (index == all->count || all->fresh[index])
      GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " is left over", forest->blocks[i]->id);
    GAB_TRY(set_table(forest->blocks[i], gab_proxies_get(all->proxies, index)));
    all->fresh[index] = forest->blocks[i];
    forest->blocks[i] = NULL;
  }
  for (size_t i = 0; i < all->count; i++)
    if (!all->fresh[i])
      GAB_FAIL(GAB_ERR_STATE, "nobody had the data of block " GAB_PRI_BLOCK,
               gab_proxies_get(all->proxies, i)->id);
  gab_forest_adopt(forest, all->fresh, all->count);
  all->fresh = NULL;
  return GAB_OK;
}

/* After a failure: the forest keeps all existing blocks, to avoid leaks, until it is restored. */
static void keep_remains(following *all)
{
  gab_forest *forest = all->forest;
  size_t old = forest->block_count, made = all->fresh ? all->count : 0;
  void *memory = forest->blocks;
  if (gab_realloc((old + made) * sizeof(gab_block *), GAB_MEMORY_OTHER, &memory) != GAB_OK) {
    for (size_t i = 0; i < made; i++) gab_block_unmake(forest, &all->fresh[i]);
    made = 0;
  }
  gab_block **together = memory;
  forest->blocks = NULL;
  for (size_t i = 0; i < made; i++) together[old + i] = all->fresh[i];
  gab_forest_adopt(forest, together, old + made);
}

typedef struct survey {
  uint64_t splits, merges, changes, borders; /* borders between levels, afterwards */
} survey;

static bool has_border(const following *all, const gab_proxy *proxy)
{
  for (size_t r = 0; r < proxy->neighbour_count; r++)
    if (gab_proxies_level(all->proxies, proxy->neighbours[r].id) !=
        gab_proxies_level(all->proxies, proxy->id))
      return true;
  return false;
}

/* Determines the kinds of changes over all processes. */
static gab_status look_around(const following *all, survey *found)
{
  *found = (survey){.changes = all->count != all->forest->block_count};
  for (size_t i = 0; i < all->count; i++) {
    const gab_proxy *proxy = gab_proxies_get(all->proxies, i);
    if (proxy->origin == GAB_ORIGIN_PARENT) found->splits = 1;
    if (proxy->origin == GAB_ORIGIN_CHILDREN) found->merges = 1;
    if (!found->borders && has_border(all, proxy)) found->borders = 1;
    if (proxy->origin != GAB_ORIGIN_SELF || proxy->sources[0] != myself(all)) found->changes = 1;
  }
  return gab_world_max_u64(all->forest->world, &found->splits, sizeof *found / sizeof found->splits);
}

static gab_status check_possible(const gab_forest *forest, const survey *found)
{
  if (found->splits || found->merges) GAB_TRY(gab_forest_check_even(forest));
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    if (!gab_kind_is_stored(kind)) continue;
    if (found->splits && !kind->split)
      GAB_FAIL(GAB_ERR_STATE, "blocks cannot be refined: there is no way to split their data `%s'",
               kind->name);
    if (found->merges && !kind->merge)
      GAB_FAIL(GAB_ERR_STATE, "blocks cannot be coarsened: there is no way to merge their data `%s'",
               kind->name);
  }
  return GAB_OK;
}

static gab_status change_forest(following *all, gab_regrid_report *report)
{
  gab_forest *forest = all->forest;
  size_t before = gab_memory_now(GAB_MEMORY_USE_COUNT);
  gab_memory_hold(true); /* new blocks reuse the memory of destroyed ones */
  forest->torn = true;
  forest->revision++;
  gab_status status = move_data(all, report);
  if (status == GAB_OK) {
    gab_world_enter(forest->world, GAB_FAULT_POINT_ADAPT_REBUILD);
    status = rebuild(all);
  }
  if (status != GAB_OK) {
    status = gab_forest_abandon(forest, status);
    keep_remains(all);
  }
  gab_free(&all->fresh);
  gab_free(&all->old);
  gab_free(&all->leaving);
  gab_memory_hold(false);
  size_t after = gab_memory_now(GAB_MEMORY_USE_COUNT), blocks = before > after ? before : after;
  report->peak_bytes = all->most_bytes > blocks ? all->most_bytes - blocks : 0;
  if (status == GAB_OK) forest->torn = false;
  return status;
}

gab_status gab_forest_apply_regrid_counted(gab_forest *forest, gab_proxies **proxies,
                                           gab_regrid_report *report)
{
  following all = {.forest = forest, .proxies = *proxies, .count = gab_proxies_count(*proxies)};
  survey found = {0};
  gab_status status = gab_world_check(forest->world);
  *report = (gab_regrid_report){0};
  if (status == GAB_OK && forest->torn)
    status = gab_error_set(GAB_ERR_STATE, __FILE__, __LINE__,
                           "a migration or adaptation of this forest failed; restore it first");
  if (status == GAB_OK) {
    gab_world_enter(forest->world, GAB_FAULT_POINT_ADAPT_MIGRATE);
    status = look_around(&all, &found);
  }
  if (status == GAB_OK) status = check_possible(forest, &found);
  if (status == GAB_OK && found.changes) status = change_forest(&all, report);
  if (status == GAB_OK) forest->borders = found.borders ? GAB_BORDERS_SOMEWHERE : GAB_BORDERS_NONE;
  gab_proxies_destroy(proxies);
  return status;
}

gab_status gab_forest_apply_regrid(gab_forest *forest, gab_proxies **proxies)
{
  gab_regrid_report report;
  return gab_forest_apply_regrid_counted(forest, proxies, &report);
}
