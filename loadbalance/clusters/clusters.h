/** @file clusters.h
 *  @brief Clusters of processes that roll back together, such that little has to be logged between them.
 *
 *  After Ropars et al. 2013 (SPBC), sections 4.1, 6.1 and 6.2: within a cluster checkpoints are coordinated, between clusters the
 *  sender logs every message, and a death takes its cluster back. Few large clusters log little and lose much. Which processes
 *  share a cluster decides how much, and how evenly, is logged: the paper takes the least *total*; the memory of the process that
 *  logs most runs out first, so here is the least *largest*, too, which the paper leaves open.
 *
 *  *What is divided* are failure domains (a node, say): processes that die together gain nothing from a log between them. A
 *  domain is never cut. Clusters have as equal numbers of domains as there can be, they differ by one at most: without that the least
 *  log is one cluster of nearly all. It is a kind of balancing, over processes instead of blocks, so it lives here, beside METIS; it
 *  knows traffic as numbers and nothing of forests or recoveries.
 *
 *  *How.* The problem is NP-hard (graph partitioning). Starts: ranges of domains in their order (blocks lie along a curve, so
 *  near domains have near numbers), METIS where it is built in, and for up to 64 domains some at random; from each, domains change
 *  places as long as that is better (Kernighan & Lin 1970; first improvement, moves and swaps), within a bound of work. The best
 *  is kept. Nothing depends on the clock or on the machine, but METIS may be left out of a build. Tests compare small cases with all divisions.
 *
 *  Local: on one process, which knows all traffic. For planning.
 *
 *  Tier: extender header.
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
