/* SPDX-License-Identifier: Apache-2.0 */
/* Available memory by machine and control groups, on simulated machines made of files. */
/* gabion-test: labels=quick */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "core/memory/system_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char root[] = "/tmp/gabion-system-XXXXXX";

static int make_root(void **state)
{
  (void)state;
  if (!mkdtemp(root)) return -1;
  return setenv("GABION_SYSTEM", root, 1);
}

static int remove_root(void **state)
{
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command);
}

static void put(const char *path, const char *text)
{
  char command[512], full[256];
  snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s/%s')\"", root, path);
  assert_int_equal(system(command), 0);
  snprintf(full, sizeof full, "%s/%s", root, path);
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void a_system_that_says_nothing_is_not_known(void **state)
{
  (void)state;
  const gab_system_memory seen = gab_system_memory_look();
  assert_false(seen.known);
  assert_int_equal(seen.available, 0);
}

static void without_groups_the_machine_decides(void **state)
{
  (void)state;
  put("proc/meminfo", "MemTotal:       24576000 kB\nMemFree:  1 kB\nMemAvailable:   20000000 kB\n");
  put("proc/vmstat", "nr_free_pages 17\noom_kill 3\n");
  put("proc/self/cgroup", "0::/\n");
  gab_system_memory seen = gab_system_memory_look();
  assert_true(seen.known);
  assert_int_equal(seen.available, 20000000ULL * 1024);
  assert_int_equal(seen.limit, 0);
  assert_int_equal(seen.killed, 0); /* of which process is unknown */
}

static void the_narrowest_group_above_decides(void **state)
{
  (void)state;
  put("proc/self/cgroup", "0::/jobs/17/step\n");
  put("sys/fs/cgroup/jobs/17/step/memory.max", "max\n");
  put("sys/fs/cgroup/jobs/17/step/memory.current", "1\n");
  put("sys/fs/cgroup/jobs/17/memory.max", "8000000000\n");
  put("sys/fs/cgroup/jobs/17/memory.current", "3000000000\n");
  put("sys/fs/cgroup/jobs/17/memory.stat", "anon 5\ninactive_file 1000000000\n");
  put("sys/fs/cgroup/jobs/memory.max", "16000000000\n");
  put("sys/fs/cgroup/jobs/memory.current", "4000000000\n");
  put("sys/fs/cgroup/jobs/17/step/memory.events", "low 0\noom 7\noom_kill 5\n");
  put("sys/fs/cgroup/jobs/17/memory.events", "low 0\noom 8\noom_kill 6\n"); /* of another job step */
  const gab_system_memory seen = gab_system_memory_look();
  assert_int_equal(seen.available, 6000000000ULL);
  assert_int_equal(seen.limit, 8000000000ULL);
  assert_int_equal(seen.killed, 5);
}

static void groups_of_the_first_version_count_too(void **state)
{
  (void)state;
  put("proc/self/cgroup", "5:cpu,memory:/batch\n0::/\n");
  put("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "2000000000\n");
  put("sys/fs/cgroup/memory/batch/memory.usage_in_bytes", "2500000000\n");
  put("sys/fs/cgroup/memory/batch/memory.stat", "inactive_file 9\ntotal_inactive_file 700000000\n");
  put("sys/fs/cgroup/memory/batch/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 11\n");
  const gab_system_memory seen = gab_system_memory_look();
  assert_int_equal(seen.available, 200000000ULL);
  assert_int_equal(seen.limit, 2000000000ULL);
  assert_int_equal(seen.killed, 11);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_system_that_says_nothing_is_not_known),
      cmocka_unit_test(without_groups_the_machine_decides),
      cmocka_unit_test(the_narrowest_group_above_decides),
      cmocka_unit_test(groups_of_the_first_version_count_too),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
