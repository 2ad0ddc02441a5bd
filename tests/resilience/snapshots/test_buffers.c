/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* What a parameter file says about the snapshots that fit into memory: the number that is asked for; else one where no process
 * keeps anything of another and nothing else needs an older one; else two. */
#include "core/config/config.h"
#include "resilience/resilience_config.h"
#include "resilience/schemes/scheme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Of the first process of so many. */
static int buffers(const char *text, int32_t processes)
{
  gab_config *config;
  gab_redundancy redundancy;
  gab_members all;
  gab_placement placement;
  char whole[512];
  snprintf(whole, sizeof whole, "resilience: {%s}", text);
  assert_int_equal(gab_config_create(&config), GAB_OK);
  assert_int_equal(gab_resilience_declare(config), GAB_OK);
  assert_int_equal(gab_config_load_text(config, "case.yaml", whole, strlen(whole)), GAB_OK);
  assert_int_equal(gab_config_check(config), GAB_OK);
  assert_int_equal(gab_resilience_redundancy(config, &redundancy), GAB_OK);
  gab_members_init(&all, processes);
  gab_placement_init(&placement);
  assert_int_equal(gab_placement_make(&placement, &redundancy, &all, NULL), GAB_OK);
  const int count = gab_resilience_buffers(config, &placement);
  gab_placement_release(&placement);
  gab_members_release(&all);
  gab_config_destroy(&config);
  return count;
}

static void two_where_processes_keep_something_of_others(void **state)
{
  (void)state;
  assert_int_equal(buffers("memory: {every: 10}", 4), 2);
  assert_int_equal(buffers("scheme: parity", 4), 2);
  assert_int_equal(buffers("memory: {buffers: 1}", 4), 1);
}

static void one_where_they_do_not(void **state)
{
  (void)state;
  assert_int_equal(buffers("memory: {every: 10}", 1), 1);
  assert_int_equal(buffers("scheme: none", 4), 1);
  assert_int_equal(buffers("scheme: none, strategies: [shrink], scrub: never, disk: {every: never}", 4), 1);
  assert_int_equal(buffers("scheme: none, memory: {buffers: 2}", 4), 2);
}

static void two_where_an_older_one_may_be_needed(void **state)
{
  (void)state;
  static const char *const wants[] = {"scrub: 5",
                                      "monitors: [mass]",
                                      "disk: {every: 20}",
                                      "disk: {every: 10 min}",
                                      "strategies: [shrink, reconstruct]",
                                      "strategies: [local, spare]"};
  for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
    char text[256];
    snprintf(text, sizeof text, "scheme: none, %s", wants[i]);
    assert_int_equal(buffers(text, 4), 2);
    snprintf(text, sizeof text, "scheme: none, memory: {buffers: 1}, %s", wants[i]);
    assert_int_equal(buffers(text, 4), 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_where_processes_keep_something_of_others),
                                     cmocka_unit_test(one_where_they_do_not),
                                     cmocka_unit_test(two_where_an_older_one_may_be_needed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
