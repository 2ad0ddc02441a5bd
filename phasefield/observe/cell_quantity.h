/* SPDX-License-Identifier: Apache-2.0 */
/** @file cell_quantity.h
 *  @brief User-defined quantities of a phase field: functions of a cell, chosen by name in the parameter file.
 *
 *  Registered before the configuration is declared, the same on all processes, such a quantity can be written wherever one of the
 *  library can (output.fields, output.slices, output.slabs):
 *  @code
 *    static void steepness(const gab_phasefield_cell *at, double *values)
 *    {
 *      const double *d = at->phi_gradient[at->phases - 1];
 *      values[0] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
 *    }
 *    static const gab_phasefield_quantity own = {
 *        .name = "steepness", .doc = "of the melt's fraction", .components = 1, .gradient = true, .evaluate = steepness};
 *    GAB_TRY(gab_phasefield_quantity_register(&own));    output: {slices: [{quantity: steepness}]}
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_PHASEFIELD_CELL_QUANTITY_H
#define GABION_PHASEFIELD_CELL_QUANTITY_H

#include "core/config/config.h"
#include "phasefield/model/thermo.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The cell that is evaluated. */
typedef struct gab_phasefield_cell {
  int dimension, level;
  int phases, independents; /**< N and K-1 */
  double dx;                /**< width of the cell */
  double centre[3];         /**< in the present window; in 2D z is 0 */
  double temperature;
  double phi[GAB_MOST_PHASES]; /**< the last of them is the melt */
  double mu[GAB_MOST_INDEPENDENTS], c[GAB_MOST_INDEPENDENTS];
  /** Central differences, zero along z in 2D. Next to sides of the domain and other levels they use the ghosts of the
   *  equations. All zero unless the quantity requests them. */
  double phi_gradient[GAB_MOST_PHASES][3], mu_gradient[GAB_MOST_INDEPENDENTS][3];
} gab_phasefield_cell;

typedef struct gab_phasefield_quantity {
  const char *name; /**< letters, digits, `_` and `-`; must not begin with phi_, mu_ or c_ */
  const char *doc;  /**< a few words */
  const char *unit; /**< for people; NULL: none */
  int components;   /**< 1 (scalar) or 3 (vector) */
  bool diverging;   /**< pictures colour it symmetrically around 0 */
  bool gradient;    /**< it needs phi_gradient and mu_gradient */
  /** A pure function, called by one thread at a time. @param[out] values  one per component */
  void (*evaluate)(const gab_phasefield_cell *at, double *values);
} gab_phasefield_quantity;

/** Adds a quantity. @param[in] quantity  borrowed until the process ends @return as gab_own_quantity_register()
 *  (blockforest/output/own_quantity.h) */
gab_status gab_phasefield_quantity_register(const gab_phasefield_quantity *quantity);
/** Name and text of the index-th that was registered: gab_config_choice_fn. */
gab_config_choice gab_phasefield_own_quantity_choice(int index);

#ifdef __cplusplus
}
#endif
#endif
