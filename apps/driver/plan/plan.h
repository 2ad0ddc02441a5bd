/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan.h
 *  @brief `gabion plan`: what a case would need on a number of processes, from proxies alone.
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
  int64_t ranks;                  /**< 0: what the case recommends */
  const char *strategy;           /**< of balancing; NULL: the case's */
  const char *scheme;             /**< of redundancy; NULL: the case's */
  int64_t copies;                 /**< -1: the case's */
  int64_t group, losses;          /**< of coded schemes; 0: the case's */
  int64_t per_node, per_island;   /**< processes on a node, nodes in an island; 0: unknown */
  double memory;                  /**< byte of a process: with how few it would do; 0: not asked for */
  double bandwidth;               /**< byte/s of a process; 0: to be measured */
  double mtbf;                    /**< s; 0: the case's, if any */
  double mtbf_process, mtbf_node; /**< s, of each instead (Kohl et al. 2017, eq. 1); 0: not given */
  double cycles;                  /**< of a solver of a linear system in each solve; 0: the usual number */
  double rate;                    /**< cell updates per second and process; 0: unknown */
  bool json;
  bool clusters;       /**< what logs between clusters of processes would take */
  int64_t divide;      /**< into so many; 0: not asked for */
  bool least_largest;  /**< by the least largest log of a process instead of the least total */
  const char *write;   /**< file for the division; NULL: none */
  const char *traffic; /**< of a run (plan_traffic.h) instead of what is planned; NULL: none */
} plan_options;

/** Logs between clusters (loadbalance/clusters/clusters.h), for one number of them. */
typedef struct plan_cluster_row {
  int32_t clusters;
  gab_cluster_log total, largest; /**< by least total log, and by least largest */
} plan_cluster_row;

/** Processes divided as resilience.local.clusters takes it from a file. */
typedef struct plan_division {
  int32_t clusters; /**< 0: none was asked for */
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

/** Least, mean and most of all ranks. */
typedef struct plan_spread {
  double least, mean, most;
} plan_spread;

typedef struct plan_numbers {
  int32_t ranks;
  gab_spares_asked spares; /**< that the case asks for */
  int32_t all_processes;   /**< with them; 0: on how many nodes is not known */
  gab_balance_report balance;
  plan_spread blocks[GAB_BALANCE_LEVELS + 1]; /**< per level and rank; behind the last level: all */
  const gab_balancer *strategy;
  gab_redundancy redundancy;
  gab_domains *domains;    /**< owned; NULL: every process on its own */
  gab_placement placement; /**< of the redundancy; owned */
  plan_spread held;        /**< byte kept of others, per snapshot */
  plan_spread
      seen; /**< part of it that lies in the memory of these: of the same node, as far as nodes are known */
  bool shares;                    /**< the case asks for that */
  plan_spread network;            /**< byte sent per snapshot */
  int buffers;                    /**< snapshots that there is capacity for */
  double memory_given;            /**< byte of a process; 0: not asked for */
  int32_t fewest, fewest_at_peak; /**< processes that do with it; 0: none */
  plan_spread state, memory;      /**< byte: the fields; with snapshots, Kohl et al. 2017, eq. 2 */
  double image;                   /**< byte: largest of a rank */
  double peak;                    /**< byte: most in the recovery from one death; 0: none is survived */
  plan_spread partners, sent;     /**< neighbour ranks; byte sent in a step of level 0 */
  plan_spread messages;           /**< in which that goes; between levels as if these were one */
  double updates;                 /**< most cell updates of a rank in a step of level 0 */
  double bandwidth, cost;         /**< byte/s; s of a checkpoint */
  bool is_measured;               /**< the bandwidth, on this machine */
  double mtbf, interval;          /**< s; 0: unknown */
  double step_seconds;            /**< 0: unknown */
  const char *fields;             /**< as in ::gab_app_plan, as the next one */
  gab_step adapts_every;
  double planning_seconds; /**< since there was a world */
  size_t proxy_bytes;
  bool wants_local;       /**< the case has strategy `local`, which logs where it is in force: */
  bool logs, logs_less;   /**< of strategy `local`; of messages between clusters alone */
  gab_step own_every;     /**< of strategy `local`: between checkpoints of a cluster; 0: none */
  double log_limit;       /**< of what a process keeps of them, in largest images; 0: none */
  gab_app_flows flows;    /**< owned; of a step of level 0, if clusters are asked for */
  plan_clusters clusters; /**< no rows: not asked for */
} plan_numbers;

/** Works everything out. */
gab_status gab_app_plan_work_out(const gab_app_case *which, const gab_app_plan *given,
                                 const plan_options *options, plan_numbers *numbers);
void gab_app_plan_release(plan_numbers *numbers);
void gab_app_plan_print(const gab_app_case *which, const plan_numbers *numbers, FILE *out);
gab_status gab_app_plan_print_json(const gab_app_case *which, const plan_numbers *numbers, FILE *out);

/** Processes between which something crosses, on a level (of two blocks the finer one's), in an exchange. */
typedef struct plan_pair {
  int32_t from, to, level, exchange;
} plan_pair;

/** Such pairs, each noted several times. Zero-initialise. */
typedef struct plan_pairs {
  plan_pair *items; /**< owned: gab_free() */
  size_t count;
  size_t capacity;
} plan_pairs;

/** Notes one. There is memory for as many as differ, four times at most. */
gab_status gab_app_plan_pairs_note(plan_pairs *pairs, const plan_pair *pair);
/** Each pair once. */
void gab_app_plan_pairs_settle(plan_pairs *pairs);
/** Adds the envelopes, one for each pair in each exchange of a step of its level, and what goes the same way. */
gab_status gab_app_plan_flows_settle(gab_app_flows *flows, const plan_pairs *pairs,
                                     const gab_app_plan *given);
/** Divides processes into clusters, for all numbers of them, and as `options` ask for; that is written. @param[in] domains  nodes; NULL:
 * every process on its own */
gab_status gab_app_plan_clusters_find(const plan_options *options, const gab_app_flows *flows,
                                      const gab_domains *domains, plan_clusters *found);
/** Makes the division that `options` ask for, and writes it; does nothing if they do not. @param[out] cluster  capacity
 *  for one per rank
 * @return ::GAB_ERR_INPUT for more clusters than domains; ::GAB_ERR_IO */
gab_status gab_app_plan_divide(const plan_options *options, gab_cluster_task *task, int32_t domains,
                               int32_t *cluster, plan_division *division);
void gab_app_plan_division_print(const plan_division *division, FILE *out);
void gab_app_plan_log_put(gab_json *json, const char *name, const gab_cluster_log *log);
void gab_app_plan_division_put(const plan_division *division, gab_json *json);
void gab_app_plan_clusters_print(const plan_clusters *clusters, FILE *out);
void gab_app_plan_clusters_put(const plan_clusters *clusters, gab_json *json);
/** The same from the traffic of a run alone, without a case. */
gab_status gab_app_plan_clusters_of_run(const plan_options *options, FILE *out);

int gab_app_command_plan(int argc, char **argv);

#endif
