/* SPDX-License-Identifier: Apache-2.0 */
/** @file manifest.h
 *  @brief manifest.json: what makes the files of a folder a checkpoint, and what they are a checkpoint of.
 *
 *  JSON, so that any tool reads it; its last member is a hash of what stands before. The format is described
 *  in doc/checkpoint-format.md.
 *
 *  Stability: extender.
 */
#ifndef GABION_RESILIENCE_MANIFEST_H
#define GABION_RESILIENCE_MANIFEST_H

#include "core/world/members.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_MANIFEST_NAME = 64 };

/** One of the files, that of one aggregation group. */
typedef struct gab_manifest_file {
  char name[GAB_MANIFEST_NAME]; /**< inside the folder of the checkpoint */
  uint64_t bytes;
  uint64_t digest; /**< hash of the hashes of what is in it */
} gab_manifest_file;

typedef struct gab_manifest {
  int format;                      /**< of the whole checkpoint; of a new one ::GAB_CHECKPOINT_FORMAT */
  char program[GAB_MANIFEST_NAME]; /**< version of the program that wrote it */
  char scheme[GAB_MANIFEST_NAME];  /**< of the copies in memory at that time: for information */
  gab_step step;
  uint64_t serial; /**< of the memory snapshot */
  gab_epoch epoch;
  double written;  /**< seconds since 1970 */
  double seconds;  /**< that writing took, without the manifest */
  uint64_t blocks; /**< of all ranks */
  int group;       /**< members per file */
  gab_members members;
  gab_manifest_file *files;
  size_t file_count;
  gab_buffer state;      /**< parameters that the state depends on, lines "key = value" */
  gab_buffer parameters; /**< all parameters */
} gab_manifest;

void gab_manifest_init(gab_manifest *manifest);
void gab_manifest_release(gab_manifest *manifest);

/** Reads FOLDER/manifest.json. @return ::GAB_ERR_IO if it cannot be read; as gab_manifest_parse() */
gab_status gab_manifest_read(const char *folder, gab_manifest *manifest);
/** Looks whether all files are there with the sizes they should have, without reading them.
 *  @return ::GAB_ERR_CORRUPT that names the first one that is not */
gab_status gab_manifest_check_files(const gab_manifest *manifest, const char *folder);

/** Compares lines "key = value", sorted, and appends for each difference "  key: THEIRS PLACE, MINE now" as a line.
 *  @param[in] place  of the other lines: "in the checkpoint"
 *  @param[in] is_new  asked for keys that the checkpoint does not know: true if that is no difference,
 * because the key is one of a newer program and has its default; NULL: every such key is a difference
 *  @return the number of differences */
size_t gab_manifest_compare(const gab_buffer *theirs, const gab_buffer *mine, const char *place,
                            bool (*is_new)(const void *user, const char *key), const void *user,
                            gab_buffer *differences);

#ifdef __cplusplus
}
#endif
#endif
