/* SPDX-License-Identifier: Apache-2.0 */
/** @file adapt.h
 * @brief Adaptation of a forest: blocks split and merge during a run.
 *
 * gab_forest_adapt() executes all parts: mark → 2:1 → proxies → distribution → data. For another order call the
 * parts:
 *  @code
 *    GAB_TRY(gab_proxies_of_forest(forest, &proxies));
 *    GAB_TRY(gab_proxies_refine(proxies, marks, max_level, &report));
 *    GAB_TRY(distribute(context, proxies));           // gab_proxies_move()
 *    GAB_TRY(gab_forest_apply_regrid(forest, proxies));
 *  @endcode
 *
 * Announces ::GAB_FAULT_POINT_ADAPT_MARK, _BALANCE, _MIGRATE and _REBUILD (core/world/fault_point.h). A death in any
 * of them leaves the forest incomplete until gab_forest_restore() restores the grid of the last snapshot.
 *
 * Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_ADAPT_H
#define GABION_BLOCKFOREST_ADAPT_H

#include "blockforest/adaptation/apply_regrid.h"
#include "blockforest/adaptation/proxy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Assigns proxies to ranks and moves them (loadbalance/ has implementations). Collective. */
typedef gab_status (*gab_distribute_fn)(void *context, gab_proxies *proxies);

/** A criterion. Local, a pure function of the block's state: it must not depend on owner or order. Called by
 *  several threads.
 *  @param[in,out] mark  ::GAB_MARK_KEEP before
 *  @return an error is raised (gab_world_raise()): all processes end the adaptation, and the forest is
 *  unchanged */
typedef gab_status (*gab_mark_fn)(void *user, const gab_forest *forest, const gab_block *block,
                                  gab_mark *mark);
/** The same for the set-up, without data. @param[in] cells in cell indices of `level` */
typedef gab_mark (*gab_mark_place_fn)(void *user, int level, const gab_box *cells);

typedef struct gab_adapt_options {
  int max_level; /**< finest level */
  gab_mark_fn mark;
  void *user;
  gab_distribute_fn distribute; /**< NULL: children stay on the rank of their parent */
  void *distribute_context;
} gab_adapt_options;

typedef struct gab_adapt_report {
  gab_refine_report grid;
  bool changed;         /**< false: the forest and its revision are unchanged */
  uint64_t moved_bytes; /**< packed data sent to other ranks, sum over all */
  size_t peak_bytes;    /**< maximum memory of this process besides its blocks during the migration */
} gab_adapt_report;

/** One round of refinement and coarsening. Collective.
 *  @param[out] report  may be NULL
 *  @return ::GAB_ERR_INPUT if cells per block are odd along a dimension and max_level is not 0; errors of the
 *  criterion, which break the world, with an unchanged forest; else as gab_forest_apply_regrid() */
gab_status gab_forest_adapt(gab_forest *forest, const gab_adapt_options *options, gab_adapt_report *report);

/** Refines proxies without data until nothing changes or max_level is reached: the initial grid, as in
 *  gab_forest_build(). Collective. @param[in] mark  called by several threads @param[out] report  may be NULL
 *  @return as gab_proxies_refine() */
GAB_EXTENDER gab_status gab_proxies_refine_places(gab_proxies *proxies, gab_mark_place_fn mark, void *user,
                                                  int max_level, gab_refine_report *report);

/** Fills an empty forest: root blocks, refined where `mark` says so until nothing changes or max_level is
 *  reached, distributed, then created and initialised. On failure the forest is left without blocks.
 *  Collective.
 *  @param[in] mark  NULL: root blocks only
 *  @param[in] distribute  must not be NULL */
gab_status gab_forest_build(gab_forest *forest, gab_mark_place_fn mark, void *user, int max_level,
                            gab_distribute_fn distribute, void *distribute_context,
                            gab_refine_report *report);

#ifdef __cplusplus
}
#endif
#endif
