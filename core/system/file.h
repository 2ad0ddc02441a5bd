/* SPDX-License-Identifier: Apache-2.0 */
/** @file file.h
 *  @brief Small files that are there whole or not at all, and files of users that may be anything.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_FILE_H
#define GABION_CORE_FILE_H

#include "core/base/buffer.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a file has to survive the loss of power, too. */
typedef enum gab_durability {
  GAB_FILE_RENAMED, /**< a reader sees the old file or the new one, never a part */
  GAB_FILE_SYNCED   /**< and it is on the medium, name included, before the call returns (fsync of both) */
} gab_durability;

/** Replaces a file: writes PATH.new beside it, then renames. Local; by one process at a time.
 *  @return ::GAB_ERR_IO that names the file and why; PATH is then what it was, and PATH.new is gone */
gab_status gab_file_replace(const char *path, const void *bytes, size_t count, gab_durability durability);

/** Makes a file that is not there yet, whole, so that of several processes that want it, on several machines that share
 *  the file system, one makes it: written as PATH.new.HOST.PROCESS, then linked. Local.
 *  @param[out] made  false if PATH is there already
 *  @return ::GAB_ERR_IO that names the file and why */
gab_status gab_file_create(const char *path, const void *bytes, size_t count, bool *made);

/** Brings the entries of a folder, such as a rename in it, to the medium. Local. */
gab_status gab_folder_sync(const char *folder);

/** Opens a file for reading that has to be a regular one (or a link to one): a pipe could make the program wait for
 *  ever, a device never end. Local. @param[out] file  owned by the caller, NULL on failure
 *  @return ::GAB_ERR_INPUT with the path and why: not there, not allowed, a folder, a pipe, a device, a socket */
gab_status gab_file_open(const char *path, FILE **file);

/** Whether gab_file_open() would succeed, for libraries that open files by themselves. Local. */
gab_status gab_file_check(const char *path);

/** Appends what is in a regular file. Local. @param[in] most  bytes that it may have
 *  @return ::GAB_ERR_INPUT as gab_file_open(), or if the file is larger or cannot be read */
gab_status gab_file_read(const char *path, size_t most, gab_buffer *bytes);

/** Adds the bytes of a regular file of any size to a hash. Local. @return ::GAB_ERR_INPUT as gab_file_read() */
gab_status gab_file_hash(const char *path, gab_hash64_stream *hash);

#ifdef __cplusplus
}
#endif
#endif
