/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the steps of one output in its folder. Of the root alone.
 *
 * Files of an output: NAME_0000001000.xdmf describes a step, NAME_0000001000.h5 or NAME_0000001000.s0003.h5 (of rank 3) holds it.
 * NAME_0000001000.vtkhdf does both. */
#ifndef GABION_BLOCKFOREST_STEP_FILES_IMPL_H
#define GABION_BLOCKFOREST_STEP_FILES_IMPL_H

#include "core/base/buffer.h"
#include "core/world/world.h"

typedef struct gab_step_files {
  gab_buffer steps;        /* gab_step, ascending; as of `epoch`, unless the run went back since */
  const char *description; /* extension of the files that make a step complete; NULL: ".xdmf" */
  bool is_known;
  gab_epoch epoch;
} gab_step_files;

void gab_step_files_release(gab_step_files *files);

/* Updates the list, `step` last. After a rollback, removes files of later steps, and files of this step by vanished
 * ranks; the others wait meanwhile. @return ::GAB_ERR_IO with the path */
gab_status gab_step_files_update(gab_step_files *files, const gab_world *world, const char *folder,
                                 const char *name, gab_step step);

/* Writes FOLDER/NAME.xdmf, the time series of these steps. */
gab_status gab_step_files_write_index(const gab_step_files *files, const char *folder, const char *name);

#endif
