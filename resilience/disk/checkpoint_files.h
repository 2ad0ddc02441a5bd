/* SPDX-License-Identifier: Apache-2.0 */
/** @file checkpoint_files.h
 *  @brief Reading checkpoints on disk with one process, without a world.
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_CHECKPOINT_FILES_H
#define GABION_RESILIENCE_CHECKPOINT_FILES_H

#include "resilience/disk/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Visits the folders of all steps in a folder of checkpoints, newest first, complete or not. @param[in] visit an
 *  error ends the visits and is returned */
gab_status gab_checkpoint_files_visit(const char *folder,
                                      gab_status (*visit)(void *user, gab_step step, const char *path),
                                      void *user);

/** Verifies all files of a checkpoint against their hashes. Needs the memory
 *  of one process's image, for files of any size. @param[in] tell called
 *  with one sentence per defect @return GAB_OK also with defects;
 *  ::GAB_ERR_MEMORY */
gab_status gab_checkpoint_files_verify(const char *path, const gab_manifest *manifest,
                                       void (*tell)(void *user, const char *message), void *user);

/** A block in a checkpoint; `record` is as gab_forest_visit_image() describes it. */
typedef struct gab_checkpoint_block {
  gab_block_id id;
  int level;
  gab_rank rank; /**< its owner at that time */
  const unsigned char *record;
  size_t bytes;
} gab_checkpoint_block;

/** Visits all blocks of a checkpoint, image by image. @return ::GAB_ERR_CORRUPT with the defect */
gab_status gab_checkpoint_files_blocks(const char *path, const gab_manifest *manifest,
                                       gab_status (*visit)(void *user, const gab_checkpoint_block *block),
                                       void *user);
/** Reads the replicated entities. @param[out] bytes  replaced */
gab_status gab_checkpoint_files_replicated(const char *path, const gab_manifest *manifest, gab_buffer *bytes);

#ifdef __cplusplus
}
#endif
#endif
