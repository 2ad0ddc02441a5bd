/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/output_retry_impl.h"
#include "core/messages/collective.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gab_status gab_output_path(char path[GAB_OUTPUT_PATH_CAPACITY], const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(path, GAB_OUTPUT_PATH_CAPACITY, format, arguments);
  va_end(arguments);
  if (length < 0 || length >= GAB_OUTPUT_PATH_CAPACITY) {
    GAB_FAIL(GAB_ERR_INPUT, "path of an output file is too long: %.80s...", path);
  }
  return GAB_OK;
}

gab_status gab_put_text(gab_buffer *buffer, const char *format, ...)
{
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  void *place = NULL;
  gab_status status = length < 0 ? GAB_ERR_ARGUMENT : gab_buffer_extend(buffer, (size_t)length + 1, &place);
  if (status == GAB_OK) {
    vsnprintf(place, (size_t)length + 1, format, again);
    buffer->size--; /* the terminating zero */
  }
  va_end(again);
  return status;
}

void gab_output_number(double value, char text[GAB_OUTPUT_NUMBER])
{
  if (isnan(value)) {
    strcpy(text, "nan");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, GAB_OUTPUT_NUMBER, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  char *comma = strchr(text, ','); /* of the user's locale */
  if (comma) *comma = '.';
}

gab_status gab_output_copy_string(const char *text, char **copy)
{
  *copy = NULL;
  if (!text) return GAB_OK;
  void *memory = NULL;
  GAB_TRY(gab_alloc(strlen(text) + 1, GAB_MEMORY_OTHER, &memory));
  memcpy(memory, text, strlen(text) + 1);
  *copy = memory;
  return GAB_OK;
}

void gab_output_scalar_label(const gab_quantity *quantity, gab_component component,
                             char label[GAB_OUTPUT_LABEL_CAPACITY])
{
  static const char *const suffixes[] = {".x", ".y", ".z", ""};
  snprintf(label, GAB_OUTPUT_LABEL_CAPACITY, "%s%s", quantity->name,
           quantity->components == 1 ? "" : suffixes[component]);
}

void gab_output_block_origin(const gab_forest *forest, const gab_block *block, double origin[3],
                             double *spacing)
{
  const gab_forest_options *domain = gab_forest_get_options(forest);
  gab_box cells = gab_block_cells(forest, block);
  *spacing = gab_forest_dx(forest, gab_block_level(forest, block));
  for (int d = 0; d < 3; d++) origin[d] = domain->origin[d] + (double)cells.lo[d] * *spacing;
}

/* ---------------------------------------------------------------------------------------- whole files */

gab_status gab_output_file_open(gab_output_file *file, const char *path)
{
  file->is_open = false;
  file->error = 0;
  file->held = 0;
  GAB_TRY(gab_output_path(file->path, "%s", path));
  GAB_TRY(gab_output_path(file->temporary, "%s" GAB_OUTPUT_TEMPORARY, path));
  do {
    /* Removes a file of a process that died, or a link planted by another user, which must not be followed. */
    (void)unlink(file->temporary);
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    file->error = file->descriptor < 0 ? errno : 0;
  } while (file->error && gab_output_may_retry(file->path, file->error));
  if (file->error) return gab_output_refused("make the file", file->temporary, file->error);
  file->is_open = true;
  return GAB_OK;
}

static void put_out(gab_output_file *file, const unsigned char *bytes, size_t count)
{
  while (count > 0 && !file->error) {
    errno = 0;
    const ssize_t now = write(file->descriptor, bytes, count);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      const int error = errno ? errno : ENOSPC;
      if (!gab_output_may_retry(file->path, error)) file->error = error;
      continue;
    }
    bytes += now;
    count -= (size_t)now;
  }
}

static void put_out_held(gab_output_file *file)
{
  put_out(file, file->buffer, file->held);
  file->held = 0;
}

void gab_output_file_write(gab_output_file *file, const void *bytes, size_t count)
{
  if (file->error || count == 0) return;
  if (file->held + count > sizeof file->buffer) put_out_held(file);
  if (count > sizeof file->buffer) {
    put_out(file, bytes, count);
    return;
  }
  memcpy(file->buffer + file->held, bytes, count);
  file->held += count;
}

gab_status gab_output_file_commit(gab_output_file *file, gab_status status)
{
  if (!file->is_open) return status;
  if (status == GAB_OK) put_out_held(file);
  /* Delayed errors of the disk appear at close() at the latest. */
  if (close(file->descriptor) != 0 && !file->error) file->error = errno;
  file->is_open = false;
  while (status == GAB_OK && !file->error) {
    if (rename(file->temporary, file->path) == 0) {
      gab_output_succeeded(file->path);
      return GAB_OK;
    }
    const int error = errno;
    if (!gab_output_may_retry(file->path, error)) file->error = error;
  }
  (void)unlink(file->temporary);
  if (status != GAB_OK) return status;
  return gab_output_refused("write", file->path, file->error);
}

gab_status gab_output_file_save(const char *path, const void *bytes, size_t count)
{
  gab_output_file file;
  gab_status status;
  do {
    GAB_TRY(gab_output_file_open(&file, path));
    gab_output_file_write(&file, bytes, count);
    status = gab_output_file_commit(&file, GAB_OK);
  } while (status == GAB_ERR_IO && gab_output_may_retry(path, file.error));
  return status;
}

/* ---------------------------------------------------------------------------------------- names */

enum { LONGEST_NAME = 60 };

gab_status gab_output_name_check(const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const size_t length = strlen(name);
  if (length == 0) GAB_FAIL(GAB_ERR_INPUT, "a name of files cannot be empty");
  if (length > LONGEST_NAME)
    GAB_FAIL(GAB_ERR_INPUT, "'%.40s...' is not a valid file name: it has %zu characters, more than %d", name,
             length, (int)LONGEST_NAME);
  if (!strchr(letters, name[0]) ||
      strspn(name, "-+."
                   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
    GAB_FAIL(GAB_ERR_INPUT,
             "'%s' is not a valid file name: allowed are letters, digits, _ - + and ., and begin "
             "with one of the first three",
             name);
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- the folder */

static gab_status make_folder(const char *path)
{
  struct stat info;
  if (mkdir(path, 0777) == 0) return GAB_OK;
  int error = errno;
  if (error == EEXIST && stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return GAB_OK;
    error = ENOTDIR;
  }
  GAB_FAIL(GAB_ERR_INPUT, "cannot make the output folder %s: %s", path, strerror(error));
}

static gab_status make_folders(const char *path)
{
  char part[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(part, "%s", path));
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    GAB_TRY(make_folder(part));
    *slash = '/';
  }
  return make_folder(part);
}

/* Writes, syncs and removes a file, to find problems of rights, quotas and disk space before the first step. @return
 * 0 or errno */
static int try_once(char *name)
{
  static const char probe[65536];
  int descriptor = mkstemp(name);
  int error = descriptor < 0 ? errno : 0;
  if (descriptor >= 0) {
    errno = 0;
    if (write(descriptor, probe, sizeof probe) != (ssize_t)sizeof probe) error = errno ? errno : ENOSPC;
    if (!error && fsync(descriptor) != 0 && errno != EINVAL) error = errno;
    if (close(descriptor) != 0 && !error) error = errno;
    (void)unlink(name);
  }
  return error;
}

static gab_status try_folder(const char *path)
{
  char name[GAB_OUTPUT_PATH_CAPACITY];
  int error;
  do {
    GAB_TRY(gab_output_path(name, "%s/.gabion-can-write-XXXXXX", path));
    error = try_once(name);
  } while (error && gab_output_may_retry(path, error));
  if (!error) gab_output_succeeded(path);
  if (error) GAB_FAIL(GAB_ERR_INPUT, "cannot write into the output folder %s: %s", path, strerror(error));
  return GAB_OK;
}

gab_status gab_output_folder_prepare(const char *path)
{
  char fields[GAB_OUTPUT_PATH_CAPACITY];
  if (!path || !path[0]) GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is empty");
  char why[GAB_RUN_FILE_WHY];
  GAB_TRY(gab_output_path(fields, "%s/fields", path));
  if (!gab_run_folder_is_safe(fields, why)) GAB_FAIL(GAB_ERR_INPUT, "%s", why);
  GAB_TRY(make_folders(fields));
  GAB_TRY(try_folder(path));
  return try_folder(fields);
}

gab_status gab_output_folder_make(gab_world *world, const char *path)
{
  return gab_world_reduce_status(world, gab_world_is_root(world) ? gab_output_folder_prepare(path) : GAB_OK);
}
