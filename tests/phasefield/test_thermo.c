/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=20 labels=quick */
/* Free energies give the equilibria that the literature and the derivation say, and impossible ones are
 * refused with their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "systems.h"

#include <math.h>

static void c_and_mu_are_inverse_and_psi_is_their_legendre_transform(void **state)
{
  (void)state;
  gab_thermo thermo = al_ag_cu(true);
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  const double mu[2] = {0.13, -0.27}, t = 0.98, h = 1e-5;
  for (int a = 0; a < 4; a++) {
    double c[2], back[2];
    gab_thermo_concentration(&thermo, a, t, mu, c);
    gab_thermo_chemical_potential(&thermo, a, t, c, back);
    for (int i = 0; i < 2; i++) {
      assert_float_equal(back[i], mu[i], 1e-14);
      double up[2] = {mu[0], mu[1]}, down[2] = {mu[0], mu[1]};
      up[i] += h;
      down[i] -= h;
      double slope =
          (gab_thermo_grand_potential(&thermo, a, t, up) - gab_thermo_grand_potential(&thermo, a, t, down)) /
          (2 * h);
      assert_float_equal(slope, -c[i], 1e-9);
    }
  }
}

static void the_symmetric_eutectic_is_at_one(void **state)
{
  (void)state;
  gab_thermo thermo = symmetric_eutectic();
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  assert_float_equal(thermo.susceptibility[0][0][0], 2. / 3, 1e-15);
  assert_float_equal(thermo.susceptibility[3][0][1], -1. / 3, 1e-15);
  double t = 0.9, mu[2] = {0.8, 1.3}, c[2];
  assert_int_equal(gab_thermo_eutectic(&thermo, &t, mu), GAB_OK);
  assert_float_equal(t, 1, 1e-12);
  assert_float_equal(mu[0], 1, 1e-12);
  assert_float_equal(mu[1], 1, 1e-12);
  gab_thermo_concentration(&thermo, 1, t, mu, c);
  assert_float_equal(c[0], .146545, 1e-12);
  assert_float_equal(c[1], .70691, 1e-12);
  double latent = 0; /* T_E d(psi_l - psi_s)/dT at fixed mu: L = 1.24526 */
  latent = gab_thermo_grand_potential(&thermo, 3, 0.5, mu) - gab_thermo_grand_potential(&thermo, 0, 0.5, mu);
  assert_float_equal(latent / 0.5, 1.24526, 5e-5);
}

static void silver_aluminium_copper_is_as_published(void **state)
{
  (void)state;
  const double expected[2] = {0.999989, 0.999976},
               solids[3][2] = {{.169, .787}, {.583, .386}, {.0135, .6705}};
  for (int calphad = 0; calphad < 2; calphad++) {
    gab_thermo thermo = al_ag_cu(calphad);
    assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
    double t = 1, mu[2] = {0, 0}, c[2];
    assert_int_equal(gab_thermo_eutectic(&thermo, &t, mu), GAB_OK);
    assert_float_equal(t, expected[calphad], 1e-6);
    assert_true(fabs(mu[0]) < 1e-4 && fabs(mu[1]) < 1e-4);
    for (int a = 0; a < 3; a++) {
      gab_thermo_concentration(&thermo, a, t, mu, c);
      for (int i = 0; i < 2; i++) assert_float_equal(c[i], solids[a][i], 1e-4);
    }
  }
}

static void tie_lines_join_equal_grand_potentials(void **state)
{
  (void)state;
  gab_thermo thermo = symmetric_eutectic();
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  double mu[2] = {1, 1};
  assert_int_equal(gab_thermo_tie_line(&thermo, 0, 3, 0.95, mu), GAB_OK);
  assert_float_equal(gab_thermo_grand_potential(&thermo, 0, 0.95, mu),
                     gab_thermo_grand_potential(&thermo, 3, 0.95, mu), 1e-12);
  double c[2];
  gab_thermo_concentration(&thermo, 3, 0.95, mu, c);
  assert_float_equal(1 + .45 * (c[0] - 1. / 3), 0.95, 1e-9); /* on the liquidus */
}

static void kinetics_free_tau_is_the_thin_interface_limit(void **state)
{
  (void)state;
  assert_float_equal(gab_thermo_interface_integral(GAB_INTERPOLATION_CUBIC, GAB_POTENTIAL_OBSTACLE), 0.22168,
                     5e-6);
  assert_float_equal(gab_thermo_interface_integral(GAB_INTERPOLATION_MOELANS, GAB_POTENTIAL_OBSTACLE),
                     0.18067, 5e-6);
  /* Well: h (1 - h) / (3 phi (1 - phi)) over phi in [0, 1]: 19/90 for the cubic. */
  assert_float_equal(gab_thermo_interface_integral(GAB_INTERPOLATION_CUBIC, GAB_POTENTIAL_WELL), 19. / 90,
                     1e-9);
  gab_thermo thermo = symmetric_eutectic();
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  const double mu[2] = {1, 1};
  for (int a = 0; a < 3; a++) {
    double tau;
    assert_int_equal(gab_thermo_kinetics_free_tau(&thermo, a, 1, mu, 8, GAB_INTERPOLATION_CUBIC,
                                                  GAB_POTENTIAL_OBSTACLE, &tau),
                     GAB_OK);
    assert_float_equal(tau, 0.3713, 5e-5);
  }
}

static void tables_are_linear_between_points_and_beyond(void **state)
{
  (void)state;
  gab_of_temperature what = {.count = 3, .temperatures = {1, 2, 4}, .values = {10, 20, 0}};
  assert_float_equal(gab_of_temperature_at(&what, 1.5), 15, 0);
  assert_float_equal(gab_of_temperature_at(&what, 3), 10, 0);
  assert_float_equal(gab_of_temperature_at(&what, 0), 0, 0);
  assert_float_equal(gab_of_temperature_at(&what, 5), -10, 0);
  what.count = 0;
  what.value = 3;
  what.slope = -2;
  assert_float_equal(gab_of_temperature_at(&what, 2), -1, 0);
}

static void the_fastest_diffusion_compares_susceptibilities(void **state)
{
  (void)state;
  gab_thermo thermo = symmetric_eutectic();
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  assert_float_equal(gab_thermo_fastest_diffusion(&thermo), 1, 1e-12);
  for (int i = 0; i < 2; i++) /* a solid three times as stiff takes up a third of what the melt does */
    for (int j = 0; j < 2; j++) thermo.phase[1].curvature[i][j] *= 3;
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  assert_float_equal(gab_thermo_fastest_diffusion(&thermo), 3, 1e-12);
}

static void refused(gab_thermo *thermo, const char *what)
{
  assert_int_equal(gab_thermo_prepare(thermo), GAB_ERR_INPUT);
  if (!strstr(gab_error_message(), what)) fail_msg("`%s' does not say `%s'", gab_error_message(), what);
}

static void what_cannot_be_is_refused_with_numbers(void **state)
{
  (void)state;
  gab_thermo thermo = symmetric_eutectic();
  thermo.phase[2].curvature[0][1] = thermo.phase[2].curvature[1][0] = 1.5;
  refused(&thermo, "gamma: Xi is not positive definite: its leading minor of order 2 is -1.25");
  thermo = symmetric_eutectic();
  thermo.phase[0].curvature[0][1] = 0.25;
  refused(&thermo, "not symmetric");
  thermo = symmetric_eutectic();
  thermo.phase[3].diffusivity = -1;
  refused(&thermo, "-1");
  thermo = symmetric_eutectic();
  name_phase(&thermo.phase[1], "alpha");
  memset(thermo.phase[1].name + 5, 0, 4);
  refused(&thermo, "two phases are called `alpha'");
  thermo = symmetric_eutectic();
  thermo.phase[0].constant = (gab_of_temperature){.count = 2, .temperatures = {1, 1}};
  refused(&thermo, "do not ascend");
  thermo = symmetric_eutectic();
  thermo.phases = 3;
  double t = 1, mu[2] = {1, 1};
  assert_int_equal(gab_thermo_prepare(&thermo), GAB_OK);
  assert_int_equal(gab_thermo_eutectic(&thermo, &t, mu), GAB_ERR_INPUT);
  const double slopes[2] = {-1, 0}, c[2] = {.7, .1}, melt[2] = {.3, .3};
  assert_int_equal(gab_thermo_linear_solid(&thermo, 0, 1, c, melt, slopes), GAB_ERR_INPUT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(c_and_mu_are_inverse_and_psi_is_their_legendre_transform),
      cmocka_unit_test(the_symmetric_eutectic_is_at_one),
      cmocka_unit_test(silver_aluminium_copper_is_as_published),
      cmocka_unit_test(tie_lines_join_equal_grand_potentials),
      cmocka_unit_test(kinetics_free_tau_is_the_thin_interface_limit),
      cmocka_unit_test(tables_are_linear_between_points_and_beyond),
      cmocka_unit_test(the_fastest_diffusion_compares_susceptibilities),
      cmocka_unit_test(what_cannot_be_is_refused_with_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
