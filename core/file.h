/** @file file.h
 *  @brief Small files that are there whole or not at all.
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_FILE_H
#define GABION_CORE_FILE_H

#include "core/status.h"

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

/** Brings the entries of a folder, such as a rename in it, to the medium. Local. */
gab_status gab_folder_sync(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
