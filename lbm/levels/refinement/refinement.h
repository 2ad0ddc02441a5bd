/* SPDX-License-Identifier: Apache-2.0 */
/** @file refinement.h
 *  @brief Refinement criteria of a flow, which mark blocks for refinement or coarsening.
 *
 *  A *criterion* requires refinement, up to its own level, of blocks at certain positions or with certain values. A block is
 *  refined if any criterion requires it; it may be coarsened if none forbids it. Bodies, their curvature and boxes depend on the position
 *  alone, so they act in the set-up too; vorticity, gradient and registered criteria depend on the flow. These have two
 *  thresholds, so that a block near the threshold does not split and merge repeatedly.
 *
 *  Decisions depend on the state of the block only, not on its owner or on its neighbours.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_REFINEMENT_H
#define GABION_LBM_REFINEMENT_H

#include "blockforest/adaptation/adapt.h"
#include "core/config/config.h"
#include "lbm/lbm.h"
#include "lbm/levels/refinement/cell_criterion.h"
#include "lbm/setup/units.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_criterion {
  gab_criterion_kind kind;
  int level;            /**< refines up to this one */
  double distance;      /**< BODIES, CURVATURE: in cells of level 0 */
  double angle;         /**< CURVATURE: in radians by which a normal may turn over the width of a cell */
  double lo[3], hi[3];  /**< BOX: corners, physical */
  double refine_above;  /**< VORTICITY, GRADIENT: per step of level 0; OWN: in the unit of its value */
  double coarsen_below; /**< the same; less than refine_above */
  double region_lo[3],
      region_hi[3];             /**< VORTICITY, GRADIENT, OWN: only blocks that meet this box, physical */
  const gab_lbm_criterion *own; /**< OWN: borrowed */
  gab_units units;              /**< OWN: units of the values of its cells */
} gab_criterion;

/** `user` of the functions below. All borrowed. */
typedef struct gab_refinement {
  const gab_geometry *geometry;
  const gab_lbm *lbm; /**< of blocks that have a state; not needed for gab_refinement_mark_place() */
  const gab_criterion *criteria;
  size_t count;
} gab_refinement;

/** ::GAB_ERR_INPUT with words for criteria that cannot be: levels below 1 or above `max_level`, thresholds
 *  the wrong way round, empty boxes. */
GAB_EXTENDER gab_status gab_refinement_check(const gab_refinement *refinement, int max_level);

/** A gab_mark_place_fn for gab_forest_build(): bodies, their curvature and boxes. */
gab_mark gab_refinement_mark_place(void *user, int level, const gab_box *cells);
/** A gab_mark_fn for gab_forest_adapt(): all criteria. @return as gab_refinement_value() */
gab_status gab_refinement_mark(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark);

/** Largest value of a criterion of the flow in a block, per step of level 0: differences between cells of the
 *  block, central where both neighbours are fluid, else one-sided. Local.
 *  @return ::GAB_ERR_DIVERGED if it is not finite */
GAB_EXTENDER gab_status gab_refinement_value(const gab_lbm *lbm, const gab_forest *forest,
                                             const gab_block *block, gab_criterion_kind kind, double *value);

/* ---------------------------------------------------------------------------- sections of parameter files */

/** Declares `refinement` and `refinement.criteria`. */
gab_status gab_refinement_declare(gab_config *config);

/** Content of the section. */
typedef struct gab_refinement_setup {
  int max_level;           /**< 0: no refinement */
  gab_step every, start;   /**< steps between two adaptations during the run; every 0: never */
  gab_criterion *criteria; /**< owned */
  size_t count;
  double border_speed; /**< of gab_lbm_options; -1: the file does not say */
} gab_refinement_setup;

/** @param[in] units  to turn 1/s into 1/step, m/s into cells per step @param[out] setup  to be released
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_refinement_from_config(const gab_config *config, const gab_domain *domain,
                                      const gab_units *units, gab_refinement_setup *setup);
/** The coarsest level that covers a round body at the start. */
GAB_EXTENDER int gab_refinement_level_at(const gab_refinement_setup *setup, const gab_domain *domain,
                                         const gab_body *body);
void gab_refinement_setup_release(gab_refinement_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
