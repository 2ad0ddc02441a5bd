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

/** Treatment of the files of an earlier run. */
typedef enum gab_run_files_of_before {
  GAB_RUN_FILES_REMOVE, /**< this run starts from step 0 */
  GAB_RUN_FILES_KEEP    /**< this run resumes: the new list is appended to the old one */
} gab_run_files_of_before;

/** Removes the files that an earlier run has listed, if requested, and writes the list of this run. Local; call it on
 *  the root before any listed file is written.
 *  @param[in] list  lines "NAME\n"
 *  @param[in] spare  names (of the same form) that this run has written already, one per line; NULL: none
 *  @param[out] removed  number of files; may be NULL
 *  @return ::GAB_ERR_IO with the file that could not be removed or written, ::GAB_ERR_MEMORY */
gab_status gab_run_files_settle(const char *folder, const gab_buffer *list, const char *spare,
                                gab_run_files_of_before before, uint64_t *removed);

/** Finds files that a run has not finished, NAME.tmp and NAME.new of its list, and removes them. Local; not while a run
 *  writes. @param[in] dry_run  only count @param[in,out] count, bytes  of these files are added @return ::GAB_ERR_IO with the
 *  file that could not be removed */
gab_status gab_run_files_remove_unfinished(const char *folder, bool dry_run, uint64_t *count,
                                           uint64_t *bytes);

/** Whether a name matches a pattern of the list; the endings .tmp and .new of unfinished files are
 * accepted. */
bool gab_run_files_match(const char *pattern, size_t length, const char *name);

#ifdef __cplusplus
}
#endif
#endif
