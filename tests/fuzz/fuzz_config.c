/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: parameter files and overrides. The input is a file, then (each after a zero byte) overrides.
 */
#include "tests/fuzz/fuzz_main.h"

#include "core/config/config.h"

#include <math.h>

static const gab_config_key top_keys[] = {
    {.name = "steps",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1e12,
     .default_text = "100",
     .doc = "time steps"},
    {.name = "name", .type = GAB_CONFIG_STRING, .default_text = "case", .outside = true, .doc = "a name"},
};
static const gab_config_key lbm_keys[] = {
    {.name = "omega",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 2,
     .min_excluded = true,
     .doc = "relaxation rate"},
    {.name = "model", .type = GAB_CONFIG_CHOICE, .choices = "srt|trt", .default_text = "trt", .doc = "model"},
    {.name = "force",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .default_text = "[0, 0]",
     .doc = "force"},
    {.name = "wet", .type = GAB_CONFIG_BOOL, .default_text = GAB_CONFIG_OPTIONAL, .doc = "a flag"},
};
static const gab_config_key side_keys[] = {
    {.name = "inflow",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|t",
     .min = 0,
     .max = 10,
     .default_text = "1",
     .doc = "a formula"},
};
static const gab_config_key memory_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = INFINITY,
     .default_text = "10",
     .doc = "interval"},
    {.name = "names",
     .type = GAB_CONFIG_STRING,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .default_text = "[]",
     .doc = "list"},
};
static const gab_config_key sphere_keys[] = {
    {.name = "radius", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .doc = "radius"},
};
static const gab_config_key box_keys[] = {
    {.name = "size", .type = GAB_CONFIG_INT, .length_min = 2, .length_max = 3, .doc = "edges"},
};

#define TABLE(array) .keys = (array), .count = sizeof(array) / sizeof *(array)
static const gab_config_section sections[] = {
    {.path = "", TABLE(top_keys)},
    {.path = "lbm", TABLE(lbm_keys), .optional = true},
    {.path = "side", TABLE(side_keys), .optional = true},
    {.path = "resilience.memory", TABLE(memory_keys)},
    {.path = "bodies", .is_list = true, .variant = "sphere", TABLE(sphere_keys)},
    {.path = "bodies", .is_list = true, .variant = "box", TABLE(box_keys)},
};

#ifndef GAB_LIBFUZZER
static const fuzz_seed fuzz_seeds[] = {
    FUZZ_SEED("steps: 12\nname: 'a b'\nlbm:\n  omega: 1.75\n  model: srt\n  force: [1e-3, -2]\n"),
    FUZZ_SEED("bodies:\n- type: sphere\n  radius: 3\n- {type: box, size: [1, 2]}\nresilience: {memory: "
              "{every: 3}}\n"),
    FUZZ_SEED("{\"lbm\": {\"omega\": 1.5, \"wet\": true}, \"steps\": 7}"),
    FUZZ_SEED("resilience:\n  memory:\n    names: [a, \"b\\n\", 'c''d', |\n x]\n# comment\n"),
    FUZZ_SEED("name: >-\n  folded\n  text\n...\n"),
    FUZZ_SEED("steps: 1\n\0lbm.omega=1.5\0bodies.0={type: sphere, radius: 1}\0bodies.0.radius=2\0"),
    FUZZ_SEED(
        "constants: {a: 2, b: a ^ 3 / 4}\nside:\n  inflow: (b > 1) && a <= 3 ? sin(x * t) : -1e-3 * max(x, t)\n"),
    FUZZ_SEED("side: {inflow: 3 * (2 - 1)}\n\0constants.c0=erf(1)\0side.inflow=c0 + x^2\0"),
    FUZZ_SEED("a: &x [*x, !!str y, ? z]\n--- b\n%YAML 1.2\n"),
};
#endif

/* What was accepted has to mean the same when its canonical values are read again. */
static void use(const gab_config *config)
{
  gab_buffer text = {0};
  FUZZ_EXPECT(gab_config_canonical(config, &text) == GAB_OK);
  FUZZ_EXPECT(text.size > 0 && memchr(text.data, '\0', text.size) == NULL);
  gab_buffer_release(&text);
  FUZZ_EXPECT(gab_config_int(config, "steps") >= 0);
  double omega = gab_config_real(config, "lbm.omega");
  FUZZ_EXPECT(isnan(omega) || (omega > 0 && omega <= 2));
  const gab_expression *inflow = gab_config_expression(config, "side.inflow");
  const double value = gab_expression_at(inflow, (const double[]){0.5, 2});
  FUZZ_EXPECT(!gab_expression_is_constant(inflow) || (value >= 0 && value <= 10));
  for (size_t i = 0; i < gab_config_count(config, "bodies"); i++) {
    char path[GAB_CONFIG_PATH_CAPACITY];
    const char *type = gab_config_string(config, gab_config_path(path, "bodies.%zu.type", i));
    if (strcmp(type, "sphere") == 0)
      FUZZ_EXPECT(gab_config_real(config, gab_config_path(path, "bodies.%zu.radius", i)) >= 0);
    else FUZZ_EXPECT(gab_config_count(config, gab_config_path(path, "bodies.%zu.size", i)) >= 2);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  gab_config *config = NULL;
  FUZZ_EXPECT(gab_config_create(&config) == GAB_OK);
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    FUZZ_EXPECT(gab_config_declare(config, &sections[i]) == GAB_OK);
  FUZZ_EXPECT(gab_config_declare(config, &gab_config_constants) == GAB_OK);
  const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
  size_t length = end ? (size_t)(end - data) : size;
  gab_status status = gab_config_load_text(config, "fuzz.yaml", (const char *)data, length);
  FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_INPUT);
  for (size_t at = length + 1; at < size;) {
    char assignment[256];
    size_t wanted = 0;
    while (at + wanted < size && data[at + wanted] && wanted < sizeof assignment - 1) wanted++;
    memcpy(assignment, data + at, wanted);
    assignment[wanted] = '\0';
    at += wanted + 1;
    status = gab_config_override(config, assignment);
    FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_INPUT);
  }
  status = gab_config_check(config);
  FUZZ_EXPECT(status == GAB_OK || (status == GAB_ERR_INPUT && gab_error_message()[0]));
  if (status == GAB_OK) use(config);
  gab_config_destroy(&config);
  FUZZ_EXPECT(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return 0;
}

FUZZ_MAIN
