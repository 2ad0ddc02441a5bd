/* SPDX-License-Identifier: Apache-2.0 */
/* Diffusion: adjacent parts equalise their loads, until all are equal.
 *
 * An iteration has two halves. First the parts compute flows of load, by messages between neighbours: in each round i sends
 * j the share (l_i - l_j) / (max(d_i, d_j) + 1) of its surplus, with d the number of neighbours (Cybenko 1989, first order,
 * with the coefficients of Boillat 1990); 24 rounds look a few hops far. Loads are integers in fixed point and both sides
 * compute the same flow, so load is conserved and the result does not depend on timing. Then each part sends blocks along
 * the flow, at most as much as the flow (Schornbaum & Rüde 2018, section 3.3); every level has a separate flow.
 *
 * This stops if flows are smaller than blocks. A level whose heaviest part does not improve is finished by the gradient
 * model (Lin & Keller 1987): parts learn the distance in hops to the nearest part with capacity, and a part above the limit
 * sends single blocks to neighbours that are nearer to it. The limit is (W + (P - 1) h) / P, h the heaviest block, or goal
 * times mean if that is more. While a part is above it, another part has capacity for a block (otherwise all had more than
 * limit - h, in sum more than W), and does not exceed the limit by taking it; so it terminates.
 *
 * A part without blocks has no neighbours: then the start is a distribution along a curve. It is also the fallback if the
 * limit is not reached after the last iteration, unless the caller wants to stop early. */
#include "core/messages/collective.h"
#include "loadbalance/diffusion_impl.h"

#include <string.h>

enum { LEVELS = GAB_BALANCE_LEVELS, FIXED_POINT = 20, HOPS_AT_ONCE = 8 };

typedef struct diffusion {
  gab_load_graph *graph;
  const gab_balance_options *options;
  uint64_t weight[LEVELS], heaviest[LEVELS]; /* of a class: of all, block */
  uint64_t limit[LEVELS], most[LEVELS];      /* limit of a part; load of the heaviest part */
  bool by_gradient[LEVELS];
  int shift[LEVELS]; /* of fixed point */
  uint64_t *loads;   /* [held][classes] */
  int64_t *level;    /* the same in fixed point, updated by flows */
  uint64_t *hops;    /* distance to a part with capacity */
  uint64_t *theirs;  /* [borders][classes] */
  int64_t *flows;
  uint64_t *degrees, *their_degrees;
} diffusion;

static void release(diffusion *now)
{
  gab_free(&now->loads);
  gab_free(&now->level);
  gab_free(&now->hops);
  gab_free(&now->theirs);
  gab_free(&now->flows);
  gab_free(&now->degrees);
  gab_free(&now->their_degrees);
}

/* ------------------------------------------------------------------ loads */

/* Of each local part; the heaviest of all. */
static gab_status weigh(diffusion *now)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes, borders = graph->border_at[graph->held];
  GAB_TRY(GAB_RESIZE_ARRAY(&now->theirs, borders * classes, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_RESIZE_ARRAY(&now->flows, borders * classes, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_RESIZE_ARRAY(&now->their_degrees, borders, GAB_MEMORY_OTHER));
  memset(now->loads, 0, (size_t)graph->held * classes * sizeof *now->loads);
  for (uint32_t v = 0; v < graph->count; v++)
    now->loads[(size_t)(graph->part[v] - graph->first) * classes + graph->kind[v]] += graph->weight[v];
  memset(now->most, 0, sizeof now->most);
  for (int32_t p = 0; p < graph->held; p++)
    for (size_t c = 0; c < classes; c++)
      if (now->loads[(size_t)p * classes + c] > now->most[c])
        now->most[c] = now->loads[(size_t)p * classes + c];
  return gab_load_graph_max(graph, now->most, classes);
}

static gab_status set_limits(diffusion *now)
{
  gab_load_graph *graph = now->graph;
  uint64_t parts = (uint64_t)graph->parts;
  for (uint32_t v = 0; v < graph->count; v++) {
    now->weight[graph->kind[v]] += graph->weight[v];
    if (graph->weight[v] > now->heaviest[graph->kind[v]]) now->heaviest[graph->kind[v]] = graph->weight[v];
  }
  if (graph->port) GAB_TRY(gab_world_sum_u64(graph->world, now->weight, (size_t)graph->classes));
  GAB_TRY(gab_load_graph_max(graph, now->heaviest, (size_t)graph->classes));
  for (int c = 0; c < graph->classes; c++) {
    double wanted = now->options->goal * (double)now->weight[c] / (double)parts;
    uint64_t share = now->weight[c] / parts, rest = now->weight[c] % parts;
    /* floor((W + (P - 1) h) / P) without overflow: h + (W - h) / P */
    uint64_t beyond = now->heaviest[c] % parts, possible = share - now->heaviest[c] / parts;
    if (rest < beyond) possible--;
    possible += now->heaviest[c];
    now->limit[c] = wanted > (double)possible && wanted < 0x1p63 ? (uint64_t)wanted : possible;
    now->shift[c] = FIXED_POINT;
    while (now->shift[c] > 0 && now->weight[c] >> (62 - now->shift[c]) > 0) now->shift[c]--;
  }
  return GAB_OK;
}

static bool is_even(const diffusion *now)
{
  for (int c = 0; c < now->graph->classes; c++)
    if (now->most[c] > now->limit[c]) return false;
  return true;
}

/* ------------------------------------------------------------------ flows */

/* Equal on both sides, with opposite signs. */
static int64_t flow_between(int64_t here, int64_t there, uint64_t degree, uint64_t their_degree)
{
  int64_t share = (int64_t)(degree > their_degree ? degree : their_degree) + 1;
  return (here - there) / share;
}

static gab_status flow_once(diffusion *now)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes;
  GAB_TRY(gab_load_graph_swap(graph, (const uint64_t *)now->level, classes, now->theirs));
  for (int32_t p = 0; p < graph->held; p++) {
    int64_t *own = now->level + (size_t)p * classes, before[LEVELS];
    memcpy(before, own, classes * sizeof *own);
    for (size_t e = graph->border_at[p]; e < graph->border_at[p + 1]; e++)
      for (size_t c = 0; c < classes; c++) {
        int64_t flow = flow_between(before[c], (int64_t)now->theirs[e * classes + c], now->degrees[p],
                                    now->their_degrees[e]);
        now->flows[e * classes + c] += flow;
        own[c] -= flow;
      }
  }
  return GAB_OK;
}

static gab_status find_flows(diffusion *now)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes, borders = graph->border_at[graph->held];
  for (int32_t p = 0; p < graph->held; p++) {
    now->degrees[p] = graph->border_at[p + 1] - graph->border_at[p];
    for (size_t c = 0; c < classes; c++)
      now->level[(size_t)p * classes + c] = (int64_t)(now->loads[(size_t)p * classes + c] << now->shift[c]);
  }
  if (borders > 0) memset(now->flows, 0, borders * classes * sizeof *now->flows);
  GAB_TRY(gab_load_graph_swap(graph, now->degrees, 1, now->their_degrees));
  for (int round = 0; round < now->options->flow_rounds; round++) GAB_TRY(flow_once(now));
  return GAB_OK;
}

static gab_status push_flows(diffusion *now, int32_t p)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes, left = graph->block_at[p + 1] - graph->block_at[p];
  for (size_t e = graph->border_at[p]; e < graph->border_at[p + 1]; e++)
    for (size_t c = 0; c < classes; c++) {
      int64_t flow = now->flows[e * classes + c];
      if (now->by_gradient[c] || flow <= 0 || flow >> now->shift[c] == 0) continue;
      gab_pick pick = {.p = p + graph->first,
                       .q = graph->borders[e],
                       .kind = (int)c,
                       .capacity = (uint64_t)flow >> now->shift[c]};
      uint64_t given;
      GAB_TRY(gab_load_graph_pick(graph, &pick, &left, &given));
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------ gradient */

static bool has_capacity(const diffusion *now, uint64_t load, size_t c)
{
  return now->limit[c] >= now->heaviest[c] && load <= now->limit[c] - now->heaviest[c];
}

/* One hop further; sets whether any distance decreased. */
static gab_status hop(diffusion *now, bool *changed)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes;
  GAB_TRY(gab_load_graph_swap(graph, now->hops, classes, now->theirs));
  for (int32_t p = 0; p < graph->held; p++)
    for (size_t e = graph->border_at[p]; e < graph->border_at[p + 1]; e++)
      for (size_t c = 0; c < classes; c++) {
        uint64_t *own = &now->hops[(size_t)p * classes + c], by_there = now->theirs[e * classes + c];
        if (by_there == UINT64_MAX || by_there + 1 >= *own) continue;
        *own = by_there + 1;
        *changed = true;
      }
  return GAB_OK;
}

/* On return `theirs` has the distances of the neighbours. */
static gab_status find_hops(diffusion *now)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes;
  for (int32_t p = 0; p < graph->held; p++)
    for (size_t c = 0; c < classes; c++)
      now->hops[(size_t)p * classes + c] =
          has_capacity(now, now->loads[(size_t)p * classes + c], c) ? 0 : UINT64_MAX;
  for (uint64_t any = 1; any;) {
    bool changed = false;
    for (int k = 0; k < HOPS_AT_ONCE; k++) GAB_TRY(hop(now, &changed));
    any = changed;
    GAB_TRY(gab_load_graph_max(graph, &any, 1));
  }
  return GAB_OK;
}

/* Sends a block to each neighbour nearer to capacity, while the load is too high. */
static gab_status push_excess(diffusion *now, int32_t p, size_t c)
{
  gab_load_graph *graph = now->graph;
  size_t classes = (size_t)graph->classes, left = 0;
  uint64_t load = now->loads[(size_t)p * classes + c], own = now->hops[(size_t)p * classes + c];
  if (load <= now->limit[c]) return GAB_OK;
  for (size_t b = graph->block_at[p]; b < graph->block_at[p + 1]; b++)
    left += graph->next[graph->blocks[b]] == p + graph->first;
  for (size_t e = graph->border_at[p]; e < graph->border_at[p + 1] && load > now->limit[c]; e++) {
    uint64_t there = now->theirs[e * classes + c], given;
    if (there >= own) continue;
    gab_pick pick = {.p = p + graph->first, .q = graph->borders[e], .kind = (int)c, .single = true};
    GAB_TRY(gab_load_graph_pick(graph, &pick, &left, &given));
    load -= given;
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------ iterations */

static gab_status iterate(diffusion *now, gab_balance_report *report)
{
  gab_load_graph *graph = now->graph;
  uint64_t before[LEVELS];
  bool flows = false, gradient = false;
  memcpy(before, now->most, sizeof before);
  for (int c = 0; c < graph->classes; c++) {
    flows = flows || !now->by_gradient[c];
    gradient = gradient || (now->by_gradient[c] && now->most[c] > now->limit[c]);
  }
  if (flows) {
    GAB_TRY(find_flows(now));
    for (int32_t p = 0; p < graph->held; p++) GAB_TRY(push_flows(now, p));
  }
  if (gradient) {
    GAB_TRY(find_hops(now));
    for (int32_t p = 0; p < graph->held; p++)
      for (int c = 0; c < graph->classes; c++)
        if (now->by_gradient[c]) GAB_TRY(push_excess(now, p, (size_t)c));
  }
  GAB_TRY(gab_load_graph_advance(graph, &report->blocks_moved));
  GAB_TRY(weigh(now));
  report->iterations++;
  for (int c = 0; c < graph->classes; c++)
    now->by_gradient[c] = now->by_gradient[c] || now->most[c] >= before[c] || now->most[c] <= now->limit[c];
  return GAB_OK;
}

static gab_status reserve_capacity(diffusion *now)
{
  size_t parts = (size_t)now->graph->held, rows = parts * (size_t)now->graph->classes;
  GAB_TRY(GAB_RESIZE_ARRAY(&now->loads, rows, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_RESIZE_ARRAY(&now->level, rows, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_RESIZE_ARRAY(&now->hops, rows, GAB_MEMORY_OTHER));
  return GAB_RESIZE_ARRAY(&now->degrees, parts, GAB_MEMORY_OTHER);
}

static gab_status run(diffusion *now, gab_balance_report *report)
{
  GAB_TRY(reserve_capacity(now));
  GAB_TRY(set_limits(now));
  GAB_TRY(weigh(now));
  for (int k = 0; k < now->options->most_iterations && !is_even(now); k++) GAB_TRY(iterate(now, report));
  return GAB_OK;
}

gab_status gab_load_graph_even_out(gab_load_graph *graph, const gab_balance_options *options,
                                   gab_balance_report *report, bool *even)
{
  diffusion now = {.graph = graph, .options = options};
  gab_status status = run(&now, report);
  *even = status == GAB_OK && is_even(&now);
  release(&now);
  return status;
}

/* ------------------------------------------------------------------ the strategy */

/* Distributes all blocks along a curve. */
static gab_status go_along_curve(gab_load_graph *graph, const gab_balance_options *options,
                                 gab_balance_report *report)
{
  int32_t *part = NULL;
  report->by_curve = true;
  gab_status status = gab_balance_along(&gab_curve_hilbert, options, graph->proxies, &part);
  if (status == GAB_OK) {
    memcpy(graph->next, part, graph->count * sizeof *part);
    status = gab_load_graph_advance(graph, &report->blocks_moved);
  }
  gab_free(&part);
  return status;
}

static gab_status read_blocks(gab_load_graph *graph, const gab_balance_options *options)
{
  uint64_t deepest = 0;
  for (size_t i = 0; i < gab_proxies_count(graph->proxies); i++) {
    int level = gab_proxies_level(graph->proxies, gab_proxies_get(graph->proxies, i)->id);
    if ((uint64_t)level > deepest) deepest = (uint64_t)level;
  }
  GAB_TRY(gab_load_graph_max(graph, &deepest, 1));
  if (options->by == GAB_BALANCE_PER_LEVEL) graph->classes = (int)deepest + 1;
  GAB_TRY(gab_load_graph_read(graph, options->plan));
  return gab_load_graph_sort(graph);
}

static gab_status spread_out(gab_load_graph *graph, const gab_balance_options *options,
                             gab_balance_report *report)
{
  bool even;
  uint64_t empty = 0;
  GAB_TRY(read_blocks(graph, options));
  for (int32_t p = 0; p < graph->held; p++)
    if (graph->block_at[p + 1] == graph->block_at[p]) empty = 1;
  GAB_TRY(gab_load_graph_max(graph, &empty, 1));
  if (empty) GAB_TRY(go_along_curve(graph, options, report));
  GAB_TRY(gab_load_graph_even_out(graph, options, report, &even));
  return even || options->stop_early ? GAB_OK : go_along_curve(graph, options, report);
}

static gab_status diffuse(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                          gab_balance_report *report)
{
  gab_load_graph graph;
  gab_load_graph_init(&graph, options, proxies);
  gab_status status = spread_out(&graph, options, report);
  if (status == GAB_OK) { /* ownership is transferred */
    *part = graph.part;
    graph.part = NULL;
  }
  gab_load_graph_release(&graph);
  return status;
}

const gab_balancer gab_balancer_diffusion = {
    .name = "diffusion",
    .doc = "neighbours balance their loads by messages between them only: few blocks move",
    .is_built = true,
    .assign = diffuse,
};
