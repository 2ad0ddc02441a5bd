/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory/system_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CAPACITY = 4096 };

/* The number after a word in a file with lines "word number", or its first number if `word` is NULL. */
static bool read_number(const char *path, const char *word, uint64_t *number)
{
  char line[512];
  bool found = false;
  FILE *file = fopen(path, "r");
  if (!file) return false;
  while (!found && fgets(line, sizeof line, file)) {
    const char *at = line;
    char *end;
    if (word) {
      const size_t length = strlen(word);
      if (strncmp(line, word, length) != 0 || !strchr(" :\t", line[length])) continue;
      at = line + length + strspn(line + length, ": \t");
    }
    *number = strtoull(at, &end, 10);
    found = end != at; /* "max" is not a number */
    if (!word) break;
  }
  fclose(file);
  return found;
}

static void lower(gab_system_memory *seen, uint64_t limit, uint64_t used, uint64_t cached)
{
  const uint64_t needed = used > cached ? used - cached : 0, left = limit > needed ? limit - needed : 0;
  if (left >= seen->available) return;
  seen->available = left;
  seen->limit = limit;
}

/* Only those of the group of this process: parent groups also count other jobs and containers. @return false if the group
 * has no such count */
static bool count_killed(const char *folder, bool second, gab_system_memory *seen)
{
  char path[PATH_CAPACITY + 64];
  uint64_t killed;
  snprintf(path, sizeof path, "%s/%s", folder, second ? "memory.events" : "memory.oom_control");
  if (!read_number(path, "oom_kill", &killed)) return false;
  if (killed > seen->killed) seen->killed = killed; /* of version 1 or 2: one of them is in use */
  return true;
}

/* One group: its limit, use, and reclaimable memory; files of version 2, else of version 1. */
static void look_at_group(const char *folder, bool second, gab_system_memory *seen)
{
  char path[PATH_CAPACITY + 64];
  uint64_t limit, used, cached = 0;
  snprintf(path, sizeof path, "%s/%s", folder, second ? "memory.max" : "memory.limit_in_bytes");
  if (!read_number(path, NULL, &limit)) return;
  snprintf(path, sizeof path, "%s/%s", folder, second ? "memory.current" : "memory.usage_in_bytes");
  if (!read_number(path, NULL, &used)) return;
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  (void)read_number(path, second ? "inactive_file" : "total_inactive_file", &cached);
  lower(seen, limit, used, cached);
}

/* A group and all parents, each of which may have a limit. In a container the path may not exist: then only visible groups
 * count. */
static void look_at_groups(const char *root, const char *mounted, const char *group, bool second,
                           gab_system_memory *seen)
{
  char folder[PATH_CAPACITY];
  if (snprintf(folder, sizeof folder, "%s%s%s", root, mounted, group) >= (int)sizeof folder) return;
  const size_t least = strlen(root) + strlen(mounted);
  bool counted = false;
  for (;;) {
    while (strlen(folder) > least && folder[strlen(folder) - 1] == '/') folder[strlen(folder) - 1] = '\0';
    look_at_group(folder, second, seen);
    counted = counted || count_killed(folder, second, seen);
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= least || !slash) return;
    *slash = '\0';
  }
}

/* Lines "4:memory:/jobs/17" of version 1 and "0::/jobs/17" of version 2. */
static void look_at_cgroups(const char *root, gab_system_memory *seen)
{
  char path[PATH_CAPACITY], line[PATH_CAPACITY];
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    kinds++;
    if (!kinds[0]) {
      look_at_groups(root, "/sys/fs/cgroup", group, true, seen);
      look_at_groups(root, "/sys/fs/cgroup/unified", group, true, seen);
    }
    const char *memory = strstr(kinds, "memory");
    if (memory && (memory == kinds || memory[-1] == ',') && (memory[6] == '\0' || memory[6] == ','))
      look_at_groups(root, "/sys/fs/cgroup/memory", group, false, seen);
  }
  if (file) fclose(file);
}

gab_system_memory gab_system_memory_look(void)
{
  const char *told = getenv("GABION_SYSTEM"), *root = told ? told : "";
  gab_system_memory seen = {.available = UINT64_MAX};
  char path[PATH_CAPACITY];
  uint64_t kilobytes;
  if (strlen(root) > PATH_CAPACITY / 2) root = "";
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (read_number(path, "MemAvailable", &kilobytes)) seen.available = 1024 * kilobytes;
  look_at_cgroups(root, &seen);
  seen.known = seen.available != UINT64_MAX;
  if (!seen.known) seen.available = 0;
  return seen;
}

uint64_t gab_system_memory_resident_peak(void)
{
  uint64_t kilobytes = 0;
  return read_number("/proc/self/status", "VmHWM", &kilobytes) ? kilobytes * 1024 : 0;
}
