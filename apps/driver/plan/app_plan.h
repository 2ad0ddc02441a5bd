/* SPDX-License-Identifier: Apache-2.0 */
/** @file app_plan.h
 *  @brief Data from a solver for `gabion plan`: gab_solver.plan.
 *
 *  Example with equal blocks on one level:
 *  @code
 *    static gab_status plan(gab_app_run *run, gab_app_plan *plan)
 *    {
 *      const heat *it = (const heat *)run;
 *      const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->shape);
 *      plan->fields = "temperatures";
 *      gab_app_plan_add_ghosts(plan, &ghosts);
 *      GAB_TRY(gab_app_plan_add_data(plan, it->now));
 *      return gab_app_plan_add_data(plan, it->next);
 *    }
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_APPS_DRIVER_APP_PLAN_H
#define GABION_APPS_DRIVER_APP_PLAN_H

#include "apps/driver/run/run.h"
#include "blockforest/adaptation/adapt.h"
#include "blockforest/exchange/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of a block. */
typedef struct gab_app_plan_block {
  double state;   /**< bytes in memory, except its part of a shared field */
  double image;   /**< bytes in a snapshot */
  bool shares;    /**< it is in a shared field */
  double updates; /**< of cells, in a step of level 0 */
} gab_app_plan_block;

enum { GAB_APP_MOST_EXCHANGES = 64, GAB_APP_MOST_REDUCTIONS = 16 };

struct gab_app_plan {
  /* Input. */
  gab_app_run *run;     /**< after prepare(), in a world of this process only */
  int32_t ranks;        /**< number of ranks of the plan */
  double cycles;        /**< assumed iterations per solve of a linear solver */
  gab_proxies *proxies; /**< the blocks of level 0, as from gab_forest_build(); to be refined as there */

  /* Output, initially zero. */
  const char *fields; /**< contents of a block: "populations"; default "fields" */
  gab_app_plan_block
      block;            /**< `updates` is set to that of a block of level 0 with each cell computed once */
  double shared_state;  /**< bytes of a field that blocks share ... */
  int places;           /**< ... and the number of blocks that share it; 0: no shared field */
  double process_state; /**< bytes of fields of each process in addition to those of blocks */
  /** Bytes that a block sends to one of its level in an exchange, and number of such exchanges per step of that level:
   * gab_app_plan_add_exchanges(). */
  double crossing[GAB_APP_MOST_EXCHANGES][GAB_DIRECTIONS], times[GAB_APP_MOST_EXCHANGES];
  int exchanges;
  double reduced[GAB_APP_MOST_REDUCTIONS],
      reduced_times[GAB_APP_MOST_REDUCTIONS]; /**< bytes; number per step */
  int reductions;
  bool substeps;         /**< finer levels take 2, 4, ... steps in one of level 0; else all take the same */
  gab_step adapts_every; /**< steps after which the grid changes; 0: never */
  /** Memory of a block of this weight if blocks differ; NULL: all equal `block`. Pure. */
  gab_app_plan_block (*block_of)(const gab_app_plan *plan, const gab_proxy *proxy);
};

/** Adds the memory of a kind of data to gab_app_plan.block, by making it for one block. Local. */
gab_status gab_app_plan_add_data(gab_app_plan *plan, gab_data_id data);
/** Adds ghosts exchanged in each step, at most #GAB_APP_MOST_EXCHANGES different ones. Local. */
void gab_app_plan_add_ghosts(gab_app_plan *plan, const gab_ghost_kind *ghosts);
/** The same for ghosts exchanged `times` times per step, on average. */
void gab_app_plan_add_exchanges(gab_app_plan *plan, const gab_ghost_kind *ghosts, double times);
/** Adds a reduction over all processes, for solvers with many reductions per step; other reductions are neglected. Local.
 * @param[in] bytes  of the values @param[in] times  per step, a mean */
void gab_app_plan_add_reduction(gab_app_plan *plan, double bytes, double times);

/** Called with a complete plan and the initial grid. */
typedef gab_status gab_app_plan_fn(void *user, const gab_app_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
