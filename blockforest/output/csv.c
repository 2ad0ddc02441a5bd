#include "blockforest/output/csv.h"
#include "blockforest/output/output_files_impl.h"
#include "core/base/hash.h"
#include "core/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_BYTES ((size_t)64 * 1024) /* rows that are held back at most */

struct gab_series {
  gab_world *world;
  char *path;
  gab_buffer header;  /* first line */
  gab_buffer pending; /* formatted, not yet in the file; root only */
  size_t columns;
  uint64_t cursor; /* length of the file with what is pending */
  gab_step last;   /* step of the last row, -1 before the first */
  /* The root went back alone: rows that were written since stay until others come in their place. For all may still go back to a
   * later checkpoint than it did, which counts them. */
  bool overlaps;
};

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that a reader of the table can tell apart, and from its commas. */
static gab_status check_columns(const char *path, const char *const *columns, size_t count)
{
  void *memory;
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_column_check(columns[i]));
  GAB_TRY(gab_alloc(count * sizeof *columns, GAB_MEMORY_OTHER, &memory));
  const char **sorted = memory, *twice = NULL;
  if (count > 0) memcpy(sorted, columns, count * sizeof *columns);
  qsort(sorted, count, sizeof *sorted, by_text);
  for (size_t i = 1; i < count && !twice; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0) twice = sorted[i];
  for (size_t i = 0; i < count && !twice; i++)
    if (strcmp(columns[i], "step") == 0 || strcmp(columns[i], "time") == 0) twice = columns[i];
  gab_free(&memory);
  const char *slash = strrchr(path, '/');
  if (twice) GAB_FAIL(GAB_ERR_INPUT, "%s would have the column '%s' twice", slash ? slash + 1 : path, twice);
  return GAB_OK;
}

gab_status gab_column_check(const char *name)
{
  const size_t length = strlen(name);
  if (length == 0) GAB_FAIL(GAB_ERR_INPUT, "a column needs a name");
  if (length > GAB_LONGEST_COLUMN)
    GAB_FAIL(GAB_ERR_INPUT, "'%.40s...' is no name of a column: it has %zu bytes, more than %d", name, length,
             GAB_LONGEST_COLUMN);
  bool fine = name[0] != ' ' && name[length - 1] != ' ';
  for (size_t i = 0; i < length; i++)
    fine = fine && (unsigned char)name[i] >= ' ' && !strchr(",;\"\x7f", name[i]);
  if (!fine)
    GAB_FAIL(
        GAB_ERR_INPUT,
        "'%s' is no name of a column: commas, semicolons, quotes, control characters and blanks at the ends cannot be",
        name);
  return GAB_OK;
}

gab_status gab_series_create(gab_world *world, const char *path, const char *const *columns, size_t count,
                             gab_series **series)
{
  void *memory = NULL;
  *series = NULL;
  GAB_TRY(check_columns(path, columns, count));
  GAB_TRY(gab_alloc(sizeof **series, GAB_MEMORY_OTHER, &memory));
  gab_series *made = memory;
  made->world = world;
  made->columns = count;
  made->last = -1;
  gab_status status = gab_output_copy_string(path, &made->path);
  if (status == GAB_OK) status = gab_put_text(&made->header, "step,time");
  for (size_t i = 0; i < count && status == GAB_OK; i++) {
    status = gab_put_text(&made->header, ",%s", columns[i]);
  }
  if (status == GAB_OK) status = gab_put_text(&made->header, "\n");
  if (status != GAB_OK) {
    gab_series_destroy(&made);
    return status;
  }
  *series = made;
  return GAB_OK;
}

static gab_status refuse(const gab_series *series, const char *what, int error)
{
  GAB_FAIL(GAB_ERR_IO, "cannot %s %s: %s", what, series->path, strerror(error));
}

/* Cuts the file to the cursor, unless that comes later. Before the first row there need not be a file. */
static gab_status cut(const gab_series *series)
{
  struct stat info;
  if (stat(series->path, &info) != 0) {
    if (errno == ENOENT && series->cursor == 0) return GAB_OK;
    return refuse(series, "go back in", errno);
  }
  if ((uint64_t)info.st_size < series->cursor) {
    GAB_FAIL(GAB_ERR_IO, "%s has %" PRIu64 " bytes, fewer than the %" PRIu64 " that were written to it",
             series->path, (uint64_t)info.st_size, series->cursor);
  }
  if (series->overlaps) return GAB_OK;
  if (truncate(series->path, (off_t)series->cursor) != 0) return refuse(series, "cut", errno);
  return GAB_OK;
}

void gab_series_destroy(gab_series **series)
{
  gab_series *old = *series;
  *series = NULL;
  if (!old) return;
  if (old->pending.size && gab_series_flush(old) != GAB_OK) {
    gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
  } else if (old->overlaps && gab_world_is_root(old->world)) {
    old->overlaps = false;
    if (cut(old) != GAB_OK) gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
  }
  gab_buffer_release(&old->header);
  gab_buffer_release(&old->pending);
  gab_free(&old->path);
  gab_free(&old);
}

static gab_status format_row(gab_series *series, gab_buffer *row, gab_step step, double time,
                             const double *values)
{
  char number[GAB_OUTPUT_NUMBER];
  gab_output_number(time, number);
  GAB_TRY(gab_put_text(row, "%" GAB_PRI_STEP ",%s", step, number));
  for (size_t i = 0; i < series->columns; i++) {
    gab_output_number(values[i], number);
    GAB_TRY(gab_put_text(row, ",%s", number));
  }
  return gab_put_text(row, "\n");
}

static gab_status format_rows(gab_series *series, gab_buffer *text, gab_step step, double time,
                              const double *values, size_t rows)
{
  if (series->cursor == 0) GAB_TRY(gab_put_bytes(text, series->header.data, series->header.size));
  for (size_t i = 0; i < rows; i++)
    GAB_TRY(format_row(series, text, step, time, values + i * series->columns));
  return GAB_OK;
}

gab_status gab_series_append(gab_series *series, gab_step step, double time, const double *values)
{
  return gab_series_append_rows(series, step, time, values, 1);
}

gab_status gab_series_append_rows(gab_series *series, gab_step step, double time, const double *values,
                                  size_t rows)
{
  if (step == series->last) return GAB_OK;
  if (step < series->last) {
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: a row for step %" GAB_PRI_STEP " after one for step %" GAB_PRI_STEP,
             series->path, step, series->last);
  }
  gab_buffer row = {0};
  gab_status status = format_rows(series, &row, step, time, values, rows);
  bool writes = gab_world_is_root(series->world);
  if (status == GAB_OK && writes) status = gab_put_bytes(&series->pending, row.data, row.size);
  if (status == GAB_OK) {
    series->cursor += row.size;
    series->last = step;
  }
  gab_buffer_release(&row);
  if (status == GAB_OK && writes && series->pending.size >= FLUSH_BYTES) status = gab_series_flush(series);
  return status;
}

/* Whether the pending rows stand there already, as they do where rows are computed again. */
static bool is_there(const gab_series *series, int descriptor, uint64_t start)
{
  unsigned char piece[4096];
  for (size_t done = 0; done < series->pending.size;) {
    const size_t left = series->pending.size - done, wanted = left < sizeof piece ? left : sizeof piece;
    const ssize_t now = pread(descriptor, piece, wanted, (off_t)(start + done));
    if (now <= 0 || memcmp(piece, series->pending.data + done, (size_t)now) != 0) return false;
    done += (size_t)now;
  }
  return true;
}

/* Puts the pending rows at the place they belong to, and cuts off whatever stood behind it: the rest of a row
 * that a full disk or a death left half-written, or an older run. */
static gab_status write_pending(gab_series *series, int descriptor)
{
  uint64_t start = series->cursor - series->pending.size;
  if (series->overlaps && is_there(series, descriptor, start)) return GAB_OK;
  series->overlaps = false;
  if (ftruncate(descriptor, (off_t)start) != 0) return refuse(series, "cut", errno);
  size_t done = 0;
  while (done < series->pending.size) {
    errno = 0;
    ssize_t now =
        pwrite(descriptor, series->pending.data + done, series->pending.size - done, (off_t)(start + done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      int error = errno ? errno : ENOSPC;
      (void)!ftruncate(descriptor, (off_t)start); /* whole rows only; the rows stay pending */
      return refuse(series, "write", error);
    }
    done += (size_t)now;
  }
  return GAB_OK;
}

gab_status gab_series_flush(gab_series *series)
{
  if (series->pending.size == 0) return GAB_OK;
  int descriptor = open(series->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return refuse(series, "open", errno);
  gab_status status = write_pending(series, descriptor);
  if (close(descriptor) != 0 && status == GAB_OK) status = refuse(series, "write", errno);
  if (status == GAB_OK) gab_buffer_clear(&series->pending);
  return status;
}

uint64_t gab_series_cursor(const gab_series *series) { return series->cursor; }

gab_status gab_series_pack(gab_series *series, gab_buffer *out)
{
  GAB_TRY(gab_series_flush(series));
  GAB_TRY(gab_put_u64(out, series->cursor));
  return gab_put_i64(out, series->last);
}

gab_status gab_series_unpack(gab_series *series, gab_reader *in)
{
  uint64_t cursor = 0;
  int64_t last = 0;
  GAB_TRY(gab_get_u64(in, &cursor));
  GAB_TRY(gab_get_i64(in, &last));
  if (cursor > INT64_MAX || last < -1 || (last >= 0 && cursor <= series->header.size)) {
    GAB_FAIL(GAB_ERR_CORRUPT, "cursor of %s cannot be: %" PRIu64 " bytes up to step %" GAB_PRI_STEP,
             series->path, cursor, last);
  }
  gab_buffer_clear(&series->pending);
  series->cursor = cursor;
  series->last = last;
  series->overlaps = gab_world_get_policy(series->world) == GAB_POLICY_MARK_DOWN;
  return gab_world_is_root(series->world) ? cut(series) : GAB_OK;
}

uint64_t gab_series_columns_hash(const gab_series *series)
{
  return gab_hash64(series->header.data, series->header.size, 0);
}

/* NAME.csv to the first of NAME_1.csv, NAME_2.csv, ... that is not there. */
static gab_status set_aside(const gab_series *series)
{
  char aside[GAB_OUTPUT_PATH_CAPACITY];
  struct stat info;
  const char *dot = strrchr(series->path, '.');
  const int stem = (int)(dot ? dot - series->path : (ptrdiff_t)strlen(series->path));
  if (stat(series->path, &info) != 0 || info.st_size == 0) return GAB_OK;
  for (int number = 1;; number++) {
    GAB_TRY(gab_output_path(aside, "%.*s_%d%s", stem, series->path, number, dot ? dot : ""));
    if (lstat(aside, &info) != 0) break;
  }
  if (rename(series->path, aside) != 0) return refuse(series, "move aside", errno);
  gab_log_all(GAB_LOG_WARNING, "%s was begun by a run with other columns: it is %s now, and a new one begins",
              series->path, aside);
  return GAB_OK;
}

gab_status gab_series_begin_anew(gab_series *series)
{
  gab_buffer_clear(&series->pending);
  series->cursor = 0;
  series->last = -1;
  return gab_world_is_root(series->world) ? set_aside(series) : GAB_OK;
}
