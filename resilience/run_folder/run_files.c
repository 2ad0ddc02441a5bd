/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/run_folder/run_files.h"

#include "core/system/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAPACITY = 1400 };

static const char headline[] =
    "# Written by the run in this folder; <n> is a number. A run that starts from step 0 "
    "here removes these files.\n";
static const char number[] = "<n>";

/* ---------------------------------------------------------------- names */

bool gab_run_files_match(const char *pattern, size_t length, const char *name)
{
  const char *end = pattern + length;
  while (pattern < end) {
    if ((size_t)(end - pattern) >= sizeof number - 1 && memcmp(pattern, number, sizeof number - 1) == 0) {
      if (!isdigit((unsigned char)*name)) return false;
      while (isdigit((unsigned char)*name)) name++;
      pattern += sizeof number - 1;
    } else if (*pattern++ != *name++) {
      return false;
    }
  }
  return *name == '\0' || strcmp(name, ".tmp") == 0 || strcmp(name, ".new") == 0;
}

/* A line at a time. @return false at the end */
static bool next_line(const char **at, const char *end, const char **line, size_t *length)
{
  while (*at < end) {
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *length = (size_t)((newline ? newline : end) - *at);
    *at = newline ? newline + 1 : end;
    if (*length > 0 && (*line)[0] != '#') return true;
  }
  return false;
}

static bool is_listed(const char *list, size_t size, const char *name)
{
  const char *at = list, *line;
  size_t length;
  while (next_line(&at, list + size, &line, &length))
    if (gab_run_files_match(line, length, name)) return true;
  return false;
}

/* ---------------------------------------------------------------- removing */

typedef struct removal {
  const char *list, *spare;
  size_t size;
  bool unfinished_only, dry_run;
  uint64_t count, bytes;
} removal;

static bool is_unfinished(const char *name)
{
  const size_t length = strlen(name);
  return length > 4 && (strcmp(name + length - 4, ".tmp") == 0 || strcmp(name + length - 4, ".new") == 0);
}

/* One folder. @param[in] start  of the names in it: "" or "fields/" */
static gab_status remove_listed(removal *what, int parent, const char *shown, const char *inner,
                                const char *start)
{
  const int folder = openat(parent, inner, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return GAB_OK; /* there is none, or it is a link: not ours */
  DIR *entries = fdopendir(folder);
  if (!entries) {
    close(folder);
    GAB_FAIL(GAB_ERR_IO, "cannot look into %s/%s: %s", shown, start, strerror(errno));
  }
  gab_status status = GAB_OK;
  for (struct dirent *entry; status == GAB_OK && (entry = readdir(entries));) {
    char name[PATH_CAPACITY];
    struct stat about;
    if (snprintf(name, sizeof name, "%s%s", start, entry->d_name) >= (int)sizeof name) continue;
    if (!is_listed(what->list, what->size, name)) continue;
    if (what->spare && is_listed(what->spare, strlen(what->spare), name)) continue;
    if (fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
    if (what->unfinished_only && !is_unfinished(name)) continue;
    const bool is_gone = what->dry_run || unlinkat(folder, entry->d_name, 0) == 0;
    if (is_gone) what->count++, what->bytes += (uint64_t)about.st_size;
    else if (errno != ENOENT)
      status = gab_error_set(GAB_ERR_IO, __FILE__, __LINE__, "cannot remove %s/%s of an earlier run: %s",
                             shown, name, strerror(errno));
  }
  closedir(entries);
  return status;
}

/* The folders that a list names, one level deep. */
static gab_status remove_from_folders(removal *what, int folder, const char *shown)
{
  const char *at = what->list, *line;
  char last[256] = "";
  size_t length;
  while (next_line(&at, what->list + what->size, &line, &length)) {
    const char *slash = memchr(line, '/', length);
    char inner[256], start[260];
    if (!slash || slash == line || (size_t)(slash - line) >= sizeof inner) continue;
    snprintf(inner, sizeof inner, "%.*s", (int)(slash - line), line);
    if (strcmp(inner, last) == 0 || strcmp(inner, "..") == 0 || strcmp(inner, ".") == 0) continue;
    snprintf(last, sizeof last, "%s", inner);
    snprintf(start, sizeof start, "%s/", inner);
    GAB_TRY(remove_listed(what, folder, shown, inner, start));
  }
  return GAB_OK;
}

static gab_status remove_all(const char *shown, removal *what)
{
  const int folder = open(shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", shown, strerror(errno));
  gab_status status = remove_listed(what, folder, shown, ".", "");
  if (status == GAB_OK) status = remove_from_folders(what, folder, shown);
  close(folder);
  return status;
}

/* ---------------------------------------------------------------- the list */

static gab_status read_list(const char *path, gab_buffer *text)
{
  char part[4096];
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return GAB_OK; /* no run that kept one */
  gab_status status = GAB_OK;
  for (ssize_t got; status == GAB_OK && (got = read(file, part, sizeof part)) > 0;)
    status = gab_put_bytes(text, part, (size_t)got);
  close(file);
  return status;
}

/* The lines of the old list that are not in the new one. */
static gab_status add_old(gab_buffer *text, const gab_buffer *old)
{
  const char *at = (const char *)old->data, *end = at + old->size, *line;
  size_t length;
  while (next_line(&at, end, &line, &length)) {
    const char *mine = (const char *)text->data, *own;
    size_t own_length;
    bool known = false;
    while (!known && next_line(&mine, (const char *)text->data + text->size, &own, &own_length))
      known = own_length == length && memcmp(own, line, length) == 0;
    if (known) continue;
    GAB_TRY(gab_put_bytes(text, line, length));
    GAB_TRY(gab_put_bytes(text, "\n", 1));
  }
  return GAB_OK;
}

static gab_status write_list(const char *path, const gab_buffer *list, const gab_buffer *old)
{
  gab_buffer text = {0};
  gab_status status = gab_put_bytes(&text, headline, sizeof headline - 1);
  if (status == GAB_OK) status = gab_put_bytes(&text, list->data, list->size);
  if (status == GAB_OK && old) status = add_old(&text, old);
  if (status == GAB_OK) status = gab_file_replace(path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
  return status;
}

static gab_status read_list_of(const char *folder, char path[PATH_CAPACITY], gab_buffer *text)
{
  if (snprintf(path, PATH_CAPACITY, "%s/" GAB_RUN_FILES, folder) >= PATH_CAPACITY)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.60s... is too long", folder);
  return read_list(path, text);
}

gab_status gab_run_files_settle(const char *folder, const gab_buffer *list, const char *spare,
                                gab_run_files_of_before before, uint64_t *removed)
{
  char path[PATH_CAPACITY];
  gab_buffer old = {0};
  gab_status status = read_list_of(folder, path, &old);
  removal what = {.list = (const char *)old.data, .size = old.size, .spare = spare};
  if (status == GAB_OK && before == GAB_RUN_FILES_REMOVE && old.size > 0) status = remove_all(folder, &what);
  if (status == GAB_OK) status = write_list(path, list, before == GAB_RUN_FILES_KEEP ? &old : NULL);
  gab_buffer_release(&old);
  if (removed) *removed = what.count;
  return status;
}

gab_status gab_run_files_remove_unfinished(const char *folder, bool dry_run, uint64_t *count, uint64_t *bytes)
{
  char path[PATH_CAPACITY];
  gab_buffer list = {0};
  gab_status status = read_list_of(folder, path, &list);
  removal what = {
      .list = (const char *)list.data, .size = list.size, .unfinished_only = true, .dry_run = dry_run};
  if (status == GAB_OK && list.size > 0) status = remove_all(folder, &what);
  gab_buffer_release(&list);
  *count += what.count;
  *bytes += what.bytes;
  return status;
}
