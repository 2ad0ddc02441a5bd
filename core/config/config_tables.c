/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

gab_status gab_config_grow(void *array, size_t count, size_t *capacity, size_t bytes_each)
{
  if (count < *capacity) return GAB_OK;
  size_t grown = *capacity < 16 ? 16 : 2 * *capacity;
  GAB_TRY(gab_realloc_elements(grown, bytes_each, GAB_MEMORY_OTHER, array));
  *capacity = grown;
  return GAB_OK;
}

bool gab_config_join(char *path, size_t capacity, const char *section, const char *name)
{
  int length = snprintf(path, capacity, "%s%s%s", section, section[0] ? "." : "", name);
  return length >= 0 && (size_t)length < capacity;
}

bool gab_config_has_choice(const char *choices, const char *choice)
{
  const size_t length = strlen(choice);
  for (const char *at = choices; at; at = strchr(at, '|')) {
    at += *at == '|';
    if (strncmp(at, choice, length) == 0 && (at[length] == '|' || at[length] == '\0')) return true;
  }
  return false;
}

/* ---- looking things up ---- */

const gab_config_key *gab_config_next_key(const gab_config *config, const char *path, const char *variant,
                                          size_t *section, size_t *index)
{
  for (; *section < config->section_count; ++*section, *index = 0) {
    const gab_config_section *table = config->sections[*section];
    if (table->any_name || strcmp(table->path, path) != 0) continue;
    if (table->variant && (!variant || strcmp(table->variant, variant) != 0)) continue;
    if (*index < table->count) return &table->keys[(*index)++];
  }
  return NULL;
}

const gab_config_section *gab_config_find_section(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->section_count; i++)
    if (strcmp(config->sections[i]->path, path) == 0) return config->sections[i];
  return NULL;
}

bool gab_config_is_prefix(const gab_config *config, const char *path)
{
  size_t length = strlen(path);
  for (size_t i = 0; i < config->section_count; i++) {
    const char *known = config->sections[i]->path;
    if (strncmp(known, path, length) == 0 && (known[length] == '\0' || known[length] == '.')) return true;
  }
  return false;
}

bool gab_config_has_variant(const gab_config *config, const char *path, const char *variant)
{
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *table = config->sections[i];
    if (strcmp(table->path, path) == 0 && table->variant && strcmp(table->variant, variant) == 0) return true;
  }
  return false;
}

bool gab_config_has_variants(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->section_count; i++)
    if (strcmp(config->sections[i]->path, path) == 0 && config->sections[i]->variant) return true;
  return false;
}

const char *gab_config_default_variant(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *table = config->sections[i];
    if (strcmp(table->path, path) == 0 && table->variant && table->variant_is_default) return table->variant;
  }
  return NULL;
}

void gab_config_list_variants(const gab_config *config, const char *path, char *text, size_t capacity)
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *table = config->sections[i];
    if (strcmp(table->path, path) != 0 || !table->variant) continue;
    int more = snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", table->variant);
    if (more < 0 || (size_t)more >= capacity - used) return;
    used += (size_t)more;
  }
}

typedef struct candidate {
  const char *wanted;
  size_t distance;
  char *closest;
  size_t capacity;
} candidate;

static void consider(candidate *best, const char *name, size_t length)
{
  char word[GAB_CONFIG_PATH_CAPACITY];
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  size_t distance = gab_config_distance(best->wanted, word);
  if (distance >= best->distance) return;
  best->distance = distance;
  snprintf(best->closest, best->capacity, "%s", word);
}

/* Keys of the section, `type`, and the next words of the paths of sections below. */
void gab_config_closest_in(const gab_config *config, const char *path, const char *variant,
                           const char *wanted, char *closest, size_t capacity)
{
  candidate best = {wanted, SIZE_MAX, closest, capacity};
  closest[0] = '\0';
  size_t section = 0, index = 0, length = strlen(path);
  for (const gab_config_key *key; (key = gab_config_next_key(config, path, variant, &section, &index));)
    consider(&best, key->name, strlen(key->name));
  if (gab_config_has_variants(config, path)) consider(&best, "type", 4);
  for (size_t i = 0; i < config->section_count; i++) {
    const char *known = config->sections[i]->path;
    if (strncmp(known, path, length) != 0 || (length > 0 && known[length] != '.')) continue;
    const char *word = known + length + (length > 0);
    if (word[0]) consider(&best, word, strcspn(word, "."));
  }
  if (!gab_config_is_near(wanted, best.distance)) closest[0] = '\0';
}

/* ---- declaring ---- */

static bool is_word(const char *text, size_t length)
{
  if (length == 0 || length > 60 || !islower((unsigned char)text[0])) return false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (!islower(c) && !isdigit(c) && c != '_') return false;
  }
  return true;
}

static bool is_path(const char *path)
{
  if (!path || strlen(path) > GAB_CONFIG_PATH_CAPACITY / 2) return false;
  if (!path[0]) return true;
  for (;;) {
    size_t length = strcspn(path, ".");
    if (!is_word(path, length)) return false;
    if (!path[length]) return true;
    path += length + 1;
  }
}

static gab_status check_default(const gab_config_section *section, const gab_config_key *key)
{
  if (!key->default_text || strcmp(key->default_text, GAB_CONFIG_OPTIONAL) == 0) return GAB_OK;
  config_arena arena = {NULL};
  config_node *node = NULL;
  const config_node *bad = NULL;
  config_value value;
  char problem[CONFIG_PROBLEM_CAPACITY] = "no value";
  gab_status status =
      gab_config_tree_parse(&arena, "default", NULL, key->default_text, strlen(key->default_text), &node);
  if (status == GAB_OK && node) status = gab_config_value_read(&arena, key, node, &value, &bad, problem);
  gab_config_arena_release(&arena);
  GAB_TRY(status);
  if (!node || bad) GAB_FAIL(GAB_ERR_ARGUMENT, "default of %s.%s: %s", section->path, key->name, problem);
  return GAB_OK;
}

/* Alternative keys must name each other, in one table. */
static gab_status check_instead_of(const gab_config_section *section, const gab_config_key *key)
{
  for (const char *at = key->instead_of; at; at = strchr(at, '|')) {
    at += *at == '|';
    const size_t length = strcspn(at, "|");
    bool mutual = false;
    for (size_t k = 0; k < section->count; k++) {
      const gab_config_key *other = &section->keys[k];
      if (other->name && strlen(other->name) == length && strncmp(other->name, at, length) == 0)
        mutual = other != key && other->instead_of && gab_config_has_choice(other->instead_of, key->name);
    }
    if (!mutual)
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s is there instead of %.*s, but not the other way round", section->path,
               key->name, (int)length, at);
  }
  return GAB_OK;
}

static gab_status check_row(const gab_config *config, const gab_config_section *section, size_t row)
{
  const gab_config_key *key = &section->keys[row];
  if (!key->name || !is_word(key->name, strlen(key->name)))
    GAB_FAIL(GAB_ERR_ARGUMENT, "section %s, row %zu: not a name", section->path, row);
  const char *name = key->name;
  if ((unsigned)key->type > GAB_CONFIG_EXPRESSION || key->length_min > key->length_max)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s: no such type", section->path, name);
  if (!key->doc || !key->doc[0]) GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s: no documentation", section->path, name);
  if (key->type == GAB_CONFIG_EXPRESSION ? key->length_max > 0 : key->variables != NULL)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s: variables belong to a formula, which is no list", section->path, name);
  const bool has_choices = (key->choices && key->choices[0]) || (key->choices == NULL && key->choice_at);
  if (key->type == GAB_CONFIG_CHOICE ? !has_choices : key->choices != NULL)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s: choices belong to a key of type choice", section->path, name);
  if (key->choice_at && (key->choices || (key->type != GAB_CONFIG_STRING && key->type != GAB_CONFIG_CHOICE)))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s.%s: choice_at belongs to texts, and to choices without a list",
             section->path, name);
  char full[GAB_CONFIG_PATH_CAPACITY];
  gab_config_join(full, sizeof full, section->path, name);
  if (gab_config_is_prefix(config, full)) GAB_FAIL(GAB_ERR_ARGUMENT, "%s is a section and a key", full);
  if (section->variant && strcmp(name, "type") == 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: the key `type` of variants comes by itself", section->path);
  for (size_t other = 0; other < row; other++)
    if (strcmp(section->keys[other].name, name) == 0) GAB_FAIL(GAB_ERR_ARGUMENT, "%s is there twice", full);
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *table = config->sections[i];
    bool together = !table->variant || !section->variant || strcmp(table->variant, section->variant) == 0;
    for (size_t k = 0; together && strcmp(table->path, section->path) == 0 && k < table->count; k++)
      if (strcmp(table->keys[k].name, name) == 0) GAB_FAIL(GAB_ERR_ARGUMENT, "%s is there twice", full);
  }
  GAB_TRY(check_instead_of(section, key));
  return check_default(section, key);
}

/* A path must be consistent with the tables: no key of that name, no list above or below, all tables of one kind. */
static gab_status check_path(const gab_config *config, const gab_config_section *section)
{
  if (!is_path(section->path)) GAB_FAIL(GAB_ERR_ARGUMENT, "not a path of a section");
  const char *path = section->path;
  size_t length = strlen(path);
  if (section->is_list && length == 0) GAB_FAIL(GAB_ERR_ARGUMENT, "the top level cannot be a list");
  if (section->any_name && (section->count != 1 || section->is_list || section->variant || length == 0))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: keys of any name need one row, in a section without variants", path);
  if (section->variant && !is_word(section->variant, strlen(section->variant)))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s: not a name of a variant", path);
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *table = config->sections[i];
    size_t other = strlen(table->path);
    if (strcmp(table->path, path) == 0 && table->is_list != section->is_list)
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s is a list in one table and none in another", path);
    if (strcmp(table->path, path) == 0 && (table->any_name || section->any_name))
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s has keys of any name: there can be one table only", path);
    bool below = other > 0 && strncmp(path, table->path, other) == 0 && path[other] == '.';
    bool above = length > 0 && strncmp(table->path, path, length) == 0 && table->path[length] == '.';
    if ((below && table->is_list) || (above && section->is_list))
      GAB_FAIL(GAB_ERR_ARGUMENT, "%s: a list cannot hold sections", path);
    if (other > 0 && !below) continue;
    const char *word = path + (other > 0 ? other + 1 : 0);
    const size_t word_length = strcspn(word, ".");
    for (size_t k = 0; k < table->count; k++)
      if (strlen(table->keys[k].name) == word_length && strncmp(word, table->keys[k].name, word_length) == 0)
        GAB_FAIL(GAB_ERR_ARGUMENT, "%.*s is a section and a key", (int)(word - path + word_length), path);
  }
  return GAB_OK;
}

gab_status gab_config_declare(gab_config *config, const gab_config_section *section)
{
  GAB_TRY(check_path(config, section));
  for (size_t row = 0; row < section->count; row++) GAB_TRY(check_row(config, section, row));
  GAB_TRY(gab_config_grow(&config->sections, config->section_count, &config->section_capacity,
                          sizeof *config->sections));
  config->sections[config->section_count++] = section;
  return GAB_OK;
}

gab_status gab_config_set_choices(gab_config *config, const char *path, gab_config_choice_fn *choice_at)
{
  char full[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; i < config->section_count; i++)
    for (size_t k = 0; k < config->sections[i]->count; k++) {
      const gab_config_key *key = &config->sections[i]->keys[k];
      gab_config_join(full, sizeof full, config->sections[i]->path, key->name);
      if (strcmp(full, path) != 0 || key->type != GAB_CONFIG_STRING) continue;
      if (config->choices_count == CONFIG_MOST_CHOICES)
        GAB_FAIL(GAB_ERR_ARGUMENT, "cannot set choices of %s: %d keys have them already", path,
                 (int)CONFIG_MOST_CHOICES);
      config->choices[config->choices_count++] = (config_choices){path, choice_at};
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot set choices: unknown text key '%s'", path);
}
