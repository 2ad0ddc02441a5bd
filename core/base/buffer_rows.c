/* SPDX-License-Identifier: Apache-2.0 */
/* Appends rows to a buffer: copied, or by non-temporal stores.
 *
 * An image is as large as the state and is not read before it is sent, so it should not occupy the cache. Its rows begin
 * anywhere within a cache line, but a non-temporal store is only cheap for a whole line: the end of each row waits in
 * `line` for the beginning of the next. The hash gets the bytes in windows of 4 kB, copied on the way, since stored bytes
 * would have to be loaded from memory again. The copy into the window is interleaved with the store, so that memory is read
 * and written at the same time. Rows of several buffers in turn are too short for that: they wait in the windows, which
 * together fit into the cache, and go from there to memory and to the hash. */
#include "core/base/buffer_rows.h"

#include "core/memory/nontemporal_impl.h"

_Static_assert(sizeof(((gab_buffer_rows *)0)->line) == GAB_CACHE_LINE, "the line must be one of the cache");
enum { PIECE_BYTES = 128 * 1024 };

gab_status gab_buffer_rows_begin(gab_buffer_rows *rows, gab_buffer *buffer, size_t bytes, gab_rows_lie lie)
{
  const gab_buffer_follower *follower = buffer->follower;
  void *place = NULL;
  rows->buffer = buffer;
  rows->capacity = 0;
  rows->left = bytes;
  rows->nontemporal = lie != GAB_ROWS_APART && follower && follower->look && !buffer->drains && bytes > 0;
  rows->waits = rows->nontemporal && lie == GAB_ROWS_IN_TURN;
  if (!rows->nontemporal) return GAB_OK;
  GAB_TRY(gab_buffer_extend(buffer, bytes, &place)); /* passes earlier bytes to the follower */
  rows->capacity = bytes;
  rows->left = 0;
  rows->seen = 0;
  rows->seen_for = place;
  rows->note.hashing = false;
  rows->first = rows->filled = (uintptr_t)place % GAB_CACHE_LINE;
  rows->most = GAB_ROWS_TURN_WINDOW - rows->first;
  rows->place = rows->waits ? place : (unsigned char *)place - rows->first;
  return GAB_OK;
}

/* Stores the line when it is full, or at the end; parts of it may belong to other data. */
static void empty_line(gab_buffer_rows *rows)
{
  if (rows->first == 0 && rows->filled == GAB_CACHE_LINE) gab_nontemporal_line(rows->place, rows->line);
  else memcpy(rows->place + rows->first, rows->line + rows->first, rows->filled - rows->first);
  rows->place += rows->filled;
  rows->first = rows->filled = 0;
}

static void store(gab_buffer_rows *rows, const unsigned char *from, size_t count)
{
  if (rows->filled > 0) {
    const size_t lacking = GAB_CACHE_LINE - rows->filled, some = count < lacking ? count : lacking;
    memcpy(rows->line + rows->filled, from, some);
    rows->filled += some;
    from += some;
    count -= some;
    if (rows->filled < GAB_CACHE_LINE) return;
    empty_line(rows);
  }
  unsigned char *to = rows->place;
  for (; count >= GAB_CACHE_LINE; count -= GAB_CACHE_LINE, from += GAB_CACHE_LINE, to += GAB_CACHE_LINE)
    gab_nontemporal_line(to, from);
  rows->place = to;
  memcpy(rows->line, from, count);
  rows->filled = count;
}

static void show(gab_buffer_rows *rows)
{
  const gab_buffer_follower *follower = rows->buffer->follower;
  if (rows->seen == 0) return;
  follower->look(follower->user, &rows->note, rows->seen_for, rows->window, rows->seen);
  rows->seen_for += rows->seen;
  rows->seen = 0;
}

/* As much as fits into the window. @return number of bytes */
static size_t store_and_show(gab_buffer_rows *rows, const unsigned char *from, size_t count)
{
  const size_t capacity = GAB_ROWS_WINDOW - rows->seen, some = count < capacity ? count : capacity;
  store(rows, from, some);
  memcpy(rows->window + rows->seen, from, some);
  rows->seen += some;
  if (rows->seen == GAB_ROWS_WINDOW) show(rows);
  return some;
}

/* Stores the window when it is full, or at the end. */
static void empty_window(gab_buffer_rows *rows)
{
  gab_nontemporal_copy(rows->place, rows->window, rows->seen);
  rows->place += rows->seen;
  show(rows);
  rows->most = GAB_ROWS_TURN_WINDOW;
}

/* Copies into the window. @return number of bytes that fit */
static size_t wait_in_turn(gab_buffer_rows *rows, const unsigned char *from, size_t count)
{
  const size_t capacity = rows->most - rows->seen, some = count < capacity ? count : capacity;
  memcpy(rows->window + rows->seen, from, some);
  rows->seen += some;
  if (rows->seen == rows->most) empty_window(rows);
  return some;
}

/* Copies through the cache, in pieces for the follower. @return number of bytes of this piece */
static gab_status copy(gab_buffer_rows *rows, const unsigned char *from, size_t count, size_t *some)
{
  if (rows->capacity == 0) {
    void *place;
    const size_t bytes = rows->left < PIECE_BYTES ? rows->left : PIECE_BYTES;
    GAB_TRY(gab_buffer_extend(rows->buffer, bytes, &place));
    rows->place = place;
    rows->capacity = bytes;
    rows->left -= bytes;
  }
  *some = count < rows->capacity ? count : rows->capacity;
  memcpy(rows->place, from, *some);
  rows->place += *some;
  return GAB_OK;
}

gab_status gab_buffer_rows_add(gab_buffer_rows *rows, const void *bytes, size_t count)
{
  const unsigned char *from = bytes;
  if (count > rows->capacity && count - rows->capacity > rows->left)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a row of %zu bytes, but only %zu of those announced are to come", count,
             rows->capacity + rows->left);
  while (count > 0) {
    size_t some;
    if (rows->nontemporal)
      some = rows->waits ? wait_in_turn(rows, from, count) : store_and_show(rows, from, count);
    else GAB_TRY(copy(rows, from, count, &some));
    rows->capacity -= some;
    from += some;
    count -= some;
  }
  return GAB_OK;
}

gab_status gab_buffer_rows_end(gab_buffer_rows *rows)
{
  if (rows->capacity + rows->left > 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%zu bytes that were announced have not come", rows->capacity + rows->left);
  if (!rows->nontemporal) return GAB_OK;
  if (rows->waits) empty_window(rows);
  else empty_line(rows);
  show(rows);
  gab_nontemporal_fence();
  rows->buffer->followed = rows->buffer->size;
  return GAB_OK;
}
