/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas by muParser. A parser belongs to one thread: each thread has one, and one more is shared by additional threads. */
#include "core/config/expression.h"
#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"
#include "core/system/threads.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#if GAB_HAVE_MUPARSER
#include <muParserDLL.h>
#endif

/* A parser reads its variables from `values`. */
typedef struct expression_parser {
  void *handle;
  double values[GAB_EXPRESSION_MOST_VARIABLES];
} expression_parser;

/* `flow_rate(outlet)`: a variable that muParser knows as _0, _1, ... */
typedef struct named_value {
  int variable;
  char name[64];
} named_value;

struct gab_expression {
  char *text;
  char *parsed; /* the same with these names */
  named_value named[GAB_EXPRESSION_MOST_VARIABLES];
  int named_count;
  bool uses[GAB_EXPRESSION_MOST_VARIABLES];
  int variable_count; /* with the values by name, which come last */
  bool is_constant;
  double value;               /* of a constant */
  expression_parser *parsers; /* of others: one for each thread, then the shared one */
  size_t thread_count;
};

/* Name number `index` of a list separated by '|', from 0. @return its length, 0 after the last */
static size_t name_at(const char *names, int index, const char **name)
{
  const char *at = names ? names : "";
  for (; index > 0 && *at; index--) {
    at += strcspn(at, "|");
    at += *at == '|';
  }
  *name = at;
  return strcspn(at, "|");
}

#if GAB_HAVE_MUPARSER

static double sign_free_mod(double a, double b) { return a - b * floor(a / b); }

/* muParser's own _pi has 13 digits. */
static void define_names(muParserHandle_t handle)
{
  mupClearConst(handle);
  mupDefineConst(handle, "pi", 3.14159265358979323846);
  mupDefineConst(handle, "e", 2.71828182845904523536);
  mupDefineFun1(handle, "erf", erf, 1);
  mupDefineFun2(handle, "mod", sign_free_mod, 1);
}

/* The position in "Unexpected token "a" found at position 0." counts from 0: replaced by the character, from 1. */
static gab_status fail_as(muParserHandle_t handle, const char *text, const char *variables)
{
  static const char *const places[] = {" found at position", " at expression position", " at position"};
  char why[256];
  const int at = mupGetErrorPos(handle) + 1;
  snprintf(why, sizeof why, "%s", mupGetErrorMsg(handle));
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char *place = strstr(why, places[i]);
    if (place) *place = '\0';
  }
  why[0] = (char)(why[0] >= 'A' && why[0] <= 'Z' ? why[0] - 'A' + 'a' : why[0]);
  GAB_FAIL(GAB_ERR_INPUT, "the formula '%.200s': %s, at character %d; its variables are %s", text, why, at,
           variables && variables[0] ? variables : "none");
}

/* Whether a word has no meaning yet: muParser itself would let a constant hide a function. */
static bool is_free(muParserHandle_t handle, const char *word)
{
  enum { UNKNOWN_WORD = 1 }; /* muParser's ecUNASSIGNABLE_TOKEN */
  char call[128];
  snprintf(call, sizeof call, "%s(", word);
  mupSetExpr(handle, call);
  (void)mupEval(handle);
  return mupError(handle) && mupGetErrorCode(handle) == UNKNOWN_WORD;
}

static gab_status define_constants(muParserHandle_t handle, const gab_expression_constant *constants,
                                   size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const bool free_name = is_free(handle, constants[i].name);
    if (free_name) mupDefineConst(handle, constants[i].name, constants[i].value);
    if (!free_name || mupError(handle))
      GAB_FAIL(GAB_ERR_INPUT,
               "the constant '%.80s' has a name that means something else in formulas; rename it",
               constants[i].name);
  }
  return GAB_OK;
}

static gab_status define_variables(expression_parser *parser, const gab_expression *it, const char *variables)
{
  const char *name;
  for (int i = 0; i < it->named_count; i++) {
    char word[16];
    snprintf(word, sizeof word, "_%d", i);
    mupDefineVar(parser->handle, word, &parser->values[it->variable_count - it->named_count + i]);
  }
  for (int i = 0; name_at(variables, i, &name) > 0; i++) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)name_at(variables, i, &name), name);
    if (strchr(word, '(')) continue;
    mupDefineVar(parser->handle, word, &parser->values[i]);
    if (mupError(parser->handle))
      GAB_FAIL(GAB_ERR_INPUT, "'%s' is the name of a variable; rename the constant", word);
  }
  return GAB_OK;
}

static gab_status prepare(expression_parser *parser, const gab_expression *it, const char *variables,
                          const gab_expression_constant *constants, size_t constant_count)
{
  int count = 0;
  parser->handle = mupCreate(muBASETYPE_FLOAT);
  if (!parser->handle) GAB_FAIL(GAB_ERR_MEMORY, "no memory for a formula");
  define_names(parser->handle);
  GAB_TRY(define_constants(parser->handle, constants, constant_count));
  GAB_TRY(define_variables(parser, it, variables));
  mupSetExpr(parser->handle, it->parsed);
  (void)mupEvalMulti(parser->handle, &count); /* later evaluations do not parse the text */
  if (mupError(parser->handle)) return fail_as(parser->handle, it->text, variables);
  if (count != 1)
    GAB_FAIL(GAB_ERR_INPUT, "the formula '%.200s' has %d values; one is needed", it->text, count);
  return GAB_OK;
}

static void find_used(gab_expression *it)
{
  const muChar_t *name = NULL;
  muFloat_t *place = NULL;
  const muInt_t count = mupGetExprVarNum(it->parsers[0].handle);
  it->is_constant = count == 0;
  for (muInt_t i = 0; i < count; i++) {
    mupGetExprVar(it->parsers[0].handle, (unsigned)i, &name, &place);
    for (int v = 0; v < it->variable_count; v++)
      if (place == &it->parsers[0].values[v]) it->uses[v] = true;
  }
}

static gab_status read_formula(gab_expression *it, const char *variables,
                               const gab_expression_constant *constants, size_t constant_count)
{
  GAB_TRY(GAB_NEW_ARRAY(&it->parsers, it->thread_count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i <= it->thread_count; i++) {
    GAB_TRY(prepare(&it->parsers[i], it, variables, constants, constant_count));
    if (i == 0) find_used(it);
    if (it->is_constant) break;
  }
  if (it->is_constant) it->value = mupEval(it->parsers[0].handle);
  return GAB_OK;
}

const char *gab_expression_library(void)
{
  static char version[32];
  muParserHandle_t handle = mupCreate(muBASETYPE_FLOAT);
  snprintf(version, sizeof version, "%s", handle ? mupGetVersion(handle) : "");
  version[strcspn(version, " ")] = '\0';
  if (handle) mupRelease(handle);
  return version;
}

static double evaluate(expression_parser *parser, int count, const double *values)
{
  for (int i = 0; i < count; i++) parser->values[i] = values[i];
  return mupEval(parser->handle);
}

static void release_parsers(gab_expression *it)
{
  for (size_t i = 0; it->parsers && i <= it->thread_count; i++)
    if (it->parsers[i].handle) mupRelease(it->parsers[i].handle);
  gab_free(&it->parsers);
}

#else

static gab_status read_formula(gab_expression *it, const char *variables,
                               const gab_expression_constant *constants, size_t constant_count)
{
  (void)variables, (void)constants, (void)constant_count;
  GAB_FAIL(
      GAB_ERR_INPUT,
      "'%.200s' is not a number, and this build has no formulas; install libmuparser-dev and configure again",
      it->text);
}

static double evaluate(expression_parser *parser, int count, const double *values)
{
  (void)parser, (void)count, (void)values;
  return (double)NAN;
}

static void release_parsers(gab_expression *it) { (void)it; }

const char *gab_expression_library(void) { return NULL; }

#endif

/* Refuses assignments, which muParser accepts and which would change a variable. */
static gab_status check_text(const char *text)
{
  for (const char *at = text; *at; at++) {
    const char before = at > text ? at[-1] : '\0';
    if (*at == '=' && at[1] == '=') at++;
    else if (*at == '=' && before != '<' && before != '>' && before != '!')
      GAB_FAIL(GAB_ERR_INPUT, "the formula '%.200s' assigns a value, at character %d; equality is ==", text,
               (int)(at - text) + 1);
  }
  if (strlen(text) > GAB_EXPRESSION_LONGEST)
    GAB_FAIL(GAB_ERR_INPUT, "the formula '%.60s...' has more than %d characters", text,
             (int)GAB_EXPRESSION_LONGEST);
  return GAB_OK;
}

/* The variable with parentheses whose name ends before a parenthesis. @return its index, -1: none */
static int function_before(const char *text, const char *parenthesis, const char *variables)
{
  const char *name;
  for (int i = 0; name_at(variables, i, &name) > 0; i++) {
    const size_t length = name_at(variables, i, &name);
    if (length < 3 || name[length - 1] != ')' || (size_t)(parenthesis - text) < length - 2) continue;
    const char *at = parenthesis - (length - 2);
    if (strncmp(at, name, length - 2) != 0) continue;
    if (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) return i;
  }
  return -1;
}

/* @return the index of the value by name, -1: there are too many, or the name is empty or too long */
static int find_named(gab_expression *it, int variable, const char *name, size_t length)
{
  while (length > 0 && name[0] == ' ') name++, length--;
  while (length > 0 && name[length - 1] == ' ') length--;
  if (length == 0 || length >= sizeof it->named[0].name) return -1;
  for (int i = 0; i < it->named_count; i++)
    if (it->named[i].variable == variable && strlen(it->named[i].name) == length &&
        strncmp(it->named[i].name, name, length) == 0)
      return i;
  if (it->variable_count == GAB_EXPRESSION_MOST_VARIABLES) return -1;
  named_value *made = &it->named[it->named_count++];
  made->variable = variable;
  memcpy(made->name, name, length);
  it->uses[it->variable_count++] = true;
  return it->named_count - 1;
}

/* Replaces values by name by variables, each in the place of its text, so that positions in messages stay. */
static gab_status name_values(gab_expression *it, const char *variables)
{
  for (char *open = strchr(it->parsed, '('); open; open = strchr(open + 1, '(')) {
    const int variable = function_before(it->parsed, open, variables);
    if (variable < 0) continue;
    const char *name;
    char word[8];
    const size_t before = name_at(variables, variable, &name) - 2, length = strcspn(open + 1, ")");
    const int index = open[1 + length] ? find_named(it, variable, open + 1, length) : -1;
    if (index < 0)
      GAB_FAIL(
          GAB_ERR_INPUT,
          "the formula '%.200s' needs a name after %.*s, as in %.*s(x_max), at character %d, and %d at most",
          it->text, (int)before, name, (int)before, name, (int)(open - it->parsed) + 2,
          (int)(GAB_EXPRESSION_MOST_VARIABLES - (it->variable_count - it->named_count)));
    char *at = open - before;
    memset(at, ' ', before + length + 2);
    memcpy(at, word, (size_t)snprintf(word, sizeof word, "_%d", index));
    open += length + 1;
  }
  return GAB_OK;
}

static gab_status fill(gab_expression *it, const char *text, const char *variables,
                       const gab_expression_constant *constants, size_t constant_count)
{
  const char *name;
  GAB_TRY(check_text(text));
  GAB_TRY(GAB_NEW_ARRAY(&it->text, strlen(text) + 1, GAB_MEMORY_OTHER));
  memcpy(it->text, text, strlen(text));
  GAB_TRY(GAB_NEW_ARRAY(&it->parsed, strlen(text) + 1, GAB_MEMORY_OTHER));
  memcpy(it->parsed, text, strlen(text));
  while (name_at(variables, it->variable_count, &name) > 0)
    if (++it->variable_count > GAB_EXPRESSION_MOST_VARIABLES)
      GAB_FAIL(GAB_ERR_ARGUMENT, "a formula of more than %d variables", (int)GAB_EXPRESSION_MOST_VARIABLES);
  GAB_TRY(name_values(it, variables));
  it->thread_count = gab_thread_count();
  it->is_constant = gab_text_parse_real(text, &it->value);
  return it->is_constant ? GAB_OK : read_formula(it, variables, constants, constant_count);
}

gab_status gab_expression_create(const char *text, const char *variables,
                                 const gab_expression_constant *constants, size_t constant_count,
                                 gab_expression **expression)
{
  *expression = NULL;
  GAB_TRY(GAB_NEW(expression, GAB_MEMORY_OTHER));
  const gab_status status = fill(*expression, text, variables, constants, constant_count);
  if (status != GAB_OK) gab_expression_destroy(expression);
  return status;
}

void gab_expression_destroy(gab_expression **expression)
{
  if (!*expression) return;
  release_parsers(*expression);
  gab_free(&(*expression)->text);
  gab_free(&(*expression)->parsed);
  gab_free(expression);
}

double gab_expression_at(const gab_expression *expression, const double *values)
{
  if (expression->is_constant) return expression->value;
  double value;
  if (gab_team_size() <= expression->thread_count)
    return evaluate(&expression->parsers[gab_thread_number()], expression->variable_count, values);
#pragma omp critical(gab_expression_shared)
  value = evaluate(&expression->parsers[expression->thread_count], expression->variable_count, values);
  return value;
}

bool gab_expression_uses(const gab_expression *expression, int variable)
{
  return variable >= 0 && variable < expression->variable_count && expression->uses[variable];
}

const char *gab_expression_named(const gab_expression *expression, int index, int *variable)
{
  if (index < 0 || index >= expression->named_count) return NULL;
  if (variable) *variable = expression->named[index].variable;
  return expression->named[index].name;
}

bool gab_expression_is_constant(const gab_expression *expression) { return expression->is_constant; }

const char *gab_expression_text(const gab_expression *expression) { return expression->text; }
