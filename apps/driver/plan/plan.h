/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan.h
 *  @brief `gabion plan`: requirements of a case on a number of processes, from proxies only.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_PLAN_H
#define GABION_APPS_DRIVER_PLAN_H

#include "apps/driver/driver.h"
#include "apps/driver/plan/plan_traffic.h"
#include "core/base/text/json.h"
#include "loadbalance/balance.h"
#include "resilience/schemes/placement.h"
#include "resilience/resilience_config.h"

/** The command line. */
typedef struct plan_options {
  gab_app_options common;
  int64_t ranks;                  /**< 0: recommended by the case */
  const char *strategy;           /**< of balancing; NULL: from the case */
  const char *scheme;             /**< of redundancy; NULL: from the case */
  int64_t copies;                 /**< -1: from the case */
  int64_t group, losses;          /**< of coded schemes; 0: from the case */
  int64_t per_node, per_island;   /**< processes per node, nodes per island; 0: unknown */
  double memory;                  /**< bytes per process, for the minimum number of processes; 0: not
                                   * requested */
  double bandwidth;               /**< byte/s of a process; 0: measured */
  double mtbf;                    /**< s; 0: from the case, if any */
  double mtbf_process, mtbf_node; /**< s, of each process or node instead (Kohl et al. 2017, eq. 1); 0: not
                                   * given */
  double cycles;                  /**< iterations per solve of a linear solver; 0: the default */
  double rate;                    /**< cell updates per second and process; 0: unknown */
  bool json;
  bool clusters;       /**< estimate logs between clusters of processes */
  int64_t divide;      /**< number of clusters; 0: not requested */
  bool least_largest;  /**< minimise the largest log of a process instead of the total */
  const char *write;   /**< file for the division; NULL: none */
  const char *traffic; /**< traffic of a run (plan_traffic.h) instead of a planned one; NULL: none */
} plan_options;

/** Logs between clusters (loadbalance/clusters/clusters.h), for one number of them. */
typedef struct plan_cluster_row {
  int32_t clusters;
  gab_cluster_log total, largest; /**< with the least total log, and with the least maximum */
} plan_cluster_row;

/** Division of processes in the file format of resilience.local.clusters. */
typedef struct plan_division {
  int32_t clusters; /**< 0: not requested */
  gab_cluster_goal goal;
  gab_cluster_log log;
  const char *path; /**< borrowed; NULL: not written */
} plan_division;

enum { PLAN_MOST_CLUSTER_ROWS = 33 };

typedef struct plan_clusters {
  int32_t ranks, domains;
  plan_cluster_row rows[PLAN_MOST_CLUSTER_ROWS]; /**< for 1, 2, 4, 8, … clusters, and one for each domain */
  int count;
  plan_division division;
} plan_clusters;

/** Minimum, mean and maximum over ranks. */
typedef struct plan_spread {
  double least, mean, most;
} plan_spread;

typedef struct plan_numbers {
  int32_t ranks;
  gab_spares_asked spares; /**< of the case */
  int32_t all_processes;   /**< including them; 0: the number of nodes is unknown */
  gab_balance_report balance;
  plan_spread blocks[GAB_BALANCE_LEVELS + 1]; /**< per level and rank; after the last level: all */
  const gab_balancer *strategy;
  gab_redundancy redundancy;
  gab_domains *domains;    /**< owned; NULL: every process is a domain */
  gab_placement placement; /**< of the redundancy; owned */
  plan_spread held;        /**< bytes stored for others, per snapshot */
  plan_spread seen; /**< part of them in the memory of others on the same node, as far as nodes are known */
  bool shares;      /**< the case requests that */
  plan_spread network;            /**< bytes sent per snapshot */
  int buffers;                    /**< number of snapshot buffers */
  double memory_given;            /**< bytes per process; 0: not given */
  int32_t fewest, fewest_at_peak; /**< minimum number of processes with that memory; 0: none */
  plan_spread state, memory;      /**< bytes: the fields; with snapshots, Kohl et al. 2017, eq. 2 */
  double image;                   /**< bytes: maximum over ranks */
  double peak;                    /**< bytes: maximum during the recovery from one death; 0: not survivable */
  plan_spread partners, sent;     /**< neighbour ranks; bytes sent in a step of level 0 */
  plan_spread messages;           /**< number of messages for it; levels are not combined into one message */
  double updates;                 /**< maximum cell updates of a rank in a step of level 0 */
  double bandwidth, cost;         /**< byte/s; s per checkpoint */
  bool is_measured;               /**< the bandwidth was measured on this machine */
  double mtbf, interval;          /**< s; 0: unknown */
  double step_seconds;            /**< 0: unknown */
  const char *fields;             /**< as in ::gab_app_plan, as the next one */
  gab_step adapts_every;
  double planning_seconds; /**< since the world exists */
  size_t proxy_bytes;
  bool wants_local;       /**< the case has strategy `local`, which logs messages while active: */
  bool logs, logs_less;   /**< of strategy `local`; only messages between clusters */
  gab_step own_every;     /**< of strategy `local`: interval of own checkpoints of a cluster; 0: none */
  double log_limit;       /**< limit of the log of a process, in largest images; 0: none */
  gab_app_flows flows;    /**< owned; of a step of level 0, if clusters are requested */
  plan_clusters clusters; /**< no rows: not requested */
} plan_numbers;

/** Computes all numbers. */
gab_status gab_app_plan_work_out(const gab_app_case *which, const gab_app_plan *given,
                                 const plan_options *options, plan_numbers *numbers);
void gab_app_plan_release(plan_numbers *numbers);
void gab_app_plan_print(const gab_app_case *which, const plan_numbers *numbers, FILE *out);
gab_status gab_app_plan_print_json(const gab_app_case *which, const plan_numbers *numbers, FILE *out);

/** Pair of processes with an exchange on a level (the finer one of two blocks). */
typedef struct plan_pair {
  int32_t from, to, level, exchange;
} plan_pair;

/** List of such pairs, with duplicates. Zero-initialise. */
typedef struct plan_pairs {
  plan_pair *items; /**< owned: gab_free() */
  size_t count;
  size_t capacity;
} plan_pairs;

/** Adds a pair. Memory: at most four times the number of different pairs. */
gab_status gab_app_plan_pairs_note(plan_pairs *pairs, const plan_pair *pair);
/** Removes duplicates. */
void gab_app_plan_pairs_settle(plan_pairs *pairs);
/** Adds the envelopes, one for each pair in each exchange of a step of its level, and other data in the same messages. */
gab_status gab_app_plan_flows_settle(gab_app_flows *flows, const plan_pairs *pairs,
                                     const gab_app_plan *given);
/** Divides processes into clusters, for a series of numbers and as in `options`, for which it writes the file. @param[in]
 * domains  nodes; NULL: every process is a domain */
gab_status gab_app_plan_clusters_find(const plan_options *options, const gab_app_flows *flows,
                                      const gab_domains *domains, plan_clusters *found);
/** Makes and writes the division of `options`; no effect without one. @param[out] cluster  capacity for one per rank
 * @return ::GAB_ERR_INPUT for more clusters than domains; ::GAB_ERR_IO */
gab_status gab_app_plan_divide(const plan_options *options, gab_cluster_task *task, int32_t domains,
                               int32_t *cluster, plan_division *division);
void gab_app_plan_division_print(const plan_division *division, FILE *out);
void gab_app_plan_log_put(gab_json *json, const char *name, const gab_cluster_log *log);
void gab_app_plan_division_put(const plan_division *division, gab_json *json);
void gab_app_plan_clusters_print(const plan_clusters *clusters, FILE *out);
void gab_app_plan_clusters_put(const plan_clusters *clusters, gab_json *json);
/** The same from the traffic of a run, without a case. */
gab_status gab_app_plan_clusters_of_run(const plan_options *options, FILE *out);

int gab_app_command_plan(int argc, char **argv);

#endif
