/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* User-defined quantities, criteria of refinement and shapes of bodies: incomplete ones, and names that are taken or
 * invalid, are refused. Registered ones are found after those of the library. */
#include "lbm/boundaries/geometry.h"
#include "lbm/observe/quantities.h"
#include "lbm/levels/refinement/cell_criterion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void nothing(const gab_lbm_cell *at, double *values) { values[0] = at->density; }
static double none(const gab_lbm_cell *at) { return at->density; }

static void quantities(void **state)
{
  static const gab_lbm_quantity sound = {
      .name = "mine", .doc = "mine", .components = 1, .gradient = true, .evaluate = nothing};
  gab_lbm_quantity bad[] = {sound, sound, sound, sound, sound, sound};
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  (void)state;
  bad[0].name = "velocity";
  bad[1].name = "two words";
  bad[2].name = NULL;
  bad[3].doc = NULL;
  bad[4].evaluate = NULL;
  bad[5].components = 2;
  const size_t before = gab_lbm_quantities_list(NULL, 2, items).count;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(gab_lbm_quantity_register(&bad[i]), GAB_ERR_ARGUMENT);
  assert_null(gab_lbm_quantity_at(0));
  assert_int_equal(gab_lbm_quantity_needs("mine"), 0);
  assert_int_equal(gab_lbm_quantity_register(&sound), GAB_OK);
  assert_int_equal(gab_lbm_quantity_register(&sound), GAB_ERR_ARGUMENT);
  assert_ptr_equal(gab_lbm_quantity_at(0), &sound);
  assert_int_equal(gab_lbm_quantity_needs("mine"), GAB_LBM_NEEDS_GRADIENT);
  assert_int_equal(gab_lbm_quantities_list(NULL, 2, items).count, before + 1);
  assert_string_equal(items[before].name, "mine");
}

static void criteria(void **state)
{
  static const gab_lbm_criterion sound = {.name = "mine", .doc = "mine", .value = none};
  gab_lbm_criterion bad[] = {sound, sound, sound, sound};
  int count = 0;
  (void)state;
  bad[0].name = "vorticity";
  bad[1].name = "a|b";
  bad[2].doc = NULL;
  bad[3].value = NULL;
  while (gab_lbm_criterion_name(count)) count++;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(gab_lbm_criterion_register(&bad[i]), GAB_ERR_ARGUMENT);
  assert_null(gab_lbm_criterion_name(count));
  assert_int_equal(gab_lbm_criterion_register(&sound), GAB_OK);
  assert_int_equal(gab_lbm_criterion_register(&sound), GAB_ERR_ARGUMENT);
  assert_string_equal(gab_lbm_criterion_name(count), "mine");
  assert_null(gab_lbm_criterion_name(count + 1));
}

/* ------------------------------------------------------------------------------------------ shapes */

static gab_status read_nothing(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  (void)config, (void)path, (void)dimension, (void)body;
  return GAB_OK;
}
static double round_one(const gab_body *body, const double point[3])
{
  const double *n = body->numbers;
  const double d[3] = {point[0] - n[0], point[1] - n[1], point[2] - n[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - n[3];
}
static const gab_config_key keys[] = {{.name = "k", .type = GAB_CONFIG_REAL, .doc = "k"}};
static const gab_body_shape ball = {
    .name = "ball", .doc = "ball", .keys = keys, .key_count = 1, .read = read_nothing, .distance = round_one};

static void shapes(void **state)
{
  gab_body_shape bad[] = {ball, ball, ball, ball, ball};
  (void)state;
  bad[0].name = "sphere";
  bad[1].name = "a b";
  bad[2].keys = NULL;
  bad[3].distance = NULL;
  bad[4].key_count = GAB_MOST_BODY_SHAPE_KEYS + 1;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_int_equal(gab_body_shape_register(&bad[i]), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_body_shape_register(&ball), GAB_OK);
  assert_int_equal(gab_body_shape_register(&ball), GAB_ERR_ARGUMENT);
}

/* In 3D, across a corner of three periodic sides, and on finer cells: every cell and every wall equals that of a
 * sphere. */
static void a_ball_is_a_sphere(void **state)
{
  enum { CELLS = 12 };
  const gab_domain domain = {.dimension = 3,
                             .cells = {CELLS, CELLS, CELLS},
                             .periodic = {true, true, true},
                             .origin = {1, 2, 3},
                             .dx = 0.5,
                             .deepest = 1};
  const gab_body sphere = {
      .shape = GAB_SHAPE_SPHERE, .wall = GAB_WALL_INTERPOLATED, .centre = {1.21, 2.17, 8.7}, .radius = 1.63};
  gab_body own = {.shape = GAB_SHAPE_OWN,
                  .wall = GAB_WALL_INTERPOLATED,
                  .own = &ball,
                  .numbers = {1.21, 2.17, 8.7, 1.63}};
  gab_geometry *expected, *found;
  (void)state;
  for (int axis = 0; axis < 3; axis++) {
    own.lo[axis] = own.numbers[axis] - own.numbers[3];
    own.hi[axis] = own.numbers[axis] + own.numbers[3];
  }
  assert_int_equal(gab_geometry_create(&domain, &sphere, 1, &expected), GAB_OK);
  assert_int_equal(gab_geometry_create(&domain, &own, 1, &found), GAB_OK);
  int solids = 0, walls = 0;
  for (int level = 0; level < 2; level++) {
    const int64_t end = (int64_t)CELLS << level;
    const gab_box whole = {{0, 0, 0}, {end, end, end}};
    assert_true(gab_geometry_fluid_cells(expected, level, &whole) ==
                gab_geometry_fluid_cells(found, level, &whole));
    for (int64_t i = 0; i < end * end * end; i++) {
      const int64_t cell[3] = {i % end, i / end % end, i / end / end};
      const gab_box box = {{cell[0], cell[1], cell[2]}, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
      const int body = gab_geometry_cell(expected, level, cell);
      assert_int_equal(gab_geometry_cell(found, level, cell), body);
      if (gab_geometry_is_clear(found, level, &box))
        assert_true(gab_geometry_is_clear(expected, level, &box));
      solids += body == 0;
      for (int axis = 0; axis < 3 && body == 0; axis++) {
        const int8_t c[3] = {axis == 0, axis == 1, (int8_t)(axis == 2)};
        const int64_t next[3] = {cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]};
        if (gab_geometry_cell(expected, level, next) != GAB_CELL_FLUID) continue;
        assert_true(fabs(gab_geometry_wall_distance(found, level, cell, 0, c) -
                         gab_geometry_wall_distance(expected, level, cell, 0, c)) < 1e-12);
        walls++;
      }
    }
  }
  assert_true(solids > 1000 && walls > 300);
  gab_geometry_destroy(&expected);
  gab_geometry_destroy(&found);
}

static double too_steep(const gab_body *body, const double point[3]) { return 1.5 * round_one(body, point); }

static void what_is_no_distance_is_refused(void **state)
{
  const gab_domain domain = {.dimension = 3, .cells = {8, 8, 8}, .dx = 1};
  gab_body_shape steep = ball;
  gab_body body = {
      .shape = GAB_SHAPE_OWN, .own = &steep, .lo = {0, 0, 0}, .hi = {8, 8, 8}, .numbers = {4, 4, 4, 2}};
  gab_geometry *geometry;
  (void)state;
  assert_int_equal(gab_geometry_create(&domain, &body, 1, &geometry), GAB_OK);
  gab_geometry_destroy(&geometry);
  steep.distance = too_steep;
  assert_int_equal(gab_geometry_create(&domain, &body, 1, &geometry), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "does not return a distance"));
  body.own = NULL;
  assert_int_equal(gab_geometry_create(&domain, &body, 1, &geometry), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantities),
      cmocka_unit_test(criteria),
      cmocka_unit_test(shapes),
      cmocka_unit_test(a_ball_is_a_sphere),
      cmocka_unit_test(what_is_no_distance_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
