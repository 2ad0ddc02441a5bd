/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer_rows.h
 *  @brief Many rows appended to a buffer, one after another, e.g. those of a field.
 *
 *  If the follower of the buffer has gab_buffer_follower.look, they are written by non-temporal stores of whole cache
 *  lines: lines are not read before they are overwritten, so memory traffic is two bytes per byte instead of three.
 *  Otherwise they are copied as by gab_put_bytes(). The content is the same.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_BUFFER_ROWS_H
#define GABION_CORE_BUFFER_ROWS_H

#include "core/base/buffer.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_ROWS_LINE = 64, GAB_ROWS_WINDOW = 4096, GAB_ROWS_TURN_WINDOW = 2048 };

/** Place of the next row. Rows that are far apart, e.g. of a block in a fused field, are not prefetched by the processor:
 * then reading is the bottleneck, and non-temporal stores, which use the same queues, slow it down; so such rows go through
 * the cache. */
typedef enum gab_rows_lie {
  GAB_ROWS_TOGETHER, /**< right after the previous row, or a few cache lines further */
  GAB_ROWS_APART,
  GAB_ROWS_IN_TURN /**< of several buffers, one row for each in turn, so that reads are contiguous: rows wait
                    * in the window of their buffer, which is written by non-temporal stores of whole lines
                    * when it is full */
} gab_rows_lie;

/** Opaque. Not to be copied between begin and end. */
typedef struct gab_buffer_rows {
  unsigned char line[GAB_ROWS_LINE],
      window[GAB_ROWS_WINDOW]; /* first, so that aligning the structure aligns them */
  gab_buffer *buffer;
  unsigned char *place;          /* of the next byte; non-temporal: of the line being filled */
  size_t capacity;               /* bytes reserved in the buffer that have not arrived */
  size_t left;                   /* bytes after those */
  bool nontemporal, waits;       /* waits: past the cache from the window on */
  size_t first, filled;          /* of the line: own bytes, from `first` on */
  size_t seen;                   /* bytes in the window */
  size_t most;                   /* in turn: when it is full; chosen so that the next bytes begin at a line */
  const unsigned char *seen_for; /* their place */
  gab_follower_note note;
} gab_buffer_rows;

/** Announces `bytes`; nothing else may be appended until gab_buffer_rows_end(). Local. @param[in] buffer  borrowed @return
 * as gab_buffer_extend() */
gab_status gab_buffer_rows_begin(gab_buffer_rows *rows, gab_buffer *buffer, size_t bytes, gab_rows_lie lie);
/** @return ::GAB_ERR_ARGUMENT for more bytes than announced; as gab_buffer_extend() */
gab_status gab_buffer_rows_add(gab_buffer_rows *rows, const void *bytes, size_t count);
/** Like memcpy(), for at most a few cache lines, where a call would take as long as the copy. */
static inline void gab_copy_short(unsigned char *to, const unsigned char *from, size_t count)
{
  for (; count >= GAB_ROWS_LINE; count -= GAB_ROWS_LINE, to += GAB_ROWS_LINE, from += GAB_ROWS_LINE)
    memcpy(to, from, GAB_ROWS_LINE);
  for (; count >= 8; count -= 8, to += 8, from += 8) memcpy(to, from, 8);
  memcpy(to, from, count);
}
/** gab_buffer_rows_add(), mostly without a call: for short rows in turn. */
static inline gab_status gab_buffer_rows_put(gab_buffer_rows *rows, const void *bytes, size_t count)
{
  if (!rows->waits || count >= rows->most - rows->seen || count > rows->capacity)
    return gab_buffer_rows_add(rows, bytes, count);
  gab_copy_short(rows->window + rows->seen, (const unsigned char *)bytes, count);
  rows->seen += count;
  rows->capacity -= count;
  return GAB_OK;
}
/** Completes the buffer, also for other threads and processes. @return ::GAB_ERR_ARGUMENT for fewer bytes than announced */
gab_status gab_buffer_rows_end(gab_buffer_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
