/* SPDX-License-Identifier: Apache-2.0 */
/** @file run_file.h
 *  @brief Files of a run, in an output folder in which other users may write.
 *
 *  Whoever may write in the output folder may plant a symbolic link, a second name of a file or a pipe where a run writes,
 *  and so have the run write to a file elsewhere. All writers of a run open their files here. Links of this user and of
 *  root are followed: results may be on another disk.
 *
 *  Depends on no other file of the project.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_RUN_FILE_H
#define GABION_CORE_RUN_FILE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_RUN_FILE_WHY = 320 }; /**< bytes of a reason, with the terminating zero */

/** Opens a file of the run. Refused are: a link of another user; a file of a user who owns neither the folder nor this
 *  process, root apart; a pipe, device or socket of another user; and, where the folder belongs to another user or all may write in it,
 *  a file that has a second name. O_TRUNC takes effect behind these checks. Local.
 *  @param[in] flags  as for open(); O_CLOEXEC is added; a new file gets mode 0666 less the umask
 *  @param[out] why  the path and why it was refused or not opened
 *  @return a descriptor, to be closed by the caller; -1 and errno (EPERM if refused) */
int gab_run_file_open(const char *path, int flags, char why[GAB_RUN_FILE_WHY]);

/** Whether a folder below the output folder may be used: false for a link of another user. True if nothing is there. Local.
 *  @param[out] why  the path and why not */
bool gab_run_folder_is_safe(const char *path, char why[GAB_RUN_FILE_WHY]);

#ifdef __cplusplus
}
#endif

#endif
