/* Files PID-NUMBER-STARTTIME in the folder. A file whose process is gone (no such pid, or one that was started at
 * another time) is free; it is claimed by renaming it to the claimer's own name, which one process can do only. */
#include "core/node_memory.h"

#include "core/memory.h"
#include "core/node_memory_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FOLDER_ROOM = 1000 };
static char folder_now[FOLDER_ROOM]; /* "": none */
static _Atomic bool open_now;
static _Atomic uint64_t next_file, mapped_now;

/* When a process was started, in ticks since the machine was: a pid may be used again. 0: no such process. */
static uint64_t start_of(long pid)
{
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  const char *at = strrchr(text, ')'); /* the name before it may hold anything */
  if (at && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X')) return 0; /* ended, only not waited for yet */
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, NULL, 10) : 0;
}

static void name_of(const char *folder, uint64_t file, char path[1100])
{
  snprintf(path, 1100, "%s/%ld-%llu-%llu.mem", folder, (long)getpid(), (unsigned long long)file,
           (unsigned long long)start_of((long)getpid()));
}

gab_status gab_node_memory_open(const char *folder)
{
  if (folder_now[0]) GAB_FAIL(GAB_ERR_STATE, "snapshots lie in %s already", folder_now);
  if (strlen(folder) >= FOLDER_ROOM) GAB_FAIL(GAB_ERR_IO, "the name of folder %.40s... is too long", folder);
  if (mkdir(folder, 0700) != 0 && errno != EEXIST)
    GAB_FAIL(GAB_ERR_IO, "cannot make folder %s for snapshots: %s", folder, strerror(errno));
  if (access(folder, R_OK | W_OK | X_OK) != 0)
    GAB_FAIL(GAB_ERR_IO, "cannot make files in %s for snapshots: %s", folder, strerror(errno));
  strcpy(folder_now, folder);
  open_now = true;
  return GAB_OK;
}

const char *gab_node_memory_folder(void) { return folder_now; }

void gab_node_memory_close(void)
{
  open_now = false;
  if (mapped_now > 0) return;
  if (folder_now[0]) rmdir(folder_now); /* fails while somebody else has files there */
  folder_now[0] = '\0';
}

/* ---------------------------------------------------------------- for memory.c */

bool gab_node_memory_serves(size_t bytes) { return open_now && bytes > 0; }

/* Without its space reserved, a full /dev/shm would show as a deadly signal when a page is touched. (Where the file
 * system cannot reserve, posix_fallocate() would write all of it.) */
static bool reserve(int file, size_t bytes)
{
  if (bytes > (size_t)PTRDIFF_MAX) return false;
  if (fallocate(file, 0, 0, (off_t)bytes) == 0) return true;
  struct statvfs room;
  return (errno == EOPNOTSUPP || errno == ENOSYS) && fstatvfs(file, &room) == 0 &&
         (uint64_t)room.f_bavail * room.f_frsize > bytes && ftruncate(file, (off_t)bytes) == 0;
}

void *gab_node_memory_take(size_t bytes, uint64_t *file)
{
  char path[1100];
  *file = next_file++;
  name_of(folder_now, *file, path);
  int opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (opened < 0) return NULL;
  void *mapped = MAP_FAILED;
  if (reserve(opened, bytes))
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED) {
    unlink(path);
    return NULL;
  }
  mapped_now++;
  return mapped;
}

void gab_node_memory_give(void *memory, size_t bytes, uint64_t file)
{
  char path[1100];
  name_of(folder_now, file, path);
  unlink(path);
  munmap(memory, bytes);
  mapped_now--;
}

/* ---------------------------------------------------------------- what others have left */

static bool is_left(const char *name)
{
  long pid;
  unsigned long long file, start;
  char end;
  if (sscanf(name, "%ld-%llu-%llu.me%c", &pid, &file, &start, &end) != 4 || end != 'm') return false;
  return start_of(pid) != start;
}

static gab_status map_file(gab_left_memory *left)
{
  struct stat status;
  int opened = open(left->path, O_RDWR | O_CLOEXEC);
  if (opened < 0) GAB_FAIL(GAB_ERR_IO, "cannot open %s: %s", left->path, strerror(errno));
  void *mapped = MAP_FAILED;
  if (fstat(opened, &status) == 0 && status.st_size > GAB_NODE_MEMORY_OFFSET)
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, opened, 0);
  const int why = errno;
  close(opened);
  if (mapped == MAP_FAILED) GAB_FAIL(GAB_ERR_IO, "cannot map %s: %s", left->path, strerror(why));
  left->mapped = mapped;
  left->mapped_bytes = (size_t)status.st_size;
  left->content = gab_reader_of((const unsigned char *)mapped + GAB_NODE_MEMORY_OFFSET,
                                left->mapped_bytes - GAB_NODE_MEMORY_OFFSET);
  return GAB_OK;
}

gab_status gab_node_memory_claim(const char *folder, gab_left_memory *left)
{
  *left = (gab_left_memory){.mapped = NULL};
  DIR *entries = opendir(folder);
  if (!entries && errno == ENOENT) return GAB_OK;
  if (!entries) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", folder, strerror(errno));
  for (struct dirent *entry; !left->mapped && (entry = readdir(entries));) {
    char theirs[1400];
    if (!is_left(entry->d_name)) continue;
    snprintf(theirs, sizeof theirs, "%s/%s", folder, entry->d_name);
    name_of(folder, next_file++, left->path);
    if (rename(theirs, left->path) != 0) continue; /* somebody else was faster */
    /* Its process may have ended before the file had its size: nothing is in it, and others wait behind it. */
    if (map_file(left) != GAB_OK) unlink(left->path);
  }
  closedir(entries);
  return GAB_OK;
}

void gab_left_memory_release(gab_left_memory *left, bool remove)
{
  if (left->mapped) munmap(left->mapped, left->mapped_bytes);
  if (left->mapped && remove) unlink(left->path);
  *left = (gab_left_memory){.mapped = NULL};
}
