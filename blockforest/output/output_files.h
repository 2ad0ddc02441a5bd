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

/** Whether a text can be (part of) the name of a file of the output folder: 1 to 60 letters and digits of ASCII and
 *  _ - + . that begin with a letter, a digit or _. So it stays in its folder, is no option of a program, and leaves space
 *  for a step and an ending. Pure. @return ::GAB_ERR_INPUT that says what is wrong */
gab_status gab_output_name_check(const char *name);

/** Makes the folder `path` (with those above it) and `path`/fields, and tries whether files can be written
 *  there. Local: for the root, before the run. @return ::GAB_ERR_INPUT with path and cause */
gab_status gab_output_folder_prepare(const char *path);
/** The root does that, and all know how it went. Collective. @param[in] path  the same on all; only the root's counts
 *  @return on all ranks the same: GAB_OK, ::GAB_ERR_INPUT with path and cause; ::GAB_ERR_FAULT in a broken world */
GAB_STABLE gab_status gab_output_folder_make(gab_world *world, const char *path);

/** Writes a file, which has its name only when all of it is written; waits for a disk that refuses. Local.
 *  @return ::GAB_ERR_IO that names file and cause: nothing is left of it then */
gab_status gab_output_file_save(const char *path, const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
