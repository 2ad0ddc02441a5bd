/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=20 labels=quick */
/* Initial states have the shapes, places and shares that were asked for. */
#include "phase_common.h"
#include "phasefield/setup/initial.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_forest_options domain(int dimension, int32_t x, int32_t y, int32_t z)
{
  return (gab_forest_options){.grid = {.dimension = dimension, .roots = {1, 1, 1}},
                              .cells = {x, y, z},
                              .periodic = {true, true, false},
                              .dx = 1};
}

/* The phase of a cell; every other fraction has to be 0. */
static int phase_of(gab_phasefield_start *start, int64_t x, int64_t y, int64_t z)
{
  double phi[GAB_MOST_PHASES] = {0}, mu[GAB_MOST_INDEPENDENTS] = {0};
  gab_phasefield_start_state(start, (const int64_t[3]){x, y, z}, phi, mu);
  int found = -1;
  for (int a = 0; a < GAB_MOST_PHASES; a++) {
    assert_true(phi[a] == 0 || (phi[a] == 1 && found < 0));
    if (phi[a] == 1) found = a;
  }
  return found;
}

static void columns_have_their_shares(void **state)
{
  (void)state;
  gab_forest_options options = domain(3, 60, 50, 20);
  gab_phasefield_start start = {.shape = GAB_START_VORONOI,
                                .height = 7,
                                .solids = 3,
                                .solid = {0, 1, 2},
                                .share = {.2, .3, .5},
                                .seeds = 60,
                                .seed = 5};
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  double count[4] = {0};
  for (int64_t y = 0; y < 50; y++)
    for (int64_t x = 0; x < 60; x++) {
      const int phase = phase_of(&start, x, y, 0);
      count[phase] += 1. / 3000;
      assert_int_equal(phase_of(&start, x, y, 6), phase); /* a column */
      assert_int_equal(phase_of(&start, x, y, 7), 3);
    }
  for (int a = 0; a < 3; a++) assert_float_equal(count[a], start.share[a], 0.02);
  /* Another seed makes another pattern; the same one the same. */
  gab_phasefield_start other = start, again = start;
  other.seed = 6;
  assert_int_equal(gab_phasefield_start_prepare(&other, &options, 3), GAB_OK);
  assert_int_equal(gab_phasefield_start_prepare(&again, &options, 3), GAB_OK);
  int different = 0;
  for (int64_t x = 0; x < 60; x++) {
    different += phase_of(&other, x, 25, 0) != phase_of(&start, x, 25, 0);
    assert_int_equal(phase_of(&again, x, 25, 0), phase_of(&start, x, 25, 0));
  }
  assert_true(different > 10);
  gab_phasefield_start_release(&start);
  gab_phasefield_start_release(&other);
  gab_phasefield_start_release(&again);
}

static void columns_continue_over_periodic_sides(void **state)
{
  (void)state;
  gab_forest_options options = domain(3, 40, 40, 4);
  gab_phasefield_start start = {.shape = GAB_START_VORONOI,
                                .height = 4,
                                .solids = 2,
                                .solid = {0, 1},
                                .share = {.5, .5},
                                .seeds = 6,
                                .seed = 2};
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 2), GAB_OK);
  int changes = 0;
  for (int64_t y = 0; y < 40; y++) changes += phase_of(&start, 0, y, 0) != phase_of(&start, 39, y, 0);
  assert_true(changes < 10);
  gab_phasefield_start_release(&start);
}

static void lamellae_repeat(void **state)
{
  (void)state;
  gab_forest_options options = domain(2, 40, 10, 1);
  gab_phasefield_start start = {.shape = GAB_START_LAMELLAE,
                                .height = 3,
                                .solids = 3,
                                .solid = {2, 0, 1},
                                .share = {.25, .25, .5},
                                .period = 20};
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  for (int64_t x = 0; x < 40; x++) {
    assert_int_equal(phase_of(&start, x, 2, 0), x % 20 < 5 ? 2 : x % 20 < 10 ? 0 : 1);
    assert_int_equal(phase_of(&start, x, 3, 0), 3);
  }
}

static void balls_are_round(void **state)
{
  (void)state;
  gab_forest_options options = domain(3, 20, 20, 20);
  gab_phasefield_start start = {
      .shape = GAB_START_SPHERE, .centre = {10, 10, 10}, .radius = 6, .solids = 1, .solid = {1}};
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  assert_int_equal(phase_of(&start, 10, 10, 15), 1);
  assert_int_equal(phase_of(&start, 10, 10, 16), 3);
  assert_int_equal(phase_of(&start, 14, 14, 14), 3);
}

static void balls_continue_over_periodic_sides(void **state)
{
  (void)state;
  gab_forest_options options = domain(2, 40, 20, 1);
  gab_phasefield_start corner = {
      .shape = GAB_START_SPHERE, .centre = {-1, 10, 0}, .radius = 6, .solids = 1, .solid = {1}};
  gab_phasefield_start middle = corner;
  middle.centre[0] = 19;
  assert_int_equal(gab_phasefield_start_prepare(&corner, &options, 3), GAB_OK);
  assert_int_equal(gab_phasefield_start_prepare(&middle, &options, 3), GAB_OK);
  int solid = 0;
  for (int64_t y = 0; y < 20; y++)
    for (int64_t x = 0; x < 40; x++) {
      solid += phase_of(&middle, x, y, 0) == 1;
      assert_int_equal(phase_of(&corner, (x + 20) % 40, y, 0), phase_of(&middle, x, y, 0));
    }
  assert_true(solid > 100);
  options.periodic[0] = false; /* cut by a side that is not periodic */
  assert_int_equal(gab_phasefield_start_prepare(&corner, &options, 3), GAB_OK);
  assert_int_equal(phase_of(&corner, 39, 10, 0), 3);
}

static void assert_refused(gab_phasefield_start start, const gab_forest_options *options, const char *why)
{
  assert_int_equal(gab_phasefield_start_prepare(&start, options, 3), GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), why)) fail_msg("expected %s, not %s", why, gab_error_message());
}

static void shapes_without_a_cell_are_refused(void **state)
{
  (void)state;
  gab_forest_options options = domain(2, 40, 20, 1);
  options.periodic[0] = options.periodic[1] = false;
  const gab_phasefield_start ball = {
      .shape = GAB_START_SPHERE, .centre = {10, 10, 0}, .radius = .7, .solids = 1, .solid = {1}};
  gab_phasefield_start start = ball;
  assert_refused(start, &options, "the sphere of radius 0.7 covers no cell");
  start.radius = .71;
  assert_refused(
      (gab_phasefield_start){
          .shape = GAB_START_SPHERE, .centre = {50, 10, 0}, .radius = 9, .solids = 1, .solid = {1}},
      &options, "nearest cell (39, 10, 0)");
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  start.centre[0] = 50;
  options.periodic[0] = true;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  start = (gab_phasefield_start){.shape = GAB_START_PLANE, .height = .5, .solids = 1, .solid = {1}};
  assert_refused(start, &options, "covers no cell");
  start.height = .51;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
}

static void periods_fit_periodic_domains(void **state)
{
  (void)state;
  gab_forest_options options = domain(2, 40, 10, 1);
  gab_phasefield_start start = {.shape = GAB_START_LAMELLAE,
                                .height = 3,
                                .solids = 2,
                                .solid = {0, 1},
                                .share = {.5, .5},
                                .period = 15};
  options.periodic[0] = false;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
  options.periodic[0] = true;
  assert_refused(start, &options, "13.3333 would (3 periods)");
  start.period = 40.0 / 3;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 3), GAB_OK);
}

static void impossible_states_are_refused(void **state)
{
  (void)state;
  gab_forest_options options = domain(2, 40, 10, 1);
  const gab_phasefield_start good = {.shape = GAB_START_LAMELLAE,
                                     .height = 3,
                                     .solids = 2,
                                     .solid = {0, 1},
                                     .share = {.5, .5},
                                     .period = 20};
  gab_phasefield_start start = good;
  start.share[1] = .4;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 2), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "0.9"));
  start = good;
  start.solid[1] = 2; /* the melt */
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 2), GAB_ERR_INPUT);
  start = good;
  start.height = 11;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 2), GAB_ERR_INPUT);
  start = good;
  start.shape = GAB_START_VORONOI;
  start.seeds = 1;
  assert_int_equal(gab_phasefield_start_prepare(&start, &options, 2), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_have_their_shares),
      cmocka_unit_test(columns_continue_over_periodic_sides),
      cmocka_unit_test(lamellae_repeat),
      cmocka_unit_test(balls_are_round),
      cmocka_unit_test(balls_continue_over_periodic_sides),
      cmocka_unit_test(shapes_without_a_cell_are_refused),
      cmocka_unit_test(periods_fit_periodic_domains),
      cmocka_unit_test(impossible_states_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
