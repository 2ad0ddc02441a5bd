/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* Requirements of borders between levels on a collision, and the warnings before a run. */
#include "lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void borders_are_made_for_twice_the_speed_of_the_flow_within_limits_unless_told_otherwise(void **state)
{
  (void)state;
  assert_true(gab_lbm_border_speed(0.05, -1) == 0.1);
  assert_true(gab_lbm_border_speed(0.02, -1) == 0.04);
  assert_true(gab_lbm_border_speed(0.2, -1) == 0.25);
  assert_true(gab_lbm_border_speed(0, -1) == 0.1); /* not known */
  assert_true(gab_lbm_border_speed(0.2, 0.07) == 0.07);
  assert_true(gab_lbm_border_speed(0.2, 0) == 0);
  assert_true(gab_lbm_border_speed(0.2, 0.5) == 0.5);
}

static void levels_with_a_smaller_magic_parameter_are_listed_from_level_0_on(void **state)
{
  (void)state;
  char text[256], wanted[256];
  gab_lbm_options options = {.omega = 1 / (0.5 + 0.01), .border_speed = 0.1};
  int last = -1;
  for (int level = 0; level < 6; level++)
    if (gab_lbm_magic_is_bounded(&options, level)) last = level;
  assert_in_range(last, 1, 4); /* the list begins and ends at some level */
  assert_int_equal(gab_lbm_describe_bounds(&options, 6, text, sizeof text), last);
  snprintf(wanted, sizeof wanted, "%.3g, %.3g", gab_lbm_magic_on(&options, 0), gab_lbm_magic_on(&options, 1));
  assert_memory_equal(text, wanted, strlen(wanted));
  int commas = 0;
  for (const char *at = text; *at; at++) commas += *at == ',';
  assert_int_equal(commas, last);
  assert_int_equal(gab_lbm_describe_bounds(&options, 1, text, sizeof text), 0); /* of the existing levels */
  assert_null(strchr(text, ','));
  options.border_speed = 0;
  assert_int_equal(gab_lbm_describe_bounds(&options, 6, text, sizeof text), -1);
  assert_string_equal(text, "");
}

/* The speed at which cells of a level have that Reynolds number. */
static double speed_for(const gab_lbm_options *options, int level, double reynolds)
{
  return reynolds * ldexp(1 / options->omega - 0.5, level) / 3;
}

static void a_large_magic_parameter_is_warned_of_above_its_reynolds_number_alone(void **state)
{
  (void)state;
  char text[320];
  for (int level = 0; level < 3; level++) {
    gab_lbm_options options = {.omega = 1.9};
    const double limit = 3 * sqrt(0.4 / gab_lbm_magic_on(&options, level));
    gab_lbm_advise_borders(&options, speed_for(&options, level, 0.99 * limit), level, text, sizeof text);
    assert_string_equal(text, "");
    gab_lbm_advise_borders(&options, speed_for(&options, level, 1.01 * limit), level, text, sizeof text);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "cells of level %d have a Reynolds number of %.1f:", level, 1.01 * limit);
    assert_memory_equal(text, wanted, strlen(wanted));
    options.collision = &gab_collision_srt; /* has no magic parameter */
    gab_lbm_advise_borders(&options, speed_for(&options, level, 1000), level, text, sizeof text);
    assert_string_equal(text, "");
  }
}

static void what_grows_in_3d_alone_is_warned_of_there_alone(void **state)
{
  (void)state;
  char text[320];
  static const struct {
    const gab_collision *collision;
    double most; /* 0: none */
  } known[] = {
      {&gab_collision_mrt, 30}, {&gab_collision_srt, 50}, {&gab_collision_trt, 0}, {&gab_collision_rr, 0}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    for (int dimension = 2; dimension <= 3; dimension++)
      for (int above = 0; above < 2; above++) {
        const gab_lbm_options options = {.omega = 1.9, .collision = known[i].collision};
        const double reynolds = (known[i].most > 0 ? known[i].most : 1000) * (above ? 1.01 : 0.99);
        gab_lbm_advise_borders_of_space(&options, dimension, speed_for(&options, 1, reynolds), 1, text,
                                        sizeof text);
        const bool wanted = above && dimension == 3 && known[i].most > 0;
        assert_int_equal(text[0] != '\0', wanted);
        if (wanted) assert_non_null(strstr(text, known[i].collision->title));
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(borders_are_made_for_twice_the_speed_of_the_flow_within_limits_unless_told_otherwise),
      cmocka_unit_test(levels_with_a_smaller_magic_parameter_are_listed_from_level_0_on),
      cmocka_unit_test(a_large_magic_parameter_is_warned_of_above_its_reynolds_number_alone),
      cmocka_unit_test(what_grows_in_3d_alone_is_warned_of_there_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
