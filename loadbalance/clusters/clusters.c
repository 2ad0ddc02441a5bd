/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of processes: the task as arrays, the report of a division, and the best of several searches. */
#include "loadbalance/clusters/clusters_impl.h"

#include <string.h>

enum { SMALL = 64, RANDOM_STARTS = 24 };

static const double most_work = 2e7; /* limit of flows examined per start: less than a second */

/* ---------------------------------------------------------------- arrays */

static gab_status check(const gab_cluster_task *task)
{
  if (task->ranks < 1) GAB_FAIL(GAB_ERR_ARGUMENT, "clusters of %" PRId32 " processes", task->ranks);
  for (size_t i = 0; i < task->flow_count; i++) {
    const gab_flow *flow = &task->flows[i];
    if (flow->from < 0 || flow->from >= task->ranks || flow->to < 0 || flow->to >= task->ranks ||
        !(flow->bytes >= 0))
      GAB_FAIL(GAB_ERR_ARGUMENT, "%g bytes from process %" GAB_PRI_RANK " to %" GAB_PRI_RANK ", of %" PRId32,
               flow->bytes, flow->from, flow->to, task->ranks);
  }
  return GAB_OK;
}

/* Counts the domains, whose numbers must have no gaps. */
static gab_status count_domains(gab_cluster_search *search)
{
  const gab_cluster_task *task = search->task;
  GAB_TRY(GAB_NEW_ARRAY(&search->domain, (size_t)task->ranks, GAB_MEMORY_OTHER));
  for (int32_t s = 0; s < task->ranks; s++) {
    const int32_t domain = task->domain ? task->domain[s] : s;
    if (domain < 0 || domain >= task->ranks)
      GAB_FAIL(GAB_ERR_ARGUMENT, "process %" PRId32 " is in domain %" PRId32, s, domain);
    search->domain[s] = domain;
    if (domain >= search->domains) search->domains = domain + 1;
  }
  GAB_TRY(GAB_NEW_ARRAY(&search->member_at, (size_t)search->domains + 1, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&search->member, (size_t)task->ranks, GAB_MEMORY_OTHER));
  size_t *at = search->member_at;
  for (int32_t s = 0; s < task->ranks; s++) at[search->domain[s] + 1]++;
  for (int32_t d = 0; d < search->domains; d++) {
    if (at[d + 1] == 0) GAB_FAIL(GAB_ERR_ARGUMENT, "no process is in domain %" PRId32, d);
    at[d + 1] += at[d];
  }
  for (int32_t s = task->ranks; s-- > 0;) search->member[--at[search->domain[s] + 1]] = s;
  for (int32_t d = 0; d < search->domains; d++) at[d] = at[d + 1];
  at[search->domains] = (size_t)task->ranks;
  return GAB_OK;
}

/* Several flows of a pair are kept; readers add them up. */
static gab_status make_rows(const gab_cluster_search *search, bool by_source, gab_flow_rows *rows)
{
  const gab_cluster_task *task = search->task;
  GAB_TRY(GAB_NEW_ARRAY(&rows->at, (size_t)task->ranks + 2, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&rows->other, task->flow_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&rows->bytes, task->flow_count, GAB_MEMORY_OTHER));
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < task->flow_count; i++) {
      const gab_flow *flow = &task->flows[i];
      const int32_t row = by_source ? flow->from : flow->to, other = by_source ? flow->to : flow->from;
      if (search->domain[row] == search->domain[other]) continue;
      if (pass == 0) {
        rows->at[row + 2]++;
        continue;
      }
      const size_t place = rows->at[row + 1]++;
      rows->other[place] = other;
      rows->bytes[place] = flow->bytes;
    }
    for (int32_t s = 0; pass == 0 && s < task->ranks; s++) rows->at[s + 2] += rows->at[s + 1];
  }
  return GAB_OK;
}

static void release(gab_cluster_search *search)
{
  gab_flow_rows *rows[] = {&search->out, &search->in};
  for (int i = 0; i < 2; i++) {
    gab_free(&rows[i]->at);
    gab_free(&rows[i]->other);
    gab_free(&rows[i]->bytes);
  }
  gab_free(&search->domain);
  gab_free(&search->member_at);
  gab_free(&search->member);
  gab_free(&search->of);
  gab_free(&search->size);
  gab_free(&search->log);
  gab_free(&search->best);
}

static gab_status begin(const gab_cluster_task *task, int32_t clusters, gab_cluster_search *search)
{
  *search = (gab_cluster_search){.task = task, .ranks = task->ranks, .clusters = clusters};
  GAB_TRY(check(task));
  GAB_TRY(count_domains(search));
  GAB_TRY(make_rows(search, true, &search->out));
  GAB_TRY(make_rows(search, false, &search->in));
  GAB_TRY(GAB_NEW_ARRAY(&search->of, (size_t)search->domains, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&search->best, (size_t)search->domains, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&search->size, (size_t)search->ranks, GAB_MEMORY_OTHER));
  return GAB_NEW_ARRAY(&search->log, (size_t)search->ranks, GAB_MEMORY_OTHER);
}

/* ---------------------------------------------------------------- evaluation of a division */

static void describe(const gab_cluster_search *search, const int32_t *cluster, gab_cluster_log *log)
{
  *log = (gab_cluster_log){.at = 0};
  int32_t *count = search->size; /* from now on numbers of processes */
  memset(count, 0, (size_t)search->ranks * sizeof *count);
  for (int32_t s = 0; s < search->ranks; s++) {
    const double bytes = search->log[s];
    log->total += bytes;
    if (bytes > log->largest) log->at = s;
    if (bytes > log->largest) log->largest = bytes;
    count[cluster[s]]++;
  }
  log->mean = log->total / search->ranks;
  for (int32_t c = 0; c < search->ranks; c++) {
    const double share = (double)count[c] / search->ranks;
    log->back_mean += share * share;
    if (share > log->back_most) log->back_most = share;
  }
}

gab_status gab_clusters_judge(const gab_cluster_task *task, const int32_t *cluster, gab_cluster_log *log)
{
  gab_cluster_search search;
  gab_cluster_task alone = *task;
  alone.domain = NULL; /* any division may be evaluated */
  gab_status status = begin(&alone, 1, &search);
  for (int32_t s = 0; s < task->ranks && status == GAB_OK; s++) {
    if (cluster[s] < 0 || cluster[s] >= task->ranks)
      status = gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                             "process %" PRId32 " is in cluster %" PRId32, s, cluster[s]);
    search.of[s] = cluster[s];
  }
  if (status == GAB_OK) gab_cluster_count(&search);
  if (status == GAB_OK) describe(&search, cluster, log);
  release(&search);
  return status;
}

/* ---------------------------------------------------------------- the best of several searches */

typedef struct contest {
  gab_cluster_search *search;
  gab_cluster_cost best;
  bool any;
} contest;

/* Two searches from the division in `of`: minimise the total log first, then the largest log; or only the largest
 * log. */
static void enter(contest *it)
{
  gab_cluster_search *search = it->search;
  const gab_cluster_goal goal = search->task->goal;
  search->work = most_work;
  gab_cluster_improve(search, goal);
  const gab_cluster_cost cost = gab_cluster_cost_now(search, goal);
  if (it->any && !gab_cluster_is_less(&cost, &it->best)) return;
  it->any = true;
  it->best = cost;
  memcpy(search->best, search->of, (size_t)search->domains * sizeof *search->of);
}

static void enter_both(contest *it)
{
  gab_cluster_search *search = it->search;
  enter(it);
  if (search->task->goal != GAB_CLUSTERS_LARGEST) return;
  search->work = most_work;
  gab_cluster_improve(search, GAB_CLUSTERS_TOTAL);
  enter(it);
}

static gab_status find(gab_cluster_search *search, int32_t *cluster)
{
  contest it = {.search = search};
  bool made;
  gab_cluster_start_ranges(search);
  enter_both(&it);
  GAB_TRY(gab_cluster_start_metis(search, &made));
  if (made) enter_both(&it);
  for (uint64_t seed = 0; seed < RANDOM_STARTS && search->domains <= SMALL; seed++) {
    gab_cluster_start_random(search, seed);
    enter_both(&it);
  }
  memcpy(search->of, search->best, (size_t)search->domains * sizeof *search->of);
  gab_cluster_count(search);
  for (int32_t s = 0; s < search->ranks; s++) cluster[s] = search->of[search->domain[s]];
  return GAB_OK;
}

gab_status gab_clusters_find(const gab_cluster_task *task, int32_t *cluster, gab_cluster_log *log)
{
  gab_cluster_search search;
  gab_status status = begin(task, task->clusters, &search);
  if (status == GAB_OK && (task->clusters < 1 || task->clusters > search.domains))
    status =
        gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                      "%" PRId32 " clusters of %" PRId32 " failure domains", task->clusters, search.domains);
  if (status == GAB_OK) status = find(&search, cluster);
  if (status == GAB_OK && log) describe(&search, cluster, log);
  release(&search);
  return status;
}
