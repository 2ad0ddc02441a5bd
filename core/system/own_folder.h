/* SPDX-License-Identifier: Apache-2.0 */
/** @file own_folder.h
 *  @brief Private folders and files in places where all users may write.
 *
 *  In /dev/shm, for example, another user who knows a name may have created it before, with files in it, or as a link. These
 *  functions open nothing through links, and check owner, mode and type of the open file, so that it cannot be exchanged in
 *  between. Depends on no other file of the project: gabion-launch compiles it in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_OWN_FOLDER_H
#define GABION_CORE_OWN_FOLDER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_OWN_WHY = 256 }; /**< capacity for the reason why something was refused */

/** Opens a folder that this user owns and nobody else may enter. Local.
 *  @param[in] at  folder that `name` is relative to, as for openat(); AT_FDCWD
 *  @param[in] make  whether to make it (mode 0700) if it is not there
 *  @param[out] why  what is wrong with it
 *  @return a descriptor, to be closed by the caller; -1 and errno (EPERM if it is there and not only ours) */
int gab_own_folder_open(int at, const char *name, bool make, char why[GAB_OWN_WHY]);

/** Opens a file that this user owns, that nobody else may open and that has no second name. Local.
 *  @param[in] flags  as for openat(); a new file gets mode 0600
 *  @return like gab_own_folder_open() */
int gab_own_file_open(int at, const char *name, int flags, char why[GAB_OWN_WHY]);

/** Removes such a folder with its files and the folders in it, whose files too. Nothing is followed. Local.
 *  @return false if something stays */
bool gab_own_folder_remove(int at, const char *name);

#ifdef __cplusplus
}
#endif
#endif
