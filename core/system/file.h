/* SPDX-License-Identifier: Apache-2.0 */
/** @file file.h
 *  @brief Atomic writes of small files, and checked access to files of users.
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

/** Whether a file must survive a power failure. */
typedef enum gab_durability {
  GAB_FILE_RENAMED, /**< a reader sees the old file or the new one, never a part */
  GAB_FILE_SYNCED   /**< file and name are on the medium before the call returns (fsync of both) */
} gab_durability;

/** Replaces a file: writes PATH.new, then renames it. Local; by one process at a time. @return ::GAB_ERR_IO with
 * file and cause; then PATH is unchanged and PATH.new removed */
gab_status gab_file_replace(const char *path, const void *bytes, size_t count, gab_durability durability);

/** Creates a file atomically unless it exists. Of several processes, also on several machines that
 * share the file system, exactly one creates it: the file is written as PATH.new.HOST.PROCESS, then
 * linked. Local. @param[out] made false if PATH exists already @return ::GAB_ERR_IO with file and
 * cause */
gab_status gab_file_create(const char *path, const void *bytes, size_t count, bool *made);

/** Writes the entries of a folder, e.g. after a rename, to the medium. Local. */
gab_status gab_folder_sync(const char *folder);

/** Opens a regular file (or a link to one) for reading. Other kinds are refused, since a pipe could block forever
 * and a device may be endless. Local. @param[out] file owned by the caller, NULL on failure @return ::GAB_ERR_INPUT
 * with path and cause: missing, no permission, a folder, a pipe, a device, a socket */
gab_status gab_file_open(const char *path, FILE **file);

/** Checks whether gab_file_open() would succeed, before a library opens the file itself. Local. */
gab_status gab_file_check(const char *path);

/** Appends the content of a regular file to `bytes`. Local. @param[in] most maximum size in bytes @return
 * ::GAB_ERR_INPUT as gab_file_open(), or if the file is larger or cannot be read */
gab_status gab_file_read(const char *path, size_t most, gab_buffer *bytes);

/** Adds the bytes of a regular file of any size to a hash. Local. @return ::GAB_ERR_INPUT as gab_file_read() */
gab_status gab_file_hash(const char *path, gab_hash64_stream *hash);

#ifdef __cplusplus
}
#endif
#endif
