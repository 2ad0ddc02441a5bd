/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "core/base/log.h"
#include "lbm/setup/units.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void expect_near(double a, double b) { assert_true(fabs(a - b) <= 1e-14 * fabs(b)); }

static void numbers_without_dimension_are_the_same_in_both_units(void **state)
{
  (void)state;
  gab_units units;
  double nu;
  assert_int_equal(gab_units_from_velocity(0.01, 3, 0.06, 1000, &units), GAB_OK);
  expect_near(units.dt, 0.01 * 0.06 / 3);
  expect_near(gab_units_velocity_to_lattice(&units, 3), 0.06);
  expect_near(gab_units_velocity_to_physical(&units, 0.06), 3);
  assert_int_equal(gab_viscosity_from_reynolds(250, 3, 0.4, &nu), GAB_OK);
  double re = gab_units_velocity_to_lattice(&units, 3) * (0.4 / units.dx) /
              gab_units_viscosity_to_lattice(&units, nu);
  expect_near(re, 250);
  expect_near(gab_units_acceleration_to_lattice(&units, 9.81) * (0.4 / units.dx) / (0.06 * 0.06),
              9.81 * 0.4 / 9);
  expect_near(gab_units_pressure_to_density(&units, gab_units_pressure_to_physical(&units, 1.25)), 1.25);
  /* Pressure coefficient: p / (rho u^2). */
  expect_near(gab_units_pressure_to_physical(&units, 1.25) / (1000 * 9.0), 0.25 / 3 / (0.06 * 0.06));
  /* Drag coefficients in 3D and 2D. */
  expect_near(gab_units_force_to_physical(&units, 3, 0.02) / (1000 * 9 * 0.4 * 0.4),
              0.02 / (0.06 * 0.06 * 40 * 40));
  expect_near(gab_units_force_to_physical(&units, 2, 0.02) / (1000 * 9 * 0.4), 0.02 / (0.06 * 0.06 * 40));
}

static void omega_and_viscosity_are_inverse(void **state)
{
  (void)state;
  expect_near(gab_omega_of_viscosity(1.0 / 6), 1);
  for (double omega = 0.1; omega < 2; omega += 0.1)
    expect_near(gab_omega_of_viscosity(gab_viscosity_of_omega(omega)), omega);
}

static void scales_that_cannot_be_are_refused(void **state)
{
  (void)state;
  gab_units units;
  double nu;
  assert_int_equal(gab_units_from_dt(0, 1, 1, &units), GAB_ERR_INPUT);
  assert_int_equal(gab_units_from_dt(1, NAN, 1, &units), GAB_ERR_INPUT);
  assert_int_equal(gab_units_from_dt(1, 1, -1, &units), GAB_ERR_INPUT);
  assert_int_equal(gab_units_from_velocity(1, 0, 0.1, 1, &units), GAB_ERR_INPUT);
  assert_int_equal(gab_viscosity_from_reynolds(-1, 1, 1, &nu), GAB_ERR_INPUT);
}

static void flows_out_of_range_are_refused_with_the_numbers(void **state)
{
  (void)state;
  gab_flow_scales good = {.velocity = 0.05, .omega = 1.8, .resolution = 20};
  assert_int_equal(gab_flow_check(&good), GAB_OK);
  gab_flow_scales fast = good;
  fast.velocity = 0.21; /* Mach 0.364 */
  assert_int_equal(gab_flow_check(&fast), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "0.364"));
  fast.velocity = 0.15; /* only a warning */
  assert_int_equal(gab_flow_check(&fast), GAB_OK);
  gab_flow_scales stiff = good;
  stiff.omega = 2;
  assert_int_equal(gab_flow_check(&stiff), GAB_ERR_INPUT);
  stiff.omega = 1.9999;
  assert_int_equal(gab_flow_check(&stiff), GAB_OK);
  stiff.omega = NAN;
  assert_int_equal(gab_flow_check(&stiff), GAB_ERR_INPUT);
  gab_flow_scales coarse = good;
  coarse.resolution = 1.5;
  coarse.what = "needle";
  assert_int_equal(gab_flow_check(&coarse), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "needle is only 1.5 cells"));
  coarse.resolution = 4;
  assert_int_equal(gab_flow_check(&coarse), GAB_OK);
}

int main(void)
{
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_without_dimension_are_the_same_in_both_units),
      cmocka_unit_test(omega_and_viscosity_are_inverse),
      cmocka_unit_test(scales_that_cannot_be_are_refused),
      cmocka_unit_test(flows_out_of_range_are_refused_with_the_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
