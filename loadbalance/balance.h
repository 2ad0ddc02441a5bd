/* SPDX-License-Identifier: Apache-2.0 */
/** @file balance.h
 *  @brief Assignment of blocks to ranks: strategies by name, on proxies before any data moves, or on a forest.
 *
 *  A strategy assigns proxies (blockforest/adaptation/proxy.h) to ranks. Weights are balanced level by level
 *  (::GAB_BALANCE_PER_LEVEL, for time stepping in which every level takes its own steps and waits for the others:
 *  Schornbaum & Rüde 2018, section 3) or in total (::GAB_BALANCE_TOTAL).
 *
 *  All built-in strategies guarantee, with P members, W the weight and h the heaviest block of one level (or of all):
 *  - no member gets more than W/P + h;
 *  - with blocks of equal weight, from 10 of a level per member on, the maximum is at most 1.10 W/P;
 *  - every member gets a block if there are as many blocks as members.
 *
 *  Along a curve, every rank is *home* of an equal piece of the curve's positions. Owners send the weights of their blocks
 *  to the homes, and a prefix sum over these gives each block its target. No process stores all blocks (contract 7), but a
 *  home needs about a hundred bytes for each block of its piece, including refined ones. The result depends on grid,
 *  weights and number of members only, not on former owners. The sum of all weights must fit into 64 bits.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_LOADBALANCE_BALANCE_H
#define GABION_LOADBALANCE_BALANCE_H

#include "blockforest/adaptation/proxy.h"
#include "loadbalance/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Levels in a report: all that ids can have. */
#define GAB_BALANCE_LEVELS 32

/** Distribution of the weight of one level, or of all. */
typedef struct gab_balance_share {
  uint64_t blocks;
  uint64_t weight_total, weight_max; /**< sum over all ranks; heaviest rank */
  uint64_t heaviest;                 /**< block */
  double imbalance;                  /**< heaviest rank / mean rank; 1 is perfect */
} gab_balance_share;

/** Result of a distribution. */
typedef struct gab_balance_report {
  uint64_t blocks;
  uint64_t blocks_moved;             /**< to another rank; by diffusion maybe several times */
  uint64_t weight_max, weight_total; /**< heaviest rank, sum over all */
  double imbalance;                  /**< heaviest rank / mean rank, 1 is perfect */
  int levels;                        /**< deepest level + 1 */
  gab_balance_share level[GAB_BALANCE_LEVELS];
  uint64_t least_blocks; /**< of a rank */
  int iterations;        /**< of diffusion */
  bool by_curve; /**< diffusion (or graph) fell back on a curve: a rank had no block, or the limit was not
                  * reached */
} gab_balance_report;

typedef enum gab_balance_by { GAB_BALANCE_PER_LEVEL = 0, GAB_BALANCE_TOTAL } gab_balance_by;

typedef struct gab_balance_options gab_balance_options;

/** A way to distribute blocks. */
typedef struct gab_balancer {
  const char *name;
  const char *doc;
  bool is_built; /**< false: this build lacks a required library; true for a user-defined one */
  /** Determines the new owner of each local proxy: indices of members (core/world/members.h), below options->parts.
   * Collective. Unless options->plan is set it may move proxies itself. @param[out] part  one per proxy that is local at
   * the end; gab_alloc(), released by the caller @param[in,out] report  for `iterations`, `blocks_moved` by own moves,
   * `by_curve` */
  gab_status (*assign)(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                       gab_balance_report *report);
} gab_balancer;

/** Along curves (curve.h). */
extern const gab_balancer gab_balancer_morton;
extern const gab_balancer gab_balancer_hilbert;
/** Neighbours equalise their loads (diffusion.c). */
extern const gab_balancer gab_balancer_diffusion;
/** Multilevel graph partitioning by METIS, on one process that gathers the graph; hence at most #GAB_GRAPH_MOST_BLOCKS
 * blocks. */
extern const gab_balancer gab_balancer_graph;
#define GAB_GRAPH_MOST_BLOCKS ((uint64_t)1 << 20)

/** Registers a user-defined strategy. Before any is chosen by name, the same on all processes. @param[in] balancer
 * borrowed until the process ends @return ::GAB_ERR_ARGUMENT if the name is taken, it or `assign` is missing, or the table
 * is full */
gab_status gab_balancer_register(const gab_balancer *balancer);
/** @return NULL with an error message that lists the names, or names the library missing in this build */
GAB_STABLE const gab_balancer *gab_balancer_by_name(const char *name);
/** @return strategy number `index`, NULL after the last */
const gab_balancer *gab_balancer_at(int index);

/** Zeros are the defaults. */
struct gab_balance_options {
  const gab_balancer *balancer; /**< NULL: ::gab_balancer_hilbert */
  gab_balance_by by;
  int most_iterations; /**< maximum iterations of diffusion; 0: 100 */
  bool stop_early;     /**< diffusion: stop at the iteration limit; otherwise fall back to the curve */
  int flow_rounds;     /**< exchanges of loads per iteration of diffusion; 0: 24 */
  double goal;         /**< imbalance at which diffusion stops, of every level (or of all); only the larger of
                        * this and W/P + h is then guaranteed. 0: W/P + h */
  bool none_empty;     /**< fewer blocks than members (parts) are refused */
  bool measured;       /**< gab_balance_forest() uses weights of gab_balance_weigh() */
  void *user;          /**< for a user-defined strategy */

  /** For planning, on one process only: nothing moves; plan[i] becomes the part, of `parts`, that would have proxy i.
   * Diffusion starts from its previous value. NULL: proxies are moved to the members, and `parts` is set. */
  int32_t *plan;
  int32_t parts;
};

/** Distributes proxies. Collective. A failure of one process alone breaks the world (gab_world_raise()).
 *  @param[in] options  NULL: defaults. May serve as the context of gab_balance_distribute()
 *  @param[out] report  may be NULL
 *  @return ::GAB_ERR_INPUT if the strategy is not built in, the grid too large for it, or, with `none_empty`,
 *          too small (with both numbers): on all processes */
gab_status gab_balance_proxies(gab_proxies *proxies, const gab_balance_options *options,
                               gab_balance_report *report);
/** A gab_distribute_fn (blockforest/adaptation/adapt.h): gab_balance_proxies(). @param[in] options  may be NULL */
GAB_STABLE gab_status gab_balance_distribute(void *options, gab_proxies *proxies);

/** Called for every block and every row of its table with a block of another part. */
typedef gab_status (*gab_contact_fn)(void *user, int32_t part, const gab_proxy *proxy,
                                     const gab_neighbour *row, int32_t other_part);
/** Communication partners under a plan. On one process only. @param[in] plan,parts  as in gab_balance_options @param[out]
 * partners  one per part: number of adjacent parts @param[in] visit  may be NULL */
gab_status gab_balance_contacts(gab_proxies *proxies, const int32_t *plan, int32_t parts, int32_t *partners,
                                gab_contact_fn visit, void *user);

/** Fills an empty forest with its root blocks: gab_forest_build() (blockforest/adaptation/adapt.h) for a grid of one level,
 * and a strategy. Collective. @param[in] options NULL: defaults; `none_empty` is implied @param[out] report may be NULL
 * @return as gab_forest_build() and gab_balance_proxies() */
GAB_STABLE gab_status gab_balance_initial(gab_forest *forest, const gab_balance_options *options,
                                          gab_balance_report *report);

/** Redistributes the blocks of a forest of any levels: computed on proxies, then data moves once. Collective. Enters
 * ::GAB_FAULT_POINT_MIGRATION and those of gab_forest_apply_regrid(). @param[in] options  NULL: defaults @param[out] report
 * may be NULL @return ::GAB_ERR_STATE if the forest was never populated; as gab_balance_proxies() */
GAB_STABLE gab_status gab_balance_forest(gab_forest *forest, const gab_balance_options *options,
                                         gab_balance_report *report);

/* ------------------------------------------------------------------------------- by measured times */

/** Weighs proxies of a forest by the measured work of its blocks (gab_forest_block_work()) instead of estimates, for blocks
 * whose data was worked on since it arrived here or its work was reset. Others, e.g. newly split or merged ones, get their
 * estimate times the mean time per weight of all measured ones. Without any measurement weights do not change. Collective.
 * Computed values do not depend on owners, so neither do results. */
gab_status gab_balance_weigh(const gab_forest *forest, gab_proxies *proxies);
/** Unevenness of the work since its last reset: the sum over levels of the busiest rank's time over that of the mean with
 * ::GAB_BALANCE_PER_LEVEL, of the busiest over the mean with ::GAB_BALANCE_TOTAL. Collective. @param[out] ratio  1 is
 * perfect; also 1 without measurements */
gab_status gab_balance_unevenness(const gab_forest *forest, gab_balance_by by, double *ratio);
/** Result of gab_balance_improve(). */
typedef struct gab_balance_gain {
  double before, after;      /**< unevenness; after: predicted for the same times */
  bool moved;                /**< if not, nothing has changed */
  gab_balance_report report; /**< of the distribution, if one was tried */
} gab_balance_gain;
/** Rebalances by the measured work, if its unevenness exceeded `above` and the new distribution is better by at least 5 %;
 * then resets the work. Collective. @param[in] options  NULL: defaults @return as gab_balance_forest() */
GAB_STABLE gab_status gab_balance_improve(gab_forest *forest, const gab_balance_options *options,
                                          double above, gab_balance_gain *gain);
/** Resets the work of all local blocks. Local. */
void gab_balance_forget_work(const gab_forest *forest);

#ifdef __cplusplus
}
#endif
#endif
