/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "core/memory/node_memory.h"

#include "core/memory/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char top[64], folder[80];
static const gab_memory_key key = {{3, 4}}, other_key = {{3, 5}};

static int files(void)
{
  int count = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) count += entry->d_name[0] != '.';
  if (entries) closedir(entries);
  return count;
}

/* In a separate process, since it can name a folder only once, and dies. */
static pid_t leave(const char *text, size_t bytes, bool killed)
{
  pid_t child = fork();
  if (child == 0) {
    void *memory = NULL, *other = NULL;
    if (gab_node_memory_open(top, "here", key) != GAB_OK ||
        gab_alloc(100, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK ||
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
  strcpy(top, "/tmp/gabion-test-XXXXXX");
  if (!mkdtemp(top)) return -1;
  snprintf(folder, sizeof folder, "%s/here", top);
  return mkdir(folder, 0700);
}

static int remove_folder(void **state)
{
  (void)state;
  return rmdir(folder) || rmdir(top);
}

static void what_a_killed_process_held_is_found_once(void **state)
{
  (void)state;
  gab_left_memory first, second;
  end_of(leave("state of rank 3", 10000, true), true);
  assert_int_equal(files(), 1);
  assert_int_equal(gab_node_memory_claim(folder, key, &first), GAB_OK);
  assert_non_null(first.mapped);
  assert_true(first.content_bytes >= 10000);
  assert_string_equal((const char *)first.content, "state of rank 3");
  assert_int_equal(gab_node_memory_claim(folder, key, &second), GAB_OK);
  assert_null(second.mapped);
  gab_left_memory_release(&first, true);
  assert_int_equal(files(), 0);
}

static void files_without_content_do_not_hide_the_others(void **state)
{
  (void)state;
  char path[200];
  gab_left_memory left;
  for (int i = 0; i < 8; i++) { /* of a process that cannot exist: pids are smaller */
    snprintf(path, sizeof path, "%s/99999999-%d-5.mem", folder, i);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
  }
  end_of(leave("here", 5000, true), true);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_non_null(left.mapped);
  assert_string_equal((const char *)left.content, "here");
  gab_left_memory_release(&left, true);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
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
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion must not leave it running */
    if (gab_node_memory_open(top, "here", key) != GAB_OK ||
        gab_alloc(9000, GAB_MEMORY_SNAPSHOT, &memory) != GAB_OK)
      _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  assert_int_equal(files(), 1);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_null(left.mapped);
  kill(child, SIGKILL);
  end_of(child, true);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
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
    bool fine = gab_node_memory_open(top, "here", key) == GAB_OK &&
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
  assert_int_equal(gab_node_memory_open("/nowhere/at/all", "here", key), GAB_ERR_IO);
  assert_int_equal(gab_node_memory_open("/tmp", "../here", key), GAB_ERR_INPUT);
  gab_left_memory left;
  assert_int_equal(gab_node_memory_claim("/nowhere/at/all", key, &left), GAB_OK);
  assert_null(left.mapped);
}

static void what_another_run_has_left_is_not_taken(void **state)
{
  (void)state;
  gab_left_memory left;
  end_of(leave("of another run", 5000, true), true);
  assert_int_equal(gab_node_memory_claim(folder, other_key, &left), GAB_OK);
  assert_null(left.mapped);
  assert_int_equal(left.refused, 1);
  assert_int_equal(files(), 0);
}

/* Another user who knows the folder has put files there: copies writable by others, links, hard links, a pipe. */
static void what_is_not_this_users_alone_is_not_taken(void **state)
{
  (void)state;
  char here[200], there[200];
  gab_left_memory left;
  end_of(leave("genuine", 5000, true), true);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_non_null(left.mapped);
  snprintf(there, sizeof there, "%s/%s", folder, left.name);
  gab_left_memory_release(&left, false);
  snprintf(here, sizeof here, "%s/elsewhere", top);
  assert_int_equal(rename(there, here), 0);
  snprintf(there, sizeof there, "%s/99999999-1-5.mem", folder);
  assert_int_equal(symlink(here, there), 0);
  snprintf(there, sizeof there, "%s/99999999-2-5.mem", folder);
  assert_int_equal(mkfifo(there, 0600), 0);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_null(left.mapped);
  assert_int_equal(left.refused, 2);
  snprintf(there, sizeof there, "%s/99999999-3-5.mem", folder);
  assert_int_equal(link(here, there), 0);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_null(left.mapped);
  assert_int_equal(left.refused, 3);
  assert_int_equal(unlink(here), 0); /* the only name now, but accessible to others */
  assert_int_equal(chmod(there, 0644), 0);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_null(left.mapped);
  assert_int_equal(chmod(there, 0600), 0);
  if (geteuid() == 0) {
    assert_int_equal(chown(there, 65534, 65534), 0);
    assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
    assert_null(left.mapped);
    assert_int_equal(left.refused, 3);
    assert_int_equal(chown(there, 0, 0), 0);
  }
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_OK);
  assert_string_equal((const char *)left.content, "genuine");
  gab_left_memory_release(&left, true);
  for (int i = 1; i <= 2; i++) {
    snprintf(there, sizeof there, "%s/99999999-%d-5.mem", folder, i);
    assert_int_equal(unlink(there), 0);
  }
}

/* A folder that is accessible to others, belongs to another user, or is a link to an own one. */
static void a_folder_that_is_not_this_users_alone_is_refused(void **state)
{
  (void)state;
  char way[200];
  gab_left_memory left;
  snprintf(way, sizeof way, "%s.link", top);
  assert_int_equal(symlink(top, way), 0);
  assert_int_equal(gab_node_memory_open(way, "here", key), GAB_ERR_IO);
  assert_int_equal(unlink(way), 0);
  assert_int_equal(chmod(top, 0711), 0);
  assert_int_equal(gab_node_memory_open(top, "here", key), GAB_ERR_IO);
  assert_int_equal(chmod(top, 0700), 0);
  assert_int_equal(chmod(folder, 0750), 0);
  assert_int_equal(gab_node_memory_open(top, "here", key), GAB_ERR_IO);
  assert_int_equal(gab_node_memory_claim(folder, key, &left), GAB_ERR_IO);
  assert_int_equal(chmod(folder, 0700), 0);
  if (geteuid() != 0) return;
  assert_int_equal(chown(top, 65534, 65534), 0);
  assert_int_equal(gab_node_memory_open(top, "here", key), GAB_ERR_IO);
  assert_int_equal(chown(top, 0, 0), 0);
}

/* Of two processes that end normally, only the last one also removes files of a dead one. */
static void the_last_one_removes_everything(void **state)
{
  (void)state;
  int ready[2], go[2];
  char byte = 0;
  end_of(leave("left", 5000, true), true);
  assert_true(pipe(ready) == 0 && pipe(go) == 0);
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool fine = gab_node_memory_open(top, "here", key) == GAB_OK && write(ready[1], "x", 1) == 1 &&
                      read(go[0], &byte, 1) == 1;
    gab_node_memory_close(true);
    _exit(!fine);
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  const pid_t first = fork();
  if (first == 0) {
    const bool fine = gab_node_memory_open(top, "here", key) == GAB_OK;
    gab_node_memory_close(true);
    _exit(!fine);
  }
  end_of(first, false);
  assert_int_equal(files(), 1);
  assert_int_equal(write(go[1], "x", 1), 1);
  end_of(other, false);
  assert_int_equal(access(top, F_OK), -1);
  for (int i = 0; i < 2; i++) close(ready[i]), close(go[i]);
  assert_true(mkdir(top, 0700) == 0 && mkdir(folder, 0700) == 0); /* for the tear-down */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_a_killed_process_held_is_found_once, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(files_without_content_do_not_hide_the_others, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(what_is_released_leaves_no_file, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(memory_of_a_living_process_is_not_taken, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_full_place_is_an_error_and_no_signal, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_another_run_has_left_is_not_taken, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(what_is_not_this_users_alone_is_not_taken, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_folder_that_is_not_this_users_alone_is_refused, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(the_last_one_removes_everything, make_folder, remove_folder),
      cmocka_unit_test(a_place_that_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
