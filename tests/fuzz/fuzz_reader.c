/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: unpacking. The input is a little program of reads and the bytes that they read. */
#include "tests/fuzz/fuzz_main.h"

#include "core/base/buffer.h"

#ifndef GAB_LIBFUZZER
static const fuzz_seed fuzz_seeds[] = {
    FUZZ_SEED("\x0a\0\1\2\3\4\5\6\7\x08\x09"
              "\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08"),
    FUZZ_SEED("\2\7\7\4\0\0\0slab\2\0\0\0ab"),
    FUZZ_SEED("\3\x08\2\6\2\0\0\0\0\0\0\0ab\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08"),
    FUZZ_SEED("\1\x08\xff\xff\xff\xff\xff\xff\xff\xff"),
};
#endif

static void read_counted(gab_reader *reader)
{
  size_t count = 0;
  if (gab_get_count(reader, 8, &count) != GAB_OK) return;
  FUZZ_EXPECT(count <= gab_reader_left(reader) / 8);
  void *values;
  FUZZ_EXPECT(gab_alloc(8 * count, GAB_MEMORY_OTHER, &values) == GAB_OK);
  FUZZ_EXPECT(gab_get_f64s(reader, values, count) == GAB_OK);
  gab_free(&values);
}

/* A failed read must not move the reader. */
static gab_status read_one(gab_reader *reader, uint8_t what)
{
  uint8_t u8;
  uint32_t u32;
  int32_t i32;
  uint64_t u64;
  int64_t i64;
  double f64[3];
  char text[16];
  gab_reader view;
  switch (what % 10) {
  case 0:
    return gab_get_u8(reader, &u8);
  case 1:
    return gab_get_u32(reader, &u32);
  case 2:
    return gab_get_i32(reader, &i32);
  case 3:
    return gab_get_u64(reader, &u64);
  case 4:
    return gab_get_i64(reader, &i64);
  case 5:
    return gab_get_f64(reader, f64);
  case 6:
    return gab_get_f64s(reader, f64, 3);
  case 7: {
    gab_status status = gab_get_string(reader, text, sizeof text);
    if (status == GAB_OK) FUZZ_EXPECT(strlen(text) < sizeof text);
    return status;
  }
  case 8:
    read_counted(reader);
    return GAB_OK;
  default:
    GAB_TRY(gab_get_u8(reader, &u8));
    if (gab_get_view(reader, u8, &view) == GAB_OK) FUZZ_EXPECT(gab_reader_left(&view) == u8);
    return GAB_OK;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  gab_reader program = gab_reader_of(data, size), reader;
  uint8_t steps = 0;
  if (gab_get_u8(&program, &steps) != GAB_OK || gab_get_view(&program, steps, &reader) != GAB_OK) return 0;
  const unsigned char *operations = reader.at;
  reader = program;
  for (uint8_t i = 0; i < steps; i++) {
    size_t left = gab_reader_left(&reader);
    gab_status status = read_one(&reader, operations[i]);
    FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_CORRUPT);
    FUZZ_EXPECT(gab_reader_left(&reader) <= left && (status == GAB_OK || gab_reader_left(&reader) == left));
  }
  FUZZ_EXPECT(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return 0;
}

FUZZ_MAIN
