/* SPDX-License-Identifier: Apache-2.0 */
/** @file envelope.c
 *  @brief Envelopes of messages.
 */
#include "core/world/world_impl.h"

#include <string.h>

static void store(unsigned char **at, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) *(*at)++ = (unsigned char)(value >> (8 * i));
}

void gab_envelope_write(const gab_envelope *envelope, unsigned char *bytes)
{
  unsigned char *at = bytes;
  memset(bytes, 0, GAB_ENVELOPE_BYTES);
  store(&at, GAB_ENVELOPE_MAGIC, 4);
  store(&at, envelope->context, 4);
  store(&at, envelope->epoch, 8);
  store(&at, (uint32_t)envelope->source, 4);
  store(&at, (uint32_t)envelope->target, 4);
  store(&at, envelope->source_incarnation, 4);
  store(&at, envelope->target_incarnation, 4);
  store(&at, envelope->pattern, 4);
  store(&at, envelope->iteration, 8);
  store(&at, envelope->sequence, 8);
  store(&at, (uint64_t)envelope->step, 8);
  store(&at, envelope->bytes, 8);
}

static gab_status read_envelope(const unsigned char *bytes, gab_envelope *envelope)
{
  gab_reader reader = gab_reader_of(bytes, GAB_ENVELOPE_BYTES);
  gab_envelope read = {0};
  uint32_t magic = 0;
  GAB_TRY(gab_get_u32(&reader, &magic));
  if (magic != GAB_ENVELOPE_MAGIC) GAB_FAIL(GAB_ERR_CORRUPT, "a message does not begin with an envelope");
  GAB_TRY(gab_get_u32(&reader, &read.context));
  GAB_TRY(gab_get_u64(&reader, &read.epoch));
  GAB_TRY(gab_get_i32(&reader, &read.source));
  GAB_TRY(gab_get_i32(&reader, &read.target));
  GAB_TRY(gab_get_u32(&reader, &read.source_incarnation));
  GAB_TRY(gab_get_u32(&reader, &read.target_incarnation));
  GAB_TRY(gab_get_u32(&reader, &read.pattern));
  GAB_TRY(gab_get_u64(&reader, &read.iteration));
  GAB_TRY(gab_get_u64(&reader, &read.sequence));
  GAB_TRY(gab_get_i64(&reader, &read.step));
  GAB_TRY(gab_get_u64(&reader, &read.bytes));
  *envelope = read;
  return GAB_OK;
}

gab_status gab_message_begin(gab_buffer *message)
{
  void *memory;
  gab_buffer_clear(message);
  GAB_TRY(gab_buffer_extend(message, GAB_ENVELOPE_BYTES, &memory));
  memset(memory, 0, GAB_ENVELOPE_BYTES);
  return GAB_OK;
}

size_t gab_message_bytes(const gab_buffer *message)
{
  return message->size > GAB_ENVELOPE_BYTES ? message->size - GAB_ENVELOPE_BYTES : 0;
}

gab_reader gab_message_reader(const gab_buffer *message)
{
  if (message->size < GAB_ENVELOPE_BYTES) return gab_reader_of(NULL, 0);
  return gab_reader_of(message->data + GAB_ENVELOPE_BYTES, message->size - GAB_ENVELOPE_BYTES);
}

gab_status gab_message_envelope(const gab_buffer *message, gab_envelope *envelope)
{
  if (message->size < GAB_ENVELOPE_BYTES) GAB_FAIL(GAB_ERR_CORRUPT, "a message is shorter than its envelope");
  return read_envelope(message->data, envelope);
}
