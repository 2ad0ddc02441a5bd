/* SPDX-License-Identifier: Apache-2.0 */
/** @file manifest.h
 *  @brief manifest.json: describes the files of a checkpoint and the run that wrote it; without it they are not a
 *  checkpoint.
 *
 *  JSON, so that any tool can read it; its last member is a hash of the text before it. The format is described in
 *  doc/checkpoint-format.md.
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
  uint64_t digest; /**< hash of the hashes of its contents */
} gab_manifest_file;

typedef struct gab_manifest {
  int format;                      /**< of the checkpoint; ::GAB_CHECKPOINT_FORMAT for a new one */
  char program[GAB_MANIFEST_NAME]; /**< version of the program that wrote it */
  char scheme[GAB_MANIFEST_NAME];  /**< of the copies in memory at that time; for information */
  gab_step step;
  uint64_t serial; /**< of the memory snapshot */
  gab_epoch epoch;
  double written;  /**< seconds since 1970 */
  double seconds;  /**< time of writing, without the manifest */
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
/** Checks that all files exist with their sizes, without reading them. @return ::GAB_ERR_CORRUPT with the first one that
 * does not */
gab_status gab_manifest_check_files(const gab_manifest *manifest, const char *folder);

/** Compares lines "key = value", sorted, and appends for each difference "  key: THEIRS PLACE, MINE NOW" as a line.
 * @param[in] place  of the other lines: "in the checkpoint" @param[in] now  of these: "now" @param[in] is_new called for keys that the checkpoint lacks:
 * true if this is not a difference, because the key belongs to a newer program and has its default; NULL: every such key is
 * a difference @return the number of differences */
size_t gab_manifest_compare(const gab_buffer *theirs, const gab_buffer *mine, const char *place,
                            const char *now, bool (*is_new)(const void *user, const char *key),
                            const void *user, gab_buffer *differences);

#ifdef __cplusplus
}
#endif
#endif
