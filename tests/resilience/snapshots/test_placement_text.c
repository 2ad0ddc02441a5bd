/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says of a placement: of schemes with a function for the holder, too, which may leave some image without a copy. */
/* gabion-test: labels=quick */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "resilience/schemes/placement.h"

static int all_others(int32_t count) { return count - 1; }

/* Everything at the first, which keeps its own. */
static int32_t at_the_first(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  (void)places, (void)place, (void)copy, (void)copies;
  return 0;
}

/* The first gives all of its copies to the next one, the others theirs to different ones. */
static int32_t mostly_spread(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  (void)copies;
  return (place + 1 + (place == 0 ? 0 : copy)) % places->count;
}

static int32_t next_one(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  (void)copies;
  return (place + 1 + copy) % places->count;
}

static const gab_scheme hoard = {
    .name = "hoard", .doc = "at the first", .most_copies = all_others, .holder = at_the_first};
static const gab_scheme spread = {
    .name = "spread", .doc = "mostly", .most_copies = all_others, .holder = mostly_spread};
static const gab_scheme next = {
    .name = "next", .doc = "the next ones", .most_copies = all_others, .holder = next_one};

static void says(const gab_scheme *scheme, int copies, int32_t ranks, const char *expected)
{
  gab_members members;
  gab_placement placement;
  const gab_redundancy asked = {.scheme = scheme, .copies = copies};
  char text[1024];
  gab_members_init(&members, ranks);
  gab_placement_init(&placement);
  assert_int_equal(gab_placement_make(&placement, &asked, &members, NULL), GAB_OK);
  assert_string_equal(gab_placement_describe(&placement, text, sizeof text), expected);
  gab_placement_release(&placement);
  gab_members_release(&members);
}

static void schemes_say_what_they_survive(void **state)
{
  (void)state;
  says(&gab_scheme_pairwise, 1, 4, "pairwise: 1 copy of each image; any 1 rank can be lost");
  says(&gab_scheme_ring, 2, 4, "ring: 2 copies of each image; any 2 ranks can be lost");
  says(&gab_scheme_none, 1, 4, "none: 0 copies of each image; no death is survived");
}

static void schemes_with_holders_say_no_more_than_is_true(void **state)
{
  (void)state;
  says(&next, 2, 4,
       "next: 2 copies of each image; any 2 ranks can be lost; more only if a copy of each image is left");
  says(
      &spread, 2, 4,
      "spread: up to 2 copies of each image; any 1 rank can be lost; more only if a copy of each image is left");
  says(&hoard, 1, 4,
       "hoard: up to 1 copy of each image; some ranks have none, and their death is not survived");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schemes_say_what_they_survive),
      cmocka_unit_test(schemes_with_holders_say_no_more_than_is_true),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
