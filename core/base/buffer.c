/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/buffer.h"

#include <string.h>

enum { SMALLEST_CAPACITY = 256 };

void gab_buffer_init(gab_buffer *buffer, gab_memory_use use) { *buffer = (gab_buffer){.use = use}; }

void gab_buffer_release(gab_buffer *buffer)
{
  if (buffer->fixed) buffer->data = NULL;
  gab_free(&buffer->data);
  buffer->fixed = false;
  buffer->size = buffer->capacity = 0;
}

gab_buffer gab_buffer_over(void *memory, size_t capacity)
{
  return (gab_buffer){.data = memory, .capacity = capacity, .fixed = true};
}

void gab_buffer_clear(gab_buffer *buffer) { buffer->size = buffer->followed = 0; }

gab_status gab_buffer_reserve(gab_buffer *buffer, size_t more)
{
  if (more <= buffer->capacity - buffer->size) return GAB_OK;
  if (buffer->fixed)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%zu bytes do not fit into the %zu left of a fixed buffer", more,
             buffer->capacity - buffer->size);
  if (more > SIZE_MAX - buffer->size)
    GAB_FAIL(GAB_ERR_MEMORY, "a buffer of %zu bytes cannot grow by %zu", buffer->size, more);
  size_t wanted = buffer->size + more;
  /* Growth by half keeps the cost of many small appends linear; an append that at least doubles the size needs no further
   * capacity. */
  size_t grown = buffer->capacity > SIZE_MAX / 3 * 2 ? wanted : buffer->capacity + buffer->capacity / 2;
  if (grown < wanted || more >= buffer->size) grown = wanted;
  if (grown < SMALLEST_CAPACITY) grown = SMALLEST_CAPACITY;
  GAB_TRY(GAB_RESIZE_ARRAY(&buffer->data, grown, buffer->use));
  buffer->capacity = grown;
  return GAB_OK;
}

void gab_buffer_follow(gab_buffer *buffer)
{
  const gab_buffer_follower *follower = buffer->follower;
  if (!follower || buffer->followed == buffer->size) return;
  const unsigned char *from = buffer->data + buffer->followed, *to = buffer->data + buffer->size;
  buffer->followed = (size_t)(follower->follow(follower->user, from, to) - buffer->data);
}

static void drain(gab_buffer *buffer)
{
  const size_t left = buffer->size - buffer->followed;
  if (left > 0) memmove(buffer->data, buffer->data + buffer->followed, left);
  buffer->size = left;
  buffer->followed = 0;
}

gab_status gab_buffer_extend(gab_buffer *buffer, size_t bytes, void **place)
{
  if (buffer->follower) gab_buffer_follow(buffer);
  if (buffer->drains) drain(buffer);
  GAB_TRY(gab_buffer_reserve(buffer, bytes));
  *place = buffer->data ? buffer->data + buffer->size : NULL;
  buffer->size += bytes;
  return GAB_OK;
}

void gab_buffer_swap(gab_buffer *a, gab_buffer *b)
{
  gab_buffer other = *a;
  *a = *b;
  *b = other;
}

/* Little-endian by shifts, independent of the host; compilers reduce them to plain loads and stores. */
static void store(unsigned char *to, uint64_t value, size_t bytes)
{
  for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t load(const unsigned char *from, size_t bytes)
{
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

/* On little-endian hosts arrays, which make up most of a checkpoint, are copied as a whole. */
static bool host_is_little_endian(void)
{
  const uint32_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}

static gab_status put_integer(gab_buffer *buffer, uint64_t value, size_t bytes)
{
  void *place;
  GAB_TRY(gab_buffer_extend(buffer, bytes, &place));
  store(place, value, bytes);
  return GAB_OK;
}

static uint64_t bits_of(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

gab_status gab_put_bytes(gab_buffer *buffer, const void *bytes, size_t count)
{
  void *place;
  GAB_TRY(gab_buffer_extend(buffer, count, &place));
  if (count > 0) memcpy(place, bytes, count);
  return GAB_OK;
}

gab_status gab_put_u8(gab_buffer *buffer, uint8_t value) { return put_integer(buffer, value, 1); }
gab_status gab_put_u32(gab_buffer *buffer, uint32_t value) { return put_integer(buffer, value, 4); }
gab_status gab_put_i32(gab_buffer *buffer, int32_t value) { return put_integer(buffer, (uint32_t)value, 4); }
gab_status gab_put_u64(gab_buffer *buffer, uint64_t value) { return put_integer(buffer, value, 8); }
gab_status gab_put_i64(gab_buffer *buffer, int64_t value) { return put_integer(buffer, (uint64_t)value, 8); }
gab_status gab_put_f64(gab_buffer *buffer, double value) { return put_integer(buffer, bits_of(value), 8); }

gab_status gab_put_f64s(gab_buffer *buffer, const double *values, size_t count)
{
  if (count > SIZE_MAX / 8) GAB_FAIL(GAB_ERR_MEMORY, "%zu numbers do not fit into a buffer", count);
  void *place;
  GAB_TRY(gab_buffer_extend(buffer, 8 * count, &place));
  unsigned char *to = place;
  if (host_is_little_endian() && count > 0) memcpy(to, values, 8 * count);
  else
    for (size_t i = 0; i < count; i++) store(to + 8 * i, bits_of(values[i]), 8);
  return GAB_OK;
}

gab_status gab_put_string(gab_buffer *buffer, const char *text)
{
  size_t length = strlen(text);
  if (length > UINT32_MAX) GAB_FAIL(GAB_ERR_ARGUMENT, "a string of %zu characters cannot be packed", length);
  GAB_TRY(gab_buffer_reserve(buffer, 4 + length));
  GAB_TRY(gab_put_u32(buffer, (uint32_t)length));
  return gab_put_bytes(buffer, text, length);
}

gab_reader gab_reader_of(const void *bytes, size_t count)
{
  const unsigned char *at = bytes;
  return (gab_reader){at, count > 0 ? at + count : at};
}

gab_reader gab_reader_of_buffer(const gab_buffer *buffer)
{
  return gab_reader_of(buffer->data, buffer->size);
}

size_t gab_reader_left(const gab_reader *reader)
{
  return reader->at ? (size_t)(reader->end - reader->at) : 0;
}

static gab_status expect(const gab_reader *reader, size_t bytes)
{
  size_t left = gab_reader_left(reader);
  if (bytes > left)
    GAB_FAIL(GAB_ERR_CORRUPT, "packed data ends too early: %zu bytes wanted, %zu left", bytes, left);
  return GAB_OK;
}

static gab_status get_integer(gab_reader *reader, size_t bytes, uint64_t *value)
{
  GAB_TRY(expect(reader, bytes));
  *value = load(reader->at, bytes);
  reader->at += bytes;
  return GAB_OK;
}

gab_status gab_get_bytes(gab_reader *reader, void *bytes, size_t count)
{
  GAB_TRY(expect(reader, count));
  if (count == 0) return GAB_OK;
  memcpy(bytes, reader->at, count);
  reader->at += count;
  return GAB_OK;
}

gab_status gab_get_u8(gab_reader *reader, uint8_t *value)
{
  uint64_t bits;
  GAB_TRY(get_integer(reader, 1, &bits));
  *value = (uint8_t)bits;
  return GAB_OK;
}

gab_status gab_get_u32(gab_reader *reader, uint32_t *value)
{
  uint64_t bits;
  GAB_TRY(get_integer(reader, 4, &bits));
  *value = (uint32_t)bits;
  return GAB_OK;
}

gab_status gab_get_i32(gab_reader *reader, int32_t *value)
{
  uint32_t bits;
  GAB_TRY(gab_get_u32(reader, &bits));
  memcpy(value, &bits, sizeof bits);
  return GAB_OK;
}

gab_status gab_get_u64(gab_reader *reader, uint64_t *value) { return get_integer(reader, 8, value); }

gab_status gab_get_i64(gab_reader *reader, int64_t *value)
{
  uint64_t bits;
  GAB_TRY(gab_get_u64(reader, &bits));
  memcpy(value, &bits, sizeof bits);
  return GAB_OK;
}

gab_status gab_get_f64(gab_reader *reader, double *value)
{
  uint64_t bits;
  GAB_TRY(gab_get_u64(reader, &bits));
  *value = double_of(bits);
  return GAB_OK;
}

gab_status gab_get_f64s(gab_reader *reader, double *values, size_t count)
{
  if (count > gab_reader_left(reader) / 8)
    GAB_FAIL(GAB_ERR_CORRUPT, "packed data ends too early: %zu numbers wanted, %zu bytes left", count,
             gab_reader_left(reader));
  if (count == 0) return GAB_OK;
  if (host_is_little_endian()) memcpy(values, reader->at, 8 * count);
  else
    for (size_t i = 0; i < count; i++) values[i] = double_of(load(reader->at + 8 * i, 8));
  reader->at += 8 * count;
  return GAB_OK;
}

gab_status gab_get_string(gab_reader *reader, char *text, size_t capacity)
{
  gab_reader ahead = *reader;
  uint32_t length;
  GAB_TRY(gab_get_u32(&ahead, &length));
  GAB_TRY(expect(&ahead, length));
  if (length >= capacity)
    GAB_FAIL(GAB_ERR_CORRUPT, "a packed string of %" PRIu32 " characters does not fit into %zu", length,
             capacity);
  if (length > 0 && memchr(ahead.at, '\0', length))
    GAB_FAIL(GAB_ERR_CORRUPT, "a packed string contains a zero byte");
  GAB_TRY(gab_get_bytes(&ahead, text, length));
  text[length] = '\0';
  *reader = ahead;
  return GAB_OK;
}

gab_status gab_get_view(gab_reader *reader, size_t count, gab_reader *view)
{
  GAB_TRY(expect(reader, count));
  gab_reader part = gab_reader_of(reader->at, count);
  if (count > 0) reader->at += count;
  *view = part;
  return GAB_OK;
}

gab_status gab_get_count(gab_reader *reader, size_t bytes_each, size_t *count)
{
  if (bytes_each == 0) GAB_FAIL(GAB_ERR_ARGUMENT, "elements of no size cannot be counted");
  gab_reader ahead = *reader;
  uint64_t announced;
  GAB_TRY(gab_get_u64(&ahead, &announced));
  if (announced > gab_reader_left(&ahead) / bytes_each)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "packed data announces %" PRIu64 " elements of %zu bytes, but %zu bytes are left", announced,
             bytes_each, gab_reader_left(&ahead));
  *count = (size_t)announced;
  *reader = ahead;
  return GAB_OK;
}

gab_status gab_reader_expect_end(const gab_reader *reader)
{
  size_t left = gab_reader_left(reader);
  if (left > 0) GAB_FAIL(GAB_ERR_CORRUPT, "%zu bytes are left over after unpacking", left);
  return GAB_OK;
}
