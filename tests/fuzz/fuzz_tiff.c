/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: pages of TIFF files. The input is the file; what passes the check is read.
 * fuzz-sources: core/base/status.c core/base/buffer.c core/base/hash.c core/base/log.c core/base/timer.c core/base/text/[a-z]*.c
 * fuzz-sources: core/memory/[a-z]*.c core/system/[a-z]*.c blockforest/pictures/tiff_pages.c
 */
#include "tests/fuzz/fuzz_main.h"

#include "blockforest/pictures/tiff_pages.h"
#include "core/memory/memory.h"

#ifndef GAB_LIBFUZZER
/* Little-endian: an entry of one short or long number, here. */
#define SHORT(tag, value)       tag "\3\0\1\0\0\0" value "\0\0"
#define LONG(tag, count, value) tag "\4\0" count "\0\0\0" value "\0\0\0"
#define KIND(compression)                                                                                    \
  LONG("\0\1", "\1", "\4")                                                                                   \
  LONG("\1\1", "\1", "\2")                                                                                   \
  SHORT("\2\1", "\x8\0") SHORT("\3\1", compression) SHORT("\6\1", "\1\0") SHORT("\x15\1", "\1\0")
/* Big-endian of BigTIFF. */
#define WIDE(tag, value) tag "\0\4\0\0\0\0\0\0\0\1\0\0\0" value "\0\0\0\0"
static const fuzz_seed fuzz_seeds[] = {
    /* One strip of 4 x 2 bytes at 8, its directory at 16. */
    FUZZ_SEED("II*\0\20\0\0\0"
              "abcdABCD"
              "\11\0" KIND("\1\0") LONG("\x11\1", "\1", "\10") LONG("\x16\1", "\1", "\2")
                  LONG("\x17\1", "\1", "\10") "\0\0\0\0"),
    /* Two strips by PackBits, behind them their places and lengths. */
    FUZZ_SEED("II*\0\40\0\0\0"
              "\375x\3abcd\0"
              "\10\0\0\0\12\0\0\0\2\0\0\0\5\0\0\0"
              "\11\0" KIND("\5\x80") LONG("\x11\1", "\2", "\20") LONG("\x16\1", "\1", "\1")
                  LONG("\x17\1", "\2", "\30") "\0\0\0\0"),
    /* ImageJ: two pictures behind one directory. */
    FUZZ_SEED("II*\0\60\0\0\0"
              "ImageJ=1\nimages=2\n\0\0\0\0\0\0"
              "abcdABCDefghEFGH"
              "\12\0" KIND("\1\0") "\x0e\1\2\0\22\0\0\0\10\0\0\0" LONG("\x11\1", "\1", "\40")
                  LONG("\x16\1", "\1", "\2") LONG("\x17\1", "\1", "\10") "\0\0\0\0"),
    /* BigTIFF: 2 x 2 pixels of two bytes at 16. */
    FUZZ_SEED("MM\0\53\0\10\0\0\0\0\0\0\0\0\0\30"
              "abcdABCD"
              "\0\0\0\0\0\0\0\5" WIDE("\1\0", "\2") WIDE("\1\1", "\2") WIDE("\1\2", "\20")
                  WIDE("\1\21", "\20") WIDE("\1\27", "\10") "\0\0\0\0\0\0\0\0"),
};
#endif

typedef struct bounds {
  int64_t size[3];
  double sum;
  int64_t count;
} bounds;

static void note(void *user, int64_t x, int64_t y, int64_t z, double value)
{
  bounds *of = user;
  FUZZ_EXPECT(x >= 0 && x < of->size[0] && y >= 0 && y < of->size[1] && z >= 0 && z < of->size[2]);
  of->sum += value;
  of->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  bounds of = {{0, 0, 0}, 0, 0};
  if (size == 0) return 0;
  FILE *file = fmemopen((void *)(uintptr_t)data, size, "rb");
  FUZZ_EXPECT(file != NULL);
  gab_page_numbers numbers;
  gab_status status = gab_tiff_size(file, "t.tif", of.size, &numbers);
  FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_INPUT);
  if (status == GAB_OK) {
    const int64_t all = of.size[0] * of.size[1] * of.size[2];
    FUZZ_EXPECT(all >= 1 && all <= 64 * (int64_t)size); /* no more than PackBits can make of it */
    status = gab_tiff_read(file, "t.tif", of.size, 0, note, &of);
    FUZZ_EXPECT(status == GAB_ERR_INPUT || (status == GAB_OK && of.count == all));
  }
  fclose(file);
  FUZZ_EXPECT(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return 0;
}

FUZZ_MAIN
