/* gabion-test: labels=quick timeout=30 */
#include "lbm/kernels/lattice.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static const gab_lattice *const lattices[] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27};
enum { LATTICES = sizeof lattices / sizeof lattices[0] };
static const double cs2 = 1.0 / 3.0;

static void expect_near(double a, double b) { assert_true(fabs(a - b) < 1e-15); }
static double same(int i, int j) { return i == j ? 1 : 0; }

static void opposites_are_opposite_and_the_first_component_of_odd_ones_positive(void **state)
{
  (void)state;
  for (int l = 0; l < LATTICES; l++)
    for (int q = 0; q < lattices[l]->q; q++) {
      int o = gab_lattice_opposite(q);
      const int8_t *c = lattices[l]->c[q];
      for (int axis = 0; axis < 3; axis++) assert_int_equal(c[axis], -lattices[l]->c[o][axis]);
      assert_int_equal(gab_lattice_opposite(o), q);
      int first = c[0] != 0 ? c[0] : c[1] != 0 ? c[1] : c[2];
      assert_int_equal(first, q == 0 ? 0 : q % 2 == 1 ? 1 : -1);
    }
}

static void weights_are_isotropic_up_to_fourth_order(void **state)
{
  (void)state;
  for (int l = 0; l < LATTICES; l++) {
    const gab_lattice *lattice = lattices[l];
    int d = lattice->dimension;
    double zero = 0;
    for (int q = 0; q < lattice->q; q++) zero += lattice->weight[q];
    expect_near(zero, 1);
    for (int i = 0; i < d; i++)
      for (int j = 0; j < d; j++) {
        double first = 0, second = 0;
        for (int q = 0; q < lattice->q; q++) {
          first += lattice->weight[q] * lattice->c[q][i];
          second += lattice->weight[q] * lattice->c[q][i] * lattice->c[q][j];
        }
        expect_near(first, 0);
        expect_near(second, cs2 * same(i, j));
        for (int k = 0; k < d; k++)
          for (int m = 0; m < d; m++) {
            double third = 0, fourth = 0;
            for (int q = 0; q < lattice->q; q++) {
              const int8_t *c = lattice->c[q];
              third += lattice->weight[q] * c[i] * c[j] * c[k];
              fourth += lattice->weight[q] * c[i] * c[j] * c[k] * c[m];
            }
            expect_near(third, 0);
            expect_near(fourth,
                        cs2 * cs2 *
                            (same(i, j) * same(k, m) + same(i, k) * same(j, m) + same(i, m) * same(j, k)));
          }
      }
  }
}

static void equilibrium_has_the_moments_of_density_momentum_and_stress(void **state)
{
  (void)state;
  for (int l = 0; l < LATTICES; l++) {
    const gab_lattice *lattice = lattices[l];
    const double u[3] = {0.05, -0.03, lattice->dimension == 3 ? 0.02 : 0}, drho = 0.04;
    double density = 0, momentum[3] = {0}, stress[3][3] = {{0}};
    for (int q = 0; q < lattice->q; q++) {
      double f = gab_lattice_equilibrium(lattice, q, drho, u);
      density += f;
      for (int i = 0; i < 3; i++) {
        momentum[i] += f * lattice->c[q][i];
        for (int j = 0; j < 3; j++) stress[i][j] += f * lattice->c[q][i] * lattice->c[q][j];
      }
    }
    expect_near(density, drho);
    for (int i = 0; i < lattice->dimension; i++) {
      expect_near(momentum[i], (1 + drho) * u[i]);
      for (int j = 0; j < lattice->dimension; j++)
        expect_near(stress[i][j], cs2 * drho * same(i, j) + (1 + drho) * u[i] * u[j]);
    }
  }
}

static void lattices_are_found_by_name(void **state)
{
  (void)state;
  assert_ptr_equal(gab_lattice_by_name("d3q19"), &gab_lattice_d3q19);
  assert_ptr_equal(gab_lattice_by_name("D2Q9"), &gab_lattice_d2q9);
  assert_ptr_equal(gab_lattice_by_name("d3q27"), &gab_lattice_d3q27);
  assert_null(gab_lattice_by_name("D3Q15"));
  assert_non_null(strstr(gab_error_message(), "D2Q9, D3Q19, D3Q27"));
}

static void every_lattice_has_its_number_and_a_dimension_its_usual_one(void **state)
{
  (void)state;
  for (int l = 0; l < LATTICES; l++) {
    assert_ptr_equal(gab_lattice_at(l), lattices[l]);
    assert_int_equal(gab_lattice_number(lattices[l]), l);
  }
  assert_null(gab_lattice_at(LATTICES));
  assert_null(gab_lattice_at(-1));
  const gab_lattice copy = gab_lattice_d2q9;
  assert_int_equal(gab_lattice_number(&copy), -1);
  assert_ptr_equal(gab_lattice_usual(2), &gab_lattice_d2q9);
  assert_ptr_equal(gab_lattice_usual(3), &gab_lattice_d3q19);
}

/* What an isotropic fluid has in sixth order: sum w c_x^2 c_y^2 c_z^2 = c_s^6. D3Q19 has none of it; no lattice with
 * components up to 1 has sum w c_x^6 = 15 c_s^6. */
static void the_full_lattice_alone_has_the_mixed_moment_of_sixth_order(void **state)
{
  (void)state;
  double mixed[LATTICES] = {0};
  for (int l = 0; l < LATTICES; l++)
    for (int q = 0; q < lattices[l]->q; q++) {
      const int8_t *c = lattices[l]->c[q];
      mixed[l] += lattices[l]->weight[q] * c[0] * c[0] * c[1] * c[1] * c[2] * c[2];
    }
  expect_near(mixed[1], 0);
  expect_near(mixed[2], cs2 * cs2 * cs2);
  assert_true(lattices[0]->is_full && !lattices[1]->is_full && lattices[2]->is_full);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opposites_are_opposite_and_the_first_component_of_odd_ones_positive),
      cmocka_unit_test(weights_are_isotropic_up_to_fourth_order),
      cmocka_unit_test(equilibrium_has_the_moments_of_density_momentum_and_stress),
      cmocka_unit_test(lattices_are_found_by_name),
      cmocka_unit_test(every_lattice_has_its_number_and_a_dimension_its_usual_one),
      cmocka_unit_test(the_full_lattice_alone_has_the_mixed_moment_of_sixth_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
