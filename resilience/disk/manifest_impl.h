/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of reading and writing manifests. Stability: internal. */
#ifndef GABION_RESILIENCE_DISK_MANIFEST_IMPL_H
#define GABION_RESILIENCE_DISK_MANIFEST_IMPL_H

#include "resilience/disk/manifest.h"

/** Reserves capacity for the files of all groups of `members`. */
gab_status gab_manifest_set_files(gab_manifest *manifest);

/** Appends the JSON text, with the names of the manifest's format. */
gab_status gab_manifest_format(const gab_manifest *manifest, gab_buffer *text);

/** Reads it back. @param[in] name  for messages @param[out] manifest  initialised; complete on success only @return
 * ::GAB_ERR_CORRUPT if it is not a manifest, has an unreadable format, is truncated, or does not match its hash */
gab_status gab_manifest_parse(const char *name, const char *text, size_t length, gab_manifest *manifest);

#endif
