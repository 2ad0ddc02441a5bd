/* SPDX-License-Identifier: Apache-2.0 */
/** @file config_impl.h
 *  @brief Declarations shared by the parts of the configuration: arena, tree, entries.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_CONFIG_IMPL_H
#define GABION_CORE_CONFIG_IMPL_H

#include "core/base/text/text_impl.h"
#include "core/config/config.h"

/* ---- arena: many small objects that end together ---- */

typedef struct config_arena {
  struct config_chunk *chunks;
} config_arena;

/* Zeroed and aligned for any type. */
gab_status gab_config_arena_get(config_arena *arena, size_t bytes, void **memory);
gab_status gab_config_arena_text(config_arena *arena, const char *text, size_t length, const char **copy);
void gab_config_arena_release(config_arena *arena);

/* ---- tree: a YAML document with positions ---- */

typedef enum config_kind { CONFIG_SCALAR, CONFIG_SEQUENCE, CONFIG_MAPPING } config_kind;

typedef struct config_node {
  config_kind kind;
  bool plain;       /* scalar: not quoted */
  bool flow;        /* sequence, mapping: in brackets */
  const char *text; /* scalar; terminated, without zero bytes */
  const char *key;  /* in a mapping */
  int key_line, key_column;
  const char *override; /* the override that set it, NULL for the file */
  int line, column;     /* from 1 */
  struct config_node *parent, *first, *last, *next;
  struct config_index *index; /* of a mapping with many keys: index of the first `indexed` keys */
  struct config_node *indexed;
} config_node;

/* Index of nodes by text, so that a search among n nodes does not need n comparisons. */
typedef struct config_index config_index;
/* For at most `count` texts. */
gab_status gab_config_index_create(config_arena *arena, size_t count, config_index **index);
/* The node that was first added for this text; if there is none, adds and returns `node`. */
config_node *gab_config_index_put(config_index *index, const char *text, config_node *node);

/* Parses into the arena; `name` and `override` are for messages and nodes. An empty text gives *root = NULL.
 */
gab_status gab_config_tree_parse(config_arena *arena, const char *name, const char *override,
                                 const char *text, size_t length, config_node **root);
void gab_config_tree_remove(config_node *child);
config_node *gab_config_tree_child(const config_node *mapping, const char *key, size_t key_length);
config_node *gab_config_tree_item(const config_node *sequence, size_t index);
/* Applies "path=value" to the tree. */
gab_status gab_config_tree_override(config_arena *arena, config_node **root, const char *assignment);
/* The file with all overrides applied; each replaces its alternative keys (instead_of). *root = NULL if both are empty. */
gab_status gab_config_tree_apply(const struct gab_config *config, config_arena *arena, config_node **root);
/* Whether a plain scalar is empty, ~ or null. */
bool gab_config_node_is_null(const config_node *node);

/* ---- values ---- */

typedef struct config_value {
  size_t count;
  const int64_t *ints;        /* bool, int, choice */
  const double *reals;        /* real */
  const char *const *strings; /* string, choice, expression */
} config_value;

enum { CONFIG_PROBLEM_CAPACITY = 512 };

/* Converts a node into a value of the key. On an error of the user *bad is the wrong node and `problem` (of
 * CONFIG_PROBLEM_CAPACITY) the reason; the status is then still GAB_OK. */
gab_status gab_config_value_read(config_arena *arena, const gab_config_key *key, const config_node *node,
                                 config_value *value, const config_node **bad, char *problem);
/* "real, 0 < value < 2, lattice units" */
void gab_config_describe_type(const gab_config_key *key, char *text, size_t capacity);
/* "0 < value < 2", "" without a range */
void gab_config_describe_range(const gab_config_key *key, char *text, size_t capacity);
/* Edit distance (insert, delete, replace, swap of neighbours). */
size_t gab_config_distance(const char *a, const char *b);
/* Whether a word is close enough to be a misspelling. */
bool gab_config_is_near(const char *wanted, size_t distance);

/* ---- the configuration ---- */

/* A key with its value, a section, or an item of a list section, by path. */
typedef struct config_entry {
  const char *path;
  const gab_config_key *key; /* NULL: section or item */
  config_value value;
  gab_expression *expression;
  size_t items;     /* of a list section */
  bool is_set;      /* by the user */
  bool has_content; /* the hash of the files that it names is known */
  uint64_t content;
  const char *override; /* source, if not the file */
  int line, column;
} config_entry;

typedef struct config_result {
  config_arena arena;
  config_entry *entries; /* sorted by path; from gab_alloc */
  size_t count, capacity;
  const char *name; /* of the file at the time of the check */
} config_result;

void gab_config_result_release(config_result *result);

/* Choices that were set for a key. */
typedef struct config_choices {
  const char *path;
  gab_config_choice_fn *choice_at;
} config_choices;
enum { CONFIG_MOST_CHOICES = 16 };

struct gab_config {
  const gab_config_section **sections;
  size_t section_count, section_capacity;
  config_choices choices[CONFIG_MOST_CHOICES];
  size_t choices_count;
  gab_buffer name, text; /* terminated */
  bool loaded;
  config_arena override_arena;
  const char **overrides;
  size_t override_count, override_capacity;
  bool checked;
  config_result result;
};

/* Iterates over the keys that a section path has for a variant (NULL: only the common ones).
 * Start with *section = 0, *index = 0. NULL at the end. */
const gab_config_key *gab_config_next_key(const gab_config *config, const char *path, const char *variant,
                                          size_t *section, size_t *index);
/* The first table of the path, NULL if none. */
const gab_config_section *gab_config_find_section(const gab_config *config, const char *path);
bool gab_config_has_variants(const gab_config *config, const char *path);
/* Whether a table has this path or one below it. */
bool gab_config_is_prefix(const gab_config *config, const char *path);
bool gab_config_has_variant(const gab_config *config, const char *path, const char *variant);
const char *gab_config_default_variant(const gab_config *config, const char *path);
/* "box, cylinder, sphere" */
void gab_config_list_variants(const gab_config *config, const char *path, char *text, size_t capacity);
/* The closest valid key of the mapping `path`; "" if none is similar. */
void gab_config_closest_in(const gab_config *config, const char *path, const char *variant,
                           const char *wanted, char *closest, size_t capacity);
/* Choice number `index` of a key, from 0. @return false after the last */
bool gab_config_choice_at(const gab_config_key *key, int index, char *choice, size_t capacity);
/* Whether the choices, separated by '|', have this one. */
bool gab_config_has_choice(const char *choices, const char *choice);
/* "lbm.omega" from "lbm" and "omega". */
bool gab_config_join(char *path, size_t capacity, const char *section, const char *name);
/* The path of a file of a key, as it was given or relative to the folder of the parameter file; `path` of PATH_MAX. */
gab_status gab_config_file_path(const gab_config *config, gab_config_file kind, const char *text, char *path);
/* Whether results depend on the content of files that the entry names. */
bool gab_config_has_files(const config_entry *entry);
/* The hash of the content of its files; reads them if necessary. */
gab_status gab_config_content_of(const gab_config *config, const config_entry *entry, uint64_t *content);
/* Row of the table of the path that accepts keys of arbitrary names; NULL: none. */
const gab_config_key *gab_config_any_key(const gab_config *config, const char *path);
/* Whether the name is valid for a key in such a table. */
bool gab_config_is_name(const char *name);
/* ---- config_formulas.c */
/* Whether an entry is one of the section `constants'. */
bool gab_config_is_constant(const config_entry *entry);
/* Reads the formula of an entry, with the constants that were added before it. */
gab_status gab_config_read_formula(const config_result *result, config_entry *entry);
/* Grows an array of pointers or entries from gab_alloc by one element. */
gab_status gab_config_grow(void *array, size_t count, size_t *capacity, size_t bytes_each);

#endif
