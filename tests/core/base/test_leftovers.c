/* SPDX-License-Identifier: Apache-2.0 */
/* Segments and session folders of Open MPI that no process uses are removed; used ones are kept, also after their
 * descriptor was closed. */
/* gabion-test: labels=quick */
#include "core/system/leftovers.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096 };

static char place[] = "/dev/shm/gabion-leftovers-XXXXXX";

static int set_up(void **state)
{
  (void)state;
  return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int clear(void **state)
{
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", place);
  return system(command);
}

static void *map_segment(const char *name)
{
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  assert_true(file >= 0);
  assert_int_equal(ftruncate(file, BYTES), 0);
  void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  assert_true(memory != MAP_FAILED);
  close(file);
  return memory;
}

static bool is_there(const char *name) { return access(name, F_OK) == 0; }

static void what_is_mapped_stays(void **state)
{
  (void)state;
  void *memory = map_segment("sm_segment.host.0.1.0");
  assert_int_equal(gab_leftovers_sweep(place, "/no/such/folder"), 0);
  assert_true(is_there("sm_segment.host.0.1.0"));
  munmap(memory, BYTES);
  assert_int_equal(gab_leftovers_sweep(place, "/no/such/folder"), 1);
  assert_false(is_there("sm_segment.host.0.1.0"));
}

static void what_another_process_maps_stays_until_it_is_killed(void **state)
{
  (void)state;
  int ready[2];
  char byte;
  assert_int_equal(pipe(ready), 0);
  const pid_t other = fork();
  if (other == 0) {
    (void)map_segment("sm_segment.host.0.2.0");
    (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  assert_int_equal(gab_leftovers_sweep(place, "/no/such/folder"), 0);
  assert_true(is_there("sm_segment.host.0.2.0"));
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  assert_int_equal(gab_leftovers_sweep(place, "/no/such/folder"), 1);
  assert_false(is_there("sm_segment.host.0.2.0"));
}

static void other_files_stay(void **state)
{
  (void)state;
  munmap(map_segment("another"), BYTES);
  munmap(map_segment("target"), BYTES);
  assert_int_equal(symlink("target", "sm_segment.link"), 0);
  if (geteuid() == 0) {
    munmap(map_segment("sm_segment.theirs"), BYTES);
    assert_int_equal(chown("sm_segment.theirs", 65534, 65534), 0);
  }
  assert_int_equal(gab_leftovers_sweep(place, "/no/such/folder"), 0);
  assert_true(is_there("another") && is_there("target"));
  assert_int_equal(gab_leftovers_sweep("/no/such/folder", "/no/such/folder"), 0);
}

/* @return number of a process that has ended */
static long dead_process(void)
{
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  return (long)child;
}

/* Makes a session folder as a daemon does. @return its mapped file */
static void *make_session(const char *name)
{
  char path[128];
  assert_int_equal(mkdir(name, 0700), 0);
  snprintf(path, sizeof path, "%s/1", name);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/1/jobdata", name);
  munmap(map_segment(path), BYTES);
  snprintf(path, sizeof path, "%s/hwloc.sm", name);
  return map_segment(path);
}

static void sessions_of_dead_daemons_are_removed(void **state)
{
  (void)state;
  char dead[64], living[64], path[80];
  snprintf(dead, sizeof dead, "prterun.a.host.%ld.%ld", dead_process(), (long)geteuid());
  snprintf(living, sizeof living, "prted.host.%ld.%ld", (long)getpid(), (long)geteuid());
  void *mapped = make_session(dead);
  munmap(make_session(living), BYTES);
  assert_int_equal(gab_leftovers_sweep("/no/such/folder", place),
                   0); /* a file is mapped: of another container */
  munmap(mapped, BYTES);
  assert_int_equal(gab_leftovers_sweep("/no/such/folder", place), 1);
  assert_false(is_there(dead));
  assert_true(is_there(living));
  assert_int_equal(mkdir(dead, 0700), 0); /* its daemon did not get that far */
  snprintf(path, sizeof path, "%s/hwloc.xml", dead);
  munmap(map_segment(path), BYTES);
  assert_int_equal(gab_leftovers_sweep("/no/such/folder", place), 0);
  assert_true(is_there(path));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_mapped_stays),
                                     cmocka_unit_test(what_another_process_maps_stays_until_it_is_killed),
                                     cmocka_unit_test(other_files_stay),
                                     cmocka_unit_test(sessions_of_dead_daemons_are_removed)};
  return cmocka_run_group_tests(tests, set_up, clear);
}
