/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of a value from a registry: entries registered after the declaration of a table can be chosen and are in the
 * help. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"

static gab_config_choice fruit[4] = {{.name = "apple", .doc = "round"}, {.name = "pear", .usual = true}};

static gab_config_choice fruit_choice(int index) { return index < 3 ? fruit[index] : (gab_config_choice){0}; }

static gab_config_choice one_choice(int index)
{
  return (gab_config_choice){.name = index == 0 ? "only" : NULL, .doc = "the only | one"};
}

static const gab_config_key keys[] = {
    {.name = "kind",
     .type = GAB_CONFIG_CHOICE,
     .choice_at = fruit_choice,
     .default_text = "pear",
     .doc = "Which one."},
    {.name = "basket",
     .type = GAB_CONFIG_STRING,
     .choice_at = fruit_choice,
     .length_max = 4,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Which ones."},
    {.name = "label", .type = GAB_CONFIG_STRING, .default_text = GAB_CONFIG_OPTIONAL, .doc = "A text."},
};
static const gab_config_section section = {.path = "fruit", .doc = "Fruit.", .keys = keys, .count = 3};

static gab_config *declared(void)
{
  gab_config *config;
  assert_int_equal(gab_config_create(&config), GAB_OK);
  assert_int_equal(gab_config_declare(config, &section), GAB_OK);
  return config;
}

static gab_status load(gab_config *config, const char *text)
{
  assert_int_equal(gab_config_load_text(config, "case.yaml", text, strlen(text)), GAB_OK);
  return gab_config_check(config);
}

/* With an entry registered later. */
static void add_plum(void) { fruit[2] = (gab_config_choice){.name = "plum", .doc = "blue"}; }

static int setup(void **state)
{
  (void)state;
  fruit[2] = (gab_config_choice){0};
  return 0;
}

static void choices_are_those_of_the_registry_in_its_order(void **state)
{
  (void)state;
  gab_config *config = declared();
  assert_int_equal(load(config, "fruit: {kind: apple}\n"), GAB_OK);
  assert_int_equal(gab_config_choice_index(config, "fruit.kind"), 0);
  assert_int_equal(load(config, "fruit: {}\n"), GAB_OK);
  assert_string_equal(gab_config_string(config, "fruit.kind"), "pear");
  assert_int_equal(load(config, "fruit: {kind: plum}\n"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "case.yaml:1:15: kind = 'plum' is none of apple|pear");
  add_plum();
  assert_int_equal(load(config, "fruit: {kind: plum}\n"), GAB_OK);
  assert_int_equal(gab_config_choice_index(config, "fruit.kind"), 2);
  assert_int_equal(load(config, "fruit: {kind: plun}\n"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(),
                      "case.yaml:1:15: kind = 'plun' is none of apple|pear|plum; did you mean 'plum'?");
  gab_config_destroy(&config);
}

static void capture(gab_config *config, const char *key, char *text, size_t capacity)
{
  FILE *out = tmpfile();
  assert_non_null(out);
  assert_int_equal(key ? gab_config_write_help(config, out, key) : gab_config_write_reference(config, out),
                   GAB_OK);
  rewind(out);
  text[fread(text, 1, capacity - 1, out)] = '\0';
  fclose(out);
}

static void help_lists_what_there_is_now(void **state)
{
  (void)state;
  char text[4096];
  gab_config *config = declared();
  add_plum();
  capture(config, "fruit.basket", text, sizeof text);
  assert_string_equal(text, "fruit.basket\n  what:     Which ones.\n"
                            "  type:     a list of 0 to 4 values, each a text\n  default:  as marked\n"
                            "  any of:   apple: round\n            pear (default)\n            plum: blue\n");
  capture(config, "fruit.kind", text, sizeof text);
  assert_non_null(strstr(text, "a choice of apple|pear|plum\n  default:  pear\n  one of:   apple: round\n"));
  capture(config, "fruit", text, sizeof text);
  assert_non_null(strstr(text, "any of: apple, pear (default), plum\n"));
  capture(config, "fruit.label", text, sizeof text);
  assert_null(strstr(text, "one of"));
  capture(config, NULL, text, sizeof text);
  assert_non_null(
      strstr(text, "| as marked | Which ones. `apple`: round; `pear` (default); `plum`: blue. |\n"));
  assert_non_null(strstr(text, "| none | A text. |\n"));
  gab_config_destroy(&config);
}

static void a_program_sets_choices_of_a_text_of_another_table(void **state)
{
  (void)state;
  char text[4096];
  gab_config *config = declared();
  assert_int_equal(gab_config_set_choices(config, "fruit.label", one_choice), GAB_OK);
  capture(config, "fruit.label", text, sizeof text);
  assert_non_null(strstr(text, "  one of:   only: the only | one\n"));
  capture(config, NULL, text, sizeof text);
  assert_non_null(strstr(text, "| A text. `only`: the only \\| one. |\n"));
  assert_int_equal(load(config, "fruit: {label: another}\n"), GAB_OK); /* not checked here */
  assert_int_equal(gab_config_set_choices(config, "fruit.labels", one_choice), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_config_set_choices(config, "fruit.kind", one_choice), GAB_ERR_ARGUMENT);
  gab_config_destroy(&config);
}

static void tables_with_choices_that_cannot_be_are_refused(void **state)
{
  (void)state;
  static const gab_config_key bad[] = {
      {.name = "a", .type = GAB_CONFIG_INT, .choice_at = one_choice, .default_text = "1", .doc = "a number"},
      {.name = "a",
       .type = GAB_CONFIG_CHOICE,
       .choice_at = one_choice,
       .choices = "only",
       .default_text = "only",
       .doc = "both"},
      {.name = "a",
       .type = GAB_CONFIG_CHOICE,
       .choice_at = one_choice,
       .default_text = "x",
       .doc = "no such default"},
      {.name = "a", .type = GAB_CONFIG_STRING, .choices = "only", .default_text = "x", .doc = "choices"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const gab_config_section wrong = {.path = "bad", .doc = "Bad.", .keys = &bad[i], .count = 1};
    gab_config *config = declared();
    assert_int_equal(gab_config_declare(config, &wrong), GAB_ERR_ARGUMENT);
    gab_config_destroy(&config);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(choices_are_those_of_the_registry_in_its_order, setup),
      cmocka_unit_test_setup(help_lists_what_there_is_now, setup),
      cmocka_unit_test_setup(a_program_sets_choices_of_a_text_of_another_table, setup),
      cmocka_unit_test_setup(tables_with_choices_that_cannot_be_are_refused, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
