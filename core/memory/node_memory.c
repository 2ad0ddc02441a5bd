/* SPDX-License-Identifier: Apache-2.0 */
/* Files PID-NUMBER-STARTTIME in the folder. A file whose process is gone (no such pid, or one with another start time) is
 * free. It is claimed by renaming it to the claimer's own name, which only one process can do. */
#include "core/memory/node_memory.h"

#include "core/memory/node_memory_impl.h"
#include "core/system/own_folder.h"
#include "core/system/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FOLDER_CAPACITY = 1000 };
static char run_now[FOLDER_CAPACITY],
    folder_now[FOLDER_CAPACITY]; /* of the run, and of this node in it; "": none */
static int run_file, node_file;  /* both, opened */
static gab_memory_key key_now;
static _Atomic bool open_now, leaves;
static _Atomic uint64_t next_file, mapped_now;

static void name_of(uint64_t file, char name[100])
{
  snprintf(name, 100, "%ld-%llu-%llu.mem", (long)getpid(), (unsigned long long)file,
           (unsigned long long)gab_process_start((long)getpid()));
}

static bool is_plain(const char *node) { return node[0] && node[0] != '.' && !strchr(node, '/'); }

gab_status gab_node_memory_open(const char *folder, const char *node, gab_memory_key key)
{
  char why[GAB_OWN_WHY];
  if (folder_now[0]) GAB_FAIL(GAB_ERR_STATE, "snapshots lie in %s already", folder_now);
  if (!is_plain(node))
    GAB_FAIL(GAB_ERR_INPUT, "'%s' is not a valid node name for a folder of snapshots", node);
  if (strlen(folder) + strlen(node) + 2 > FOLDER_CAPACITY)
    GAB_FAIL(GAB_ERR_IO, "the name of folder %.40s... is too long", folder);
  const int whole = gab_own_folder_open(AT_FDCWD, folder, true, why);
  if (whole < 0) GAB_FAIL(GAB_ERR_IO, "no folder for snapshots: %s", why);
  while (flock(whole, LOCK_SH) != 0 && errno == EINTR) {
  } /* a process that checks for use holds the lock for a moment */
  const int own = gab_own_folder_open(whole, node, true, why);
  if (own < 0) {
    close(whole);
    GAB_FAIL(GAB_ERR_IO, "no folder for snapshots in %s: %s", folder, why);
  }
  snprintf(run_now, sizeof run_now, "%s", folder);
  snprintf(folder_now, sizeof folder_now, "%s/%s", folder, node);
  run_file = whole;
  node_file = own;
  key_now = key;
  open_now = true;
  return GAB_OK;
}

void gab_node_memory_close(bool spent)
{
  open_now = false;
  if (!folder_now[0] || mapped_now > 0) return;
  rmdir(folder_now); /* fails if others have files there */
  if (spent && flock(run_file, LOCK_EX | LOCK_NB) == 0) gab_own_folder_remove(AT_FDCWD, run_now);
  close(node_file);
  close(run_file);
  folder_now[0] = run_now[0] = '\0';
}

/* ---------------------------------------------------------------- for memory.c */

bool gab_node_memory_serves(size_t bytes) { return open_now && bytes > 0; }

/* Without reserved space, a full /dev/shm would end the process by a signal when a page is touched. (Where the file system
 * cannot reserve, posix_fallocate() would write all of it.) */
static bool reserve(int file, size_t bytes)
{
  if (bytes > (size_t)PTRDIFF_MAX) return false;
  if (fallocate(file, 0, 0, (off_t)bytes) == 0) return true;
  struct statvfs space;
  return (errno == EOPNOTSUPP || errno == ENOSYS) && fstatvfs(file, &space) == 0 &&
         (uint64_t)space.f_bavail * space.f_frsize > bytes && ftruncate(file, (off_t)bytes) == 0;
}

/* At the beginning of a file. */
typedef struct stamp {
  uint64_t magic;
  gab_memory_key key;
  uint64_t reserved[5];
} stamp;

_Static_assert(sizeof(stamp) == GAB_NODE_MEMORY_STAMP, "the stamp fills its space");
static const uint64_t stamp_magic = UINT64_C(0x314d454d42414721); /* "!GABMEM1" */

void *gab_node_memory_take(size_t bytes, uint64_t *file)
{
  char name[100], why[GAB_OWN_WHY];
  *file = next_file++;
  name_of(*file, name);
  if (bytes > (size_t)PTRDIFF_MAX - GAB_NODE_MEMORY_STAMP) return NULL;
  bytes += GAB_NODE_MEMORY_STAMP;
  const int opened = gab_own_file_open(node_file, name, O_RDWR | O_CREAT | O_EXCL, why);
  if (opened < 0) return NULL;
  void *mapped = MAP_FAILED;
  if (reserve(opened, bytes)) mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED) {
    unlinkat(node_file, name, 0);
    return NULL;
  }
  *(stamp *)mapped = (stamp){.magic = stamp_magic, .key = key_now};
  mapped_now++;
  return (unsigned char *)mapped + GAB_NODE_MEMORY_STAMP;
}

void gab_node_memory_leave(void) { leaves = true; }

void gab_node_memory_give(void *memory, size_t bytes, uint64_t file)
{
  char name[100];
  name_of(file, name);
  if (!leaves) unlinkat(node_file, name, 0);
  munmap((unsigned char *)memory - GAB_NODE_MEMORY_STAMP, bytes + GAB_NODE_MEMORY_STAMP);
  mapped_now--;
}

/* ---------------------------------------------------------------- what others have left */

static bool is_left(const char *name)
{
  long pid;
  unsigned long long file, start;
  char end;
  if (sscanf(name, "%ld-%llu-%llu.me%c", &pid, &file, &start, &end) != 4 || end != 'm') return false;
  return gab_process_start(pid) != start;
}

/* @return false if it is empty, or has another stamp */
static bool map_file(int opened, gab_memory_key key, gab_left_memory *left)
{
  struct stat status;
  if (fstat(opened, &status) != 0 || status.st_size <= GAB_NODE_MEMORY_OFFSET) return false;
  const size_t bytes = (size_t)status.st_size;
  const stamp *mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, opened, 0);
  if (mapped == MAP_FAILED) return false;
  if (mapped->magic != stamp_magic || memcmp(&mapped->key, &key, sizeof key) != 0) {
    munmap((void *)(uintptr_t)mapped, bytes);
    left->refused++;
    return false;
  }
  left->mapped = (void *)(uintptr_t)mapped;
  left->mapped_bytes = bytes;
  left->content = (const unsigned char *)mapped + GAB_NODE_MEMORY_OFFSET;
  left->content_bytes = bytes - GAB_NODE_MEMORY_OFFSET;
  return true;
}

/* Opened before it is claimed: a file that is accessible to others keeps its name. */
static void claim_file(int folder, const char *theirs, gab_memory_key key, gab_left_memory *left)
{
  char mine[100], why[GAB_OWN_WHY];
  const int opened = gab_own_file_open(folder, theirs, O_RDWR, why);
  if (opened < 0) {
    left->refused += errno != ENOENT;
    return;
  }
  name_of(next_file++, mine);
  if (renameat(folder, theirs, folder, mine) == 0) { /* else another process was faster */
    snprintf(left->name, sizeof left->name, "%s", mine);
    /* Its process may have ended before the file had its size: it is empty, and would block the search for others. */
    if (!map_file(opened, key, left)) unlinkat(folder, mine, 0);
  }
  close(opened);
}

gab_status gab_node_memory_claim(const char *folder, gab_memory_key key, gab_left_memory *left)
{
  char why[GAB_OWN_WHY];
  *left = (gab_left_memory){.mapped = NULL};
  const int opened = gab_own_folder_open(AT_FDCWD, folder, false, why);
  if (opened < 0 && errno == ENOENT) return GAB_OK;
  if (opened < 0) GAB_FAIL(GAB_ERR_IO, "cannot look for what was left: %s", why);
  snprintf(left->path, sizeof left->path, "%s", folder);
  const int read = dup(opened);
  DIR *entries = read >= 0 ? fdopendir(read) : NULL;
  for (struct dirent *entry; entries && !left->mapped && (entry = readdir(entries));)
    if (is_left(entry->d_name)) claim_file(opened, entry->d_name, key, left);
  if (entries) closedir(entries);
  else if (read >= 0) close(read);
  close(opened);
  if (!entries) GAB_FAIL(GAB_ERR_IO, "cannot look into %s", folder);
  return GAB_OK;
}

void gab_left_memory_release(gab_left_memory *left, bool remove)
{
  char why[GAB_OWN_WHY];
  if (left->mapped) munmap(left->mapped, left->mapped_bytes);
  const int folder = left->mapped && remove ? gab_own_folder_open(AT_FDCWD, left->path, false, why) : -1;
  if (folder >= 0) {
    unlinkat(folder, left->name, 0);
    close(folder);
  }
  *left = (gab_left_memory){.mapped = NULL};
}
