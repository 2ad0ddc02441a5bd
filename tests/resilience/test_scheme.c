/* Redundancy schemes as pure functions. */
#include "resilience/scheme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

enum { MOST_MEMBERS = 40 };

static void copies_of_a_member_lie_at_different_others(void **state)
{
  (void)state;
  for (int s = 0; gab_scheme_at(s); s++) {
    const gab_scheme *scheme = gab_scheme_at(s);
    for (int32_t count = 1; count <= MOST_MEMBERS; count++) {
      int copies = gab_scheme_copies(scheme, count, MOST_MEMBERS);
      for (int32_t i = 0; i < count; i++) {
        bool seen[MOST_MEMBERS] = {false};
        seen[i] = true; /* never the member itself */
        for (int k = 0; k < copies; k++) {
          int32_t holder = scheme->holder(i, count, k, copies);
          assert_in_range(holder, 0, count - 1);
          assert_false(seen[holder]);
          seen[holder] = true;
        }
      }
    }
  }
}

static void pairwise_with_an_even_number_makes_pairs(void **state)
{
  (void)state;
  for (int32_t count = 2; count <= MOST_MEMBERS; count += 2)
    for (int32_t i = 0; i < count; i++) {
      int32_t partner = gab_scheme_pairwise.holder(i, count, 0, 1);
      assert_int_equal(gab_scheme_pairwise.holder(partner, count, 0, 1), i);
    }
}

static void every_member_keeps_as_many_images_as_it_gives(void **state)
{
  (void)state;
  for (int s = 0; gab_scheme_at(s); s++)
    for (int32_t count = 1; count <= MOST_MEMBERS; count++)
      for (int copies = 0; copies <= gab_scheme_copies(gab_scheme_at(s), count, 3); copies++) {
        int kept[MOST_MEMBERS] = {0};
        for (int32_t i = 0; i < count; i++)
          for (int k = 0; k < copies; k++) kept[gab_scheme_at(s)->holder(i, count, k, copies)]++;
        for (int32_t i = 0; i < count; i++) assert_int_equal(kept[i], copies);
      }
}

/* Kills every pair of members of every set of survivors of one earlier death. */
static void as_many_deaths_as_copies_are_always_survived(void **state)
{
  (void)state;
  const gab_scheme *schemes[] = {&gab_scheme_pairwise, &gab_scheme_ring};
  for (int s = 0; s < 2; s++)
    for (int32_t count = 3; count <= 12; count++)
      for (gab_slot a = 0; a < count; a++)
        for (gab_slot b = 0; b < count; b++) {
          gab_members then, now;
          gab_members_init(&then, count);
          gab_members_init(&now, count);
          assert_int_equal(gab_members_remove(&now, a), GAB_OK);
          assert_int_equal(gab_members_remove(&now, b), GAB_OK);
          gab_slot restorer = gab_scheme_restorer(schemes[s], 2, &then, &now, a);
          assert_true(gab_members_has(&now, restorer));
          gab_members_release(&now);
          gab_members_release(&then);
        }
}

static void the_living_restore_themselves_and_the_wholly_lost_nobody(void **state)
{
  (void)state;
  gab_members then, now;
  gab_members_init(&then, 6);
  assert_int_equal(gab_members_remove(&then, 5), GAB_OK); /* slots 0 … 4: copies at the one two further */
  gab_members_init(&now, 6);
  for (gab_slot gone = 5; gone > 0; gone -= 2) assert_int_equal(gab_members_remove(&now, gone), GAB_OK);
  assert_int_equal(gab_scheme_restorer(&gab_scheme_pairwise, 1, &then, &now, 0), 0);
  assert_int_equal(gab_scheme_restorer(&gab_scheme_pairwise, 1, &then, &now, 1),
                   GAB_NO_SLOT); /* 3 is gone too */
  assert_int_equal(gab_scheme_restorer(&gab_scheme_pairwise, 2, &then, &now, 1), 4);
  assert_int_equal(gab_scheme_restorer(&gab_scheme_pairwise, 1, &then, &now, 3), 0);
  assert_int_equal(gab_scheme_restorer(&gab_scheme_pairwise, 1, &then, &now, 5), GAB_NO_SLOT);
  gab_members_release(&now);
  gab_members_release(&then);
}

static int32_t before(int32_t index, int32_t count, int copy, int copies)
{
  (void)copies;
  return (index + count - 1 - copy) % count;
}
static int one(int32_t count) { return count > 1; }

static void a_user_registers_a_scheme_under_a_new_name_only(void **state)
{
  (void)state;
  static const gab_scheme mine = {.name = "before", .doc = "test", .holder = before, .most_copies = one};
  assert_null(gab_scheme_by_name("before"));
  assert_non_null(strstr(gab_error_message(), "pairwise"));
  assert_int_equal(gab_scheme_register(&mine), GAB_OK);
  assert_ptr_equal(gab_scheme_by_name("before"), &mine);
  assert_int_equal(gab_scheme_register(&mine), GAB_ERR_ARGUMENT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_of_a_member_lie_at_different_others),
      cmocka_unit_test(pairwise_with_an_even_number_makes_pairs),
      cmocka_unit_test(every_member_keeps_as_many_images_as_it_gives),
      cmocka_unit_test(as_many_deaths_as_copies_are_always_survived),
      cmocka_unit_test(the_living_restore_themselves_and_the_wholly_lost_nobody),
      cmocka_unit_test(a_user_registers_a_scheme_under_a_new_name_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
