/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuzz_main.h
 *  @brief A main for fuzz targets where there is no libFuzzer.
 *
 *      clang -fsanitize=fuzzer,address -DGAB_LIBFUZZER ...     libFuzzer has the main
 *      gcc ... && ./fuzz_x                                     runs mutations of the built-in seeds
 *      ./fuzz_x -runs=N                                        that many of them
 *      ./fuzz_x -seeds=FOLDER                                  writes the seeds there, for libFuzzer to begin
 * with
 *      ./fuzz_x file ...                                       runs these inputs, e.g. a crash of libFuzzer
 *
 *  The including file defines LLVMFuzzerTestOneInput() and, without GAB_LIBFUZZER, the array `fuzz_seeds`.
 *
 *  Stability: internal.
 */
#ifndef GABION_FUZZ_MAIN_H
#define GABION_FUZZ_MAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_seed {
  const char *bytes;
  size_t size;
} fuzz_seed;

#define FUZZ_SEED(literal)                                                                                   \
  {                                                                                                          \
    (literal), sizeof(literal) - 1                                                                           \
  }

#ifndef GAB_LIBFUZZER

enum { FUZZ_CAPACITY = 4096 };

static uint64_t fuzz_random(uint64_t *counter) { return gab_hash_counter(1, 2, ++*counter); }

/* One small change: a bit, a byte, a cut, a repeated stretch, or a piece of another seed. */
static size_t fuzz_mutate(uint8_t *data, size_t size, const fuzz_seed *other, uint64_t *counter)
{
  size_t at = size > 0 ? (size_t)(fuzz_random(counter) % size) : 0;
  size_t length = 1 + (size_t)(fuzz_random(counter) % 16);
  switch (fuzz_random(counter) % 6) {
  case 0:
    if (size > 0) data[at] ^= (uint8_t)(1U << fuzz_random(counter) % 8);
    return size;
  case 1:
    if (size > 0) data[at] = (uint8_t)fuzz_random(counter);
    return size;
  case 2:
    return at;
  case 3:
    if (length > size - at) length = size - at;
    memmove(data + at, data + at + length, size - at - length);
    return size - length;
  case 4:
    if (length > size - at) length = size - at;
    if (size + length > FUZZ_CAPACITY) return size;
    memmove(data + at + length, data + at, size - at);
    return size + length;
  default:
    if (length > other->size) length = other->size;
    if (size + length > FUZZ_CAPACITY || length == 0) return size;
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, other->bytes + fuzz_random(counter) % (other->size - length + 1), length);
    return size + length;
  }
}

static void fuzz_mutations(const fuzz_seed *seeds, size_t count, unsigned long runs)
{
  static uint8_t data[FUZZ_CAPACITY];
  uint64_t counter = 0;
  for (unsigned long run = 0; run < runs; run++) {
    const fuzz_seed *seed = &seeds[run % count];
    size_t size = seed->size < FUZZ_CAPACITY ? seed->size : FUZZ_CAPACITY;
    memcpy(data, seed->bytes, size);
    for (uint64_t changes = run < count ? 0 : 1 + fuzz_random(&counter) % 8; changes > 0; changes--)
      size = fuzz_mutate(data, size, &seeds[fuzz_random(&counter) % count], &counter);
    /* A copy of the exact size, so that a sanitizer sees every step over the end. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact) exit(1);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
  }
}

static int fuzz_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s: cannot be opened\n", path);
    return 1;
  }
  static uint8_t data[1 << 20];
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  return 0;
}

static int fuzz_write_seeds(const char *folder, const fuzz_seed *seeds, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/seed%zu", folder, i);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(seeds[i].bytes, 1, seeds[i].size, file) != seeds[i].size || fclose(file) != 0) {
      fprintf(stderr, "%s: cannot be written\n", path);
      return 1;
    }
  }
  return 0;
}

static int fuzz_main(int argc, char **argv, const fuzz_seed *seeds, size_t count)
{
  unsigned long runs = 20000;
  int files = 0, failures = 0;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "-runs=", 6) == 0) runs = strtoul(argv[i] + 6, NULL, 10);
    else if (strncmp(argv[i], "-seeds=", 7) == 0) return fuzz_write_seeds(argv[i] + 7, seeds, count);
    else ++files, failures += fuzz_file(argv[i]);
  }
  if (files == 0) fuzz_mutations(seeds, count, runs);
  return failures > 0;
}

#define FUZZ_MAIN                                                                                            \
  int main(int argc, char **argv)                                                                            \
  {                                                                                                          \
    return fuzz_main(argc, argv, fuzz_seeds, sizeof fuzz_seeds / sizeof *fuzz_seeds);                        \
  }
#else
#define FUZZ_MAIN struct fuzz_seed;
#endif

/** Ends the fuzzer: what should always hold did not. */
#define FUZZ_EXPECT(condition)                                                                               \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                         \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

#endif
