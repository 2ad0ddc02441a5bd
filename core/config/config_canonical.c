/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a case: its values in canonical form, and the content of named files. */
#include "core/config/config_impl.h"
#include "core/system/file.h"

#include <limits.h>
#include <string.h>

gab_status gab_config_file_path(const gab_config *config, gab_config_file kind, const char *text, char *path)
{
  const char *name = gab_config_name(config), *slash = strrchr(name, '/');
  const bool by_case = kind == GAB_CONFIG_FILE_BY_CASE && slash && text[0] != '/';
  const int length = snprintf(path, PATH_MAX, "%.*s%s", by_case ? (int)(slash - name + 1) : 0, name, text);
  if (length < 0 || length >= PATH_MAX) GAB_FAIL(GAB_ERR_INPUT, "the path of %.60s... is too long", text);
  return GAB_OK;
}

gab_status gab_config_file_of(const gab_config *config, const char *path, char *file)
{
  gab_config_file kind = GAB_CONFIG_NO_FILE;
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    if (entry->key && strcmp(entry->path, path) == 0) kind = entry->key->file;
  }
  return gab_config_file_path(config, kind, gab_config_string(config, path), file);
}

bool gab_config_has_files(const config_entry *entry)
{
  return entry->key && entry->key->file != GAB_CONFIG_NO_FILE && !entry->key->outside &&
         entry->value.count > 0 && entry->value.strings[0][0];
}

bool gab_config_is_read_at_start(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    if (strcmp(entry->path, path) == 0) return gab_config_has_files(entry) && entry->key->at_start;
  }
  return false;
}

/* ---------------------------------------------------------------- reading */

static gab_status add_files(const gab_config *config, const config_entry *entry, const char *text,
                            gab_hash64_stream *hash)
{
  char path[PATH_MAX], why[1024];
  GAB_TRY(gab_config_file_path(config, entry->key->file, text, path));
  const gab_status status =
      entry->key->content ? entry->key->content(config, path, hash) : gab_file_hash(path, hash);
  if (status != GAB_ERR_INPUT && status != GAB_ERR_IO) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, entry->path, "%s", why);
}

gab_status gab_config_content_of(const gab_config *config, const config_entry *entry, uint64_t *content)
{
  gab_hash64_stream hash;
  *content = entry->content;
  if (entry->has_content) return GAB_OK;
  gab_hash64_begin(&hash, 0);
  for (size_t i = 0; i < entry->value.count; i++)
    GAB_TRY(add_files(config, entry, entry->value.strings[i], &hash));
  *content = gab_hash64_of(&hash);
  return GAB_OK;
}

gab_status gab_config_hash_files(gab_config *config, gab_buffer *hashes)
{
  for (size_t i = 0; i < config->result.count; i++) {
    config_entry *entry = &config->result.entries[i];
    if (!gab_config_has_files(entry)) continue;
    GAB_TRY(gab_config_content_of(config, entry, &entry->content));
    entry->has_content = true;
    GAB_TRY(gab_put_u64(hashes, entry->content));
  }
  return GAB_OK;
}

gab_status gab_config_set_file_hashes(gab_config *config, const gab_buffer *hashes)
{
  gab_reader reader = gab_reader_of_buffer(hashes);
  for (size_t i = 0; i < config->result.count; i++) {
    config_entry *entry = &config->result.entries[i];
    if (!gab_config_has_files(entry)) continue;
    GAB_TRY(gab_get_u64(&reader, &entry->content));
    entry->has_content = true;
  }
  return gab_reader_expect_end(&reader);
}

/* ---------------------------------------------------------------- canonical text */

static gab_status put_quoted(gab_buffer *text, const char *word)
{
  GAB_TRY(gab_put_u8(text, '"'));
  for (; *word; word++) {
    if (*word == '"' || *word == '\\') GAB_TRY(gab_put_u8(text, '\\'));
    if (*word == '\n') GAB_TRY(gab_put_bytes(text, "\\n", 2));
    else GAB_TRY(gab_put_u8(text, (uint8_t)*word));
  }
  return gab_put_u8(text, '"');
}

static gab_status put_element(gab_buffer *text, const config_entry *entry, size_t i)
{
  char number[64] = "";
  switch (entry->key->type) {
  case GAB_CONFIG_BOOL:
    snprintf(number, sizeof number, "%s", entry->value.ints[i] ? "true" : "false");
    break;
  case GAB_CONFIG_INT:
    snprintf(number, sizeof number, "%" PRId64, entry->value.ints[i]);
    break;
  case GAB_CONFIG_REAL:
    gab_text_format_real(entry->value.reals[i], 1, number, sizeof number);
    break;
  case GAB_CONFIG_EXPRESSION:
    if (!gab_expression_is_constant(entry->expression)) return put_quoted(text, entry->value.strings[i]);
    gab_text_format_real(gab_expression_at(entry->expression, NULL), 1, number, sizeof number);
    break;
  case GAB_CONFIG_STRING:
    return put_quoted(text, entry->value.strings[i]);
  case GAB_CONFIG_CHOICE:
    return gab_put_bytes(text, entry->value.strings[i], strlen(entry->value.strings[i]));
  }
  return gab_put_bytes(text, number, strlen(number));
}

static gab_status put_entry(gab_buffer *text, const config_entry *entry)
{
  GAB_TRY(gab_put_bytes(text, entry->path, strlen(entry->path)));
  GAB_TRY(gab_put_bytes(text, " = ", 3));
  bool list = entry->key->length_max > 0;
  if (list) GAB_TRY(gab_put_u8(text, '['));
  for (size_t i = 0; i < entry->value.count; i++) {
    if (i > 0) GAB_TRY(gab_put_bytes(text, ", ", 2));
    GAB_TRY(put_element(text, entry, i));
  }
  if (list) GAB_TRY(gab_put_u8(text, ']'));
  return gab_put_u8(text, '\n');
}

/* A list that is set but empty differs from an omitted one. */
static bool has_value(const config_entry *entry)
{
  return entry->key && (entry->value.count > 0 || (entry->is_set && entry->key->length_max > 0));
}

gab_status gab_config_canonical(const gab_config *config, gab_buffer *text)
{
  for (size_t i = 0; i < config->result.count; i++)
    if (has_value(&config->result.entries[i])) GAB_TRY(put_entry(text, &config->result.entries[i]));
  return GAB_OK;
}

/* A file is identified by its content, not by its path. */
static gab_status put_content(const gab_config *config, const config_entry *entry, gab_buffer *text)
{
  char line[GAB_CONFIG_PATH_CAPACITY + 64];
  uint64_t content;
  GAB_TRY(gab_config_content_of(config, entry, &content));
  const int length = snprintf(line, sizeof line, "%s = content %016" PRIx64 "\n", entry->path, content);
  return gab_put_bytes(text, line, (size_t)length);
}

gab_status gab_config_canonical_state(const gab_config *config, gab_buffer *text)
{
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    if (!has_value(entry) || entry->key->outside) continue;
    GAB_TRY(gab_config_has_files(entry) ? put_content(config, entry, text) : put_entry(text, entry));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- telling */

gab_status gab_config_name_files(const gab_config *config, const char *differences, gab_buffer *lines)
{
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    char changed[GAB_CONFIG_PATH_CAPACITY + 16], path[PATH_MAX];
    if (!gab_config_has_files(entry)) continue;
    snprintf(changed, sizeof changed, "  %s: ", entry->path);
    if (!strstr(differences, changed)) continue;
    GAB_TRY(gab_config_file_path(config, entry->key->file, entry->value.strings[0], path));
    GAB_TRY(gab_put_bytes(lines, changed, strlen(changed)));
    GAB_TRY(gab_put_bytes(lines, "the file is ", 12));
    GAB_TRY(gab_put_bytes(lines, path, strlen(path)));
    GAB_TRY(gab_put_u8(lines, '\n'));
  }
  return GAB_OK;
}

void gab_config_put_files(const gab_config *config, const char *key, gab_json *json)
{
  gab_json_list(json, key);
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    if (!entry->has_content) continue;
    gab_json_object(json, NULL);
    gab_json_text(json, "parameter", entry->path);
    gab_json_text(json, "path", entry->value.strings[0]);
    gab_json_format(json, "content", "%016" PRIx64, entry->content);
    gab_json_close(json);
  }
  gab_json_close(json);
}
