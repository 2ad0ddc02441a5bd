/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory/shared_memory.h"

#include "core/memory/shared_memory_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(gab_shared_key) == GAB_PROCESS_WORD + 4 * sizeof(uint64_t), "a key has no holes");

/* ---------------------------------------------------------------- for memory.c */

/* Above the limit of files (RLIMIT_FSIZE) the system would not return an error but end the process by SIGXFSZ. */
static bool may_be_as_long(size_t bytes)
{
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         (rlim_t)bytes <= limit.rlim_cur;
}

/* Never shorter: see gab_shared_memory_resize(). */
static bool lengthen(int file, size_t bytes)
{
  struct stat status;
  if (bytes > (size_t)PTRDIFF_MAX || fstat(file, &status) != 0) return false;
  if (status.st_size >= 0 && (uint64_t)status.st_size >= (uint64_t)bytes) return true;
  return may_be_as_long(bytes) && ftruncate(file, (off_t)bytes) == 0;
}

/* As for all memory, the system allocates pages when they are touched. */
void *gab_shared_memory_take(size_t bytes, uint64_t *file)
{
  const int opened = memfd_create("gabion", MFD_CLOEXEC);
  if (opened < 0) return NULL;
  void *mapped = MAP_FAILED;
  if (lengthen(opened, bytes)) mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (mapped == MAP_FAILED) {
    close(opened);
    return NULL;
  }
#ifdef MADV_HUGEPAGE
  (void)madvise(mapped, bytes, MADV_HUGEPAGE); /* if the system supports huge pages for such files */
#endif
  *file = (uint64_t)opened;
  return mapped;
}

/* A view may extend over the largest size that the block ever had, and its reader must not be killed by SIGBUS: the file
 * keeps its length, and the truncated part becomes a hole, which takes no memory and reads as zeros. */
void *gab_shared_memory_resize(void *memory, size_t bytes, size_t wanted, uint64_t file)
{
  if (wanted > bytes && !lengthen((int)file, wanted)) return NULL;
  void *moved = mremap(memory, bytes, wanted, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return NULL;
  if (wanted < bytes)
    (void)fallocate((int)file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)wanted,
                    (off_t)(bytes - wanted));
#ifdef MADV_HUGEPAGE
  if (wanted > bytes) (void)madvise(moved, wanted, MADV_HUGEPAGE);
#endif
  return moved;
}

void gab_shared_memory_give(void *memory, size_t bytes, uint64_t file)
{
  munmap(memory, bytes);
  close((int)file);
}

/* ---------------------------------------------------------------- keys and views */

bool gab_shared_memory_key(uint64_t file, gab_shared_key *key)
{
  const gab_process_space here = gab_process_space_here();
  struct stat status;
  memset(key, 0, sizeof *key);
  if (!gab_process_space_is_known(&here) || fstat((int)file, &status) != 0) return false;
  snprintf(key->boot, sizeof key->boot, "%s", here.boot);
  key->process = (int64_t)getpid();
  key->file = (int64_t)file;
  key->device = (uint64_t)status.st_dev;
  key->number = (uint64_t)status.st_ino;
  return true;
}

static bool is_same_block(const gab_shared_key *one, const gab_shared_key *other)
{
  return one->device == other->device && one->number == other->number &&
         strncmp(one->boot, other->boot, sizeof one->boot) == 0;
}

/* @return -1 if it cannot be opened, or is another file */
static int open_file(const gab_shared_key *key, size_t bytes)
{
  const gab_process_space here = gab_process_space_here();
  char path[64];
  struct stat status;
  if (!gab_process_space_is_known(&here) || strncmp(key->boot, here.boot, sizeof key->boot) != 0) return -1;
  snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)key->process, (long long)key->file);
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* other kinds of files must not block */
  if (file < 0) return -1;
  if (fstat(file, &status) == 0 && (uint64_t)status.st_dev == key->device &&
      (uint64_t)status.st_ino == key->number && status.st_size >= 0 &&
      (uint64_t)status.st_size >= (uint64_t)bytes)
    return file;
  close(file);
  return -1;
}

bool gab_shared_view_open(gab_shared_view *view, const gab_shared_key *key, size_t bytes)
{
  if (bytes > (size_t)PTRDIFF_MAX - GAB_SHARED_MEMORY_OFFSET) {
    gab_shared_view_close(view);
    return false;
  }
  if (view->bytes && is_same_block(&view->key, key) && view->count >= bytes) return true;
  gab_shared_view_close(view);
  const size_t mapped_bytes = GAB_SHARED_MEMORY_OFFSET + bytes;
  const int file = open_file(key, mapped_bytes);
  if (file < 0) return false;
  void *mapped = mmap(NULL, mapped_bytes, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return false;
  *view = (gab_shared_view){.bytes = (const unsigned char *)mapped + GAB_SHARED_MEMORY_OFFSET,
                            .count = bytes,
                            .key = *key,
                            .mapped = mapped,
                            .mapped_bytes = mapped_bytes};
  return true;
}

void gab_shared_view_prepare(const gab_shared_view *view)
{
  if (!view->mapped) return;
#ifdef MADV_POPULATE_READ
  (void)madvise(view->mapped, view->mapped_bytes, MADV_POPULATE_READ);
#else
  (void)madvise(view->mapped, view->mapped_bytes, MADV_WILLNEED);
#endif
}

void gab_shared_view_close(gab_shared_view *view)
{
  if (view->mapped) munmap(view->mapped, view->mapped_bytes);
  *view = (gab_shared_view){.bytes = NULL};
}
