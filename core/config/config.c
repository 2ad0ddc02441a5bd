/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"
#include "core/base/log.h"

#include "core/system/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const size_t largest_file = (size_t)16 << 20; /* bytes; a larger file is not a parameter file */

/* ---- life ---- */

gab_status gab_config_create(gab_config **config)
{
  *config = NULL;
  GAB_TRY(GAB_NEW(config, GAB_MEMORY_OTHER));
  return GAB_OK;
}

void gab_config_result_release(config_result *result)
{
  for (size_t i = 0; i < result->count; i++) gab_expression_destroy(&result->entries[i].expression);
  gab_config_arena_release(&result->arena);
  gab_free(&result->entries);
  *result = (config_result){0};
}

void gab_config_destroy(gab_config **config)
{
  if (!*config) return;
  gab_config_result_release(&(*config)->result);
  gab_config_arena_release(&(*config)->override_arena);
  gab_buffer_release(&(*config)->name);
  gab_buffer_release(&(*config)->text);
  gab_free(&(*config)->overrides);
  gab_free(&(*config)->sections);
  gab_free(config);
}

/* ---- loading ---- */

/* The root of the document must be a mapping. */
static gab_status check_text(const char *name, const char *text, size_t length)
{
  if (length == 0) GAB_FAIL(GAB_ERR_INPUT, "%s:1:1: the file is empty", name);
  if (length > largest_file)
    GAB_FAIL(GAB_ERR_INPUT, "%s: %zu bytes are too much for a parameter file (at most %zu)", name, length,
             largest_file);
  config_arena arena = {NULL};
  config_node *root = NULL;
  gab_status status = gab_config_tree_parse(&arena, name, NULL, text, length, &root);
  bool mapping = root && root->kind == CONFIG_MAPPING, something = root;
  int line = root ? root->line : 1, column = root ? root->column : 1;
  gab_config_arena_release(&arena);
  GAB_TRY(status);
  if (!something) GAB_FAIL(GAB_ERR_INPUT, "%s:1:1: the file holds no parameters", name);
  if (!mapping)
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d:%d: the file should consist of sections (name: ...)", name, line, column);
  return GAB_OK;
}

gab_status gab_config_load_text(gab_config *config, const char *name, const char *text, size_t length)
{
  GAB_TRY(check_text(name, text, length));
  gab_buffer new_name = {0}, new_text = {0};
  gab_status status = gab_put_bytes(&new_name, name, strlen(name) + 1);
  if (status == GAB_OK) status = gab_put_bytes(&new_text, text, length);
  if (status == GAB_OK) status = gab_put_u8(&new_text, 0);
  if (status == GAB_OK) {
    gab_buffer_swap(&config->name, &new_name);
    gab_buffer_swap(&config->text, &new_text);
    config->loaded = true;
  }
  gab_buffer_release(&new_name);
  gab_buffer_release(&new_text);
  return status;
}

gab_status gab_config_load(gab_config *config, const char *path)
{
  gab_buffer text = {0};
  gab_status status = gab_file_read(path, largest_file, &text);
  if (status == GAB_OK) status = gab_config_load_text(config, path, (const char *)text.data, text.size);
  gab_buffer_release(&text);
  return status;
}

const char *gab_config_text(const gab_config *config, size_t *length)
{
  if (length) *length = config->loaded ? config->text.size - 1 : 0;
  return config->loaded ? (const char *)config->text.data : "";
}

const char *gab_config_name(const gab_config *config)
{
  return config->loaded ? (const char *)config->name.data : "";
}

gab_status gab_config_override(gab_config *config, const char *assignment)
{
  /* Parsed on an empty tree to check its form; gab_config_check() checks it against the file. */
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment)
    GAB_FAIL(GAB_ERR_INPUT, "--set %s: the form is section.key=value", assignment);
  const size_t bad = strcspn(assignment, " \t\r\n\"'{}[]:,#&*!|>%@`\x7f\x1b\x01\x02\x03\x04\x05\x06\x07\b");
  if (assignment + bad < equals)
    GAB_FAIL(GAB_ERR_INPUT, "--set %s: '%.*s' is not the name of a parameter", assignment,
             (int)(equals - assignment), assignment);
  config_arena arena = {NULL};
  config_node *node;
  gab_status status =
      gab_config_tree_parse(&arena, "--set", assignment, equals + 1, strlen(equals + 1), &node);
  gab_config_arena_release(&arena);
  GAB_TRY(status);
  GAB_TRY(gab_config_grow(&config->overrides, config->override_count, &config->override_capacity,
                          sizeof *config->overrides));
  GAB_TRY(gab_config_arena_text(&config->override_arena, assignment, strlen(assignment),
                                &config->overrides[config->override_count]));
  config->override_count++;
  return GAB_OK;
}

/* ---- values ---- */

static const config_entry *find(const gab_config *config, const char *path)
{
  size_t low = 0, high = config->result.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(config->result.entries[middle].path, path);
    if (order == 0) return &config->result.entries[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

/* Getters return no status, and a misspelt path reads as 0: log it, but not for every cell. */
static void complain(void)
{
  enum { ENOUGH = 20 };
  static int said;
  if (said++ < ENOUGH)
    gab_log(GAB_LOG_ERROR, "programming error: %s; returning 0 or nothing", gab_error_message());
}

/* The value of a key of one of two types; empty, with the error message set, on a programming error. */
static config_value value_of(const gab_config *config, const char *path, gab_config_type type,
                             gab_config_type other, bool list)
{
  const config_entry *entry = find(config, path);
  config_value nothing = {0, NULL, NULL, NULL};
  if (!entry || !entry->key) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s: no such parameter%s", path,
                  config->checked ? "" : " (nothing is checked yet)");
    complain();
    return nothing;
  }
  if ((entry->key->type != type && entry->key->type != other) || (entry->key->length_max > 0) != list) {
    gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s: the parameter is of another type", path);
    complain();
    return nothing;
  }
  return entry->value;
}

bool gab_config_bool(const gab_config *config, const char *path)
{
  config_value value = value_of(config, path, GAB_CONFIG_BOOL, GAB_CONFIG_BOOL, false);
  return value.count > 0 && value.ints[0] != 0;
}

int64_t gab_config_int(const gab_config *config, const char *path)
{
  config_value value = value_of(config, path, GAB_CONFIG_INT, GAB_CONFIG_INT, false);
  return value.count > 0 ? value.ints[0] : 0;
}

double gab_config_real(const gab_config *config, const char *path)
{
  config_value value = value_of(config, path, GAB_CONFIG_REAL, GAB_CONFIG_REAL, false);
  return value.count > 0 ? value.reals[0] : (double)NAN;
}

const char *gab_config_string(const gab_config *config, const char *path)
{
  config_value value = value_of(config, path, GAB_CONFIG_STRING, GAB_CONFIG_CHOICE, false);
  return value.count > 0 ? value.strings[0] : "";
}

int gab_config_choice_index(const gab_config *config, const char *path)
{
  config_value value = value_of(config, path, GAB_CONFIG_CHOICE, GAB_CONFIG_CHOICE, false);
  return value.count > 0 ? (int)value.ints[0] : -1;
}

const int64_t *gab_config_ints(const gab_config *config, const char *path, size_t *count)
{
  config_value value = value_of(config, path, GAB_CONFIG_INT, GAB_CONFIG_INT, true);
  *count = value.count;
  return value.ints;
}

const double *gab_config_reals(const gab_config *config, const char *path, size_t *count)
{
  config_value value = value_of(config, path, GAB_CONFIG_REAL, GAB_CONFIG_REAL, true);
  *count = value.count;
  return value.reals;
}

const char *const *gab_config_strings(const gab_config *config, const char *path, size_t *count)
{
  config_value value = value_of(config, path, GAB_CONFIG_STRING, GAB_CONFIG_CHOICE, true);
  *count = value.count;
  return value.strings;
}

const gab_expression *gab_config_expression(const gab_config *config, const char *path)
{
  const config_entry *entry = find(config, path);
  (void)value_of(config, path, GAB_CONFIG_EXPRESSION, GAB_CONFIG_EXPRESSION, false);
  return entry && entry->key ? entry->expression : NULL;
}

size_t gab_config_count(const gab_config *config, const char *path)
{
  const config_entry *entry = find(config, path);
  if (entry) return entry->key ? entry->value.count : entry->items;
  gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s: no such parameter or list", path);
  return 0;
}

bool gab_config_is_set(const gab_config *config, const char *path)
{
  const config_entry *entry = find(config, path);
  return entry && entry->is_set;
}

/* ---- places ---- */

const char *gab_config_path(char *buffer, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(buffer, GAB_CONFIG_PATH_CAPACITY, format, arguments) < 0) buffer[0] = '\0';
  va_end(arguments);
  return buffer;
}

const char *gab_config_where(const gab_config *config, const char *path, char *buffer, size_t capacity)
{
  char above[GAB_CONFIG_PATH_CAPACITY];
  snprintf(above, sizeof above, "%s", path);
  for (;;) {
    const config_entry *entry = find(config, above);
    if (entry && entry->is_set) {
      if (entry->override) snprintf(buffer, capacity, "--set %s", entry->override);
      else snprintf(buffer, capacity, "%s:%d:%d", config->result.name, entry->line, entry->column);
      return buffer;
    }
    char *dot = strrchr(above, '.');
    if (!dot) break;
    *dot = '\0';
  }
  snprintf(buffer, capacity, "default");
  return buffer;
}

gab_status gab_config_fail(const gab_config *config, const char *path, const char *format, ...)
{
  char where[512], text[2048];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  if (!config) return gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s: %s", path, text);
  return gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "%s: %s: %s",
                       gab_config_where(config, path, where, sizeof where), path, text);
}
