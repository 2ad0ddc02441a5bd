/* SPDX-License-Identifier: Apache-2.0 */
/** @file curve.h
 *  @brief Space-filling curves by name: Morton and Hilbert.
 *
 *  Stability: extender.
 */
#ifndef GABION_LOADBALANCE_CURVE_H
#define GABION_LOADBALANCE_CURVE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A curve through a cube (square) of 2^bits positions per direction; dimension * bits is at most 63.
 *  The finer curve refines the coarser one: encode(d, b + 1, at) >> d == encode(d, b, at / 2). */
typedef struct gab_curve {
  const char *name;
  const char *doc;
  /** Position on the curve, in [0, 2^(dimension * bits)). */
  uint64_t (*encode)(int dimension, int bits, const uint32_t at[3]);
  void (*decode)(int dimension, int bits, uint64_t position, uint32_t at[3]);
} gab_curve;

extern const gab_curve gab_curve_morton;
extern const gab_curve gab_curve_hilbert;

/** @return the curve of that name; NULL with an error message that lists the names */
const gab_curve *gab_curve_by_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
