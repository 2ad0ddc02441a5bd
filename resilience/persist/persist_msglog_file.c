/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/persist/persist_msglog_file_impl.h"

#include "core/system/file.h"
#include "core/base/hash.h"
#include "core/system/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAGIC UINT64_C(0x314c494650424147) /* GABPFIL1 */
#define MARK_MAGIC UINT64_C(0x314b524d50424147) /* GABPMRK1 */
enum { MARK_BYTES = 32, KEY_CAPACITY = 256 };

/* ------------------------------------------------------------------------------------ opening, the lock */

static gab_status write_head(persist_file *file, const persist_file_id *id)
{
  gab_buffer *head = &file->head;
  gab_buffer_clear(head);
  GAB_TRY(gab_put_u64(head, FILE_MAGIC));
  GAB_TRY(gab_put_i32(head, id->rank));
  GAB_TRY(gab_put_i32(head, id->size));
  GAB_TRY(gab_put_u64(head, id->settings));
  return gab_put_string(head, id->key);
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* rank-N.lock, .done, .new. */
static void name_beside(const persist_file *file, const char *ending, char name[48])
{
  snprintf(name, 48, "%s.%s", file->name, ending);
}

/* Locks a file that still has its name: a process that discards a message log also removes its lock file. */
static gab_status take_lock(persist_file *file, double wait)
{
  char name[48], why[GAB_OWN_WHY];
  name_beside(file, "lock", name);
  const double begin = seconds();
  while (true) {
    file->lock = gab_own_file_open(file->folder, name, O_RDWR | O_CREAT, why);
    if (file->lock < 0) GAB_FAIL(GAB_ERR_IO, "%s: %s", file->path, why);
    struct stat open_one, named;
    if (flock(file->lock, LOCK_EX | LOCK_NB) == 0) {
      if (fstat(file->lock, &open_one) == 0 &&
          fstatat(file->folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && open_one.st_ino == named.st_ino)
        return GAB_OK;
    } else if (errno != EWOULDBLOCK && errno != EINTR) {
      GAB_FAIL(GAB_ERR_IO, "%s/%s cannot be locked: %s", file->path, name, strerror(errno));
    } else if (seconds() - begin > wait) {
      GAB_FAIL(GAB_ERR_STATE, "the key is in use: another process holds %s/%s", file->path, name);
    }
    close(file->lock);
    file->lock = -1;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}

gab_status gab_persist_file_open(persist_file *file, const char *parent, const char *name,
                                 const persist_file_id *id, bool sync, double wait)
{
  char why[GAB_OWN_WHY];
  *file = (persist_file){.folder = -1, .file = -1, .lock = -1, .sync = sync};
  snprintf(file->path, sizeof file->path, "%.900s/%.200s", parent, name);
  snprintf(file->name, sizeof file->name, "rank-%d", id->rank);
  if (mkdir(parent, 0777) != 0 && errno != EEXIST)
    GAB_FAIL(GAB_ERR_IO, "the folder %s cannot be made: %s", parent, strerror(errno));
  const int above = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) GAB_FAIL(GAB_ERR_IO, "the folder %s cannot be opened: %s", parent, strerror(errno));
  file->folder = gab_own_folder_open(above, name, true, why);
  close(above);
  if (file->folder < 0) GAB_FAIL(GAB_ERR_IO, "%s: %s", parent, why);
  gab_status status = take_lock(file, wait);
  if (status == GAB_OK) status = write_head(file, id);
  if (status != GAB_OK) gab_persist_file_close(file);
  return status;
}

void gab_persist_file_close(persist_file *file)
{
  if (file->file >= 0) close(file->file);
  if (file->lock >= 0) close(file->lock);
  if (file->folder >= 0) close(file->folder);
  file->file = file->lock = file->folder = -1;
  gab_buffer_release(&file->head);
}

gab_status gab_persist_file_mark_done(persist_file *file)
{
  char name[48], why[GAB_OWN_WHY];
  name_beside(file, "done", name);
  const int mark = gab_own_file_open(file->folder, name, O_RDWR | O_CREAT, why);
  if (mark < 0) GAB_FAIL(GAB_ERR_IO, "%s: %s", file->path, why);
  close(mark);
  return file->sync ? gab_folder_sync(file->path) : GAB_OK;
}

gab_status gab_persist_file_clear(persist_file *file)
{
  if (unlinkat(file->folder, file->name, 0) != 0 && errno != ENOENT)
    GAB_FAIL(GAB_ERR_IO, "%s/%s cannot be removed: %s", file->path, file->name, strerror(errno));
  if (file->file >= 0) close(file->file);
  file->file = -1;
  return file->sync ? gab_folder_sync(file->path) : GAB_OK;
}

gab_status gab_persist_file_remove(persist_file *file)
{
  char name[48];
  const gab_status status = gab_persist_file_clear(file);
  if (status == GAB_OK) {
    name_beside(file, "done", name);
    unlinkat(file->folder, name, 0);
    name_beside(file, "lock", name);
    unlinkat(file->folder, name, 0);
    rmdir(file->path); /* succeeds for the last process */
  }
  gab_persist_file_close(file);
  return status;
}

/* ------------------------------------------------------------------------------------ reading */

static gab_status read_all(int file, gab_buffer *bytes)
{
  struct stat about;
  if (fstat(file, &about) != 0) GAB_FAIL(GAB_ERR_IO, "%s", strerror(errno));
  void *place;
  GAB_TRY(gab_buffer_extend(bytes, (size_t)about.st_size, &place));
  for (size_t at = 0; at < bytes->size;) {
    const ssize_t count = pread(file, bytes->data + at, bytes->size - at, (off_t)at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) GAB_FAIL(GAB_ERR_IO, "%s", count < 0 ? strerror(errno) : "it became shorter");
    at += (size_t)count;
  }
  return GAB_OK;
}

/* @param[out] bytes  after the head */
static gab_status read_head(persist_file *file, const persist_file_id *id, gab_reader *bytes)
{
  const unsigned char *start = bytes->at;
  char key[KEY_CAPACITY] = "";
  uint64_t magic = 0, settings = 0, checksum = 0, run = 0;
  int32_t rank = -1, size = 0;
  gab_status status = gab_get_u64(bytes, &magic);
  if (status == GAB_OK) status = gab_get_i32(bytes, &rank);
  if (status == GAB_OK) status = gab_get_i32(bytes, &size);
  if (status == GAB_OK) status = gab_get_u64(bytes, &settings);
  if (status == GAB_OK) status = gab_get_string(bytes, key, sizeof key);
  if (status == GAB_OK) status = gab_get_u64(bytes, &run);
  const unsigned char *end = bytes->at;
  if (status == GAB_OK) status = gab_get_u64(bytes, &checksum);
  if (status != GAB_OK || magic != FILE_MAGIC || checksum != gab_hash64(start, (size_t)(end - start), 0))
    GAB_FAIL(GAB_ERR_CORRUPT, "%s/%s is damaged at its head", file->path, file->name);
  if (strcmp(key, id->key) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s belongs to the key `%s', not to `%s'", file->path, file->name, key,
             id->key);
  if (size != id->size)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s is of %d processes, these are %d: the number must be the same", file->path,
             file->name, (int)size, id->size);
  if (rank != id->rank)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s is of rank %d, this is rank %d", file->path, file->name, (int)rank,
             id->rank);
  if (settings != id->settings)
    GAB_FAIL(GAB_ERR_INPUT, "%s/%s was stored with another persist_mode or persist_commit", file->path,
             file->name);
  file->run = run;
  return GAB_OK;
}

static bool is_mark(gab_reader bytes)
{
  if (gab_reader_left(&bytes) < MARK_BYTES) return false;
  const unsigned char *start = bytes.at;
  uint64_t magic = 0, length, group, checksum = 0;
  gab_get_u64(&bytes, &magic);
  gab_get_u64(&bytes, &length);
  gab_get_u64(&bytes, &group);
  gab_get_u64(&bytes, &checksum);
  return magic == MARK_MAGIC && checksum == gab_hash64(start, MARK_BYTES - 8, 0);
}

/* After an incomplete group: whether more was written after it, so that it was once complete. The writer writes nothing
 * after a group before it is complete, and a mark follows each group. */
static bool was_whole(gab_reader bytes)
{
  while (gab_reader_left(&bytes) >= MARK_BYTES) {
    if (is_mark(bytes)) return true;
    bytes.at++;
  }
  return false;
}

/* @param[out] good  valid bytes from the start */
static gab_status read_groups(const persist_file *file, gab_reader bytes, const unsigned char *start,
                              persist_msglog *msglog, uint64_t *good)
{
  *good = (uint64_t)(bytes.at - start);
  while (gab_reader_left(&bytes) > 0) {
    size_t length;
    const persist_group_state state = gab_persist_group_look(bytes, &length);
    if (state != PERSIST_GROUP_WHOLE) {
      if (was_whole(bytes))
        GAB_FAIL(GAB_ERR_CORRUPT,
                 "%s/%s is damaged behind epoch %" PRIu64 ": what follows does not match its checksum",
                 file->path, file->name, msglog->epoch);
      return GAB_OK; /* the writer died while writing it */
    }
    GAB_TRY(gab_persist_msglog_take(msglog, &bytes));
    *good = (uint64_t)(bytes.at - start);
    gab_reader mark = bytes;
    if (!is_mark(mark)) {
      if (gab_reader_left(&bytes) > MARK_BYTES && was_whole(bytes))
        GAB_FAIL(GAB_ERR_CORRUPT, "%s/%s is damaged behind epoch %" PRIu64, file->path, file->name,
                 msglog->epoch);
      return GAB_OK;
    }
    bytes.at += MARK_BYTES;
    *good += MARK_BYTES;
  }
  return GAB_OK;
}

gab_status gab_persist_file_load(persist_file *file, const persist_file_id *id, persist_msglog *msglog,
                                 bool *found)
{
  char why[GAB_OWN_WHY];
  gab_buffer content = {0};
  char done[48];
  struct stat about;
  *found = false;
  name_beside(file, "done", done);
  file->done = fstatat(file->folder, done, &about, AT_SYMLINK_NOFOLLOW) == 0;
  file->file = gab_own_file_open(file->folder, file->name, O_RDWR, why);
  if (file->file < 0 && errno == ENOENT) return GAB_OK;
  if (file->file < 0) GAB_FAIL(GAB_ERR_IO, "%s: %s", file->path, why);
  gab_status status = read_all(file->file, &content);
  if (status != GAB_OK) {
    char text[300];
    snprintf(text, sizeof text, "%s", gab_error_message());
    gab_buffer_release(&content);
    GAB_FAIL(status, "%s/%s cannot be read: %s", file->path, file->name, text);
  }
  gab_reader bytes = gab_reader_of_buffer(&content);
  status = read_head(file, id, &bytes);
  uint64_t good = 0;
  if (status == GAB_OK) status = read_groups(file, bytes, content.data, msglog, &good);
  file->size = good;
  file->base = 0;
  /* Files are replaced as a whole, with their first group. */
  if (status == GAB_OK && good <= (uint64_t)(bytes.at - content.data))
    status = gab_error_set(GAB_ERR_CORRUPT, __FILE__, __LINE__,
                           "%s/%s is damaged: its first epoch is not whole", file->path, file->name);
  gab_buffer_release(&content);
  *found = status == GAB_OK;
  return status;
}

/* ------------------------------------------------------------------------------------ writing */

static bool write_at(int file, const void *bytes, size_t count, uint64_t at)
{
  const char *from = bytes;
  while (count > 0) {
    const ssize_t written = pwrite(file, from, count, (off_t)at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    at += (uint64_t)written;
    count -= (size_t)written;
  }
  return true;
}

static gab_status put_mark(gab_buffer *buffer, const void *group, size_t length)
{
  const size_t start = buffer->size;
  uint64_t checksum = 0;
  memcpy(&checksum, (const unsigned char *)group + 24, sizeof checksum);
  GAB_TRY(gab_put_u64(buffer, MARK_MAGIC));
  GAB_TRY(gab_put_u64(buffer, length));
  GAB_TRY(gab_put_u64(buffer, checksum));
  return gab_put_u64(buffer, gab_hash64(buffer->data + start, buffer->size - start, 0));
}

gab_status gab_persist_file_append(persist_file *file, const gab_buffer *group)
{
  gab_buffer mark = {0};
  if (file->broken) GAB_FAIL(GAB_ERR_IO, "%s/%s could not be written before", file->path, file->name);
  gab_status status = put_mark(&mark, group->data, group->size);
  if (status != GAB_OK) return status;
  bool fine = ftruncate(file->file, (off_t)file->size) == 0 &&
              write_at(file->file, group->data, group->size, file->size);
  if (fine && file->sync) fine = fdatasync(file->file) == 0;
  fine = fine && write_at(file->file, mark.data, mark.size, file->size + group->size);
  if (fine && file->sync) fine = fdatasync(file->file) == 0;
  const int why = errno;
  gab_buffer_release(&mark);
  if (!fine) {
    file->broken = ftruncate(file->file, (off_t)file->size) != 0;
    GAB_FAIL(GAB_ERR_IO, "%s/%s cannot be written: %s", file->path, file->name, strerror(why));
  }
  file->size += group->size + MARK_BYTES;
  return GAB_OK;
}

/* Head and groups, each followed by a mark. */
static gab_status content_of(const persist_file *file, const persist_msglog *msglog, gab_buffer *content)
{
  gab_buffer groups = {0};
  gab_status status = gab_put_bytes(content, file->head.data, file->head.size);
  if (status == GAB_OK) status = gab_put_u64(content, file->run);
  if (status == GAB_OK) status = gab_put_u64(content, gab_hash64(content->data, content->size, 0));
  if (status == GAB_OK) status = gab_persist_msglog_write(msglog, &groups);
  gab_reader rest = gab_reader_of_buffer(&groups), group;
  while (status == GAB_OK && gab_reader_left(&rest) > 0) {
    size_t length;
    gab_persist_group_look(rest, &length);
    status = gab_get_view(&rest, length, &group);
    if (status == GAB_OK) status = gab_put_bytes(content, group.at, length);
    if (status == GAB_OK) status = put_mark(content, group.at, length);
  }
  gab_buffer_release(&groups);
  return status;
}

static gab_status write_beside(persist_file *file, const gab_buffer *content)
{
  char beside[48], done[48], why[GAB_OWN_WHY];
  name_beside(file, "new", beside);
  name_beside(file, "done", done);
  const int written = gab_own_file_open(file->folder, beside, O_RDWR | O_CREAT | O_TRUNC, why);
  if (written < 0) GAB_FAIL(GAB_ERR_IO, "%s: %s", file->path, why);
  bool fine = write_at(written, content->data, content->size, 0);
  if (fine && file->sync) fine = fsync(written) == 0;
  fine = fine && renameat(file->folder, beside, file->folder, file->name) == 0;
  if (!fine) {
    const int number = errno;
    close(written);
    unlinkat(file->folder, beside, 0);
    GAB_FAIL(GAB_ERR_IO, "%s/%s cannot be written: %s", file->path, beside, strerror(number));
  }
  if (file->file >= 0) close(file->file);
  file->file = written;
  file->size = file->base = content->size;
  file->broken = file->done = false;
  if (unlinkat(file->folder, done, 0) != 0 && errno != ENOENT)
    GAB_FAIL(GAB_ERR_IO, "%s/%s cannot be removed: %s", file->path, done, strerror(errno));
  return file->sync ? gab_folder_sync(file->path) : GAB_OK;
}

gab_status gab_persist_file_rewrite(persist_file *file, const persist_msglog *msglog)
{
  gab_buffer content = {0};
  gab_status status = content_of(file, msglog, &content);
  if (status == GAB_OK) status = write_beside(file, &content);
  gab_buffer_release(&content);
  return status;
}

bool gab_persist_file_is_stale(const persist_file *file)
{
  enum { LEAST = 1 << 20 };
  return file->size > LEAST && file->size / 4 > file->base;
}
