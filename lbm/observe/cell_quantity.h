/* SPDX-License-Identifier: Apache-2.0 */
/** @file cell_quantity.h
 *  @brief Quantities of a flow of a program's own: a function of a cell, chosen by name in the parameter file.
 *
 *  Registered before the configuration is declared, the same on all processes, such a quantity can be written wherever one of the
 *  library can (output.fields, output.slices, output.probes):
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

/** A fluid cell that is looked at. All in physical units. */
typedef struct gab_lbm_cell {
  int dimension, level;
  double dx;             /**< width of the cell */
  double centre[3];      /**< in 2D z is 0 */
  double density;        /**< of the fluid */
  double pressure;       /**< difference to the reference pressure */
  double viscosity;      /**< kinematic, of the fluid: without what a model of turbulence adds */
  double velocity[3];    /**< in 2D z is 0 */
  double gradient[3][3]; /**< du_i/dx_j, zero along z in 2D; all zero if it was not asked for */
  /* As wall_shear_stress has them (lbm/observe/quantities.h): to the bit where the unit of stress is a power of two, else to
   * rounding, since that one is scaled at the end. All zero if gab_lbm_quantity.stress was not asked for. */
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
  bool
      gradient; /**< it needs gab_lbm_cell.gradient: differences as of q_criterion (lbm/observe/quantities.h) */
  bool stress; /**< it needs gab_lbm_cell.stress and what is known of the wall beside a cell */
  /** Of a fluid cell. A pure function, called by one thread at a time. @param[out] values  so many as there are components */
  void (*evaluate)(const gab_lbm_cell *at, double *values);
} gab_lbm_quantity;

/** Adds a quantity. @param[in] quantity  borrowed for ever @return as gab_own_quantity_register() (blockforest/output/own_quantity.h) */
gab_status gab_lbm_quantity_register(const gab_lbm_quantity *quantity);
/** @return the index-th that was registered, NULL behind the last */
const gab_lbm_quantity *gab_lbm_quantity_at(int index);

#ifdef __cplusplus
}
#endif
#endif
