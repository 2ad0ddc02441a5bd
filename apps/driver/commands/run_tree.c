/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/commands/run_tree.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 8 };

typedef struct walk {
  gab_status (*visit)(void *user, const char *folder);
  void *user;
  size_t runs;
} walk;

static bool is_run(const char *folder)
{
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/events.jsonl", folder);
  return access(path, F_OK) == 0;
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }
static int compare(const struct dirent **a, const struct dirent **b)
{
  return strcmp((*a)->d_name, (*b)->d_name);
}

static gab_status descend(walk *all, const char *folder, int depth)
{
  struct dirent **entries;
  struct stat about;
  gab_status status = GAB_OK;
  if (is_run(folder)) {
    all->runs++;
    return all->visit(all->user, folder);
  }
  if (depth == DEEPEST) return GAB_OK;
  const int count = scandir(folder, &entries, is_shown, compare);
  for (int i = 0; i < count; i++) {
    char below[PATH_MAX];
    const int length = snprintf(below, sizeof below, "%s/%s", folder, entries[i]->d_name);
    free(entries[i]);
    if (status == GAB_OK && length < PATH_MAX && lstat(below, &about) == 0 && S_ISDIR(about.st_mode))
      status = descend(all, below, depth + 1);
  }
  if (count >= 0) free(entries);
  return status;
}

gab_status gab_app_run_tree_visit(const char *folder, gab_status (*visit)(void *user, const char *folder),
                                  void *user)
{
  char top[PATH_MAX];
  walk all = {.visit = visit, .user = user};
  snprintf(top, sizeof top, "%s", folder);
  for (size_t length = strlen(top); length > 1 && top[length - 1] == '/'; length--) top[length - 1] = '\0';
  GAB_TRY(descend(&all, top, 0));
  if (all.runs == 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "no run in %s: no events.jsonl (a run writes it at its start), nor in folders below", folder);
  return GAB_OK;
}

static gab_status found_one(void *user, const char *folder)
{
  (void)folder;
  *(bool *)user = true;
  return GAB_ERR_ENDED; /* one is enough */
}

bool gab_app_run_tree_has_runs_below(const char *folder)
{
  bool found = false;
  walk all = {.visit = found_one, .user = &found};
  if (!is_run(folder)) (void)descend(&all, folder, 0);
  return found;
}
