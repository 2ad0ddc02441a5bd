/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Large and odd parameter files, and repeated keys. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/config/config.h"

static const gab_config_key run_keys[] = {
    {.name = "steps",
     .type = GAB_CONFIG_INT,
     .instead_of = "time|days",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "one"},
    {.name = "time",
     .type = GAB_CONFIG_REAL,
     .instead_of = "steps|days",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "two"},
    {.name = "days",
     .type = GAB_CONFIG_REAL,
     .instead_of = "steps|time",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "three"},
    {.name = "names",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = "[]",
     .doc = "four"},
    {.name = "order",
     .type = GAB_CONFIG_CHOICE,
     .choices = "a|b",
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .repeats = true,
     .default_text = "[]",
     .doc = "five"},
    {.name = "numbers",
     .type = GAB_CONFIG_INT,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = "[]",
     .doc = "six"},
};
static const gab_config_key item_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .instead_of = "interval",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "one"},
    {.name = "interval",
     .type = GAB_CONFIG_REAL,
     .instead_of = "every",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "two"},
};
#define TABLE(array) .keys = (array), .count = sizeof(array) / sizeof *(array)
static const gab_config_section sections[] = {
    {.path = "run", TABLE(run_keys), .doc = "the run"},
    {.path = "output.slices", .is_list = true, TABLE(item_keys), .doc = "pictures"},
};

static gab_config *new_config(void)
{
  gab_config *config;
  assert_int_equal(gab_config_create(&config), GAB_OK);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    assert_int_equal(gab_config_declare(config, &sections[i]), GAB_OK);
  return config;
}

static gab_status load(gab_config *config, const char *text)
{
  GAB_TRY(gab_config_load_text(config, "case.yaml", text, strlen(text)));
  return gab_config_check(config);
}

static void assert_refused(const char *text, const char *message)
{
  gab_config *config = new_config();
  assert_int_equal(load(config, text), GAB_ERR_INPUT);
  if (strncmp(gab_error_message(), message, strlen(message)) != 0)
    fail_msg("it said: %.300s\nexpected: %s", gab_error_message(), message);
  gab_config_destroy(&config);
}

/* With quadratic time the test would exceed its time limit. */
static void hundreds_of_thousands_of_keys_that_nobody_knows_are_refused(void **state)
{
  (void)state;
  const int count = 300000;
  char *text = malloc((size_t)count * 14 + 64);
  assert_non_null(text);
  size_t used = (size_t)sprintf(text, "run:\n");
  for (int i = 0; i < count; i++) used += (size_t)sprintf(text + used, "  k%d: 1\n", i);
  sprintf(text + used, "  k7: 1\n");
  gab_config *config = new_config();
  assert_int_equal(load(config, text), GAB_ERR_INPUT);
  static const char first[] = "case.yaml:2:3: unknown key 'k0' in run";
  assert_memory_equal(gab_error_message(), first, strlen(first));
  assert_non_null(strstr(gab_error_message(), "... and 299961 more"));
  gab_config_destroy(&config);
  free(text);
}

static void a_long_list_of_names_is_read_and_one_that_is_there_twice_found(void **state)
{
  (void)state;
  const int count = 300000;
  char *names = malloc((size_t)count * 12 + 64);
  assert_non_null(names);
  size_t used = (size_t)sprintf(names, "run: {names: [");
  for (int i = 0; i < count; i++) used += (size_t)sprintf(names + used, " n%d,\n", i);
  gab_config *config = new_config();
  sprintf(names + used, " ]}\n");
  assert_int_equal(load(config, names), GAB_OK);
  assert_int_equal(gab_config_count(config, "run.names"), count);
  sprintf(names + used, " n4711]}\n");
  assert_int_equal(load(config, names), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "case.yaml:300001:2: names has 'n4711' twice");
  gab_config_destroy(&config);
  free(names);
}

static void names_are_there_once_but_where_a_key_allows_more(void **state)
{
  (void)state;
  assert_refused("run: {names: [b, a, b]}\n", "case.yaml:1:21: names has 'b' twice");
  gab_config *config = new_config();
  assert_int_equal(load(config, "run: {order: [a, b, a], numbers: [1, 1]}\n"), GAB_OK);
  assert_int_equal(gab_config_count(config, "run.order"), 3);
  gab_config_destroy(&config);
}

static void of_keys_that_say_the_same_a_file_gives_one(void **state)
{
  (void)state;
  assert_refused("run:\n  time: 3\n  steps: 4\n",
                 "case.yaml:2:3: run.time: give either run.steps or run.time, not both");
  assert_refused("run: {steps: 3, days: 4}\n",
                 "case.yaml:1:17: run.days: give either run.steps or run.days, not both");
  assert_refused("output: {slices: [{every: 3}, {every: 3, interval: 4}]}\n",
                 "case.yaml:1:42: output.slices.1.interval: give either output.slices.1.every or");
}

static gab_config *set(const char *text, const char *const *assignments)
{
  gab_config *config = new_config();
  assert_int_equal(gab_config_load_text(config, "case.yaml", text, strlen(text)), GAB_OK);
  for (; *assignments; assignments++) assert_int_equal(gab_config_override(config, *assignments), GAB_OK);
  gab_error_clear();
  gab_status status = gab_config_check(config);
  assert_string_equal(gab_error_message(), "");
  assert_int_equal(status, GAB_OK);
  return config;
}

static void what_is_set_replaces_what_the_file_says_in_another_way(void **state)
{
  (void)state;
  gab_config *config = set("run: {time: 3, names: [a]}\n", (const char *[]){"run.steps=7", NULL});
  assert_int_equal(gab_config_int(config, "run.steps"), 7);
  assert_false(gab_config_is_set(config, "run.time"));
  assert_int_equal(gab_config_count(config, "run.names"), 1);
  gab_config_destroy(&config);

  config = set("run: {days: 3}\n",
               (const char *[]){"run.steps=7", "run.time=2.5", NULL}); /* the last one is valid */
  assert_false(gab_config_is_set(config, "run.steps") || gab_config_is_set(config, "run.days"));
  assert_true(gab_config_real(config, "run.time") == 2.5);
  gab_config_destroy(&config);

  config = set("output: {slices: [{every: 1}, {every: 2}]}\n",
               (const char *[]){"output.slices.1.interval=5", NULL});
  assert_int_equal(gab_config_int(config, "output.slices.0.every"), 1);
  assert_false(gab_config_is_set(config, "output.slices.1.every"));
  assert_true(gab_config_real(config, "output.slices.1.interval") == 5);
  gab_config_destroy(&config);

  config = set("run: {steps: 4}\n", (const char *[]){"run={time: 2}", "output.slices=[{interval: 1}]", NULL});
  assert_true(gab_config_real(config, "run.time") == 2);
  gab_config_destroy(&config);
}

static void alternatives_that_do_not_name_each_other_are_no_sound_table(void **state)
{
  (void)state;
  static const gab_config_key one_sided[] = {
      {.name = "a",
       .type = GAB_CONFIG_INT,
       .instead_of = "b",
       .default_text = GAB_CONFIG_OPTIONAL,
       .doc = "one"},
      {.name = "b", .type = GAB_CONFIG_INT, .default_text = GAB_CONFIG_OPTIONAL, .doc = "two"}};
  static const gab_config_section section = {.path = "x", TABLE(one_sided), .doc = "no"};
  gab_config *config = new_config();
  assert_int_equal(gab_config_declare(config, &section), GAB_ERR_ARGUMENT);
  gab_config_destroy(&config);
}

static void assert_no_file(const char *path, const char *what)
{
  gab_config *config = new_config();
  char expected[128];
  snprintf(expected, sizeof expected, "%s: cannot be read: it is %s, not a file", path, what);
  assert_int_equal(gab_config_load(config, path), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), expected);
  gab_config_destroy(&config);
}

static void pipes_devices_and_folders_are_no_parameter_files(void **state)
{
  (void)state;
  char folder[] = "/tmp/gabion-config-XXXXXX", pipe[64];
  assert_non_null(mkdtemp(folder));
  snprintf(pipe, sizeof pipe, "%s/pipe", folder);
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_no_file(pipe, "a pipe");
  assert_no_file("/dev/zero", "a device");
  assert_no_file(folder, "a folder");
  assert_int_equal(unlink(pipe), 0);
  assert_int_equal(rmdir(folder), 0);
}

static void nothing_is_left_allocated(void **state)
{
  (void)state;
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hundreds_of_thousands_of_keys_that_nobody_knows_are_refused),
      cmocka_unit_test(a_long_list_of_names_is_read_and_one_that_is_there_twice_found),
      cmocka_unit_test(names_are_there_once_but_where_a_key_allows_more),
      cmocka_unit_test(of_keys_that_say_the_same_a_file_gives_one),
      cmocka_unit_test(what_is_set_replaces_what_the_file_says_in_another_way),
      cmocka_unit_test(alternatives_that_do_not_name_each_other_are_no_sound_table),
      cmocka_unit_test(pipes_devices_and_folders_are_no_parameter_files),
      cmocka_unit_test(nothing_is_left_allocated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
