/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick needs=ulfm timeout=60 */
/* A flow has levels 0 to 11: a grid with all of them is built and steps, one with more is refused with a message. */
#include "blockforest/adaptation/adapt.h"
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { DEEPEST = 11 };

static gab_world *world;

static gab_mark mark_corner(void *user, int level, const gab_box *cells)
{
  (void)user;
  (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_status build(gab_forest *forest, int levels)
{
  return gab_forest_build(forest, mark_corner, NULL, levels, gab_balance_distribute, NULL, NULL);
}

static void flow_of_levels(int deepest, bool is_possible)
{
  const gab_forest_options options = {.grid = {.dimension = 2, .roots = {2, 2, 1}},
                                      .cells = {4, 4, 1},
                                      .dx = 1,
                                      .periodic = {true, true, false}};
  const gab_lbm_options model = {.omega = 1.2, .velocity = {0.01, 0.02}};
  gab_forest *forest;
  gab_lbm *lbm;
  assert_int_equal(gab_forest_create(world, &options, &forest), GAB_OK);
  assert_int_equal(gab_lbm_create(forest, NULL, &model, &lbm), GAB_OK);
  assert_int_equal(build(forest, deepest), is_possible ? GAB_OK : GAB_ERR_FAULT);
  if (is_possible) {
    assert_int_equal(gab_lbm_step(lbm), GAB_OK);
    assert_int_equal(gab_lbm_check_finite(lbm, NULL), GAB_OK);
  } else { /* a failure of one process informs all others by breaking the world */
    gab_status abort_request;
    assert_int_equal(gab_world_repair(world, &abort_request), GAB_OK);
    assert_int_equal(abort_request, GAB_ERR_INPUT);
    assert_non_null(strstr(gab_error_message(), "is of level 12: a flow has levels 0 to 11"));
  }
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
}

static void all_levels_that_a_flow_can_have_step(void **state)
{
  (void)state;
  flow_of_levels(DEEPEST, true);
}

static void one_level_more_is_refused(void **state)
{
  (void)state;
  flow_of_levels(DEEPEST + 1, false);
}

int main(int argc, char **argv)
{
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_levels_that_a_flow_can_have_step),
                                     cmocka_unit_test(one_level_more_is_refused)};
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failures;
}
