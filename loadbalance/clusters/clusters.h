/* SPDX-License-Identifier: Apache-2.0 */
/** @file clusters.h
 *  @brief Division of processes into clusters that roll back together, such that little is logged between them.
 *
 *  After Ropars et al. 2013 (SPBC), sections 4.1, 6.1 and 6.2: checkpoints are coordinated within a cluster, messages between
 *  clusters are logged, and a death rolls its cluster back. Few large clusters log little and lose much. The paper
 *  minimises the *total* log. The memory of the process with the *largest* log is exhausted first, so that goal exists too.
 *
 *  Units of the division are failure domains (a node, say), since a log between processes that fail together is useless. A
 *  domain is never divided. Numbers of domains per cluster differ by one at most; otherwise the least log would be one
 *  cluster of nearly all. Traffic is given as numbers; forests and recoveries are not known here.
 *
 *  The problem is NP-hard (graph partitioning). Starting points: ranges of domains in their order (blocks follow a curve, so
 *  near domains have near numbers), METIS where it is built in, and for up to 64 domains some random ones. From each,
 *  domains are moved and swapped as long as that improves the goal (Kernighan & Lin 1970; first improvement), within a
 *  bound of work; the best result is returned. It does not depend on time or machine, except for METIS. Tests compare small
 *  cases with all divisions.
 *
 *  Local: on one process, which knows all traffic. For planning.
 *
 *  Stability: internal.
 */
#ifndef GABION_LOADBALANCE_CLUSTERS_H
#define GABION_LOADBALANCE_CLUSTERS_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What one process sends to another in a step. */
typedef struct gab_flow {
  gab_rank from, to;
  double bytes;
} gab_flow;

typedef enum gab_cluster_goal {
  GAB_CLUSTERS_TOTAL,  /**< least bytes logged by all; of equals the least largest */
  GAB_CLUSTERS_LARGEST /**< least bytes logged by one process; of equals by the fewest, then the least total */
} gab_cluster_goal;

typedef struct gab_cluster_task {
  int32_t ranks; /**< 0 … ranks - 1 */
  const gab_flow *
      flows; /**< in any order; several of one pair add up, what goes to oneself counts nothing; not negative */
  size_t flow_count;
  const int32_t *domain; /**< of each rank, numbered from 0 without gaps; NULL: each is one by itself */
  int32_t clusters;      /**< from 1 to the number of domains */
  gab_cluster_goal goal;
} gab_cluster_task;

/** What a division means. Bytes per step. */
typedef struct gab_cluster_log {
  double total, mean, largest; /**< logged by all, by a process on average, and at most */
  gab_rank at;                 /**< who logs most, the first of them */
  double back_mean,
      back_most; /**< share of the processes that rolls back at the death of one: expected, and at most */
} gab_cluster_log;

/** Divides. @param[out] cluster  one per rank, from 0 @param[out] log  what that means; may be NULL
 *  @return ::GAB_ERR_ARGUMENT for ranks, domains, or a number of clusters that cannot be */
gab_status gab_clusters_find(const gab_cluster_task *task, int32_t *cluster, gab_cluster_log *log);
/** What a given division means; `clusters` and `goal` of the task do not matter. @param[in] cluster  one per rank, from 0 */
gab_status gab_clusters_judge(const gab_cluster_task *task, const int32_t *cluster, gab_cluster_log *log);

#ifdef __cplusplus
}
#endif
#endif
