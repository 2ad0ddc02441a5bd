/* SPDX-License-Identifier: Apache-2.0 */
/** @file grid_convergence.h
 *  @brief Order of convergence of a number, its limit, and the uncertainty of the limit (grid convergence index).
 *
 *  Roache, J. Fluids Eng. 116 (1994) 405, in the form of Celik et al., J. Fluids Eng. 130 (2008) 078001, which allows unequal
 *  ratios of cell widths. With f_i on cells of width h_i, h_1 the smallest:
 *
 *      p = |ln |e32 / e21| + q(p)| / ln r21,  q = ln((r21^p - s) / (r32^p - s)),  e21 = f_2 - f_1, ..., s the sign of e32 / e21
 *      limit = f_1 + (f_1 - f_2) / (r21^p - 1),  uncertainty = factor |f_1 - f_2| / (r21^p - 1)
 *
 *  The factor is 1.25 for three grids, 3 for two. Pure.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_GRID_CONVERGENCE_H
#define GABION_APPS_DRIVER_GRID_CONVERGENCE_H

#include <stddef.h>

/** How a number behaves on the three finest grids. */
typedef enum gab_convergence_kind {
  GAB_CONVERGENCE_EQUAL,   /**< differences are rounding: the limit is the value */
  GAB_CONVERGENCE_ASSUMED, /**< two grids: the order is `assumed` */
  GAB_CONVERGENCE_MONOTONIC,
  GAB_CONVERGENCE_OSCILLATING, /**< differences change their sign and decrease */
  GAB_CONVERGENCE_NONE         /**< differences grow, or decrease too slowly for an order above 0.1 */
} gab_convergence_kind;

typedef struct gab_convergence {
  gab_convergence_kind kind;
  double order; /**< of ::GAB_CONVERGENCE_MONOTONIC, of ::GAB_CONVERGENCE_ASSUMED the assumed one; else NaN */
  double limit; /**< extrapolated to zero width; of the other kinds the value on the finest grid */
  double
      uncertainty; /**< of the limit, 95 % by experience; of ::GAB_CONVERGENCE_NONE the largest difference of two grids */
} gab_convergence;

/** @param[in] value  on each grid, the coarsest first @param[in] width  of a cell, in any unit, descending @param[in] count  at least 2
 *  @param[in] assumed  order for two grids; with more grids, limit and uncertainty use at most this order, which makes the
 *  uncertainty larger where the observed one is higher
 *  @param[in] noise  differences up to this are rounding */
gab_convergence gab_convergence_of(const double *value, const double *width, size_t count, double assumed,
                                   double noise);

#endif
