/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/cache.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a small file. */
static bool read_line(const char *folder, int index, const char *name, char *line, int size)
{
  char path[512];
  snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const bool is_read = fgets(line, size, file) != NULL;
  fclose(file);
  return is_read;
}

/* "32768K" */
static size_t bytes_of(const char *text)
{
  char *end;
  const unsigned long long number = strtoull(text, &end, 10);
  const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  return number > SIZE_MAX >> shift ? 0 : (size_t)number << shift;
}

/* How many numbers "0-3,8" names; 0: it is no such list. */
static size_t count_of(const char *text)
{
  size_t count = 0;
  while (*text >= '0' && *text <= '9') {
    char *end;
    const unsigned long first = strtoul(text, &end, 10);
    const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
    if (last < first) return 0;
    count += last - first + 1;
    text = *end == ',' ? end + 1 : end;
  }
  return count;
}

size_t gab_cache_share_in(const char *folder)
{
  enum { MOST_CACHES = 16 };
  char line[256];
  long deepest = 0;
  size_t share = 0;
  for (int i = 0; i < MOST_CACHES; i++) {
    if (!read_line(folder, i, "level", line, sizeof line)) continue;
    const long level = strtol(line, NULL, 10);
    if (level <= deepest) continue;
    if (!read_line(folder, i, "size", line, sizeof line)) continue;
    const size_t bytes = bytes_of(line);
    if (!read_line(folder, i, "shared_cpu_list", line, sizeof line)) continue;
    const size_t sharers = count_of(line);
    if (bytes == 0 || sharers == 0) continue;
    deepest = level;
    share = bytes / sharers;
  }
  return share;
}

size_t gab_cache_share(void)
{
  static atomic_size_t known;
  size_t share = atomic_load(&known);
  if (share > 0) return share;
  share = gab_cache_share_in("/sys/devices/system/cpu/cpu0/cache");
  if (share == 0) share = GAB_CACHE_USUAL;
  atomic_store(&known, share);
  return share;
}
