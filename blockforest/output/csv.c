/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/csv.h"
#include "blockforest/output/csv_file_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "core/base/hash.h"
#include "core/base/log.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES ((size_t)64 * 1024) /* most bytes of rows that are held back */

struct gab_series {
  gab_world *world;
  char *path;
  gab_buffer header;  /* first line */
  gab_buffer pending; /* formatted, not yet in the file; root only */
  size_t columns;
  uint64_t basis;   /* hash of the data of gab_series_depend_on() */
  uint64_t cursor;  /* length of the file including pending rows */
  gab_step last;    /* step of the last row, -1 before the first */
  gab_step written; /* step of the last row in the file */
  gab_series_file file;
};

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names must be unique and must not contain separators of the table. */
static gab_status check_columns(const char *path, const char *const *columns, size_t count)
{
  const char **sorted, *twice = NULL;
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_column_check(columns[i]));
  GAB_TRY(GAB_NEW_ARRAY(&sorted, count, GAB_MEMORY_OTHER));
  if (count > 0) memcpy(sorted, columns, count * sizeof *columns);
  qsort(sorted, count, sizeof *sorted, by_text);
  for (size_t i = 1; i < count && !twice; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0) twice = sorted[i];
  for (size_t i = 0; i < count && !twice; i++)
    if (strcmp(columns[i], "step") == 0 || strcmp(columns[i], "time") == 0) twice = columns[i];
  gab_free(&sorted);
  const char *slash = strrchr(path, '/');
  if (twice) GAB_FAIL(GAB_ERR_INPUT, "%s would have the column '%s' twice", slash ? slash + 1 : path, twice);
  return GAB_OK;
}

gab_status gab_column_check(const char *name)
{
  const size_t length = strlen(name);
  if (length == 0) GAB_FAIL(GAB_ERR_INPUT, "a column needs a name");
  if (length > GAB_LONGEST_COLUMN)
    GAB_FAIL(GAB_ERR_INPUT, "'%.40s...' is not a valid column name: it has %zu bytes, more than %d", name,
             length, GAB_LONGEST_COLUMN);
  bool fine = name[0] != ' ' && name[length - 1] != ' ';
  for (size_t i = 0; i < length; i++)
    fine = fine && (unsigned char)name[i] >= ' ' && !strchr(",;\"\x7f", name[i]);
  if (!fine)
    GAB_FAIL(GAB_ERR_INPUT,
             "'%s' is not a valid column name: commas, semicolons, quotes, control characters and "
             "blanks at the ends are not allowed",
             name);
  return GAB_OK;
}

gab_status gab_series_create(gab_world *world, const char *path, const char *const *columns, size_t count,
                             gab_series **series)
{
  *series = NULL;
  GAB_TRY(check_columns(path, columns, count));
  gab_series *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  made->columns = count;
  made->last = made->written = -1;
  made->file.descriptor = -1;
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
  made->file.path = made->path;
  made->file.header = &made->header;
  *series = made;
  return GAB_OK;
}

void gab_series_destroy(gab_series **series)
{
  gab_series *old = *series;
  *series = NULL;
  if (!old) return;
  if (old->pending.size && gab_series_flush(old) != GAB_OK) {
    gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
  } else if (old->file.overlaps && gab_world_is_root(old->world)) {
    old->file.overlaps = false;
    if (gab_series_file_cut(&old->file, old->cursor, old->last) != GAB_OK)
      gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
  }
  gab_series_file_close(&old->file);
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

bool gab_series_has(const gab_series *series, gab_step step) { return series->last == step; }

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

gab_status gab_series_flush(gab_series *series)
{
  if (!gab_world_is_root(series->world)) return GAB_OK;
  if (series->pending.size == 0) return gab_series_file_check(&series->file, series->cursor, series->last);
  GAB_TRY(gab_series_file_write(&series->file, series->cursor - series->pending.size, series->written,
                                &series->pending));
  series->written = series->last;
  gab_buffer_clear(&series->pending);
  return GAB_OK;
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
  series->last = series->written = last;
  series->file.overlaps = gab_world_get_policy(series->world) == GAB_POLICY_MARK_DOWN;
  return gab_world_is_root(series->world) ? gab_series_file_cut(&series->file, cursor, last) : GAB_OK;
}

void gab_series_depend_on(gab_series *series, const void *data, size_t bytes)
{
  series->basis = gab_hash64(data, bytes, series->basis);
}

uint64_t gab_series_columns_hash(const gab_series *series)
{
  return gab_hash64(series->header.data, series->header.size, series->basis);
}

gab_status gab_series_begin_anew(gab_series *series)
{
  gab_buffer_clear(&series->pending);
  series->cursor = 0;
  series->last = series->written = -1;
  gab_series_file_close(&series->file);
  return gab_world_is_root(series->world)
             ? gab_series_file_set_aside(&series->file, series->basis == 0
                                                            ? "was begun by a run with other columns"
                                                            : "was begun by a run with other rows")
             : GAB_OK;
}
