/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters: where a search begins. */
#include "loadbalance/clusters/clusters_impl.h"

#include "core/base/hash.h"

/* The cluster of the domain that stands at a place: sizes differ by one at most. */
static int32_t cluster_at(const gab_cluster_search *search, int32_t place)
{
  return (int32_t)((int64_t)place * search->clusters / search->domains);
}

void gab_cluster_start_ranges(gab_cluster_search *search)
{
  for (int32_t d = 0; d < search->domains; d++) search->of[d] = cluster_at(search, d);
  gab_cluster_count(search);
}

/* Fisher and Yates. */
void gab_cluster_start_random(gab_cluster_search *search, uint64_t seed)
{
  gab_cluster_start_ranges(search);
  for (int32_t d = search->domains - 1; d > 0; d--) {
    const int32_t other = (int32_t)(gab_hash_counter(seed, (uint64_t)d, 0) % (uint64_t)(d + 1));
    const int32_t kept = search->of[d];
    search->of[d] = search->of[other];
    search->of[other] = kept;
  }
  gab_cluster_count(search);
}

#ifdef GAB_HAVE_METIS
#include <metis.h>
#include <stdlib.h>

enum { LEAST_PER_PART = 4 }; /* with fewer METIS has nothing to work with */

typedef struct metis_task {
  gab_flow *links; /* between domains, both ways, ascending, once each */
  size_t count;
  idx_t *at, *other, *weight, *part;
} metis_task;

static int by_pair(const void *a, const void *b)
{
  const gab_flow *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

static gab_status collect(const gab_cluster_search *search, metis_task *it)
{
  const gab_flow_rows *out = &search->out;
  GAB_TRY(GAB_NEW_ARRAY(&it->links, 2 * out->at[search->ranks], GAB_MEMORY_OTHER));
  for (int32_t s = 0; s < search->ranks; s++)
    for (size_t i = out->at[s]; i < out->at[s + 1]; i++) {
      const int32_t a = search->domain[s], b = search->domain[out->other[i]];
      it->links[it->count++] = (gab_flow){a, b, out->bytes[i]};
      it->links[it->count++] = (gab_flow){b, a, out->bytes[i]};
    }
  if (it->count > 0) qsort(it->links, it->count, sizeof *it->links, by_pair);
  size_t kept = 0;
  for (size_t i = 0; i < it->count; i++) {
    if (kept > 0 && by_pair(&it->links[kept - 1], &it->links[i]) == 0)
      it->links[kept - 1].bytes += it->links[i].bytes;
    else it->links[kept++] = it->links[i];
  }
  it->count = kept;
  return GAB_OK;
}

/* Weights from 1 to 2^20, the same both ways: METIS 5.1.0 writes beyond its arrays where they differ. */
static gab_status make_graph(const gab_cluster_search *search, metis_task *it)
{
  double most = 0;
  GAB_TRY(GAB_NEW_ARRAY(&it->at, (size_t)search->domains + 1, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->other, it->count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->weight, it->count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->part, (size_t)search->domains, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < it->count; i++)
    if (it->links[i].bytes > most) most = it->links[i].bytes;
  for (size_t i = 0; i < it->count; i++) {
    it->at[it->links[i].from + 1]++;
    it->other[i] = it->links[i].to;
    it->weight[i] = 1 + (idx_t)(most > 0 ? it->links[i].bytes / most * ((1 << 20) - 1) : 0);
  }
  for (int32_t d = 0; d < search->domains; d++) it->at[d + 1] += it->at[d];
  return GAB_OK;
}

static bool cut(const gab_cluster_search *search, metis_task *it)
{
  idx_t vertices = search->domains, constraints = 1, parts = search->clusters, edges, how[METIS_NOPTIONS];
  METIS_SetDefaultOptions(how);
  how[METIS_OPTION_SEED] = 1;
  how[METIS_OPTION_NUMBERING] = 0;
  if (METIS_PartGraphRecursive(&vertices, &constraints, it->at, it->other, NULL, NULL, it->weight, &parts,
                               NULL, NULL, how, &edges, it->part) != METIS_OK)
    return false;
  for (int32_t d = 0; d < search->domains; d++)
    if (it->part[d] < 0 || it->part[d] >= parts) return false;
  return true;
}

/* METIS is about even: domains behind the place at which a cluster is full go to those that are not. */
static void even_out(gab_cluster_search *search)
{
  const int32_t least = search->domains / search->clusters;
  int32_t larger = search->domains % search->clusters; /* so many have one more */
  int32_t *capacity = search->size;                    /* counted anew afterwards */
  for (int32_t c = 0; c < search->clusters; c++) {
    const bool is_larger = capacity[c] > least && larger > 0;
    larger -= is_larger;
    capacity[c] = least + is_larger;
  }
  for (int32_t c = 0; c < search->clusters && larger > 0; c++, larger--) {
    while (capacity[c] > least) c++;
    capacity[c]++;
  }
  for (int32_t d = 0; d < search->domains; d++)
    if (capacity[search->of[d]]-- <= 0) search->of[d] = -1 - search->of[d];
  for (int32_t d = 0, c = 0; d < search->domains; d++) {
    if (search->of[d] >= 0) continue;
    while (capacity[c] <= 0) c++;
    search->of[d] = c;
    capacity[c]--;
  }
}

gab_status gab_cluster_start_metis(gab_cluster_search *search, bool *made)
{
  metis_task it = {0};
  *made = false;
  if (search->clusters < 2 || search->domains < LEAST_PER_PART * search->clusters) return GAB_OK;
  gab_status status = collect(search, &it);
  if (status == GAB_OK) status = make_graph(search, &it);
  *made = status == GAB_OK && it.count > 0 && cut(search, &it);
  for (int32_t d = 0; d < search->domains && *made; d++) search->of[d] = (int32_t)it.part[d];
  if (*made) {
    gab_cluster_count(search);
    even_out(search);
    gab_cluster_count(search);
  }
  gab_free(&it.links);
  gab_free(&it.at);
  gab_free(&it.other);
  gab_free(&it.weight);
  gab_free(&it.part);
  return status;
}
#else
gab_status gab_cluster_start_metis(gab_cluster_search *search, bool *made)
{
  (void)search;
  *made = false;
  return GAB_OK;
}
#endif
