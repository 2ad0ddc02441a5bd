/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/compare_series.h"

#include "apps/driver/campaign/csv_table.h"
#include "core/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 4 }; /* time, x, y, z */

/* ---------------------------------------------------------------- comparing */

/* The columns that assign rows, the slowest first. */
typedef struct row_keys {
  size_t column[2][MOST_KEYS], count;
} row_keys;

static bool add_key(const gab_app_csv *of, const char *name, row_keys *keys)
{
  const size_t k = keys->count;
  if (!gab_app_csv_find(&of[0], name, &keys->column[0][k]) ||
      !gab_app_csv_find(&of[1], name, &keys->column[1][k]))
    return false;
  keys->count++;
  return true;
}

static bool is_key(const row_keys *keys, size_t column)
{
  for (size_t k = 0; k < keys->count; k++)
    if (keys->column[0][k] == column) return true;
  return false;
}

static bool is_constant(const gab_app_csv *it, size_t column)
{
  for (size_t i = 1; i < it->rows; i++)
    if (it->values[i * it->columns + column] != it->values[column]) return false;
  return true;
}

static gab_status find_keys(const gab_app_csv *of, const char *path, row_keys *keys)
{
  *keys = (row_keys){.count = 0};
  if (!add_key(of, "time", keys)) (void)add_key(of, "step", keys);
  const size_t before = keys->count;
  for (size_t axis = 0; axis < 3; axis++) (void)add_key(of, (const char *const[]){"x", "y", "z"}[axis], keys);
  /* One profile: of the ends of both runs, which may be at other times. */
  if (before == 1 && keys->count > 1 && is_constant(&of[0], keys->column[0][0]) &&
      is_constant(&of[1], keys->column[1][0])) {
    keys->count--;
    for (int i = 0; i < 2; i++)
      memmove(keys->column[i], keys->column[i] + 1, keys->count * sizeof keys->column[i][0]);
  }
  if (keys->count > 0) return GAB_OK;
  keys->column[0][0] = keys->column[1][0] = 0;
  keys->count = 1;
  if (strcmp(of[0].names[0], of[1].names[0]) != 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s: its first column is %s, that of the other run %s", path, of[0].names[0],
             of[1].names[0]);
  return GAB_OK;
}

/* < 0: row a is before row b; 0: the same one */
static int compare_keys(const row_keys *keys, const double *a, const double *b)
{
  for (size_t k = 0; k < keys->count; k++) {
    const double one = a[keys->column[0][k]], other = b[keys->column[1][k]];
    if (fabs(one - other) > 1e-9 * fmax(fabs(one), fabs(other))) return one < other ? -1 : 1;
  }
  return 0;
}

/* A column of both tables. */
typedef struct pair {
  size_t column[2];
  double least, greatest; /* of the finite values */
} pair;

static void take_values(double a, double b, double key, pair *which, gab_app_column_difference *column)
{
  const double values[2] = {a, b};
  for (int i = 0; i < 2; i++)
    if (isfinite(values[i])) {
      which->least = fmin(which->least, values[i]);
      which->greatest = fmax(which->greatest, values[i]);
    }
  const bool is_equal = a == b || (isnan(a) && isnan(b));
  const double difference = is_equal ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
  if (!(difference > column->most)) return;
  column->most = difference;
  column->at = key;
}

static void compare_rows(const gab_app_csv *of, const row_keys *keys, pair *pairs,
                         gab_app_series_difference *found)
{
  for (size_t i = 0, j = 0; i < of[0].rows && j < of[1].rows;) {
    const double *a = of[0].values + i * of[0].columns, *b = of[1].values + j * of[1].columns;
    const int order = compare_keys(keys, a, b);
    if (order != 0) {
      if (order < 0) i++;
      else j++;
      continue;
    }
    for (size_t c = 0; c < found->count; c++)
      take_values(a[pairs[c].column[0]], b[pairs[c].column[1]], a[keys->column[0][keys->count - 1]],
                  &pairs[c], &found->columns[c]);
    found->common++;
    i++;
    j++;
  }
}

/* Of one vector or tensor: "force_x" and "force_y", "stress_xx" and "stress_yz". */
static bool are_components(const char *a, const char *b)
{
  size_t length = strlen(a);
  if (strlen(b) != length) return false;
  while (length > 1 && strchr("xyz", a[length - 1]) && strchr("xyz", b[length - 1])) length--;
  return a[length] && strncmp(a, b, length) == 0;
}

static void relate(const pair *pairs, gab_app_series_difference *found)
{
  for (size_t c = 0; c < found->count; c++) {
    gab_app_column_difference *column = &found->columns[c];
    double scale = 1e-9 * fmax(fabs(pairs[c].least), fabs(pairs[c].greatest));
    for (size_t k = 0; k < found->count; k++)
      if (k == c || are_components(column->name, found->columns[k].name))
        scale = fmax(scale, pairs[k].greatest - pairs[k].least);
    column->relative = !(column->most > 0) ? 0 : isinf(column->most) ? INFINITY : column->most / scale;
  }
}

static gab_status compare_tables(const gab_app_csv *of, const char *path, gab_app_series_difference *found)
{
  row_keys keys;
  pair *pairs = NULL;
  size_t both = 0;
  GAB_TRY(find_keys(of, path, &keys));
  snprintf(found->key, sizeof found->key, "%s", of[0].names[keys.column[0][keys.count - 1]]);
  GAB_TRY(GAB_NEW_ARRAY(&found->columns, of[0].columns, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&pairs, of[0].columns, GAB_MEMORY_OTHER));
  for (size_t c = 0, other; c < of[0].columns; c++) {
    const char *name = of[0].names[c];
    if (!gab_app_csv_find(&of[1], name, &other)) continue;
    both++;
    if (is_key(&keys, c) || strcmp(name, "time") == 0 || strcmp(name, "step") == 0) continue;
    pairs[found->count] = (pair){{c, other}, INFINITY, -INFINITY};
    memcpy(found->columns[found->count].name, name, GAB_APP_COLUMN_NAME);
    found->columns[found->count++].at = NAN;
  }
  found->single = of[0].columns + of[1].columns - 2 * both;
  compare_rows(of, &keys, pairs, found);
  relate(pairs, found);
  gab_free(&pairs);
  return GAB_OK;
}

gab_status gab_app_series_compare(const char *path_a, const char *path_b, gab_app_series_difference *found)
{
  gab_app_csv of[2] = {{0}};
  *found = (gab_app_series_difference){0};
  gab_status status = gab_app_csv_read(path_a, &of[0]);
  if (status == GAB_OK) status = gab_app_csv_read(path_b, &of[1]);
  if (status == GAB_OK) status = compare_tables(of, path_a, found);
  for (int i = 0; i < 2; i++) {
    found->rows[i] = of[i].rows;
    gab_app_csv_release(&of[i]);
  }
  return status;
}
