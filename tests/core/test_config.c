/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
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
#include <unistd.h>

#include "core/config/config.h"
#include "core/base/log.h"

static const gab_config_key top_keys[] = {
    {.name = "steps",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1e12,
     .default_text = "100",
     .doc = "time steps"},
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = "case",
     .outside = true,
     .doc = "what it is called"},
};
static const gab_config_key lbm_keys[] = {
    {.name = "omega",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 2,
     .min_excluded = true,
     .max_excluded = true,
     .unit = "1/step",
     .doc = "relaxation rate"},
    {.name = "model",
     .type = GAB_CONFIG_CHOICE,
     .choices = "srt|trt",
     .default_text = "trt",
     .doc = "collision model"},
    {.name = "force",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .default_text = "[0, 0, 0]",
     .doc = "body force"},
    {.name = "compressible", .type = GAB_CONFIG_BOOL, .default_text = "false", .doc = "full equilibrium"},
    {.name = "viscosity",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "instead of omega"},
};
static const gab_config_key memory_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = INFINITY,
     .default_text = "10",
     .doc = "steps between"},
    {.name = "strategies",
     .type = GAB_CONFIG_CHOICE,
     .length_min = 1,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .choices = "shrink|spare|disk",
     .default_text = "[shrink]",
     .doc = "in this order"},
};
static const gab_config_key body_keys[] = {
    {.name = "centre", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .doc = "its centre"},
};
static const gab_config_key sphere_keys[] = {
    {.name = "radius",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .doc = "its radius"},
};
static const gab_config_key box_keys[] = {
    {.name = "size", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .doc = "its edges"},
};
static const gab_config_key slice_keys[] = {
    {.name = "axis", .type = GAB_CONFIG_CHOICE, .choices = "x|y|z", .outside = true, .doc = "normal"},
};
static const gab_config_key decay_keys[] = {
    {.name = "speed", .type = GAB_CONFIG_REAL, .default_text = "0.1", .doc = "largest speed"},
};

#define TABLE(array) .keys = (array), .count = sizeof(array) / sizeof *(array)
static const gab_config_section sections[] = {
    {.path = "", TABLE(top_keys), .doc = "the run"},
    {.path = "lbm", TABLE(lbm_keys), .doc = "the fluid"},
    {.path = "resilience.memory", TABLE(memory_keys), .doc = "checkpoints in memory"},
    {.path = "bodies", .is_list = true, TABLE(body_keys), .doc = "solid bodies"},
    {.path = "bodies", .is_list = true, .variant = "sphere", TABLE(sphere_keys)},
    {.path = "bodies", .is_list = true, .variant = "box", TABLE(box_keys)},
    {.path = "slice", .optional = true, TABLE(slice_keys), .doc = "a picture"},
    {.path = "initial", .variant = "rest", .variant_is_default = true, .doc = "nothing moves"},
    {.path = "initial", .variant = "decay", TABLE(decay_keys), .doc = "a decaying vortex"},
};

static gab_config *new_config(void)
{
  gab_config *config;
  assert_int_equal(gab_config_create(&config), GAB_OK);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    gab_error_clear();
    gab_status status = gab_config_declare(config, &sections[i]);
    assert_string_equal(gab_error_message(), "");
    assert_int_equal(status, GAB_OK);
  }
  return config;
}

static gab_status load(gab_config *config, const char *text)
{
  GAB_TRY(gab_config_load_text(config, "case.yaml", text, strlen(text)));
  return gab_config_check(config);
}

static gab_config *good(const char *text)
{
  gab_config *config = new_config();
  gab_error_clear();
  gab_status status = load(config, text);
  assert_string_equal(gab_error_message(), "");
  assert_int_equal(status, GAB_OK);
  return config;
}

static void values_are_read_as_written(void **state)
{
  (void)state;
  gab_config *config =
      good("steps: 12\nname: 'a b'\nlbm:\n  omega: 1.75\n  model: srt\n  force: [1e-3, -2]\n"
           "  compressible: true\nresilience: {memory: {every: 7, strategies: [spare, disk]}}\n");
  assert_int_equal(gab_config_int(config, "steps"), 12);
  assert_string_equal(gab_config_string(config, "name"), "a b");
  assert_true(gab_config_real(config, "lbm.omega") == 1.75);
  assert_int_equal(gab_config_choice_index(config, "lbm.model"), 0);
  assert_string_equal(gab_config_string(config, "lbm.model"), "srt");
  assert_true(gab_config_bool(config, "lbm.compressible"));
  size_t count;
  const double *force = gab_config_reals(config, "lbm.force", &count);
  assert_int_equal(count, 2);
  assert_true(force[0] == 1e-3 && force[1] == -2.0);
  const char *const *words = gab_config_strings(config, "resilience.memory.strategies", &count);
  assert_int_equal(count, 2);
  assert_string_equal(words[1], "disk");
  gab_config_destroy(&config);
  assert_null(config);
}

static void defaults_fill_what_is_left_out(void **state)
{
  (void)state;
  gab_config *config = good("lbm: {omega: 1}\n");
  assert_int_equal(gab_config_int(config, "steps"), 100);
  assert_int_equal(gab_config_choice_index(config, "lbm.model"), 1);
  assert_int_equal(gab_config_int(config, "resilience.memory.every"), 10);
  assert_int_equal(gab_config_count(config, "lbm.force"), 3);
  assert_true(isnan(gab_config_real(config, "lbm.viscosity")));
  assert_true(gab_config_is_set(config, "lbm.omega"));
  assert_true(gab_config_is_set(config, "lbm"));
  assert_false(gab_config_is_set(config, "lbm.model"));
  assert_false(gab_config_is_set(config, "slice"));
  assert_string_equal(gab_config_string(config, "initial.type"), "rest");
  assert_int_equal(gab_config_count(config, "bodies"), 0);
  gab_config_destroy(&config);
}

static void json_is_a_parameter_file(void **state)
{
  (void)state;
  gab_config *config =
      good("{\"steps\": 5, \"lbm\": {\"omega\": 1.5, \"model\": \"srt\", \"compressible\": true}}");
  assert_int_equal(gab_config_int(config, "steps"), 5);
  assert_int_equal(gab_config_choice_index(config, "lbm.model"), 0);
  gab_config_destroy(&config);
}

static void line_ends_and_marks_of_other_systems_are_read(void **state)
{
  (void)state;
  gab_config *config = good("\xEF\xBB\xBFsteps: 5\r\nlbm:\r\n  omega: 1.5\r\nname: caf\xc3\xa9\r\n");
  assert_int_equal(gab_config_int(config, "steps"), 5);
  assert_true(gab_config_real(config, "lbm.omega") == 1.5);
  assert_string_equal(gab_config_string(config, "name"), "caf\xc3\xa9");
  gab_config_destroy(&config);
}

static void list_items_have_the_keys_of_their_type(void **state)
{
  (void)state;
  gab_config *config = good("lbm: {omega: 1}\nbodies:\n- type: sphere\n  centre: [1, 2]\n  radius: 3\n"
                            "- {type: box, centre: [0, 0], size: [4, 5, 6]}\ninitial: {type: decay}\n");
  char path[GAB_CONFIG_PATH_CAPACITY];
  assert_int_equal(gab_config_count(config, "bodies"), 2);
  assert_string_equal(gab_config_string(config, "bodies.0.type"), "sphere");
  assert_true(gab_config_real(config, gab_config_path(path, "bodies.%d.radius", 0)) == 3.0);
  assert_int_equal(gab_config_count(config, "bodies.1.size"), 3);
  assert_true(gab_config_is_set(config, "bodies.1"));
  assert_true(gab_config_real(config, "initial.speed") == 0.1);
  gab_config_destroy(&config);
}

typedef struct bad_input {
  const char *text, *message; /* the whole message, or its beginning if it ends with "..." */
} bad_input;

static const bad_input bad_inputs[] = {
    {"lbm:\n  omeg: 1.5\n",
     "case.yaml:1:1: missing key lbm.omega: a real number, 0 < value < 2, in 1/step (relaxation "
     "rate)\ncase.yaml:2:3: unknown key 'omeg' in lbm; did you mean 'omega'?"},
    {"lbm: {omega: 1}\nlmb: {omega: 1}\n",
     "case.yaml:2:1: unknown key 'lmb' in the top level; did you mean 'lbm'?"},
    {"lbm: {omega: 1}\nresilience:\n  memoyr: 3\n",
     "case.yaml:3:3: unknown key 'memoyr' in resilience; did you mean 'memory'?"},
    {"lbm: {omega: 1}\nradius: 2\n",
     "case.yaml:2:1: unknown key 'radius' in the top level; there is one in bodies of type sphere"},
    {"lbm: {omega: 1}\nqwertyuiop: 2\n", "case.yaml:2:1: unknown key 'qwertyuiop' in the top level"},
    {"steps: 10\n", "case.yaml:1:1: missing key lbm.omega: ..."},
    {"lbm:\n  omega: 2\n", "case.yaml:2:10: omega = 2 is out of range: 0 < value < 2, in 1/step"},
    {"lbm:\n  omega: 0\n", "case.yaml:2:10: omega = 0 is out of range: ..."},
    {"lbm:\n  omega: 1/6\n",
     "case.yaml:2:10: omega should be a real number, 0 < value < 2, in 1/step, not '1/6'"},
    {"lbm:\n  omega: 1.0 / 6.0\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: 1,5\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: 1.5f\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: 0x1p0\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: .nan\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: nan\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: 1e999\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: 1e-999\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega: '1.5'\n", "case.yaml:2:10: omega should be a real number, ..."},
    {"lbm:\n  omega:\n",
     "case.yaml:2:3: omega should be a real number, 0 < value < 2, in 1/step, but there is no value"},
    {"lbm:\n  omega: [1]\n",
     "case.yaml:2:10: omega should be a real number, 0 < value < 2, in 1/step, but there is a list"},
    {"lbm:\n  omega: {a: 1}\n",
     "case.yaml:2:10: omega should be a real number, 0 < value < 2, in 1/step, but there is a "
     "section"},
    {"lbm: {omega: 1}\nsteps: 1.5\n",
     "case.yaml:2:8: steps should be an integer, 0 <= value <= 1000000000000, not '1.5'"},
    {"lbm: {omega: 1}\nsteps: 99999999999999999999\n", "case.yaml:2:8: steps should be an integer, ..."},
    {"lbm: {omega: 1}\nsteps: -1\n",
     "case.yaml:2:8: steps = -1 is out of range: 0 <= value <= 1000000000000"},
    {"lbm: {omega: 1, compressible: yes}\n",
     "case.yaml:1:31: compressible should be true or false, not 'yes'"},
    {"lbm: {omega: 1, model: ttr}\n",
     "case.yaml:1:24: model = 'ttr' is none of srt|trt; did you mean 'trt'?"},
    {"lbm: {omega: 1, force: 3}\n",
     "case.yaml:1:24: force should be a list of 2 to 3 values, each a real number, not the single value '3'"},
    {"lbm: {omega: 1, force: [1, 2, 3, 4]}\n", "case.yaml:1:24: force should have 2 to 3 values, not 4"},
    {"lbm: {omega: 1, force: [1, x]}\n", "case.yaml:1:28: force should be a real number, not 'x'"},
    {"lbm: {omega: 1}\nresilience: {memory: {strategies: []}}\n",
     "case.yaml:2:35: strategies should have 1 or more values, not 0"},
    {"lbm: {omega: 1}\nresilience: {memory: {every: 0}}\n",
     "case.yaml:2:30: every = 0 is out of range: value >= 1"},
    {"lbm:\n  omega: 1\n  omega: 1.5\n", "case.yaml:3:3: duplicate key 'omega', first in line 2"},
    {"lbm: {omega: 1}\nsteps: 3\nlbm: {omega: 1}\n", "case.yaml:3:1: duplicate key 'lbm', first in line 1"},
    {"lbm: 3\n", "case.yaml:1:6: lbm should be a section with keys and values..."},
    {"lbm: {omega: 1}\nbodies: {type: box}\n", "case.yaml:2:9: bodies should be a list (- type: ...)"},
    {"lbm: {omega: 1}\nbodies:\n- 3\n", "case.yaml:3:3: bodies.0 should be a group of keys and values"},
    {"lbm: {omega: 1}\nbodies:\n- centre: [1, 1]\n",
     "case.yaml:3:3: missing key bodies.0.type: one of sphere, box"},
    {"lbm: {omega: 1}\nbodies:\n- type: spere\n  centre: [1, 1]\n",
     "case.yaml:3:9: type = 'spere' is none of sphere, box"},
    {"lbm: {omega: 1}\nbodies:\n- type: sphere\n  centre: [1, 1]\n  size: [1, 1]\n  radius: 1\n",
     "case.yaml:5:3: unknown key 'size' in bodies.0; there is one in bodies of type box"},
    {"lbm: {omega: 1}\nbodies:\n- type: sphere\n  centre: [1, 1]\n",
     "case.yaml:3:3: missing key bodies.0.radius: ..."},
    {"lbm: {omega: 1}\nslice: {}\n", "case.yaml:2:1: missing key slice.axis: a choice of x|y|z (normal)"},
    {"lbm: {omega: 1\n", "case.yaml:2:1: not YAML: ..."},
    {"lbm:\n  omega: 1\n model: srt\n", "case.yaml:3:2: not YAML: ..."},
    {"lbm:\n\tomega: 1\n", "case.yaml:2:1: not YAML: ..."},
    {"lbm: {omega: 1}\nname: 'open\n", "case.yaml:2:8: not YAML: ..."},
    {"lbm: &a {omega: 1}\n", "case.yaml:1:9: YAML anchors ..."},
    {"lbm: {omega: 1}\nname: !!str 3\n", "case.yaml:2:13: YAML tags ..."},
    {"lbm: {omega: 1}\nname: *a\n", "case.yaml:2:8: ..."},
    {"lbm: {omega: 1}\n---\nlbm: {omega: 1}\n", "case.yaml:2:1: a second YAML document..."},
    {"[1]: 2\n", "case.yaml:1:1: a key must be a word"},
    {"- 1\n", "case.yaml:1:1: the file should consist of sections (name: ...)"},
    {"", "case.yaml:1:1: the file is empty"},
    {"# nothing\n", "case.yaml:1:1: the file holds no parameters"},
    {"%YAML 1.2\n---\nlbm: {omega: 1}\n",
     "case.yaml:1:1: YAML directives (%) are not used in parameter files"},
    {"name: caf\xe9\n", "case.yaml:1:10: not UTF-8 (byte 0xe9)"},
    {"name: \xc3\xa9\xe2\x80\xa8\n", "case.yaml:1:8: a control character (0x2028)"},
    {"name: \xed\xa0\x80\n", "case.yaml:1:7: not UTF-8 (byte 0xed)"},
    {"name: \xc0\x80\n", "case.yaml:1:7: not UTF-8 (byte 0xc0)"},
    {"name: a\rb\n", "case.yaml:1:8: a control character (0x0d)"},
    {"name: a\001b\n", "case.yaml:1:8: a control character (0x01)"},
    {"lbm: {omega: 1}\nname: \"a\\0b\"\n", "case.yaml:2:8: a zero byte in a text"},
};

static bool message_is(const char *expected)
{
  const char *message = gab_error_message();
  size_t length = strlen(expected);
  bool beginning = length >= 3 && strcmp(expected + length - 3, "...") == 0;
  bool same = beginning ? strncmp(message, expected, length - 3) == 0 : strcmp(message, expected) == 0;
  if (!same) print_error("message:  %s\nexpected: %s\n", message, expected);
  return same;
}

static void every_mistake_is_reported_with_its_place(void **state)
{
  (void)state;
  size_t wrong = 0;
  for (size_t i = 0; i < sizeof bad_inputs / sizeof *bad_inputs; i++) {
    gab_config *config = new_config();
    assert_int_equal(load(config, bad_inputs[i].text), GAB_ERR_INPUT);
    wrong += !message_is(bad_inputs[i].message);
    gab_config_destroy(&config);
  }
  assert_int_equal(wrong, 0);
}

static void all_mistakes_are_reported_together_in_the_order_of_the_file(void **state)
{
  (void)state;
  gab_config *config = new_config();
  assert_int_equal(load(config, "steps: x\nlbm: {omega: 3, modell: srt}\nname:\n"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(),
                      "case.yaml:1:8: steps should be an integer, 0 <= value <= 1000000000000, not 'x'\n"
                      "case.yaml:2:14: omega = 3 is out of range: 0 < value < 2, in 1/step\n"
                      "case.yaml:2:17: unknown key 'modell' in lbm; did you mean 'model'?\n"
                      "case.yaml:3:1: name should be a text, but there is no value");
  gab_config_destroy(&config);
}

static void a_failed_load_or_check_changes_nothing(void **state)
{
  (void)state;
  gab_config *config = good("steps: 12\nlbm: {omega: 1}\n");
  assert_int_equal(gab_config_load_text(config, "other.yaml", "a: [", 4), GAB_ERR_INPUT);
  assert_string_equal(gab_config_name(config), "case.yaml");
  assert_int_equal(gab_config_check(config), GAB_OK);
  assert_int_equal(load(config, "steps: 13\nlbm: {omega: 7}\n"), GAB_ERR_INPUT);
  assert_int_equal(gab_config_int(config, "steps"), 12);
  gab_config_destroy(&config);
}

static void overrides_win_over_the_file(void **state)
{
  (void)state;
  gab_config *config =
      good("steps: 12\nlbm: {omega: 1}\nbodies: [{type: sphere, centre: [0, 0], radius: 1}]\n");
  const char *assignments[] = {"lbm.omega=1.25",
                               "lbm.force=[1, 2]",
                               "bodies.0.radius=9",
                               "bodies.1={type: box, centre: [1, 1], size: [2, 2]}",
                               "resilience.memory.every=3",
                               "steps=4",
                               "steps=5",
                               "name=a=b.c"};
  for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++)
    assert_int_equal(gab_config_override(config, assignments[i]), GAB_OK);
  gab_error_clear();
  gab_status status = gab_config_check(config);
  assert_string_equal(gab_error_message(), "");
  assert_int_equal(status, GAB_OK);
  assert_true(gab_config_real(config, "lbm.omega") == 1.25);
  assert_int_equal(gab_config_count(config, "lbm.force"), 2);
  assert_true(gab_config_real(config, "bodies.0.radius") == 9.0);
  assert_int_equal(gab_config_count(config, "bodies"), 2);
  assert_int_equal(gab_config_int(config, "resilience.memory.every"), 3);
  assert_int_equal(gab_config_int(config, "steps"), 5);
  assert_string_equal(gab_config_string(config, "name"), "a=b.c");
  char where[128];
  assert_string_equal(gab_config_where(config, "lbm.omega", where, sizeof where), "--set lbm.omega=1.25");
  gab_config_destroy(&config);
}

static void bad_overrides_are_refused_by_name(void **state)
{
  (void)state;
  static const bad_input bad[] = {
      {"lbm.omega", "--set lbm.omega: the form is section.key=value"},
      {"=3", "--set =3: the form is section.key=value"},
      {"lbm..omega=3", "--set lbm..omega=3: the form is section.key=value"},
      {"lbm.omega=3", "--set lbm.omega=3: omega = 3 is out of range: 0 < value < 2, in 1/step"},
      {"lbm.omga=1", "--set lbm.omga=1: unknown key 'omga' in lbm; did you mean 'omega'?"},
      {"lbm.omega=", "--set lbm.omega=: omega should be a real number, ..."},
      {"lbm.omega=[1", "--set lbm.omega=[1: not YAML: ..."},
      {"bodies.1.radius=1", "--set bodies.1.radius=1: item 1 does not exist; the list has 0"},
      {"lbm.0=1", "--set lbm.0=1: '0' does not fit: the parameters have a section there"},
      {"lbm.omega.x=1", "--set lbm.omega.x=1: omega should be a real number, ..."},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    gab_config *config = good("lbm: {omega: 1}\n");
    gab_status status = gab_config_override(config, bad[i].text);
    if (status == GAB_OK) status = gab_config_check(config);
    assert_int_equal(status, GAB_ERR_INPUT);
    assert_true(message_is(bad[i].message));
    gab_config_destroy(&config);
  }
}

static void places_of_values_are_known_to_later_checks(void **state)
{
  (void)state;
  gab_config *config = good("lbm:\n  omega: 1.99\nbodies:\n- {type: sphere, centre: [1, 1], radius: 2}\n");
  char where[64];
  assert_string_equal(gab_config_where(config, "lbm.omega", where, sizeof where), "case.yaml:2:10");
  assert_string_equal(gab_config_where(config, "lbm.model", where, sizeof where), "case.yaml:2:3");
  assert_string_equal(gab_config_where(config, "bodies.0.radius", where, sizeof where), "case.yaml:4:42");
  assert_string_equal(gab_config_where(config, "steps", where, sizeof where), "default");
  assert_int_equal(gab_config_fail(config, "lbm.omega", "unstable at Mach %.1f", 0.5), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "case.yaml:2:10: lbm.omega: unstable at Mach 0.5");
  gab_config_destroy(&config);
}

static void assert_same_text(gab_config *config, gab_status (*write)(const gab_config *, gab_buffer *),
                             const char *expected)
{
  gab_buffer text = {0};
  assert_int_equal(write(config, &text), GAB_OK);
  assert_int_equal(gab_put_u8(&text, 0), GAB_OK);
  assert_string_equal((const char *)text.data, expected);
  gab_buffer_release(&text);
}

static void canonical_text_does_not_depend_on_how_it_was_written(void **state)
{
  (void)state;
  const char *state_text = "initial.type = \"rest\"\nlbm.compressible = false\nlbm.force = [0, 0, 0]\n"
                           "lbm.model = trt\nlbm.omega = 0.1\nresilience.memory.every = 10\n"
                           "resilience.memory.strategies = [shrink]\nsteps = 100\n";
  char all[512];
  snprintf(all, sizeof all, "%s", state_text);
  char *steps = strstr(all, "resilience");
  char tail[256];
  snprintf(tail, sizeof tail, "name = \"x\"\n%s", steps);
  strcpy(steps, tail);
  const char *texts[] = {"lbm: {omega: 0.1}\nname: x\n", "name: \"x\"\nlbm:\n  omega: 1.0e-1\n",
                         "{\"lbm\": {\"model\": \"trt\", \"omega\": .1}, \"name\": \"x\", \"steps\": +100}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    gab_config *config = good(texts[i]);
    assert_same_text(config, gab_config_canonical, all);
    assert_same_text(config, gab_config_canonical_state, state_text);
    gab_config_destroy(&config);
  }
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
  (void)state;
  const char *with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ru_RU.UTF-8"};
  bool found = false;
  for (size_t i = 0; !found && i < sizeof with_comma / sizeof *with_comma; i++)
    found = setlocale(LC_ALL, with_comma[i]) != NULL;
  gab_config *config = good("lbm: {omega: 1.5}\n");
  assert_true(gab_config_real(config, "lbm.omega") == 1.5);
  gab_buffer text = {0};
  assert_int_equal(gab_config_canonical(config, &text), GAB_OK);
  assert_int_equal(gab_put_u8(&text, 0), GAB_OK);
  assert_non_null(strstr((const char *)text.data, "lbm.omega = 1.5\n"));
  gab_buffer_release(&text);
  gab_config_destroy(&config);
  setlocale(LC_ALL, "C");
  if (!found) skip();
}

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

static void missing_and_empty_files_are_refused_and_a_last_line_needs_no_end(void **state)
{
  (void)state;
  char path[] = "test_config_XXXXXX", expected[256];
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  gab_config *config = new_config();
  assert_int_equal(gab_config_load(config, "no/such/file.yaml"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "no/such/file.yaml: cannot be opened: No such file or directory");
  assert_int_equal(gab_config_load(config, "."), GAB_ERR_INPUT);
  assert_int_equal(gab_config_load(config, path), GAB_ERR_INPUT);
  snprintf(expected, sizeof expected, "%s:1:1: the file is empty", path);
  assert_string_equal(gab_error_message(), expected);
  write_file(path, "steps: 1\nlbm:\n  omega: 1.8");
  assert_int_equal(gab_config_load(config, path), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  assert_true(gab_config_real(config, "lbm.omega") == 1.8);
  write_file(path, "{\"lbm\": {\"omega\": 1.9}}");
  assert_int_equal(gab_config_load(config, path), GAB_OK);
  write_file(path, "steps: 1\nlbm:\n  omega: 1.9\n");
  assert_int_equal(gab_config_load(config, path), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  assert_true(gab_config_real(config, "lbm.omega") == 1.9);
  gab_config_destroy(&config);
  assert_int_equal(remove(path), 0);
}

static void unsound_tables_are_refused(void **state)
{
  (void)state;
  static const gab_config_key rows[] = {
      {.name = "Big", .type = GAB_CONFIG_INT, .default_text = "1", .doc = "not lower case"},
      {.name = "a", .type = GAB_CONFIG_INT, .default_text = "x", .doc = "default is no integer"},
      {.name = "a",
       .type = GAB_CONFIG_INT,
       .min = 1,
       .max = 2,
       .default_text = "3",
       .doc = "default out of range"},
      {.name = "a", .type = GAB_CONFIG_CHOICE, .default_text = "x", .doc = "no choices"},
      {.name = "a", .type = GAB_CONFIG_INT, .default_text = "1"},
      {.name = "a",
       .type = GAB_CONFIG_INT,
       .length_min = 3,
       .length_max = 2,
       .default_text = "1",
       .doc = "length"},
      {.name = "a", .type = GAB_CONFIG_INT, .default_text = "", .doc = "empty default"},
  };
  gab_config *config = new_config();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    gab_config_section section = {.path = "other", .keys = &rows[i], .count = 1};
    assert_int_equal(gab_config_declare(config, &section), GAB_ERR_ARGUMENT);
  }
  gab_config_section twice = {.path = "lbm", TABLE(lbm_keys)};
  assert_int_equal(gab_config_declare(config, &twice), GAB_ERR_ARGUMENT);
  gab_config_section below_list = {.path = "bodies.motion", TABLE(decay_keys)};
  assert_int_equal(gab_config_declare(config, &below_list), GAB_ERR_ARGUMENT);
  gab_config_section below_key = {.path = "lbm.omega", TABLE(decay_keys)};
  assert_int_equal(gab_config_declare(config, &below_key), GAB_ERR_ARGUMENT);
  gab_config_section no_list = {.path = "bodies", TABLE(decay_keys)};
  assert_int_equal(gab_config_declare(config, &no_list), GAB_ERR_ARGUMENT);
  gab_config_destroy(&config);
}

static void a_mistake_of_the_program_gives_a_defined_value_and_a_message(void **state)
{
  (void)state;
  char log[] = "/tmp/gabion-config-XXXXXX", text[4096];
  const int descriptor = mkstemp(log);
  assert_true(descriptor >= 0);
  gab_log_set_level((gab_log_level)-1, GAB_LOG_ERROR);
  assert_int_equal(gab_log_open(log), GAB_OK);
  gab_config *config = good("lbm: {omega: 1}\n");
  gab_error_clear();
  assert_int_equal(gab_config_int(config, "lbm.omega"), 0);
  assert_string_equal(gab_error_message(), "lbm.omega: the parameter is of another type");
  assert_true(isnan(gab_config_real(config, "lbm.nothing")));
  assert_string_equal(gab_error_message(), "lbm.nothing: no such parameter");
  size_t count = 7;
  assert_null(gab_config_reals(config, "lbm.omega", &count));
  assert_int_equal(count, 0);
  gab_config_destroy(&config);
  assert_int_equal(gab_log_open(NULL), GAB_OK);
  gab_log_set_level(GAB_LOG_INFO, GAB_LOG_INFO);
  const ssize_t read_bytes =
      read(descriptor, text, sizeof text - 1); /* with the message of a failed getter? */
  assert_true(read_bytes > 0);
  text[read_bytes] = '\0';
  assert_non_null(strstr(text, "lbm.omega: the parameter is of another type"));
  assert_non_null(strstr(text, "lbm.nothing: no such parameter"));
  close(descriptor);
  unlink(log);
}

static void capture(gab_config *config, const char *key, gab_status expected, char *text, size_t capacity)
{
  FILE *out = tmpfile();
  assert_non_null(out);
  gab_status status = key && strcmp(key, "reference") == 0 ? gab_config_write_reference(config, out)
                                                           : gab_config_write_help(config, out, key);
  assert_int_equal(status, expected);
  rewind(out);
  text[fread(text, 1, capacity - 1, out)] = '\0';
  fclose(out);
}

static void help_and_reference_come_from_the_tables(void **state)
{
  (void)state;
  gab_config *config = new_config();
  char text[16384];
  const char *forms[] = {"lbm.omega", "omega"};
  for (int i = 0; i < 2; i++) {
    capture(config, forms[i], GAB_OK, text, sizeof text);
    assert_string_equal(text, "lbm.omega\n  what:     relaxation rate\n"
                              "  type:     a real number, 0 < value < 2, in 1/step\n  default:  required\n");
  }
  capture(config, "bodies.3.radius", GAB_OK, text, sizeof text);
  assert_non_null(strstr(text, "bodies[].radius\n  for:      type: sphere\n"));
  capture(config, "resilience", GAB_OK, text, sizeof text);
  assert_non_null(strstr(text, "resilience.memory: checkpoints in memory\n"));
  capture(config, "lbm.omgea", GAB_ERR_INPUT, text, sizeof text);
  assert_string_equal(gab_error_message(), "unknown parameter 'lbm.omgea'; did you mean 'lbm.omega'?");
  capture(config, "wholly_unknown", GAB_ERR_INPUT, text, sizeof text);
  assert_string_equal(gab_error_message(), "unknown parameter 'wholly_unknown'");
  capture(config, "Relaxation", GAB_OK, text, sizeof text);
  assert_string_equal(
      text, "'Relaxation' is not the name of a parameter or section. Descriptions that contain it:\n"
            "  lbm.omega: relaxation rate\n");
  capture(config, "elaxation", GAB_ERR_INPUT, text, sizeof text); /* only words from their beginning */
  capture(config, NULL, GAB_OK, text, sizeof text);
  for (size_t i = 0; i < sizeof lbm_keys / sizeof *lbm_keys; i++)
    assert_non_null(strstr(text, lbm_keys[i].name));
  capture(config, "reference", GAB_OK, text, sizeof text);
  assert_non_null(
      strstr(text, "| `omega` | a real number | 1/step | 0 < value < 2 | required | relaxation rate |\n"));
  assert_non_null(strstr(text, "| `model` | a choice of srt\\|trt | | | trt | collision model |\n"));
  assert_non_null(strstr(text, "### `type: sphere`"));
  gab_config_destroy(&config);
}

static void bounds_are_shown_in_plain_digits_and_those_of_the_machine_not_at_all(void **state)
{
  (void)state;
  static const gab_config_key rows[] = {
      {.name = "steps", .type = GAB_CONFIG_INT, .min = 0, .max = 9e15, .default_text = "1", .doc = "one"},
      {.name = "cells",
       .type = GAB_CONFIG_INT,
       .min = 1,
       .max = 2147483647,
       .default_text = "1",
       .doc = "two"},
      {.name = "count", .type = GAB_CONFIG_INT, .min = 1, .max = 1e5, .default_text = "1", .doc = "three"},
      {.name = "magic", .type = GAB_CONFIG_REAL, .min = 0.1, .max = 10, .default_text = "1", .doc = "four"},
      {.name = "pause", .type = GAB_CONFIG_REAL, .min = 0, .max = 1e12, .default_text = "1", .doc = "five"},
  };
  static const char *const shown[] = {"value >= 0", "value >= 1", "1 <= value <= 100000",
                                      "0.1 <= value <= 10", "0 <= value <= 1e+12"};
  static const gab_config_section section = {.path = "bounds", TABLE(rows), .doc = "numbers"};
  gab_config *config = new_config();
  assert_int_equal(gab_config_declare(config, &section), GAB_OK);
  char text[16384], path[64], wanted[128];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(path, sizeof path, "bounds.%s", rows[i].name);
    snprintf(wanted, sizeof wanted, ", %s\n", shown[i]);
    capture(config, path, GAB_OK, text, sizeof text);
    if (!strstr(text, wanted)) fail_msg("not \"%s\" in: %s", shown[i], text);
  }
  assert_int_equal(load(config, "lbm: {omega: 1}\nbounds: {cells: 2147483648}\n"), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(),
                      "case.yaml:2:17: cells = 2147483648 is out of range: value <= 2147483647");
  gab_config_destroy(&config);
}

static void nothing_is_left_allocated(void **state)
{
  (void)state;
  assert_int_equal(gab_memory_now(GAB_MEMORY_USE_COUNT), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_read_as_written),
      cmocka_unit_test(defaults_fill_what_is_left_out),
      cmocka_unit_test(json_is_a_parameter_file),
      cmocka_unit_test(line_ends_and_marks_of_other_systems_are_read),
      cmocka_unit_test(list_items_have_the_keys_of_their_type),
      cmocka_unit_test(every_mistake_is_reported_with_its_place),
      cmocka_unit_test(all_mistakes_are_reported_together_in_the_order_of_the_file),
      cmocka_unit_test(a_failed_load_or_check_changes_nothing),
      cmocka_unit_test(overrides_win_over_the_file),
      cmocka_unit_test(bad_overrides_are_refused_by_name),
      cmocka_unit_test(places_of_values_are_known_to_later_checks),
      cmocka_unit_test(canonical_text_does_not_depend_on_how_it_was_written),
      cmocka_unit_test(numbers_do_not_depend_on_the_locale),
      cmocka_unit_test(missing_and_empty_files_are_refused_and_a_last_line_needs_no_end),
      cmocka_unit_test(unsound_tables_are_refused),
      cmocka_unit_test(a_mistake_of_the_program_gives_a_defined_value_and_a_message),
      cmocka_unit_test(help_and_reference_come_from_the_tables),
      cmocka_unit_test(bounds_are_shown_in_plain_digits_and_those_of_the_machine_not_at_all),
      cmocka_unit_test(nothing_is_left_allocated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
