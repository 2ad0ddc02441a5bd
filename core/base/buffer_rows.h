/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer_rows.h
 *  @brief Many rows appended to a buffer, one after another, e.g. those of a field.
 *
 *  Into a buffer whose follower looks ahead (gab_buffer_follower.look) they go by stores past the cache (non-temporal), whole cache
 *  lines at a time: the line that is overwritten is not read before, and memory moves two bytes per byte instead of
 *  three. Into any other they are copied as gab_put_bytes() would. What lies in the buffer is the same.
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

/** Where the next row is found. Rows that lie apart, e.g. of a block among others in a field, are not fetched ahead by the
 *  processor: there reading sets the pace, and stores past the cache, which wait in the same places as reads do, make it
 *  slower; so these go through it. */
typedef enum gab_rows_lie {
  GAB_ROWS_TOGETHER, /**< right behind the one before, or a few cache lines further */
  GAB_ROWS_APART,
  GAB_ROWS_IN_TURN /**< of several buffers, one row for each in turn, so that what is read lies together: rows wait in the
                        window of their buffer, which is stored past the cache when it is full, whole lines one behind the other */
} gab_rows_lie;

/** Opaque. Not to be copied between begin and end. */
typedef struct gab_buffer_rows {
  unsigned char line[GAB_ROWS_LINE], window[GAB_ROWS_WINDOW]; /* first, so that who aligns it aligns them */
  gab_buffer *buffer;
  unsigned char *place;          /* of the next byte; past the cache: of the line that is being filled */
  size_t capacity;               /* bytes by which the buffer has been extended and that have not come yet */
  size_t left;                   /* bytes to come after those */
  bool nontemporal, waits;       /* waits: past the cache from the window on */
  size_t first, filled;          /* of the line: what belongs to it, from `first` on */
  size_t seen;                   /* bytes in the window */
  size_t most;                   /* in turn: when it is full; then what follows begins at that of a line */
  const unsigned char *seen_for; /* their place */
  gab_follower_note note;
} gab_buffer_rows;

/** `bytes` are to come; nothing else may be appended until gab_buffer_rows_end(). Local.
 *  @param[in] buffer  borrowed @return as gab_buffer_extend() */
gab_status gab_buffer_rows_begin(gab_buffer_rows *rows, gab_buffer *buffer, size_t bytes, gab_rows_lie lie);
/** @return ::GAB_ERR_ARGUMENT beyond what was announced; as gab_buffer_extend() */
gab_status gab_buffer_rows_add(gab_buffer_rows *rows, const void *bytes, size_t count);
/** Like memcpy(), for some cache lines at most, where a call would take as long as the copy. */
static inline void gab_copy_short(unsigned char *to, const unsigned char *from, size_t count)
{
  for (; count >= GAB_ROWS_LINE; count -= GAB_ROWS_LINE, to += GAB_ROWS_LINE, from += GAB_ROWS_LINE)
    memcpy(to, from, GAB_ROWS_LINE);
  for (; count >= 8; count -= 8, to += 8, from += 8) memcpy(to, from, 8);
  memcpy(to, from, count);
}
/** gab_buffer_rows_add() without a call, mostly: for short rows in turn. */
static inline gab_status gab_buffer_rows_put(gab_buffer_rows *rows, const void *bytes, size_t count)
{
  if (!rows->waits || count >= rows->most - rows->seen || count > rows->capacity)
    return gab_buffer_rows_add(rows, bytes, count);
  gab_copy_short(rows->window + rows->seen, (const unsigned char *)bytes, count);
  rows->seen += count;
  rows->capacity -= count;
  return GAB_OK;
}
/** From here on all of it is in the buffer, for other threads and processes, too.
 *  @return ::GAB_ERR_ARGUMENT if less has come than was announced */
gab_status gab_buffer_rows_end(gab_buffer_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
