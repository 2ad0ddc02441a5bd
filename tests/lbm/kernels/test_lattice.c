/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "tests/install/own/d3q15.h"

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

/* The moment of sixth order of an isotropic fluid: sum w c_x^2 c_y^2 c_z^2 = c_s^6. It vanishes on D3Q19; no lattice
 * with components up to 1 has sum w c_x^6 = 15 c_s^6. */
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

/* ---- Lattices of programs. */

static void expect_refused(const gab_lattice *lattice, const char *why)
{
  assert_int_equal(gab_lattice_check(lattice), GAB_ERR_ARGUMENT);
  if (!strstr(gab_error_message(), why)) fail_msg("not '%s' but: %s", why, gab_error_message());
  assert_int_equal(gab_lattice_register(lattice), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_lattice_number(lattice), -1);
}

static void set(gab_lattice *of, int q, int8_t x, int8_t y, int8_t z)
{
  of->c[q][0] = x;
  of->c[q][1] = y;
  of->c[q][2] = z;
}

static void the_lattices_of_the_library_have_the_properties(void **state)
{
  (void)state;
  for (int l = 0; l < LATTICES; l++) assert_int_equal(gab_lattice_check(lattices[l]), GAB_OK);
  /* The family between D3Q19 and D3Q15. */
  gab_lattice between = gab_lattice_d3q27;
  for (int q = 0; q < 27; q++) {
    const int8_t *c = between.c[q];
    const int square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    between.weight[q] = (const double[]){11. / 36, 5. / 72, 1. / 48, 1. / 288}[square];
  }
  assert_int_equal(gab_lattice_check(&between), GAB_OK);
}

static void directions_that_are_not_as_they_should_be_are_refused(void **state)
{
  (void)state;
  gab_lattice l = d3q15;
  l.dimension = 4;
  expect_refused(&l, "dimension");
  l = d3q15;
  l.q = 14;
  expect_refused(&l, "not an odd number up to 27");
  l.q = 29;
  expect_refused(&l, "not an odd number up to 27");
  l = gab_lattice_d2q9;
  l.q = 11;
  expect_refused(&l, "up to 9");
  l = d3q15;
  set(&l, 1, 2, 0, 0);
  set(&l, 2, -2, 0, 0);
  expect_refused(&l, "component 2");
  l = gab_lattice_d2q9;
  set(&l, 3, 0, 1, 1);
  expect_refused(&l, "z component in 2D");
  l = d3q15;
  set(&l, 0, 1, 0, 0);
  expect_refused(&l, "direction 0 moves");
  l = d3q15;
  set(&l, 4, 0, 0, -1);
  expect_refused(&l, "directions 3 and 4 are not opposite");
  l = d3q15;
  set(&l, 3, 0, -1, 0);
  set(&l, 4, 0, 1, 0);
  expect_refused(&l, "odd one comes first");
  l = d3q15;
  set(&l, 3, 0, 0, 0);
  set(&l, 4, 0, 0, 0);
  expect_refused(&l, "odd one comes first");
  l = d3q15;
  set(&l, 5, 0, 1, 0);
  set(&l, 6, 0, -1, 0);
  expect_refused(&l, "directions 3 and 5 are the same");
  l = d3q15;
  l.is_full = true;
  expect_refused(&l, "is_full must be false");
  l = gab_lattice_d3q27;
  l.is_full = false;
  expect_refused(&l, "is_full must be true");
}

static void weights_that_are_not_as_they_should_be_are_refused(void **state)
{
  (void)state;
  gab_lattice l = d3q15;
  l.weight[0] = 0;
  expect_refused(&l, "direction 0 is 0: they are positive");
  l.weight[0] = NAN;
  expect_refused(&l, "they are positive");
  l = d3q15;
  l.weight[3] = nextafter(l.weight[3], 1);
  expect_refused(&l, "directions 3 and 4 are opposite");
  /* Mirror images: one pair along a space diagonal without the three others; equal weights except for one of these
   * pairs. */
  l = gab_lattice_d3q19;
  l.q = 21;
  set(&l, 19, 1, 1, 1);
  set(&l, 20, -1, -1, -1);
  l.weight[19] = l.weight[20] = 1. / 216;
  expect_refused(&l, "mirror image along x");
  l = d3q15;
  l.weight[7] = l.weight[8] = nextafter(l.weight[7], 1);
  expect_refused(&l, "mirror image along x");
  l = gab_lattice_d2q9;
  l.weight[5] = l.weight[6] = 1. / 35;
  expect_refused(&l, "mirror image");
  l = d3q15;
  l.weight[0] += 1e-9;
  expect_refused(&l, "sum of its weights");
  /* c_s^2 = 1/3 along x and y only. */
  l = d3q15;
  l.weight[5] = l.weight[6] = 1. / 9 - 1e-6;
  l.weight[0] += 2e-6;
  expect_refused(&l, "moment zz of second order");
}

/* Their density, momentum and c_s^2 = 1/3 are correct, but not the shear stress. */
static void lattices_that_carry_no_flow_are_refused(void **state)
{
  (void)state;
  gab_lattice l = gab_lattice_d2q9;
  l.q = 5;
  l.is_full = false;
  l.weight[0] = 1. / 3;
  for (int q = 1; q < 5; q++) l.weight[q] = 1. / 6;
  expect_refused(&l, "moment xxyy of fourth order");
  l = d3q15;
  l.q = 7;
  l.weight[0] = 1e-15;
  for (int q = 1; q < 7; q++) l.weight[q] = 1. / 6;
  expect_refused(&l, "moment xxyy of fourth order");
}

static void a_name_is_one_word_that_nobody_has(void **state)
{
  (void)state;
  static const char *const wrong[] = {NULL,       "",    "auto", "AUTO", "d3q19",
                                      "a|b",      "a/b", "a b",  "a,b",  "a1234567890123456789012345",
                                      "D\xc3\xbc"};
  gab_lattice l = d3q15;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    l.name = wrong[i];
    assert_int_equal(gab_lattice_register(&l), GAB_ERR_ARGUMENT);
  }
  l = d3q15;
  l.doc = NULL;
  assert_int_equal(gab_lattice_register(&l), GAB_ERR_ARGUMENT);
  assert_null(gab_lattice_at(LATTICES));
}

static void numbers_are_told_apart(void **state)
{
  (void)state;
  const gab_lattice l = d3q15;
  gab_lattice other = l;
  other.name = "other";
  assert_true(gab_lattice_numbers(&l) == gab_lattice_numbers(&other));
  other.weight[14] = nextafter(other.weight[14], 1);
  assert_true(gab_lattice_numbers(&l) != gab_lattice_numbers(&other));
  other = l;
  memcpy(other.c[3], l.c[5], sizeof other.c[3]);
  memcpy(other.c[5], l.c[3], sizeof other.c[5]);
  assert_true(gab_lattice_numbers(&l) != gab_lattice_numbers(&other));
}

/* The last test: registered lattices stay. */
static void lattices_are_registered_until_there_is_no_capacity(void **state)
{
  (void)state;
  static gab_lattice own[GAB_MOST_LATTICES];
  static char names[GAB_MOST_LATTICES][8];
  const int capacity = GAB_MOST_LATTICES - LATTICES;
  for (int i = 0; i <= capacity; i++) {
    own[i] = d3q15;
    names[i][0] = (char)('A' + i);
    own[i].name = names[i];
    assert_int_equal(gab_lattice_register(&own[i]), i < capacity ? GAB_OK : GAB_ERR_ARGUMENT);
  }
  assert_non_null(strstr(gab_error_message(), "cannot add"));
  assert_ptr_equal(gab_lattice_at(LATTICES + 1), &own[1]);
  assert_null(gab_lattice_at(GAB_MOST_LATTICES));
  assert_int_equal(gab_lattice_number(&own[capacity - 1]), GAB_MOST_LATTICES - 1);
  assert_ptr_equal(gab_lattice_by_name("b"), &own[1]);
  assert_ptr_equal(gab_lattice_usual(3), &gab_lattice_d3q19);
  assert_null(gab_lattice_by_name("none"));
  assert_non_null(strstr(gab_error_message(), "D3Q27, A, B"));
  assert_int_equal(gab_lattice_register(&own[0]), GAB_ERR_ARGUMENT);
  assert_non_null(strstr(gab_error_message(), "already"));
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
      cmocka_unit_test(the_lattices_of_the_library_have_the_properties),
      cmocka_unit_test(directions_that_are_not_as_they_should_be_are_refused),
      cmocka_unit_test(weights_that_are_not_as_they_should_be_are_refused),
      cmocka_unit_test(lattices_that_carry_no_flow_are_refused),
      cmocka_unit_test(a_name_is_one_word_that_nobody_has),
      cmocka_unit_test(numbers_are_told_apart),
      cmocka_unit_test(lattices_are_registered_until_there_is_no_capacity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
