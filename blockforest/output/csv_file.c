/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/csv_file_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/output_retry_impl.h"
#include "core/base/log.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 65536 };

/* @return GAB_ERR_IO */
static gab_status refuse(gab_series_file *file, const char *what, int error)
{
  file->error = error;
  return gab_output_refused(what, file->path, error);
}

void gab_series_file_close(gab_series_file *file)
{
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

static uint64_t place(const gab_series_file *file, uint64_t logical)
{
  const int64_t at = (int64_t)logical - file->missing;
  return at < 0 ? 0 : (uint64_t)at;
}

static uint64_t size_of(int descriptor)
{
  struct stat info;
  return fstat(descriptor, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* Whether the file has these bytes at a position. */
static bool has_bytes(int descriptor, uint64_t at, const unsigned char *bytes, size_t count)
{
  unsigned char piece[4096];
  for (size_t done = 0; done < count;) {
    const size_t wanted = count - done < sizeof piece ? count - done : sizeof piece;
    const ssize_t now = pread(descriptor, piece, wanted, (off_t)(at + done));
    if (now <= 0 || memcmp(piece, bytes + done, (size_t)now) != 0) return false;
    done += (size_t)now;
  }
  return true;
}

static gab_status put_bytes(gab_series_file *file, int descriptor, uint64_t at, const unsigned char *bytes,
                            size_t count)
{
  for (size_t done = 0; done < count;) {
    errno = 0;
    const ssize_t now = pwrite(descriptor, bytes + done, count - done, (off_t)(at + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return refuse(file, "write", errno ? errno : ENOSPC);
    done += (size_t)now;
  }
  return GAB_OK;
}

/* Records the last bytes before a position of the file. */
static void note_tail(gab_series_file *file, uint64_t end)
{
  const size_t count = end < GAB_SERIES_TAIL ? (size_t)end : GAB_SERIES_TAIL;
  const ssize_t got = pread(file->descriptor, file->tail_bytes, count, (off_t)(end - count));
  file->tail = got == (ssize_t)count ? count : 0;
}

/* Records the written bytes after them. They are not read back, since the file may have changed already. */
static void note_written(gab_series_file *file, const unsigned char *bytes, size_t count)
{
  const size_t added = count < GAB_SERIES_TAIL ? count : GAB_SERIES_TAIL;
  const size_t kept = file->tail < GAB_SERIES_TAIL - added ? file->tail : GAB_SERIES_TAIL - added;
  memmove(file->tail_bytes, file->tail_bytes + (file->tail - kept), kept);
  memcpy(file->tail_bytes + kept, bytes + (count - added), added);
  file->tail = kept + added;
}

/* ---------------------------------------------------------------------------------------- another file */

gab_status gab_series_file_set_aside(gab_series_file *file, const char *why)
{
  char aside[GAB_OUTPUT_PATH_CAPACITY];
  struct stat info;
  const char *dot = strrchr(file->path, '.');
  const int stem = (int)(dot ? dot - file->path : (ptrdiff_t)strlen(file->path));
  if (stat(file->path, &info) != 0 || info.st_size == 0) return GAB_OK;
  for (int number = 1;; number++) {
    GAB_TRY(gab_output_path(aside, "%.*s_%d%s", stem, file->path, number, dot ? dot : ""));
    if (lstat(aside, &info) != 0) break;
  }
  if (rename(file->path, aside) != 0) return refuse(file, "move aside", errno);
  gab_log_all(GAB_LOG_WARNING, "%s %s: it is %s now, and a new one begins", file->path, why, aside);
  return GAB_OK;
}

static bool have_same_content(int one, int other)
{
  unsigned char piece[4096];
  if (size_of(one) != size_of(other)) return false;
  for (uint64_t at = 0;;) {
    const ssize_t now = pread(one, piece, sizeof piece, (off_t)at);
    if (now <= 0) return now == 0;
    if (!has_bytes(other, at, piece, (size_t)now)) return false;
    at += (uint64_t)now;
  }
}

/* Copies the whole content of the open file into a new one. */
static gab_status copy_to(gab_series_file *file, int target)
{
  unsigned char piece[4096];
  for (uint64_t at = 0;;) {
    const ssize_t now = pread(file->descriptor, piece, sizeof piece, (off_t)at);
    if (now < 0) return refuse(file, "restore", errno);
    if (now == 0) return GAB_OK;
    GAB_TRY(put_bytes(file, target, at, piece, (size_t)now));
    at += (uint64_t)now;
  }
}

/* The open file has lost its name: its content is written under that name again. */
static gab_status restore(gab_series_file *file)
{
  char temporary[GAB_OUTPUT_PATH_CAPACITY];
  GAB_TRY(gab_output_path(temporary, "%s" GAB_OUTPUT_TEMPORARY, file->path));
  (void)unlink(temporary);
  const int target = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (target < 0) return refuse(file, "restore", errno);
  gab_status status = copy_to(file, target);
  if (status == GAB_OK)
    status = gab_series_file_set_aside(file, "was put there while the run writes that file");
  if (status == GAB_OK && rename(temporary, file->path) != 0) status = refuse(file, "restore", errno);
  if (status != GAB_OK) {
    close(target);
    (void)unlink(temporary);
    return status;
  }
  gab_series_file_close(file);
  file->descriptor = target;
  gab_log_all(GAB_LOG_WARNING,
              "%s was removed, renamed or replaced while the run writes it: its %" PRIu64
              " bytes are restored",
              file->path, size_of(target));
  return GAB_OK;
}

/* Opens the file at the path, or restores the open file there. @param[in] make  whether it may be new */
static gab_status attach(gab_series_file *file, bool make)
{
  struct stat mine, there;
  char why[GAB_RUN_FILE_WHY];
  if (file->descriptor < 0) {
    file->descriptor = gab_run_file_open(file->path, O_RDWR | (make ? O_CREAT : 0), why);
    if (file->descriptor >= 0) return GAB_OK;
    file->error = errno;
    if (errno != EPERM) return refuse(file, "open", errno);
    GAB_FAIL(GAB_ERR_IO, "%s", why);
  }
  if (fstat(file->descriptor, &mine) != 0) { /* e.g. removed by another machine */
    gab_series_file_close(file);
    return attach(file, make);
  }
  const bool is_there = stat(file->path, &there) == 0;
  if (!is_there && errno != ENOENT) return refuse(file, "find", errno);
  if (is_there && there.st_dev == mine.st_dev && there.st_ino == mine.st_ino) return GAB_OK;
  const int other = is_there ? gab_run_file_open(file->path, O_RDWR, why) : -1;
  if (other >= 0 && have_same_content(file->descriptor, other)) { /* e.g. saved by an editor */
    gab_series_file_close(file);
    file->descriptor = other;
    return GAB_OK;
  }
  if (other >= 0) close(other);
  return restore(file);
}

/* ---------------------------------------------------------------------------------------- existing rows */

/* The step at the beginning of a row. @return -1: there is none */
static gab_step step_of(const char *text)
{
  char *end;
  errno = 0;
  const long long step = strtoll(text, &end, 10);
  return errno || end == text || *end != ',' || step < 0 ? -1 : (gab_step)step;
}

/* Whether the row of a step ends at a position of the file. */
static bool row_ends_at(const gab_series_file *file, uint64_t end, gab_step last)
{
  char piece[4097], begin[32] = "";
  uint64_t at = end;
  if (end == 0 || end > size_of(file->descriptor) ||
      !has_bytes(file->descriptor, end - 1, (const unsigned char *)"\n", 1))
    return false;
  for (at = end - 1; at > 0;) { /* to the end of the row before it */
    const size_t count = at < 4096 ? (size_t)at : 4096;
    if (pread(file->descriptor, piece, count, (off_t)(at - count)) != (ssize_t)count) return false;
    size_t i = count;
    while (i > 0 && piece[i - 1] != '\n') i--;
    at -= count - i;
    if (i > 0) break;
  }
  return pread(file->descriptor, begin, sizeof begin - 1, (off_t)at) > 0 && step_of(begin) == last;
}

/* Whole rows from the beginning of the file. */
typedef struct rows {
  uint64_t end; /* of the last counted row */
  gab_step step;
  bool stopped;
  char begin[32];
  size_t length; /* of the row read so far */
} rows;

static void look_at_byte(rows *found, char byte, uint64_t at, gab_step last)
{
  if (byte != '\n') {
    if (found->length < sizeof found->begin - 1) found->begin[found->length] = byte;
    found->length++;
    return;
  }
  found->begin[found->length < sizeof found->begin - 1 ? found->length : sizeof found->begin - 1] = '\0';
  const gab_step step = step_of(found->begin);
  found->stopped = step < found->step || step > last;
  found->length = 0;
  if (found->stopped) return;
  found->end = at + 1;
  found->step = step;
}

/* Finds the rows up to a step. @param[out] found  its end is 0 if the file does not begin with the header */
static gab_status find_rows(gab_series_file *file, gab_step last, rows *found)
{
  const gab_buffer *header = file->header;
  char piece[4096];
  *found = (rows){.step = -1};
  if (!has_bytes(file->descriptor, 0, header->data, header->size)) return GAB_OK;
  found->end = header->size;
  found->step = 0;
  for (uint64_t at = header->size; !found->stopped;) {
    const ssize_t now = pread(file->descriptor, piece, sizeof piece, (off_t)at);
    if (now < 0) return refuse(file, "read", errno);
    if (now == 0) break;
    for (ssize_t i = 0; i < now && !found->stopped; i++)
      look_at_byte(found, piece[i], at + (uint64_t)i, last);
    at += (uint64_t)now;
  }
  if (found->end == header->size) found->step = -1;
  return GAB_OK;
}

/* Rows are lost: the next ones are appended to the existing ones. */
static gab_status go_on_without(gab_series_file *file, uint64_t start, gab_step last)
{
  rows found;
  GAB_TRY(find_rows(file, last, &found));
  if (found.end == 0) {
    gab_series_file_close(file);
    GAB_TRY(gab_series_file_set_aside(file, "has another content than the run wrote into it"));
    GAB_TRY(attach(file, true));
    GAB_TRY(put_bytes(file, file->descriptor, 0, file->header->data, file->header->size));
    found.end = file->header->size;
  }
  file->missing = (int64_t)start - (int64_t)found.end;
  note_tail(file, found.end);
  char behind[64] = "";
  if (found.step >= 0) snprintf(behind, sizeof behind, "behind step %" GAB_PRI_STEP " ", found.step);
  gab_log_all(GAB_LOG_WARNING,
              "%s was cut, changed or removed: its rows %sup to step %" GAB_PRI_STEP
              " are missing; the later ones follow",
              file->path, behind, last);
  return GAB_OK;
}

/* Ensures that all rows before a position are in the file, as far as they can be recovered. */
static gab_status settle(gab_series_file *file, uint64_t start, gab_step last)
{
  if (start == 0) {
    file->missing = 0;
    return GAB_OK;
  }
  const uint64_t end = place(file, start);
  if (file->tail > 0 && end >= file->tail && size_of(file->descriptor) >= end &&
      has_bytes(file->descriptor, end - file->tail, file->tail_bytes, file->tail))
    return GAB_OK;
  const bool knew = file->tail > 0; /* the file has other bytes there now */
  for (int whole = 0; whole < 2 && !knew; whole++) {
    if (whole) file->missing = 0;
    if (!row_ends_at(file, place(file, start), last)) continue;
    note_tail(file, place(file, start));
    return GAB_OK;
  }
  return go_on_without(file, start, last);
}

/* ---------------------------------------------------------------------------------------- calls from the series */

/* Opens the file; a missing one is made if rows follow. */
static gab_status prepare(gab_series_file *file, uint64_t start, gab_step last)
{
  const gab_status status = attach(file, true);
  return status == GAB_OK ? settle(file, start, last) : status;
}

static gab_status write_rows(gab_series_file *file, uint64_t start, gab_step last, const gab_buffer *added)
{
  GAB_TRY(prepare(file, start, last));
  const uint64_t at = place(file, start);
  const bool are_there = file->overlaps && has_bytes(file->descriptor, at, added->data, added->size);
  if (!are_there) {
    file->overlaps = false;
    if (ftruncate(file->descriptor, (off_t)at) != 0) return refuse(file, "cut", errno);
    const gab_status status = put_bytes(file, file->descriptor, at, added->data, added->size);
    if (status != GAB_OK) {
      (void)!ftruncate(file->descriptor, (off_t)at); /* keeps whole rows only; pending rows stay so */
      return status;
    }
  }
  if (start == 0) file->tail = 0;
  note_written(file, added->data, added->size);
  return GAB_OK;
}

gab_status gab_series_file_write(gab_series_file *file, uint64_t start, gab_step last,
                                 const gab_buffer *added)
{
  gab_status status;
  do status = write_rows(file, start, last, added);
  while (status == GAB_ERR_IO && gab_output_may_retry(file->path, file->error));
  if (status == GAB_OK) gab_output_succeeded(file->path);
  return status;
}

gab_status gab_series_file_check(gab_series_file *file, uint64_t end, gab_step last)
{
  if (file->descriptor < 0 || end == 0) return GAB_OK;
  gab_status status;
  do status = prepare(file, end, last);
  while (status == GAB_ERR_IO && gab_output_may_retry(file->path, file->error));
  return status;
}

static gab_status cut(gab_series_file *file, uint64_t end, gab_step last)
{
  struct stat info;
  file->tail = 0;
  if (end == 0 && stat(file->path, &info) != 0 && errno == ENOENT) {
    gab_series_file_close(file);
    file->missing = 0;
    return GAB_OK;
  }
  GAB_TRY(prepare(file, end, last));
  if (file->overlaps) return GAB_OK;
  return ftruncate(file->descriptor, (off_t)place(file, end)) == 0 ? GAB_OK : refuse(file, "cut", errno);
}

gab_status gab_series_file_cut(gab_series_file *file, uint64_t end, gab_step last)
{
  gab_status status;
  do status = cut(file, end, last);
  while (status == GAB_ERR_IO && gab_output_may_retry(file->path, file->error));
  return status;
}
