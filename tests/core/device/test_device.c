/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=180 labels=quick */
/* Devices through OpenCL (pocl serves): memory, programs and their caches, kernels, times, and the arithmetic. Left out, with a word,
 * where there is no OpenCL. What needs no device is always tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/device/device_impl.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] =
    "GAB_KERNEL void scale(GAB_GLOBAL const float *in, GAB_GLOBAL float *out, gab_u32 count, float by)\n"
    "{\n"
    "  const gab_u64 i = GAB_INDEX();\n"
    "  if (i < count) out[i] = in[i] * by + SHIFT;\n"
    "}\n";
enum { COUNT = 1000, GROUP = 64 };

static char cache[] = "/tmp/gabion-device-XXXXXX";

static gab_device *open_or_skip(void)
{
  gab_device *device = NULL;
  int count = 0;
  if (gab_device_count("opencl", &count) != GAB_OK || count == 0) {
    print_message("no OpenCL device here: left out\n");
    skip();
  }
  assert_int_equal(gab_device_open("opencl", 0, &device), GAB_OK);
  return device;
}

static void the_unknown_is_refused(void **state)
{
  gab_device *device;
  int count = 7;
  (void)state;
  assert_int_equal(gab_device_count("abacus", &count), GAB_ERR_INPUT);
  assert_int_equal(count, 0);
  assert_non_null(strstr(gab_error_message(), "abacus"));
  for (int i = 0; gab_device_backend_at(i); i++) {
    assert_int_equal(gab_device_open(gab_device_backend_at(i), 1000, &device), GAB_ERR_INPUT);
    assert_null(device);
    assert_true(strlen(gab_error_message()) > 0);
  }
  assert_null(gab_device_backend_at(-1));
}

static void memory_keeps_what_is_copied(void **state)
{
  gab_device *device = open_or_skip();
  gab_device_memory *one, *two;
  gab_device_pinned *pinned;
  void *data;
  unsigned char bytes[COUNT], back[COUNT];
  (void)state;
  for (int i = 0; i < COUNT; i++) bytes[i] = (unsigned char)(i * 7);
  assert_int_equal(gab_device_alloc(device, COUNT, &one), GAB_OK);
  assert_int_equal(gab_device_alloc(device, COUNT, &two), GAB_OK);
  assert_int_equal(gab_device_pin(device, COUNT, &data, &pinned), GAB_OK);
  assert_int_equal(gab_device_bytes(one), COUNT);
  assert_int_equal(gab_device_write(one, 0, bytes, COUNT), GAB_OK);
  assert_int_equal(gab_device_write(one, 100, bytes, 10), GAB_OK);
  assert_int_equal(gab_device_copy(one, 50, two, 0, 900), GAB_OK);
  assert_int_equal(gab_device_read(two, 40, back, 100), GAB_OK);
  assert_memory_equal(back + 10, bytes, 10);
  assert_memory_equal(back + 20, bytes + 110, 80);
  assert_memory_equal(back, bytes + 90, 10);

  memset(data, 0, COUNT);
  assert_int_equal(gab_device_read_pinned(one, 0, pinned, 1, COUNT - 1), GAB_OK);
  assert_int_equal(gab_device_wait(device), GAB_OK);
  assert_memory_equal((unsigned char *)data + 1, bytes, 100);
  memset(data, 5, COUNT);
  assert_int_equal(gab_device_write_pinned(two, 0, pinned, 0, COUNT), GAB_OK);
  assert_int_equal(gab_device_read(two, 0, back, COUNT), GAB_OK);
  assert_memory_equal(back, data, COUNT);

  assert_int_equal(gab_device_write(one, 1, bytes, COUNT), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_device_read(one, SIZE_MAX, back, 2), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_device_copy(one, 0, two, COUNT - 1, 2), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_device_read_pinned(one, 0, pinned, 2, COUNT - 1), GAB_ERR_ARGUMENT);
  gab_device_unpin(&pinned);
  gab_device_free(&one);
  gab_device_free(&two);
  assert_null(one);
  gab_device_close(&device);
  assert_null(device);
}

/* Of the last of all values, where a group is cut off. */
static float run(gab_device *device, gab_device_program *program, double *seconds)
{
  gab_device_memory *in, *out;
  gab_device_mark *from, *to;
  float values[COUNT];
  const float by = 3;
  const uint32_t count = COUNT;
  for (int i = 0; i < COUNT; i++) values[i] = (float)i;
  assert_int_equal(gab_device_alloc(device, sizeof values, &in), GAB_OK);
  assert_int_equal(gab_device_alloc(device, sizeof values, &out), GAB_OK);
  assert_int_equal(gab_device_write(in, 0, values, sizeof values), GAB_OK);
  const gab_device_argument arguments[] = {GAB_DEVICE_BUFFER(in), GAB_DEVICE_BUFFER(out),
                                           GAB_DEVICE_VALUE(count), GAB_DEVICE_VALUE(by)};
  assert_int_equal(gab_device_mark_here(device, &from), GAB_OK);
  assert_int_equal(gab_device_launch(program, "scale", COUNT, GROUP, arguments, 4), GAB_OK);
  assert_int_equal(gab_device_mark_here(device, &to), GAB_OK);
  assert_int_equal(gab_device_seconds(from, to, seconds), GAB_OK);
  assert_int_equal(gab_device_read(out, 0, values, sizeof values), GAB_OK);
  for (int i = 1; i < COUNT; i++) assert_true(values[i] == values[i - 1] + by);
  gab_device_unmark(&from);
  gab_device_unmark(&to);
  gab_device_free(&in);
  gab_device_free(&out);
  return values[COUNT - 1];
}

static void kernels_run_and_have_a_time(void **state)
{
  gab_device *device = open_or_skip();
  gab_device_program *program;
  double seconds = -1;
  (void)state;
  assert_int_equal(gab_device_build(device, text, "-DSHIFT=2", &program), GAB_OK);
  assert_true(run(device, program, &seconds) == 3 * (COUNT - 1) + 2);
  assert_true(seconds > 0);
  assert_int_equal(gab_device_launch(program, "shrink", 1, 1, NULL, 0), GAB_ERR_ARGUMENT);
  assert_non_null(strstr(gab_error_message(), "shrink"));
  assert_int_equal(gab_device_launch(program, "scale", 0, 1, NULL, 0), GAB_ERR_ARGUMENT);
  gab_device_close(&device);
}

static void a_wrong_text_is_refused_in_the_words_of_the_compiler(void **state)
{
  gab_device *device = open_or_skip();
  gab_device_program *program;
  (void)state;
  assert_int_equal(gab_device_build(device, text, "", &program), GAB_ERR_ARGUMENT);
  assert_null(program);
  assert_non_null(strstr(gab_error_message(), "SHIFT"));
  gab_device_close(&device);
}

/* Changes a bit of each program of the folder. @return how many there are */
static int damage_the_folder(void)
{
  char path[600];
  int count = 0;
  snprintf(path, sizeof path, "%s/kernels", cache);
  DIR *folder = opendir(path);
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    assert_non_null(strstr(entry->d_name, ".bin"));
    snprintf(path, sizeof path, "%s/kernels/%s", cache, entry->d_name);
    const int file = open(path, O_RDWR);
    unsigned char byte = 0;
    assert_true(file >= 0 && pread(file, &byte, 1, 100) == 1);
    byte ^= 1;
    assert_true(pwrite(file, &byte, 1, 100) == 1 && close(file) == 0);
    count++;
  }
  closedir(folder);
  return count;
}

static gab_device_builds build_and_run(int times)
{
  gab_device *device = open_or_skip();
  gab_device_program *program;
  double seconds;
  for (int i = 0; i < times; i++) {
    assert_int_equal(gab_device_build(device, text, "-DSHIFT=3", &program), GAB_OK);
    assert_true(run(device, program, &seconds) == 3 * COUNT);
  }
  const gab_device_builds builds = gab_device_builds_of(device);
  gab_device_close(&device);
  return builds;
}

static void programs_are_compiled_once(void **state)
{
  (void)state;
  gab_device_builds builds = build_and_run(3);
  assert_true(builds.compiled == 1 && builds.from_folder == 0 && builds.from_memory == 2);
  builds = build_and_run(1);
  assert_true(builds.compiled == 0 && builds.from_folder == 1);
  assert_true(damage_the_folder() > 0);
  builds = build_and_run(1);
  assert_true(builds.compiled == 1 && builds.from_folder == 0);
  builds = build_and_run(1); /* what was compiled has taken the place of what was damaged */
  assert_true(builds.compiled == 0 && builds.from_folder == 1);
}

static void a_folder_that_others_may_enter_is_not_used(void **state)
{
  char path[600];
  gab_buffer binary = {0};
  (void)state;
  assert_int_equal(gab_put_u64(&binary, 1), GAB_OK);
  gab_device_cache_write(1, &binary);
  snprintf(path, sizeof path, "%s/kernels", cache);
  gab_buffer found = {0};
  assert_true(gab_device_cache_read(1, &found) && found.size == 8);
  gab_buffer_clear(&found);
  assert_int_equal(chmod(path, 0777), 0);
  assert_false(gab_device_cache_read(1, &found));
  assert_int_equal(chmod(path, 0700), 0);
  assert_true(gab_device_cache_read(1, &found));
  assert_false(gab_device_cache_read(2, &found));
  gab_buffer_release(&found);
  gab_buffer_release(&binary);
}

static void the_arithmetic_is_that_of_the_processor(void **state)
{
  gab_device *device = open_or_skip();
  (void)state;
  if (gab_device_check_arithmetic(device) != GAB_OK) fail_msg("%s", gab_error_message());
  gab_device_close(&device);
}

static int make_cache(void **state)
{
  (void)state;
  return mkdtemp(cache) && setenv("GABION_CACHE", cache, 1) == 0 ? 0 : 1;
}

static int remove_cache(void **state)
{
  char command[600];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", cache);
  return system(command);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_unknown_is_refused),
      cmocka_unit_test(memory_keeps_what_is_copied),
      cmocka_unit_test(kernels_run_and_have_a_time),
      cmocka_unit_test(a_wrong_text_is_refused_in_the_words_of_the_compiler),
      cmocka_unit_test(programs_are_compiled_once),
      cmocka_unit_test(a_folder_that_others_may_enter_is_not_used),
      cmocka_unit_test(the_arithmetic_is_that_of_the_processor),
  };
  return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
