/* SPDX-License-Identifier: Apache-2.0 */
/** @file disk_names_impl.h
 *  @brief Names in the files of a checkpoint, for each readable format. Meanings: doc/checkpoint-format.md.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_RESILIENCE_DISK_NAMES_IMPL_H
#define GABION_RESILIENCE_DISK_NAMES_IMPL_H

typedef struct gab_disk_names {
  const char
      *ranks; /* in the manifest: number of ranks at the start; in a group file: HDF5 group of their parts */
  const char *failed; /* in the manifest: ranks that had failed */
  const char *rank;   /* attribute of a part */
  const char *what;   /* attribute of a group file: "gabion checkpoint" */
  const char *format; /* attribute of a group file: its format */
} gab_disk_names;

/* @param[in] format  one that gab_checkpoint_format_check() accepts */
const gab_disk_names *gab_disk_names_of(int format);

#endif
