#include "core/node_memory.h"

#include "core/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int files(void)
{
  int count = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) count += entry->d_name[0] != '.';
  if (entries) closedir(entries);
  return count;
}

/* In a process of its own: it can name a folder only once, and dies. */
static pid_t leave(const char *text, size_t bytes, bool killed)
{
  pid_t child = fork();
  if (child == 0) {
    void *memory = NULL, *other = NULL;
    if (gab_node_memory_open(folder) != GAB_OK || gab_alloc(100, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK ||
        gab_realloc(bytes, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK ||
        gab_alloc(bytes, GAB_MEMORY_FIELD, &other) != GAB_OK)
      _exit(1);
    memcpy(memory, text, strlen(text) + 1);
    if (killed) kill(getpid(), SIGKILL);
    gab_free(&memory);
    gab_free(&other);
    _exit(0);
  }
  return child;
}

static void end_of(pid_t child, bool killed)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(WIFSIGNALED(status), killed);
  if (!killed) assert_int_equal(WEXITSTATUS(status), 0);
}

static int make_folder(void **state)
{
  (void)state;
  strcpy(folder, "/tmp/gabion-node-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  (void)state;
  return rmdir(folder);
}

static void what_a_killed_process_held_is_found_once(void **state)
{
  (void)state;
  gab_left_memory first, second;
  end_of(leave("state of slot 3", 10000, true), true);
  assert_int_equal(files(), 1);
  assert_int_equal(gab_node_memory_claim(folder, &first), GAB_OK);
  assert_non_null(first.mapped);
  assert_true(gab_reader_left(&first.content) >= 10000);
  assert_string_equal((const char *)first.content.at, "state of slot 3");
  assert_int_equal(gab_node_memory_claim(folder, &second), GAB_OK);
  assert_null(second.mapped);
  gab_left_memory_release(&first, true);
  assert_int_equal(files(), 0);
}

static void files_without_content_do_not_hide_the_others(void **state)
{
  (void)state;
  char path[200];
  gab_left_memory left;
  for (int i = 0; i < 8; i++) { /* of a process that cannot be: pids are smaller */
    snprintf(path, sizeof path, "%s/99999999-%d-5.mem", folder, i);
    fclose(fopen(path, "w"));
  }
  end_of(leave("here", 5000, true), true);
  assert_int_equal(gab_node_memory_claim(folder, &left), GAB_OK);
  assert_non_null(left.mapped);
  assert_string_equal((const char *)left.content.at, "here");
  gab_left_memory_release(&left, true);
  assert_int_equal(gab_node_memory_claim(folder, &left), GAB_OK);
  assert_null(left.mapped);
  assert_int_equal(files(), 0);
}

static void what_is_released_leaves_no_file(void **state)
{
  (void)state;
  end_of(leave("gone", 10000, false), false);
  assert_int_equal(files(), 0);
}

static void memory_of_a_living_process_is_not_taken(void **state)
{
  (void)state;
  int ready[2];
  char byte = 0;
  gab_left_memory left;
  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    void *memory = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion must not leave it behind */
    if (gab_node_memory_open(folder) != GAB_OK || gab_alloc(9000, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK) _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  assert_int_equal(files(), 1);
  assert_int_equal(gab_node_memory_claim(folder, &left), GAB_OK);
  assert_null(left.mapped);
  kill(child, SIGKILL);
  end_of(child, true);
  assert_int_equal(gab_node_memory_claim(folder, &left), GAB_OK);
  assert_non_null(left.mapped);
  gab_left_memory_release(&left, true);
  close(ready[0]);
  close(ready[1]);
}

static void a_full_place_is_an_error_and_no_signal(void **state)
{
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    void *memory = NULL;
    bool fine = gab_node_memory_open(folder) == GAB_OK &&
                gab_alloc((size_t)1 << 50, GAB_MEMORY_SNAPSHOT, &memory) == GAB_ERR_MEMORY && !memory &&
                gab_alloc(8192, GAB_MEMORY_SNAPSHOT, &memory) == GAB_OK;
    gab_free(&memory);
    _exit(!fine);
  }
  end_of(child, false);
  assert_int_equal(files(), 0);
}

static void a_place_that_cannot_be_is_refused(void **state)
{
  (void)state;
  assert_int_equal(gab_node_memory_open("/nowhere/at/all"), GAB_ERR_IO);
  gab_left_memory left;
  assert_int_equal(gab_node_memory_claim("/nowhere/at/all", &left), GAB_OK);
  assert_null(left.mapped);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_a_killed_process_held_is_found_once, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(files_without_content_do_not_hide_the_others, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_is_released_leaves_no_file, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(memory_of_a_living_process_is_not_taken, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_full_place_is_an_error_and_no_signal, make_folder, remove_folder),
      cmocka_unit_test(a_place_that_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
