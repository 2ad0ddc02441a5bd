/* SPDX-License-Identifier: Apache-2.0 */
#include "loadbalance/diffusion_impl.h"

#include "core/messages/collective.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ contact */

uint64_t gab_balance_contact(const gab_forest_options *options, const gab_neighbour *row)
{
  const gab_root_grid *grid = &options->grid;
  int offset[3];
  gab_direction_offset(row->direction, offset);
  /* Across levels there is one row per finer block, whose whole side touches. */
  uint64_t cells = 1;
  for (int axis = 0; axis < grid->dimension; axis++)
    if (offset[axis] == 0) cells *= (uint64_t)options->cells[axis];
  return cells;
}

/* ------------------------------------------------------------------ ids to vertices */

typedef struct index_of_ids {
  gab_block_id *ids;
  uint32_t *vertices;
  size_t mask;
} index_of_ids;

static size_t spread(gab_block_id id) { return (size_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> 20); }

static gab_status index_make(gab_proxies *proxies, index_of_ids *index)
{
  size_t count = gab_proxies_count(proxies), size = 64;
  gab_block_id *ids = NULL;
  uint32_t *vertices = NULL;
  while (size < 2 * count) size *= 2;
  GAB_TRY(GAB_NEW_ARRAY(&ids, size, GAB_MEMORY_OTHER));
  gab_status status = GAB_NEW_ARRAY(&vertices, size, GAB_MEMORY_OTHER);
  if (status != GAB_OK) gab_free(&ids);
  GAB_TRY(status);
  *index = (index_of_ids){ids, vertices, size - 1};
  for (size_t i = 0; i < count; i++) {
    gab_block_id id = gab_proxies_get(proxies, i)->id;
    size_t at = spread(id) & index->mask;
    while (index->ids[at] != GAB_NO_BLOCK) at = (at + 1) & index->mask;
    index->ids[at] = id;
    index->vertices[at] = (uint32_t)i;
  }
  return GAB_OK;
}

static uint32_t index_find(const index_of_ids *index, gab_block_id id)
{
  for (size_t at = spread(id) & index->mask; index->ids[at] != GAB_NO_BLOCK; at = (at + 1) & index->mask)
    if (index->ids[at] == id) return index->vertices[at];
  return GAB_NOT_HERE;
}

/* ------------------------------------------------------------------ life */

void gab_load_graph_init(gab_load_graph *graph, const gab_balance_options *options, gab_proxies *proxies)
{
  gab_world *world = gab_proxies_world(proxies);
  *graph = (gab_load_graph){.proxies = proxies, .world = world, .parts = options->parts, .classes = 1};
  graph->held = options->plan ? options->parts : 1;
  graph->first = options->plan ? 0 : gab_members_index(gab_world_members(world), gab_world_rank(world));
  graph->port = options->plan ? NULL : gab_proxies_port(proxies);
}

static void drop_vertices(gab_load_graph *graph)
{
  gab_free(&graph->weight);
  gab_free(&graph->kind);
  gab_free(&graph->part);
  gab_free(&graph->next);
  gab_free(&graph->link_at);
  gab_free(&graph->links);
  gab_free(&graph->block_at);
  gab_free(&graph->blocks);
  gab_free(&graph->border_at);
}

static void drop_mail(gab_load_graph *graph)
{
  for (size_t i = 0; i < graph->mail_count; i++) {
    gab_buffer_release(&graph->mail[i].out);
    gab_buffer_release(&graph->mail[i].in);
  }
  gab_free(&graph->mail);
  graph->mail_count = 0;
}

void gab_load_graph_release(gab_load_graph *graph)
{
  drop_vertices(graph);
  gab_free(&graph->borders);
  drop_mail(graph);
}

/* ------------------------------------------------------------------ vertices and links */

gab_status gab_load_graph_make(gab_load_graph *graph, size_t count, size_t links)
{
  if (count >= GAB_NOT_HERE) GAB_FAIL(GAB_ERR_INPUT, "%zu blocks on one process are too many", count);
  drop_vertices(graph);
  graph->count = (uint32_t)count;
  GAB_TRY(GAB_NEW_ARRAY(&graph->weight, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->kind, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->part, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->next, count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->link_at, count + 1, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->links, links, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->block_at, (size_t)graph->held + 1, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&graph->blocks, count, GAB_MEMORY_OTHER));
  return GAB_NEW_ARRAY(&graph->border_at, (size_t)graph->held + 1, GAB_MEMORY_OTHER);
}

static gab_status link_of(const gab_load_graph *graph, const index_of_ids *index, gab_block_id id,
                          const gab_neighbour *row, gab_link *link)
{
  uint64_t contact = gab_balance_contact(gab_proxies_options(graph->proxies), row);
  *link = (gab_link){GAB_NOT_HERE, -1, contact > UINT32_MAX / 64 ? UINT32_MAX / 64 : (uint32_t)contact};
  if (row->owner == gab_world_rank(graph->world)) {
    link->other = index_find(index, row->id);
    if (link->other == GAB_NOT_HERE)
      GAB_FAIL(GAB_ERR_STATE, "the neighbour " GAB_PRI_BLOCK " of block " GAB_PRI_BLOCK " is not here",
               row->id, id);
    return GAB_OK;
  }
  link->part = gab_members_index(gab_world_members(graph->world), row->owner);
  if (link->part < 0)
    GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " belongs to rank %" GAB_PRI_RANK ", which is gone",
             row->id, row->owner);
  return GAB_OK;
}

static gab_status read_links(gab_load_graph *graph, const index_of_ids *index)
{
  size_t at = 0;
  for (uint32_t v = 0; v < graph->count; v++) {
    const gab_proxy *proxy = gab_proxies_get(graph->proxies, v);
    graph->link_at[v] = at;
    for (size_t i = 0; i < proxy->neighbour_count; i++) {
      if (proxy->neighbours[i].id == proxy->id) continue; /* over a periodic border */
      GAB_TRY(link_of(graph, index, proxy->id, &proxy->neighbours[i], &graph->links[at]));
      at++;
    }
  }
  graph->link_at[graph->count] = at;
  return GAB_OK;
}

gab_status gab_load_graph_read(gab_load_graph *graph, const int32_t *part)
{
  index_of_ids index;
  size_t count = gab_proxies_count(graph->proxies), links = 0;
  for (size_t i = 0; i < count; i++) links += gab_proxies_get(graph->proxies, i)->neighbour_count;
  GAB_TRY(gab_load_graph_make(graph, count, links));
  for (uint32_t v = 0; v < graph->count; v++) {
    const gab_proxy *proxy = gab_proxies_get(graph->proxies, v);
    graph->weight[v] = gab_balance_weight(proxy);
    graph->kind[v] = graph->classes > 1 ? (uint8_t)gab_proxies_level(graph->proxies, proxy->id) : 0;
    graph->part[v] = graph->next[v] = part ? part[v] : graph->first;
  }
  GAB_TRY(index_make(graph->proxies, &index));
  gab_status status = read_links(graph, &index);
  gab_free(&index.ids);
  gab_free(&index.vertices);
  return status;
}

/* ------------------------------------------------------------------ parts */

static void sort_blocks(gab_load_graph *graph)
{
  memset(graph->block_at, 0, ((size_t)graph->held + 1) * sizeof *graph->block_at);
  for (uint32_t v = 0; v < graph->count; v++) ++graph->block_at[graph->part[v] - graph->first + 1];
  for (int32_t p = 0; p < graph->held; p++) graph->block_at[p + 1] += graph->block_at[p];
  for (uint32_t v = 0; v < graph->count; v++)
    graph->blocks[graph->block_at[graph->part[v] - graph->first]++] = v;
  for (int32_t p = graph->held; p > 0; p--) graph->block_at[p] = graph->block_at[p - 1];
  graph->block_at[0] = 0;
}

static int ascending(const void *a, const void *b)
{
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

/* All parts adjacent to part `p` (local index), first with duplicates; then unique. */
static gab_status add_borders(gab_load_graph *graph, int32_t p, size_t *count)
{
  const size_t start = *count;
  for (size_t b = graph->block_at[p]; b < graph->block_at[p + 1]; b++) {
    uint32_t v = graph->blocks[b];
    size_t links = graph->link_at[v + 1] - graph->link_at[v];
    if (*count + links > graph->border_capacity) {
      size_t capacity = 2 * (*count + links) + 64;
      GAB_TRY(GAB_RESIZE_ARRAY(&graph->borders, capacity, GAB_MEMORY_OTHER));
      graph->border_capacity = capacity;
    }
    for (size_t l = graph->link_at[v]; l < graph->link_at[v + 1]; l++) {
      const gab_link *link = &graph->links[l];
      int32_t part = link->other == GAB_NOT_HERE ? link->part : graph->part[link->other];
      if (part != p + graph->first && (*count == start || graph->borders[*count - 1] != part))
        graph->borders[(*count)++] = part;
    }
  }
  if (*count == start) return GAB_OK;
  qsort(graph->borders + start, *count - start, sizeof *graph->borders, ascending);
  size_t kept = start;
  for (size_t i = start; i < *count; i++)
    if (kept == start || graph->borders[kept - 1] != graph->borders[i])
      graph->borders[kept++] = graph->borders[i];
  *count = kept;
  return GAB_OK;
}

static gab_status make_mail(gab_load_graph *graph)
{
  drop_mail(graph);
  if (!graph->port) return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&graph->mail, graph->border_at[1], GAB_MEMORY_OTHER));
  for (; graph->mail_count < graph->border_at[1]; graph->mail_count++) {
    gab_border_mail *mail = &graph->mail[graph->mail_count];
    mail->rank = gab_members_rank(gab_world_members(graph->world), graph->borders[graph->mail_count]);
    gab_buffer_init(&mail->out, GAB_MEMORY_MESSAGE);
    gab_buffer_init(&mail->in, GAB_MEMORY_MESSAGE);
  }
  return GAB_OK;
}

gab_status gab_load_graph_sort(gab_load_graph *graph)
{
  size_t count = 0;
  sort_blocks(graph);
  for (int32_t p = 0; p < graph->held; p++) {
    graph->border_at[p] = count;
    GAB_TRY(add_borders(graph, p, &count));
  }
  graph->border_at[graph->held] = count;
  return make_mail(graph);
}

gab_status gab_load_graph_advance(gab_load_graph *graph, uint64_t *moved)
{
  if (graph->port) {
    GAB_TRY(gab_balance_hand_over(graph->proxies, graph->next, moved));
    GAB_TRY(gab_load_graph_read(graph, NULL));
  } else {
    for (uint32_t v = 0; v < graph->count; v++) {
      *moved += graph->next[v] != graph->part[v];
      graph->part[v] = graph->next[v];
    }
  }
  return gab_load_graph_sort(graph);
}

/* ------------------------------------------------------------------ messages */

gab_status gab_load_graph_max(gab_load_graph *graph, uint64_t *values, size_t count)
{
  return graph->port ? gab_world_max_u64(graph->world, values, count) : GAB_OK;
}

static gab_status start_mail(gab_load_graph *graph, const uint64_t *values, size_t width)
{
  for (size_t i = 0; i < graph->mail_count; i++)
    GAB_TRY(gab_port_receive(graph->port, graph->mail[i].rank, &graph->mail[i].in, width * sizeof *values));
  for (size_t i = 0; i < graph->mail_count; i++) {
    gab_buffer *out = &graph->mail[i].out;
    GAB_TRY(gab_message_begin(out));
    GAB_TRY(gab_put_bytes(out, values, width * sizeof *values));
    GAB_TRY(gab_port_send(graph->port, graph->mail[i].rank, out));
  }
  return GAB_OK;
}

gab_status gab_load_graph_swap(gab_load_graph *graph, const uint64_t *values, size_t width, uint64_t *theirs)
{
  if (!graph->port) {
    for (size_t e = 0; e < graph->border_at[graph->held]; e++)
      memcpy(theirs + e * width, values + (size_t)graph->borders[e] * width, width * sizeof *values);
    return GAB_OK;
  }
  gab_status status = start_mail(graph, values, width);
  /* The world is broken before waiting: another process may have failed as well. */
  if (status != GAB_OK && status != GAB_ERR_FAULT) status = gab_world_raise(graph->world, status);
  const gab_status finished = gab_port_finish(graph->port);
  GAB_TRY(status);
  GAB_TRY(finished);
  for (size_t i = 0; i < graph->mail_count; i++) {
    gab_reader in = gab_message_reader(&graph->mail[i].in);
    GAB_TRY(gab_get_bytes(&in, theirs + i * width, width * sizeof *values));
  }
  return GAB_OK;
}
