/* SPDX-License-Identifier: Apache-2.0 */
/* The effective parameters: the file with all overrides applied, written as a file. */
#include "core/config/config_impl.h"
#include "core/base/text/json.h"

#include <libfyaml.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- files that a case names */

static const config_entry *find_entry(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->result.count; i++)
    if (strcmp(config->result.entries[i].path, path) == 0) return &config->result.entries[i];
  return NULL;
}

/* An absolute path, since the new file is in another folder. */
static gab_status absolute_path(const gab_config *config, gab_config_file kind, const char *text,
                                char path[PATH_MAX])
{
  char working[PATH_MAX] = "", found[PATH_MAX];
  GAB_TRY(gab_config_file_path(config, kind, text, found));
  if (found[0] != '/' && !getcwd(working, sizeof working))
    GAB_FAIL(GAB_ERR_IO, "the working folder has no name: %s cannot be found from elsewhere", text);
  const int length = snprintf(path, PATH_MAX, "%s%s%s", working, working[0] ? "/" : "", found);
  if (length < 0 || length >= PATH_MAX) GAB_FAIL(GAB_ERR_INPUT, "the path of %.60s... is too long", text);
  return GAB_OK;
}

static gab_status resolve_files(const gab_config *config, config_arena *arena, config_node *node,
                                const char *path, bool *changed)
{
  size_t index = 0;
  char below[GAB_CONFIG_PATH_CAPACITY], word[32], resolved[PATH_MAX];
  if (node->kind == CONFIG_SCALAR) {
    const config_entry *entry = find_entry(config, path);
    if (!entry || !entry->key || entry->key->file == GAB_CONFIG_NO_FILE || !node->text[0]) return GAB_OK;
    GAB_TRY(absolute_path(config, entry->key->file, node->text, resolved));
    if (strcmp(resolved, node->text) == 0) return GAB_OK;
    *changed = true;
    node->plain = false;
    return gab_config_arena_text(arena, resolved, strlen(resolved), &node->text);
  }
  for (config_node *child = node->first; child; child = child->next, index++) {
    snprintf(word, sizeof word, "%zu", index);
    if (gab_config_join(below, sizeof below, path, node->kind == CONFIG_MAPPING ? child->key : word))
      GAB_TRY(resolve_files(config, arena, child, below, changed));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- writing */

static gab_status emit(struct fy_emitter *emitter, struct fy_event *event)
{
  if (!event || fy_emit_event(emitter, event) != 0)
    GAB_FAIL(GAB_ERR_MEMORY, "the parameters cannot be written as YAML");
  return GAB_OK;
}

typedef struct writing {
  struct fy_emitter *emitter;
  gab_text_kept *kept;
} writing;

static gab_status emit_text(writing *to, const char *text, bool plain)
{
  if (plain)
    return emit(to->emitter,
                fy_emit_event_create(to->emitter, FYET_SCALAR, FYSS_PLAIN, text, strlen(text), NULL, NULL));
  if (!gab_text_emit_quoted(to->emitter, &to->kept, text, strlen(text)))
    GAB_FAIL(GAB_ERR_MEMORY, "no memory to write the parameters");
  return GAB_OK;
}

static gab_status emit_node(writing *to, const config_node *node)
{
  const bool mapping = node->kind == CONFIG_MAPPING;
  if (node->kind == CONFIG_SCALAR) return emit_text(to, node->text, node->plain);
  const bool flow = node->flow && (!mapping || !node->override);
  GAB_TRY(
      emit(to->emitter, fy_emit_event_create(to->emitter, mapping ? FYET_MAPPING_START : FYET_SEQUENCE_START,
                                             flow ? FYNS_FLOW : FYNS_BLOCK, NULL, NULL)));
  for (const config_node *child = node->first; child; child = child->next) {
    if (mapping) GAB_TRY(emit_text(to, child->key, true));
    GAB_TRY(emit_node(to, child));
  }
  return emit(to->emitter, fy_emit_event_create(to->emitter, mapping ? FYET_MAPPING_END : FYET_SEQUENCE_END));
}

static gab_status emit_tree(writing *to, const config_node *root)
{
  struct fy_emitter *emitter = to->emitter;
  GAB_TRY(emit(emitter, fy_emit_event_create(emitter, FYET_STREAM_START)));
  GAB_TRY(emit(emitter, fy_emit_event_create(emitter, FYET_DOCUMENT_START, 1, NULL, NULL)));
  GAB_TRY(emit_node(to, root));
  GAB_TRY(emit(emitter, fy_emit_event_create(emitter, FYET_DOCUMENT_END, 1)));
  return emit(emitter, fy_emit_event_create(emitter, FYET_STREAM_END));
}

static gab_status put_tree(const config_node *root, gab_buffer *text)
{
  size_t length = 0;
  struct fy_emitter *emitter = fy_emit_to_string(FYECF_MODE_ORIGINAL | FYECF_WIDTH_INF | FYECF_INDENT_2);
  if (!emitter) GAB_FAIL(GAB_ERR_MEMORY, "no memory to write the parameters");
  writing to = {.emitter = emitter};
  gab_status status = emit_tree(&to, root);
  char *made = status == GAB_OK ? fy_emit_to_string_collect(emitter, &length) : NULL;
  fy_emitter_destroy(emitter);
  gab_text_kept_release(&to.kept);
  if (status == GAB_OK && !made)
    status = gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "no memory to write the parameters");
  if (status == GAB_OK) status = gab_put_bytes(text, made, strlen(made));
  free(made);
  return status;
}

/* Replaces line ends, which a comment cannot contain. */
static gab_status put_comment(gab_buffer *text, const char *words, const char *what)
{
  GAB_TRY(gab_put_bytes(text, words, strlen(words)));
  for (; *what; what++) GAB_TRY(gab_put_u8(text, *what == '\n' ? ' ' : (uint8_t)*what));
  return gab_put_bytes(text, "\n", 1);
}

/* Hashes of the files named by the case. */
static gab_status put_contents(const gab_config *config, gab_buffer *text)
{
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    char line[GAB_CONFIG_PATH_CAPACITY + 64];
    if (!entry->has_content) continue;
    snprintf(line, sizeof line, "%s has content %016" PRIx64 " (XXH64)", entry->path, entry->content);
    if (text->size > 0 && text->data[text->size - 1] != '\n') GAB_TRY(gab_put_u8(text, '\n'));
    GAB_TRY(put_comment(text, "# ", line));
  }
  return GAB_OK;
}

static gab_status put_effective(const gab_config *config, config_arena *arena, gab_buffer *text)
{
  config_node *root = NULL;
  const char *original = (const char *)config->text.data;
  const size_t length = config->text.size - 1;
  bool changed = config->override_count > 0;
  GAB_TRY(gab_config_tree_apply(config, arena, &root));
  if (root) GAB_TRY(resolve_files(config, arena, root, "", &changed));
  if (!changed || !root) { /* comments included */
    GAB_TRY(gab_put_bytes(text, original, length));
    return put_contents(config, text);
  }
  GAB_TRY(put_comment(text, "# The parameters of a run in force: ", gab_config_name(config)));
  for (size_t i = 0; i < config->override_count; i++)
    GAB_TRY(put_comment(text, "#   --set ", config->overrides[i]));
  GAB_TRY(put_contents(config, text));
  return put_tree(root, text);
}

gab_status gab_config_effective(const gab_config *config, gab_buffer *text)
{
  config_arena arena = {0};
  if (!config->checked || !config->loaded)
    GAB_FAIL(GAB_ERR_STATE, "no parameters have been loaded and checked");
  gab_status status = put_effective(config, &arena, text);
  gab_config_arena_release(&arena);
  return status;
}

/* ---------------------------------------------------------------- values other than defaults */

static bool is_default(config_arena *arena, const config_entry *entry)
{
  const char *word = entry->key->default_text;
  char problem[CONFIG_PROBLEM_CAPACITY];
  config_node *root;
  const config_node *bad = NULL;
  config_value usual;
  if (!word || strcmp(word, GAB_CONFIG_OPTIONAL) == 0) return false;
  if (gab_config_tree_parse(arena, "default", NULL, word, strlen(word), &root) != GAB_OK || !root)
    return false;
  if (gab_config_value_read(arena, entry->key, root, &usual, &bad, problem) != GAB_OK || bad) return false;
  if (usual.count != entry->value.count) return false;
  if (entry->key->type == GAB_CONFIG_EXPRESSION && gab_expression_is_constant(entry->expression))
    return usual.reals[0] == gab_expression_at(entry->expression, NULL);
  for (size_t i = 0; i < usual.count; i++) {
    if (entry->key->type == GAB_CONFIG_REAL ? usual.reals[i] != entry->value.reals[i]
        : entry->key->type == GAB_CONFIG_STRING || entry->key->type == GAB_CONFIG_EXPRESSION
            ? strcmp(usual.strings[i], entry->value.strings[i]) != 0
            : usual.ints[i] != entry->value.ints[i])
      return false;
  }
  return true;
}

static void put_value(gab_json *json, const char *key, const config_entry *entry, size_t i)
{
  switch (entry->key->type) {
  case GAB_CONFIG_BOOL:
    gab_json_bool(json, key, entry->value.ints[i] != 0);
    return;
  case GAB_CONFIG_INT:
    gab_json_int(json, key, entry->value.ints[i]);
    return;
  case GAB_CONFIG_REAL:
    gab_json_real(json, key, entry->value.reals[i]);
    return;
  case GAB_CONFIG_EXPRESSION:
    if (!gab_expression_is_constant(entry->expression)) gab_json_text(json, key, entry->value.strings[i]);
    else gab_json_real(json, key, gab_expression_at(entry->expression, NULL));
    return;
  case GAB_CONFIG_STRING:
  case GAB_CONFIG_CHOICE:
    gab_json_text(json, key, entry->value.strings[i]);
  }
}

void gab_config_put_changed(const gab_config *config, const char *key, gab_json *json)
{
  config_arena arena = {0};
  gab_json_object(json, key);
  for (size_t i = 0; i < config->result.count; i++) {
    const config_entry *entry = &config->result.entries[i];
    if (!entry->key || !entry->is_set || is_default(&arena, entry)) continue;
    if (entry->key->length_max == 0) {
      if (entry->value.count > 0) put_value(json, entry->path, entry, 0);
      continue;
    }
    gab_json_list(json, entry->path);
    for (size_t k = 0; k < entry->value.count; k++) put_value(json, NULL, entry, k);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_config_arena_release(&arena);
}

bool gab_config_next_number(const gab_config *config, size_t *at, gab_config_number *number)
{
  for (; *at < config->result.count; ++*at) {
    const config_entry *entry = &config->result.entries[*at];
    if (!entry->key || !entry->is_set || entry->value.count == 0) continue;
    const bool is_int = entry->key->type == GAB_CONFIG_INT;
    if (!is_int && entry->key->type != GAB_CONFIG_REAL) continue;
    *number = (gab_config_number){.path = entry->path, .key = entry->key, .count = entry->value.count};
    if (is_int) number->ints = entry->value.ints;
    else number->reals = entry->value.reals;
    ++*at;
    return true;
  }
  return false;
}
