/* SPDX-License-Identifier: Apache-2.0 */
/* Private folders of an attempt; whether a job stays on one machine. */
#include "apps/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK "lock" /* held during the life of the launcher, so that the next one can detect stale folders */

/* Creates the lock file in locked state: first under another name, so that it never appears unlocked. */
static void lock_folder(const char *path)
{
  char first[LAUNCH_PATH + 16], final[LAUNCH_PATH + 16];
  snprintf(first, sizeof first, "%s/.%s", path, LOCK);
  snprintf(final, sizeof final, "%s/%s", path, LOCK);
  int fd = open(first, O_CREAT | O_RDWR | O_CLOEXEC, 0600); /* stays open until the launcher ends */
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) rename(first, final);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
  (void)status, (void)type, (void)walk;
  remove(path);
  return 0; /* continue with the rest after an error */
}

static void remove_folder(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* Removes the folders of killed launchers: those of this user with a free lock. */
static void remove_stale(const char *parent)
{
  DIR *folder = opendir(parent);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[LAUNCH_PATH + 300], lock[LAUNCH_PATH + 320];
    struct stat status;
    if (strncmp(entry->d_name, "gabion.", 7)) continue;
    snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
    snprintf(lock, sizeof lock, "%s/%s", path, LOCK);
    if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) continue;
    int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) remove_folder(path);
    close(fd);
  }
  closedir(folder);
}

static bool make_folder(const char *parent, char *path)
{
  remove_stale(parent);
  int length = snprintf(path, LAUNCH_PATH, "%s/gabion.%ld.XXXXXX", parent, (long)getpid());
  if (length >= LAUNCH_PATH) {
    launch_say("the path %s is too long for temporary files", parent);
    return false;
  }
  if (!mkdtemp(path)) {
    launch_say("cannot make a folder in %s: %s (TMPDIR chooses another place)", parent, strerror(errno));
    return false;
  }
  lock_folder(path);
  return true;
}

bool launch_places_create(bool several_nodes, launch_places *places)
{
  *places = (launch_places){0};
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  char here[LAUNCH_PATH - 32];
  /* The root may move to another node, so only a shared folder can transport its messages. */
  if (several_nodes && getcwd(here, sizeof here)) parent = here;
  if (!make_folder(parent, places->dir)) return false;
  if (!several_nodes && access("/dev/shm", W_OK) == 0 && !make_folder("/dev/shm", places->shm))
    places->shm[0] = '\0';
  snprintf(places->completion, sizeof places->completion, "%s/completion", places->dir);
  snprintf(places->begun, sizeof places->begun, "%s/begun", places->dir);
  snprintf(places->progress, sizeof places->progress, "%s/progress", places->dir);
  snprintf(places->stop, sizeof places->stop, "%s/stop", places->dir);
  return true;
}

/* An own change refreshes the cached state of the folder. */
void launch_places_refresh(const launch_places *places)
{
  char path[LAUNCH_PATH + 16];
  snprintf(path, sizeof path, "%s/.look", places->dir);
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  unlink(path);
}

void launch_places_remove(launch_places *places)
{
  if (places->dir[0]) remove_folder(places->dir);
  if (places->shm[0]) remove_folder(places->shm);
  *places = (launch_places){0};
}

bool launch_read_line(const char *path, char *line, size_t capacity)
{
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool found = fgets(line, (int)capacity, file) != NULL;
  fclose(file);
  if (found) line[strcspn(line, "\n")] = '\0';
  return found;
}

/* Whether the lines of a host file name more than one host. */
static bool file_names_several(const char *path)
{
  char first[256] = "", line[256];
  FILE *file = path ? fopen(path, "r") : NULL;
  bool several = false;
  while (file && !several && fgets(line, sizeof line, file)) {
    line[strcspn(line, " \t\n")] = '\0';
    if (!first[0]) snprintf(first, sizeof first, "%s", line);
    several = line[0] && strcmp(first, line) != 0;
  }
  if (file) fclose(file);
  return several;
}

bool launch_spans_nodes(const char *mpi_args)
{
  static const char *const counts[] = {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
  static const char *const files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    const char *value = getenv(counts[i]);
    if (value && atoi(value) > 1) return true;
  }
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (file_names_several(getenv(files[i]))) return true;
  return mpi_args && strstr(mpi_args, "host") != NULL;
}
