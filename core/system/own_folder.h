/* SPDX-License-Identifier: Apache-2.0 */
/** @file own_folder.h
 *  @brief Private folders and files in world-writable places.
 *
 *  In /dev/shm, for example, another user who knows a name may have created it before, with files in it, or as a link.
 *  These functions open nothing through links, and check owner, mode and type of the open file, so that it cannot be
 *  exchanged in between. Depends on no other file of the project: gabion-launch compiles it in.
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

/** Opens a folder that only this user may enter and owns. Local. @param[in] at base folder of
 *  `name`, as for openat(); AT_FDCWD @param[in] make create it (mode 0700) if it does not exist
 *  @param[out] why reason of a refusal
 *  @return a descriptor, closed by the caller; -1 and errno (EPERM if others own or may enter
 *  it) */
int gab_own_folder_open(int at, const char *name, bool make, char why[GAB_OWN_WHY]);

/** Opens a file that this user owns, that others cannot open, and that has no further hard link. Local.
 *  @param[in] flags  as for openat(); a new file gets mode 0600
 *  @return like gab_own_folder_open() */
int gab_own_file_open(int at, const char *name, int flags, char why[GAB_OWN_WHY]);

/** Removes such a folder with its files, and its subfolders with their files. Follows no links. Local. @return false
 *  if something remains */
bool gab_own_folder_remove(int at, const char *name);

#ifdef __cplusplus
}
#endif
#endif
