#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 2048 };

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
  /* Some file systems cannot sync a folder, and say so; their renames are as durable as they get. */
  bool failed = fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP;
  int why = errno;
  close(file);
  if (failed) GAB_FAIL(GAB_ERR_IO, "cannot sync folder %s: %s", folder, strerror(why));
  return GAB_OK;
}

static gab_status sync_parent(const char *path)
{
  char folder[PATH_ROOM];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (!slash) return gab_folder_sync(".");
  slash[slash == folder] = '\0';
  return gab_folder_sync(folder);
}

gab_status gab_file_replace(const char *path, const void *bytes, size_t count, gab_durability durability)
{
  char beside[PATH_ROOM];
  if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
    GAB_FAIL(GAB_ERR_IO, "the path %.60s... is too long", path);
  int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
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
