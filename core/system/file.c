/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_CAPACITY = 2048 };

/* An existing file was left by a dead process or planted by another user (core/system/run_file.h): it is removed,
 * and links are not followed. */
static int open_new(const char *path)
{
  unlink(path);
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static bool write_all(int file, const char *bytes, size_t count)
{
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

gab_status gab_folder_sync(const char *folder)
{
  int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) GAB_FAIL(GAB_ERR_IO, "cannot open folder %s: %s", folder, strerror(errno));
  /* Some file systems cannot sync a folder and report that; their renames cannot be made more durable. */
  bool failed = fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP;
  int why = errno;
  close(file);
  if (failed) GAB_FAIL(GAB_ERR_IO, "cannot sync folder %s: %s", folder, strerror(why));
  return GAB_OK;
}

static gab_status sync_parent(const char *path)
{
  char folder[PATH_CAPACITY];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (!slash) return gab_folder_sync(".");
  slash[slash == folder] = '\0';
  return gab_folder_sync(folder);
}

gab_status gab_file_replace(const char *path, const void *bytes, size_t count, gab_durability durability)
{
  char beside[PATH_CAPACITY];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
    GAB_FAIL(GAB_ERR_IO, "the path %.60s... is too long", path);
  int file = open_new(beside);
  if (file < 0) GAB_FAIL(GAB_ERR_IO, "cannot write %s: %s", beside, strerror(errno));
  bool fine = write_all(file, bytes, count);
  if (fine && durability == GAB_FILE_SYNCED) fine = fsync(file) == 0;
  int why = errno;
  if (close(file) != 0 && fine) {
    fine = false;
    why = errno;
  }
  if (fine && rename(beside, path) != 0) {
    fine = false;
    why = errno;
  }
  if (!fine) {
    unlink(beside);
    GAB_FAIL(GAB_ERR_IO, "cannot write %s: %s", path, strerror(why));
  }
  return durability == GAB_FILE_SYNCED ? sync_parent(path) : GAB_OK;
}

/* @return 0, EEXIST or another errno */
static int name_once(const char *beside, const char *path)
{
  struct stat about;
  int why = link(beside, path) == 0 ? 0 : errno;
  /* The server may have created the link although its answer was lost. */
  if (why && stat(beside, &about) == 0 && about.st_nlink == 2) why = 0;
  if (why == EPERM || why == ENOTSUP || why == ENOSYS) /* no hard links on this file system */
    why = syscall(SYS_renameat2, AT_FDCWD, beside, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : errno;
  return why;
}

gab_status gab_file_create(const char *path, const void *bytes, size_t count, bool *made)
{
  char beside[PATH_CAPACITY], host[64] = "";
  *made = false;
  gethostname(host, sizeof host - 1);
  if (snprintf(beside, sizeof beside, "%s.new.%s.%ld", path, host, (long)getpid()) >= (int)sizeof beside)
    GAB_FAIL(GAB_ERR_IO, "the path %.60s... is too long", path);
  int file = open_new(beside);
  if (file < 0) GAB_FAIL(GAB_ERR_IO, "cannot write %s: %s", beside, strerror(errno));
  int why = write_all(file, bytes, count) ? 0 : errno;
  if (close(file) != 0 && why == 0) why = errno;
  if (why == 0) why = name_once(beside, path);
  *made = why == 0;
  unlink(beside); /* the temporary name of the new file */
  if (why != 0 && why != EEXIST) GAB_FAIL(GAB_ERR_IO, "cannot make %s: %s", path, strerror(why));
  return GAB_OK;
}

/* ---------------------------------------------------------------- files of users */

static const char *name_of_kind(mode_t mode)
{
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/* Does not block on a pipe without a writer. */
static gab_status open_regular(const char *path, int *descriptor)
{
  struct stat info;
  *descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  /* A socket cannot be opened. */
  const int why = errno;
  const bool known = *descriptor >= 0 ? fstat(*descriptor, &info) == 0 : stat(path, &info) == 0;
  if (known && !S_ISREG(info.st_mode)) {
    if (*descriptor >= 0) close(*descriptor);
    GAB_FAIL(GAB_ERR_INPUT, "%s: cannot be read: it is %s, not a file", path, name_of_kind(info.st_mode));
  }
  if (*descriptor < 0) GAB_FAIL(GAB_ERR_INPUT, "%s: cannot be opened: %s", path, strerror(why));
  return GAB_OK;
}

gab_status gab_file_check(const char *path)
{
  int descriptor;
  GAB_TRY(open_regular(path, &descriptor));
  close(descriptor);
  return GAB_OK;
}

gab_status gab_file_open(const char *path, FILE **file)
{
  int descriptor;
  *file = NULL;
  GAB_TRY(open_regular(path, &descriptor));
  *file = fdopen(descriptor, "rb");
  if (*file) return GAB_OK;
  const int why = errno;
  close(descriptor);
  GAB_FAIL(GAB_ERR_INPUT, "%s: cannot be opened: %s", path, strerror(why));
}

static gab_status read_stream(FILE *file, const char *path, size_t most, gab_buffer *bytes)
{
  const size_t before = bytes->size, piece = 65536;
  for (size_t got = 1; got > 0;) {
    void *place;
    GAB_TRY(gab_buffer_extend(bytes, piece, &place));
    got = fread(place, 1, piece, file);
    bytes->size -= piece - got;
    if (bytes->size - before > most) GAB_FAIL(GAB_ERR_INPUT, "%s: has more than %zu bytes", path, most);
  }
  if (ferror(file)) GAB_FAIL(GAB_ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
  return GAB_OK;
}

gab_status gab_file_read(const char *path, size_t most, gab_buffer *bytes)
{
  FILE *file;
  GAB_TRY(gab_file_open(path, &file));
  gab_status status = read_stream(file, path, most, bytes);
  fclose(file);
  return status;
}

gab_status gab_file_hash(const char *path, gab_hash64_stream *hash)
{
  static const size_t piece = (size_t)1 << 20;
  void *memory;
  FILE *file;
  GAB_TRY(gab_file_open(path, &file));
  gab_status status = gab_alloc(piece, GAB_MEMORY_OTHER, &memory);
  for (size_t got = piece; status == GAB_OK && got == piece;) {
    got = fread(memory, 1, piece, file);
    gab_hash64_add(hash, memory, got);
  }
  if (status == GAB_OK && ferror(file))
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s cannot be read: %s", path, strerror(errno));
  fclose(file);
  if (memory) gab_free(&memory);
  return status;
}
