/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: the file of a series, on the root. Others may remove, rename, cut or replace it during the run. Before each write
 * its identity and its last bytes are compared with the written ones. A file that is gone is written again from the open
 * descriptor. If rows cannot be recovered, the existing ones stay, the following ones are appended directly, and a warning
 * names the missing ones. There is never a hole.
 *
 * Places are *logical*: those in the file of an undisturbed run. */
#ifndef GABION_BLOCKFOREST_CSV_FILE_IMPL_H
#define GABION_BLOCKFOREST_CSV_FILE_IMPL_H

#include "core/base/buffer.h"

#include <stdbool.h>

#define GAB_SERIES_TAIL 256

typedef struct gab_series_file {
  const char *path;         /* borrowed, as the next one */
  const gab_buffer *header; /* first line */
  int descriptor;           /* -1: not open */
  int error;                /* errno of the last failure */
  int64_t missing;          /* a logical place minus this is one in the file */
  /* The root went back alone: rows that were written since stay until others come in their place. For all may still go back to
   * a later checkpoint than it did, which counts them. */
  bool overlaps;
  size_t tail; /* last bytes that were written, as many as these; 0: not known */
  unsigned char tail_bytes[GAB_SERIES_TAIL];
} gab_series_file;

/* Puts rows at a place and cuts off whatever stood behind them: the rest of a row that a full disk or a death left
 * half-written, or an older run. A disk that refuses is waited for.
 * @param[in] start  where they begin; 0: with the header  @param[in] last  step of the row before them, -1: none
 * @return GAB_ERR_IO with path and cause: whole rows are in the file, none of these */
gab_status gab_series_file_write(gab_series_file *file, uint64_t start, gab_step last,
                                 const gab_buffer *rows);
/* Looks whether all rows up to a place are there, and mends that as above. A file that this process has not opened stays alone. */
gab_status gab_series_file_check(gab_series_file *file, uint64_t end, gab_step last);
/* Cuts it to a place, unless it overlaps. @param[in] last  step of the last row before it */
gab_status gab_series_file_cut(gab_series_file *file, uint64_t end, gab_step last);
/* Renames what lies there to the first of NAME_1.csv, NAME_2.csv, ... that is free, and warns. @param[in] why  words for it */
gab_status gab_series_file_set_aside(gab_series_file *file, const char *why);
void gab_series_file_close(gab_series_file *file);

#endif
