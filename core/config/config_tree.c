/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"

#include "core/base/hash.h"

#include <libfyaml.h>
#include <string.h>

enum { DEEPEST = 32, MANY_KEYS = 16 };

/* ---- arena ---- */

typedef struct config_chunk {
  struct config_chunk *next;
  size_t used, capacity;
} config_chunk;

enum { CHUNK_BYTES = 16384, CHUNK_HEAD = 64 };

gab_status gab_config_arena_get(config_arena *arena, size_t bytes, void **memory)
{
  size_t rounded = (bytes + 15) / 16 * 16;
  config_chunk *chunk = arena->chunks;
  if (!chunk || chunk->capacity - chunk->used < rounded) {
    size_t capacity = rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES;
    void *fresh;
    GAB_TRY(gab_alloc(CHUNK_HEAD + capacity, GAB_MEMORY_OTHER, &fresh));
    chunk = fresh;
    *chunk = (config_chunk){arena->chunks, 0, capacity};
    arena->chunks = chunk;
  }
  *memory = (unsigned char *)chunk + CHUNK_HEAD + chunk->used;
  chunk->used += rounded;
  return GAB_OK;
}

gab_status gab_config_arena_text(config_arena *arena, const char *text, size_t length, const char **copy)
{
  void *memory;
  GAB_TRY(gab_config_arena_get(arena, length + 1, &memory));
  char *characters = memory;
  if (length > 0) memcpy(characters, text, length);
  characters[length] = '\0';
  *copy = characters;
  return GAB_OK;
}

void gab_config_arena_release(config_arena *arena)
{
  while (arena->chunks) {
    config_chunk *next = arena->chunks->next;
    gab_free(&arena->chunks);
    arena->chunks = next;
  }
}

/* ---- index ---- */

typedef struct index_place {
  const char *text;
  size_t length;
  config_node *node; /* NULL: free */
} index_place;

struct config_index {
  size_t mask; /* places - 1, a power of two - 1 */
  index_place *places;
};

gab_status gab_config_index_create(config_arena *arena, size_t count, config_index **index)
{
  size_t places = 16;
  void *memory;
  while (places < 2 * count) places *= 2;
  GAB_TRY(gab_config_arena_get(arena, sizeof **index, &memory));
  *index = memory;
  (*index)->mask = places - 1;
  GAB_TRY(gab_config_arena_get(arena, places * sizeof(index_place), &memory));
  (*index)->places = memory;
  return GAB_OK;
}

/* Returns the place of the text, or the place to insert it. */
static index_place *index_find(const config_index *index, const char *text, size_t length)
{
  size_t at = (size_t)gab_hash64_fast(text, length, 0) & index->mask;
  for (;; at = (at + 1) & index->mask) {
    index_place *place = &index->places[at];
    if (!place->node || (place->length == length && memcmp(place->text, text, length) == 0)) return place;
  }
}

config_node *gab_config_index_put(config_index *index, const char *text, config_node *node)
{
  const size_t length = strlen(text);
  index_place *place = index_find(index, text, length);
  if (place->node) return place->node;
  *place = (index_place){text, length, node};
  return NULL;
}

/* ---- nodes ---- */

static void add_child(config_node *parent, config_node *child)
{
  child->parent = parent;
  if (parent->last) parent->last->next = child;
  else parent->first = child;
  parent->last = child;
}

void gab_config_tree_remove(config_node *child)
{
  config_node *parent = child->parent, *before = NULL;
  for (config_node *other = parent->first; other != child; other = other->next) before = other;
  if (before) before->next = child->next;
  else parent->first = child->next;
  if (parent->last == child) parent->last = before;
  parent->index = NULL; /* without an index, searches are linear from now on */
}

/* Built when a mapping is complete; overrides may append to it later. */
static gab_status index_keys(config_arena *arena, config_node *mapping)
{
  size_t count = 0;
  for (const config_node *child = mapping->first; child; child = child->next) count++;
  if (mapping->kind != CONFIG_MAPPING || count < MANY_KEYS) return GAB_OK;
  GAB_TRY(gab_config_index_create(arena, count, &mapping->index));
  for (config_node *child = mapping->first; child; child = child->next)
    (void)gab_config_index_put(mapping->index, child->key, child);
  mapping->indexed = mapping->last;
  return GAB_OK;
}

config_node *gab_config_tree_child(const config_node *mapping, const char *key, size_t key_length)
{
  config_node *found = mapping->index ? index_find(mapping->index, key, key_length)->node : NULL;
  if (found) return found;
  for (config_node *child = mapping->index ? mapping->indexed->next : mapping->first; child;
       child = child->next)
    if (strlen(child->key) == key_length && memcmp(child->key, key, key_length) == 0) return child;
  return NULL;
}

config_node *gab_config_tree_item(const config_node *sequence, size_t index)
{
  config_node *item = sequence->first;
  for (; item && index > 0; index--) item = item->next;
  return item;
}

bool gab_config_node_is_null(const config_node *node)
{
  if (node->kind != CONFIG_SCALAR || !node->plain) return false;
  const char *text = node->text;
  return !text[0] || !strcmp(text, "~") || !strcmp(text, "null") || !strcmp(text, "Null") ||
         !strcmp(text, "NULL");
}

/* ---- events of the YAML parser to nodes ---- */

typedef struct builder {
  config_arena *arena;
  const char *name, *override;
  config_node *root, *open; /* `open`: the mapping or sequence being filled */
  const char *key;          /* a key whose value has not been read yet */
  int key_line, key_column, depth, documents;
} builder;

/* An error with its place; for an assignment the place is the assignment. */
#define REFUSE(from, line, column, ...)                                                                      \
  do {                                                                                                       \
    char refuse_text_[512];                                                                                  \
    snprintf(refuse_text_, sizeof refuse_text_, __VA_ARGS__);                                                \
    if ((from)->override) GAB_FAIL(GAB_ERR_INPUT, "--set %s: %s", (from)->override, refuse_text_);           \
    GAB_FAIL(GAB_ERR_INPUT, "%s:%d:%d: %s", (from)->name, (line), (column), refuse_text_);                   \
  } while (0)

static void place_of(struct fy_event *event, int *line, int *column)
{
  const struct fy_mark *mark = fy_event_start_mark(event);
  if (!mark) return;
  *line = mark->line + 1;
  *column = mark->column + 1;
}

/* Control characters, and characters that only some programs treat as the end of a line. */
static bool is_odd(uint32_t code)
{
  return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0) || code == 0x2028 ||
         code == 0x2029 || code == 0xFEFF || (code & 0xFFFF) >= 0xFFFE;
}

static gab_status text_of(builder *build, struct fy_token *token, int line, int column, const char **text)
{
  size_t length = 0;
  const char *characters = token ? fy_token_get_text(token, &length) : "";
  if (!characters) GAB_FAIL(GAB_ERR_MEMORY, "the YAML parser gave no text");
  for (size_t i = 0, bytes; i < length; i += bytes) { /* escapes such as "\\x1b" in quotes pass the screen */
    uint32_t code = 0;
    bytes = gab_text_decode((const unsigned char *)characters + i, length - i, &code);
    if (code == 0) REFUSE(build, line, column, "a zero byte in a text");
    if (bytes == 0 || is_odd(code))
      REFUSE(build, line, column, "a control character in a text (0x%02x)", (unsigned)code);
  }
  return gab_config_arena_text(build->arena, characters, length, text);
}

/* Anchors and tags would hide the value from a reader of the file. */
static gab_status refuse_extras(const builder *build, const struct fy_event *event, int line, int column)
{
  bool anchor = false, tag = false;
  switch (event->type) {
  case FYET_SCALAR:
    anchor = event->scalar.anchor, tag = event->scalar.tag;
    break;
  case FYET_SEQUENCE_START:
    anchor = event->sequence_start.anchor, tag = event->sequence_start.tag;
    break;
  case FYET_MAPPING_START:
    anchor = event->mapping_start.anchor, tag = event->mapping_start.tag;
    break;
  case FYET_ALIAS:
    REFUSE(build, line, column, "YAML aliases (*name) are not used in parameter files");
  default:
    break;
  }
  if (anchor) REFUSE(build, line, column, "YAML anchors (&name) are not used in parameter files");
  if (tag) REFUSE(build, line, column, "YAML tags (!name) are not used in parameter files");
  return GAB_OK;
}

static gab_status add_node(builder *build, config_kind kind, int line, int column, config_node **node)
{
  void *memory;
  GAB_TRY(gab_config_arena_get(build->arena, sizeof **node, &memory));
  config_node *made = memory;
  *made = (config_node){.kind = kind, .override = build->override, .line = line, .column = column};
  if (build->open && build->open->kind == CONFIG_MAPPING) {
    made->key = build->key;
    made->key_line = build->key_line;
    made->key_column = build->key_column;
    build->key = NULL;
  }
  if (build->open) add_child(build->open, made);
  else build->root = made;
  *node = made;
  return GAB_OK;
}

static gab_status add_scalar(builder *build, const struct fy_event *event, int line, int column)
{
  struct fy_token *token = event->scalar.value;
  if (build->open && build->open->kind == CONFIG_MAPPING && !build->key) {
    GAB_TRY(text_of(build, token, line, column, &build->key));
    build->key_line = line;
    build->key_column = column;
    return GAB_OK;
  }
  config_node *node;
  GAB_TRY(add_node(build, CONFIG_SCALAR, line, column, &node));
  enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
  if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
    node->column--; /* the mark is after the quote */
  node->plain = style == FYSS_PLAIN || style == FYSS_ANY;
  return text_of(build, token, line, column, &node->text);
}

static gab_status open_node(builder *build, const struct fy_event *event, int line, int column)
{
  if (build->open && build->open->kind == CONFIG_MAPPING && !build->key)
    REFUSE(build, line, column, "a key must be a word");
  if (++build->depth > DEEPEST) REFUSE(build, line, column, "nested more than %d deep", (int)DEEPEST);
  bool mapping = event->type == FYET_MAPPING_START;
  config_node *node;
  GAB_TRY(add_node(build, mapping ? CONFIG_MAPPING : CONFIG_SEQUENCE, line, column, &node));
  const struct fy_token *token =
      mapping ? event->mapping_start.mapping_start : event->sequence_start.sequence_start;
  node->flow = token && fy_token_get_type((struct fy_token *)token) ==
                            (mapping ? FYTT_FLOW_MAPPING_START : FYTT_FLOW_SEQUENCE_START);
  build->open = node;
  return GAB_OK;
}

static gab_status take_event(builder *build, struct fy_event *event)
{
  int line = build->key ? build->key_line : 1, column = build->key ? build->key_column : 1;
  place_of(event, &line, &column);
  GAB_TRY(refuse_extras(build, event, line, column));
  switch (event->type) {
  case FYET_DOCUMENT_START:
    if (++build->documents > 1) REFUSE(build, line, column, "a second YAML document; one file holds one");
    return GAB_OK;
  case FYET_SCALAR:
    return add_scalar(build, event, line, column);
  case FYET_MAPPING_START:
  case FYET_SEQUENCE_START:
    return open_node(build, event, line, column);
  case FYET_MAPPING_END:
  case FYET_SEQUENCE_END:
    if (!build->open) GAB_FAIL(GAB_ERR_INPUT, "%s: the YAML parser lost its way", build->name);
    GAB_TRY(index_keys(build->arena, build->open));
    build->open = build->open->parent;
    build->depth--;
    return GAB_OK;
  default:
    return GAB_OK;
  }
}

static gab_status parser_error(const builder *build, struct fy_diag *diag)
{
  void *iterator = NULL;
  struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
  if (!error) REFUSE(build, 1, 1, "not YAML");
  char text[256];
  snprintf(text, sizeof text, "%s", error->msg ? error->msg : "");
  text[strcspn(text, "\r\n")] = '\0';
  REFUSE(build, error->line, error->column, "not YAML: %s", text);
}

static gab_status parse_events(builder *build, struct fy_parser *parser, struct fy_diag *diag)
{
  for (;;) {
    struct fy_event *event = fy_parser_parse(parser);
    if (!event) break;
    bool end = event->type == FYET_STREAM_END;
    gab_status status = take_event(build, event);
    fy_parser_event_free(parser, event);
    GAB_TRY(status);
    if (end) break;
  }
  if (fy_parser_get_stream_error(parser) || fy_diag_got_error(diag)) return parser_error(build, diag);
  return GAB_OK;
}

/* Checks each character before the parser: the place in the message is then correct, and libfyaml 0.7 does not
 * terminate on broken characters in directives. */
static gab_status screen(const builder *build, const char *text, size_t length)
{
  int line = 1, column = 1;
  for (size_t i = 0, bytes; i < length; i += bytes) {
    uint32_t code = 0;
    bytes = gab_text_decode((const unsigned char *)text + i, length - i, &code);
    if (bytes == 0) REFUSE(build, line, column, "not UTF-8 (byte 0x%02x)", (unsigned char)text[i]);
    if (code == '\r' && i + 1 < length && text[i + 1] == '\n') continue;
    if (is_odd(code)) REFUSE(build, line, column, "a control character (0x%02x)", (unsigned)code);
    if (code == '%' && column == 1)
      REFUSE(build, line, column, "YAML directives (%%) are not used in parameter files");
    column++;
    if (code == '\n') ++line, column = 1;
  }
  return GAB_OK;
}

gab_status gab_config_tree_parse(config_arena *arena, const char *name, const char *override,
                                 const char *text, size_t length, config_node **root)
{
  *root = NULL;
  builder build = {.arena = arena, .name = name, .override = override};
  const bool byte_order_mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
  if (byte_order_mark) text += 3, length -= 3;
  GAB_TRY(screen(&build, text, length));
  if (length == 0) return GAB_OK;
  struct fy_diag_cfg diag_settings;
  fy_diag_cfg_default(&diag_settings);
  diag_settings.fp = NULL;
  struct fy_diag *diag = fy_diag_create(&diag_settings);
  if (!diag) GAB_FAIL(GAB_ERR_MEMORY, "the YAML parser could not be made");
  fy_diag_set_collect_errors(diag, true);
  struct fy_parse_cfg settings = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2,
                                  .diag = diag};
  struct fy_parser *parser = fy_parser_create(&settings);
  gab_status status;
  if (!parser || fy_parser_set_string(parser, text, length) != 0)
    status = gab_error_set(GAB_ERR_MEMORY, __FILE__, __LINE__, "the YAML parser could not be made");
  else status = parse_events(&build, parser, diag);
  if (parser) fy_parser_destroy(parser);
  fy_diag_destroy(diag);
  if (status == GAB_OK) *root = build.root;
  return status;
}

/* ---- overrides ---- */

static gab_status new_container(config_arena *arena, config_kind kind, const char *assignment,
                                config_node **node)
{
  void *memory;
  GAB_TRY(gab_config_arena_get(arena, sizeof **node, &memory));
  *node = memory;
  **node = (config_node){.kind = kind, .flow = true, .override = assignment, .line = 1, .column = 1};
  return GAB_OK;
}

static bool is_index(const char *word, size_t length, size_t *index)
{
  *index = 0;
  for (size_t i = 0; i < length; i++) {
    if (word[i] < '0' || word[i] > '9' || i > 8) return false;
    *index = 10 * *index + (size_t)(word[i] - '0');
  }
  return length > 0;
}

/* Replaces the content of a node, not its place in the tree. */
static void become(config_node *node, const config_node *value)
{
  config_node *parent = node->parent, *next = node->next;
  const char *key = node->key;
  *node = *value;
  node->parent = parent;
  node->next = next;
  node->key = key;
  for (config_node *child = node->first; child; child = child->next) child->parent = node;
}

/* Returns the child of a node with that key, and creates it if necessary. */
static gab_status descend(config_arena *arena, config_node *node, const char *word, size_t length,
                          const char *assignment, config_node **child)
{
  size_t index;
  bool indexed = is_index(word, length, &index);
  if (node->kind == CONFIG_SCALAR) {
    config_node *container;
    GAB_TRY(new_container(arena, indexed ? CONFIG_SEQUENCE : CONFIG_MAPPING, assignment, &container));
    become(node, container);
  }
  if (indexed != (node->kind == CONFIG_SEQUENCE))
    GAB_FAIL(GAB_ERR_INPUT, "--set %s: '%.*s' does not fit: the parameters have a %s there", assignment,
             (int)length, word, indexed ? "section" : "list");
  *child = indexed ? gab_config_tree_item(node, index) : gab_config_tree_child(node, word, length);
  if (*child) return GAB_OK;
  size_t count = 0;
  for (const config_node *item = node->first; item; item = item->next) count++;
  if (indexed && index != count)
    GAB_FAIL(GAB_ERR_INPUT, "--set %s: item %zu does not exist; the list has %zu", assignment, index, count);
  GAB_TRY(new_container(arena, CONFIG_SCALAR, assignment, child));
  (*child)->text = "";
  (*child)->plain = true;
  if (!indexed) GAB_TRY(gab_config_arena_text(arena, word, length, &(*child)->key));
  add_child(node, *child);
  return GAB_OK;
}

gab_status gab_config_tree_override(config_arena *arena, config_node **root, const char *assignment)
{
  const char *equals = strchr(assignment, '=');
  if (!equals) GAB_FAIL(GAB_ERR_INPUT, "--set %s: the form is section.key=value", assignment);
  if (!*root) GAB_TRY(new_container(arena, CONFIG_MAPPING, assignment, root));
  config_node *value, *node = *root;
  GAB_TRY(gab_config_tree_parse(arena, assignment, assignment, equals + 1, strlen(equals + 1), &value));
  if (!value) {
    GAB_TRY(new_container(arena, CONFIG_SCALAR, assignment, &value));
    value->text = "";
    value->plain = true;
  }
  for (const char *word = assignment; word <= equals;) {
    size_t length = strcspn(word, ".=");
    if (length == 0) GAB_FAIL(GAB_ERR_INPUT, "--set %s: the form is section.key=value", assignment);
    GAB_TRY(descend(arena, node, word, length, assignment, &node));
    word += length + 1;
  }
  become(node, value);
  return GAB_OK;
}
