/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a sweep. */
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const gab_config_key top_keys[] = {
    {.name = "case",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .doc = "parameter file of the runs"},
    {.name = "set",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = "[]",
     .doc = "parameters of all runs over those of the file, KEY=VALUE as after --set"},
    {.name = "design",
     .type = GAB_CONFIG_CHOICE,
     .choices = "grid|list|latin_hypercube",
     .default_text = "grid",
     .doc = "all combinations of the values; the k-th values together; samples of ranges"},
    {.name = "names",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "with list: names of the points instead of those made of values"},
    {.name = "samples",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = GAB_APP_SWEEP_MOST_POINTS,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "with latin_hypercube: number of points"},
    {.name = "seed", .type = GAB_CONFIG_INT, .max = 9e15, .default_text = "1", .doc = "of latin_hypercube"},
    {.name = "processes",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1e6,
     .default_text = "1",
     .doc = "of each run"},
    {.name = "threads",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 4096,
     .default_text = "1",
     .doc = "of each process (OMP_NUM_THREADS)"},
    {.name = "at_once",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 4096,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "runs at the same time; default: cores over threads of a run"},
    {.name = "tries",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 100,
     .default_text = "3",
     .doc = "starts of a run that dies"},
};
static const gab_config_key vary_keys[] = {
    {.name = "key", .type = GAB_CONFIG_STRING, .doc = "parameter, as after --set"},
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "in folder names and in the table; default: last word of the key"},
    {.name = "values",
     .type = GAB_CONFIG_STRING,
     .any_value = true,
     .length_min = 1,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .repeats = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "its values"},
    {.name = "labels",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "of the values, in folder names and in the table"},
    {.name = "range",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "with latin_hypercube, instead of values: from and to"},
    {.name = "scale",
     .type = GAB_CONFIG_CHOICE,
     .choices = "linear|log",
     .default_text = "linear",
     .doc = "of a range: parts of equal width or of equal ratio"},
    {.name = "whole",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .doc = "round samples of a range to whole numbers"},
};
static const gab_config_key result_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "column of the table; default: made of the other words"},
    {.name = "summary",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "a number of summary.json, e.g. max_speed_m_per_s of its results, or steps"},
    {.name = "series",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "a table of the run without .csv, e.g. forces"},
    {.name = "column",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "of the series"},
    {.name = "take",
     .type = GAB_CONFIG_CHOICE,
     .choices = "last|mean|min|max",
     .default_text = "last",
     .doc = "of the column: its last row, or of its rows"},
    {.name = "from",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "of the column: time of the first row"},
};
#define ROWS(keys) keys, .count = sizeof(keys) / sizeof(keys)[0]
static const gab_config_section sections[] = {
    {.path = "", .keys = ROWS(top_keys), .doc = "a sweep"},
    {.path = "vary", .keys = ROWS(vary_keys), .is_list = true, .doc = "varied parameters"},
    {.path = "results", .keys = ROWS(result_keys), .is_list = true, .doc = "columns of the table"},
};
#undef ROWS

static const char *optional(const gab_config *config, const char *path)
{
  return gab_config_is_set(config, path) ? gab_config_string(config, path) : NULL;
}

/* ---------------------------------------------------------------- parameters */

static gab_status check_name(const gab_config *config, const char *path, const char *name)
{
  size_t i = 0;
  while (name[i] && (strchr("_.+-", name[i]) ? i > 0
                     : (name[i] | 32) >= 'a' ? (name[i] | 32) <= 'z'
                                             : name[i] >= '0' && name[i] <= '9'))
    i++;
  if (name[0] && !name[i] && i < 128) return GAB_OK;
  return gab_config_fail(
      config, path,
      "'%.140s': expected up to 127 letters, digits and _ . + -, with a letter or a digit first", name);
}

static gab_status read_values(const gab_app_sweep *sweep, size_t index, gab_app_sweep_key *key)
{
  const gab_config *config = sweep->config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t labels;
  key->values =
      gab_config_strings(config, gab_config_path(path, "vary.%zu.values", index), &key->value_count);
  key->labels = gab_config_strings(config, gab_config_path(path, "vary.%zu.labels", index), &labels);
  if (key->value_count == 0) key->values = NULL;
  if (labels == 0) key->labels = NULL;
  if (labels > 0 && labels != key->value_count)
    return gab_config_fail(config, path, "has %zu labels for %zu values", labels, key->value_count);
  for (size_t i = 0; i < labels; i++) GAB_TRY(check_name(config, path, key->labels[i]));
  return GAB_OK;
}

/* Refuses a key that the rest of its entry leaves without effect. */
static gab_status check_unset(const gab_config *config, const char *section, size_t index, const char *name,
                              const char *why)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  if (!gab_config_is_set(config, gab_config_path(path, "%s.%zu.%s", section, index, name))) return GAB_OK;
  return gab_config_fail(config, path, "has no effect %s; leave it out", why);
}

static gab_status read_range(const gab_app_sweep *sweep, size_t index, gab_app_sweep_key *key)
{
  const gab_config *config = sweep->config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  const bool is_sampled = sweep->design == GAB_APP_SWEEP_HYPERCUBE;
  key->is_whole = gab_config_bool(config, gab_config_path(path, "vary.%zu.whole", index));
  key->is_log = gab_config_choice_index(config, gab_config_path(path, "vary.%zu.scale", index)) == 1;
  const double *range = gab_config_reals(config, gab_config_path(path, "vary.%zu.range", index), &count);
  if (count == 0 && !key->values)
    return gab_config_fail(config, gab_config_path(path, "vary.%zu", index), "needs %s",
                           is_sampled ? "a range, or values" : "values");
  if (count == 0) GAB_TRY(check_unset(config, "vary", index, "scale", "on values"));
  if (count == 0) return check_unset(config, "vary", index, "whole", "on values");
  if (key->values) return gab_config_fail(config, path, "values and range exclude each other");
  if (!is_sampled)
    return gab_config_fail(config, path, "a range needs design: latin_hypercube; give values instead");
  memcpy(key->range, range, sizeof key->range);
  if (!(range[0] < range[1])) return gab_config_fail(config, path, "must ascend");
  if (key->is_log && !(range[0] > 0))
    return gab_config_fail(config, path, "must be positive with scale: log");
  if (key->is_whole && ceil(range[0]) > floor(range[1]))
    return gab_config_fail(config, path, "has no whole number; widen it, or leave whole out");
  return GAB_OK;
}

/* Whether one of two keys is the other one or a section around it: the later assignment would replace the earlier one.
 * @param[in] length  of key a, which may have "=VALUE" behind it */
static bool do_overlap(const char *a, size_t length, const char *b)
{
  const size_t other = strlen(b), least = length < other ? length : other;
  if (strncmp(a, b, least) != 0) return false;
  return length == other || (length < other ? b[length] : a[other]) == '.';
}

/* Refuses assignments for all runs that meet a varied key. */
static gab_status check_settings(const gab_app_sweep *sweep)
{
  const gab_config *config = sweep->config;
  const gab_app_options *options = sweep->options;
  char path[GAB_CONFIG_PATH_CAPACITY], where[GAB_CONFIG_PATH_CAPACITY + PATH_MAX];
  size_t common;
  const char *const *set = gab_config_strings(config, "set", &common);
  for (size_t k = 0; k < sweep->key_count; k++) {
    const char *key = sweep->keys[k].key;
    for (size_t i = 0; i < common; i++)
      if (do_overlap(set[i], strcspn(set[i], "="), key))
        return gab_config_fail(config, "set", "%.200s: vary.%zu varies %s; leave one of them out", set[i], k,
                               key);
    for (size_t i = 0; i < options->setting_count; i++)
      if (do_overlap(options->settings[i], strcspn(options->settings[i], "="), key))
        GAB_FAIL(GAB_ERR_INPUT, "--set %.200s: %s varies %s (vary.%zu); leave one of them out",
                 options->settings[i],
                 gab_config_where(config, gab_config_path(path, "vary.%zu.key", k), where, sizeof where), key,
                 k);
  }
  return GAB_OK;
}

static gab_status read_key(gab_app_sweep *sweep, size_t index)
{
  const gab_config *config = sweep->config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_app_sweep_key *key = &sweep->keys[index];
  key->key = gab_config_string(config, gab_config_path(path, "vary.%zu.key", index));
  if (!key->key[0] || strchr(key->key, '='))
    return gab_config_fail(config, path, "'%.80s' is not a key", key->key);
  key->name = optional(config, gab_config_path(path, "vary.%zu.name", index));
  if (!key->name) {
    const char *dot = strrchr(key->key, '.');
    key->name = dot ? dot + 1 : key->key;
  }
  GAB_TRY(check_name(config, path, key->name));
  for (size_t i = 0; i < index; i++) {
    if (strcmp(sweep->keys[i].key, key->key) == 0)
      return gab_config_fail(config, gab_config_path(path, "vary.%zu.key", index), "%s is varied twice",
                             key->key);
    if (do_overlap(sweep->keys[i].key, strlen(sweep->keys[i].key), key->key))
      return gab_config_fail(config, gab_config_path(path, "vary.%zu.key", index),
                             "%s and %s (vary.%zu) overlap: one would replace the other; vary their members",
                             key->key, sweep->keys[i].key, i);
    if (strcmp(sweep->keys[i].name, key->name) == 0)
      return gab_config_fail(config, path, "'%s' is the name of %s, too; give this one another name",
                             key->name, sweep->keys[i].key);
  }
  GAB_TRY(read_values(sweep, index, key));
  return read_range(sweep, index, key);
}

/* ---------------------------------------------------------------- results */

static gab_status read_result(gab_app_sweep *sweep, size_t index)
{
  static const char *const takes[] = {"last", "mean", "min", "max"};
  const gab_config *config = sweep->config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_app_sweep_result *result = &sweep->results[index];
  result->summary = optional(config, gab_config_path(path, "results.%zu.summary", index));
  result->series = optional(config, gab_config_path(path, "results.%zu.series", index));
  result->column = optional(config, gab_config_path(path, "results.%zu.column", index));
  result->take =
      (gab_app_sweep_take)gab_config_choice_index(config, gab_config_path(path, "results.%zu.take", index));
  gab_config_path(path, "results.%zu.from", index);
  result->from = gab_config_is_set(config, path) ? gab_config_real(config, path) : -HUGE_VAL;
  gab_config_path(path, "results.%zu", index);
  if (!result->summary == !result->series)
    return gab_config_fail(config, path, "needs either summary, or series and column");
  if (!result->series != !result->column)
    return gab_config_fail(config, path, "series and column belong together");
  if (result->summary) GAB_TRY(check_unset(config, "results", index, "take", "on a number of summary.json"));
  if (result->summary) GAB_TRY(check_unset(config, "results", index, "from", "on a number of summary.json"));
  if (result->series && (strchr(result->series, '/') || result->series[0] == '.'))
    return gab_config_fail(config, path,
                           "series '%.80s': expected the name of a table in the folder of the run",
                           result->series);
  const char *name = optional(config, gab_config_path(path, "results.%zu.name", index));
  if (name) snprintf(result->name, sizeof result->name, "%s", name);
  else if (result->summary) snprintf(result->name, sizeof result->name, "%s", result->summary);
  else
    snprintf(result->name, sizeof result->name, "%s.%s%s%s", result->series, result->column,
             result->take == GAB_APP_SWEEP_LAST ? "" : ".",
             result->take == GAB_APP_SWEEP_LAST ? "" : takes[result->take]);
  GAB_TRY(check_name(config, path, result->name));
  bool is_taken = strcmp(result->name, "point") == 0 || strcmp(result->name, "folder") == 0;
  for (size_t i = 0; i < index; i++) is_taken = is_taken || strcmp(sweep->results[i].name, result->name) == 0;
  for (size_t i = 0; i < sweep->key_count; i++)
    is_taken = is_taken || strcmp(sweep->keys[i].name, result->name) == 0;
  return is_taken ? gab_config_fail(config, path, "a second column '%s'; give it another name", result->name)
                  : GAB_OK;
}

/* ---------------------------------------------------------------- the file */

static int64_t cores(void)
{
  cpu_set_t mine;
  return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

static gab_status read_top(gab_app_sweep *sweep)
{
  const gab_config *config = sweep->config;
  size_t names;
  GAB_TRY(gab_config_file_of(config, "case", sweep->case_file));
  sweep->design = (gab_app_sweep_design)gab_config_choice_index(config, "design");
  sweep->seed = (uint64_t)gab_config_int(config, "seed");
  sweep->processes = gab_config_int(config, "processes");
  sweep->threads = gab_config_int(config, "threads");
  sweep->tries = gab_config_int(config, "tries");
  sweep->at_once = gab_config_int(config, "at_once");
  if (sweep->at_once == 0) sweep->at_once = cores() / (sweep->processes * sweep->threads);
  if (sweep->at_once == 0) sweep->at_once = 1;
  (void)gab_config_strings(config, "names", &names);
  if (names > 0 && sweep->design != GAB_APP_SWEEP_LIST)
    return gab_config_fail(config, "names", "needs design: list; elsewhere use vary.labels");
  const bool is_sampled = sweep->design == GAB_APP_SWEEP_HYPERCUBE;
  if (is_sampled != gab_config_is_set(config, "samples"))
    return gab_config_fail(config, is_sampled ? "design" : "samples",
                           is_sampled ? "latin_hypercube needs samples" : "needs design: latin_hypercube");
  if (!is_sampled && gab_config_is_set(config, "seed"))
    return gab_config_fail(config, "seed", "needs design: latin_hypercube; leave it out");
  return GAB_OK;
}

static gab_status read_all(gab_app_sweep *sweep)
{
  const gab_config *config = sweep->config;
  GAB_TRY(read_top(sweep));
  sweep->key_count = gab_config_count(config, "vary");
  sweep->result_count = gab_config_count(config, "results");
  if (sweep->key_count == 0)
    GAB_FAIL(GAB_ERR_INPUT, "%s: vary is missing: nothing to vary", gab_config_name(config));
  GAB_TRY(GAB_NEW_ARRAY(&sweep->keys, sweep->key_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&sweep->results, sweep->result_count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < sweep->key_count; i++) GAB_TRY(read_key(sweep, i));
  GAB_TRY(check_settings(sweep));
  for (size_t i = 0; i < sweep->result_count; i++) GAB_TRY(read_result(sweep, i));
  return gab_app_sweep_points_make(sweep);
}

gab_status gab_app_sweep_read(const gab_app_options *options, gab_app_sweep *sweep)
{
  *sweep = (gab_app_sweep){.options = options};
  if (!options->word) GAB_FAIL(GAB_ERR_INPUT, "no file of a sweep given (gabion sweep --help)");
  if (options->out) snprintf(sweep->folder, sizeof sweep->folder, "%s", options->out);
  else gab_app_default_folder(options->word, sweep->folder, sizeof sweep->folder);
  GAB_TRY(gab_config_create(&sweep->config));
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
    GAB_TRY(gab_config_declare(sweep->config, &sections[i]));
  GAB_TRY(gab_config_load(sweep->config, options->word));
  GAB_TRY(gab_config_check(sweep->config));
  return read_all(sweep);
}

void gab_app_sweep_release(gab_app_sweep *sweep)
{
  for (size_t i = 0; sweep->keys && i < sweep->key_count; i++) gab_free(&sweep->keys[i].part);
  for (size_t i = 0; sweep->points && i < sweep->point_count; i++) free(sweep->points[i].message);
  gab_free(&sweep->keys);
  gab_free(&sweep->results);
  gab_free(&sweep->points);
  gab_free(&sweep->values);
  gab_config_destroy(&sweep->config);
}
