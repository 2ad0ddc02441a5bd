/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=120 */
/* Clusters: hand-computed logs; small cases against all divisions, for both goals; domains stay whole; what cannot be is refused. */
#include "loadbalance/clusters/clusters.h"

#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { MOST_RANKS = 512, MOST_FLOWS = 4096 };

static gab_flow flows[MOST_FLOWS];
static size_t flow_count;
static int32_t cluster[MOST_RANKS];

static void add(gab_rank from, gab_rank to, double bytes)
{
  assert_true(flow_count < MOST_FLOWS);
  flows[flow_count++] = (gab_flow){from, to, bytes};
}

static gab_cluster_task task_of(int32_t ranks, const int32_t *domain, int32_t clusters, gab_cluster_goal goal)
{
  return (gab_cluster_task){ranks, flows, flow_count, domain, clusters, goal};
}

static gab_cluster_log find(int32_t ranks, const int32_t *domain, int32_t clusters, gab_cluster_goal goal)
{
  const gab_cluster_task task = task_of(ranks, domain, clusters, goal);
  gab_cluster_log log, judged;
  assert_int_equal(gab_clusters_find(&task, cluster, &log), GAB_OK);
  assert_int_equal(gab_clusters_judge(&task, cluster, &judged), GAB_OK);
  assert_true(log.total == judged.total && log.mean == judged.mean && log.largest == judged.largest);
  assert_true(log.at == judged.at && log.back_mean == judged.back_mean && log.back_most == judged.back_most);
  return log;
}

/* ---------------------------------------------------------------- by hand */

static void a_ring_is_cut_into_arcs(void **state)
{
  (void)state;
  flow_count = 0;
  for (gab_rank s = 0; s < 8; s++) {
    add(s, (s + 1) % 8, 6);
    add(s, (s + 7) % 8, 10);
    add(s, (s + 1) % 8, 4); /* adds to the first */
    add(s, s, 1000);        /* to oneself: nothing */
  }
  const struct {
    int32_t clusters;
    double total, largest, back;
  } due[] = {{1, 0, 0, 1}, {2, 40, 10, 0.5}, {4, 80, 10, 0.25}, {8, 160, 20, 0.125}};
  for (int i = 0; i < 4; i++)
    for (int goal = 0; goal < 2; goal++) {
      const gab_cluster_log log = find(8, NULL, due[i].clusters, (gab_cluster_goal)goal);
      assert_true(log.total == due[i].total && log.largest == due[i].largest);
      assert_true(log.mean == due[i].total / 8);
      assert_true(log.back_mean == due[i].back && log.back_most == due[i].back);
    }
  /* 8 into 3: two of three and one of two; a process is in a cluster of 3 with probability 6/8 */
  const gab_cluster_log log = find(8, NULL, 3, GAB_CLUSTERS_TOTAL);
  assert_true(log.total == 60 && log.back_most == 3.0 / 8);
  assert_true(fabs(log.back_mean - (9.0 + 9.0 + 4.0) / 64) < 1e-15);
}

static void a_square_is_cut_into_quarters(void **state)
{
  (void)state;
  flow_count = 0;
  for (gab_rank y = 0; y < 4; y++)
    for (gab_rank x = 0; x < 4; x++) {
      if (x < 3) add(4 * y + x, 4 * y + x + 1, 1), add(4 * y + x + 1, 4 * y + x, 1);
      if (y < 3) add(4 * y + x, 4 * y + x + 4, 1), add(4 * y + x + 4, 4 * y + x, 1);
    }
  gab_cluster_log log = find(16, NULL, 4, GAB_CLUSTERS_TOTAL);
  assert_true(log.total == 16 && log.largest == 2);
  log = find(16, NULL, 2, GAB_CLUSTERS_LARGEST);
  assert_true(log.total == 8 && log.largest == 1);
}

/* Ranks are dealt out to four nodes one by one, and talk with their neighbours in number: no cut can spare a node. */
static void domains_stay_whole(void **state)
{
  (void)state;
  int32_t domain[16];
  flow_count = 0;
  for (gab_rank s = 0; s < 16; s++) {
    domain[s] = s % 4;
    add(s, (s + 1) % 16, 1);
  }
  for (int goal = 0; goal < 2; goal++) {
    const gab_cluster_log log = find(16, domain, 2, (gab_cluster_goal)goal);
    for (gab_rank s = 4; s < 16; s++) assert_int_equal(cluster[s], cluster[s % 4]);
    assert_true(log.total == 8 && log.largest == 1 && log.back_mean == 0.5);
  }
}

/* ---------------------------------------------------------------- against all divisions */

typedef struct optimum {
  double total, largest_of_total;
  double largest, total_of_largest;
  bool any;
} optimum;

static bool is_even(const int32_t *of, int32_t domains, int32_t clusters)
{
  int32_t size[8] = {0}, least = domains, most = 0;
  for (int32_t d = 0; d < domains; d++) size[of[d]]++;
  for (int32_t c = 0; c < clusters; c++) {
    if (size[c] < least) least = size[c];
    if (size[c] > most) most = size[c];
  }
  return most - least <= 1;
}

static optimum try_all(int32_t ranks, const int32_t *domain, int32_t domains, int32_t clusters)
{
  const gab_cluster_task task = task_of(ranks, domain, clusters, GAB_CLUSTERS_TOTAL);
  optimum best = {.any = false};
  int32_t of[8] = {0}, by_rank[16];
  for (;;) {
    if (is_even(of, domains, clusters)) {
      gab_cluster_log log;
      for (int32_t s = 0; s < ranks; s++) by_rank[s] = of[domain[s]];
      assert_int_equal(gab_clusters_judge(&task, by_rank, &log), GAB_OK);
      if (!best.any || log.total < best.total ||
          (log.total == best.total && log.largest < best.largest_of_total))
        best.total = log.total, best.largest_of_total = log.largest;
      if (!best.any || log.largest < best.largest) best.largest = log.largest;
      best.any = true;
    }
    int32_t d = 1; /* the first domain is in cluster 0: names do not matter */
    while (d < domains && ++of[d] == clusters) of[d++] = 0;
    if (d == domains) return best;
  }
}

static void small_cases_are_solved_exactly(void **state)
{
  (void)state;
  int apart = 0;
  for (uint64_t seed = 0; seed < 120; seed++) {
    const int32_t domains = 4 + (int32_t)(seed % 5), clusters = 2 + (int32_t)(seed / 5 % 3);
    const int32_t ranks = seed % 2 ? domains : domains + 4;
    int32_t domain[16];
    flow_count = 0;
    for (int32_t s = 0; s < ranks; s++) domain[s] = s % domains;
    for (gab_rank a = 0; a < ranks; a++)
      for (gab_rank b = 0; b < ranks; b++) {
        const uint64_t drawn = gab_hash_counter(seed, (uint64_t)a, (uint64_t)b);
        if (drawn % 3 == 0) add(a, b, (double)(drawn / 3 % 100));
      }
    const optimum best = try_all(ranks, domain, domains, clusters);
    const gab_cluster_log total = find(ranks, domain, clusters, GAB_CLUSTERS_TOTAL);
    const gab_cluster_log largest = find(ranks, domain, clusters, GAB_CLUSTERS_LARGEST);
    assert_true(total.total == best.total && total.largest == best.largest_of_total);
    assert_true(largest.largest == best.largest);
    apart += total.largest > largest.largest && largest.total > total.total;
  }
  assert_true(apart > 20); /* the two goals are two */
}

/* ---------------------------------------------------------------- larger ones */

/* A periodic cube of 8 x 8 x 8, numbered plane by plane: eight cubes of 4 x 4 x 4 send 96 each, slabs 128. */
static void a_large_case_is_better_than_ranges(void **state)
{
  (void)state;
  flow_count = 0;
  for (gab_rank s = 0; s < 512; s++)
    for (int axis = 0; axis < 3; axis++)
      for (int way = 1; way < 8; way += 6) {
        const int unit = 1 << (3 * axis), at = s / unit % 8;
        add(s, s + ((at + way) % 8 - at) * unit, 1);
      }
  const gab_cluster_log total = find(512, NULL, 8, GAB_CLUSTERS_TOTAL);
  assert_true(total.total >= 768 && total.total <= 1024);
  assert_true(total.back_most == 0.125 && total.back_mean == 0.125);
  const gab_cluster_log largest = find(512, NULL, 8, GAB_CLUSTERS_LARGEST);
  assert_true(largest.largest <= total.largest && largest.largest >= 2);
}

/* ---------------------------------------------------------------- what cannot be */

static void wrong_tasks_are_refused(void **state)
{
  (void)state;
  const int32_t gap[3] = {0, 2, 2}, beyond[3] = {0, 1, 3}, negative[3] = {0, -1, 1}, wrong[3] = {0, 1, 3};
  gab_cluster_log log;
  flow_count = 0;
  add(0, 2, 1);
  gab_cluster_task task = task_of(3, NULL, 2, GAB_CLUSTERS_TOTAL);
  assert_int_equal(gab_clusters_find(&task, cluster, NULL), GAB_OK);
  assert_int_equal(gab_clusters_judge(&task, wrong, &log), GAB_ERR_ARGUMENT);
  const int32_t *const domains[] = {gap, beyond, negative};
  for (int i = 0; i < 3; i++) {
    task.domain = domains[i];
    assert_int_equal(gab_clusters_find(&task, cluster, NULL), GAB_ERR_ARGUMENT);
  }
  task.domain = NULL;
  for (int32_t clusters = 0; clusters < 6; clusters += 4) {
    task.clusters = clusters;
    assert_int_equal(gab_clusters_find(&task, cluster, NULL), GAB_ERR_ARGUMENT);
  }
  task.clusters = 2;
  const gab_flow bad[] = {{0, 3, 1}, {-1, 0, 1}, {0, 1, -1}, {0, 1, NAN}};
  for (int i = 0; i < 4; i++) {
    flows[0] = bad[i];
    assert_int_equal(gab_clusters_find(&task, cluster, NULL), GAB_ERR_ARGUMENT);
  }
  task.ranks = 0;
  assert_int_equal(gab_clusters_find(&task, cluster, NULL), GAB_ERR_ARGUMENT);
  task = task_of(1, NULL, 1, GAB_CLUSTERS_LARGEST);
  task.flow_count = 0;
  assert_int_equal(gab_clusters_find(&task, cluster, &log), GAB_OK);
  assert_true(log.total == 0 && log.back_most == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_ring_is_cut_into_arcs),
                                     cmocka_unit_test(a_square_is_cut_into_quarters),
                                     cmocka_unit_test(domains_stay_whole),
                                     cmocka_unit_test(small_cases_are_solved_exactly),
                                     cmocka_unit_test(a_large_case_is_better_than_ranges),
                                     cmocka_unit_test(wrong_tasks_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
