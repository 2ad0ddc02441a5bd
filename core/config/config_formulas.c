/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of parameter files, and the constants that they use. */
#include "core/config/config_impl.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char constants_path[] = "constants";

static const gab_config_key constant[] = {{.name = "name",
                                           .type = GAB_CONFIG_EXPRESSION,
                                           .min = -INFINITY,
                                           .max = INFINITY,
                                           .default_text = GAB_CONFIG_OPTIONAL,
                                           .doc = "A number with this name."}};
const gab_config_section gab_config_constants = {
    .path = constants_path,
    .doc = "Numbers for the formulas of this file; each may be a formula of those before it.",
    .keys = constant,
    .count = 1,
    .optional = true,
    .any_name = true};

bool gab_config_is_name(const char *name)
{
  size_t length = 0;
  for (; name[length]; length++)
    if (!isalnum((unsigned char)name[length]) && name[length] != '_') return false;
  return length > 0 && length <= 60 && isalpha((unsigned char)name[0]);
}

const gab_config_key *gab_config_any_key(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->section_count; i++)
    if (config->sections[i]->any_name && strcmp(config->sections[i]->path, path) == 0)
      return config->sections[i]->keys;
  return NULL;
}

bool gab_config_is_constant(const config_entry *entry)
{
  const size_t length = sizeof constants_path - 1;
  return strncmp(entry->path, constants_path, length) == 0 && entry->path[length] == '.';
}

static gab_status check_range(const gab_config_key *key, const gab_expression *expression)
{
  char range[128];
  if (!gab_expression_is_constant(expression)) return GAB_OK;
  const double value = gab_expression_at(expression, NULL);
  gab_config_describe_range(key, range, sizeof range);
  if (!isfinite(value))
    GAB_FAIL(GAB_ERR_INPUT, "the formula '%.200s' is %g", gab_expression_text(expression), value);
  if (!(key->min < key->max)) return GAB_OK;
  if ((key->min_excluded ? value > key->min : value >= key->min) &&
      (key->max_excluded ? value < key->max : value <= key->max))
    return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "%s = %g is out of range: %s", key->name, value, range);
}

gab_status gab_config_read_formula(const config_result *result, config_entry *entry)
{
  gab_expression_constant *known;
  size_t count = 0;
  GAB_TRY(GAB_NEW_ARRAY(&known, result->count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < result->count; i++) {
    const config_entry *one = &result->entries[i];
    if (gab_config_is_constant(one) && one->expression)
      known[count++] = (gab_expression_constant){one->key->name, gab_expression_at(one->expression, NULL)};
  }
  gab_status status =
      gab_expression_create(entry->value.strings[0], entry->key->variables, known, count, &entry->expression);
  gab_free(&known);
  return status == GAB_OK ? check_range(entry->key, entry->expression) : status;
}
