/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"

#include <math.h>
#include <string.h>

/* ---- descriptions ---- */

static void format_bound(const gab_config_key *key, double bound, char *text, size_t capacity)
{
  if (key->type == GAB_CONFIG_INT) snprintf(text, capacity, "%.0f", bound);
  else gab_text_format_real(bound, 6, text, capacity);
}

/* The limit of the integer type is omitted: it is no information for the user. */
static bool is_open_above(const gab_config_key *key)
{
  return key->max == HUGE_VAL || (key->type == GAB_CONFIG_INT && (key->max == INT32_MAX || key->max >= 9e15));
}

void gab_config_describe_range(const gab_config_key *key, char *text, size_t capacity)
{
  text[0] = '\0';
  bool number =
      key->type == GAB_CONFIG_INT || key->type == GAB_CONFIG_REAL || key->type == GAB_CONFIG_EXPRESSION;
  if (!number || !(key->min < key->max)) return;
  char low[40] = "", high[40] = "";
  if (key->min > -HUGE_VAL) format_bound(key, key->min, low, sizeof low);
  if (!is_open_above(key)) format_bound(key, key->max, high, sizeof high);
  const char *above = key->min_excluded ? "<" : "<=", *below = key->max_excluded ? "<" : "<=";
  if (low[0] && high[0]) snprintf(text, capacity, "%s %s value %s %s", low, above, below, high);
  else if (low[0]) snprintf(text, capacity, "value %s %s", key->min_excluded ? ">" : ">=", low);
  else if (high[0]) snprintf(text, capacity, "value %s %s", below, high);
}

static const char *name_of_type(gab_config_type type)
{
  switch (type) {
  case GAB_CONFIG_BOOL:
    return "true or false";
  case GAB_CONFIG_INT:
    return "an integer";
  case GAB_CONFIG_REAL:
    return "a real number";
  case GAB_CONFIG_STRING:
    return "a text";
  case GAB_CONFIG_CHOICE:
    return "a choice";
  case GAB_CONFIG_EXPRESSION:
    return "a number or a formula";
  }
  return "nothing";
}

static void describe_length(const gab_config_key *key, char *text, size_t capacity)
{
  if (key->length_min == key->length_max) snprintf(text, capacity, "%zu values", key->length_min);
  else if (key->length_max == GAB_CONFIG_ANY_LENGTH && key->length_min == 0)
    snprintf(text, capacity, "any number of values");
  else if (key->length_max == GAB_CONFIG_ANY_LENGTH)
    snprintf(text, capacity, "%zu or more values", key->length_min);
  else snprintf(text, capacity, "%zu to %zu values", key->length_min, key->length_max);
}

enum { CONFIG_CHOICE_CAPACITY = 80, CONFIG_CHOICES_CAPACITY = 512 };

bool gab_config_choice_at(const gab_config_key *key, int index, char *choice, size_t capacity)
{
  if (!key->choices) {
    const char *name = key->choice_at(index).name;
    snprintf(choice, capacity, "%s", name ? name : "");
    return name != NULL;
  }
  const char *at = key->choices;
  for (; at && index > 0; index--) {
    at = strchr(at, '|');
    at += at != NULL;
  }
  if (at) snprintf(choice, capacity, "%.*s", (int)strcspn(at, "|"), at);
  return at != NULL;
}

/* "srt|trt" */
static void list_choices(const gab_config_key *key, char *text, size_t capacity)
{
  char choice[CONFIG_CHOICE_CAPACITY];
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; used < capacity && gab_config_choice_at(key, i, choice, sizeof choice); i++)
    used += (size_t)snprintf(text + used, capacity - used, "%s%s", i > 0 ? "|" : "", choice);
}

/* "x, y, z, t" */
static void list_variables(const gab_config_key *key, char *text, size_t capacity)
{
  size_t used = 0;
  text[0] = '\0';
  for (const char *at = key->variables; at && *at && used + 3 < capacity; at++) {
    if (*at == '|') text[used++] = ',';
    text[used++] = *at == '|' ? ' ' : *at;
    text[used] = '\0';
  }
}

void gab_config_describe_type(const gab_config_key *key, char *text, size_t capacity)
{
  char range[128], length[64] = "", choices[CONFIG_CHOICES_CAPACITY] = "";
  gab_config_describe_range(key, range, sizeof range);
  if (key->length_max > 0) describe_length(key, length, sizeof length);
  if (key->type == GAB_CONFIG_CHOICE) list_choices(key, choices, sizeof choices);
  if (key->type == GAB_CONFIG_EXPRESSION) list_variables(key, choices, sizeof choices);
  const char *unit = key->unit && key->unit[0] ? key->unit : NULL;
  int used = snprintf(text, capacity, "%s%s", length[0] ? "a list of " : "", length[0] ? length : "");
  if (used < 0 || (size_t)used >= capacity) return;
  snprintf(text + used, capacity - (size_t)used, "%s%s%s%s%s%s%s%s", length[0] ? ", each " : "",
           name_of_type(key->type), choices[0] ? " of " : "", choices, range[0] ? ", " : "", range,
           unit ? ", in " : "", unit ? unit : "");
}

/* ---- edit distance ---- */

size_t gab_config_distance(const char *a, const char *b)
{
  enum { LONGEST = 64 };
  size_t rows[3][LONGEST + 1];
  size_t length_a = strlen(a), length_b = strlen(b);
  if (length_a > LONGEST || length_b > LONGEST) return SIZE_MAX;
  size_t *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= length_b; j++) last[j] = before[j] = j;
  for (size_t i = 1; i <= length_a; i++) {
    row[0] = i;
    for (size_t j = 1; j <= length_b; j++) {
      size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
    size_t *oldest = before;
    before = last;
    last = row;
    row = oldest;
  }
  return last[length_b];
}

bool gab_config_is_near(const char *wanted, size_t distance)
{
  size_t length = strlen(wanted);
  return distance != SIZE_MAX && distance <= (length < 3 ? 1 : length < 8 ? 2 : length / 3);
}

/* ---- from nodes to values ---- */

static const char *kind_of(const config_node *node)
{
  if (node->kind == CONFIG_MAPPING) return "a section";
  if (node->kind == CONFIG_SEQUENCE) return "a list";
  return gab_config_node_is_null(node) ? "no value" : "";
}

static bool wrong_type(const gab_config_key *key, const config_node *node, char *problem)
{
  char wanted[256];
  gab_config_key single = *key;
  if (node->kind == CONFIG_SCALAR) single.length_max = 0;
  gab_config_describe_type(&single, wanted, sizeof wanted);
  const char *kind = kind_of(node);
  if (kind[0])
    snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s should be %s, but there is %s", key->name, wanted, kind);
  else
    snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s should be %s, not %s%.80s%s", key->name, wanted,
             node->plain ? "'" : "the text '", node->text, "'");
  return false;
}

static bool in_range(const gab_config_key *key, double number, const config_node *node, char *problem)
{
  if (!(key->min < key->max)) return true;
  bool low = key->min_excluded ? number > key->min : number >= key->min;
  bool high = key->max_excluded ? number < key->max : number <= key->max;
  if (low && high) return true;
  char range[128];
  if (!high && is_open_above(key)) snprintf(range, sizeof range, "value <= %.0f", key->max);
  else gab_config_describe_range(key, range, sizeof range);
  snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s = %.40s is out of range: %s%s%s", key->name, node->text,
           range, key->unit && key->unit[0] ? ", in " : "", key->unit ? key->unit : "");
  return false;
}

static bool read_choice(const gab_config_key *key, const config_node *node, int64_t *index, char *problem)
{
  char choice[CONFIG_CHOICE_CAPACITY], closest[CONFIG_CHOICE_CAPACITY] = "", all[CONFIG_CHOICES_CAPACITY];
  size_t nearest = SIZE_MAX;
  for (*index = 0; gab_config_choice_at(key, (int)*index, choice, sizeof choice); ++*index) {
    if (strcmp(choice, node->text) == 0) return true;
    const size_t distance = gab_config_distance(node->text, choice);
    if (distance >= nearest) continue;
    nearest = distance;
    memcpy(closest, choice, sizeof choice);
  }
  list_choices(key, all, sizeof all);
  const bool near = gab_config_is_near(node->text, nearest);
  snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s = '%.80s' is none of %.200s%s%s%s", key->name, node->text,
           all, near ? "; did you mean '" : "", near ? closest : "", near ? "'?" : "");
  return false;
}

typedef struct scalar {
  int64_t integer;
  double real;
  const char *text;
} scalar;

static bool read_integer(const gab_config_key *key, const config_node *node, scalar *value, char *problem)
{
  if (!node->plain || !gab_text_parse_int(node->text, &value->integer)) return wrong_type(key, node, problem);
  return in_range(key, (double)value->integer, node, problem);
}

static bool read_real(const gab_config_key *key, const config_node *node, scalar *value, char *problem)
{
  if (!node->plain || !gab_text_parse_real(node->text, &value->real)) return wrong_type(key, node, problem);
  return in_range(key, value->real, node, problem);
}

/* Appends a value as it could stand in one line: [64, 64], {type: wall}. */
static gab_status put_flow(gab_buffer *text, const config_node *node)
{
  const char *const marks = node->kind == CONFIG_MAPPING ? "{}" : "[]";
  if (node->kind == CONFIG_SCALAR) {
    const char *quote = node->plain ? "" : "'";
    GAB_TRY(gab_put_bytes(text, quote, strlen(quote)));
    for (const char *at = node->text; *at; at++) { /* a quote within is doubled */
      if (!node->plain && *at == '\'') GAB_TRY(gab_put_u8(text, '\''));
      GAB_TRY(gab_put_u8(text, (uint8_t)*at));
    }
    return gab_put_bytes(text, quote, strlen(quote));
  }
  GAB_TRY(gab_put_u8(text, (uint8_t)marks[0]));
  for (const config_node *child = node->first; child; child = child->next) {
    if (node->kind == CONFIG_MAPPING) {
      GAB_TRY(gab_put_bytes(text, child->key, strlen(child->key)));
      GAB_TRY(gab_put_bytes(text, ": ", 2));
    }
    GAB_TRY(put_flow(text, child));
    if (child->next) GAB_TRY(gab_put_bytes(text, ", ", 2));
  }
  return gab_put_u8(text, (uint8_t)marks[1]);
}

/* The text of gab_config_key.any_value. */
static gab_status flow_text(config_arena *arena, const config_node *node, const char **copy)
{
  gab_buffer text = {0};
  gab_status status = put_flow(&text, node);
  if (status == GAB_OK) status = gab_config_arena_text(arena, (const char *)text.data, text.size, copy);
  gab_buffer_release(&text);
  return status;
}

static bool read_scalar(const gab_config_key *key, const config_node *node, scalar *value, char *problem)
{
  if (node->kind != CONFIG_SCALAR || gab_config_node_is_null(node)) return wrong_type(key, node, problem);
  value->text = node->text;
  switch (key->type) {
  case GAB_CONFIG_BOOL:
    value->integer = strcmp(node->text, "true") == 0;
    if (!node->plain || (!value->integer && strcmp(node->text, "false") != 0))
      return wrong_type(key, node, problem);
    return true;
  case GAB_CONFIG_INT:
    return read_integer(key, node, value, problem);
  case GAB_CONFIG_REAL:
    return read_real(key, node, value, problem);
  case GAB_CONFIG_STRING:
    return true;
  case GAB_CONFIG_EXPRESSION: /* formulas: gab_config_read_formula() */
    if (gab_text_parse_real(node->text, &value->real)) return in_range(key, value->real, node, problem);
    value->real = (double)NAN;
    return true;
  case GAB_CONFIG_CHOICE:
    return read_choice(key, node, &value->integer, problem);
  }
  return wrong_type(key, node, problem);
}

static bool right_length(const gab_config_key *key, const config_node *node, size_t *count, char *problem)
{
  *count = 1;
  if (key->length_max == 0) return true;
  if (node->kind == CONFIG_SCALAR && !gab_config_node_is_null(node)) {
    char wanted[256];
    gab_config_describe_type(key, wanted, sizeof wanted);
    snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s should be %s, not the single value '%.80s'", key->name,
             wanted, node->text);
    return false;
  }
  if (node->kind != CONFIG_SEQUENCE) return wrong_type(key, node, problem);
  *count = 0;
  for (const config_node *item = node->first; item; item = item->next) ++*count;
  if (*count >= key->length_min && *count <= key->length_max) return true;
  char wanted[64];
  describe_length(key, wanted, sizeof wanted);
  snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s should have %s, not %zu", key->name, wanted, *count);
  return false;
}

/* A duplicate in a list is an error if order and number have no meaning. *bad: NULL if there is none */
static gab_status find_repeated(const gab_config_key *key, config_node *first, size_t count,
                                const config_node **bad, char *problem)
{
  config_arena arena = {NULL};
  config_index *index;
  *bad = NULL;
  if (key->repeats || count < 2 || (key->type != GAB_CONFIG_STRING && key->type != GAB_CONFIG_CHOICE))
    return GAB_OK;
  gab_status status = gab_config_index_create(&arena, count, &index);
  for (config_node *item = first; status == GAB_OK && item && !*bad; item = item->next)
    if (item->kind == CONFIG_SCALAR && gab_config_index_put(index, item->text, item)) *bad = item;
  gab_config_arena_release(&arena);
  if (*bad) snprintf(problem, CONFIG_PROBLEM_CAPACITY, "%s has '%.80s' twice", key->name, (*bad)->text);
  return status;
}

gab_status gab_config_value_read(config_arena *arena, const gab_config_key *key, const config_node *node,
                                 config_value *value, const config_node **bad, char *problem)
{
  *bad = node;
  size_t count;
  if (!right_length(key, node, &count, problem)) return GAB_OK;
  void *ints, *reals, *texts;
  GAB_TRY(gab_config_arena_get(arena, count * sizeof(int64_t), &ints));
  GAB_TRY(gab_config_arena_get(arena, count * sizeof(double), &reals));
  GAB_TRY(gab_config_arena_get(arena, count * sizeof(char *), &texts));
  const config_node *item = key->length_max > 0 ? node->first : node;
  for (size_t i = 0; i < count; i++, item = item->next) {
    scalar read = {0, 0.0, NULL};
    *bad = item;
    if (key->any_value && item->kind != CONFIG_SCALAR) {
      GAB_TRY(flow_text(arena, item, &((const char **)texts)[i]));
      continue;
    }
    if (!read_scalar(key, item, &read, problem)) return GAB_OK;
    ((int64_t *)ints)[i] = read.integer;
    ((double *)reals)[i] = read.real;
    GAB_TRY(gab_config_arena_text(arena, read.text, strlen(read.text), &((const char **)texts)[i]));
  }
  *value = (config_value){count, ints, reals, texts};
  return find_repeated(key, key->length_max > 0 ? node->first : NULL, count, bad, problem);
}
