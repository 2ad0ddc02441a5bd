/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"

#include <stdlib.h>
#include <string.h>

/* The `type` of a section with variants, in two versions, since it is outside the state if all its keys are. */
static const gab_config_key type_key = {.name = "type", .type = GAB_CONFIG_STRING, .doc = "which variant"};
static const gab_config_key type_key_outside = {
    .name = "type", .type = GAB_CONFIG_STRING, .outside = true, .doc = "which variant"};

typedef struct problem {
  const char *override;
  int line, column;
  const char *text;
} problem;

typedef struct checker {
  const gab_config *config;
  config_arena arena; /* tree and problems */
  config_node *root;
  config_result result;
  problem *problems;
  size_t problem_count, problem_capacity;
  size_t strangers; /* unknown keys so far */
} checker;

enum { MOST_SHOWN = 40 }; /* problems */

/* ---- problems ---- */

static gab_status add_problem(checker *check, const config_node *node, bool at_key, const char *text)
{
  GAB_TRY(gab_config_grow(&check->problems, check->problem_count, &check->problem_capacity,
                          sizeof *check->problems));
  problem made = {NULL, 1, 1, NULL};
  if (node) {
    bool key = at_key && node->key && node->key_line > 0;
    made.override = node->override;
    made.line = key ? node->key_line : node->line;
    made.column = key ? node->key_column : node->column;
  }
  GAB_TRY(gab_config_arena_text(&check->arena, text, strlen(text), &made.text));
  check->problems[check->problem_count++] = made;
  return GAB_OK;
}

#define PROBLEM(check, node, at_key, ...)                                                                    \
  do {                                                                                                       \
    char problem_text_[2 * CONFIG_PROBLEM_CAPACITY + GAB_CONFIG_PATH_CAPACITY];                              \
    snprintf(problem_text_, sizeof problem_text_, __VA_ARGS__);                                              \
    GAB_TRY(add_problem((check), (node), (at_key), problem_text_));                                          \
  } while (0)

static int compare_problems(const void *a, const void *b)
{
  const problem *left = a, *right = b;
  if (!left->override != !right->override) return left->override ? 1 : -1;
  if (left->line != right->line) return left->line < right->line ? -1 : 1;
  return (left->column > right->column) - (left->column < right->column);
}

static gab_status report(checker *check)
{
  qsort(check->problems, check->problem_count, sizeof *check->problems, compare_problems);
  char text[7500];
  size_t used = 0, shown = 0;
  for (; shown < check->problem_count && shown < MOST_SHOWN; shown++) {
    const problem *one = &check->problems[shown];
    char where[GAB_CONFIG_PATH_CAPACITY + 64];
    if (one->override) snprintf(where, sizeof where, "--set %s", one->override);
    else snprintf(where, sizeof where, "%s:%d:%d", check->result.name, one->line, one->column);
    int more = snprintf(text + used, sizeof text - used, "%s%s: %s", used ? "\n" : "", where, one->text);
    if (more < 0 || (size_t)more >= sizeof text - used) break;
    used += (size_t)more;
  }
  text[used] = '\0';
  if (shown < check->problem_count)
    GAB_FAIL(GAB_ERR_INPUT, "%s\n... and %zu more", text, check->problem_count - shown);
  GAB_FAIL(GAB_ERR_INPUT, "%s", text);
}

/* ---- entries ---- */

static gab_status add_entry(checker *check, const char *path, const gab_config_key *key,
                            const config_node *node, config_entry **entry)
{
  config_result *result = &check->result;
  GAB_TRY(gab_config_grow(&result->entries, result->count, &result->capacity, sizeof *result->entries));
  config_entry made = {.key = key, .is_set = node != NULL};
  GAB_TRY(gab_config_arena_text(&result->arena, path, strlen(path), &made.path));
  if (node) {
    made.line = node->line;
    made.column = node->column;
    if (node->override)
      GAB_TRY(gab_config_arena_text(&result->arena, node->override, strlen(node->override), &made.override));
  }
  *entry = &result->entries[result->count++];
  **entry = made;
  return GAB_OK;
}

static gab_status read_default(checker *check, const gab_config_key *key, config_value *value)
{
  config_node *node;
  const config_node *bad;
  char text[CONFIG_PROBLEM_CAPACITY];
  GAB_TRY(gab_config_tree_parse(&check->arena, "default", NULL, key->default_text, strlen(key->default_text),
                                &node));
  if (!node) GAB_FAIL(GAB_ERR_STATE, "the default of %s is gone", key->name);
  return gab_config_value_read(&check->result.arena, key, node, value, &bad, text);
}

static gab_status check_key(checker *check, const char *path, const gab_config_key *key,
                            const config_node *section, bool may_miss)
{
  char full[GAB_CONFIG_PATH_CAPACITY], text[CONFIG_PROBLEM_CAPACITY];
  if (!gab_config_join(full, sizeof full, path, key->name))
    GAB_FAIL(GAB_ERR_STATE, "%s: the path is too long", path);
  const config_node *bad = NULL,
                    *node = section ? gab_config_tree_child(section, key->name, strlen(key->name)) : NULL;
  bool has_default = key->default_text && strcmp(key->default_text, GAB_CONFIG_OPTIONAL) != 0;
  config_value value = {0, NULL, NULL, NULL};
  if (node) GAB_TRY(gab_config_value_read(&check->result.arena, key, node, &value, &bad, text));
  else if (has_default) GAB_TRY(read_default(check, key, &value));
  if (bad) return add_problem(check, bad, false, text);
  if (!node && !key->default_text && !may_miss) {
    gab_config_describe_type(key, text, sizeof text);
    PROBLEM(check, section && section->parent ? section : NULL, true, "missing key %s: %s (%s)", full, text,
            key->doc);
  }
  config_entry *entry;
  GAB_TRY(add_entry(check, full, key, node, &entry));
  entry->value = value;
  return GAB_OK;
}

/* ---- sections ---- */

/* The variant of a mapping; NULL if it has none or its value is invalid. */
static const char *variant_of(const gab_config *config, const char *table, const config_node *mapping)
{
  const config_node *type = mapping ? gab_config_tree_child(mapping, "type", 4) : NULL;
  if (!type) return gab_config_default_variant(config, table);
  return type->kind == CONFIG_SCALAR && gab_config_has_variant(config, table, type->text) ? type->text : NULL;
}

static bool all_outside(const gab_config *config, const char *table)
{
  size_t keys = 0;
  for (size_t i = 0; i < config->section_count; i++)
    for (size_t k = 0; strcmp(config->sections[i]->path, table) == 0 && k < config->sections[i]->count;
         k++, keys++)
      if (!config->sections[i]->keys[k].outside) return false;
  return keys > 0;
}

static gab_status check_variant(checker *check, const char *path, const char *table,
                                const config_node *mapping, bool may_miss, const char **variant)
{
  const config_node *type = mapping ? gab_config_tree_child(mapping, "type", 4) : NULL;
  *variant = variant_of(check->config, table, mapping);
  char variants[256];
  gab_config_list_variants(check->config, table, variants, sizeof variants);
  if (!*variant && type)
    PROBLEM(check, type, false, "type = '%.80s' is none of %s",
            type->kind == CONFIG_SCALAR ? type->text : "...", variants);
  else if (!*variant && !may_miss)
    PROBLEM(check, mapping, true, "missing key %s.type: one of %s", path, variants);
  char full[GAB_CONFIG_PATH_CAPACITY];
  if (!gab_config_join(full, sizeof full, path, "type"))
    GAB_FAIL(GAB_ERR_STATE, "%s: the path is too long", path);
  config_entry *entry;
  GAB_TRY(add_entry(check, full, all_outside(check->config, table) ? &type_key_outside : &type_key, type,
                    &entry));
  if (!*variant) return GAB_OK;
  void *memory;
  GAB_TRY(gab_config_arena_get(&check->result.arena, sizeof(char *), &memory));
  const char **text = memory;
  GAB_TRY(gab_config_arena_text(&check->result.arena, *variant, strlen(*variant), text));
  entry->value = (config_value){1, NULL, NULL, text};
  return GAB_OK;
}

/* Only one of several alternative keys may be set: reports the later one in the table. */
static gab_status check_alternatives(checker *check, const char *path, const char *table, const char *variant,
                                     const config_node *mapping)
{
  size_t section = 0, index = 0;
  for (const gab_config_key *key;
       (key = gab_config_next_key(check->config, table, variant, &section, &index));) {
    const config_node *node =
        key->instead_of ? gab_config_tree_child(mapping, key->name, strlen(key->name)) : NULL;
    size_t other_section = 0, other_index = 0;
    for (const gab_config_key *other =
             node ? gab_config_next_key(check->config, table, variant, &other_section, &other_index) : NULL;
         other && other != key;
         other = gab_config_next_key(check->config, table, variant, &other_section, &other_index))
      if (gab_config_has_choice(key->instead_of, other->name) &&
          gab_config_tree_child(mapping, other->name, strlen(other->name)))
        PROBLEM(check, node, true, "%s.%s: give either %s.%s or %s.%s, not both", path, key->name, path,
                other->name, path, key->name);
  }
  return GAB_OK;
}

/* The keys of a section with arbitrary names; each gets its own row. */
static gab_status check_any_names(checker *check, const char *path, const gab_config_key *row,
                                  const config_node *mapping)
{
  for (const config_node *node = row && mapping ? mapping->first : NULL; node; node = node->next) {
    void *memory;
    if (!gab_config_is_name(node->key)) {
      PROBLEM(check, node, true, "'%.80s' in %s is not a name: letters, digits and _, the first one a letter",
              node->key, path);
      continue;
    }
    if (gab_config_tree_child(mapping, node->key, strlen(node->key)) != node)
      continue; /* reported as a duplicate */
    GAB_TRY(gab_config_arena_get(&check->result.arena, sizeof *row, &memory));
    gab_config_key *key = memory;
    *key = *row;
    GAB_TRY(gab_config_arena_text(&check->result.arena, node->key, strlen(node->key), &key->name));
    GAB_TRY(check_key(check, path, key, mapping, false));
  }
  return GAB_OK;
}

/* All keys of one mapping (NULL: absent). `table` is the path of its tables, `path` that of its values. */
static gab_status check_mapping(checker *check, const char *path, const char *table,
                                const config_node *mapping, bool may_miss)
{
  const char *variant = NULL;
  if (gab_config_has_variants(check->config, table)) {
    GAB_TRY(check_variant(check, path, table, mapping, may_miss, &variant));
    if (!variant && !may_miss) return GAB_OK; /* without a variant the valid keys are unknown */
  }
  size_t section = 0, index = 0;
  for (const gab_config_key *key;
       (key = gab_config_next_key(check->config, table, variant, &section, &index));)
    GAB_TRY(check_key(check, path, key, mapping, may_miss));
  GAB_TRY(check_any_names(check, path, gab_config_any_key(check->config, table), mapping));
  return mapping ? check_alternatives(check, path, table, variant, mapping) : GAB_OK;
}

/* Texts that must be distinct, since they identify items in files and tables. */
static gab_status check_distinct(checker *check, const char *path, const config_node *list, size_t count,
                                 const gab_config_key *key)
{
  config_index *index;
  GAB_TRY(gab_config_index_create(&check->arena, count, &index));
  for (const config_node *item = list->first; item; item = item->next) {
    config_node *node =
        item->kind == CONFIG_MAPPING ? gab_config_tree_child(item, key->name, strlen(key->name)) : NULL;
    if (!node || node->kind != CONFIG_SCALAR || !node->text[0]) continue;
    const config_node *before = gab_config_index_put(index, node->text, node);
    if (before && before->override)
      PROBLEM(check, node, false, "two of %s have the %s '%.80s'", path, key->name, node->text);
    else if (before)
      PROBLEM(check, node, false, "two of %s have the %s '%.80s', the first in line %d", path, key->name,
              node->text, before->line);
  }
  return GAB_OK;
}

static gab_status check_list(checker *check, const char *path, const config_node *list)
{
  config_entry *entry;
  GAB_TRY(add_entry(check, path, NULL, list, &entry));
  if (!list || gab_config_node_is_null(list)) return GAB_OK;
  if (list->kind != CONFIG_SEQUENCE) {
    PROBLEM(check, list, false, "%s should be a list (- type: ...)", path);
    return GAB_OK;
  }
  size_t count = 0, place = check->result.count - 1;
  for (const config_node *item = list->first; item; item = item->next, count++) {
    char item_path[GAB_CONFIG_PATH_CAPACITY];
    gab_config_path(item_path, "%s.%zu", path, count);
    if (item->kind != CONFIG_MAPPING) {
      PROBLEM(check, item, false, "%s should be a group of keys and values", item_path);
      continue;
    }
    GAB_TRY(add_entry(check, item_path, NULL, item, &entry));
    GAB_TRY(check_mapping(check, item_path, path, item, false));
  }
  check->result.entries[place].items = count;
  for (size_t i = 0; i < check->config->section_count; i++) {
    const gab_config_section *section = check->config->sections[i];
    for (size_t k = 0; strcmp(section->path, path) == 0 && k < section->count; k++)
      if (section->keys[k].distinct) GAB_TRY(check_distinct(check, path, list, count, &section->keys[k]));
  }
  return GAB_OK;
}

/* The node of a section path, NULL if it or a parent is absent or not a mapping. */
static const config_node *node_of(const checker *check, const char *path)
{
  const config_node *node = check->root;
  while (node && path[0]) {
    size_t length = strcspn(path, ".");
    node = node->kind == CONFIG_MAPPING ? gab_config_tree_child(node, path, length) : NULL;
    path += length + (path[length] == '.');
  }
  return node;
}

static gab_status check_section(checker *check, const gab_config_section *section)
{
  const config_node *node = node_of(check, section->path);
  if (section->is_list) return check_list(check, section->path, node);
  config_entry *entry;
  if (section->path[0]) GAB_TRY(add_entry(check, section->path, NULL, node, &entry));
  bool may_miss = false;
  for (size_t i = 0; !node && i < check->config->section_count; i++)
    may_miss |=
        strcmp(check->config->sections[i]->path, section->path) == 0 && check->config->sections[i]->optional;
  if (node && node->kind != CONFIG_MAPPING) {
    if (!gab_config_node_is_null(node)) return GAB_OK; /* reported at its place */
    node = NULL;
  }
  return check_mapping(check, section->path, section->path, node, may_miss);
}

/* ---- unknown keys ---- */

static gab_status unknown_key(checker *check, const config_node *child, const char *path, const char *table,
                              const char *variant)
{
  char closest[GAB_CONFIG_PATH_CAPACITY] = "";
  if (++check->strangers <= MOST_SHOWN) /* further advice would not be shown */
    gab_config_closest_in(check->config, table, variant, child->key, closest, sizeof closest);
  const char *place = path[0] ? path : "the top level";
  if (closest[0]) {
    PROBLEM(check, child, true, "unknown key '%.80s' in %s; did you mean '%s'?", child->key, place, closest);
    return GAB_OK;
  }
  for (size_t i = 0; i < check->config->section_count; i++) {
    const gab_config_section *other = check->config->sections[i];
    for (size_t k = 0; k < other->count; k++)
      if (strcmp(other->keys[k].name, child->key) == 0) {
        PROBLEM(check, child, true, "unknown key '%.80s' in %s; there is one in %s%s%s", child->key, place,
                other->path[0] ? other->path : "the top level", other->variant ? " of type " : "",
                other->variant ? other->variant : "");
        return GAB_OK;
      }
  }
  PROBLEM(check, child, true, "unknown key '%.80s' in %s", child->key, place);
  return GAB_OK;
}

static bool is_key(const gab_config *config, const char *table, const char *variant, const char *name)
{
  size_t section = 0, index = 0;
  for (const gab_config_key *key; (key = gab_config_next_key(config, table, variant, &section, &index));)
    if (strcmp(key->name, name) == 0) return true;
  if (gab_config_any_key(config, table)) return true; /* check_any_names() checks the name */
  return strcmp(name, "type") == 0 && gab_config_has_variants(config, table);
}

static gab_status find_strangers(checker *check, const config_node *mapping, const char *path,
                                 const char *table);

static gab_status find_strangers_below(checker *check, const config_node *child, const char *full)
{
  const gab_config_section *section = gab_config_find_section(check->config, full);
  if (section && section->is_list) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    size_t count = 0;
    if (child->kind != CONFIG_SEQUENCE) return GAB_OK; /* check_list() reports it */
    for (const config_node *item = child->first; item; item = item->next, count++)
      if (item->kind == CONFIG_MAPPING)
        GAB_TRY(find_strangers(check, item, gab_config_path(path, "%s.%zu", full, count), full));
    return GAB_OK;
  }
  if (child->kind == CONFIG_MAPPING) return find_strangers(check, child, full, full);
  if (!gab_config_node_is_null(child))
    PROBLEM(check, child, false, "%s should be a section with keys and values", full);
  return GAB_OK;
}

/* Finds duplicate and unknown keys. The depth is bounded by that of the tables. */
static gab_status find_strangers(checker *check, const config_node *mapping, const char *path,
                                 const char *table)
{
  const char *variant = variant_of(check->config, table, mapping);
  bool known_variant = variant || !gab_config_has_variants(check->config, table);
  for (const config_node *child = mapping->first; child; child = child->next) {
    char full[GAB_CONFIG_PATH_CAPACITY];
    const config_node *first = gab_config_tree_child(mapping, child->key, strlen(child->key));
    if (first != child) {
      PROBLEM(check, child, true, "duplicate key '%.80s', first in line %d", child->key, first->key_line);
      continue;
    }
    bool fits = child->key[0] && gab_config_join(full, sizeof full, path, child->key);
    if (is_key(check->config, table, variant, child->key)) continue;
    if (fits && gab_config_is_prefix(check->config, full)) GAB_TRY(find_strangers_below(check, child, full));
    else if (known_variant) GAB_TRY(unknown_key(check, child, path, table, variant));
  }
  return GAB_OK;
}

/* ---- main ---- */

static int compare_entries(const void *a, const void *b)
{
  return strcmp(((const config_entry *)a)->path, ((const config_entry *)b)->path);
}

/* After all values are read, in the order in which they were added, constants first. */
static gab_status read_formulas(checker *check)
{
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < check->result.count; i++) {
      config_entry *entry = &check->result.entries[i];
      if (!entry->key || entry->key->type != GAB_CONFIG_EXPRESSION || entry->value.count == 0) continue;
      if ((pass == 0) != gab_config_is_constant(entry)) continue;
      const gab_status status = gab_config_read_formula(&check->result, entry);
      const config_node place = {.line = entry->line, .column = entry->column, .override = entry->override};
      if (status == GAB_ERR_INPUT)
        PROBLEM(check, entry->is_set ? &place : NULL, false, "%s: %s", entry->path, gab_error_message());
      else GAB_TRY(status);
    }
  return GAB_OK;
}

static gab_status check_all(checker *check)
{
  const gab_config *config = check->config;
  const char *name = config->loaded ? (const char *)config->name.data : "parameters";
  GAB_TRY(gab_config_arena_text(&check->result.arena, name, strlen(name), &check->result.name));
  GAB_TRY(gab_config_tree_apply(config, &check->arena, &check->root));
  if (check->root) GAB_TRY(find_strangers(check, check->root, "", ""));
  for (size_t i = 0; i < config->section_count; i++)
    if (gab_config_find_section(config, config->sections[i]->path) == config->sections[i])
      GAB_TRY(check_section(check, config->sections[i]));
  GAB_TRY(read_formulas(check));
  if (check->problem_count > 0) return report(check);
  if (check->result.count > 0)
    qsort(check->result.entries, check->result.count, sizeof *check->result.entries, compare_entries);
  return GAB_OK;
}

gab_status gab_config_check(gab_config *config)
{
  checker check = {.config = config};
  gab_status status = check_all(&check);
  gab_config_arena_release(&check.arena);
  gab_free(&check.problems);
  if (status != GAB_OK) {
    gab_config_result_release(&check.result);
    return status;
  }
  gab_config_result_release(&config->result);
  config->result = check.result;
  config->checked = true;
  return GAB_OK;
}
