/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of a division into clusters. */
#include "loadbalance/clusters/clusters_impl.h"

#include <string.h>

bool gab_cluster_is_less(const gab_cluster_cost *a, const gab_cluster_cost *b)
{
  for (int i = 0; i < 3; i++)
    if (a->key[i] != b->key[i]) return a->key[i] < b->key[i];
  return false;
}

double gab_cluster_log_of(const gab_cluster_search *search, int32_t rank)
{
  const gab_flow_rows *out = &search->out;
  const int32_t own = search->of[search->domain[rank]];
  double sum = 0;
  for (size_t i = out->at[rank]; i < out->at[rank + 1]; i++)
    if (search->of[search->domain[out->other[i]]] != own) sum += out->bytes[i];
  return sum;
}

void gab_cluster_count(gab_cluster_search *search)
{
  memset(search->size, 0, (size_t)search->ranks * sizeof *search->size);
  for (int32_t d = 0; d < search->domains; d++) search->size[search->of[d]]++;
  for (int32_t s = 0; s < search->ranks; s++) search->log[s] = gab_cluster_log_of(search, s);
}

gab_cluster_cost gab_cluster_cost_now(gab_cluster_search *search, gab_cluster_goal goal)
{
  double total = 0, largest = 0, count = 0;
  for (int32_t s = 0; s < search->ranks; s++) {
    const double log = search->log[s];
    total += log;
    if (log > largest) count = 0;
    if (log > largest) largest = log;
    count += log == largest;
  }
  search->work -= search->ranks;
  if (goal == GAB_CLUSTERS_TOTAL) return (gab_cluster_cost){{total, largest, count}};
  return (gab_cluster_cost){{largest, count, total}};
}
