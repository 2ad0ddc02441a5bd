/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN "unknown"

uint64_t gab_process_start(long pid)
{
  char path[64], text[1024];
  if (pid <= 0) return 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  const char *at = strrchr(text, ')'); /* the name before it may hold anything */
  if (at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X')) return 0;
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, NULL, 10) : 0;
}

bool gab_process_lives(long pid, uint64_t start) { return start != 0 && gab_process_start(pid) == start; }

static void find_boot(char word[GAB_PROCESS_WORD])
{
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (!file || fscanf(file, "%39s", word) != 1) strcpy(word, UNKNOWN);
  if (file) fclose(file);
}

static void find_numbering(char word[GAB_PROCESS_WORD])
{
  const ssize_t length = readlink("/proc/self/ns/pid", word, GAB_PROCESS_WORD - 1);
  if (length > 0) word[length] = '\0';
  else strcpy(word, UNKNOWN);
}

gab_process_space gab_process_space_here(void)
{
  gab_process_space here;
  find_boot(here.boot);
  find_numbering(here.numbering);
  return here;
}

bool gab_process_space_is_known(const gab_process_space *space)
{
  return space->boot[0] && strcmp(space->boot, UNKNOWN) != 0 && space->numbering[0] &&
         strcmp(space->numbering, UNKNOWN) != 0;
}

bool gab_process_space_is_same(const gab_process_space *one, const gab_process_space *other)
{
  return gab_process_space_is_known(one) && strcmp(one->boot, other->boot) == 0 &&
         strcmp(one->numbering, other->numbering) == 0;
}
