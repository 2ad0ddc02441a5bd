/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Clusters from resilience.local.clusters, as a function of the rank. */
#include "resilience/local/local_division_impl.h"
#include "resilience/schemes/domains_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void expect(const gab_division *division, const gab_members *members, const gab_domains *nodes,
                   const int *same_as)
{
  for (int32_t a = 0; a < gab_members_count(members); a++)
    for (int32_t b = 0; b < gab_members_count(members); b++) {
      const bool together = gab_division_cluster(division, members, nodes, (gab_rank)a) ==
                            gab_division_cluster(division, members, nodes, (gab_rank)b);
      assert_int_equal(together, same_as[a] == same_as[b]);
    }
}

static gab_division parsed(const char *text)
{
  gab_division division;
  assert_int_equal(gab_division_parse(text, &division), GAB_OK);
  return division;
}

static void left_out_or_rank_is_each_alone(void **state)
{
  (void)state;
  gab_members members;
  gab_members_init(&members, 5);
  const gab_division none = parsed(NULL), rank = parsed("rank");
  assert_int_equal(none.kind, GAB_DIVISION_RANK);
  expect(&rank, &members, NULL, (int[]){0, 1, 2, 3, 4});
  gab_members_release(&members);
}

static void a_number_is_so_many_ranges(void **state)
{
  (void)state;
  gab_members members;
  gab_members_init(&members, 7);
  const gab_division one = parsed("1"), three = parsed("3"), seven = parsed("7");
  expect(&one, &members, NULL, (int[]){0, 0, 0, 0, 0, 0, 0});
  expect(&three, &members, NULL, (int[]){0, 0, 0, 1, 1, 2, 2});
  expect(&seven, &members, NULL, (int[]){0, 1, 2, 3, 4, 5, 6});
  gab_members_release(&members);
}

/* Nine processes on three nodes, round robin; the last two are spares. */
static void a_node_is_that_of_the_process(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "b", "c", "a", "b", "c", "a", "b", "c"};
  gab_members members;
  gab_domains *nodes;
  gab_members_init(&members, 7);
  assert_int_equal(gab_domains_from_names(names, 9, &nodes), GAB_OK);
  const gab_division node = parsed("node");
  expect(&node, &members, nodes, (int[]){0, 1, 2, 0, 1, 2, 0});
  assert_int_equal(gab_members_remove(&members, 0), GAB_OK);
  assert_int_equal(gab_members_return(&members, 0, 7), GAB_OK); /* now on node b */
  expect(&node, &members, nodes, (int[]){1, 1, 2, 0, 1, 2, 0});
  gab_domains_destroy(&nodes);
  gab_members_release(&members);
}

/* The file names ranks, not places: the first of four is lost. */
static void a_file_names_ranks(void **state)
{
  (void)state;
  gab_members members;
  gab_division division = parsed("clusters.txt");
  assert_int_equal(division.kind, GAB_DIVISION_FILE);
  assert_int_equal(gab_domains_parse("clusters.txt", "x: 0 3\ny: 1-2\n", 4, 0, &division.file), GAB_OK);
  gab_members_init(&members, 4);
  expect(&division, &members, NULL, (int[]){0, 1, 1, 0});
  assert_int_equal(gab_members_remove(&members, 0), GAB_OK);
  expect(&division, &members, NULL, (int[]){1, 1, 0});
  gab_division_release(&division);
  gab_members_release(&members);
}

static void what_cannot_be_is_refused(void **state)
{
  (void)state;
  gab_division division;
  assert_int_equal(gab_division_parse("0", &division), GAB_ERR_INPUT);
  assert_int_equal(gab_division_parse("-2", &division), GAB_ERR_INPUT);
  assert_int_equal(gab_division_parse("99999999999999999999", &division), GAB_ERR_INPUT);
  assert_int_equal(gab_division_check("9", 8, 2), GAB_ERR_INPUT);
  assert_int_equal(gab_division_check("8", 8, 2), GAB_OK);
  assert_int_equal(gab_division_check("node", 8, 2), GAB_OK);
  assert_int_equal(gab_division_check("there-is-no-such-file", 8, 2), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(left_out_or_rank_is_each_alone), cmocka_unit_test(a_number_is_so_many_ranges),
      cmocka_unit_test(a_node_is_that_of_the_process),  cmocka_unit_test(a_file_names_ranks),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
