/* SPDX-License-Identifier: Apache-2.0 */
/** @file hdf5_array.h
 *  @brief Arrays of numbers in HDF5 files of other programs.
 *
 *  Local. One thread at a time.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_HDF5_ARRAY_H
#define GABION_BLOCKFOREST_HDF5_ARRAY_H

#include "core/base/status.h"

/** The size of a dataset of `dimension` dimensions. @param[out] size  x first, the last dimension of the dataset; 1
 *  beyond `dimension` @return ::GAB_ERR_INPUT with the file and the reason */
gab_status gab_hdf5_array_size(const char *path, const char *dataset, int dimension, int64_t size[3]);
/** Takes a row along x. */
typedef void gab_hdf5_row_fn(void *user, int64_t y, int64_t z, const double *values);
/** Reads a data set layer by layer, as doubles. @param[in] size  as gab_hdf5_array_size() says
 *  @return ::GAB_ERR_INPUT with the file and the reason */
gab_status gab_hdf5_array_read(const char *path, const char *dataset, int dimension, const int64_t size[3],
                               gab_hdf5_row_fn *row, void *user);

#endif
