/* SPDX-License-Identifier: Apache-2.0 */
/** @file cell_criterion.h
 *  @brief User-defined refinement criteria: a function of a cell of a flow, chosen by name in the parameter file.
 *
 *  The maximum over the fluid cells of a block is compared with two thresholds of the file, in the unit of the value:
 *  @code
 *    static double shear(const gab_lbm_cell *at) { return fabs(at->gradient[0][1] + at->gradient[1][0]); }
 *    static const gab_lbm_criterion own = {.name = "shear", .doc = "Where layers slide.", .unit = "1/s", .value = shear};
 *    GAB_TRY(gab_lbm_criterion_register(&own));    refinement: {criteria: [{type: shear, above: 2, below: 1}]}
 *  @endcode
 *  Its keys are `level`, `above`, `below`, `lo` and `hi`, as for `vorticity` (doc/parameters.md).
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_CELL_CRITERION_H
#define GABION_LBM_CELL_CRITERION_H

#include "lbm/observe/cell_quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of criteria: those of the library (lbm/levels/refinement/refinement.h), and one for all that are registered. */
typedef enum gab_criterion_kind {
  GAB_CRITERION_BODIES,    /**< within a distance of the surface of a body */
  GAB_CRITERION_BOX,       /**< where a box is */
  GAB_CRITERION_CURVATURE, /**< where the surface of a body is curved */
  GAB_CRITERION_VORTICITY, /**< largest |curl u| of the block */
  GAB_CRITERION_GRADIENT,  /**< largest norm of the velocity gradient, sqrt(sum_ij (du_i/dx_j)^2) */
  GAB_CRITERION_OWN /**< largest value of one of a program's own (lbm/levels/refinement/cell_criterion.h) */
} gab_criterion_kind;

enum { GAB_LBM_MOST_OWN_CRITERIA = 16 };

typedef struct gab_lbm_criterion {
  const char *name; /**< in parameter files */
  const char *doc;  /**< one sentence */
  const char *unit; /**< of the value, for people; NULL: none */
  /** Value of a fluid cell; gradients are differences within the block, one-sided at its sides and next to solid
   *  cells. A pure function: its decisions become part of the state. Called by one thread at a time. */
  double (*value)(const gab_lbm_cell *at);
} gab_lbm_criterion;

/** Adds a criterion. Before a configuration is declared, the same on all processes. @param[in] criterion  borrowed
 *  until the process ends
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or invalid, a member is missing, or the table is full */
gab_status gab_lbm_criterion_register(const gab_lbm_criterion *criterion);
/** @return the index-th that was registered, NULL behind the last */
const gab_lbm_criterion *gab_lbm_criterion_at(int index);
/** @return the name of the index-th criterion of all, those of the library first, NULL behind the last */
const char *gab_lbm_criterion_name(int index);

#ifdef __cplusplus
}
#endif
#endif
