/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_files.h
 *  @brief List of the files of a run in its output folder, which a later run there removes.
 *
 *  FOLDER/files.txt lists, one per line, the files that the run in the folder writes: names relative to the folder, with
 *  `<n>` for a number (`fields/fields_<n>.s<n>.h5`). A run that starts from step 0 in a used folder removes the files of that
 *  list, so that no file of an earlier run remains; a run that resumes keeps them. Files that are not listed are not
 *  touched, nor are links, nor anything but regular files of the folder and of folders in it.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_RUN_FILES_H
#define GABION_RESILIENCE_RUN_FILES_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the list in the output folder. */
#define GAB_RUN_FILES "files.txt"

/** What becomes of the files of the run before. */
typedef enum gab_run_files_of_before {
  GAB_RUN_FILES_REMOVE, /**< this run begins anew */
  GAB_RUN_FILES_KEEP    /**< it goes on: the new list is added to the old one */
} gab_run_files_of_before;

/** Removes what an earlier run has listed, if wanted, and writes the list of this one. Local: for the root,
 * before anything on the list is written.
 *  @param[in] list  lines "NAME\n"
 *  @param[in] spare  names (of the same form) that this run has written already, one per line; NULL: none
 *  @param[out] removed  number of files; may be NULL
 *  @return ::GAB_ERR_IO that names what could not be removed or written, ::GAB_ERR_MEMORY */
gab_status gab_run_files_settle(const char *folder, const gab_buffer *list, const char *spare,
                                gab_run_files_of_before before, uint64_t *removed);

/** Whether a name is of that form; the endings .tmp and .new of files that are being written count as the
 * file. */
bool gab_run_files_match(const char *pattern, size_t length, const char *name);

#ifdef __cplusplus
}
#endif
#endif
