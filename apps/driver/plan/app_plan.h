/* SPDX-License-Identifier: Apache-2.0 */
/** @file app_plan.h
 *  @brief What a solver tells `gabion plan`, for gab_solver.plan.
 *
 *  Of a solver whose blocks are all alike, and on one level:
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

/** What a block takes. */
typedef struct gab_app_plan_block {
  double state;   /**< bytes in memory, but for its place in a field that it shares with others */
  double image;   /**< bytes in a snapshot */
  bool shares;    /**< it has such a place */
  double updates; /**< of cells, in a step of level 0 */
} gab_app_plan_block;

enum { GAB_APP_MOST_EXCHANGES = 64, GAB_APP_MOST_REDUCTIONS = 16 };

struct gab_app_plan {
  /* Given. */
  gab_app_run *run; /**< after prepare(), in a world of this process alone */
  int32_t ranks;    /**< for which is planned */
  double cycles;    /**< of an iterative solver of a linear system in each solve, to be assumed */
  gab_proxies
      *proxies; /**< the blocks of level 0, as gab_forest_build() makes them; to be refined as there */

  /* To be said; all is zero. */
  const char *fields; /**< what a block has in memory, in a word: "populations"; else "fields" */
  gab_app_plan_block
      block; /**< its updates are set: those of a block of level 0 whose cells are all computed once */
  double shared_state;  /**< bytes of a field that blocks share ... */
  int places;           /**< ... and the number of blocks that share it; 0: no shared field */
  double process_state; /**< bytes of fields that each process has besides those of blocks */
  /** Bytes that a block sends to one of its level in an exchange, and how often in a step of that: gab_app_plan_add_exchanges(). */
  double crossing[GAB_APP_MOST_EXCHANGES][GAB_DIRECTIONS], times[GAB_APP_MOST_EXCHANGES];
  int exchanges;
  double reduced[GAB_APP_MOST_REDUCTIONS], reduced_times[GAB_APP_MOST_REDUCTIONS]; /**< bytes; in a step */
  int reductions;
  bool substeps;         /**< finer levels take 2, 4, ... steps in one of level 0; else all take the same */
  gab_step adapts_every; /**< steps after which the grid changes; 0: never */
  /** What a block of this weight takes where blocks differ; NULL: all are as `block`. Pure. */
  gab_app_plan_block (*block_of)(const gab_app_plan *plan, const gab_proxy *proxy);
};

/** Adds what a kind of data takes to gab_app_plan.block: it is made for one block, and looked at. Local. */
gab_status gab_app_plan_add_data(gab_app_plan *plan, gab_data_id data);
/** Adds ghosts that each step exchanges, at most #GAB_APP_MOST_EXCHANGES different ones. Local. */
void gab_app_plan_add_ghosts(gab_app_plan *plan, const gab_ghost_kind *ghosts);
/** The same for ghosts that a step exchanges `times` times, a mean. */
void gab_app_plan_add_exchanges(gab_app_plan *plan, const gab_ghost_kind *ghosts, double times);
/** Adds a reduction over all processes, for solvers with many reductions per step; a plan leaves out the others. Local.
 *  @param[in] bytes  of the values @param[in] times  per step, a mean */
void gab_app_plan_add_reduction(gab_app_plan *plan, double bytes, double times);

/** Is handed a plan that is complete, with the grid of the start. */
typedef gab_status gab_app_plan_fn(void *user, const gab_app_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
