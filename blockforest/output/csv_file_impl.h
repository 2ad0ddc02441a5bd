/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the file of a series, on the root. Other programs may remove, rename, cut or replace it during the run.
 * Each write first compares its identity and its last bytes with the recorded ones. A removed file is written again
 * from the open descriptor. If rows cannot be recovered, the existing ones stay, the following ones are appended
 * directly, and a warning names the missing ones. The file never has a hole.
 *
 * Positions are *logical*: positions in the file of an undisturbed run. */
#ifndef GABION_BLOCKFOREST_CSV_FILE_IMPL_H
#define GABION_BLOCKFOREST_CSV_FILE_IMPL_H

#include "core/base/buffer.h"

#include <stdbool.h>

#define GAB_SERIES_TAIL 256

typedef struct gab_series_file {
  const char *path;         /* borrowed, as the header */
  const gab_buffer *header; /* first line */
  int descriptor;           /* -1: not open */
  int error;                /* errno of the last failure */
  int64_t missing;          /* logical position minus position in the file */
  /* The root alone went back: rows written since stay until recomputed ones replace them. All ranks may still return
   * to a later checkpoint, which counts these rows. */
  bool overlaps;
  size_t tail; /* number of recorded last bytes; 0: not known */
  unsigned char tail_bytes[GAB_SERIES_TAIL];
} gab_series_file;

/* Puts rows at a position and cuts off later content: an incomplete row after a full disk or a death, or rows of an
 * older run. Waits while the disk refuses.
 * @param[in] start  where they begin; 0: with the header  @param[in] last  step of the row before them, -1: none
 * @return GAB_ERR_IO with path and cause: whole rows are in the file, none of these */
gab_status gab_series_file_write(gab_series_file *file, uint64_t start, gab_step last,
                                 const gab_buffer *rows);
/* Checks that all rows up to a position are in the file, and repairs it as above. Ignores a file that this process
 * has not opened. */
gab_status gab_series_file_check(gab_series_file *file, uint64_t end, gab_step last);
/* Cuts it to a position, unless it overlaps. @param[in] last  step of the last row before it */
gab_status gab_series_file_cut(gab_series_file *file, uint64_t end, gab_step last);
/* Renames an existing file to the first free name of NAME_1.csv, NAME_2.csv, ..., and warns. @param[in] why  reason
 * in the warning */
gab_status gab_series_file_set_aside(gab_series_file *file, const char *why);
void gab_series_file_close(gab_series_file *file);

#endif
