/* SPDX-License-Identifier: Apache-2.0 */
/* Communication graph of a case: the neighbourhood of a real forest. */
#include "apps/driver/driver.h"
#include "apps/driver/delays/plan_delays.h"

#include "core/memory/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct contact_list {
  int64_t *pair; /* part 2^32 + other part; owned */
  size_t count;
} contact_list;

static gab_status add_contact(void *user, int32_t part, const gab_proxy *proxy, const gab_neighbour *row,
                              int32_t other_part)
{
  contact_list *list = user;
  (void)proxy;
  (void)row;
  const int64_t both = (int64_t)part << 32 | other_part;
  if (list->count && list->pair[list->count - 1] == both) return GAB_OK; /* mostly several blocks in a row */
  GAB_TRY(gab_list_reserve(&list->pair, list->count, sizeof *list->pair));
  list->pair[list->count++] = both;
  return GAB_OK;
}

static int compare(const void *left, const void *right)
{
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static gab_status make_rows(contact_list *list, int32_t ranks, delays_graph *graph)
{
  if (list->count) qsort(list->pair, list->count, sizeof *list->pair, compare);
  GAB_TRY(gab_alloc(((size_t)ranks + 1) * sizeof(int64_t), GAB_MEMORY_OTHER, &graph->first));
  GAB_TRY(gab_alloc(list->count * sizeof(int32_t), GAB_MEMORY_OTHER, &graph->neighbour));
  int64_t *first = graph->first;
  int32_t *neighbour = graph->neighbour;
  int64_t count = 0;
  for (size_t k = 0; k < list->count; k++) {
    if (k > 0 && list->pair[k] == list->pair[k - 1]) continue;
    neighbour[count++] = (int32_t)(list->pair[k] & UINT32_MAX);
    first[(list->pair[k] >> 32) + 1] = count;
  }
  for (int32_t rank = 0; rank < ranks; rank++) /* ranks without a neighbour */
    if (first[rank + 1] < first[rank]) first[rank + 1] = first[rank];
  graph->graph = (gab_process_graph){.count = ranks, .first = first, .neighbour = neighbour};
  return GAB_OK;
}

static gab_status share_out(const gab_app_case *which, gab_proxies *proxies, int32_t ranks,
                            delays_graph *graph)
{
  int32_t *plan = NULL, *partners = NULL;
  contact_list list = {0};
  gab_balance_report report;
  gab_status status = GAB_NEW_ARRAY(&plan, gab_proxies_count(proxies), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&partners, (size_t)ranks, GAB_MEMORY_OTHER);
  const gab_balance_options options = {.balancer = which->balance.balancer,
                                       .by = which->balance.by,
                                       .plan = plan,
                                       .parts = ranks,
                                       .none_empty = true};
  if (status == GAB_OK) status = gab_balance_proxies(proxies, &options, &report);
  if (status == GAB_OK) status = gab_balance_contacts(proxies, plan, ranks, partners, add_contact, &list);
  if (status == GAB_OK) status = make_rows(&list, ranks, graph);
  gab_free(&list.pair);
  gab_free(&plan);
  gab_free(&partners);
  return status;
}

typedef struct graph_request {
  const gab_app_case *which;
  int32_t ranks;
  delays_graph *graph;
} graph_request;

static gab_status share_grid(void *user, const gab_app_plan *plan)
{
  const graph_request *it = user;
  return share_out(it->which, plan->proxies, it->ranks, it->graph);
}

static gab_status graph_of(const gab_app_case *which, const delays_options *options, delays_graph *graph)
{
  const int64_t ranks = options->ranks ? options->ranks : gab_config_int(which->config, "run.processes");
  if (ranks > INT32_MAX) GAB_FAIL(GAB_ERR_INPUT, "-n %" PRId64 ": too many", ranks);
  graph_request request = {.which = which, .ranks = (int32_t)ranks, .graph = graph};
  return gab_app_case_plan(which, request.ranks, share_grid, &request, NULL);
}

gab_status gab_app_delays_graph_of_case(const delays_options *options, delays_graph *graph)
{
  gab_app_case *which;
  *graph = (delays_graph){0};
  gab_status status = gab_app_case_from_file(&options->common, &which);
  if (status == GAB_OK) status = graph_of(which, options, graph);
  gab_app_case_destroy(&which);
  return status;
}

void gab_app_delays_graph_release(delays_graph *graph)
{
  gab_free(&graph->first);
  gab_free(&graph->neighbour);
}
