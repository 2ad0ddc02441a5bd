/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 3 };

static int refuse(int opened, const char *name, char why[GAB_OWN_WHY], const char *what)
{
  snprintf(why, GAB_OWN_WHY, "%.150s %s", name, what);
  if (opened >= 0) close(opened);
  errno = EPERM;
  return -1;
}

static int fail(int opened, const char *name, char why[GAB_OWN_WHY])
{
  const int error = errno;
  snprintf(why, GAB_OWN_WHY, "%.150s: %s", name, strerror(error));
  if (opened >= 0) close(opened);
  errno = error;
  return -1;
}

/* Checks the open file or folder, independent of later changes of its name. */
static int check(int opened, const char *name, bool folder, char why[GAB_OWN_WHY])
{
  struct stat status;
  char text[96];
  if (fstat(opened, &status) != 0) return fail(opened, name, why);
  if (folder ? !S_ISDIR(status.st_mode) : !S_ISREG(status.st_mode))
    return refuse(opened, name, why, folder ? "is not a folder" : "is not a regular file");
  if (status.st_uid != geteuid()) {
    snprintf(text, sizeof text, "belongs to user %ld, not to user %ld, who runs this", (long)status.st_uid,
             (long)geteuid());
    return refuse(opened, name, why, text);
  }
  if (status.st_mode & (S_IRWXG | S_IRWXO)) {
    snprintf(text, sizeof text, "is open to others (mode %03o)", (unsigned)status.st_mode & 0777u);
    return refuse(opened, name, why, text);
  }
  if (!folder && status.st_nlink > 1) return refuse(opened, name, why, "has another name elsewhere");
  return opened;
}

int gab_own_folder_open(int at, const char *name, bool make, char why[GAB_OWN_WHY])
{
  if (make && mkdirat(at, name, S_IRWXU) != 0 && errno != EEXIST) return fail(-1, name, why);
  const int opened = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0 && (errno == ELOOP || errno == ENOTDIR))
    return refuse(-1, name, why, "is a link or no folder");
  if (opened < 0) return fail(-1, name, why);
  return check(opened, name, true, why);
}

/* Does not block on a pipe in place of the file. */
int gab_own_file_open(int at, const char *name, int flags, char why[GAB_OWN_WHY])
{
  const int opened = openat(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (opened < 0 && errno == ELOOP) return refuse(-1, name, why, "is a link");
  if (opened < 0) return fail(-1, name, why);
  return check(opened, name, false, why);
}

static bool remove_tree(int at, const char *name, int depth)
{
  char why[GAB_OWN_WHY];
  const int folder = gab_own_folder_open(at, name, false, why);
  if (folder < 0) return errno == ENOENT;
  const int read = dup(folder);
  DIR *entries = read >= 0 ? fdopendir(read) : NULL;
  bool fine = entries != NULL;
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (unlinkat(folder, entry->d_name, 0) == 0 || errno == ENOENT) continue;
    fine = depth > 1 && remove_tree(folder, entry->d_name, depth - 1) && fine;
  }
  if (entries) closedir(entries);
  else if (read >= 0) close(read);
  close(folder);
  return (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT) && fine;
}

bool gab_own_folder_remove(int at, const char *name) { return remove_tree(at, name, DEPTH); }
