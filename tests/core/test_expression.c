/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas: values, refusals, threads; and in parameter files, with constants. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"

#if !GAB_HAVE_MUPARSER
static void skips(void **state)
{
  (void)state;
  gab_expression *it;
  assert_int_equal(gab_expression_create("2.5", "x", NULL, 0, &it), GAB_OK);
  assert_true(gab_expression_at(it, NULL) == 2.5);
  gab_expression_destroy(&it);
  assert_int_equal(gab_expression_create("2.5*x", "x", NULL, 0, &it), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "this build has no formulas"));
  assert_null(gab_expression_library());
}
int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(skips)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else

static double value(const char *text, double x, double t)
{
  gab_expression *it;
  const gab_expression_constant known[] = {{"u0", 0.25}};
  if (gab_expression_create(text, "x|t", known, 1, &it) != GAB_OK) fail_msg("%s", gab_error_message());
  const double found = gab_expression_at(it, (const double[]){x, t});
  assert_string_equal(gab_expression_text(it), text);
  gab_expression_destroy(&it);
  assert_null(it);
  return found;
}

static void evaluates(void **state)
{
  (void)state;
  assert_true(gab_expression_library()[0] >= '2');
  assert_true(value("-1.5e-3", 0, 0) == -1.5e-3);
  assert_true(value("u0 * x + t", 8, 1) == 3);
  assert_true(value("2^3^2 - -2^2", 0, 0) == 516);
  assert_true(value("x > 0.5 && t <= 1 ? 7 : x", 1, 1) == 7);
  assert_true(value("x > 0.5 && t <= 1 ? 7 : x", 1, 2) == 1);
  assert_true(value("cos(pi)", 0, 0) == -1);
  assert_true(value("pi", 0, 0) == 3.14159265358979323846);
  assert_true(value("ln(e)", 0, 0) == 1);
  assert_true(value("log(8) / log(2)", 0, 0) == 3);
  assert_true(value("mod(-1, 3)", 0, 0) == 2);
  assert_true(value("erf(x)", 0.5, 0) == erf(0.5));
  assert_true(value("sin(x)", 0.7, 0) == sin(0.7));
  assert_true(value("max(x, t, 3)", 1, 2) == 3);
  assert_true(isinf(value("1 / x", 0, 0)));
  assert_true(isnan(value("sqrt(x)", -1, 0)));
}

/* A decimal comma in the locale has no effect. */
static void ignores_locale(void **state)
{
  (void)state;
  const char *before = setlocale(LC_ALL, "de_DE.UTF-8");
  assert_true(value("1.5 * x", 2, 0) == 3);
  if (before) setlocale(LC_ALL, "C");
}

static void knows_its_variables(void **state)
{
  (void)state;
  gab_expression *it;
  assert_int_equal(gab_expression_create("3 * t", "x|t", NULL, 0, &it), GAB_OK);
  assert_false(gab_expression_uses(it, 0));
  assert_true(gab_expression_uses(it, 1));
  assert_false(gab_expression_uses(it, 2));
  assert_false(gab_expression_is_constant(it));
  gab_expression_destroy(&it);
  assert_int_equal(gab_expression_create("2 * pi", "x|t", NULL, 0, &it), GAB_OK);
  assert_true(gab_expression_is_constant(it));
  assert_true(gab_expression_at(it, NULL) == 6.28318530717958647693);
  gab_expression_destroy(&it);
}

static void refuse(const char *text, const char *why)
{
  gab_expression *it;
  assert_int_equal(gab_expression_create(text, "x|t", NULL, 0, &it), GAB_ERR_INPUT);
  assert_null(it);
  if (!strstr(gab_error_message(), why)) fail_msg("'%s' is not in: %s", why, gab_error_message());
}

static void refuses(void **state)
{
  char deep[2 * GAB_EXPRESSION_LONGEST];
  (void)state;
  refuse("", "empty");
  refuse("y + 1", "at character 1; its variables are x|t");
  refuse("x + * 2", "at character 5");
  refuse("sin(x", "parenthesis");
  refuse("x = 3", "assigns a value, at character 3");
  refuse("1, x", "2 values");
  refuse("\"x\"", "the formula");
  refuse("nosuch(x)", "nosuch");
  refuse("1e999 * x", "the formula");
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  refuse(deep, "more than 2048 characters");
  deep[GAB_EXPRESSION_LONGEST] = '\0';
  refuse(deep, "the formula");
}

static void shared_by_threads(void **state)
{
  (void)state;
  enum { MANY = 4000 };
  static double found[MANY];
  gab_expression *it;
  assert_int_equal(gab_expression_create("x * x + t", "x|t", NULL, 0, &it), GAB_OK);
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (int i = 0; i < MANY; i++) found[i] = gab_expression_at(it, (const double[]){i, -i});
  for (int i = 0; i < MANY; i++) assert_true(found[i] == (double)i * i - i);
  gab_expression_destroy(&it);
}

/* ---------------------------------------------------------------- parameter files */

static const gab_config_key keys[] = {{.name = "inflow",
                                       .type = GAB_CONFIG_EXPRESSION,
                                       .variables = "y|t",
                                       .min = 0,
                                       .max = 2,
                                       .default_text = "0.5",
                                       .unit = "m/s",
                                       .doc = "Velocity."}};
static const gab_config_section section = {.path = "side", .doc = "A side.", .keys = keys, .count = 1};

static gab_config *load(const char *text, gab_status wanted)
{
  gab_config *config;
  assert_int_equal(gab_config_create(&config), GAB_OK);
  assert_int_equal(gab_config_declare(config, &section), GAB_OK);
  assert_int_equal(gab_config_declare(config, &gab_config_constants), GAB_OK);
  assert_int_equal(gab_config_load_text(config, "case.yaml", text, strlen(text)), GAB_OK);
  const gab_status status = gab_config_check(config);
  if (status != wanted) fail_msg("%s: %s", text, gab_error_message());
  return config;
}

static double inflow(gab_config *config)
{
  const double found =
      gab_expression_at(gab_config_expression(config, "side.inflow"), (const double[]){2, 10});
  gab_config_destroy(&config);
  return found;
}

static void in_files(void **state)
{
  (void)state;
  assert_true(inflow(load("side: {}", GAB_OK)) == 0.5);
  assert_true(inflow(load("side: {inflow: 1.25}", GAB_OK)) == 1.25);
  assert_true(inflow(load("side: {inflow: 1 + y * t}", GAB_OK)) == 21);
  assert_true(inflow(load("side: {inflow: U0 * y}\nconstants: {U0: 3, U1: 2 * U0}", GAB_OK)) == 6);
  gab_config *config = load("side: {inflow: U1}\nconstants: {U0: 0.5, U1: 2 * U0}", GAB_OK);
  assert_int_equal(gab_config_override(config, "constants.U0=0.75"), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  assert_true(inflow(config) == 1.5);
}

static void refuse_file(const char *text, const char *why)
{
  gab_config *config = load(text, GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), why)) fail_msg("'%s' is not in: %s", why, gab_error_message());
  gab_config_destroy(&config);
}

static void refuses_files(void **state)
{
  (void)state;
  refuse_file("side: {inflow: 1 + z}", "case.yaml:1:16: side.inflow: the formula '1 + z'");
  refuse_file("side: {inflow: 3}", "case.yaml:1:16: inflow = 3 is out of range: 0 <= value <= 2, in m/s");
  refuse_file("side: {inflow: 1 + 2}", "side.inflow: inflow = 3 is out of range");
  refuse_file("side: {inflow: 1 / 0}", "is inf");
  refuse_file("side: {inflow: [1]}", "there is a list");
  refuse_file("side: {inflow: }", "a number or a formula of y, t");
  refuse_file("constants: {a: b, b: 1}", "case.yaml:1:16: constants.a: the formula 'b'");
  refuse_file("constants: {y: 1}\nside: {inflow: y + 1}",
              "'y' is the name of a variable; rename the constant");
  refuse_file("constants: {sin: 1}\nside: {inflow: y + 1}", "the constant 'sin'");
  refuse_file("constants: {2a: 1}", "'2a' in constants is not a name");
  refuse_file("constants: {a: 1, a: 2}", "duplicate key 'a'");
  refuse_file("constants: 3", "constants should be a section");
}

static const char *canonical(gab_config *config, gab_buffer *text)
{
  text->size = 0;
  assert_int_equal(gab_config_canonical_state(config, text), GAB_OK);
  assert_int_equal(gab_put_u8(text, 0), GAB_OK);
  gab_config_destroy(&config);
  return (const char *)text->data;
}

/* Different spellings of one number are the same case. */
static void are_canonical(void **state)
{
  gab_buffer text = {0};
  (void)state;
  assert_string_equal(canonical(load("side: {inflow: 1.50}", GAB_OK), &text), "side.inflow = 1.5\n");
  assert_string_equal(canonical(load("side: {inflow: 3 / 2}", GAB_OK), &text), "side.inflow = 1.5\n");
  assert_string_equal(canonical(load("side: {inflow: y / 2}", GAB_OK), &text), "side.inflow = \"y / 2\"\n");
  assert_string_equal(canonical(load("side: {inflow: a}\nconstants: {a: 1.5}", GAB_OK), &text),
                      "constants.a = 1.5\nside.inflow = 1.5\n");
  gab_buffer_release(&text);
}

static void changed_is(const char *text, const char *wanted)
{
  gab_config *config = load(text, GAB_OK);
  gab_buffer found = {0};
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_config_put_changed(config, "changed", json);
  assert_int_equal(gab_json_end(&json, &found), GAB_OK);
  assert_int_equal(gab_put_u8(&found, 0), GAB_OK);
  if (!strstr((const char *)found.data, wanted)) fail_msg("'%s' is not in: %s", wanted, (char *)found.data);
  gab_buffer_release(&found);
  gab_config_destroy(&config);
}

/* In summaries a formula without variables is its value. */
static void in_summaries(void **state)
{
  (void)state;
  changed_is("side: {inflow: 1.250}", "\"side.inflow\": 1.25");
  changed_is("side: {inflow: y / 2}", "\"side.inflow\": \"y / 2\"");
  changed_is("side: {inflow: 1 / 2}", "{}"); /* the default */
}

/* `f(name)` is a value by name where the variables have "f()". */
static void has_values_by_name(void **state)
{
  gab_expression *it;
  int variable = 0;
  const double values[] = {2, 0, 0, 10, 100};
  (void)state;
  assert_int_equal(gab_expression_create("x * f(a) - g( b-1 ) + f(a) + abs(x)", "x|f()|g()", NULL, 0, &it),
                   GAB_OK);
  assert_string_equal(gab_expression_named(it, 0, &variable), "a");
  assert_int_equal(variable, 1);
  assert_string_equal(gab_expression_named(it, 1, &variable), "b-1");
  assert_int_equal(variable, 2);
  assert_null(gab_expression_named(it, 2, NULL));
  assert_true(gab_expression_uses(it, 4) && !gab_expression_uses(it, 1) && !gab_expression_is_constant(it));
  assert_float_equal(gab_expression_at(it, values), 2 * 10 - 100 + 10 + 2, 0);
  gab_expression_destroy(&it);
  static const char *const wrong[] = {"f()", "f( )", "f(a", "af(a)", "f + 1", "f(a) + b"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(gab_expression_create(wrong[i], "x|f()", NULL, 0, &it), GAB_ERR_INPUT);
    assert_null(it);
  }
  assert_int_equal(gab_expression_create("x + ) f(a)", "x|f()", NULL, 0, &it), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "at character 5"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_values_by_name),  cmocka_unit_test(in_summaries),
      cmocka_unit_test(evaluates),           cmocka_unit_test(ignores_locale),
      cmocka_unit_test(knows_its_variables), cmocka_unit_test(refuses),
      cmocka_unit_test(shared_by_threads),   cmocka_unit_test(in_files),
      cmocka_unit_test(refuses_files),       cmocka_unit_test(are_canonical),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
