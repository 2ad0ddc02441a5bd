/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/run_folder/run_lock.h"

#include "blockforest/output/output.h"
#include "core/world/lease.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/base/timer.h"
#include "core/system/run_file.h"
#include "resilience/reports/completion.h"
#include "resilience/run_folder/run_lock_impl.h"
#include "resilience/recovery/fence_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAPACITY = 1400, FOLDER_CAPACITY = 1100, FILE_CAPACITY = 2048 };
#define POLL_SECONDS 0.25 /* while somebody else's signs of life are watched */

struct gab_run_lock {
  gab_world *world;
  char folder[FOLDER_CAPACITY], path[PATH_CAPACITY],
      beside[PATH_CAPACITY + 32]; /* the lock; where this process makes its own */
  size_t made;                    /* length of the outermost folder that was made for this run; 0: none */
  lock_owner owner;               /* run and start on all; the rest where this process has the lock */
  gab_buffer text;                /* that the file holds if it is this process's */
  bool beats;                     /* the thread runs */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool stop, lost;        /* under the mutex */
  const gab_fence *fence; /* under the mutex; borrowed */
};

/* ---------------------------------------------------------------- files */

/* What lies at a path. */
typedef struct found_lock {
  char text[FILE_CAPACITY];
  size_t length;
  struct timespec touched;
} found_lock;

/* @return false, with errno, if there is nothing */
static bool read_lock(const char *path, found_lock *found)
{
  struct stat about;
  *found = (found_lock){.length = 0};
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  ssize_t got = fstat(file, &about) == 0 ? read(file, found->text, sizeof found->text - 1) : -1;
  const int why = errno;
  close(file);
  errno = why;
  if (got < 0) return false;
  found->length = (size_t)got;
  found->touched = about.st_mtim;
  return true;
}

static bool is_equal(const found_lock *a, const found_lock *b)
{
  return a->length == b->length && memcmp(a->text, b->text, a->length) == 0 &&
         a->touched.tv_sec == b->touched.tv_sec && a->touched.tv_nsec == b->touched.tv_nsec;
}

static bool holds_mine(const gab_run_lock *lock, const found_lock *found)
{
  return found->length == lock->text.size && memcmp(found->text, lock->text.data, found->length) == 0;
}

/* @return 0 or errno */
static int write_file(const char *path, int flags, const gab_buffer *text)
{
  char refused[GAB_RUN_FILE_WHY];
  const int file = gab_run_file_open(path, O_WRONLY | O_CREAT | flags, refused);
  if (file < 0) return errno;
  errno = 0;
  int why = write(file, text->data, text->size) == (ssize_t)text->size ? 0 : errno ? errno : ENOSPC;
  if (close(file) != 0 && !why) why = errno;
  if (why) unlink(path);
  return why;
}

/* Gives the lock its name unless it is taken. @return 0, EEXIST or another errno */
static int link_lock(gab_run_lock *lock)
{
  struct stat about;
  int why = write_file(lock->beside, O_TRUNC, &lock->text);
  if (why) return why;
  why = link(lock->beside, lock->path) == 0 ? 0 : errno;
  if (why == 0 || why == EEXIST) {
    /* A server may have done it and its answer got lost. */
    if (why && stat(lock->beside, &about) == 0 && about.st_nlink == 2) why = 0;
    if (why == 0) unlink(lock->beside);
    return why;
  }
  return write_file(lock->path, O_EXCL, &lock->text); /* no links here */
}

/* Seconds since `then` by the clock of the file system. */
static double age_of(gab_run_lock *lock, struct timespec then)
{
  struct stat about;
  if (write_file(lock->beside, O_TRUNC, &lock->text) != 0 || stat(lock->beside, &about) != 0) return 0;
  return (double)(about.st_mtim.tv_sec - then.tv_sec) + 1e-9 * (double)(about.st_mtim.tv_nsec - then.tv_nsec);
}

/* ---------------------------------------------------------------- the folder */

static gab_status make_folder(gab_run_lock *lock, char *path, size_t length)
{
  struct stat about;
  if (mkdir(path, 0777) == 0) {
    if (lock->made == 0) lock->made = length;
    return GAB_OK;
  }
  int why = errno;
  if (why == EEXIST && stat(path, &about) == 0) {
    if (S_ISDIR(about.st_mode)) return GAB_OK;
    why = ENOTDIR;
  }
  GAB_FAIL(GAB_ERR_INPUT, "cannot make the output folder %s: %s", path, strerror(why));
}

static gab_status make_folders(gab_run_lock *lock)
{
  char part[FOLDER_CAPACITY];
  snprintf(part, sizeof part, "%s", lock->folder);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    GAB_TRY(make_folder(lock, part, strlen(part)));
    *slash = '/';
  }
  return make_folder(lock, part, strlen(part));
}

/* Folders that were made for nothing. */
static void remove_folders(const gab_run_lock *lock)
{
  char part[FOLDER_CAPACITY];
  snprintf(part, sizeof part, "%s", lock->folder);
  while (lock->made > 0 && strlen(part) >= lock->made && rmdir(part) == 0) {
    char *slash = strrchr(part, '/');
    if (!slash) return;
    *slash = '\0';
  }
}

/* On one machine, and where the file system knows such locks on folders, only one at a time looks and takes.
 */
static int enter_folder(const gab_run_lock *lock)
{
  const int folder = open(lock->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int naps = 0;
       folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && naps < 400; naps++)
    nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
  return folder;
}

static void leave_folder(int folder)
{
  if (folder >= 0) close(folder);
}

/* What those have left that were killed while they were waiting. */
static void remove_leftovers(const gab_run_lock *lock)
{
  static const char start[] = GAB_RUN_LOCK_FILE ".";
  struct stat about;
  const int folder = open(lock->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
  if (!entries) {
    if (folder >= 0) close(folder);
    return;
  }
  const double now = gab_seconds_since_1970();
  for (struct dirent *entry; (entry = readdir(entries));)
    if (strncmp(entry->d_name, start, sizeof start - 1) == 0 &&
        fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode) &&
        now - (double)about.st_mtim.tv_sec > 2 * GAB_LOCK_SILENCE)
      unlinkat(folder, entry->d_name, 0);
  closedir(entries);
}

/* ---------------------------------------------------------------- taking it */

/* How a try ended. */
typedef enum lock_try { TRY_TAKEN, TRY_AGAIN, TRY_HELD, TRY_WATCH } lock_try;

/* Moves the lock of a dead owner away and makes an own one. Somebody else may have done that since it was
 * looked at: then what was moved is not what was seen, and goes back. */
static lock_try take_over(gab_run_lock *lock, const found_lock *seen)
{
  char aside[PATH_CAPACITY + 64];
  found_lock moved;
  snprintf(aside, sizeof aside, "%s.old", lock->beside);
  if (rename(lock->path, aside) != 0) return TRY_AGAIN;
  const bool same = read_lock(aside, &moved) && is_equal(&moved, seen);
  if (!same && link(aside, lock->path) != 0 && errno != EEXIST) (void)!rename(aside, lock->path);
  unlink(aside);
  return same && link_lock(lock) == 0 ? TRY_TAKEN : TRY_AGAIN;
}

/* @param[in,out] watched  what was seen when the watch began; length 0: not begun */
static lock_try try_once(gab_run_lock *lock, found_lock *watched, lock_owner *owner, int *why)
{
  found_lock seen;
  *why = link_lock(lock);
  if (*why == 0) return TRY_TAKEN;
  if (*why == ENOENT) return TRY_AGAIN; /* the folder went, with a run that was refused */
  if (*why != EEXIST) return TRY_HELD;
  if (!read_lock(lock->path, &seen)) {
    *why = errno;
    return *why == ENOENT ? TRY_AGAIN : TRY_HELD;
  }
  const bool known = gab_lock_owner_parse(seen.text, seen.length, owner);
  const lock_verdict verdict = known ? gab_lock_owner_judge(owner, &lock->owner) : LOCK_UNSEEN;
  if (verdict == LOCK_LIVES) return TRY_HELD;
  if (verdict == LOCK_UNSEEN && age_of(lock, seen.touched) <= GAB_LOCK_SILENCE) {
    if (watched->length > 0 && !is_equal(watched, &seen)) return TRY_HELD;
    *watched = seen;
    if (watched->length == 0) watched->length = 1; /* a file without content is watched, too */
    return TRY_WATCH;
  }
  char whose[512];
  gab_lock_owner_describe(owner, whose, sizeof whose);
  const lock_try taken = take_over(lock, &seen);
  if (taken == TRY_TAKEN && verdict != LOCK_BEFORE)
    gab_log(GAB_LOG_WARNING, "%s was left by %s, which is dead", lock->folder, whose);
  return taken;
}

static gab_status refuse(const gab_run_lock *lock, const lock_owner *owner, int why)
{
  char whose[512];
  if (why != EEXIST)
    GAB_FAIL(GAB_ERR_INPUT, "cannot write into the output folder %s: %s", lock->folder, strerror(why));
  GAB_FAIL(GAB_ERR_INPUT,
           "the output folder %s is in use: %s lives and writes there, and two runs would mix their results. "
           "Wait until "
           "it ends, stop it, or choose another folder by --out (the lock is %s)",
           lock->folder, gab_lock_owner_describe(owner, whose, sizeof whose), lock->path);
}

/* The root's part. */
static gab_status claim(gab_run_lock *lock)
{
  found_lock watched = {.length = 0};
  lock_owner owner = {.attempt = 0};
  const double start = gab_seconds();
  bool told = false;
  for (;;) {
    int why;
    GAB_TRY(make_folders(lock)); /* again each time: another run that was refused may have removed it */
    const int folder = enter_folder(lock);
    const lock_try tried = try_once(lock, &watched, &owner, &why);
    leave_folder(folder);
    if (tried == TRY_TAKEN) break;
    if (tried == TRY_HELD) return refuse(lock, &owner, why);
    if (tried == TRY_AGAIN && gab_seconds() - start > 4 * GAB_LOCK_SILENCE)
      return refuse(lock, &owner, EEXIST);
    if (tried == TRY_WATCH && !told) {
      char whose[512];
      told = true;
      gab_log(GAB_LOG_INFO,
              "%s is held by %s, which cannot be checked from here: waiting for a sign of life, at "
              "most %d s",
              lock->folder, gab_lock_owner_describe(&owner, whose, sizeof whose), GAB_LOCK_SILENCE);
    }
    gab_report_progress(lock->world, -1, 0);
    const double nap = tried == TRY_WATCH ? POLL_SECONDS : 0.01;
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * nap)}, NULL);
  }
  remove_leftovers(lock);
  return GAB_OK;
}

/* ---------------------------------------------------------------- signs of life */

/* The name is free: somebody removed the file, or is about to take it over and then finds this one. Or the run has ended without this
 * process, which was cut off from the folder meanwhile. */
static bool make_again(gab_run_lock *lock)
{
  pthread_mutex_lock(&lock->mutex);
  gab_fence_check(lock->fence);
  pthread_mutex_unlock(&lock->mutex);
  return link_lock(lock) != EEXIST;
}

/* @return false if the lock belongs to somebody else */
static bool beat(gab_run_lock *lock)
{
  found_lock found;
  const int file = open(lock->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno != ENOENT || make_again(lock);
  const ssize_t got = read(file, found.text, sizeof found.text - 1);
  found.length = got > 0 ? (size_t)got : 0;
  const bool mine = got < 0 || holds_mine(lock, &found);
  if (mine) (void)!futimens(file, NULL);
  close(file);
  return mine;
}

static void *give_signs(void *user)
{
  gab_run_lock *lock = user;
  pthread_mutex_lock(&lock->mutex);
  while (!lock->stop && !lock->lost) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GAB_LOCK_BEAT;
    int ended = 0;
    while (!lock->stop && ended != ETIMEDOUT)
      ended = pthread_cond_timedwait(&lock->changed, &lock->mutex, &until);
    if (lock->stop) break;
    gab_lease_check(); /* first: it says why */
    gab_fence_check(lock->fence);
    pthread_mutex_unlock(&lock->mutex);
    const bool mine = beat(lock);
    pthread_mutex_lock(&lock->mutex);
    lock->lost = !mine;
  }
  pthread_mutex_unlock(&lock->mutex);
  return NULL;
}

static gab_status start_thread(gab_run_lock *lock)
{
  sigset_t all, before;
  sigfillset(&all); /* signals belong to the thread that computes */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int why = pthread_create(&lock->thread, NULL, give_signs, lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (why) GAB_FAIL(GAB_ERR_MEMORY, "no thread for signs of life: %s", strerror(why));
  lock->beats = true;
  return GAB_OK;
}

static gab_status make_text(gab_run_lock *lock)
{
  const lock_owner known = lock->owner;
  gab_lock_owner_self(known.run, known.processes, known.since, &lock->owner);
  gab_buffer_clear(&lock->text);
  return gab_lock_owner_format(&lock->owner, &lock->text);
}

/* ---------------------------------------------------------------- the interface */

static gab_status create(gab_world *world, const char *folder, gab_run_lock **lock)
{
  *lock = NULL;
  if (!folder || !folder[0]) GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is empty");
  if (strlen(folder) > FOLDER_CAPACITY - 100)
    GAB_FAIL(GAB_ERR_INPUT, "the name of the output folder is too long: %.60s...", folder);
  gab_run_lock *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  snprintf(made->folder, sizeof made->folder, "%s", folder);
  for (size_t length = strlen(made->folder); length > 1 && made->folder[length - 1] == '/'; length--)
    made->folder[length - 1] = '\0';
  snprintf(made->path, sizeof made->path, "%s/" GAB_RUN_LOCK_FILE, made->folder);
  char chance[GAB_LOCK_WORD];
  gab_lock_make_id(chance);
  snprintf(made->beside, sizeof made->beside, "%s.%.16s", made->path, chance);
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->changed, NULL);
  *lock = made;
  return GAB_OK;
}

static gab_status take_as_root(gab_run_lock *lock)
{
  GAB_TRY(make_text(lock));
  GAB_TRY(claim(lock));
  gab_status status = start_thread(lock);
  if (status != GAB_OK) unlink(lock->path);
  return status;
}

/* All know the run's id, so that any of them can be the next root. */
static gab_status share_id(gab_run_lock *lock)
{
  gab_buffer id = {0};
  gab_status status = GAB_OK;
  if (gab_world_is_root(lock->world)) {
    gab_lock_make_id(lock->owner.run);
    lock->owner.since = gab_seconds_since_1970();
    status = gab_put_string(&id, lock->owner.run);
    if (status == GAB_OK) status = gab_put_f64(&id, lock->owner.since);
  }
  status = gab_world_reduce_status(lock->world, status);
  if (status == GAB_OK) status = gab_world_broadcast(lock->world, gab_world_root(lock->world), &id);
  gab_reader in = gab_reader_of_buffer(&id);
  if (status == GAB_OK) status = gab_get_string(&in, lock->owner.run, sizeof lock->owner.run);
  if (status == GAB_OK) status = gab_get_f64(&in, &lock->owner.since);
  gab_buffer_release(&id);
  lock->owner.processes = (int)gab_members_count(gab_world_members(lock->world));
  return status;
}

gab_status gab_run_lock_take(gab_world *world, const char *folder, gab_run_lock **lock)
{
  gab_status status = gab_world_reduce_status(world, create(world, folder, lock));
  if (status == GAB_OK) status = share_id(*lock);
  if (status == GAB_OK) {
    status = gab_world_is_root(world) ? take_as_root(*lock) : GAB_OK;
    status = gab_world_reduce_status(world, status);
  }
  if (status != GAB_OK) gab_run_lock_release(lock, GAB_RUN_LOCK_REMOVE);
  return status;
}

bool gab_run_lock_is_held(const char *folder, char *whose, size_t capacity)
{
  char path[PATH_CAPACITY], words[512];
  found_lock found;
  lock_owner owner, self;
  snprintf(path, sizeof path, "%.1200s/" GAB_RUN_LOCK_FILE, folder);
  if (!read_lock(path, &found) || !gab_lock_owner_parse(found.text, found.length, &owner)) return false;
  gab_lock_owner_self("", 1, 0, &self);
  const lock_verdict verdict = gab_lock_owner_judge(&owner, &self);
  const double age = gab_seconds_since_1970() - (double)found.touched.tv_sec;
  if (whose) snprintf(whose, capacity, "%s", gab_lock_owner_describe(&owner, words, sizeof words));
  return verdict == LOCK_LIVES || (verdict == LOCK_UNSEEN && age <= GAB_LOCK_SILENCE);
}

gab_status gab_run_lock_check(const gab_run_lock *lock)
{
  if (!lock || !lock->beats) return GAB_OK;
  gab_run_lock *shared = (gab_run_lock *)lock;
  pthread_mutex_lock(&shared->mutex);
  const bool lost = lock->lost;
  pthread_mutex_unlock(&shared->mutex);
  if (!lost) return GAB_OK;
  GAB_FAIL(GAB_ERR_ENDED,
           "another run has taken over the output folder %s (%s): this one gave no sign of life for too "
           "long, and ends",
           lock->folder, lock->path);
}

void gab_run_lock_follow(gab_run_lock *lock)
{
  if (!lock || lock->beats || !gab_world_is_root(lock->world)) return;
  found_lock found;
  lock_owner owner;
  lock->lost = false;
  gab_status status = make_text(lock);
  if (status == GAB_OK) {
    const int folder = enter_folder(lock);
    const bool there = read_lock(lock->path, &found);
    if (there &&
        (!gab_lock_owner_parse(found.text, found.length, &owner) || strcmp(owner.run, lock->owner.run) != 0))
      lock->lost = true;
    else if (!there) lock->lost = errno == ENOENT && !make_again(lock);
    else if (write_file(lock->beside, O_TRUNC, &lock->text) == 0) (void)!rename(lock->beside, lock->path);
    leave_folder(folder);
    status = start_thread(lock);
  }
  if (status != GAB_OK) gab_log_all(GAB_LOG_WARNING, "lock of the output folder: %s", gab_error_message());
}

void gab_run_lock_set_fence(gab_run_lock *lock, const gab_fence *fence)
{
  if (!lock) return;
  pthread_mutex_lock(&lock->mutex);
  lock->fence = fence;
  pthread_mutex_unlock(&lock->mutex);
}

static void stop_thread(gab_run_lock *lock)
{
  if (!lock->beats) return;
  pthread_mutex_lock(&lock->mutex);
  lock->stop = true;
  pthread_cond_signal(&lock->changed);
  pthread_mutex_unlock(&lock->mutex);
  pthread_join(lock->thread, NULL);
}

/* A root that never got to give signs of life removes what the one before it left. */
static bool is_of_this_run(const gab_run_lock *lock)
{
  found_lock found;
  lock_owner owner;
  return lock->owner.run[0] && read_lock(lock->path, &found) &&
         gab_lock_owner_parse(found.text, found.length, &owner) && strcmp(owner.run, lock->owner.run) == 0;
}

void gab_run_lock_release(gab_run_lock **lock, gab_run_lock_end end)
{
  gab_run_lock *old = *lock;
  if (!old) return;
  stop_thread(old);
  if (gab_world_is_root(old->world)) {
    unlink(old->beside);
    const int folder = enter_folder(old);
    if (end == GAB_RUN_LOCK_REMOVE && is_of_this_run(old)) unlink(old->path);
    leave_folder(folder);
    if (end == GAB_RUN_LOCK_REMOVE) remove_folders(old);
  }
  pthread_cond_destroy(&old->changed);
  pthread_mutex_destroy(&old->mutex);
  gab_buffer_release(&old->text);
  gab_free(lock);
}

const char *gab_run_lock_id(const gab_run_lock *lock) { return lock ? lock->owner.run : ""; }
