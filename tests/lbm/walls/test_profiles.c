/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of sides: Bessel functions on the diagonal of the complex plane compared with tables, ducts and
 * oscillating flow with known numbers and limits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>

#include "lbm/sides/profiles_impl.h"

#include <math.h>

static void near(double value, double wanted, double tolerance)
{
  assert_true(fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted)));
}

/* Abramowitz & Stegun, tables 9.1 and 9.12: J0, J1, ber and bei. */
static void bessel_functions_have_the_values_of_tables(void **state)
{
  static const struct {
    double x, ber, bei;
  } kelvin[] = {
      {1, 0.9843817812, 0.2495660400}, {5, -6.2300824787, 0.1160343816}, {10, 138.8404659, 56.3704586}};
  (void)state;
  near(creal(gab_bessel_j(0, 1)), 0.7651976866, 1e-10);
  near(creal(gab_bessel_j(1, 1)), 0.4400505857, 1e-10);
  near(creal(gab_bessel_j(0, 10)), -0.2459357645, 1e-10);
  for (int i = 0; i < 3; i++) {
    /* J0(x exp(3 pi i / 4)) = ber x + i bei x */
    const double _Complex value = gab_bessel_j(0, kelvin[i].x / sqrt(2) * (-1 + I));
    near(creal(value), kelvin[i].ber, 1e-9);
    near(cimag(value), kelvin[i].bei, 1e-9);
  }
}

/* The ascending and the asymptotic series meet at 20, and J0' = -J1. */
static void bessel_functions_are_smooth_where_series_change(void **state)
{
  (void)state;
  for (int order = 0; order < 2; order++) {
    const double _Complex below = gab_bessel_j(order, 19.9999999 / sqrt(2) * (1 - I)),
                          above = gab_bessel_j(order, 20.0000001 / sqrt(2) * (1 - I));
    assert_true(cabs(above / below - 1) < 4e-7);
  }
  for (double x = 3; x < 600; x *= 1.7) {
    const double h = 1e-4;
    const double _Complex turn = (1 - I) / sqrt(2), z = x * turn;
    const double _Complex slope =
        (gab_bessel_j(0, z + h * turn) - gab_bessel_j(0, z - h * turn)) / (2 * h * turn);
    assert_true(cabs(slope / gab_bessel_j(1, z) + 1) < 1e-7);
  }
}

static double mean_of_duct(double a, double b)
{
  const int n = 200;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += gab_profile_duct((i + 0.5) / n * a, (j + 0.5) / n * b, a, b);
  return sum / (n * n);
}

/* White, Viscous Fluid Flow, and Shah & London 1978: maximum over mean 2.0962 in a square, 1.9918 at a ratio of 1:2. */
static void ducts_have_the_known_maximum_over_mean(void **state)
{
  (void)state;
  near(1 / mean_of_duct(1, 1), 2.0962, 2e-4);
  near(1 / mean_of_duct(1, 2), 1.9918, 2e-4);
  near(mean_of_duct(2, 1), mean_of_duct(1, 2), 1e-12);
  near(gab_profile_duct(0, 0, 3, 2), 1, 1e-12);
  near(gab_profile_duct(0.4, 0, 1, 40), 1 - 0.16, 1e-12);
  near(gab_profile_duct(0, 0.4, 40, 1), 1 - 0.16, 1e-12);
  assert_true(gab_profile_duct(1, 0.2, 1, 2) == 0 && gab_profile_duct(0.2, -2, 1, 2) == 0);
  near(gab_profile_duct(0.9, 0.7, 1, 0.8), gab_profile_duct(0.7, -0.9, 0.8, 1), 1e-12);
}

/* Slow: the parabola in phase with its mean. Fast: a plug with a wall layer of width alpha^-1. Always: mean 1. */
static void oscillating_flow_has_its_limits(void **state)
{
  const int n = 4000;
  (void)state;
  for (int tube = 0; tube < 2; tube++) {
    near(creal(gab_profile_womersley(tube, 0.01, 0.5)), tube ? 1.5 : 1.125, 1e-5);
    near(cimag(gab_profile_womersley(tube, 0.01, 0.5)), 0, 1e-5);
    near(creal(gab_profile_womersley(tube, 400, 0)), 1, 5e-3);
    assert_true(gab_profile_womersley(tube, 5, 1) == 0 && gab_profile_womersley(tube, 5, -1.5) == 0);
    for (double alpha = 1; alpha < 200; alpha *= 5) {
      double _Complex mean = 0;
      for (int i = 0; i < n; i++) {
        const double x = (i + 0.5) / n;
        mean += gab_profile_womersley(tube, alpha, x) * (tube ? 2 * x : 1) / n;
      }
      near(creal(mean), 1, 1e-5);
      near(cimag(mean), 0, 1e-5);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bessel_functions_have_the_values_of_tables),
      cmocka_unit_test(bessel_functions_are_smooth_where_series_change),
      cmocka_unit_test(ducts_have_the_known_maximum_over_mean),
      cmocka_unit_test(oscillating_flow_has_its_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
