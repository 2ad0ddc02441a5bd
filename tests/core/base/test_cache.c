/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
/* Parses the description of a machine's caches: the last level counts, divided by the processors that share it. */
#include "core/system/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/gabion-cache-XXXXXX";

static void write_file(int index, const char *name, const char *text)
{
  char path[256];
  snprintf(path, sizeof path, "%s/index%d", folder, index);
  (void)mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void cache(int index, const char *level, const char *size, const char *sharers)
{
  write_file(index, "level", level);
  write_file(index, "size", size);
  write_file(index, "shared_cpu_list", sharers);
}

static void the_last_cache_counts_by_its_sharers(void **state)
{
  (void)state;
  assert_true(gab_cache_share_in(folder) == 0);
  cache(0, "1\n", "32K\n", "0\n");
  assert_true(gab_cache_share_in(folder) == 32 << 10);
  cache(3, "3\n", "32768K\n", "0-6,9,12-13\n"); /* ten */
  cache(2, "2\n", "1M\n", "0-1\n");
  assert_true(gab_cache_share_in(folder) == (32768u << 10) / 10);
  cache(3, "3\n", "32768K\n", "\n"); /* none: no division by zero */
  assert_true(gab_cache_share_in(folder) == 512 << 10);
  cache(3, "3\n", "words\n", "0\n");
  assert_true(gab_cache_share_in(folder) == 512 << 10);
}

static void there_is_always_some(void **state)
{
  (void)state;
  assert_true(gab_cache_share() > 0);
  assert_true(gab_cache_share() == gab_cache_share());
}

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  (void)state;
  static const char *const names[] = {"level", "size", "shared_cpu_list"};
  char path[256];
  for (int index = 0; index < 4; index++) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      snprintf(path, sizeof path, "%s/index%d/%s", folder, index, names[i]);
      (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/index%d", folder, index);
    (void)rmdir(path);
  }
  return rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_cache_counts_by_its_sharers),
                                     cmocka_unit_test(there_is_always_some)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
