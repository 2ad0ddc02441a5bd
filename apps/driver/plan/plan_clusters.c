/* SPDX-License-Identifier: Apache-2.0 */
/* Logs between clusters of processes, for each number of them: Ropars et al. 2013, table 1. */
#include "apps/driver/plan/plan.h"

#include "core/messages/port.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_PAIRS = 1 << 12 };

/* ---------------------------------------------------------------- flows */

static int by_pair(const void *a, const void *b)
{
  const plan_pair *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return (x->exchange > y->exchange) - (x->exchange < y->exchange);
}

static int by_ranks(const void *a, const void *b)
{
  const gab_flow *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

void gab_app_plan_pairs_settle(plan_pairs *pairs)
{
  size_t kept = 0;
  if (pairs->count > 0) qsort(pairs->items, pairs->count, sizeof *pairs->items, by_pair);
  for (size_t i = 0; i < pairs->count; i++)
    if (kept == 0 || by_pair(&pairs->items[kept - 1], &pairs->items[i]) != 0)
      pairs->items[kept++] = pairs->items[i];
  pairs->count = kept;
}

gab_status gab_app_plan_pairs_note(plan_pairs *pairs, const plan_pair *pair)
{
  if (pairs->count > 0 && by_pair(&pairs->items[pairs->count - 1], pair) == 0) return GAB_OK;
  if (pairs->count == pairs->capacity) {
    gab_app_plan_pairs_settle(pairs);
    if (2 * pairs->count >= pairs->capacity) {
      const size_t capacity = pairs->capacity > 0 ? 2 * pairs->capacity : FEWEST_PAIRS;
      GAB_TRY(GAB_RESIZE_ARRAY(&pairs->items, capacity, GAB_MEMORY_OTHER));
      pairs->capacity = capacity;
    }
  }
  pairs->items[pairs->count++] = *pair;
  return GAB_OK;
}

gab_status gab_app_plan_flows_settle(gab_app_flows *flows, const plan_pairs *pairs, const gab_app_plan *given)
{
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    const plan_pair *pair = &pairs->items[i];
    GAB_TRY(gab_app_flows_put(flows, pair->from, pair->to,
                              ldexp(GAB_ENVELOPE_BYTES * given->times[pair->exchange], pair->level)));
  }
  if (flows->count > 0) qsort(flows->flows, flows->count, sizeof *flows->flows, by_ranks);
  for (size_t i = 0; i < flows->count; i++) {
    if (kept > 0 && by_ranks(&flows->flows[kept - 1], &flows->flows[i]) == 0)
      flows->flows[kept - 1].bytes += flows->flows[i].bytes;
    else flows->flows[kept++] = flows->flows[i];
  }
  flows->count = kept;
  return GAB_OK;
}

/* ---------------------------------------------------------------- finding */

/* The node of each rank, numbered in the order of places. */
static gab_status number_nodes(const gab_domains *domains, int32_t ranks, int32_t **node)
{
  GAB_TRY(GAB_NEW_ARRAY(node, (size_t)ranks, GAB_MEMORY_OTHER));
  int32_t number = -1;
  for (int32_t place = 0; place < ranks; place++) {
    if (gab_domains_range(domains, GAB_DOMAIN_NODE, place).first == place) number++;
    (*node)[gab_domains_rank(domains, place)] = number;
  }
  return GAB_OK;
}

static gab_status find_row(gab_cluster_task *task, int32_t clusters, int32_t *cluster, plan_clusters *found)
{
  plan_cluster_row *row = &found->rows[found->count++];
  row->clusters = task->clusters = clusters;
  task->goal = GAB_CLUSTERS_TOTAL;
  GAB_TRY(gab_clusters_find(task, cluster, &row->total));
  task->goal = GAB_CLUSTERS_LARGEST;
  return gab_clusters_find(task, cluster, &row->largest);
}

gab_status gab_app_plan_clusters_find(const plan_options *options, const gab_app_flows *flows,
                                      const gab_domains *domains, plan_clusters *found)
{
  int32_t *cluster;
  int32_t *node = NULL;
  *found = (plan_clusters){.ranks = flows->ranks, .domains = flows->ranks};
  GAB_TRY(GAB_NEW_ARRAY(&cluster, (size_t)flows->ranks, GAB_MEMORY_OTHER));
  gab_status status = domains ? number_nodes(domains, flows->ranks, &node) : GAB_OK;
  if (status == GAB_OK && domains) found->domains = gab_domains_number(domains, GAB_DOMAIN_NODE);
  gab_cluster_task task = {
      .ranks = flows->ranks, .flows = flows->flows, .flow_count = flows->count, .domain = node};
  for (int64_t clusters = 1; clusters < found->domains && status == GAB_OK; clusters *= 2)
    status = find_row(&task, (int32_t)clusters, cluster, found);
  if (status == GAB_OK) status = find_row(&task, found->domains, cluster, found);
  if (status == GAB_OK)
    status = gab_app_plan_divide(options, &task, found->domains, cluster, &found->division);
  gab_free(&cluster);
  gab_free(&node);
  return status;
}

/* ---------------------------------------------------------------- for people, and for programs */

void gab_app_plan_clusters_print(const plan_clusters *clusters, FILE *out)
{
  fprintf(out, "  logs between clusters of %" PRId32 " failure domain%s, byte per step and process:\n",
          clusters->domains, clusters->domains == 1 ? "" : "s");
  fprintf(out, "  %-10s %23s   %23s   %21s\n", "", "by least total", "by least largest",
          "rolls back at a death");
  fprintf(out, "  %-10s %11s %11s   %11s %11s   %10s %10s\n", "clusters", "mean", "most", "mean", "most",
          "mean", "most");
  for (int i = 0; i < clusters->count; i++) {
    const plan_cluster_row *row = &clusters->rows[i];
    fprintf(out, "  %-10" PRId32 " %11.5g %11.5g   %11.5g %11.5g   %8.3g %% %8.3g %%\n", row->clusters,
            row->total.mean, row->total.largest, row->largest.mean, row->largest.largest,
            100 * row->total.back_mean, 100 * row->total.back_most);
  }
  gab_app_plan_division_print(&clusters->division, out);
}

void gab_app_plan_clusters_put(const plan_clusters *clusters, gab_json *json)
{
  gab_json_list(json, "clusters");
  for (int i = 0; i < clusters->count; i++) {
    const plan_cluster_row *row = &clusters->rows[i];
    gab_json_object(json, NULL);
    gab_json_int(json, "clusters", row->clusters);
    gab_app_plan_log_put(json, "least_total", &row->total);
    gab_app_plan_log_put(json, "least_largest", &row->largest);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_app_plan_division_put(&clusters->division, json);
}

/* ---------------------------------------------------------------- of a run */

static gab_status print_json(const plan_clusters *clusters, FILE *out)
{
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_int(json, "processes", clusters->ranks);
  gab_json_int(json, "domains", clusters->domains);
  gab_app_plan_clusters_put(clusters, json);
  gab_status status = gab_json_end(&json, &text);
  if (status == GAB_OK) fwrite(text.data, 1, text.size, out);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_app_plan_clusters_of_run(const plan_options *options, FILE *out)
{
  gab_app_flows flows;
  plan_clusters clusters;
  gab_domains *domains = NULL;
  GAB_TRY(gab_app_flows_read(options->traffic, &flows));
  gab_status status = GAB_OK;
  if (options->per_node > 0)
    status =
        gab_domains_regular(flows.ranks, (int32_t)options->per_node, (int32_t)options->per_island, &domains);
  if (status == GAB_OK) status = gab_app_plan_clusters_find(options, &flows, domains, &clusters);
  if (status == GAB_OK && options->json) status = print_json(&clusters, out);
  else if (status == GAB_OK) gab_app_plan_clusters_print(&clusters, out);
  gab_domains_destroy(&domains);
  gab_app_flows_release(&flows);
  return status;
}
