/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of checkpoints: OUT/checkpoints/step_000000000100/{group_000000.h5, …, manifest.json}. */
#include "core/system/file.h"
#include "core/system/run_file.h"
#include "resilience/disk/disk_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const temporary_endings[] = {".tmp", ".new"};

/* ---------------------------------------------------------------- names */

static gab_status join(char path[GAB_DISK_PATH], const char *folder, const char *name)
{
  if (snprintf(path, GAB_DISK_PATH, "%s/%s", folder, name) >= GAB_DISK_PATH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", folder);
  return GAB_OK;
}

gab_status gab_disk_step_folder(char path[GAB_DISK_PATH], const char *folder, gab_step step)
{
  char name[32];
  snprintf(name, sizeof name, "step_%012" GAB_PRI_STEP, step);
  return join(path, folder, name);
}

void gab_disk_group_name(char name[GAB_MANIFEST_NAME], int32_t group)
{
  snprintf(name, GAB_MANIFEST_NAME, "group_%06" PRId32 ".h5", group);
}

/* @return the step of a folder's name, -1 if it is not one */
static gab_step step_of(const char *name)
{
  char *end;
  if (strncmp(name, "step_", 5) != 0 || strlen(name) < 17) return -1;
  errno = 0;
  long long step = strtoll(name + 5, &end, 10);
  return *end || errno || step < 0 ? -1 : (gab_step)step;
}

static bool is_temporary(const char *name)
{
  size_t length = strlen(name);
  for (int i = 0; i < 2; i++)
    if (length > 4 && strcmp(name + length - 4, temporary_endings[i]) == 0) return true;
  return false;
}

/* ---------------------------------------------------------------- making */

static gab_status make_one(const char *path)
{
  char why[GAB_RUN_FILE_WHY];
  if (!gab_run_folder_is_safe(path, why)) GAB_FAIL(GAB_ERR_IO, "%s", why);
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return GAB_OK;
  GAB_FAIL(GAB_ERR_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

/* The folder of a step and, if needed, that of all steps; a new entry is flushed with its folder. */
gab_status gab_disk_make_folder(const char *path)
{
  char above[GAB_DISK_PATH];
  snprintf(above, sizeof above, "%s", path);
  char *slash = strrchr(above, '/');
  if (slash && slash > above) {
    *slash = '\0';
    GAB_TRY(make_one(above));
  }
  GAB_TRY(make_one(path));
  return slash && slash > above ? gab_folder_sync(above) : GAB_OK;
}

/* ---------------------------------------------------------------- looking */

static int newest_first(const void *a, const void *b)
{
  const gab_step x = *(const gab_step *)a, y = *(const gab_step *)b;
  return (x < y) - (x > y);
}

static gab_status list_steps(const char *folder, gab_step **steps, size_t *count)
{
  *steps = NULL;
  *count = 0;
  DIR *open = opendir(folder);
  /* A folder that does not exist is empty, also if its parent is not a folder. */
  if (!open && (errno == ENOENT || (errno == ENOTDIR && access(folder, F_OK) != 0))) return GAB_OK;
  if (!open) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", folder, strerror(errno));
  gab_status status = GAB_OK;
  for (struct dirent *entry; status == GAB_OK && (entry = readdir(open));) {
    gab_step step = step_of(entry->d_name);
    void *list = *steps;
    if (step < 0) continue;
    status = gab_list_reserve(&list, *count, sizeof **steps);
    *steps = list;
    if (status == GAB_OK) (*steps)[(*count)++] = step;
  }
  closedir(open);
  if (status == GAB_OK && *count > 1) qsort(*steps, *count, sizeof **steps, newest_first);
  return status;
}

gab_status gab_disk_visit(const char *folder,
                          gab_status (*visit)(void *user, gab_step step, const char *path), void *user)
{
  gab_step *steps;
  size_t count;
  gab_status status = list_steps(folder, &steps, &count);
  for (size_t i = 0; i < count && status == GAB_OK; i++) {
    char path[GAB_DISK_PATH];
    status = gab_disk_step_folder(path, folder, steps[i]);
    if (status == GAB_OK) status = visit(user, steps[i], path);
  }
  gab_free(&steps);
  return status;
}

/* ---------------------------------------------------------------- removing */

static void remove_files(const char *path, bool temporaries_only)
{
  char name[GAB_DISK_PATH];
  DIR *open = opendir(path);
  if (!open) return;
  for (struct dirent *entry; (entry = readdir(open));) {
    bool ours =
        is_temporary(entry->d_name) || (!temporaries_only && (strncmp(entry->d_name, "group_", 6) == 0));
    if (ours && join(name, path, entry->d_name) == GAB_OK) unlink(name);
  }
  closedir(open);
}

gab_status gab_disk_remove_step(const char *path)
{
  char manifest[GAB_DISK_PATH];
  GAB_TRY(join(manifest, path, "manifest.json"));
  if (unlink(manifest) != 0 && errno != ENOENT)
    GAB_FAIL(GAB_ERR_IO, "cannot remove %s: %s", manifest, strerror(errno));
  gab_folder_sync(path);
  remove_files(path, false);
  if (rmdir(path) != 0 && errno != ENOENT)
    GAB_FAIL(GAB_ERR_IO, "cannot remove %s: %s", path, strerror(errno));
  return GAB_OK;
}

void gab_disk_remove_temporaries(const char *path) { remove_files(path, true); }

void gab_disk_set_aside(const char *folder, gab_step step)
{
  char path[GAB_DISK_PATH], aside[GAB_DISK_PATH], name[64];
  snprintf(name, sizeof name, "unusable_%012" GAB_PRI_STEP, step);
  if (gab_disk_step_folder(path, folder, step) != GAB_OK || join(aside, folder, name) != GAB_OK) return;
  (void)!rename(path, aside); /* one that was set aside earlier is kept */
}

/* @param[in] visit  called for each checkpoint that was set aside */
static gab_status visit_set_aside(const char *folder, gab_status (*visit)(void *user, const char *path),
                                  void *user)
{
  char path[GAB_DISK_PATH];
  DIR *open = opendir(folder);
  if (!open) return GAB_OK;
  gab_status status = GAB_OK;
  for (struct dirent *entry; status == GAB_OK && (entry = readdir(open));) {
    if (strncmp(entry->d_name, "unusable_", 9) != 0) continue;
    status = join(path, folder, entry->d_name);
    if (status == GAB_OK) status = visit(user, path);
  }
  closedir(open);
  return status;
}

static gab_status note_one(void *user, const char *path)
{
  char *first = user;
  if (!first[0]) snprintf(first, GAB_DISK_PATH, "%s", path);
  return GAB_OK;
}

gab_status gab_disk_find_set_aside(const char *folder, char *words, size_t capacity)
{
  char first[GAB_DISK_PATH] = "";
  GAB_TRY(visit_set_aside(folder, note_one, first));
  if (first[0]) snprintf(words, capacity, "%.400s was set aside, since its content was damaged", first);
  return GAB_OK;
}

static gab_status remove_one_set_aside(void *user, const char *path)
{
  (void)user;
  return gab_disk_remove_step(path);
}

gab_status gab_disk_remove_set_aside(const char *folder)
{
  return visit_set_aside(folder, remove_one_set_aside, NULL);
}

bool gab_disk_has_manifest(const char *path)
{
  char manifest[GAB_DISK_PATH];
  struct stat about;
  if (join(manifest, path, "manifest.json") != GAB_OK) return false;
  return stat(manifest, &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

typedef struct pruning {
  gab_step step;
  int keep, kept;
} pruning;

static gab_status prune_one(void *user, gab_step step, const char *path)
{
  pruning *what = user;
  if (step > what->step) return GAB_OK;
  if (what->kept < what->keep && gab_disk_has_manifest(path)) {
    what->kept++;
    return GAB_OK;
  }
  return gab_disk_remove_step(path);
}

gab_status gab_disk_prune(const char *folder, gab_step step, int keep)
{
  pruning what = {.step = step, .keep = keep};
  return gab_disk_visit(folder, prune_one, &what);
}
