/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/csv_table.h"

#include "core/base/buffer.h"
#include "core/memory/memory.h"
#include "core/system/file.h"

#include <stdlib.h>
#include <string.h>

void gab_app_csv_release(gab_app_csv *it)
{
  gab_free(&it->names);
  gab_free(&it->values);
  *it = (gab_app_csv){0};
}

static gab_status take_names(const char *path, const char *line, gab_app_csv *it)
{
  it->columns = 1;
  for (const char *at = line; *at; at++) it->columns += *at == ',';
  GAB_TRY(GAB_NEW_ARRAY(&it->names, it->columns, GAB_MEMORY_OTHER));
  for (size_t c = 0; c < it->columns; c++) {
    const size_t length = strcspn(line, ",");
    if (length == 0 || length >= GAB_APP_COLUMN_NAME)
      GAB_FAIL(GAB_ERR_INPUT, "%s:1: column %zu has no name or one of more than %d bytes", path, c + 1,
               GAB_APP_COLUMN_NAME - 1);
    memcpy(it->names[c], line, length);
    line += length + 1;
  }
  return GAB_OK;
}

static gab_status take_row(const char *path, size_t number, const char *line, gab_app_csv *it)
{
  if (it->rows == it->capacity) {
    it->capacity = 2 * it->capacity + 256;
    GAB_TRY(GAB_RESIZE_ARRAY(&it->values, it->capacity * it->columns, GAB_MEMORY_OTHER));
  }
  for (size_t c = 0; c < it->columns; c++) {
    char *end;
    const char *expected = c + 1 < it->columns ? "," : "";
    it->values[it->rows * it->columns + c] = strtod(line, &end);
    if (end == line || (*end && *end != ','))
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: column %s: expected a number, got '%.*s'", path, number, it->names[c],
               (int)strcspn(line, ","), line);
    if (*end != *expected)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%zu: expected %zu numbers, as columns in the head", path, number,
               it->columns);
    line = end + 1;
  }
  it->rows++;
  return GAB_OK;
}

static gab_status take_lines(const char *path, char *text, size_t size, gab_app_csv *it)
{
  size_t number = 1;
  for (char *end; size > 0 && (end = memchr(text, '\n', size)); number++) {
    const size_t length = (size_t)(end - text) + 1;
    *end = '\0';
    GAB_TRY(number == 1 ? take_names(path, text, it) : take_row(path, number, text, it));
    text += length;
    size -= length;
  }
  if (number == 1) GAB_FAIL(GAB_ERR_INPUT, "%s: has no head", path);
  return GAB_OK;
}

gab_status gab_app_csv_read(const char *path, gab_app_csv *it)
{
  gab_buffer text = {0};
  gab_status status = gab_file_read(path, SIZE_MAX, &text);
  if (status == GAB_OK) status = take_lines(path, (char *)text.data, text.size, it);
  gab_buffer_release(&text);
  return status;
}

bool gab_app_csv_find(const gab_app_csv *it, const char *name, size_t *column)
{
  for (*column = 0; *column < it->columns; ++*column)
    if (strcmp(it->names[*column], name) == 0) return true;
  return false;
}
