/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* Criteria of refinement mark exactly the cells near a body, in a box, or of high vorticity; contradictions in a
 * parameter file are refused at their place. */
#include "lbm/collision/rheology.h"
#include "lbm/levels/refinement/refinement.h"
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

/* ---------------------------------------------------------------- places */

static const gab_body disc = {
    .name = "disc", .shape = GAB_SHAPE_SPHERE, .centre = {32, 32, 0.5}, .radius = 4};

/* Whether a cell of the box is within `distance` of the circle, by checking all of them. */
static bool brute_near(int level, const gab_box *cells, double distance)
{
  const double dx = ldexp(1, -level);
  bool solid = false, fluid = false;
  int64_t margin = (int64_t)ceil(distance / dx);
  for (int64_t y = cells->lo[1] - margin; y < cells->hi[1] + margin; y++)
    for (int64_t x = cells->lo[0] - margin; x < cells->hi[0] + margin; x++) {
      double ex = ((double)x + 0.5) * dx - disc.centre[0], ey = ((double)y + 0.5) * dx - disc.centre[1];
      if (x < 0 || y < 0 || x >= (64 << level) || y >= (64 << level)) continue;
      if (ex * ex + ey * ey <= disc.radius * disc.radius) solid = true;
      else fluid = true;
    }
  return solid && fluid;
}

static void blocks_near_a_body_are_refined_up_to_the_level_of_the_criterion(void **state)
{
  (void)state;
  gab_domain domain = {.dimension = 2, .cells = {64, 64, 1}, .dx = 1};
  gab_geometry *geometry;
  REQUIRE_OK(gab_geometry_create(&domain, &disc, 1, &geometry));
  const gab_criterion criterion = {.kind = GAB_CRITERION_BODIES, .level = 2, .distance = 3};
  gab_refinement refinement = {.geometry = geometry, .criteria = &criterion, .count = 1};
  REQUIRE_OK(gab_refinement_check(&refinement, 2));
  int refined = 0, kept = 0;
  for (int level = 0; level < 4; level++)
    for (int64_t y = 0; y < (8 << level); y++)
      for (int64_t x = 0; x < (8 << level); x++) {
        gab_box cells = {{8 * x, 8 * y, 0}, {8 * x + 8, 8 * y + 8, 1}};
        gab_mark expected = level < 2 && brute_near(level, &cells, 3) ? GAB_MARK_REFINE : GAB_MARK_KEEP;
        assert_int_equal(gab_refinement_mark_place(&refinement, level, &cells), expected);
        if (expected == GAB_MARK_REFINE) refined++;
        else kept++;
      }
  assert_true(refined > 10 && kept > 10);
  gab_geometry_destroy(&geometry);
}

static void a_box_refines_what_it_meets_in_more_than_a_surface(void **state)
{
  (void)state;
  gab_domain domain = {.dimension = 3, .cells = {32, 32, 32}, .origin = {-1, 0, 0}, .dx = 0.5};
  gab_geometry *geometry;
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &geometry));
  const gab_criterion criterion = {.kind = GAB_CRITERION_BOX, .level = 1, .lo = {3, 4, 4}, .hi = {7, 8, 8}};
  gab_refinement refinement = {.geometry = geometry, .criteria = &criterion, .count = 1};
  const gab_box inside = {{8, 8, 8}, {16, 16, 16}}, beside = {{0, 8, 8}, {8, 16, 16}};
  assert_int_equal(gab_refinement_mark_place(&refinement, 0, &inside), GAB_MARK_REFINE);
  assert_int_equal(gab_refinement_mark_place(&refinement, 0, &beside), GAB_MARK_KEEP);
  assert_int_equal(gab_refinement_mark_place(&refinement, 1, &inside), GAB_MARK_KEEP);
  gab_geometry_destroy(&geometry);
}

/* ---------------------------------------------------------------- the flow */

/* u = (0, 0.01 sin(2 pi x / 64)): the vorticity is highest at x = 0 and 32, and 0 at 16 and 48. */
static void shear(void *user, const double centre[3], gab_lbm_state *at)
{
  (void)user;
  at->velocity[1] = 0.01 * sin(centre[0] * 3.14159265358979323846 / 32);
}

static void the_value_is_the_largest_curl_and_decides(void **state)
{
  (void)state;
  flow_case given = {.dimension = 2, .cells = {64, 16, 1}, .block = {8, 8, 1}};
  given.options = (gab_lbm_options){.omega = 1.5, .initial = shear};
  flow it = flow_open(world, &given);
  const double steepest = 0.01 * 3.14159265358979323846 / 32;
  const gab_criterion criterion = {.kind = GAB_CRITERION_VORTICITY,
                                   .level = 2,
                                   .refine_above = 0.8 * steepest,
                                   .coarsen_below = 0.5 * steepest,
                                   .region_lo = {-INFINITY, -INFINITY, -INFINITY},
                                   .region_hi = {INFINITY, INFINITY, INFINITY}};
  gab_refinement refinement = {.geometry = it.geometry, .lbm = it.lbm, .criteria = &criterion, .count = 1};
  int refined = 0;
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const double x = (double)gab_block_cells(it.forest, block).lo[0];
    /* the steepest cell is at the end of the block nearest to 0, 32 or 64 */
    double nearest = fmin(fabs(x), fmin(fabs(x - 32), fmin(fabs(x + 8 - 32), fabs(x + 8 - 64))));
    double curl, gradient;
    REQUIRE_OK(gab_refinement_value(it.lbm, it.forest, block, GAB_CRITERION_VORTICITY, &curl));
    REQUIRE_OK(gab_refinement_value(it.lbm, it.forest, block, GAB_CRITERION_GRADIENT, &gradient));
    REQUIRE_NEAR(curl, steepest * cos((nearest + 1) * 3.14159265358979323846 / 32), 0.02 * steepest);
    REQUIRE_NEAR(curl, gradient, 1e-15);
    gab_mark expected = curl > criterion.refine_above ? GAB_MARK_REFINE : GAB_MARK_KEEP;
    gab_mark mark;
    REQUIRE_OK(gab_refinement_mark(&refinement, it.forest, block, &mark));
    assert_int_equal(mark, expected);
    refined += expected == GAB_MARK_REFINE;
  }
  assert_int_equal(refined, 8);
  flow_close(&it);
}

static double largest_viscosity;
static double note_viscosity(const gab_lbm_cell *at)
{
  largest_viscosity = fmax(largest_viscosity, at->viscosity);
  return at->viscosity;
}

/* Of a power law with exponent 1/2: nu = k / sqrt(g), in units of 2 m and 0.5 s. */
static void a_criterion_of_the_program_sees_the_viscosity_of_the_cell(void **state)
{
  (void)state;
  const gab_lbm_criterion own = {.name = "thick", .doc = "thick", .value = note_viscosity};
  const gab_rheology fluid = {
      .law = GAB_RHEOLOGY_POWER_LAW, .k = 1e-2, .exponent = 0.5, .least = 1e-4, .largest = 10};
  flow_case given = {.dimension = 2, .cells = {64, 16, 1}, .block = {8, 8, 1}};
  given.options = (gab_lbm_options){.omega = 1.5, .initial = shear};
  REQUIRE_OK(gab_rheology_set(&fluid, &given.options));
  flow it = flow_open(world, &given);
  const gab_criterion criterion = {.kind = GAB_CRITERION_OWN,
                                   .own = &own,
                                   .units = {.dx = 2, .dt = 0.5, .density = 1},
                                   .level = 2,
                                   .refine_above = 1e3,
                                   .coarsen_below = 1,
                                   .region_lo = {-INFINITY, -INFINITY, -INFINITY},
                                   .region_hi = {INFINITY, INFINITY, INFINITY}};
  gab_refinement refinement = {.geometry = it.geometry, .lbm = it.lbm, .criteria = &criterion, .count = 1};
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const double turn = 3.14159265358979323846 / 32, x = (double)gab_block_cells(it.forest, block).lo[0] +
                                                         4; /* 4, 12, 20, ... from the steepest */
    gab_mark mark;
    largest_viscosity = 0;
    REQUIRE_OK(gab_refinement_mark(&refinement, it.forest, block, &mark));
    if (fmod(x, 32) != 4 && fmod(x, 32) != 28) continue; /* others have a maximum of the velocity */
    const double nu = 1e-2 / sqrt(0.01 * turn * cos(7.5 * turn)) * 2 * 2 / 0.5;
    REQUIRE_NEAR(largest_viscosity, nu, 0.1 * nu);
  }
  flow_close(&it);
}

static void poison(void *user, const double centre[3], gab_lbm_state *at)
{
  (void)user;
  if (centre[0] > 20 && centre[0] < 21 && centre[1] < 1) at->velocity[0] = NAN;
}

static void a_flow_that_is_not_finite_is_an_error_and_no_reason_to_coarsen(void **state)
{
  (void)state;
  flow_case given = {.dimension = 2, .cells = {64, 16, 1}, .block = {8, 8, 1}};
  given.options = (gab_lbm_options){.omega = 1.5, .initial = poison};
  flow it = flow_open(world, &given);
  const gab_criterion criterion = {.kind = GAB_CRITERION_VORTICITY,
                                   .level = 2,
                                   .refine_above = 2,
                                   .coarsen_below = 1,
                                   .region_lo = {-INFINITY, -INFINITY, -INFINITY},
                                   .region_hi = {INFINITY, INFINITY, INFINITY}};
  gab_refinement refinement = {.geometry = it.geometry, .lbm = it.lbm, .criteria = &criterion, .count = 1};
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const gab_box cells = gab_block_cells(it.forest, block);
    const bool is_poisoned = cells.lo[0] == 16 && cells.lo[1] == 0;
    gab_mark mark;
    assert_int_equal(gab_refinement_mark(&refinement, it.forest, block, &mark),
                     is_poisoned ? GAB_ERR_DIVERGED : GAB_OK);
    if (is_poisoned) assert_non_null(strstr(gab_error_message(), "vorticity is not finite"));
  }
  flow_close(&it);
}

/* ---------------------------------------------------------------- parameter files */

static gab_status read_as(const char *text, gab_refinement_setup *setup)
{
  gab_config *config;
  gab_domain domain = {.dimension = 2, .cells = {64, 64, 1}, .dx = 0.5};
  gab_units units = {.dx = 0.5, .dt = 0.1, .density = 1};
  REQUIRE_OK(gab_config_create(&config));
  REQUIRE_OK(gab_refinement_declare(config));
  gab_status status = gab_config_load_text(config, "test.yaml", text, strlen(text));
  if (status == GAB_OK) status = gab_config_check(config);
  if (status == GAB_OK) status = gab_refinement_from_config(config, &domain, &units, setup);
  gab_config_destroy(&config);
  return status;
}

static void criteria_come_from_the_file_in_lattice_units(void **state)
{
  (void)state;
  gab_refinement_setup setup;
  REQUIRE_OK(read_as("refinement:\n"
                     "  levels: 3\n"
                     "  every: 50\n"
                     "  border_speed: 0.75\n"
                     "  criteria:\n"
                     "    - {type: bodies, distance: 2, level: 2}\n"
                     "    - {type: box, lo: [1, 2], hi: [3, 4]}\n"
                     "    - {type: vorticity, above: 4, below: 1, lo: [5, 0], hi: [9, 9]}\n",
                     &setup));
  assert_int_equal(setup.max_level, 3);
  assert_int_equal(setup.every, 50);
  REQUIRE_NEAR(setup.border_speed, 0.15, 1e-16);
  assert_int_equal(setup.count, 3);
  assert_int_equal(setup.criteria[0].level, 2);
  REQUIRE_NEAR(setup.criteria[0].distance, 4, 0);
  assert_int_equal(setup.criteria[1].level, 3);
  REQUIRE_NEAR(setup.criteria[1].hi[1], 4, 0);
  assert_int_equal(setup.criteria[2].kind, GAB_CRITERION_VORTICITY);
  REQUIRE_NEAR(setup.criteria[2].refine_above, 0.4, 1e-16);
  REQUIRE_NEAR(setup.criteria[2].region_lo[0], 5, 0);
  gab_refinement_setup_release(&setup);
}

/* 1/omega - 1/2 doubles from level to level, so the bound increases fourfold. */
static void the_magic_parameter_is_bounded_level_by_level(void **state)
{
  (void)state;
  gab_lbm_options options = {.omega = 1 / (0.5 + 0.01), .border_speed = 0.1};
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 0), 0.0025, 1e-12);
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 1), 0.01, 1e-12);
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 5), 3.0 / 16, 0);
  options.magic = 0.004;
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 1), 0.004, 0);
  options.border_speed = 0;
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 0), 0.004, 0);
  options.collision = &gab_collision_srt;
  REQUIRE_NEAR(gab_lbm_magic_on(&options, 1), 4e-4, 1e-12);
}

static void expect_refused(const char *text, const char *message)
{
  gab_refinement_setup setup;
  gab_status status = read_as(text, &setup);
  if (status != GAB_ERR_INPUT || !strstr(gab_error_message(), message))
    fail_msg("status %d, message \"%s\" lacks \"%s\"", status, gab_error_message(), message);
}

static void what_contradicts_itself_is_refused_where_it_stands(void **state)
{
  (void)state;
  expect_refused("refinement:\n"
                 "  levels: 1\n"
                 "  border_speed: 3\n"
                 "  criteria: [{type: bodies}]\n",
                 "0.6 cells per step");
  expect_refused("refinement:\n  levels: 2\n  criteria:\n    - {type: vorticity, above: 1, below: 2}\n",
                 "test.yaml:4");
  expect_refused("refinement:\n  levels: 2\n  criteria:\n    - {type: bodies, level: 3}\n", "test.yaml:4");
  expect_refused("refinement:\n  levels: 2\n  criteria:\n    - {type: box, lo: [1, 2], hi: [1, 3]}\n",
                 "test.yaml:4");
  expect_refused("refinement:\n  levels: 2\n", "no criterion");
  expect_refused("refinement:\n  criteria:\n    - {type: bodies}\n", "levels is 0");
}

int main(void)
{
  REQUIRE_OK(gab_world_create(NULL, NULL, &world));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_near_a_body_are_refined_up_to_the_level_of_the_criterion),
      cmocka_unit_test(a_box_refines_what_it_meets_in_more_than_a_surface),
      cmocka_unit_test(the_value_is_the_largest_curl_and_decides),
      cmocka_unit_test(a_criterion_of_the_program_sees_the_viscosity_of_the_cell),
      cmocka_unit_test(a_flow_that_is_not_finite_is_an_error_and_no_reason_to_coarsen),
      cmocka_unit_test(criteria_come_from_the_file_in_lattice_units),
      cmocka_unit_test(the_magic_parameter_is_bounded_level_by_level),
      cmocka_unit_test(what_contradicts_itself_is_refused_where_it_stands),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}
