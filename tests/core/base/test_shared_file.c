/* SPDX-License-Identifier: Apache-2.0 */
/* Shared files: one process makes the data and all read it; a killed maker leaves nothing that is read; the last process removes the file,
 * and a killed one leaves it to the next; what is not safe or too large is not shared. */
/* gabion-test: labels=quick */
#include "core/system/shared_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 100000, READERS = 6, MADE = 1, READ = 2 };
static const double patience = 20;
static char place[] = "/tmp/gabion-shared-test-XXXXXX", folder[64];

static int set_up(void **state)
{
  (void)state;
  if (!mkdtemp(place)) return -1;
  snprintf(folder, sizeof folder, "%s/files", place);
  return setenv("GABION_SHARED_FILES", folder, 1);
}

static int clear(void **state)
{
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", place);
  return system(command);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static void fill(gab_shared_file *file, int value)
{
  void *space = gab_shared_file_reserve(file, BYTES);
  assert_non_null(space);
  memset(space, value, BYTES);
}

static bool has(const gab_shared_file *file, int value)
{
  const unsigned char *bytes = file->bytes;
  for (size_t i = 0; bytes && i < BYTES; i++)
    if (bytes[i] != value) return false;
  return bytes && file->count == BYTES;
}

/* In a child: makes or reads. */
static int make_or_read(int value)
{
  gab_shared_file file;
  const gab_shared_file_state found = gab_shared_file_open(&file, 7, patience);
  if (found == GAB_SHARED_FILE_TO_MAKE) {
    void *space = gab_shared_file_reserve(&file, BYTES);
    if (!space) return 0;
    memset(space, value, BYTES);
    usleep(100000); /* the others have to wait */
    gab_shared_file_publish(&file);
  }
  const bool fine = has(&file, value);
  usleep(200000);
  gab_shared_file_close(&file);
  return !fine ? 0 : found == GAB_SHARED_FILE_TO_MAKE ? MADE : READ;
}

static int code_of(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void one_process_makes_it_and_all_read_it(void **state)
{
  pid_t child[READERS];
  int codes[3] = {0};
  (void)state;
  for (int i = 0; i < READERS; i++)
    if ((child[i] = fork()) == 0) _exit(make_or_read(5));
  for (int i = 0; i < READERS; i++) {
    const int code = code_of(child[i]);
    assert_true(code == MADE || code == READ);
    codes[code]++;
  }
  assert_int_equal(codes[MADE], 1);
  assert_false(is_there(folder)); /* removed by the last one */
}

/* A child that stops in the middle, and is killed there. */
static pid_t start_and_wait(bool publishes)
{
  int ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    gab_shared_file file;
    if (gab_shared_file_open(&file, 7, patience) != GAB_SHARED_FILE_TO_MAKE) _exit(1);
    memset(gab_shared_file_reserve(&file, BYTES), 9, BYTES);
    if (publishes) gab_shared_file_publish(&file);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  close(ready[1]);
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  return child;
}

static void a_maker_that_is_killed_leaves_nothing_to_read(void **state)
{
  gab_shared_file file;
  (void)state;
  const pid_t child = start_and_wait(false);
  assert_int_equal(gab_shared_file_open(&file, 7, 0.05), GAB_SHARED_FILE_NONE); /* it works on it */
  kill(child, SIGKILL);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_TO_MAKE);
  (void)code_of(child);
  fill(&file, 4);
  gab_shared_file_publish(&file);
  assert_true(has(&file, 4));
  gab_shared_file_close(&file);
  assert_false(is_there(folder));
}

static void files_of_killed_processes_are_removed_and_used_ones_stay(void **state)
{
  gab_shared_file used, other;
  (void)state;
  const pid_t child = start_and_wait(true);
  assert_int_equal(gab_shared_file_open(&used, 7, patience), GAB_SHARED_FILE_READY);
  kill(child, SIGKILL);
  (void)code_of(child);
  assert_true(has(&used, 9)); /* it outlives its maker */
  assert_int_equal(gab_shared_file_sweep(), 0);
  assert_int_equal(gab_shared_file_open(&other, 7, patience), GAB_SHARED_FILE_READY);
  gab_shared_file_close(&other);
  assert_true(has(&used, 9) && is_there(folder));
  gab_shared_file_close(&used);
  assert_false(is_there(folder));
  const pid_t second = start_and_wait(true);
  kill(second, SIGKILL);
  (void)code_of(second);
  assert_int_equal(gab_shared_file_sweep(), 1);
  assert_false(is_there(folder));
  const pid_t third = start_and_wait(true);
  kill(third, SIGKILL);
  (void)code_of(third);
  assert_int_equal(gab_shared_file_open(&other, 8, patience),
                   GAB_SHARED_FILE_TO_MAKE); /* removes that of 7 */
  gab_shared_file_close(&other);
  assert_false(is_there(folder));
}

/* A refusal is published and closed at once: no process that waits makes it again. */
static void who_waits_reads_what_is_closed_at_once(void **state)
{
  gab_shared_file file;
  pid_t child[READERS];
  (void)state;
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_TO_MAKE);
  for (int i = 0; i < READERS; i++)
    if ((child[i] = fork()) == 0) _exit(make_or_read(3));
  usleep(300000);
  fill(&file, 3);
  gab_shared_file_publish(&file);
  gab_shared_file_close(&file);
  for (int i = 0; i < READERS; i++) assert_int_equal(code_of(child[i]), READ);
  assert_false(is_there(folder));
}

static void what_is_unsafe_or_too_large_is_not_shared(void **state)
{
  gab_shared_file file;
  struct rlimit limit, before;
  (void)state;
  assert_int_equal(mkdir(folder, 0755), 0);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_NONE);
  gab_shared_file_close(&file);
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(symlink(place, folder), 0);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_NONE);
  assert_int_equal(unlink(folder), 0);
  setenv("GABION_SHARED_FILES", "", 1);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_NONE);
  setenv("GABION_SHARED_FILES", "/no/such/folder/files", 1);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_NONE);
  setenv("GABION_SHARED_FILES", folder, 1);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = BYTES / 2;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_TO_MAKE);
  assert_null(gab_shared_file_reserve(&file, BYTES));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(gab_shared_file_open(&file, 7, patience), GAB_SHARED_FILE_TO_MAKE);
  assert_null(gab_shared_file_reserve(&file, PTRDIFF_MAX / 2)); /* a full disk */
  assert_false(is_there(folder));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_process_makes_it_and_all_read_it),
      cmocka_unit_test(a_maker_that_is_killed_leaves_nothing_to_read),
      cmocka_unit_test(files_of_killed_processes_are_removed_and_used_ones_stay),
      cmocka_unit_test(who_waits_reads_what_is_closed_at_once),
      cmocka_unit_test(what_is_unsafe_or_too_large_is_not_shared),
  };
  return cmocka_run_group_tests(tests, set_up, clear);
}
