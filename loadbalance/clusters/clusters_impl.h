/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters while they are searched for: clusters.c (the task as arrays, the best of several searches), clusters_cost.c (what a
 * division costs), clusters_start.c (where a search begins), clusters_search.c (changing places).
 *
 * Internal. */
#ifndef GABION_LOADBALANCE_CLUSTERS_IMPL_H
#define GABION_LOADBALANCE_CLUSTERS_IMPL_H

#include "core/memory/memory.h"
#include "loadbalance/clusters/clusters.h"

/* Flows of each rank, in rows: row s is [at[s], at[s + 1]). */
typedef struct gab_flow_rows {
  size_t *at;
  int32_t *other;
  double *bytes;
} gab_flow_rows;

typedef struct gab_cluster_search {
  const gab_cluster_task *task;
  int32_t ranks, domains, clusters;
  gab_flow_rows out, in; /* by source, and by target; flows between domains only */
  int32_t *domain;       /* per rank */
  size_t *member_at;     /* per domain: its ranks in `member` */
  int32_t *member;
  int32_t *of;   /* per domain: its cluster */
  int32_t *size; /* per cluster: its domains */
  double *log;   /* per rank */
  int32_t *best; /* per domain: the best division so far */
  double work;   /* that may still be done, in flows looked at */
} gab_cluster_search;

/* What is compared; less is better, the first that differs decides. */
typedef struct gab_cluster_cost {
  double key[3];
} gab_cluster_cost;

/* clusters_cost.c */
bool gab_cluster_is_less(const gab_cluster_cost *a, const gab_cluster_cost *b);
gab_cluster_cost gab_cluster_cost_now(gab_cluster_search *search, gab_cluster_goal goal);
double gab_cluster_log_of(const gab_cluster_search *search, int32_t rank);
/* Makes sizes and logs anew for the division in `of`. */
void gab_cluster_count(gab_cluster_search *search);

/* clusters_start.c: fill `of`, and count. */
void gab_cluster_start_ranges(gab_cluster_search *search);
void gab_cluster_start_random(gab_cluster_search *search, uint64_t seed);
/* @param[out] made  false: METIS is not there, or has nothing to say */
gab_status gab_cluster_start_metis(gab_cluster_search *search, bool *made);

/* clusters_search.c */
void gab_cluster_improve(gab_cluster_search *search, gab_cluster_goal goal);

#endif
