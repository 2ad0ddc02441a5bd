/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a file with all overrides applied: for checks, and for the effective parameters. */
#include "core/config/config_impl.h"

#include <stdlib.h>
#include <string.h>

/* Target of an assignment, e.g. output.slices.2.every: `mapping` gets the node of output.slices.2 and `table` the path of
 * its tables, output.slices. @return the last word, NULL if the target is not in a mapping */
static const char *assigned_key(config_node *root, const char *assignment, config_node **mapping,
                                char table[GAB_CONFIG_PATH_CAPACITY], char word[GAB_CONFIG_PATH_CAPACITY])
{
  config_node *node = root;
  table[0] = '\0';
  for (const char *at = assignment;;) {
    const size_t length = strcspn(at, ".=");
    if (!node || length >= GAB_CONFIG_PATH_CAPACITY) return NULL;
    memcpy(word, at, length);
    word[length] = '\0';
    if (at[length] != '.') break;
    at += length + 1;
    if (node->kind == CONFIG_SEQUENCE) {
      node = gab_config_tree_item(node, strtoul(word, NULL, 10));
      continue;
    }
    char longer[GAB_CONFIG_PATH_CAPACITY];
    if (!gab_config_join(longer, sizeof longer, table, word)) return NULL;
    memcpy(table, longer, sizeof longer);
    node = node->kind == CONFIG_MAPPING ? gab_config_tree_child(node, word, length) : NULL;
  }
  *mapping = node;
  return node->kind == CONFIG_MAPPING ? word : NULL;
}

/* An override removes alternative keys of the file. */
static void drop_alternatives(const gab_config *config, config_node *root, const char *assignment)
{
  char table[GAB_CONFIG_PATH_CAPACITY], word[GAB_CONFIG_PATH_CAPACITY];
  config_node *mapping = NULL;
  const char *name = assigned_key(root, assignment, &mapping, table, word);
  for (size_t i = 0; name && i < config->section_count; i++) {
    const gab_config_section *section = config->sections[i];
    for (size_t k = 0; strcmp(section->path, table) == 0 && k < section->count; k++) {
      const gab_config_key *key = &section->keys[k];
      config_node *node = key->instead_of && gab_config_has_choice(key->instead_of, name)
                              ? gab_config_tree_child(mapping, key->name, strlen(key->name))
                              : NULL;
      if (node) gab_config_tree_remove(node);
    }
  }
}

gab_status gab_config_tree_apply(const gab_config *config, config_arena *arena, config_node **root)
{
  *root = NULL;
  if (config->loaded)
    GAB_TRY(gab_config_tree_parse(arena, gab_config_name(config), NULL, (const char *)config->text.data,
                                  config->text.size - 1, root));
  for (size_t i = 0; i < config->override_count; i++) {
    GAB_TRY(gab_config_tree_override(arena, root, config->overrides[i]));
    drop_alternatives(config, *root, config->overrides[i]);
  }
  return GAB_OK;
}
