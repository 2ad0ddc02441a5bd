/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 6 }; /* of a session folder */

/* A read lease is granted where nobody has the file open for writing. A process that maps it does, also after it has closed
 * its descriptor. */
static bool is_unused(int folder, const char *name)
{
  struct stat about;
  const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_own = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
  const bool is_granted = is_own && fcntl(file, F_SETLEASE, F_RDLCK) == 0;
  if (is_granted) (void)fcntl(file, F_SETLEASE, F_UNLCK);
  close(file);
  return is_granted;
}

static bool begins_with(const char *name, const char *start) { return !strncmp(name, start, strlen(start)); }

static bool remove_segment(int folder, const char *name)
{
  return begins_with(name, "sm_segment.") && is_unused(folder, name) && unlinkat(folder, name, 0) == 0;
}

/* ---------------------------------------------------------------- session folders */

/* The number behind the last dot of the first `length` characters. @return -1 if there is none */
static long last_number(const char *name, size_t *length)
{
  size_t start = *length;
  while (start > 0 && isdigit((unsigned char)name[start - 1])) start--;
  if (start == *length || start == 0 || name[start - 1] != '.') return -1;
  *length = start - 1;
  return strtol(name + start, NULL, 10);
}

/* prterun.HOST.PID.USER, of a process that has ended as seen from here. */
static bool is_of_dead_daemon(const char *name)
{
  size_t length = strlen(name);
  if (!begins_with(name, "prterun.") && !begins_with(name, "prted.")) return false;
  const long user = last_number(name, &length), process = last_number(name, &length);
  return user == (long)geteuid() && process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Visits all below a folder, or removes it with them. Nothing is followed. @return false where something is in use, belongs to
 * another user or does not go */
static bool walk(int at, const char *name, int depth, bool removes)
{
  struct stat about;
  const int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  DIR *entries = fstat(folder, &about) == 0 && about.st_uid == geteuid() ? fdopendir(folder) : NULL;
  if (!entries) {
    close(folder);
    return false;
  }
  bool fine = true;
  for (struct dirent *entry; fine && (entry = readdir(entries));) {
    const char *inner = entry->d_name;
    if (!strcmp(inner, ".") || !strcmp(inner, "..")) continue;
    fine = fstatat(folder, inner, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (fine && S_ISDIR(about.st_mode)) fine = depth > 1 && walk(folder, inner, depth - 1, removes);
    else if (fine && removes) fine = unlinkat(folder, inner, 0) == 0;
    else if (fine && S_ISREG(about.st_mode)) fine = is_unused(folder, inner);
  }
  closedir(entries);
  return fine && (!removes || unlinkat(at, name, AT_REMOVEDIR) == 0);
}

/* A daemon has the topology of the machine in such a file, mapped as long as it lives. */
static bool remove_session(int folder, const char *name)
{
  char topology[300];
  if (!is_of_dead_daemon(name)) return false;
  if (snprintf(topology, sizeof topology, "%s/hwloc.sm", name) >= (int)sizeof topology) return false;
  return faccessat(folder, topology, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && walk(folder, name, DEPTH, false) &&
         walk(folder, name, DEPTH, true);
}

/* ---------------------------------------------------------------- both */

static int sweep(const char *path, bool (*remove_one)(int folder, const char *name))
{
  int removed = 0;
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
  if (!entries && folder >= 0) close(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    removed += remove_one(folder, entry->d_name);
  if (entries) closedir(entries);
  return removed;
}

int gab_leftovers_sweep(const char *memory, const char *temporary)
{
  sigset_t lease, before;
  const char *told = getenv("TMPDIR");
  if (!temporary) temporary = told && *told ? told : "/tmp";
  /* When another process opens the file during a lease, the kernel sends SIGIO, which would end this process. */
  sigemptyset(&lease);
  sigaddset(&lease, SIGIO);
  sigprocmask(SIG_BLOCK, &lease, &before);
  const int removed = sweep(memory ? memory : "/dev/shm", remove_segment) + sweep(temporary, remove_session);
  if (!sigismember(&before, SIGIO)) (void)sigtimedwait(&lease, NULL, &(struct timespec){0, 0});
  sigprocmask(SIG_SETMASK, &before, NULL);
  return removed;
}
