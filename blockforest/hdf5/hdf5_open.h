/* SPDX-License-Identifier: Apache-2.0 */
/** @file hdf5_open.h
 *  @brief HDF5 files on a file system without locks, and the reason why one could not be read.
 *
 *  HDF5 locks every file that it opens, and fails where the file system refuses that (ENOLCK, or 524 as Lustre answers).
 *  Gabion needs no such locks: one process writes into a folder at a time (resilience/run_folder/run_lock.h), under temporary
 *  names. So files are opened here without; HDF5_USE_FILE_LOCKING in the environment has precedence.
 *
 *  Everything between gab_hdf5_lock() and gab_hdf5_unlock() (hdf5_lock.h).
 *
 *  Stability: internal.
 */
#ifndef GABION_BLOCKFOREST_HDF5_OPEN_H
#define GABION_BLOCKFOREST_HDF5_OPEN_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What has to be done before the first call of HDF5: gab_hdf5_lock() does it. Local. */
void gab_hdf5_prepare(void);
/** Opens a file for reading, without a lock. Local. @return its hid_t, to be closed; negative on failure: gab_hdf5_failure() */
int64_t gab_hdf5_open(const char *path);
/** Makes a file, over one that is there, without a lock. Local. @return as gab_hdf5_open() */
int64_t gab_hdf5_create(const char *path);

/** Says why the HDF5 call that has just failed did so; before the next one. Local.
 *  @param[in] subject  first part of the message, e.g. the path
 *  @return ::GAB_ERR_IO if the system refused a call, with its words; ::GAB_ERR_MEMORY if memory was missing; else
 *  ::GAB_ERR_CORRUPT: the content is not what it should be. Never GAB_OK. */
gab_status gab_hdf5_failure(const char *subject);
/** The same for an input file that could not be opened. @return ::GAB_ERR_IO */
gab_status gab_hdf5_unreadable(const char *path);

#ifdef __cplusplus
}
#endif
#endif
