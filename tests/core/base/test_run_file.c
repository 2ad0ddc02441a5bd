/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a run are not opened through links, second names and pipes of other users; links of this user are followed. */
/* gabion-test: labels=quick */
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHER = 65534 };

static char place[64];

static int set_up(void **state)
{
  (void)state;
  strcpy(place, "/tmp/gabion-run-file-XXXXXX");
  return mkdtemp(place) && chdir(place) == 0 && mkdir("out", 0777) == 0 && chmod("out", 0777) == 0 ? 0 : -1;
}

static int clear(void **state)
{
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", place);
  return system(command);
}

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static long size_of(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

static void refused(const char *path, int flags, const char *what)
{
  char why[GAB_RUN_FILE_WHY] = "";
  errno = 0;
  const int file = gab_run_file_open(path, flags, why);
  assert_int_equal(file, -1);
  assert_int_equal(errno, EPERM);
  assert_non_null(strstr(why, what));
}

static int opened(const char *path, int flags)
{
  char why[GAB_RUN_FILE_WHY] = "";
  const int file = gab_run_file_open(path, flags, why);
  if (file < 0) print_message("%s\n", why);
  assert_true(file >= 0);
  return file;
}

static void own_files_are_opened(void **state)
{
  (void)state;
  close(opened("out/new", O_WRONLY | O_CREAT | O_TRUNC));
  write_text("out/new", "12345");
  const int file = opened("out/new", O_WRONLY | O_CREAT | O_APPEND);
  assert_int_equal(write(file, "6", 1), 1);
  assert_int_equal(fcntl(file, F_GETFL) & (O_NONBLOCK | O_APPEND), O_APPEND);
  close(file);
  assert_int_equal(size_of("out/new"), 6);
  close(opened("out/new", O_WRONLY | O_TRUNC));
  assert_int_equal(size_of("out/new"), 0);
  char why[GAB_RUN_FILE_WHY];
  assert_int_equal(gab_run_file_open("not/there", O_WRONLY | O_CREAT, why), -1);
  assert_int_equal(errno, ENOENT);
  assert_non_null(strstr(why, "not/there"));
}

static void own_links_are_followed(void **state)
{
  (void)state;
  write_text("elsewhere", "12345");
  assert_int_equal(symlink("../elsewhere", "out/own"), 0);
  close(opened("out/own", O_WRONLY | O_CREAT | O_TRUNC));
  assert_int_equal(size_of("elsewhere"), 0);
  assert_int_equal(symlink("/dev/full", "out/full"), 0);
  close(opened("out/full", O_WRONLY | O_CREAT | O_TRUNC));
  char why[GAB_RUN_FILE_WHY];
  assert_int_equal(symlink("..", "out/folder"), 0);
  assert_true(gab_run_folder_is_safe("out/folder", why));
  assert_true(gab_run_folder_is_safe("out/missing", why));
}

static void foreign_links_are_refused(void **state)
{
  (void)state;
  if (geteuid() != 0) skip(); /* only root can act as another user */
  write_text("mine", "12345");
  assert_int_equal(symlink("../mine", "out/link"), 0);
  assert_int_equal(lchown("out/link", OTHER, OTHER), 0);
  refused("out/link", O_WRONLY | O_CREAT | O_TRUNC, "is a link of user 65534");
  refused("out/link", O_WRONLY | O_CREAT | O_APPEND, "is a link of user 65534");
  assert_int_equal(size_of("mine"), 5);
  char why[GAB_RUN_FILE_WHY] = "";
  assert_int_equal(symlink("..", "out/theirs"), 0);
  assert_int_equal(lchown("out/theirs", OTHER, OTHER), 0);
  assert_false(gab_run_folder_is_safe("out/theirs", why));
  assert_non_null(strstr(why, "out/theirs is a link of user 65534"));
}

static void second_names_are_refused_where_others_write(void **state)
{
  (void)state;
  write_text("mine", "12345");
  assert_int_equal(link("mine", "out/second"), 0);
  refused("out/second", O_WRONLY | O_CREAT | O_TRUNC, "has a second name");
  assert_int_equal(size_of("mine"), 5);
  assert_int_equal(chmod("out", 0755), 0);
  close(opened("out/second", O_WRONLY | O_CREAT | O_TRUNC)); /* links of the user */
  assert_int_equal(size_of("mine"), 0);
  assert_int_equal(chmod("out", 0777), 0);
}

static void foreign_files_are_refused(void **state)
{
  (void)state;
  if (geteuid() != 0) skip();
  write_text("out/theirs.csv", "12345");
  assert_int_equal(chown("out/theirs.csv", OTHER, OTHER), 0);
  refused("out/theirs.csv", O_RDWR | O_CREAT | O_TRUNC, "belongs to user 65534");
  assert_int_equal(size_of("out/theirs.csv"), 5);
  assert_int_equal(chown("out", OTHER, OTHER),
                   0); /* in a folder of the other user, e.g. shared with a group */
  close(opened("out/theirs.csv", O_RDWR | O_CREAT));
  assert_int_equal(mkfifo("out/pipe", 0666), 0);
  assert_int_equal(chown("out/pipe", OTHER, OTHER), 0);
  refused("out/pipe", O_RDWR | O_CREAT, "is not a regular file");
  assert_int_equal(chown("out", 0, 0), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(own_files_are_opened),
                                     cmocka_unit_test(own_links_are_followed),
                                     cmocka_unit_test(foreign_links_are_refused),
                                     cmocka_unit_test(second_names_are_refused_where_others_write),
                                     cmocka_unit_test(foreign_files_are_refused)};
  return cmocka_run_group_tests(tests, set_up, clear);
}
