/* SPDX-License-Identifier: Apache-2.0 */
/** @file hdf5_lock.h
 *  @brief One thread at a time in HDF5.
 *
 *  The serial HDF5 of most systems is not made for several threads. Whoever calls it, in whatever module,
 * does so between these two; never for long, and never while waiting for a message. Not recursive.
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_HDF5_LOCK_H
#define GABION_BLOCKFOREST_HDF5_LOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/** Also keeps HDF5 from printing its errors until gab_hdf5_unlock(). */
void gab_hdf5_lock(void);
void gab_hdf5_unlock(void);

#ifdef __cplusplus
}
#endif
#endif
