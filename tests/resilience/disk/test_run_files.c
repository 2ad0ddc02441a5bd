/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/run_folder/run_files.h"

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

/* gabion-test: labels=quick */

static bool match(const char *pattern, const char *name)
{
  return gab_run_files_match(pattern, strlen(pattern), name);
}

static void numbers_stand_for_digits_only(void **state)
{
  (void)state;
  assert_true(match("log.txt", "log.txt"));
  assert_true(match("cut_<n>.png", "cut_0000000100.png"));
  assert_true(match("fields/a_<n>.s<n>.h5", "fields/a_0000000100.s0003.h5"));
  assert_true(match("cut_<n>.png", "cut_5.png.tmp"));
  assert_true(match("summary.json", "summary.json.new"));
  assert_false(match("cut_<n>.png", "cut_.png"));
  assert_false(match("cut_<n>.png", "cut_best.png"));
  assert_false(match("cut_<n>.png", "cut_5.png.bak"));
  assert_false(match("cut_<n>.png", "cut_5x.png"));
  assert_false(match("cut_<n>.png", "my_cut_5.png"));
  assert_false(match("log.txt", "log.tx"));
  assert_false(match("log.txt", "log.txt2"));
}

static char folder[64];

static void put(const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
}

static bool is_there(const char *name)
{
  char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static void settle(const char *names, gab_run_files_of_before before, uint64_t expected)
{
  gab_buffer list = {0};
  uint64_t removed;
  assert_int_equal(gab_put_bytes(&list, names, strlen(names)), GAB_OK);
  assert_int_equal(gab_run_files_settle(folder, &list, "log.txt\n", before, &removed), GAB_OK);
  assert_int_equal(removed, expected);
  gab_buffer_release(&list);
}

static void what_is_listed_goes_and_nothing_else(void **state)
{
  (void)state;
  char path[160];
  strcpy(folder, "/tmp/gabion-files-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/fields", folder);
  assert_int_equal(mkdir(path, 0777), 0);
  put("a_1.png"), put("mine.png"), put("fields/f_2.h5"), put("fields/f_x.h5"), put("log.txt");
  settle("a_<n>.png\nlog.txt\n", GAB_RUN_FILES_REMOVE, 0); /* no list yet: no file belongs to a run */
  assert_true(is_there("a_1.png"));
  settle("fields/f_<n>.h5\n", GAB_RUN_FILES_KEEP, 0);
  assert_true(is_there("a_1.png") && is_there("fields/f_2.h5"));
  settle("b.csv\n", GAB_RUN_FILES_REMOVE, 2);
  assert_false(is_there("a_1.png") || is_there("fields/f_2.h5"));
  assert_true(is_there("mine.png") && is_there("fields/f_x.h5") && is_there("log.txt"));
  put("a_1.png");
  settle("c.csv\n", GAB_RUN_FILES_REMOVE, 0); /* the list of the last run is used */
  assert_true(is_there("a_1.png"));
  snprintf(path, sizeof path, "rm -r %s", folder);
  assert_int_equal(system(path), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_stand_for_digits_only),
      cmocka_unit_test(what_is_listed_goes_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
