/* SPDX-License-Identifier: Apache-2.0 */
/** @file geometry_impl.h
 *  @brief Shapes of a geometry, for other files of lbm/boundaries.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_GEOMETRY_IMPL_H
#define GABION_LBM_GEOMETRY_IMPL_H

#include "lbm/boundaries/geometry.h"
#include "lbm/boundaries/shapes/shapes_impl.h"

/** The bodies, their copies, and images of these beyond periodic sides. */
const gab_shape_data *gab_geometry_shapes(const gab_geometry *geometry, size_t *count);

#endif
