/* SPDX-License-Identifier: Apache-2.0 */
/** @file run.h
 *  @brief A run of any solver: objects built from a case, actions at its steps, and its end.
 *
 *  Stability: extender.
 */
#ifndef GABION_APPS_DRIVER_RUN_H
#define GABION_APPS_DRIVER_RUN_H

#include "apps/driver/solver.h"
#include "blockforest/adaptation/adapt.h"
#include "resilience/disk/restart.h"
#include "resilience/reports/summary.h"
#include "resilience/run_folder/run_lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adaptation of the grid to the fields of a run. */
typedef struct gab_app_adaptation {
  gab_step every;                         /**< steps between two adaptations; 0: never */
  int finest;                             /**< finest permitted level; 0: no adaptation */
  gab_mark_fn mark;                       /**< `user` is the run */
  gab_status (*prepare)(gab_app_run *it); /**< updates the data that `mark` reads. NULL: none. Collective */
  bool substeps;                          /**< a level takes twice as many steps as the next coarser one */
} gab_app_adaptation;

/** The run of a solver begins with it. */
struct gab_app_run {
  const gab_app_case *parameters; /**< borrowed, as the rest of this group */
  const char *folder;
  gab_world *world;
  gab_run_lock *lock; /**< of the folder */

  gab_forest *forest;           /**< created by the solver; owned, like the outputs */
  gab_quantity_list quantities; /**< of the solver */
  const gab_particles *tracers; /**< of the solver, for pictures; NULL: none */
  gab_balance_report balance;   /**< of the last distribution */
  gab_output *output;
  gab_output *failure_output;  /**< if the run diverges: its last state, */
  gab_output *good_output;     /**< and the last good one */
  gab_output *recovery_output; /**< pictures after a death */
  gab_timeloop *loop;
  gab_restart *restart;            /**< until the loop owns it */
  struct gab_app_traffic *traffic; /**< counts of messages; opaque here */
  gab_app_adaptation adaptation;
  int finest_level; /**< deepest level that the grid may get; set by gab_solver.prepare */
  bool keep_series; /**< rollbacks no longer truncate them */
  uint64_t level_blocks[GAB_BALANCE_LEVELS]; /**< at the end: blocks of each level */
  gab_summary summary;
};

/* ---- post_step.c: for gab_solver.add, in the order that the solver chooses ---- */

/** Physical time of a step. */
double gab_app_run_time(const gab_app_run *it, gab_step step);
/** Series, pictures and fields, as they are due. */
gab_status gab_app_run_add_output(gab_app_run *it);
/** Splits and merges blocks according to the fields of the run. @param[in] how  copied */
gab_status gab_app_run_add_adaptation(gab_app_run *it, const gab_app_adaptation *how);
/** The monitor `recompute`, for the list of a solver. */
#define GAB_APP_MONITOR_RECOMPUTE                                                                            \
  {                                                                                                          \
    "recompute", "blocks computed twice differ", gab_app_run_add_recompute                                   \
  }
gab_status gab_app_run_add_recompute(void *user, gab_timeloop *loop);

/* ---- distribution.c ---- */

/** Rebalances blocks by their measured work at intervals, if the case requests it. */
gab_status gab_app_run_add_balance(gab_app_run *it);
/** Assignment of blocks to ranks: a gab_distribute_fn with the run as context, for changes of the grid and for the first
 * one. */
gab_status gab_app_run_distribute(void *context, gab_proxies *proxies);
gab_status gab_app_run_distribute_first(void *context, gab_proxies *proxies);

enum { GAB_APP_MOST_PICKED = 16 }; /* the length of the lists in the tables */

#ifdef __cplusplus
}
#endif
#endif
