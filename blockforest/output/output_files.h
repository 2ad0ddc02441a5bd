/* SPDX-License-Identifier: Apache-2.0 */
/** @file output_files.h
 *  @brief Folders and file names of all output.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_BLOCKFOREST_OUTPUT_FILES_H
#define GABION_BLOCKFOREST_OUTPUT_FILES_H

#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a text can be (part of) the name of a file in the output folder: 1 to 60 ASCII letters, digits and _ - + .
 *  that begin with a letter, a digit or _. Such a name stays in its folder, is not an option of a program, and leaves
 *  space for a step and an extension. Pure. @return ::GAB_ERR_INPUT with the reason */
gab_status gab_output_name_check(const char *name);

/** Makes the folders `path` (with its parents) and `path`/fields, and tests writing a file there. Local: for the
 *  root, before the run. @return ::GAB_ERR_INPUT with path and cause */
gab_status gab_output_folder_prepare(const char *path);
/** gab_output_folder_prepare() on the root, with its status on all. Collective. @param[in] path  of the root; the
 *  same on all
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_INPUT with path and cause; ::GAB_ERR_FAULT in a broken world */
GAB_STABLE gab_status gab_output_folder_make(gab_world *world, const char *path);

/** Writes a file under a temporary name and renames it when it is complete; waits while the disk refuses. Local.
 *  @return ::GAB_ERR_IO that names file and cause: no part of it remains */
gab_status gab_output_file_save(const char *path, const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
