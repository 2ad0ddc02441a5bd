/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/shared_file.h"

#include "core/system/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* At the beginning of a file. */
typedef struct head {
  _Atomic uint64_t ready; /* the magic number, once all data is there */
  uint64_t count;
  uint64_t reserved[6];
} head;

enum { HEAD_BYTES = 64, MOST_TRIES = 1000 };
_Static_assert(sizeof(head) == HEAD_BYTES, "data is aligned as its head");
static const uint64_t ready_magic = UINT64_C(0x3144455241485347); /* "GSHARED1" */
#define SUFFIX ".shared"

/* ---------------------------------------------------------------- the folder */

/* @return false: sharing is turned off */
static bool folder_path(char path[PATH_MAX])
{
  const char *told = getenv("GABION_SHARED_FILES");
  const int length = told ? snprintf(path, PATH_MAX, "%s", told)
                          : snprintf(path, PATH_MAX, "/dev/shm/gabion-shared-%ld", (long)geteuid());
  return length > 0 && length < PATH_MAX;
}

static int open_folder(bool make)
{
  char path[PATH_MAX], why[GAB_OWN_WHY];
  return folder_path(path) ? gab_own_folder_open(AT_FDCWD, path, make, why) : -1;
}

/* Fails where files are left. */
static void remove_folder(void)
{
  char path[PATH_MAX];
  if (folder_path(path)) (void)rmdir(path);
}

/* ---------------------------------------------------------------- locks */

static bool lock(int file, int how)
{
  int result;
  do result = flock(file, how);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

/* The lock on an unused file. Its name may have gone meanwhile, or mean another file. */
static bool remove_unused(int folder, const char *name, int file)
{
  struct stat open_one, named;
  if (!lock(file, LOCK_EX | LOCK_NB)) return false;
  return fstat(file, &open_one) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev && unlinkat(folder, name, 0) == 0;
}

static int sweep(int folder)
{
  char why[GAB_OWN_WHY];
  int removed = 0;
  const int read = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = read >= 0 ? fdopendir(read) : NULL;
  if (!entries && read >= 0) close(read);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    const size_t length = strlen(entry->d_name), tail = strlen(SUFFIX);
    if (length <= tail || strcmp(entry->d_name + length - tail, SUFFIX) != 0) continue;
    const int file = gab_own_file_open(folder, entry->d_name, O_RDWR, why);
    if (file < 0) continue;
    removed += remove_unused(folder, entry->d_name, file);
    close(file);
  }
  if (entries) closedir(entries);
  return removed;
}

int gab_shared_file_sweep(void)
{
  const int folder = open_folder(false);
  if (folder < 0) return 0;
  const int removed = sweep(folder);
  close(folder);
  remove_folder();
  return removed;
}

/* ---------------------------------------------------------------- a file */

static void forget(gab_shared_file *file)
{
  if (file->mapped) munmap(file->mapped, file->mapped_bytes);
  (void)lock(file->descriptor, LOCK_UN); /* a child process may have a copy of the descriptor */
  close(file->descriptor);
  close(file->folder);
  *file = (gab_shared_file){.bytes = NULL};
}

/* Of a locked file. @return false: it is not ready */
static bool map_ready(gab_shared_file *file)
{
  struct stat about;
  if (fstat(file->descriptor, &about) != 0 || about.st_size < HEAD_BYTES) return false;
  const size_t bytes = (size_t)about.st_size;
  head *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file->descriptor, 0);
  if ((void *)mapped == MAP_FAILED) return false;
  if (atomic_load(&mapped->ready) != ready_magic || mapped->count != bytes - HEAD_BYTES) {
    munmap(mapped, bytes);
    return false;
  }
  file->mapped = mapped;
  file->mapped_bytes = bytes;
  file->bytes = (const unsigned char *)mapped + HEAD_BYTES;
  file->count = bytes - HEAD_BYTES;
  return true;
}

typedef enum attempt { READY, TO_MAKE, IS_GONE, IS_BUSY } attempt;

/* Data that is ready may be used even if the file has lost its name since. */
static attempt try_lock(gab_shared_file *file)
{
  struct stat about;
  if (lock(file->descriptor, LOCK_EX | LOCK_NB)) {
    if (map_ready(file)) return lock(file->descriptor, LOCK_SH) ? READY : IS_GONE;
    const bool has_name = fstat(file->descriptor, &about) == 0 && about.st_nlink > 0;
    return has_name ? TO_MAKE : IS_GONE;
  }
  if (!lock(file->descriptor, LOCK_SH | LOCK_NB)) return IS_BUSY;
  if (map_ready(file)) return READY;
  (void)lock(file->descriptor, LOCK_UN);
  return IS_BUSY;
}

static bool open_file(gab_shared_file *file)
{
  char why[GAB_OWN_WHY];
  file->folder = open_folder(true);
  if (file->folder < 0) return false;
  file->descriptor = gab_own_file_open(file->folder, file->name, O_RDWR | O_CREAT, why);
  if (file->descriptor >= 0) return true;
  const int error = errno;
  close(file->folder);
  errno = error;
  return false;
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

gab_shared_file_state gab_shared_file_open(gab_shared_file *file, uint64_t key, double seconds)
{
  const struct timespec pause = {0, 5000000};
  const double end = seconds_now() + seconds;
  bool is_swept = false;
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    *file = (gab_shared_file){.bytes = NULL};
    snprintf(file->name, sizeof file->name, "%016" PRIx64 SUFFIX, key);
    if (!open_file(file)) {
      file->name[0] = '\0';
      if (errno == ENOENT) continue; /* another process may have removed the empty folder */
      break;
    }
    attempt found = try_lock(file);
    while (found == IS_BUSY && seconds_now() < end) {
      nanosleep(&pause, NULL);
      found = try_lock(file);
    }
    if (!is_swept && found != IS_GONE) {
      (void)sweep(file->folder); /* this file is in use */
      is_swept = true;
    }
    if (found == READY) return GAB_SHARED_FILE_READY;
    if (found == TO_MAKE) return GAB_SHARED_FILE_TO_MAKE;
    forget(file);
    if (found == IS_BUSY) break;
  }
  return GAB_SHARED_FILE_NONE;
}

/* Above the limit of files the system would end the process by SIGXFSZ. Pages that are not reserved would end it by SIGBUS. */
static bool reserve(int file, size_t bytes)
{
  struct rlimit limit;
  const bool is_allowed = getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
                          (rlim_t)bytes <= limit.rlim_cur;
  return is_allowed && bytes <= (size_t)PTRDIFF_MAX && ftruncate(file, 0) == 0 &&
         fallocate(file, 0, 0, (off_t)bytes) == 0;
}

void *gab_shared_file_reserve(gab_shared_file *file, size_t count)
{
  const size_t bytes = count + HEAD_BYTES;
  void *mapped = MAP_FAILED;
  if (count <= (size_t)PTRDIFF_MAX - HEAD_BYTES && reserve(file->descriptor, bytes))
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
  if (mapped == MAP_FAILED) {
    gab_shared_file_close(file);
    return NULL;
  }
  file->mapped = mapped;
  file->mapped_bytes = bytes;
  file->count = count;
  return (unsigned char *)mapped + HEAD_BYTES;
}

void gab_shared_file_publish(gab_shared_file *file)
{
  head *first = file->mapped;
  first->count = file->count;
  atomic_store(&first->ready, ready_magic);
  (void)mprotect(file->mapped, file->mapped_bytes, PROT_READ);
  (void)madvise(file->mapped, file->mapped_bytes, MADV_DONTNEED); /* resident is what is read from now on */
  file->bytes = (const unsigned char *)file->mapped + HEAD_BYTES;
  (void)lock(file->descriptor, LOCK_SH);
}

/* Of several processes that close a file at once, all have unlocked it before the last one tries. */
void gab_shared_file_close(gab_shared_file *file)
{
  if (!file->name[0]) return;
  (void)lock(file->descriptor, LOCK_UN);
  (void)remove_unused(file->folder, file->name, file->descriptor);
  forget(file);
  remove_folder();
}
