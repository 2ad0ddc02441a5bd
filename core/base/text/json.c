/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text/json.h"

#include "core/base/text/text_impl.h"
#include "core/system/file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libfyaml.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32, NUMBER_CAPACITY = 64, MOST_BYTES = 64 << 20 };

struct gab_json {
  struct fy_emitter *emitter;
  gab_json_form form;
  gab_text_kept *kept;
  gab_status status;     /* the first thing that went wrong */
  bool is_list[DEEPEST]; /* of what is open */
  int depth;
};

/* ---------------------------------------------------------------- events of the library */

/* The library takes the event over. */
static void emit(gab_json *json, struct fy_event *event)
{
  if (json->status == GAB_OK && (!event || fy_emit_event(json->emitter, event) != 0))
    json->status = GAB_ERR_MEMORY;
}

static void emit_scalar(gab_json *json, enum fy_scalar_style style, const char *text, size_t length)
{
  if (json->status != GAB_OK) return;
  emit(json, fy_emit_event_create(json->emitter, FYET_SCALAR, style, text, length, NULL, NULL));
}

static void emit_text(gab_json *json, const char *text, size_t length)
{
  if (json->status == GAB_OK && !gab_text_emit_quoted(json->emitter, &json->kept, text, length))
    json->status = GAB_ERR_MEMORY;
}

static void emit_key(gab_json *json, const char *key)
{
  if (json->status == GAB_OK && (json->depth == 0 || !key != json->is_list[json->depth - 1]))
    json->status = GAB_ERR_ARGUMENT;
  if (key) emit_text(json, key, strlen(key));
}

static void emit_number(gab_json *json, const char *key, const char *number)
{
  emit_key(json, key);
  emit_scalar(json, FYSS_PLAIN, number, strlen(number));
}

static void open_container(gab_json *json, enum fy_event_type type)
{
  if (json->depth == DEEPEST) json->status = GAB_ERR_ARGUMENT;
  if (json->status != GAB_OK) return;
  json->is_list[json->depth++] = type == FYET_SEQUENCE_START;
  emit(json, fy_emit_event_create(json->emitter, type, FYNS_ANY, NULL, NULL));
}

/* ---------------------------------------------------------------- begin and end */

gab_json *gab_json_begin(gab_json_form form)
{
  gab_json *json = calloc(1, sizeof *json);
  if (!json) return NULL;
  json->form = form;
  json->emitter = fy_emit_to_string(FYECF_MODE_JSON_ONELINE | FYECF_WIDTH_INF | FYECF_INDENT_2);
  if (!json->emitter) {
    free(json);
    return NULL;
  }
  emit(json, fy_emit_event_create(json->emitter, FYET_STREAM_START));
  emit(json, fy_emit_event_create(json->emitter, FYET_DOCUMENT_START, 1, NULL, NULL));
  open_container(json, FYET_MAPPING_START);
  return json;
}

static void release(gab_json **json)
{
  fy_emitter_destroy((*json)->emitter);
  gab_text_kept_release(&(*json)->kept);
  free(*json);
  *json = NULL;
}

/* Of one line, ends of lines where members of the outermost object begin, and objects of a list in it. What
 * is in quotes does not count. */
static gab_status put_page(const char *line, size_t length, gab_buffer *text)
{
  static const char indents[] = "\n      ";
  char open[DEEPEST + 1];
  int depth = 0;
  bool quoted = false;
  gab_status status = GAB_OK;
  for (size_t i = 0; i < length && status == GAB_OK; i++) {
    const char c = line[i], next = i + 1 < length ? line[i + 1] : 0, after = i + 2 < length ? line[i + 2] : 0;
    if (quoted && c == '\\') {
      status = gab_put_bytes(text, line + i++, 2);
      continue;
    }
    if (c == '"') quoted = !quoted;
    const bool closes = !quoted && (c == '}' || c == ']');
    if (closes && depth > 0) depth--;
    if (closes && depth == 0 && line[i - 1] != '{') status = gab_put_bytes(text, indents, 1);
    if (closes && depth == 1 && c == ']' && line[i - 1] == '}') status = gab_put_bytes(text, indents, 3);
    if (status == GAB_OK) status = gab_put_bytes(text, &c, 1);
    if (status != GAB_OK || quoted) continue;
    if ((c == '{' || c == '[') && depth < DEEPEST) open[depth++] = c;
    const bool first = (c == '{' && depth == 1 && next != '}') || (c == '[' && depth == 2 && next == '{');
    const bool further =
        c == ',' && next == ' ' && (depth == 1 || (depth == 2 && open[1] == '[' && after == '{'));
    if (first || further) status = gab_put_bytes(text, indents, 1 + 2 * (size_t)depth);
    if (further) i++; /* the blank */
  }
  return status;
}

gab_status gab_json_end(gab_json **json, gab_buffer *text)
{
  if (!*json) GAB_FAIL(GAB_ERR_MEMORY, "no memory for JSON");
  gab_json *it = *json;
  if (it->status == GAB_OK && it->depth != 1) it->status = GAB_ERR_ARGUMENT;
  gab_json_close(it);
  if (it->status == GAB_OK) emit(it, fy_emit_event_create(it->emitter, FYET_DOCUMENT_END, 1));
  if (it->status == GAB_OK) emit(it, fy_emit_event_create(it->emitter, FYET_STREAM_END));
  gab_status status = it->status;
  const gab_json_form form = it->form;
  size_t length = 0;
  char *made = status == GAB_OK ? fy_emit_to_string_collect(it->emitter, &length) : NULL;
  release(json);
  if (status == GAB_ERR_ARGUMENT)
    GAB_FAIL(status, "JSON with a key in a list, a value without one, or something left open");
  if (!made) GAB_FAIL(GAB_ERR_MEMORY, "no memory for JSON");
  length = strlen(made);
  while (length > 0 && made[length - 1] == '\n') length--;
  status = form == GAB_JSON_PAGE ? put_page(made, length, text) : gab_put_bytes(text, made, length);
  if (status == GAB_OK) status = gab_put_bytes(text, "\n", 1);
  free(made);
  return status;
}

/* ---------------------------------------------------------------- members */

void gab_json_object(gab_json *json, const char *key)
{
  if (!json) return;
  emit_key(json, key);
  open_container(json, FYET_MAPPING_START);
}

void gab_json_list(gab_json *json, const char *key)
{
  if (!json) return;
  emit_key(json, key);
  open_container(json, FYET_SEQUENCE_START);
}

void gab_json_close(gab_json *json)
{
  if (!json || json->status != GAB_OK) return;
  if (json->depth == 0) {
    json->status = GAB_ERR_ARGUMENT;
    return;
  }
  const bool list = json->is_list[--json->depth];
  emit(json, fy_emit_event_create(json->emitter, list ? FYET_SEQUENCE_END : FYET_MAPPING_END));
}

/* The library hands on bytes that are no UTF-8 as "\xFF", which is no JSON. */
void gab_json_bytes(gab_json *json, const char *key, const void *bytes, size_t count)
{
  if (!json) return;
  const unsigned char *from = bytes;
  size_t used = 0;
  char *clean = malloc(3 * count + 1);
  if (!clean) json->status = GAB_ERR_MEMORY;
  for (size_t i = 0, step; clean && i < count; i += step) {
    uint32_t code;
    step = gab_text_decode(from + i, count - i, &code);
    memcpy(clean + used, step ? (const char *)from + i : "\xEF\xBF\xBD", step ? step : 3);
    used += step ? step : 3;
    if (step == 0) step = 1;
  }
  emit_key(json, key);
  if (clean) emit_text(json, clean, used);
  free(clean);
}

void gab_json_text(gab_json *json, const char *key, const char *value)
{
  if (json) gab_json_bytes(json, key, value, strlen(value));
}

void gab_json_format(gab_json *json, const char *key, const char *format, ...)
{
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  gab_json_text(json, key, length < 0 ? "" : text);
}

void gab_json_int(gab_json *json, const char *key, int64_t value)
{
  char text[NUMBER_CAPACITY];
  snprintf(text, sizeof text, "%" PRId64, value);
  if (json) emit_number(json, key, text);
}

void gab_json_uint(gab_json *json, const char *key, uint64_t value)
{
  char text[NUMBER_CAPACITY];
  snprintf(text, sizeof text, "%" PRIu64, value);
  if (json) emit_number(json, key, text);
}

void gab_json_real(gab_json *json, const char *key, double value)
{
  char text[NUMBER_CAPACITY] = "null";
  if (isfinite(value)) gab_text_format_real(value, 1, text, sizeof text);
  if (json) emit_number(json, key, text);
}

void gab_json_rounded(gab_json *json, const char *key, double value, int digits)
{
  const double scale = pow(10, digits), scaled = value * scale;
  gab_json_real(json, key, fabs(scaled) < 9e15 ? round(scaled) / scale : value);
}

void gab_json_bool(gab_json *json, const char *key, bool value)
{
  if (json) emit_number(json, key, value ? "true" : "false");
}

void gab_json_null(gab_json *json, const char *key)
{
  if (json) emit_number(json, key, "null");
}

/* ---------------------------------------------------------------- reading */

struct gab_json_document {
  struct fy_document *parsed;
  struct fy_node *node; /* to which paths are relative: the root, or an item of a list */
  char *text;           /* that the parsed one looks into */
};

/* Without a word, whatever the text is: a line may be cut off where its writer was killed. */
static struct fy_document *parse_quietly(const char *text, size_t length)
{
  struct fy_diag_cfg silence;
  fy_diag_cfg_default(&silence);
  silence.fp = NULL;
  struct fy_diag *diag = fy_diag_create(&silence);
  if (!diag) return NULL;
  fy_diag_set_collect_errors(diag, true);
  const struct fy_parse_cfg how = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2,
                                   .diag = diag};
  struct fy_document *parsed = fy_document_build_from_string(&how, text, length);
  if (parsed && (fy_diag_got_error(diag) || !fy_document_root(parsed))) {
    fy_document_destroy(parsed);
    parsed = NULL;
  }
  fy_diag_destroy(diag);
  return parsed;
}

static gab_json_document *parse(char *text, size_t length)
{
  gab_json_document *document = text ? calloc(1, sizeof *document) : NULL;
  if (document) document->parsed = parse_quietly(text, length);
  if (!document || !document->parsed) {
    free(text);
    free(document);
    return NULL;
  }
  document->node = fy_document_root(document->parsed);
  document->text = text;
  return document;
}

gab_json_document *gab_json_read(const char *text, size_t length)
{
  char *copy = malloc(length + 1);
  if (!copy || length == 0) {
    free(copy);
    return NULL;
  }
  memcpy(copy, text, length);
  copy[length] = '\0';
  return parse(copy, length);
}

gab_json_document *gab_json_read_file(const char *path)
{
  gab_buffer text = {0};
  gab_json_document *document = NULL;
  if (gab_file_read(path, MOST_BYTES, &text) == GAB_OK)
    document = gab_json_read((const char *)text.data, text.size);
  gab_buffer_release(&text);
  return document;
}

void gab_json_forget(gab_json_document **document)
{
  if (!*document) return;
  fy_document_destroy((*document)->parsed);
  free((*document)->text);
  free(*document);
  *document = NULL;
}

static struct fy_node *find(gab_json_document *document, const char *path)
{
  if (!document) return NULL;
  if (path[0] == '/') path++; /* at the beginning of a path it means the root */
  return path[0] ? fy_node_by_path(document->node, path, FY_NT, FYNWF_DONT_FOLLOW) : document->node;
}

const char *gab_json_get_text(gab_json_document *document, const char *path, char *text, size_t capacity)
{
  size_t length = 0;
  struct fy_node *node = find(document, path);
  const char *found = node && fy_node_is_scalar(node) ? fy_node_get_scalar(node, &length) : NULL;
  snprintf(text, capacity, "%.*s", (int)length, found ? found : "");
  return text;
}

double gab_json_get_real(gab_json_document *document, const char *path)
{
  char text[NUMBER_CAPACITY];
  double value;
  return gab_text_parse_real(gab_json_get_text(document, path, text, sizeof text), &value) ? value : 0;
}

int64_t gab_json_get_int(gab_json_document *document, const char *path)
{
  char text[NUMBER_CAPACITY];
  int64_t value;
  return gab_text_parse_int(gab_json_get_text(document, path, text, sizeof text), &value) ? value : 0;
}

const char *gab_json_get_list(gab_json_document *document, const char *path, char *text, size_t capacity)
{
  text[0] = '\0';
  struct fy_node *list = find(document, path);
  void *at = NULL;
  for (struct fy_node *item; list && (item = fy_node_sequence_iterate(list, &at));) {
    size_t length = 0, used = strlen(text);
    const char *word = fy_node_get_scalar(item, &length);
    snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "", (int)length, word ? word : "");
  }
  return text;
}

bool gab_json_find_uint(gab_json_document *document, const char *path, int base, uint64_t *value)
{
  char text[NUMBER_CAPACITY], *end;
  gab_json_get_text(document, path, text, sizeof text);
  errno = 0;
  const unsigned long long found = strtoull(text, &end, base);
  const bool is_number = isxdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
  *value = is_number ? found : 0;
  return is_number;
}

gab_status gab_json_find_text(gab_json_document *document, const char *path, gab_buffer *out)
{
  size_t length = 0;
  struct fy_node *node = find(document, path);
  const char *found = node && fy_node_is_scalar(node) ? fy_node_get_scalar(node, &length) : NULL;
  if (!found) GAB_FAIL(GAB_ERR_CORRUPT, "`%s' is missing, or not a text", path);
  return gab_put_bytes(out, found, length);
}

gab_status gab_json_each(gab_json_document *document, const char *path,
                         gab_status (*visit)(void *user, gab_json_document *item), void *user)
{
  struct fy_node *list = find(document, path);
  void *at = NULL;
  if (!list || !fy_node_is_sequence(list)) GAB_FAIL(GAB_ERR_CORRUPT, "`%s' is missing, or not a list", path);
  for (struct fy_node *node; (node = fy_node_sequence_iterate(list, &at));) {
    gab_json_document item = {.parsed = document->parsed, .node = node};
    GAB_TRY(visit(user, &item));
  }
  return GAB_OK;
}

/* ---- numbers by name ---- */

enum { NAME_CAPACITY = 512 };

typedef struct number_visit {
  gab_status (*visit)(void *user, const char *name, double value);
  void *user;
  char name[NAME_CAPACITY];
} number_visit;

static gab_status visit_numbers(number_visit *by, struct fy_node *node, size_t length);

static gab_status visit_member(number_visit *by, struct fy_node *node, size_t length, const char *word,
                               size_t count)
{
  const size_t dot = length > 0;
  if (length + dot + count + 1 > NAME_CAPACITY) return GAB_OK;
  if (dot) by->name[length] = '.';
  memcpy(by->name + length + dot, word, count);
  by->name[length + dot + count] = '\0';
  return visit_numbers(by, node, length + dot + count);
}

static gab_status visit_items(number_visit *by, struct fy_node *list, size_t length)
{
  void *at = NULL;
  size_t number = 0;
  for (struct fy_node *item; (item = fy_node_sequence_iterate(list, &at)); number++) {
    char digits[24];
    size_t count = 0;
    struct fy_node *named =
        fy_node_is_mapping(item) ? fy_node_mapping_lookup_by_string(item, "name", 4) : NULL;
    const char *word = named && fy_node_is_scalar(named) ? fy_node_get_scalar(named, &count) : NULL;
    if (!word || count == 0) {
      count = (size_t)snprintf(digits, sizeof digits, "%zu", number);
      word = digits;
    }
    GAB_TRY(visit_member(by, item, length, word, count));
  }
  return GAB_OK;
}

static gab_status visit_numbers(number_visit *by, struct fy_node *node, size_t length)
{
  if (fy_node_is_sequence(node)) return visit_items(by, node, length);
  if (fy_node_is_mapping(node)) {
    void *at = NULL;
    for (struct fy_node_pair *pair; (pair = fy_node_mapping_iterate(node, &at));) {
      size_t count = 0;
      const char *word = fy_node_get_scalar(fy_node_pair_key(pair), &count);
      if (word) GAB_TRY(visit_member(by, fy_node_pair_value(pair), length, word, count));
    }
    return GAB_OK;
  }
  size_t count = 0;
  const char *found = fy_node_get_scalar(node, &count);
  char text[NUMBER_CAPACITY];
  double value;
  if (!found || count + 1 > sizeof text || fy_node_get_style(node) != FYNS_PLAIN) return GAB_OK;
  snprintf(text, sizeof text, "%.*s", (int)count, found);
  return gab_text_parse_real(text, &value) ? by->visit(by->user, by->name, value) : GAB_OK;
}

gab_status gab_json_each_number(gab_json_document *document, const char *path,
                                gab_status (*visit)(void *user, const char *name, double value), void *user)
{
  struct fy_node *node = find(document, path);
  number_visit by = {.visit = visit, .user = user};
  return node ? visit_numbers(&by, node, 0) : GAB_OK;
}
