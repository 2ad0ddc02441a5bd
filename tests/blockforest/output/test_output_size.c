/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Field files are as small as their content, also for small blocks: a field at rest needs very little space, noise no
 * more than its numbers. The same state gives the same bytes. */
#include "tests/blockforest/output/output_common.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ROOTS = 10, CELLS = 8 };

static gab_world *world;
static gab_forest *forest;
static char folder[64] = "/tmp/gabion-size-XXXXXX";

static gab_status rest(void *user, const gab_forest *of, const gab_block *block, double *values)
{
  const gab_quantity *quantity = user;
  const size_t count = gab_quantity_block_values(of, quantity);
  (void)block;
  for (size_t i = 0; i < count; i++) values[i] = quantity->components == 1 ? 1.0 : 0.0;
  return GAB_OK;
}

/* Every bit of the mantissa is nearly random. */
static gab_status noise(void *user, const gab_forest *of, const gab_block *block, double *values)
{
  const size_t count = gab_quantity_block_values(of, user);
  uint64_t state = gab_block_get_id(block) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (size_t i = 0; i < count; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    values[i] = (double)(int64_t)(state ^ state >> 29) * 0x1p-63;
  }
  return GAB_OK;
}

static gab_quantity quiet[2] = {{.name = "density", .components = 1, .evaluate = rest, .user = &quiet[0]},
                                {.name = "velocity", .components = 3, .evaluate = rest, .user = &quiet[1]}};
static gab_quantity loud[1] = {{.name = "density", .components = 1, .evaluate = noise, .user = &loud[0]}};

/* @return bytes of the file of this process per byte of the numbers in memory */
static double size_of(const char *name, const gab_quantity *quantities, size_t count,
                      gab_output_precision precision, int compression)
{
  gab_volume *volume = NULL;
  gab_volume_options options = {.folder = folder,
                                .name = name,
                                .quantities = quantities,
                                .quantity_count = count,
                                .precision = precision,
                                .compression = compression};
  char path[256];
  struct stat about;
  assert_int_equal(gab_volume_create(forest, &options, &volume), GAB_OK);
  assert_int_equal(gab_volume_write(volume, 0, 0.0), GAB_OK);
  gab_volume_destroy(&volume);
  snprintf(path, sizeof path, "%s/fields/%s_0000000000.s0000.h5", folder, name);
  assert_int_equal(stat(path, &about), 0);
  double cells = (double)CELLS * CELLS * CELLS * ROOTS * ROOTS * ROOTS, numbers = 0;
  for (size_t i = 0; i < count; i++) numbers += cells * quantities[i].components;
  return (double)about.st_size / (numbers * (precision == GAB_OUTPUT_FLOAT ? 4 : 8));
}

static void a_field_at_rest_takes_one_percent(void **state)
{
  (void)state;
  assert_true(size_of("one", quiet, 1, GAB_OUTPUT_FLOAT, 1) < 0.01);
  assert_true(size_of("both", quiet, 2, GAB_OUTPUT_FLOAT, 1) < 0.01);
  assert_true(size_of("double", quiet, 2, GAB_OUTPUT_DOUBLE, 6) < 0.01);
}

static void noise_takes_no_more_than_its_numbers(void **state)
{
  (void)state;
  assert_true(size_of("noise", loud, 1, GAB_OUTPUT_FLOAT, 1) < 1.1);
  const double twice = size_of("loud", loud, 1, GAB_OUTPUT_DOUBLE, 1);
  assert_true(twice < 1.1 && twice > 0.8); /* it is noise */
  assert_true(size_of("plain", loud, 1, GAB_OUTPUT_FLOAT, 0) < 1.1);
}

static size_t read_file(const char *name, char **bytes)
{
  char path[256];
  snprintf(path, sizeof path, "%s/fields/%s_0000000000.s0000.h5", folder, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  *bytes = malloc(1 << 22);
  assert_non_null(*bytes);
  const size_t size = fread(*bytes, 1, 1 << 22, file);
  assert_true(size > 100 && feof(file));
  fclose(file);
  return size;
}

static void the_same_state_gives_the_same_bytes(void **state)
{
  (void)state;
  char *once, *again;
  (void)size_of("bytes", quiet, 2, GAB_OUTPUT_FLOAT, 1);
  const size_t size = read_file("bytes", &once);
  struct timespec second = {.tv_sec = 1, .tv_nsec = 10000000}; /* times in the file would differ */
  nanosleep(&second, NULL);
  (void)size_of("bytes", quiet, 2, GAB_OUTPUT_FLOAT, 1);
  assert_int_equal(read_file("bytes", &again), size);
  assert_memory_equal(once, again, size);
  free(once);
  free(again);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_field_at_rest_takes_one_percent),
      cmocka_unit_test(noise_takes_no_more_than_its_numbers),
      cmocka_unit_test(the_same_state_gives_the_same_bytes),
  };
  const gab_forest_options options = {
      .grid = {.dimension = 3, .roots = {ROOTS, ROOTS, ROOTS}}, .cells = {CELLS, CELLS, CELLS}, .dx = 0.1};
  if (!mkdtemp(folder) || gab_output_folder_prepare(folder) != GAB_OK) return 1;
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  forest = case_forest(world, &options);
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_forest_destroy(&forest);
  gab_world_destroy(&world);
  char command[128];
  snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
  return system(command) == 0 ? failed : 1;
}
