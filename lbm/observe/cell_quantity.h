/* SPDX-License-Identifier: Apache-2.0 */
/** @file cell_quantity.h
 *  @brief User-defined quantities of a flow: a function of a cell, chosen by name in the parameter file.
 *
 *  Such a quantity is registered before the configuration is declared, the same on all processes. It is available like
 *  those of the library (output.fields, output.slices, output.probes):
 *  @code
 *    static void helicity(const gab_lbm_cell *at, double *values)
 *    {
 *      const double (*d)[3] = at->gradient;
 *      values[0] = at->velocity[0] * (d[2][1] - d[1][2]) + at->velocity[1] * (d[0][2] - d[2][0]) +
 *                  at->velocity[2] * (d[1][0] - d[0][1]);
 *    }
 *    static const gab_lbm_quantity own = {
 *        .name = "helicity", .doc = "u times its curl", .unit = "m/s^2", .components = 1, .gradient = true, .evaluate = helicity};
 *    GAB_TRY(gab_lbm_quantity_register(&own));    output: {slices: [{quantity: helicity}]}
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_CELL_QUANTITY_H
#define GABION_LBM_CELL_QUANTITY_H

#include "core/base/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A fluid cell for the evaluation of a quantity. All in physical units. */
typedef struct gab_lbm_cell {
  int dimension, level;
  double dx;        /**< width of the cell */
  double centre[3]; /**< in 2D z is 0 */
  double density;   /**< of the fluid */
  double pressure;  /**< difference to the reference pressure */
  double
      viscosity; /**< kinematic, without eddy viscosity; with fluid.model at the shear rate of `gradient` */
  double velocity[3];    /**< in 2D z is 0 */
  double gradient[3][3]; /**< du_i/dx_j, zero along z in 2D; all zero if it was not asked for */
  /* As in wall_shear_stress (lbm/observe/quantities.h): to the bit if the unit of stress is a power of two, otherwise
   * to rounding, since that quantity is scaled at the end. All zero unless gab_lbm_quantity.stress is set. */
  double stress[3][3]; /**< viscous, in the middle of the cell; zero along z in 2D */
  bool at_wall;        /**< links lead to walls that have a normal together: not between two opposite ones */
  double wall_normal[3];    /**< of length 1, into the fluid; zero if not at a wall */
  double wall_distance;     /**< of the middle of the cell along it */
  double wall_stress[3][3]; /**< carried on to the wall */
} gab_lbm_cell;

typedef struct gab_lbm_quantity {
  const char *name; /**< letters, digits, `_` and `-` */
  const char *doc;  /**< a few words */
  const char *unit; /**< for people; NULL: none */
  int components;   /**< 1 (scalar) or 3 (vector) */
  bool diverging;   /**< pictures colour it symmetrically around 0 */
  /** it needs gab_lbm_cell.gradient: differences as of q_criterion (lbm/observe/quantities.h) */
  bool gradient;
  bool stress; /**< needs gab_lbm_cell.stress and the wall next to a cell */
  /** Values of a fluid cell. A pure function, called by one thread at a time. @param[out] values  one per component */
  void (*evaluate)(const gab_lbm_cell *at, double *values);
} gab_lbm_quantity;

/** Adds a quantity. @param[in] quantity  borrowed until the process ends @return as gab_own_quantity_register()
 *  (blockforest/output/own_quantity.h) */
gab_status gab_lbm_quantity_register(const gab_lbm_quantity *quantity);
/** @return the index-th that was registered, NULL behind the last */
const gab_lbm_quantity *gab_lbm_quantity_at(int index);

#ifdef __cplusplus
}
#endif
#endif
