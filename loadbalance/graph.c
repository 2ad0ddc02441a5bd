/* SPDX-License-Identifier: Apache-2.0 */
/* Graph partitioning: the root gathers the graph of all blocks and partitions it with METIS (Karypis & Kumar 1998, k-way, one
 * constraint per level). Diffusion on the gathered graph corrects parts that METIS leaves uneven or empty. Vertices are in the
 * order of ids and the seed is fixed, so the result does not depend on former owners. */
#include "core/messages/collective.h"
#include "loadbalance/diffusion_impl.h"

#ifdef GAB_HAVE_METIS
#include <metis.h>
#include <stdlib.h>
#include <string.h>

/* Blocks per part, counted as multiples of the heaviest. With very few of them per part, METIS runs out of blocks while
 * coarsening, so below the first number the order of ids (along the Morton curve) is divided instead; likewise if METIS
 * fails. Several constraints need more blocks. (METIS 5.1.0 crashes if a link has different weights on its two sides, see
 * make_symmetric(), not on small graphs as such.) */
enum { LEAST_PER_PART = 4, MANY_PER_PART = 40 };

/* ------------------------------------------------------------------ gathering */

static gab_status pack_local(gab_proxies *proxies, gab_buffer *out)
{
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    GAB_TRY(gab_put_u64(out, proxy->id));
    GAB_TRY(gab_put_u64(out, gab_balance_weight(proxy)));
    GAB_TRY(gab_put_u64(out, proxy->neighbour_count));
    for (size_t k = 0; k < proxy->neighbour_count; k++) {
      GAB_TRY(gab_put_u64(out, proxy->neighbours[k].id));
      GAB_TRY(gab_put_u64(out, gab_balance_contact(gab_proxies_options(proxies), &proxy->neighbours[k])));
    }
  }
  return GAB_OK;
}

/* A block and the begin of its rows in the gathered bytes. */
typedef struct gathered {
  gab_block_id id;
  uint64_t weight;
  gab_rank owner;
  size_t rows, row_count;
} gathered;

typedef struct collection {
  gab_buffer bytes; /* rows: id, contact */
  gathered *blocks;
  size_t count, capacity, links;
} collection;

static gab_status take_block(collection *all, gab_rank from, gab_reader *in)
{
  if (all->count == all->capacity) {
    size_t capacity = all->capacity ? 2 * all->capacity : 256;
    GAB_TRY(GAB_RESIZE_ARRAY(&all->blocks, capacity, GAB_MEMORY_OTHER));
    all->capacity = capacity;
  }
  gathered *block = &all->blocks[all->count];
  gab_reader rows;
  *block = (gathered){.owner = from, .rows = all->bytes.size};
  GAB_TRY(gab_get_u64(in, &block->id));
  GAB_TRY(gab_get_u64(in, &block->weight));
  GAB_TRY(gab_get_count(in, 16, &block->row_count));
  GAB_TRY(gab_get_view(in, 16 * block->row_count, &rows));
  GAB_TRY(gab_put_bytes(&all->bytes, rows.at, 16 * block->row_count));
  all->links += block->row_count;
  all->count++;
  return GAB_OK;
}

static gab_status take_all(void *user, gab_rank from, gab_reader bytes)
{
  while (gab_reader_left(&bytes) > 0) GAB_TRY(take_block(user, from, &bytes));
  return GAB_OK;
}

static int by_id(const void *a, const void *b)
{
  const gathered *left = a, *right = b;
  return (left->id > right->id) - (left->id < right->id);
}

/* ------------------------------------------------------------------ as a graph */

static gab_status read_rows(gab_load_graph *graph, const collection *all, uint32_t v, size_t *at)
{
  const gathered *block = &all->blocks[v];
  gab_reader in = gab_reader_of(all->bytes.data + block->rows, 16 * block->row_count);
  graph->link_at[v] = *at;
  for (size_t k = 0; k < block->row_count; k++) {
    gathered wanted = {0};
    uint64_t contact;
    GAB_TRY(gab_get_u64(&in, &wanted.id));
    GAB_TRY(gab_get_u64(&in, &contact));
    const gathered *other = bsearch(&wanted, all->blocks, all->count, sizeof wanted, by_id);
    if (!other)
      GAB_FAIL(GAB_ERR_STATE, "nobody has block " GAB_PRI_BLOCK ", a neighbour of " GAB_PRI_BLOCK, wanted.id,
               block->id);
    if (other == block) continue;
    uint32_t least = contact < UINT32_MAX / 64 ? (uint32_t)contact : UINT32_MAX / 64;
    graph->links[(*at)++] = (gab_link){(uint32_t)(other - all->blocks), -1, least};
  }
  return GAB_OK;
}

static gab_status build_graph(gab_load_graph *graph, collection *all, const gab_root_grid *grid,
                              bool per_level)
{
  size_t at = 0;
  qsort(all->blocks, all->count, sizeof *all->blocks, by_id);
  GAB_TRY(gab_load_graph_make(graph, all->count, all->links));
  for (uint32_t v = 0; v < graph->count; v++) {
    graph->weight[v] = all->blocks[v].weight;
    graph->kind[v] = per_level ? (uint8_t)gab_block_id_level(grid, all->blocks[v].id) : 0;
    if (graph->kind[v] >= graph->classes) graph->classes = graph->kind[v] + 1;
    GAB_TRY(read_rows(graph, all, v, &at));
  }
  graph->link_at[graph->count] = at;
  return GAB_OK;
}

/* ------------------------------------------------------------------ METIS */

/* Input of METIS. */
typedef struct metis_graph {
  idx_t *start, *other, *contact, *weight, *part;
  idx_t constraints;
  real_t slack[GAB_BALANCE_LEVELS];
} metis_graph;

static gab_status make_indices(size_t count, idx_t **array)
{
  GAB_TRY(GAB_NEW_ARRAY(array, count, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static void release_metis(metis_graph *it)
{
  gab_free(&it->start);
  gab_free(&it->other);
  gab_free(&it->contact);
  gab_free(&it->weight);
  gab_free(&it->part);
}

/* METIS needs each pair of vertices once. */
static void merge_links(const gab_load_graph *graph, metis_graph *it)
{
  idx_t count = 0;
  for (uint32_t v = 0; v < graph->count; v++) {
    idx_t first = it->start[v] = count;
    for (size_t l = graph->link_at[v]; l < graph->link_at[v + 1]; l++) {
      idx_t at = first, other = (idx_t)graph->links[l].other;
      while (at < count && it->other[at] != other) at++;
      if (at == count) {
        it->other[count] = other;
        it->contact[count++] = 0;
      }
      int64_t sum = (int64_t)it->contact[at] + graph->links[l].contact;
      it->contact[at] = sum < 1 << 20 ? (idx_t)sum : 1 << 20; /* sums over parts must fit too */
    }
  }
  it->start[graph->count] = count;
}

/* The weight of the reverse link; NULL if there is none. */
static idx_t *way_back(metis_graph *it, idx_t from, idx_t link)
{
  const idx_t other = it->other[link];
  for (idx_t k = it->start[other]; k < it->start[other + 1]; k++)
    if (it->other[k] == from) return &it->contact[k];
  return NULL;
}

/* METIS also needs the same weight on both sides: otherwise it loses track of border vertices and writes beyond its arrays
 * (5.1.0, in CreateCoarseGraphNoMask). Of two blocks of different levels the finer one may have the other in more
 * directions. */
static gab_status make_symmetric(idx_t vertices, metis_graph *it)
{
  for (idx_t v = 0; v < vertices; v++)
    for (idx_t l = it->start[v]; l < it->start[v + 1]; l++) {
      idx_t *back = way_back(it, v, l);
      if (!back) GAB_FAIL(GAB_ERR_STATE, "a block does not know its neighbour");
      if (*back < it->contact[l]) *back = it->contact[l];
      else it->contact[l] = *back;
    }
  return GAB_OK;
}

/* Levels with many blocks per part have a separate constraint; if there are none, or one and other levels, the sum of all
 * levels is the only one. */
static int choose_constraints(const gab_load_graph *graph, const uint64_t *total, const uint64_t *heaviest,
                              idx_t *column)
{
  int own = 0;
  for (int c = 0; c < graph->classes; c++) {
    bool is_rich = total[c] > 0 && total[c] / heaviest[c] >= MANY_PER_PART * (uint64_t)graph->parts;
    column[c] = is_rich ? own++ : 0; /* levels with few blocks are added to the first */
  }
  if (own >= 2) return own;
  for (int c = 0; c < graph->classes; c++) column[c] = 0;
  return 1;
}

/* Weights are scaled to sums below 2^30. */
static void set_weights(const gab_load_graph *graph, double goal, metis_graph *it)
{
  uint64_t total[GAB_BALANCE_LEVELS] = {0}, heaviest[GAB_BALANCE_LEVELS] = {0};
  double sum[GAB_BALANCE_LEVELS] = {0};
  idx_t column[GAB_BALANCE_LEVELS] = {0};
  for (uint32_t v = 0; v < graph->count; v++) {
    total[graph->kind[v]] += graph->weight[v];
    if (graph->weight[v] > heaviest[graph->kind[v]]) heaviest[graph->kind[v]] = graph->weight[v];
  }
  it->constraints = choose_constraints(graph, total, heaviest, column);
  for (int c = 0; c < graph->classes; c++) sum[column[c]] += (double)total[c];
  for (idx_t k = 0; k < it->constraints; k++) it->slack[k] = (real_t)(goal > 1.05 ? goal : 1.05);
  for (uint32_t v = 0; v < graph->count; v++) {
    idx_t to = column[graph->kind[v]];
    double unit = sum[to] > 1 << 29 ? (double)(1 << 29) / sum[to] : 1;
    idx_t weight = (idx_t)((double)graph->weight[v] * unit);
    it->weight[v * (size_t)it->constraints + (size_t)to] = weight > 0 ? weight : 1;
  }
}

static void cut_order(gab_load_graph *graph)
{
  for (uint64_t v = 0; v < graph->count; v++)
    graph->part[v] = graph->next[v] = (int32_t)(v * (uint64_t)graph->parts / graph->count);
}

static void cut_by_metis(gab_load_graph *graph, metis_graph *it)
{
  idx_t vertices = (idx_t)graph->count, parts = graph->parts, cut, how[METIS_NOPTIONS];
  METIS_SetDefaultOptions(how);
  how[METIS_OPTION_SEED] = 1;
  how[METIS_OPTION_NUMBERING] = 0;
  int answer = METIS_PartGraphKway(&vertices, &it->constraints, it->start, it->other, it->weight, NULL,
                                   it->contact, &parts, NULL, it->slack, how, &cut, it->part);
  bool is_cut = answer == METIS_OK;
  for (uint32_t v = 0; v < graph->count && is_cut; v++) {
    is_cut = it->part[v] >= 0 && it->part[v] < parts;
    graph->part[v] = graph->next[v] = (int32_t)it->part[v];
  }
  if (!is_cut) cut_order(graph);
}

static gab_status run_metis(gab_load_graph *graph, double goal)
{
  metis_graph it = {0};
  gab_status status = make_indices(graph->count + 1, &it.start);
  size_t links = graph->link_at[graph->count];
  if (status == GAB_OK) status = make_indices(links, &it.other);
  if (status == GAB_OK) status = make_indices(links, &it.contact);
  if (status == GAB_OK) status = make_indices((size_t)graph->classes * graph->count, &it.weight);
  if (status == GAB_OK) status = make_indices(graph->count, &it.part);
  if (status == GAB_OK) {
    merge_links(graph, &it);
    set_weights(graph, goal, &it);
    status = make_symmetric((idx_t)graph->count, &it);
  }
  if (status == GAB_OK) cut_by_metis(graph, &it);
  release_metis(&it);
  return status;
}

/* ------------------------------------------------------------------ putting right */

/* A part that METIS left empty gets a block of the part with the largest number. */
static gab_status fill_empty(gab_load_graph *graph)
{
  uint32_t *blocks;
  GAB_TRY(GAB_NEW_ARRAY(&blocks, (size_t)graph->parts, GAB_MEMORY_OTHER));
  for (uint32_t v = 0; v < graph->count; v++) ++blocks[graph->part[v]];
  uint32_t next = 0;
  for (int32_t p = 0; p < graph->parts; p++) {
    if (blocks[p] > 0) continue;
    while (next < graph->count && blocks[graph->part[next]] < 2) next++;
    if (next == graph->count) break;
    --blocks[graph->part[next]];
    graph->part[next] = graph->next[next] = p;
    blocks[p] = 1;
  }
  gab_free(&blocks);
  return GAB_OK;
}

static bool is_rich_enough(const gab_load_graph *graph)
{
  uint64_t total = 0, heaviest = 1;
  for (uint32_t v = 0; v < graph->count; v++) {
    total += graph->weight[v];
    if (graph->weight[v] > heaviest) heaviest = graph->weight[v];
  }
  return graph->parts > 1 && total / heaviest >= LEAST_PER_PART * (uint64_t)graph->parts;
}

static gab_status cut_gathered(gab_load_graph *graph, collection *all, const gab_balance_options *options,
                               const gab_root_grid *grid, gab_balance_report *report, bool *even)
{
  GAB_TRY(build_graph(graph, all, grid, options->by == GAB_BALANCE_PER_LEVEL));
  if (is_rich_enough(graph)) GAB_TRY(run_metis(graph, options->goal));
  else cut_order(graph);
  GAB_TRY(fill_empty(graph));
  GAB_TRY(gab_load_graph_sort(graph));
  return gab_load_graph_even_out(graph, options, report, even);
}

/* ------------------------------------------------------------------ telling everyone */

typedef struct verdict {
  gab_block_id id;
  int64_t part;
} verdict;

static gab_status send_verdicts(gab_world *world, const gab_load_graph *graph, const collection *all,
                                gab_buffer *received, size_t *count)
{
  verdict *items = NULL;
  gab_rank *targets = NULL;
  GAB_TRY(GAB_NEW_ARRAY(&items, all->count, GAB_MEMORY_MESSAGE));
  gab_status status = GAB_NEW_ARRAY(&targets, all->count, GAB_MEMORY_MESSAGE);
  for (size_t v = 0; v < all->count && status == GAB_OK; v++) {
    items[v] = (verdict){all->blocks[v].id, graph->part[v]};
    targets[v] = all->blocks[v].owner;
  }
  if (status == GAB_OK)
    status = gab_world_route(world, items, targets, all->count, sizeof(verdict), received, count);
  gab_free(&items);
  gab_free(&targets);
  return status;
}

/* The root's items are in the order of ids, like the local proxies. */
static gab_status take_verdicts(gab_proxies *proxies, gab_reader in, size_t count, int32_t *part)
{
  if (count != gab_proxies_count(proxies))
    GAB_FAIL(GAB_ERR_STATE, "the root placed %zu of %zu blocks", count, gab_proxies_count(proxies));
  for (size_t i = 0; i < count; i++) {
    gab_rank root;
    verdict item;
    GAB_TRY(gab_get_i32(&in, &root));
    GAB_TRY(gab_get_bytes(&in, &item, sizeof item));
    if (item.id != gab_proxies_get(proxies, i)->id)
      GAB_FAIL(GAB_ERR_STATE, "the root speaks of block " GAB_PRI_BLOCK ", which is not here", item.id);
    part[i] = (int32_t)item.part;
  }
  return GAB_OK;
}

/* Informs all of a failure of the root, and whether the limit was reached. */
static gab_status settle(gab_world *world, gab_status status, bool *even)
{
  uint64_t worst[2] = {(uint64_t)status, !*even};
  gab_status told = status == GAB_ERR_FAULT ? status : gab_world_max_u64(world, worst, 2);
  if (status != GAB_OK) return status;
  GAB_TRY(told);
  if (worst[0] != GAB_OK) GAB_FAIL((gab_status)worst[0], "the root could not partition the graph of blocks");
  *even = worst[1] == 0;
  return GAB_OK;
}

static gab_status check_size(gab_proxies *proxies)
{
  uint64_t count = gab_proxies_count(proxies);
  GAB_TRY(gab_world_sum_u64(gab_proxies_world(proxies), &count, 1));
  if (count > GAB_GRAPH_MOST_BLOCKS)
    GAB_FAIL(GAB_ERR_INPUT,
             "%" PRIu64 " blocks are too many for strategy graph, which gathers them on one process (at most "
             "%" PRIu64 "); hilbert and diffusion have no such limit",
             count, GAB_GRAPH_MOST_BLOCKS);
  return GAB_OK;
}

static gab_status gather_and_cut(const gab_balance_options *options, gab_proxies *proxies,
                                 gab_load_graph *graph, collection *all, gab_balance_report *report,
                                 bool *even)
{
  gab_world *world = gab_proxies_world(proxies);
  gab_buffer mine;
  gab_buffer_init(&mine, GAB_MEMORY_MESSAGE);
  gab_status status = pack_local(proxies, &mine);
  if (status == GAB_OK) status = gab_world_gather(world, &mine, take_all, all);
  gab_buffer_release(&mine);
  if (status == GAB_OK && gab_world_is_root(world))
    status = cut_gathered(graph, all, options, &gab_proxies_options(proxies)->grid, report, even);
  return settle(world, status, even);
}

/* Sends the result of the root to the owners of the blocks. */
static gab_status learn(gab_proxies *proxies, const gab_load_graph *graph, const collection *all,
                        int32_t **part)
{
  gab_buffer received;
  size_t count = 0;
  int32_t *plan = NULL;
  gab_buffer_init(&received, GAB_MEMORY_MESSAGE);
  gab_status status = send_verdicts(gab_proxies_world(proxies), graph, all, &received, &count);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&plan, gab_proxies_count(proxies), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = take_verdicts(proxies, gab_reader_of_buffer(&received), count, plan);
  gab_buffer_release(&received);
  *part = plan;
  return status;
}

static gab_status cut_graph(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                            gab_balance_report *report)
{
  gab_load_graph graph = {.parts = options->parts, .held = options->parts, .classes = 1};
  collection all = {.bytes = {.use = GAB_MEMORY_MESSAGE}};
  gab_balance_report ignored = {0}; /* moves of the diffusion were not executed yet */
  bool even = true;
  GAB_TRY(check_size(proxies));
  gab_status status = gather_and_cut(options, proxies, &graph, &all, &ignored, &even);
  report->iterations = ignored.iterations;
  report->by_curve = !even && !options->stop_early;
  if (status == GAB_OK)
    status = report->by_curve ? gab_balance_along(&gab_curve_hilbert, options, proxies, part)
                              : learn(proxies, &graph, &all, part);
  gab_load_graph_release(&graph);
  gab_buffer_release(&all.bytes);
  gab_free(&all.blocks);
  return status;
}

#define IS_BUILT true
#else
#define IS_BUILT false

static gab_status cut_graph(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                            gab_balance_report *report)
{
  (void)options;
  (void)proxies;
  (void)part;
  (void)report;
  GAB_FAIL(GAB_ERR_INPUT, "balancing strategy 'graph' is not in this build: METIS was not found");
}
#endif

const gab_balancer gab_balancer_graph = {
    .name = "graph",
    .doc = "METIS on the gathered graph: fewest cells between ranks, for moderate numbers of blocks",
    .is_built = IS_BUILT,
    .assign = cut_graph,
};
