/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "core/system/file.h"

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

static char folder[64], path[80];

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/gabion-file-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/note", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(folder); /* fails if other files are left in it */
}

static void read_back(char *text, size_t capacity)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, capacity - 1, file)] = '\0';
  fclose(file);
}

static void a_file_is_replaced_as_a_whole(void **state)
{
  (void)state;
  char text[64];
  assert_int_equal(gab_file_replace(path, "a long first text", 17, GAB_FILE_RENAMED), GAB_OK);
  assert_int_equal(gab_file_replace(path, "short", 5, GAB_FILE_SYNCED), GAB_OK);
  read_back(text, sizeof text);
  assert_string_equal(text, "short");
}

static void what_cannot_be_written_leaves_the_old_file_and_no_other(void **state)
{
  (void)state;
  char text[64], nowhere[120];
  assert_int_equal(gab_file_replace(path, "old", 3, GAB_FILE_SYNCED), GAB_OK);
  snprintf(nowhere, sizeof nowhere, "%s/none/note", folder);
  assert_int_equal(gab_file_replace(nowhere, "new", 3, GAB_FILE_SYNCED), GAB_ERR_IO);
  assert_non_null(strstr(gab_error_message(), "none/note"));
  /* A folder with that name: the text can be written to a temporary file, but not renamed. */
  snprintf(nowhere, sizeof nowhere, "%s/taken", folder);
  assert_int_equal(mkdir(nowhere, 0777), 0);
  assert_int_equal(gab_file_replace(nowhere, "new", 3, GAB_FILE_RENAMED), GAB_ERR_IO);
  assert_int_equal(rmdir(nowhere), 0);
  read_back(text, sizeof text);
  assert_string_equal(text, "old");
}

static void a_folder_that_is_not_there_cannot_be_synced(void **state)
{
  (void)state;
  assert_int_equal(gab_folder_sync(folder), GAB_OK);
  assert_int_equal(gab_folder_sync("/nowhere/at/all"), GAB_ERR_IO);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_is_replaced_as_a_whole, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_cannot_be_written_leaves_the_old_file_and_no_other, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_cannot_be_synced, make_folder,
                                      remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
