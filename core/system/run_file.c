/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_trusted(uid_t user) { return user == geteuid() || user == 0; }

static int refuse(int opened, const char *path, char why[GAB_RUN_FILE_WHY], const char *what, uid_t owner)
{
  if (opened >= 0) close(opened);
  snprintf(why, GAB_RUN_FILE_WHY, "%.200s %s user %ld: remove it, or choose another output folder", path,
           what, (long)owner);
  errno = EPERM;
  return -1;
}

static int fail(int opened, const char *path, char why[GAB_RUN_FILE_WHY])
{
  const int error = errno;
  if (opened >= 0) close(opened);
  snprintf(why, GAB_RUN_FILE_WHY, "%.200s: %s", path, strerror(error));
  errno = error;
  return -1;
}

/* The folder of a file, for openat(). @param[out] name  of the file in it */
static int open_folder(const char *path, const char **name)
{
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  if (!slash) return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const size_t length = slash == path ? 1 : (size_t)(slash - path);
  if (length >= sizeof folder) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(folder, path, length);
  folder[length] = '\0';
  return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* What a link of this user or of root points to. The link is read by its descriptor: it cannot be exchanged in between. */
static int open_target(int folder, const char *name, int flags, const char *path, char why[GAB_RUN_FILE_WHY])
{
  char target[PATH_MAX];
  struct stat about;
  const int link = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0 || fstat(link, &about) != 0) return fail(link, path, why);
  if (!is_trusted(about.st_uid)) return refuse(link, path, why, "is a link of", about.st_uid);
  const ssize_t length = readlinkat(link, "", target, sizeof target - 1);
  close(link);
  if (length < 0) return fail(-1, path, why);
  target[length] = '\0';
  const int opened = openat(folder, target, flags | O_CLOEXEC, 0666);
  return opened < 0 ? fail(-1, path, why) : opened;
}

/* Of what is open, whatever became of its name since. */
static int check(int opened, int folder, const char *path, char why[GAB_RUN_FILE_WHY])
{
  struct stat about, above;
  if (fstat(opened, &about) != 0 || fstat(folder, &above) != 0) return fail(opened, path, why);
  if (!is_trusted(about.st_uid) && about.st_uid != above.st_uid)
    return refuse(opened, path, why, "belongs to", about.st_uid);
  if (!is_trusted(about.st_uid) && !S_ISREG(about.st_mode))
    return refuse(opened, path, why, "is not a regular file, and belongs to", about.st_uid);
  const bool is_open = above.st_uid != geteuid() || above.st_mode & S_IWOTH;
  if (is_open && S_ISREG(about.st_mode) && about.st_nlink > 1)
    return refuse(opened, path, why, "has a second name, in a folder of", above.st_uid);
  return opened;
}

static int open_in(int folder, const char *name, int flags, const char *path, char why[GAB_RUN_FILE_WHY])
{
  /* Without waiting: a pipe may have nobody at its other end. */
  const int opened = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (opened < 0 && errno == ELOOP) return open_target(folder, name, flags, path, why);
  if (opened < 0) return fail(-1, path, why);
  if (check(opened, folder, path, why) < 0) return -1;
  const int status = flags & O_NONBLOCK ? 0 : fcntl(opened, F_GETFL);
  if (status < 0 || (status > 0 && fcntl(opened, F_SETFL, status & ~O_NONBLOCK) != 0))
    return fail(opened, path, why);
  return opened;
}

int gab_run_file_open(const char *path, int flags, char why[GAB_RUN_FILE_WHY])
{
  const char *name;
  const int folder = open_folder(path, &name);
  if (folder < 0) return fail(-1, path, why);
  const int opened = open_in(folder, name, flags & ~O_TRUNC, path, why);
  const int error = errno;
  close(folder);
  errno = error;
  struct stat about;
  if (opened < 0 || !(flags & O_TRUNC)) return opened;
  const bool cut = fstat(opened, &about) == 0 && (!S_ISREG(about.st_mode) || ftruncate(opened, 0) == 0);
  return cut ? opened : fail(opened, path, why);
}

bool gab_run_folder_is_safe(const char *path, char why[GAB_RUN_FILE_WHY])
{
  struct stat about;
  if (lstat(path, &about) != 0 || !S_ISLNK(about.st_mode) || is_trusted(about.st_uid)) return true;
  (void)refuse(-1, path, why, "is a link of", about.st_uid);
  return false;
}
