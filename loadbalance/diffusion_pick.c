/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of blocks for a neighbour part. */
#include "loadbalance/diffusion_impl.h"

/* A block that may move, and the improvement of the cut. */
typedef struct candidate {
  int64_t value;
  uint32_t vertex;
} candidate;

typedef struct heap {
  candidate *items;
  size_t count, capacity;
} heap;

static bool is_better(candidate a, candidate b)
{
  return a.value != b.value ? a.value > b.value : a.vertex < b.vertex;
}

static gab_status heap_push(heap *all, candidate item)
{
  if (all->count == all->capacity) {
    size_t capacity = all->capacity ? 2 * all->capacity : 32;
    GAB_TRY(GAB_RESIZE_ARRAY(&all->items, capacity, GAB_MEMORY_OTHER));
    all->capacity = capacity;
  }
  size_t at = all->count++;
  for (; at > 0 && is_better(item, all->items[(at - 1) / 2]); at = (at - 1) / 2)
    all->items[at] = all->items[(at - 1) / 2];
  all->items[at] = item;
  return GAB_OK;
}

static candidate heap_pop(heap *all)
{
  candidate best = all->items[0], last = all->items[--all->count];
  size_t at = 0;
  for (size_t child = 1; child < all->count; child = 2 * at + 1) {
    if (child + 1 < all->count && is_better(all->items[child + 1], all->items[child])) child++;
    if (!is_better(all->items[child], last)) break;
    all->items[at] = all->items[child];
    at = child;
  }
  if (all->count > 0) all->items[at] = last;
  return best;
}

/* Contact with q minus contact with the remaining blocks. @return whether it touches q */
static bool value_of(const gab_load_graph *graph, const gab_pick *pick, uint32_t vertex, int64_t *value)
{
  bool touches = false;
  *value = 0;
  for (size_t l = graph->link_at[vertex]; l < graph->link_at[vertex + 1]; l++) {
    const gab_link *link = &graph->links[l];
    int32_t part = link->part;
    if (link->other != GAB_NOT_HERE) { /* moves of other parts in this iteration are not known yet */
      part = graph->part[link->other];
      if (part == pick->p) part = graph->next[link->other];
    }
    if (part == pick->q) {
      *value += link->contact;
      touches = true;
    } else if (part == pick->p) {
      *value -= link->contact;
    }
  }
  return touches;
}

static bool may_go(const gab_load_graph *graph, const gab_pick *pick, uint32_t vertex)
{
  return graph->part[vertex] == pick->p && graph->next[vertex] == pick->p &&
         graph->kind[vertex] == pick->kind;
}

static gab_status collect(const gab_load_graph *graph, const gab_pick *pick, bool touching, heap *all)
{
  int32_t p = pick->p - graph->first;
  for (size_t b = graph->block_at[p]; b < graph->block_at[p + 1]; b++) {
    candidate item = {0, graph->blocks[b]};
    if (!may_go(graph, pick, item.vertex)) continue;
    bool touches = value_of(graph, pick, item.vertex, &item.value);
    if (touches || !touching) GAB_TRY(heap_push(all, item));
  }
  return GAB_OK;
}

/* Neighbours of a moved block get a higher value. */
static gab_status revalue(const gab_load_graph *graph, const gab_pick *pick, uint32_t gone, heap *all)
{
  for (size_t l = graph->link_at[gone]; l < graph->link_at[gone + 1]; l++) {
    candidate item = {0, graph->links[l].other};
    if (item.vertex == GAB_NOT_HERE || !may_go(graph, pick, item.vertex)) continue;
    if (value_of(graph, pick, item.vertex, &item.value)) GAB_TRY(heap_push(all, item));
  }
  return GAB_OK;
}

static gab_status take_best(gab_load_graph *graph, const gab_pick *pick, heap *all, size_t *left,
                            uint64_t *given)
{
  while (all->count > 0 && *left > 1) {
    candidate best = heap_pop(all);
    int64_t value;
    if (!may_go(graph, pick, best.vertex)) continue;
    value_of(graph, pick, best.vertex, &value);
    if (value != best.value) continue; /* there is a newer entry, too */
    uint64_t weight = graph->weight[best.vertex];
    if (!pick->single && weight > pick->capacity - *given) continue;
    graph->next[best.vertex] = pick->q;
    *given += weight;
    --*left;
    if (pick->single) break;
    GAB_TRY(revalue(graph, pick, best.vertex, all));
  }
  return GAB_OK;
}

gab_status gab_load_graph_pick(gab_load_graph *graph, const gab_pick *pick, size_t *left, uint64_t *given)
{
  heap all = {0};
  *given = 0;
  gab_status status = collect(graph, pick, true, &all);
  if (status == GAB_OK && all.count == 0) status = collect(graph, pick, false, &all);
  if (status == GAB_OK) status = take_best(graph, pick, &all, left, given);
  gab_free(&all.items);
  return status;
}
