/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static const gab_config_key top_keys[] = {
    {.name = "title", .type = GAB_CONFIG_STRING, .default_text = "none", .doc = "what it is called"},
    {.name = "steps", .type = GAB_CONFIG_INT, .default_text = "100", .doc = "time steps"},
    {.name = "force",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .default_text = "[0, 0, 0]",
     .doc = "force"},
    {.name = "names",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "words"},
    {.name = "fast", .type = GAB_CONFIG_BOOL, .default_text = "false", .doc = "hurry"},
    {.name = "omega",
     .type = GAB_CONFIG_REAL,
     .default_text = "1.5",
     .instead_of = "viscosity",
     .doc = "rate"},
    {.name = "viscosity",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "omega",
     .doc = "the rate in another way"},
};
static const gab_config_key body_keys[] = {
    {.name = "file",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "picture"},
    {.name = "map",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_WORK,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "map"},
    {.name = "radius", .type = GAB_CONFIG_REAL, .default_text = "1", .doc = "size"},
};
#define TABLE(array) .keys = (array), .count = sizeof(array) / sizeof *(array)
static const gab_config_section top = {.path = "run", TABLE(top_keys), .doc = "run"},
                                bodies = {
                                    .path = "bodies", .is_list = true, TABLE(body_keys), .doc = "bodies"};

static gab_config *load(const char *name, const char *text)
{
  gab_config *config;
  assert_int_equal(gab_config_create(&config), GAB_OK);
  assert_int_equal(gab_config_declare(config, &top), GAB_OK);
  assert_int_equal(gab_config_declare(config, &bodies), GAB_OK);
  assert_int_equal(gab_config_load_text(config, name, text, strlen(text)), GAB_OK);
  return config;
}

static char *text_of(gab_status (*make)(const gab_config *, gab_buffer *), const gab_config *config)
{
  gab_buffer text = {0};
  assert_int_equal(make(config, &text), GAB_OK);
  assert_int_equal(gab_put_bytes(&text, "", 1), GAB_OK);
  char *copy = strdup((const char *)text.data);
  gab_buffer_release(&text);
  return copy;
}

/* The effective text, loaded again, has the same values and the same effective text. */
static char *effective(gab_config *config)
{
  assert_int_equal(gab_config_check(config), GAB_OK);
  char *yaml = text_of(gab_config_effective, config), *before = text_of(gab_config_canonical, config);
  gab_config *again = load("case.yaml", yaml);
  if (gab_config_check(again) != GAB_OK) fail_msg("%s\nin: %s", gab_error_message(), yaml);
  char *after = text_of(gab_config_canonical, again), *second = text_of(gab_config_effective, again);
  if (!strstr(before, "file")) assert_string_equal(after, before);
  assert_string_equal(second, yaml);
  gab_config_destroy(&again);
  free(before), free(after), free(second);
  return yaml;
}

static void without_assignments_it_is_the_file_itself(void **state)
{
  (void)state;
  const char *text = "# of mine\nrun: {title: a, steps: 5} # here\n";
  gab_config *config = load("a.yaml", text);
  char *yaml = effective(config);
  assert_string_equal(yaml, text);
  free(yaml);
  gab_config_destroy(&config);
}

static void assignments_are_applied(void **state)
{
  (void)state;
  static const char *const assignments[] = {"run.steps=7",
                                            "run.force=[1e-7, -2]",
                                            "run.fast=true",
                                            "run.title='a: \"b\" # c, [d] {e} it''s'",
                                            "run.names=[\"12\", 'true', x y, \"\", \"tab\\there\"]",
                                            "bodies.1.radius=2.5",
                                            "bodies.0={radius: 9}"};
  gab_config *config =
      load("dir/a.yaml",
           "run:\n  title: >\n    folded\n    text\n  steps: 5\n  force: [1, 2]\nbodies:\n  - radius: 3\n");
  for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; i++) {
    assert_int_equal(gab_config_override(config, assignments[i]), GAB_OK);
    char *yaml = effective(config);
    assert_non_null(strstr(yaml, "dir/a.yaml"));
    free(yaml);
  }
  gab_config_destroy(&config);
}

static void a_section_that_was_not_there_is_added(void **state)
{
  (void)state;
  gab_config *config = load("a.yaml", "{}\n");
  assert_int_equal(gab_config_override(config, "run.steps=8"), GAB_OK);
  assert_int_equal(gab_config_override(config, "bodies.0.radius=4"), GAB_OK);
  char *yaml = effective(config);
  free(yaml);
  gab_config_destroy(&config);
}

/* Both together would be refused when the run is restarted from its effective text. */
static void an_assignment_replaces_what_says_the_same_in_another_way(void **state)
{
  (void)state;
  gab_config *config = load("a.yaml", "run:\n  steps: 5\n  omega: 1.9\n");
  assert_int_equal(gab_config_override(config, "run.viscosity=0.1"), GAB_OK);
  char *yaml = effective(config);
  assert_non_null(strstr(yaml, "viscosity: 0.1"));
  assert_null(strstr(yaml, "omega:"));
  assert_non_null(strstr(yaml, "steps: 5"));
  free(yaml);
  assert_int_equal(gab_config_override(config, "run.omega=1.8"), GAB_OK);
  yaml = effective(config);
  assert_non_null(strstr(yaml, "omega: 1.8"));
  assert_null(strstr(yaml, "viscosity:"));
  free(yaml);
  gab_config_destroy(&config);
}

static void odd_texts_survive(void **state)
{
  (void)state;
  static const char *const titles[] = {"''",        "'null'",
                                       "'~'",       "'12'",
                                       "'- x'",     "\"line\\nline\"",
                                       "'it''s'",   "\"\\u00fc \\t\"",
                                       "'%x'",      "'@x'",
                                       "'a #b'",    "'a: b'",
                                       "'  two  '", "' '",
                                       "\"\\\"\"",  "'\\'"};
  char assignment[128];
  for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
    gab_config *config = load("a.yaml", "run: {steps: 1}\n");
    snprintf(assignment, sizeof assignment, "run.title=%s", titles[i]);
    assert_int_equal(gab_config_override(config, assignment), GAB_OK);
    free(effective(config));
    gab_config_destroy(&config);
  }
}

static void files_are_named_from_the_root(void **state)
{
  (void)state;
  char folder[1024], expected[1200];
  assert_non_null(getcwd(folder, sizeof folder));
  gab_config *config =
      load("cases/a.yaml", "bodies:\n  - {file: pictures/x.png, map: m.txt}\n  - {file: /abs/y.png}\n");
  char *yaml = effective(config);
  snprintf(expected, sizeof expected, "%s/cases/pictures/x.png", folder);
  assert_non_null(strstr(yaml, expected));
  snprintf(expected, sizeof expected, "%s/m.txt", folder);
  assert_non_null(strstr(yaml, expected));
  assert_non_null(strstr(yaml, "/abs/y.png"));
  free(yaml);
  gab_config_destroy(&config);
}

static void what_differs_from_the_defaults_is_listed(void **state)
{
  (void)state;
  gab_buffer text = {0};
  gab_config *config =
      load("a.yaml", "run: {title: x, steps: 100, force: [0, 0, 0], fast: false, names: [a], omega: 1.50}\n");
  assert_int_equal(gab_config_override(config, "bodies.0.radius=2"), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_config_put_changed(config, "parameters", json);
  assert_int_equal(gab_json_end(&json, &text), GAB_OK);
  assert_int_equal(gab_put_bytes(&text, "", 1), GAB_OK);
  assert_string_equal(
      (const char *)text.data,
      "{\"parameters\": {\"bodies.0.radius\": 2, \"run.names\": [\"a\"], \"run.title\": \"x\"}}\n");
  gab_buffer_release(&text);
  gab_config_destroy(&config);
}

static void numbers_that_were_given_are_visited(void **state)
{
  (void)state;
  gab_config *config = load(
      "case.yaml", "run: {steps: 7, force: [1, 2.5], title: t, fast: true}\nbodies: [{radius: 1}, {}]\n");
  assert_int_equal(gab_config_override(config, "run.viscosity=3"), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  gab_config_number number;
  size_t at = 0;
  assert_true(gab_config_next_number(config, &at, &number));
  assert_string_equal(number.path, "bodies.0.radius");
  assert_true(number.reals[0] == 1 && number.count == 1 && !number.ints);
  assert_true(gab_config_next_number(config, &at, &number));
  assert_string_equal(number.path, "run.force");
  assert_true(number.count == 2 && number.reals[0] == 1 && number.reals[1] == 2.5);
  assert_true(gab_config_next_number(config, &at, &number));
  assert_string_equal(number.key->name, "steps");
  assert_true(number.ints[0] == 7 && !number.reals);
  assert_true(gab_config_next_number(config, &at, &number));
  assert_string_equal(number.path, "run.viscosity");
  assert_false(gab_config_next_number(config, &at, &number));
  gab_config_destroy(&config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_assignments_it_is_the_file_itself),
      cmocka_unit_test(assignments_are_applied),
      cmocka_unit_test(a_section_that_was_not_there_is_added),
      cmocka_unit_test(an_assignment_replaces_what_says_the_same_in_another_way),
      cmocka_unit_test(odd_texts_survive),
      cmocka_unit_test(files_are_named_from_the_root),
      cmocka_unit_test(what_differs_from_the_defaults_is_listed),
      cmocka_unit_test(numbers_that_were_given_are_visited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
