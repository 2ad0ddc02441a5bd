/* SPDX-License-Identifier: Apache-2.0 */
/** @file vectors_impl.h
 *  @brief Vectors in parameter files.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_VECTORS_IMPL_H
#define GABION_LBM_VECTORS_IMPL_H

#include "core/config/config.h"

/** A list of two or three numbers. @param[out] vector  what is left out is 0 @return ::GAB_ERR_INPUT for two numbers in 3D */
gab_status gab_lbm_read_vector(const gab_config *config, const char *path, int dimension, double vector[3]);
/** The same, whose third component has to be 0 or left out in 2D. */
gab_status gab_lbm_read_plane_vector(const gab_config *config, const char *path, int dimension,
                                     double vector[3]);

#endif
