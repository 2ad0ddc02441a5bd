/* SPDX-License-Identifier: Apache-2.0 */
/** @file body_shape_impl.h
 *  @brief Shapes of the library that have a descriptor. A new one is a line here and its descriptor.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_BODY_SHAPE_IMPL_H
#define GABION_LBM_BODY_SHAPE_IMPL_H

#include "lbm/boundaries/body_shape.h"

/** In the order of the parameter reference. */
#define GAB_LIBRARY_SHAPES(SHAPE)                                                                            \
  SHAPE(half_space)                                                                                          \
  SHAPE(ellipsoid)                                                                                           \
  SHAPE(cone)                                                                                                \
  SHAPE(torus)                                                                                               \
  SHAPE(polygon)                                                                                             \
  SHAPE(formula)                                                                                             \
  SHAPE(voxels)                                                                                              \
  SHAPE(mesh)

#define GAB_SHAPE_DECLARATION(name) extern const gab_body_shape gab_shape_##name;
GAB_LIBRARY_SHAPES(GAB_SHAPE_DECLARATION)
#undef GAB_SHAPE_DECLARATION

#endif
