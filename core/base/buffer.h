/* SPDX-License-Identifier: Apache-2.0 */
/** @file buffer.h
 *  @brief Growing byte buffers to pack into, and bounds-checked readers to unpack from.
 *
 *  Packed numbers are little-endian and unaligned. A reader checks everything: reading past the end, or a count that
 *  exceeds the remaining bytes, returns ::GAB_ERR_CORRUPT without changing the target.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_BUFFER_H
#define GABION_CORE_BUFFER_H

#include "core/base/hash.h"
#include "core/memory/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State of a follower between two calls for one run of bytes; initially not hashing. Never moved. */
typedef struct gab_follower_note {
  bool hashing;
  gab_hash64_fast_stream hash;
} gab_follower_note;

/** Processes appended bytes while they are in the cache, for example to hash them. */
typedef struct gab_buffer_follower {
  /** The bytes from `from` to `to` have been written and will not change. Buffers that share a follower call it from
   * several threads, each for its own memory. @return start of the next call, between `from` and `to` */
  const unsigned char *(*follow)(void *user, const unsigned char *from, const unsigned char *to);
  void *user;
  /** NULL, or the same for rows that bypass the cache (buffer_rows.h): `bytes` will be stored at `place`, which must not
   *  be read. Calls follow each other without a gap. follow() is not called for these rows, nor for earlier bytes that it
   *  had returned. */
  void (*look)(void *user, gab_follower_note *note, const unsigned char *place, const unsigned char *bytes,
               size_t count);
} gab_buffer_follower;

/** Zero-initialise ({0}) or gab_buffer_init(); release with gab_buffer_release(). */
typedef struct gab_buffer {
  unsigned char *data; /**< owned by the buffer, aligned to GAB_ALIGNMENT */
  size_t size;         /**< bytes packed so far */
  size_t capacity;     /**< bytes allocated */
  gab_memory_use use;
  bool fixed; /**< made by gab_buffer_over(): never grows, not released */
  const gab_buffer_follower
      *follower;   /**< not owned, usually NULL; only for buffers that do not grow meanwhile */
  size_t followed; /**< bytes that it has processed */
  bool
      drains; /**< with a follower: the next append discards processed bytes, so that memory is that of the largest
                   piece */
} gab_buffer;

void gab_buffer_init(gab_buffer *buffer, gab_memory_use use);
void gab_buffer_release(gab_buffer *buffer);
/** @return a buffer over borrowed memory of `capacity` bytes, to pack into a given place; appending more is
 *   ::GAB_ERR_ARGUMENT */
GAB_EXTENDER gab_buffer gab_buffer_over(void *memory, size_t capacity);
/** Clears the content, keeps the memory. */
void gab_buffer_clear(gab_buffer *buffer);
/** Reserves capacity for at least `more` bytes after the content. */
GAB_EXTENDER gab_status gab_buffer_reserve(gab_buffer *buffer, size_t more);
/** Appends `bytes` uninitialised bytes and returns their place; valid until the next append. */
GAB_EXTENDER gab_status gab_buffer_extend(gab_buffer *buffer, size_t bytes, void **place);
/** Passes all appended bytes to the follower, if there is one. Every append does so first, when earlier bytes are final.
 *  Large data is best appended in pieces of some 100 kB. */
GAB_EXTENDER void gab_buffer_follow(gab_buffer *buffer);
GAB_EXTENDER void gab_buffer_swap(gab_buffer *a, gab_buffer *b);

gab_status gab_put_bytes(gab_buffer *buffer, const void *bytes, size_t count);
gab_status gab_put_u8(gab_buffer *buffer, uint8_t value);
gab_status gab_put_u32(gab_buffer *buffer, uint32_t value);
gab_status gab_put_i32(gab_buffer *buffer, int32_t value);
gab_status gab_put_u64(gab_buffer *buffer, uint64_t value);
gab_status gab_put_i64(gab_buffer *buffer, int64_t value);
gab_status gab_put_f64(gab_buffer *buffer, double value);
gab_status gab_put_f64s(gab_buffer *buffer, const double *values, size_t count);
/** Length as u32, then the characters. */
gab_status gab_put_string(gab_buffer *buffer, const char *text);

/** A view of packed bytes; owns nothing. */
typedef struct gab_reader {
  const unsigned char *at, *end;
} gab_reader;

gab_reader gab_reader_of(const void *bytes, size_t count);
gab_reader gab_reader_of_buffer(const gab_buffer *buffer);
size_t gab_reader_left(const gab_reader *reader);
gab_status gab_get_bytes(gab_reader *reader, void *bytes, size_t count);
gab_status gab_get_u8(gab_reader *reader, uint8_t *value);
gab_status gab_get_u32(gab_reader *reader, uint32_t *value);
gab_status gab_get_i32(gab_reader *reader, int32_t *value);
gab_status gab_get_u64(gab_reader *reader, uint64_t *value);
gab_status gab_get_i64(gab_reader *reader, int64_t *value);
gab_status gab_get_f64(gab_reader *reader, double *value);
gab_status gab_get_f64s(gab_reader *reader, double *values, size_t count);
/** @param[out] text  always terminated; a string that does not fit into `capacity` is corrupt */
gab_status gab_get_string(gab_reader *reader, char *text, size_t capacity);
/** Returns the next `count` bytes as a separate reader, without copying. */
GAB_EXTENDER gab_status gab_get_view(gab_reader *reader, size_t count, gab_reader *view);
/** Reads an element count (u64) and checks that count * bytes_each bytes remain. */
GAB_EXTENDER gab_status gab_get_count(gab_reader *reader, size_t bytes_each, size_t *count);
/** Fails unless everything was read: for the end of an unpack function. */
gab_status gab_reader_expect_end(const gab_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
