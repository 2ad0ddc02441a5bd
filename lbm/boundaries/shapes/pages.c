/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/shapes/pages_impl.h"

#include "core/system/file.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of that very name comes first. */
static bool is_pattern(const char *path) { return strpbrk(path, "*?[") && access(path, F_OK) != 0; }

static int by_number(const void *a, const void *b)
{
  return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The files that a pattern stands for; @param[out] list  to be released by globfree() also on failure */
static gab_status find_files(const char *pattern, glob_t *list)
{
  const int code = glob(pattern, GLOB_NOSORT | GLOB_ERR, NULL, list);
  if (code == GLOB_NOMATCH) GAB_FAIL(GAB_ERR_INPUT, "%s: no file matches", pattern);
  if (code == GLOB_NOSPACE) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the names of %s", pattern);
  if (code != 0) GAB_FAIL(GAB_ERR_INPUT, "%s: the folder cannot be read", pattern);
  qsort(list->gl_pathv, list->gl_pathc, sizeof *list->gl_pathv, by_number);
  return GAB_OK;
}

static const gab_page_format *format_of(const char *path)
{
  static const gab_page_format *const formats[] = {&gab_page_png, &gab_page_tiff};
  unsigned char head[8] = {0};
  FILE *file;
  if (gab_file_open(path, &file) != GAB_OK) return NULL;
  const bool is_read = fread(head, 1, sizeof head, file) == sizeof head;
  fclose(file);
  for (size_t i = 0; is_read && i < sizeof formats / sizeof *formats; i++)
    if (formats[i]->begins(head)) return formats[i];
  return NULL;
}

bool gab_pages_are(const char *path)
{
  const bool are = is_pattern(path) || format_of(path);
  gab_error_clear();
  return are;
}

/* ---------------------------------------------------------------- files of a stack */

typedef gab_status file_fn(void *user, const char *path);

static gab_status for_each_file(const char *path, file_fn *visit, void *user)
{
  glob_t list = {0};
  if (!is_pattern(path)) return visit(user, path);
  gab_status status = find_files(path, &list);
  for (size_t i = 0; i < list.gl_pathc && status == GAB_OK; i++) status = visit(user, list.gl_pathv[i]);
  globfree(&list);
  return status;
}

typedef struct stack {
  int64_t size[3]; /* of all pages so far */
  int64_t most;
  char first[256]; /* file of the first page */
} stack;

static gab_status add_size(void *user, const char *path)
{
  stack *it = user;
  int64_t size[3];
  const gab_page_format *format = format_of(path);
  if (!format) {
    GAB_TRY(gab_file_check(path));
    GAB_FAIL(GAB_ERR_INPUT, "%s: neither a PNG nor a TIFF file", path);
  }
  GAB_TRY(format->size(path, size));
  if (it->size[2] == 0) {
    memcpy(it->size, size, sizeof size);
    snprintf(it->first, sizeof it->first, "%s", path);
  } else if (size[0] != it->size[0] || size[1] != it->size[1]) {
    GAB_FAIL(GAB_ERR_INPUT, "%s has %lld x %lld pixels, but %s has %lld x %lld", path, (long long)size[0],
             (long long)size[1], it->first, (long long)it->size[0], (long long)it->size[1]);
  } else it->size[2] += size[2];
  for (int axis = 0; axis < 3; axis++)
    if (it->size[axis] > it->most)
      GAB_FAIL(GAB_ERR_INPUT, "%s: more than %lld %s", path, (long long)it->most,
               axis < 2 ? "pixels along a side" : "pages");
  return GAB_OK;
}

gab_status gab_pages_size(const char *path, int dimension, int64_t most, int64_t size[3])
{
  stack it = {.most = most};
  GAB_TRY(for_each_file(path, add_size, &it));
  if (dimension == 2 && it.size[2] != 1)
    GAB_FAIL(GAB_ERR_INPUT, "%s has %lld pages; a case in 2D takes one", path, (long long)it.size[2]);
  memcpy(size, it.size, sizeof it.size);
  return GAB_OK;
}

typedef struct page_reader {
  const int64_t *size;
  int64_t next; /* page */
  gab_pages_row_fn *row;
  void *user;
} page_reader;

static gab_status read_file(void *user, const char *path)
{
  page_reader *it = user;
  int64_t size[3];
  const gab_page_format *format = format_of(path);
  if (!format) GAB_FAIL(GAB_ERR_INPUT, "%s: neither a PNG nor a TIFF file", path);
  GAB_TRY(format->size(path, size));
  if (size[0] != it->size[0] || size[1] != it->size[1] || it->next + size[2] > it->size[2])
    GAB_FAIL(GAB_ERR_INPUT, "%s has changed while the stack was read", path);
  GAB_TRY(format->read(path, size, it->next, it->row, it->user));
  it->next += size[2];
  return GAB_OK;
}

gab_status gab_pages_read(const char *path, const int64_t size[3], gab_pages_row_fn *row, void *user)
{
  page_reader it = {.size = size, .row = row, .user = user};
  GAB_TRY(for_each_file(path, read_file, &it));
  if (it.next != size[2]) GAB_FAIL(GAB_ERR_INPUT, "%s has changed while it was read", path);
  return GAB_OK;
}

static gab_status add_hash(void *user, const char *path) { return gab_file_hash(path, user); }

gab_status gab_pages_hash(const gab_config *config, const char *path, gab_hash64_stream *hash)
{
  (void)config;
  return for_each_file(path, add_hash, hash);
}
