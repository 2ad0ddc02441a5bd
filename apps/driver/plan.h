/** @file plan.h
 *  @brief `gabion plan`: what a case would need on a number of processes, from proxies alone.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_PLAN_H
#define GABION_APPS_DRIVER_PLAN_H

#include "apps/driver/driver.h"
#include "loadbalance/balance.h"
#include "resilience/placement.h"
#include "resilience/resilience_config.h"

/** The command line. */
typedef struct plan_options {
  driver_options common;
  int64_t slots;                  /**< 0: what the case recommends */
  const char *strategy;           /**< of balancing; NULL: the case's */
  const char *scheme;             /**< of redundancy; NULL: the case's */
  int64_t copies;                 /**< -1: the case's */
  int64_t group, losses;          /**< of coded schemes; 0: the case's */
  int64_t per_node, per_island;   /**< processes on a node, nodes in an island; 0: unknown */
  double memory;                  /**< byte of a process: with how few it would do; 0: not asked for */
  double bandwidth;               /**< byte/s of a process; 0: to be measured */
  double mtbf;                    /**< s; 0: the case's, if any */
  double mtbf_process, mtbf_node; /**< s, of each instead (Kohl et al. 2017, eq. 1); 0: not given */
  double rate;                    /**< cell updates per second and process; 0: unknown */
  bool json;
} plan_options;

/** Least, mean and most of all slots. */
typedef struct plan_spread {
  double least, mean, most;
} plan_spread;

typedef struct plan_numbers {
  int32_t slots;
  gab_spares_asked spares; /**< that the case asks for */
  int32_t all_processes;   /**< with them; 0: on how many nodes is not known */
  gab_balance_report balance;
  plan_spread blocks[GAB_BALANCE_LEVELS + 1]; /**< per level and slot; behind the last level: all */
  const gab_balancer *strategy;
  gab_redundancy redundancy;
  gab_domains *domains;           /**< owned; NULL: every process on its own */
  gab_placement placement;        /**< of the redundancy; owned */
  plan_spread held;               /**< byte kept of others, per snapshot */
  plan_spread wire;               /**< byte sent per snapshot */
  int buffers;                    /**< snapshots that there is room for */
  double memory_given;            /**< byte of a process; 0: not asked for */
  int32_t fewest, fewest_at_peak; /**< processes that do with it; 0: none */
  plan_spread state, memory;      /**< byte: populations; with snapshots, Kohl et al. 2017, eq. 2 */
  double image;                   /**< byte: largest of a slot */
  double peak;                    /**< byte: most in the recovery from one death; 0: none is survived */
  plan_spread partners, sent;     /**< neighbour slots; byte sent in a step of level 0 */
  double updates;                 /**< most cell updates of a slot in a step of level 0 */
  double bandwidth, cost;         /**< byte/s; s of a checkpoint */
  bool is_measured;               /**< the bandwidth, on this machine */
  double mtbf, interval;          /**< s; 0: unknown */
  double step_seconds;            /**< 0: unknown */
  double planning_seconds;
  size_t proxy_bytes;
} plan_numbers;

/** Works everything out. @param[in] proxies  of the grid, all on this process */
gab_status plan_work_out(const run_case *which, const plan_options *options, gab_proxies *proxies,
                         plan_numbers *numbers);
void plan_release(plan_numbers *numbers);
void plan_print(const run_case *which, const plan_numbers *numbers, FILE *out);
gab_status plan_print_json(const run_case *which, const plan_numbers *numbers, FILE *out);
int command_plan(int argc, char **argv);

#endif
