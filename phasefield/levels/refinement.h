/* SPDX-License-Identifier: Apache-2.0 */
/** @file refinement.h
 *  @brief A grid that is fine at interfaces: blocks of a single phase may be coarser.
 *
 *  A model with gab_phasefield_options.levels = L > 0 has all its interfaces on level L, whose cells are
 *  those of the domain; blocks of one phase, away from interfaces, have cells up to 2^L times as wide:
 *  @code
 *    gab_phasefield_grid grid = {.margin = 6, .distribute = gab_balance_distribute};
 *    GAB_TRY(gab_phasefield_build(model, &grid, NULL));          // instead of gab_balance_initial()
 *    ...
 *    GAB_TRY(gab_phasefield_adapt(model, &grid, NULL));          // every so many steps
 *  @endcode
 *  An interface moves by at most one cell per step, usually by far less. A step in which an interface reaches a block
 *  of another level is refused (::GAB_ERR_STATE), so that no error stays unnoticed. A margin larger than the steps
 *  between two adaptations, plus the rows by which a window moves between them, excludes that.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_PHASEFIELD_REFINEMENT_H
#define GABION_PHASEFIELD_REFINEMENT_H

#include "blockforest/adaptation/adapt.h"
#include "core/config/config.h"
#include "phasefield/phasefield.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Regions of small cells, and the owners of blocks. */
typedef struct gab_phasefield_grid {
  int margin;      /**< fine cells around interfaces, 2 to the cells of a block; merging takes two more */
  double steepest; /**< blocks with a larger change of mu between adjacent cells are refined,
                    *   those in which it changes by less than a quarter of it may be merged [0: any] */
  gab_distribute_fn distribute; /**< as in blockforest/adaptation/adapt.h */
  void *context;
} gab_phasefield_grid;

/** Fills an empty forest: blocks are refined where the initial state has an interface within the margin.
 *  Collective.
 *  @param[out] report  may be NULL
 *  @return as gab_forest_build(); ::GAB_ERR_INPUT for a margin that cannot be */
gab_status gab_phasefield_build(gab_phasefield *phasefield, const gab_phasefield_grid *grid,
                                gab_refine_report *report);
/** Refines blocks of level 0 as gab_phasefield_build() does, without blocks. Collective. @return as that */
GAB_EXTENDER gab_status gab_phasefield_refine_places(gab_phasefield *phasefield,
                                                     const gab_phasefield_grid *grid, gab_proxies *proxies);
/** One round of refinement and coarsening after a step. Collective. Announces what gab_forest_adapt() does.
 *  @param[out] report  may be NULL */
gab_status gab_phasefield_adapt(gab_phasefield *phasefield, const gab_phasefield_grid *grid,
                                gab_adapt_report *report);

/* ---------------------------------------------------------------------------- section of parameter files */

/** Declares `phasefield.refinement`. */
gab_status gab_phasefield_refinement_declare(gab_config *config);

/** Content of the section. */
typedef struct gab_phasefield_refinement_setup {
  int levels; /**< 0: one grid */
  int margin;
  double steepest;
  gab_step every;
} gab_phasefield_refinement_setup;

/** Reads the section, and converts a domain in cells of the finest level to the grid of level 0. After
 *  gab_config_check().
 *  @param[in,out] forest  on entry as without levels
 *  @param[in] window  whether a window moves in this case
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_phasefield_refinement_from_config(const gab_config *config, bool window,
                                                 gab_forest_options *forest,
                                                 gab_phasefield_refinement_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
