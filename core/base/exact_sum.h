/* SPDX-License-Identifier: Apache-2.0 */
/** @file exact_sum.h
 *  @brief Sums of doubles, independent of the order.
 *
 *  A wide fixed-point accumulator (Kulisch): every double is added without rounding, so the sum is the same for any order
 *  and any split over processes and threads; rounded once, at the end, to nearest even. Reductions that feed back into the
 *  state, and all reported integrals, use it (contract 8).
 *
 *  Stability: stable.
 */
#ifndef GABION_CORE_EXACT_SUM_H
#define GABION_CORE_EXACT_SUM_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_EXACT_LIMBS 70 /**< 32-bit digits from 2^-1088 up, with capacity for 2^31 carries per digit */

typedef struct gab_exact_sum {
  int64_t limb[GAB_EXACT_LIMBS];
  uint32_t pending;  /**< additions since the carries were last propagated */
  uint32_t specials; /**< bit 0 a NaN, bit 1 +infinity, bit 2 -infinity was added */
} gab_exact_sum;

void gab_exact_clear(gab_exact_sum *sum);
void gab_exact_add(gab_exact_sum *sum, double value);
/** sum += other */
void gab_exact_merge(gab_exact_sum *sum, const gab_exact_sum *other);
/** The sum, correctly rounded; NaN and infinities as IEEE addition would give. */
double gab_exact_value(const gab_exact_sum *sum);

#ifdef __cplusplus
}
#endif
#endif
