/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded by scripts into the processes of a run: calls for files below the folder BAD_DISK fail as they do on a bad disk.
 *   BAD_DISK_LOCK=ERRNO    every lock of a file does, as where the file system has none
 *   BAD_DISK_READ=ERRNO    every read from a file whose name ends in .h5 does
 *   BAD_DISK_FULL=TEXT     from the first write into a file with that text in its name on, every write does so with ENOSPC, for
 *                          BAD_DISK_SECONDS, or as long as the file BAD_DISK_SIGN exists; one of two puts down half of its bytes
 *   BAD_DISK_LOSE=TEXT     the second write into a file with that text in its name is its last for now: then somebody else does
 *                          to it what BAD_DISK_HOW says, remove, rename, cut, replace or overwrite
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* @param[in] part  of the name; NULL: any */
static bool is_there(int file, const char *part)
{
  char link[64], path[PATH_MAX];
  const char *folder = getenv("BAD_DISK");
  if (!folder) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return strncmp(path, folder, strlen(folder)) == 0 && (!part || strstr(path, part));
}

static int asked(const char *name)
{
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

/* @return whether the disk is full for that file */
static bool is_full(int file)
{
  static struct timespec first;
  const char *part = getenv("BAD_DISK_FULL"), *sign = getenv("BAD_DISK_SIGN");
  struct timespec now;
  if (!part || (sign && access(sign, F_OK) != 0) || !is_there(file, first.tv_sec ? NULL : part)) return false;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!first.tv_sec) first = now;
  return sign || now.tv_sec - first.tv_sec < asked("BAD_DISK_SECONDS");
}

/* Bytes of a write that a full disk still takes. */
static size_t still_taken(size_t count)
{
  static int writes;
  return ++writes % 2 ? count / 2 : 0;
}

int flock(int file, int operation)
{
  const int refusal = asked("BAD_DISK_LOCK");
  if (!refusal || !is_there(file, NULL)) return (int)syscall(SYS_flock, file, operation);
  errno = refusal;
  return -1;
}

static bool is_lock(int command)
{
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

int fcntl(int file, int command, ...)
{
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *);
  va_end(more);
  const int refusal = is_lock(command) ? asked("BAD_DISK_LOCK") : 0;
  if (!refusal || !is_there(file, NULL)) return (int)syscall(SYS_fcntl, file, command, argument);
  errno = refusal;
  return -1;
}

int fcntl64(int file, int command, ...)
{
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *);
  va_end(more);
  return fcntl(file, command, argument);
}

ssize_t pread(int file, void *bytes, size_t count, off_t at)
{
  const int refusal = asked("BAD_DISK_READ");
  if (!refusal || !is_there(file, ".h5")) return syscall(SYS_pread64, file, bytes, count, at);
  errno = refusal;
  return -1;
}

ssize_t pread64(int file, void *bytes, size_t count, off_t at) { return pread(file, bytes, count, at); }

ssize_t write(int file, const void *bytes, size_t count)
{
  if (!is_full(file)) return syscall(SYS_write, file, bytes, count);
  const size_t taken = still_taken(count);
  if (taken > 0) return syscall(SYS_write, file, bytes, taken);
  errno = ENOSPC;
  return -1;
}

static void put_other(const char *path)
{
  FILE *other = fopen(path, "w");
  if (!other) return;
  for (int i = 0; i < 2000; i++) fputs("of somebody else\n", other);
  fclose(other);
}

static void lose(int file)
{
  static int writes;
  char link[64], path[PATH_MAX], aside[PATH_MAX + 8];
  const char *part = getenv("BAD_DISK_LOSE"), *how = getenv("BAD_DISK_HOW");
  if (!part || !how || !is_there(file, part) || ++writes != 2) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = '\0';
  snprintf(aside, sizeof aside, "%s.aside", path);
  if (strcmp(how, "remove") == 0 || strcmp(how, "replace") == 0) unlink(path);
  if (strcmp(how, "rename") == 0) rename(path, aside);
  if (strcmp(how, "cut") == 0) (void)!truncate(path, 100);
  if (strcmp(how, "replace") == 0 || strcmp(how, "overwrite") == 0) put_other(path);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
  if (!is_full(file)) {
    const ssize_t done = syscall(SYS_pwrite64, file, bytes, count, at);
    lose(file);
    return done;
  }
  const size_t taken = still_taken(count);
  if (taken > 0) return syscall(SYS_pwrite64, file, bytes, taken, at);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at)
{
  return pwrite(file, bytes, count, at);
}

int fallocate(int file, int mode, off_t at, off_t length)
{
  if (!is_full(file)) return (int)syscall(SYS_fallocate, file, mode, at, length);
  errno = ENOSPC;
  return -1;
}

int fallocate64(int file, int mode, off_t at, off_t length) { return fallocate(file, mode, at, length); }
