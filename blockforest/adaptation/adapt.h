/* SPDX-License-Identifier: Apache-2.0 */
/** @file adapt.h
 *  @brief A forest whose blocks split and merge while the run goes on.
 *
 *  gab_forest_adapt() does all of it: mark → 2:1 → proxies → distribution → data. Its parts may be used one
 * by one by whoever needs another order:
 *  @code
 *    GAB_TRY(gab_proxies_of_forest(forest, &proxies));
 *    GAB_TRY(gab_proxies_refine(proxies, marks, max_level, &report));
 *    GAB_TRY(distribute(context, proxies));           // gab_proxies_move()
 *    GAB_TRY(gab_forest_apply_regrid(forest, proxies));
 *  @endcode
 *
 *  Announces ::GAB_FAULT_POINT_ADAPT_MARK, _BALANCE, _MIGRATE and _REBUILD (core/world/fault_point.h). A death in any of them
 * leaves the forest torn until gab_forest_restore() brings back the grid of the last snapshot.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_ADAPT_H
#define GABION_BLOCKFOREST_ADAPT_H

#include "blockforest/adaptation/apply_regrid.h"
#include "blockforest/adaptation/proxy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Decides who is to hold which proxy and moves them (loadbalance/ has ready ones). Collective. */
typedef gab_status (*gab_distribute_fn)(void *context, gab_proxies *proxies);

/** A criterion. Local, a pure function of the block's state: it must not depend on owner or order. Called by
 *  several threads.
 *  @param[in,out] mark  ::GAB_MARK_KEEP before
 *  @return what is not ::GAB_OK is raised (gab_world_raise()): all processes end the adaptation, the forest
 * is as it was */
typedef gab_status (*gab_mark_fn)(void *user, const gab_forest *forest, const gab_block *block,
                                  gab_mark *mark);
/** The same where there is no data yet: at the set-up. @param[in] cells  in cell indices of `level` */
typedef gab_mark (*gab_mark_place_fn)(void *user, int level, const gab_box *cells);

typedef struct gab_adapt_options {
  int max_level; /**< none finer */
  gab_mark_fn mark;
  void *user;
  gab_distribute_fn distribute; /**< NULL: children stay where the parent was */
  void *distribute_context;
} gab_adapt_options;

typedef struct gab_adapt_report {
  gab_refine_report grid;
  bool changed;         /**< if not, nothing was done and the forest's revision is as before */
  uint64_t moved_bytes; /**< packed data sent to other ranks, of all */
  size_t peak_bytes;    /**< most memory that this process held beyond its blocks while data moved */
} gab_adapt_report;

/** One round of refinement and coarsening. Collective.
 *  @param[out] report  may be NULL
 *  @return ::GAB_ERR_INPUT if cells per block are odd along a dimension and max_level is not 0; what a
 *  criterion said breaks the world, and nothing has changed; else as gab_forest_apply_regrid() */
gab_status gab_forest_adapt(gab_forest *forest, const gab_adapt_options *options, gab_adapt_report *report);

/** Refines proxies of places that have no data until nothing changes or max_level is reached: the grid of a start, as
 *  gab_forest_build() makes it. Collective. @param[in] mark  called by several threads @param[out] report  may be NULL
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
