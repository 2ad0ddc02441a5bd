/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* The version of headers and library: comparable in #if, equal, and checked when the world is created. */
#include "core/base/status.h"
#include "core/base/version.h"
#include "core/world/alone.h"
#include "core/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if !GABION_VERSION_AT_LEAST(0, 2, 0)
#error "GABION_VERSION_AT_LEAST must work in #if"
#endif

static void versions_are_ordered(void **state)
{
  (void)state;
  const int major = GABION_VERSION_MAJOR, minor = GABION_VERSION_MINOR, patch = GABION_VERSION_PATCH;
  assert_true(GABION_VERSION_AT_LEAST(major, minor, patch));
  assert_false(GABION_VERSION_AT_LEAST(major, minor, patch + 1));
  assert_false(GABION_VERSION_AT_LEAST(major, minor + 1, 0));
  assert_false(GABION_VERSION_AT_LEAST(major + 1, 0, 0));
  assert_true(GABION_VERSION_AT_LEAST(major, minor - 1, patch + 1));
  assert_true(GABION_VERSION_AT_LEAST(major - 1, minor + 1, patch + 1));
}

static void library_has_the_version_of_its_headers(void **state)
{
  (void)state;
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", GABION_VERSION_MAJOR, GABION_VERSION_MINOR, GABION_VERSION_PATCH);
  assert_string_equal(gab_version(), text);
}

/* Last test, since its result persists. */
static void headers_of_another_version_are_refused(void **state)
{
  (void)state;
  gab_world *world = NULL;
  gab_version_record_headers(GABION_VERSION_MAJOR, GABION_VERSION_MINOR);
  assert_int_equal(gab_world_create_alone(&world), GAB_OK);
  gab_world_destroy(&world);
#undef GABION_VERSION_MINOR
#define GABION_VERSION_MINOR 99
  assert_int_equal(gab_world_create(NULL, NULL, &world), GAB_ERR_STATE);
  assert_null(world);
  char both[64];
  snprintf(both, sizeof both, "headers of Gabion %d.99, the library is version %s", GABION_VERSION_MAJOR,
           gab_version());
  assert_non_null(strstr(gab_error_message(), both));
  /* Later calls with matching headers do not clear it. */
  assert_int_equal((gab_world_create)(NULL, NULL, &world), GAB_ERR_STATE);
  assert_null(world);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_are_ordered),
      cmocka_unit_test(library_has_the_version_of_its_headers),
      cmocka_unit_test(headers_of_another_version_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
