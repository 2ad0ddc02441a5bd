/* SPDX-License-Identifier: Apache-2.0 */
/** @file reduce.h
 *  @brief Dot products, sums, norms and extrema of block fields in one call each.
 *
 *  Results do not depend on the number of processes and threads, or on the owners of blocks: sums use exact accumulators
 *  (core/base/exact_sum.h). Cells of all levels count alike; ghosts do not count. All functions are collective over the living
 *  and return ::GAB_ERR_FAULT in a broken world. Block data are those of gab_block_field_data() or gab_block_field_scratch().
 *
 *  Stability: stable.
 */
#ifndef GABION_BLOCKFOREST_REDUCE_H
#define GABION_BLOCKFOREST_REDUCE_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One component of a block field. */
typedef struct gab_block_component {
  gab_data_id data;
  int component; /**< from 0 */
} gab_block_component;

/** What gab_forest_norms() finds. Without cells all are zero. */
typedef struct gab_norms {
  uint64_t cells; /**< of all ranks */
  double sum;     /**< correctly rounded */
  double one;     /**< sum of |u| */
  double two;     /**< square root of the sum of u^2; each square is rounded */
  double max;     /**< largest |u| */
  double lowest, highest;
} gab_norms;

/** The sum of a*b over all cells; each product is rounded, the sum is rounded once. a and b may be the same.
 *  @return ::GAB_ERR_ARGUMENT for a component that does not exist, or fields of different cells */
gab_status gab_forest_dot(gab_forest *forest, gab_block_component a, gab_block_component b, double *dot);
/** The sum over all cells, rounded once. */
gab_status gab_forest_sum(gab_forest *forest, gab_block_component a, double *sum);
/** All norms in one pass and one reduction. NaN in a cell gives NaN. */
gab_status gab_forest_norms(gab_forest *forest, gab_block_component a, gab_norms *norms);

#ifdef __cplusplus
}
#endif
#endif
