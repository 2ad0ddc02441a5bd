/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a sweep: values, names, assignments. */
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 200 }; /* of a folder; longer ones end with a hash */

/* ---------------------------------------------------------------- values */

/* The position of a point in a list of `count` values. */
static size_t index_of(const gab_app_sweep *sweep, size_t point, size_t key)
{
  const size_t count = sweep->keys[key].value_count;
  if (sweep->design == GAB_APP_SWEEP_LIST) return point;
  if (sweep->design == GAB_APP_SWEEP_HYPERCUBE)
    return sweep->keys[key].part[point] * count / sweep->point_count;
  for (size_t k = sweep->key_count - 1; k > key; k--) point /= sweep->keys[k].value_count;
  return point % count;
}

/* Where a share of the points ends in a range. */
static double place_of(const gab_app_sweep_key *of, double share)
{
  const double *range = of->range;
  const double place =
      of->is_log ? range[0] * pow(range[1] / range[0], share) : range[0] + (range[1] - range[0]) * share;
  return fmin(fmax(place, range[0]), range[1]);
}

/* A place in the part of the range, to six digits or as many more as keep it there: what the name of the folder says is the
 * value. */
static void sample(const gab_app_sweep *sweep, size_t point, size_t key, char number[40])
{
  const gab_app_sweep_key *of = &sweep->keys[key];
  const double at = gab_hash_uniform(sweep->seed, 2 * key + 1, point);
  const double part = of->part[point], parts = (double)sweep->point_count;
  const double value = place_of(of, (part + at) / parts);
  if (of->is_whole) { /* + 0.: not -0 */
    snprintf(number, 40, "%.0f", fmin(fmax(round(value), ceil(of->range[0])), floor(of->range[1])) + 0.);
    return;
  }
  const double from = place_of(of, part / parts), to = place_of(of, (part + 1) / parts);
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(number, 40, "%.*g", digits, value);
    const double read = strtod(number, NULL);
    if (read >= from && read < to) return;
  }
}

const char *gab_app_sweep_value(const gab_app_sweep *sweep, size_t point, size_t key, char number[40])
{
  if (sweep->keys[key].values) return sweep->keys[key].values[index_of(sweep, point, key)];
  sample(sweep, point, key, number);
  return number;
}

/* "[64, 64]" to "64x64", "walls/a.stl" to "walls_a.stl" */
static void legal_word(const char *text, char *word, size_t capacity)
{
  size_t used = 0;
  for (; *text && used + 1 < capacity; text++) {
    const char c = *text;
    if (strchr(" []{}'\"", c)) continue;
    const bool is_legal = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("+-._", c);
    word[used++] = c == ',' ? 'x' : is_legal ? c : '_';
  }
  word[used] = '\0';
}

void gab_app_sweep_word(const gab_app_sweep *sweep, size_t point, size_t key, char *word, size_t capacity)
{
  char number[40];
  if (sweep->keys[key].labels)
    snprintf(word, capacity, "%s", sweep->keys[key].labels[index_of(sweep, point, key)]);
  else legal_word(gab_app_sweep_value(sweep, point, key, number), word, capacity);
}

/* ---------------------------------------------------------------- names */

static gab_status name_point(const gab_app_sweep *sweep, size_t index, char name[GAB_APP_SWEEP_NAME])
{
  size_t given;
  char word[GAB_APP_SWEEP_NAME];
  gab_buffer whole = {0};
  gab_status status = GAB_OK;
  const char *const *names = gab_config_strings(sweep->config, "names", &given);
  if (given > 0) {
    snprintf(name, GAB_APP_SWEEP_NAME, "%s", names[index]);
    return GAB_OK;
  }
  for (size_t k = 0; k < sweep->key_count && status == GAB_OK; k++) {
    char part[GAB_APP_SWEEP_NAME + 160];
    gab_app_sweep_word(sweep, index, k, word, sizeof word);
    const int length = snprintf(part, sizeof part, "%s%s_%s", k > 0 ? "-" : "", sweep->keys[k].name, word);
    status = gab_put_bytes(&whole, part, (size_t)length);
  }
  if (status == GAB_OK && whole.size <= LONGEST_NAME)
    snprintf(name, GAB_APP_SWEEP_NAME, "%.*s", (int)whole.size, (const char *)whole.data);
  else if (status == GAB_OK)
    snprintf(name, GAB_APP_SWEEP_NAME, "%.*s~%016" PRIx64, LONGEST_NAME - 17, (const char *)whole.data,
             gab_hash64(whole.data, whole.size, 0));
  gab_buffer_release(&whole);
  return status;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp((*(const gab_app_sweep_point *const *)a)->name,
                (*(const gab_app_sweep_point *const *)b)->name);
}

static gab_status check_unique(const gab_app_sweep *sweep)
{
  const gab_app_sweep_point **order;
  gab_status status = GAB_NEW_ARRAY(&order, sweep->point_count, GAB_MEMORY_OTHER);
  for (size_t i = 0; status == GAB_OK && i < sweep->point_count; i++) order[i] = &sweep->points[i];
  if (status == GAB_OK) qsort(order, sweep->point_count, sizeof *order, compare_names);
  for (size_t i = 1; status == GAB_OK && i < sweep->point_count; i++)
    if (strcmp(order[i - 1]->name, order[i]->name) == 0)
      status = gab_error_set(
          GAB_ERR_INPUT, __FILE__, __LINE__,
          "%s: points %td and %td would both have the folder %s; leave a value out that is twice "
          "there, or give the values labels (a list: names)",
          gab_config_name(sweep->config), order[i - 1] - sweep->points + 1, order[i] - sweep->points + 1,
          order[i]->name);
  gab_free(&order);
  return status;
}

/* Whether the sweep itself writes a file or a folder of that name, or temporary files with it. */
static bool is_taken(const char *name)
{
  static const char *const own[] = {"messages", "sweep.csv", "sweep.yaml", "run.lock"};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
    const size_t length = strlen(own[i]);
    if (strncmp(name, own[i], length) == 0 && (!name[length] || name[length] == '.')) return true;
  }
  return false;
}

/* ---------------------------------------------------------------- designs */

static gab_status count_points(gab_app_sweep *sweep)
{
  const gab_config *config = sweep->config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t names;
  (void)gab_config_strings(config, "names", &names);
  sweep->point_count =
      sweep->design == GAB_APP_SWEEP_HYPERCUBE ? (size_t)gab_config_int(config, "samples") : 1;
  for (size_t k = 0; k < sweep->key_count; k++) {
    const size_t count = sweep->keys[k].value_count;
    if (sweep->design == GAB_APP_SWEEP_GRID) sweep->point_count *= count;
    if (sweep->design == GAB_APP_SWEEP_LIST && k == 0) sweep->point_count = count;
    if (sweep->design == GAB_APP_SWEEP_LIST && count != sweep->point_count)
      return gab_config_fail(config, gab_config_path(path, "vary.%zu.values", k),
                             "has %zu values, and %s has %zu; a list takes the k-th values together", count,
                             sweep->keys[0].key, sweep->point_count);
    if (sweep->point_count > GAB_APP_SWEEP_MOST_POINTS)
      return gab_config_fail(config, "vary", "more than %d points", GAB_APP_SWEEP_MOST_POINTS);
  }
  if (names > 0 && names != sweep->point_count)
    return gab_config_fail(config, "names", "has %zu names for %zu points", names, sweep->point_count);
  return GAB_OK;
}

/* Which part of the range each point has: a random permutation (Fisher and Yates). */
static gab_status draw_parts(gab_app_sweep *sweep, size_t key)
{
  uint32_t **part = &sweep->keys[key].part;
  GAB_TRY(GAB_NEW_ARRAY(part, sweep->point_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < sweep->point_count; i++) {
    const size_t other = (size_t)(gab_hash_uniform(sweep->seed, 2 * key, i) * (double)(i + 1));
    (*part)[i] = (*part)[other];
    (*part)[other] = (uint32_t)i;
  }
  return GAB_OK;
}

gab_status gab_app_sweep_points_make(gab_app_sweep *sweep)
{
  size_t names;
  const char *const *given = gab_config_strings(sweep->config, "names", &names);
  GAB_TRY(count_points(sweep));
  for (size_t k = 0; k < sweep->key_count && sweep->design == GAB_APP_SWEEP_HYPERCUBE; k++)
    GAB_TRY(draw_parts(sweep, k));
  GAB_TRY(GAB_NEW_ARRAY(&sweep->points, sweep->point_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&sweep->values, sweep->point_count * sweep->result_count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < names; i++) {
    char legal[GAB_APP_SWEEP_NAME];
    legal_word(given[i], legal, sizeof legal);
    if (strcmp(legal, given[i]) != 0 || !given[i][0] || strchr(".-+", given[i][0]) ||
        strlen(given[i]) > LONGEST_NAME)
      return gab_config_fail(sweep->config, "names",
                             "'%.80s' is not a name of a folder: expected letters, digits and _ . + -",
                             given[i]);
    if (is_taken(given[i]))
      return gab_config_fail(
          sweep->config, "names",
          "'%.80s': the sweep has a file or a folder of this name; give the point another one", given[i]);
  }
  for (size_t i = 0; i < sweep->point_count; i++) {
    GAB_TRY(name_point(sweep, i, sweep->points[i].name));
    for (size_t k = 0; k < sweep->result_count; k++) sweep->values[i * sweep->result_count + k] = NAN;
  }
  return check_unique(sweep);
}

const char *gab_app_sweep_path(const gab_app_sweep *sweep, size_t point, const char *file,
                               char path[PATH_MAX])
{
  snprintf(path, PATH_MAX, "%s/%s%s%s", sweep->folder, sweep->points[point].name, file ? "/" : "",
           file ? file : "");
  return path;
}

/* ---------------------------------------------------------------- assignments */

static gab_status add(gab_app_sweep_settings *settings, const char *item)
{
  if (settings->count == GAB_APP_MOST_SETTINGS)
    GAB_FAIL(GAB_ERR_INPUT, "more than %d parameters are set or varied", GAB_APP_MOST_SETTINGS);
  settings->items[settings->count++] = item;
  return GAB_OK;
}

gab_status gab_app_sweep_settings_make(const gab_app_sweep *sweep, size_t point,
                                       gab_app_sweep_settings *settings)
{
  size_t common;
  char number[40];
  const char *const *set = gab_config_strings(sweep->config, "set", &common);
  for (size_t i = 0; i < common; i++) GAB_TRY(add(settings, set[i]));
  for (size_t i = 0; i < sweep->options->setting_count; i++)
    GAB_TRY(add(settings, sweep->options->settings[i]));
  for (size_t k = 0; k < sweep->key_count; k++) {
    const char *value = gab_app_sweep_value(sweep, point, k, number);
    GAB_TRY(gab_put_bytes(&settings->texts, sweep->keys[k].key, strlen(sweep->keys[k].key)));
    GAB_TRY(gab_put_u8(&settings->texts, '='));
    GAB_TRY(gab_put_bytes(&settings->texts, value, strlen(value) + 1));
  }
  for (size_t k = 0, at = 0; k < sweep->key_count; k++) { /* where the texts stay */
    const char *text = (const char *)settings->texts.data + at;
    GAB_TRY(add(settings, text));
    at += strlen(text) + 1;
  }
  return GAB_OK;
}

void gab_app_sweep_settings_release(gab_app_sweep_settings *settings)
{
  gab_buffer_release(&settings->texts);
  *settings = (gab_app_sweep_settings){.count = 0};
}
