/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters: domains change places as long as that is better (after Kernighan & Lin 1970). */
#include "loadbalance/clusters/clusters_impl.h"

/* Counts the logs anew of a domain that has changed its cluster, and of those who send to it. */
static void recount(gab_cluster_search *search, int32_t domain)
{
  const gab_flow_rows *in = &search->in, *out = &search->out;
  for (size_t m = search->member_at[domain]; m < search->member_at[domain + 1]; m++) {
    const int32_t rank = search->member[m];
    search->log[rank] = gab_cluster_log_of(search, rank);
    search->work -= 1 + (double)(out->at[rank + 1] - out->at[rank]);
    for (size_t i = in->at[rank]; i < in->at[rank + 1]; i++) {
      const int32_t sender = in->other[i];
      search->log[sender] = gab_cluster_log_of(search, sender);
      search->work -= 1 + (double)(out->at[sender + 1] - out->at[sender]);
    }
  }
}

static void put(gab_cluster_search *search, int32_t domain, int32_t cluster)
{
  search->size[search->of[domain]]--;
  search->of[domain] = cluster;
  search->size[cluster]++;
}

/* Domain a goes to a cluster, and b, if there is one, where a was. */
static bool try_change(gab_cluster_search *search, gab_cluster_goal goal, int32_t a, int32_t cluster,
                       int32_t b, gab_cluster_cost *now)
{
  const int32_t from = search->of[a];
  put(search, a, cluster);
  if (b >= 0) put(search, b, from);
  recount(search, a);
  if (b >= 0) recount(search, b);
  const gab_cluster_cost then = gab_cluster_cost_now(search, goal);
  if (gab_cluster_is_less(&then, now)) {
    *now = then;
    return true;
  }
  put(search, a, from);
  if (b >= 0) put(search, b, cluster);
  recount(search, a);
  if (b >= 0) recount(search, b);
  return false;
}

/* Sizes stay apart by one at most. */
static bool may_move(const gab_cluster_search *search, int32_t domain, int32_t cluster)
{
  return search->size[search->of[domain]] > search->size[cluster];
}

static bool is_linked(const gab_cluster_search *search, int32_t domain, int32_t cluster)
{
  const gab_flow_rows *rows[] = {&search->out, &search->in};
  for (size_t m = search->member_at[domain]; m < search->member_at[domain + 1]; m++)
    for (int k = 0; k < 2; k++)
      for (size_t i = rows[k]->at[search->member[m]]; i < rows[k]->at[search->member[m] + 1]; i++)
        if (search->of[search->domain[rows[k]->other[i]]] == cluster) return true;
  return false;
}

/* Into clusters that it talks with: elsewhere it only logs more. */
static bool improve_one(gab_cluster_search *search, gab_cluster_goal goal, int32_t a, gab_cluster_cost *now)
{
  bool better = false;
  for (int32_t cluster = 0; cluster < search->clusters && search->work > 0; cluster++) {
    if (cluster == search->of[a] || !is_linked(search, a, cluster)) continue;
    if (may_move(search, a, cluster) && try_change(search, goal, a, cluster, -1, now)) {
      better = true;
      continue;
    }
    for (int32_t b = 0; b < search->domains && search->work > 0; b++)
      if (search->of[b] == cluster && try_change(search, goal, a, cluster, b, now)) {
        better = true;
        break;
      }
  }
  return better;
}

void gab_cluster_improve(gab_cluster_search *search, gab_cluster_goal goal)
{
  gab_cluster_cost now = gab_cluster_cost_now(search, goal);
  bool better = search->clusters > 1;
  while (better && search->work > 0) {
    better = false;
    for (int32_t a = 0; a < search->domains && search->work > 0; a++)
      if (improve_one(search, goal, a, &now)) better = true;
  }
}
