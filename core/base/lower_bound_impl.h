/* SPDX-License-Identifier: Apache-2.0 */
/** @file lower_bound_impl.h
 *  @brief Bisection in sorted data.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LOWER_BOUND_IMPL_H
#define GABION_CORE_LOWER_BOUND_IMPL_H

/** Sets `first` to the first index below `end` at which `is_before` is false, else to `end`. `is_before` is an expression
 * in the index `i`, which has the type of `first`. It must be true up to some index and false from there on. Example:
 * `size_t at = 0; GAB_LOWER_BOUND(size_t, at, count, i, ids[i] < id);` */
#define GAB_LOWER_BOUND(type, first, end, i, is_before)                                                      \
  for (type end_ = (end); (first) < end_;) {                                                                 \
    const type i = (first) + (end_ - (first)) / 2;                                                           \
    if (is_before) (first) = i + 1;                                                                          \
    else end_ = i;                                                                                           \
  }

#endif
