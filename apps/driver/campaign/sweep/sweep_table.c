/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the runs of a sweep, and the table of them. */
#include "apps/driver/campaign/csv_table.h"
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/base/text/text_impl.h"
#include "core/system/file.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- numbers of summary.json */

typedef struct reading {
  gab_app_sweep *sweep;
  double *values;
} reading;

/* Whether a name of summary.json is meant; members of `results` may be named without it. */
static bool is_meant(const char *wanted, const char *name)
{
  static const char prefix[] = "results.";
  if (strcmp(wanted, name) == 0) return true;
  return strncmp(name, prefix, sizeof prefix - 1) == 0 && strcmp(wanted, name + sizeof prefix - 1) == 0;
}

static gab_status take_number(void *user, const char *name, double value)
{
  const reading *by = user;
  for (size_t k = 0; k < by->sweep->result_count; k++) {
    gab_app_sweep_result *result = &by->sweep->results[k];
    if (!result->summary || !is_meant(result->summary, name)) continue;
    by->values[k] = value;
    result->was_met = true;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- columns of series */

/* Mean, minimum and maximum of rows of which one is not finite are NaN. */
static double take_rows(const gab_app_csv *series, size_t column, gab_app_sweep_result *result)
{
  size_t time, rows = 0;
  bool are_finite = true;
  double last = NAN, sum = 0, least = INFINITY, greatest = -INFINITY;
  const bool has_time = gab_app_csv_find(series, "time", &time);
  for (size_t i = 0; i < series->rows; i++) {
    const double *row = series->values + i * series->columns;
    if (has_time && row[time] < result->from) continue;
    rows++;
    last = row[column];
    are_finite = are_finite && isfinite(last);
    sum += last;
    least = fmin(least, last);
    greatest = fmax(greatest, last);
  }
  result->lacks_time = result->lacks_time || (!has_time && isfinite(result->from));
  if (rows == 0 || result->lacks_time) return NAN;
  result->was_met = true;
  if (result->take != GAB_APP_SWEEP_LAST && !are_finite) return NAN;
  switch (result->take) {
  case GAB_APP_SWEEP_LAST:
    return last;
  case GAB_APP_SWEEP_MEAN:
    return sum / (double)rows;
  case GAB_APP_SWEEP_MIN:
    return least;
  case GAB_APP_SWEEP_MAX:
    return greatest;
  }
  return NAN;
}

static gab_status take_series(gab_app_sweep *sweep, size_t point, size_t k)
{
  gab_app_sweep_result *result = &sweep->results[k];
  char file[GAB_APP_RESULT_NAME], path[PATH_MAX];
  gab_app_csv series = {0};
  size_t column;
  snprintf(file, sizeof file, "%.200s.csv", result->series);
  if (access(gab_app_sweep_path(sweep, point, file, path), F_OK) != 0) return GAB_OK;
  const gab_status status = gab_app_csv_read(path, &series);
  if (status == GAB_OK && gab_app_csv_find(&series, result->column, &column)) {
    result->has_column = true;
    sweep->values[point * sweep->result_count + k] = take_rows(&series, column, result);
  }
  gab_app_csv_release(&series);
  return status;
}

gab_status gab_app_sweep_results_read(gab_app_sweep *sweep, size_t point)
{
  char path[PATH_MAX];
  reading by = {.sweep = sweep, .values = sweep->values + point * sweep->result_count};
  gab_json_document *summary = gab_json_read_file(gab_app_sweep_path(sweep, point, "summary.json", path));
  if (!summary) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read", path);
  gab_status status = gab_json_each_number(summary, "/", take_number, &by);
  gab_json_forget(&summary);
  for (size_t k = 0; k < sweep->result_count && status == GAB_OK; k++)
    if (sweep->results[k].series) status = take_series(sweep, point, k);
  return status;
}

/* ---------------------------------------------------------------- names that no run has */

/* The name closest to a wanted one. */
typedef struct search {
  const char *wanted;
  char closest[GAB_APP_RESULT_NAME];
} search;

static gab_status look(void *user, const char *name, double value)
{
  search *for_ = user;
  (void)value;
  const char *plain = strncmp(name, "results.", 8) == 0 ? name + 8 : name;
  if (strlen(plain) >= sizeof for_->closest) return GAB_OK;
  if (!for_->closest[0] ||
      gab_app_closest(for_->wanted, (const char *const[]){for_->closest, plain, NULL}) == plain)
    memcpy(for_->closest, plain, strlen(plain) + 1);
  return GAB_OK;
}

static gab_status find_closest(const gab_app_sweep *sweep, size_t point, size_t k, search *found)
{
  const gab_app_sweep_result *result = &sweep->results[k];
  char path[PATH_MAX], file[GAB_APP_RESULT_NAME], key[GAB_CONFIG_PATH_CAPACITY];
  if (result->summary) {
    gab_json_document *summary = gab_json_read_file(gab_app_sweep_path(sweep, point, "summary.json", path));
    const gab_status status = gab_json_each_number(summary, "/", look, found);
    gab_json_forget(&summary);
    return status;
  }
  gab_app_csv series = {0};
  snprintf(file, sizeof file, "%.200s.csv", result->series);
  if (access(gab_app_sweep_path(sweep, point, file, path), F_OK) != 0)
    return gab_config_fail(sweep->config, gab_config_path(key, "results.%zu.series", k),
                           "%.300s is not there; name another table. Runs that are done are kept", path);
  const gab_status status = gab_app_csv_read(path, &series);
  for (size_t c = 0; status == GAB_OK && c < series.columns; c++) (void)look(found, series.names[c], 0);
  gab_app_csv_release(&series);
  return status;
}

/* A column of which no row counts. */
static gab_status fail_rows(const gab_app_sweep *sweep, size_t k)
{
  const gab_app_sweep_result *result = &sweep->results[k];
  char path[GAB_CONFIG_PATH_CAPACITY];
  const bool has_start = isfinite(result->from);
  gab_config_path(path, "results.%zu.%s", k, has_start ? "from" : "column");
  if (result->lacks_time)
    return gab_config_fail(sweep->config, path,
                           "%.100s.csv has no column 'time'; leave from out. Runs that are done are kept",
                           result->series);
  return gab_config_fail(sweep->config, path,
                         "no run has a row of %.100s.csv%s; %s. Runs that are done are kept", result->series,
                         has_start ? " at this time or later" : "",
                         has_start ? "lower it" : "take another series");
}

gab_status gab_app_sweep_results_check(const gab_app_sweep *sweep)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t done = 0;
  while (done < sweep->point_count && sweep->points[done].state != GAB_APP_SWEEP_DONE) done++;
  if (done == sweep->point_count) return GAB_OK;
  for (size_t k = 0; k < sweep->result_count; k++) {
    const gab_app_sweep_result *result = &sweep->results[k];
    search found = {.wanted = result->summary ? result->summary : result->column};
    if (result->lacks_time || (result->has_column && !result->was_met)) return fail_rows(sweep, k);
    if (result->was_met) continue;
    GAB_TRY(find_closest(sweep, done, k, &found));
    gab_config_path(path, "results.%zu.%s", k, result->summary ? "summary" : "column");
    return gab_config_fail(sweep->config, path,
                           "no run has '%.100s'; did you mean '%s'? Runs that are done are kept",
                           found.wanted, found.closest);
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- the table */

static gab_status put(gab_buffer *text, const char *words)
{
  return gab_put_bytes(text, words, strlen(words));
}

static gab_status put_head(const gab_app_sweep *sweep, gab_buffer *text)
{
  GAB_TRY(put(text, "point"));
  for (size_t k = 0; k < sweep->key_count; k++) {
    GAB_TRY(put(text, ","));
    GAB_TRY(put(text, sweep->keys[k].name));
  }
  for (size_t k = 0; k < sweep->result_count; k++) {
    GAB_TRY(put(text, ","));
    GAB_TRY(put(text, sweep->results[k].name));
  }
  return put(text, ",folder\n");
}

static gab_status put_row(const gab_app_sweep *sweep, size_t point, gab_buffer *text)
{
  char word[GAB_APP_SWEEP_NAME], number[40];
  snprintf(number, sizeof number, "%zu", point + 1);
  GAB_TRY(put(text, number));
  for (size_t k = 0; k < sweep->key_count; k++) {
    gab_app_sweep_word(sweep, point, k, word, sizeof word);
    GAB_TRY(put(text, ","));
    GAB_TRY(put(text, word));
  }
  for (size_t k = 0; k < sweep->result_count; k++) {
    const double value = sweep->values[point * sweep->result_count + k];
    if (isnan(value)) snprintf(number, sizeof number, "nan");
    else gab_text_format_real(value, 6, number, sizeof number);
    GAB_TRY(put(text, ","));
    GAB_TRY(put(text, number));
  }
  GAB_TRY(put(text, ","));
  GAB_TRY(put(text, sweep->points[point].name));
  return put(text, "\n");
}

gab_status gab_app_sweep_table_write(const gab_app_sweep *sweep)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  gab_buffer text = {0};
  snprintf(path, sizeof path, "%s/sweep.csv", sweep->folder);
  gab_status status = put_head(sweep, &text);
  for (size_t i = 0; i < sweep->point_count && status == GAB_OK; i++)
    if (sweep->points[i].state == GAB_APP_SWEEP_DONE) status = put_row(sweep, i, &text);
  if (status == GAB_OK) status = gab_file_replace(path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
  return status;
}
