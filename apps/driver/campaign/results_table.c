/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/driver/campaign/results_table.h"

#include <math.h>
#include <string.h>

typedef struct reading {
  gab_app_results *all;
  size_t run, next; /* row after the last one found: runs of one case have equal order */
  const gab_app_options *options;
} reading;

static bool is_wanted(const gab_app_options *options, const char *name)
{
  for (size_t i = 0; i < options->value_count; i++)
    if (strstr(name, options->values[i])) return true;
  return options->value_count == 0;
}

static gab_status find_row(gab_app_results *all, const char *name, size_t hint, size_t *found)
{
  size_t k = hint < all->count && strcmp(all->rows[hint].name, name) == 0 ? hint : 0;
  while (k < all->count && strcmp(all->rows[k].name, name) != 0) k++;
  *found = k;
  if (k < all->count) return GAB_OK;
  if (k == all->capacity) {
    all->capacity = 2 * all->capacity + 64;
    GAB_TRY(GAB_RESIZE_ARRAY(&all->rows, all->capacity, GAB_MEMORY_OTHER));
  }
  snprintf(all->rows[k].name, GAB_APP_RESULT_NAME, "%s", name);
  for (size_t i = 0; i < GAB_APP_MOST_RUNS; i++) all->rows[k].value[i] = NAN;
  all->count++;
  return GAB_OK;
}

static gab_status take_value(void *user, const char *name, double value)
{
  reading *by = user;
  size_t k;
  if (!is_wanted(by->options, name)) return GAB_OK;
  if (strlen(name) >= GAB_APP_RESULT_NAME)
    GAB_FAIL(GAB_ERR_INPUT, "result %.60s...: its name is longer than %d bytes", name,
             GAB_APP_RESULT_NAME - 1);
  GAB_TRY(find_row(by->all, name, by->next, &k));
  by->all->rows[k].value[by->run] = value;
  by->next = k + 1;
  return GAB_OK;
}

gab_status gab_app_results_read(gab_app_results *all, size_t run, const char *folder,
                                const gab_app_options *options)
{
  char path[GAB_APP_PATH_LENGTH + 96];
  reading by = {.all = all, .run = run, .options = options};
  snprintf(path, sizeof path, "%s/summary.json", folder);
  gab_json_document *summary = gab_json_read_file(path);
  if (!summary) GAB_FAIL(GAB_ERR_INPUT, "%s cannot be read", path);
  const gab_status status = gab_json_each_number(summary, "/results", take_value, &by);
  gab_json_forget(&summary);
  return status;
}

bool gab_app_result_is_complete(const gab_app_result *row, size_t runs)
{
  for (size_t i = 0; i < runs; i++)
    if (isnan(row->value[i])) return false;
  return true;
}

double gab_app_result_vector_scale(const gab_app_results *all, const gab_app_result *row, size_t runs)
{
  const char *dot = strrchr(row->name, '.');
  double most = 0;
  if (!dot || strspn(dot + 1, "0123456789") != strlen(dot + 1)) return 0;
  for (size_t k = 0; k < all->count; k++) {
    if (strncmp(all->rows[k].name, row->name, (size_t)(dot + 1 - row->name)) != 0) continue;
    for (size_t i = 0; i < runs; i++) most = fmax(most, fabs(all->rows[k].value[i])); /* NaN does not count */
  }
  return most;
}

void gab_app_results_release(gab_app_results *all)
{
  gab_free(&all->rows);
  *all = (gab_app_results){0};
}
