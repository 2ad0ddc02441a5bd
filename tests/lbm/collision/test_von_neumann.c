/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=120 */
/* Waves in a uniform flow do not grow with the default rates of any collision model, up to a speed and an omega that
 * depend on the model, for any angle and wave number: von Neumann's analysis of the computed collision. */
#include "tests/lbm/lbm_common.h"
#include "tests/install/own/d3q15.h"
#include "von_neumann.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const double pi = 3.14159265358979323846;
/* Per step; in 10^5 steps a wave changes by at most one percent. */
static const double allowed = 1e-7;
static gab_world *world;

typedef struct flow_state {
  int dimension;
  gab_lbm_options options; /* of the collision */
  double speed, reynolds;  /* Reynolds number of a cell: not 0 determines omega */
} flow_state;

static double omega_of(const flow_state *given)
{
  return given->reynolds > 0 ? 1 / (0.5 + 3 * given->speed / given->reynolds) : given->options.omega;
}

/* The rates that the library derives from these options. */
static gab_collision_rates rates_taken(const flow_state *given)
{
  flow_case made = {.dimension = given->dimension, .options = given->options};
  for (int axis = 0; axis < 3; axis++) made.cells[axis] = made.block[axis] = axis < given->dimension ? 4 : 1;
  made.options.omega = omega_of(given);
  flow it = flow_open(world, &made);
  const gab_collision_rates rates = it.lbm->model.level[0].rates;
  flow_close(&it);
  return rates;
}

static void wave_number(int dimension, uint64_t i, double k[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const double share = gab_hash_uniform(5, (uint64_t)axis, i);
    k[axis] = axis < dimension ? pi * (2 * share - 1) : 0;
    if (i % 4 == 1) k[axis] = round(6 * k[axis] / pi) * pi / 6; /* along axes and diagonals */
  }
}

/* The largest growth over angles and wave numbers. */
static double largest_growth(const flow_state *given)
{
  const gab_lattice *lattice = given->options.lattice;
  if (!lattice) lattice = gab_lattice_usual(given->dimension);
  const gab_collision_rates rates = rates_taken(given);
  const gab_kernel *kernel = gab_kernel_find("reference", gab_lbm_collision(&given->options),
                                             (gab_kernel_variant){.lattice = gab_lattice_number(lattice)});
  const uint64_t waves = given->dimension == 2 ? 200 : 120;
  double largest = -INFINITY;
  for (int angle = 0; angle < 4; angle++) {
    const double a = angle * pi / 12,
                 b = given->dimension == 3 ? angle % 2 * 0.6155 : 0; /* towards the space diagonal */
    const double u[3] = {given->speed * cos(a) * cos(b), given->speed * sin(a) * cos(b),
                         given->speed * sin(b)};
    const collision_matrix collision =
        linearised(kernel, gab_lbm_collision(&given->options), &rates, lattice, u);
    for (uint64_t i = 0; i < waves; i++) {
      double k[3];
      wave_number(given->dimension, i, k);
      largest = fmax(largest, wave_growth(&collision, k, allowed));
    }
  }
  return largest;
}

static void expect_no_growth(flow_state given)
{
  const double growth = largest_growth(&given);
  if (growth <= allowed) return;
  fail_msg("%dD, %s, omega %.4f, speed %g: a wave grows by up to %.7f per step", given.dimension,
           gab_lbm_collision(&given.options)->name, omega_of(&given), given.speed, exp(growth));
}

static void expect_growth(flow_state given, double above)
{
  const double growth = largest_growth(&given);
  if (growth <= log(above))
    fail_msg("%dD, %s, omega %.4f, speed %g: waves grow by %.7f, not above %g", given.dimension,
             gab_lbm_collision(&given.options)->name, omega_of(&given), given.speed, exp(growth), above);
}

static const double omegas[] = {0.3, 1.0, 1.7, 1.9, 1.98, 1.995};
static const double speeds[] = {0.02, 0.1, 0.15};
enum { OMEGAS = sizeof omegas / sizeof omegas[0], SPEEDS = sizeof speeds / sizeof speeds[0] };

static void single_rate_keeps_waves_up_to_omega_1_98(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2 * OMEGAS * SPEEDS; variant++) {
    flow_state given = {.dimension = 2 + variant % 2, .speed = speeds[variant / 2 % SPEEDS]};
    given.options.collision = &gab_collision_srt;
    given.options.omega = omegas[variant / 2 / SPEEDS];
    if (given.options.omega > 1.99 && (given.speed > 0.1 || given.dimension == 3))
      continue; /* in 3D some waves grow */
    expect_no_growth(given);
  }
  expect_growth((flow_state){2, {.collision = &gab_collision_srt, .omega = 1.98}, .speed = 0.2}, 1.01);
}

/* With the magic parameter of half-way walls the limit is the Reynolds number of a cell, not the speed. */
static void two_rates_keep_waves_up_to_a_cell_reynolds_number_of_15(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2 * SPEEDS * 3; variant++) {
    flow_state given = {.dimension = 2 + variant % 2, .speed = speeds[variant / 2 % SPEEDS]};
    given.reynolds = (double[]){2, 10, 15}[variant / 2 / SPEEDS];
    expect_no_growth(given);
  }
  expect_growth((flow_state){2, .speed = 0.1, .reynolds = 30}, 1.005);
  expect_growth((flow_state){3, .speed = 0.1, .reynolds = 50}, 1.005);
}

static void rates_of_moments_keep_waves_up_to_omega_1_98(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2 * OMEGAS * SPEEDS; variant++) {
    flow_state given = {.dimension = 2 + variant % 2, .speed = speeds[variant / 2 % SPEEDS]};
    given.options.collision = &gab_collision_mrt;
    given.options.omega = omegas[variant / 2 / SPEEDS];
    if (given.options.omega > 1.98 && given.dimension == 3) continue;
    expect_no_growth(given);
  }
}

/* With a magic parameter of 3/16 for the energy flux, and with former rates, waves grow by 1.027, 1.072, 1.099 at a speed
 * of 0.1. */
static void recursive_regularisation_keeps_waves_at_all_these_rates(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2 * OMEGAS * SPEEDS; variant++) {
    flow_state given = {.dimension = 2 + variant % 2, .speed = speeds[variant / 2 % SPEEDS]};
    given.options.collision = &gab_collision_rr;
    given.options.omega = omegas[variant / 2 / SPEEDS];
    expect_no_growth(given);
  }
  /* Parameters with which waves grow with two rates. */
  for (int variant = 0; variant < 2 * 4; variant++) {
    flow_state given = {
        .dimension = 2 + variant % 2, .speed = 0.1, .reynolds = (double[]){10, 30, 100, 200}[variant / 2]};
    given.options.collision = &gab_collision_rr;
    expect_no_growth(given);
  }
  for (int dimension = 2; dimension <= 3; dimension++)
    expect_no_growth((flow_state){dimension, {.collision = &gab_collision_rr, .omega = 1.98}, .speed = 0.2});
  expect_growth((flow_state){3, {.collision = &gab_collision_rr, .omega = 1.98}, .speed = 0.3}, 1.005);
  expect_growth((flow_state){3, {.collision = &gab_collision_rr}, .speed = 0.1, .reynolds = 1000}, 1.0001);
}

/* On D3Q27 equilibrium and stress give all moments up to the sixth order. */
static void so_do_it_and_two_rates_on_the_full_lattice_of_space(void **state)
{
  (void)state;
  for (int variant = 0; variant < OMEGAS * SPEEDS; variant++) {
    flow_state given = {.dimension = 3, .speed = speeds[variant % SPEEDS]};
    given.options.lattice = &gab_lattice_d3q27;
    given.options.collision = &gab_collision_rr;
    given.options.omega = omegas[variant / SPEEDS];
    expect_no_growth(given);
  }
  for (int i = 0; i < 3; i++) {
    flow_state given = {.dimension = 3, .speed = 0.1, .reynolds = (double[]){2, 10, 15}[i]};
    given.options.lattice = &gab_lattice_d3q27;
    expect_no_growth(given);
    given.options.collision = &gab_collision_rr;
    given.reynolds = (double[]){30, 100, 200}[i];
    expect_no_growth(given);
  }
}

/* On D3Q15, registered by a program, the bound is lower: stability.c warns earlier. */
static void on_axes_and_corners_two_rates_keep_waves_up_to_a_cell_reynolds_number_of_10(void **state)
{
  (void)state;
  char text[512];
  assert_int_equal(gab_lattice_register(&d3q15), GAB_OK);
  for (int variant = 0; variant < SPEEDS * 2; variant++) {
    flow_state given = {.dimension = 3, .speed = speeds[variant % SPEEDS]};
    given.options.lattice = &d3q15;
    given.reynolds = (double[]){2, 10}[variant / SPEEDS];
    expect_no_growth(given);
  }
  flow_state given = {3, {.lattice = &d3q15}, .speed = 0.02, .reynolds = 15};
  expect_growth(given, 1.0005);
  given.options.omega = omega_of(&given);
  gab_lbm_advise(&given.options, given.speed, 0, text, sizeof text);
  assert_non_null(strstr(text, "above 10"));
  assert_non_null(strstr(text, "lbm.collision: srt does not")); /* mrt is not defined there */
  gab_lbm_advise_diverged(&given.options, text, sizeof text);
  assert_string_equal(text,
                      "another collision model (lbm.collision: srt; now trt); other values of lbm.magic; ");
  given.options.lattice = &gab_lattice_d3q19;
  gab_lbm_advise_diverged(&given.options, text, sizeof text);
  assert_non_null(strstr(text, "mrt with "));
  given.options.lattice = NULL;
  gab_lbm_advise(&given.options, given.speed * 0.99, 0, text, sizeof text);
  assert_string_equal(text, "");
}

static void the_magic_parameter_of_walls_makes_rates_of_moments_grow_waves(void **state)
{
  (void)state;
  const double omega[] = {1.9, 1.95, 1.98}, known[] = {1.0266, 1.0716, 1.0992};
  for (int i = 0; i < 3; i++) {
    flow_state given = {.dimension = 2, .speed = 0.1};
    given.options = (gab_lbm_options){.collision = &gab_collision_mrt, .omega = omega[i], .magic = 3.0 / 16};
    given.options.mrt = (gab_mrt_rates){.energy = 1.19, .energy_square = 1.4};
    const double growth = exp(largest_growth(&given));
    assert_true(growth < known[i] + 5e-4 && growth > known[i] - 3e-3);
  }
}

static void every_rate_can_be_given(void **state)
{
  (void)state;
  flow_state given = {.dimension = 3};
  given.options = (gab_lbm_options){.collision = &gab_collision_mrt, .omega = 1.5};
  given.options.mrt = (gab_mrt_rates){1.1, 1.2, 1.3, 1.4, 1.6};
  gab_collision_rates rates = rates_taken(&given);
  REQUIRE_NEAR(rates.energy, (1.1 - 1.5) / 2394, 1e-15);
  REQUIRE_NEAR(rates.energy_square, (1.2 - 1.5) / 252, 1e-15);
  REQUIRE_NEAR(rates.odd, 1.3, 1e-15);
  REQUIRE_NEAR(rates.stress, (1.4 - 1.5) / 72, 1e-15);
  REQUIRE_NEAR(rates.third, (1.6 - 1.3) / 8, 1e-15);
  given.options.mrt = (gab_mrt_rates){.energy = 1.1};
  rates = rates_taken(&given);
  REQUIRE_NEAR(rates.odd, 1.2, 1e-15);
  REQUIRE_NEAR(rates.third, (1.98 - 1.2) / 8, 1e-15);
  given.options.magic = 0.25;
  rates = rates_taken(&given);
  REQUIRE_NEAR((1 / rates.even - 0.5) * (1 / rates.odd - 0.5), 0.25, 1e-14);
  REQUIRE_NEAR(rates.third, 0, 0);
}

static void the_bound_is_the_spectral_radius(void **state)
{
  (void)state;
  /* A triangular matrix with the eigenvalues 0.5, 0.9 i, -1.01; its off-diagonal entries make the first powers grow. */
  wave a[9] = {0.5, 3, 5, 0, 0.9 * I, 7, 0, 0, -1.01};
  REQUIRE_NEAR(log_growth(3, a, -1), log(1.01), 1e-6);
}

static int open_world(void **state)
{
  (void)state;
  return gab_world_create(NULL, NULL, &world) == GAB_OK ? 0 : 1;
}

static int close_world(void **state)
{
  (void)state;
  gab_world_destroy(&world);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_is_the_spectral_radius),
      cmocka_unit_test(single_rate_keeps_waves_up_to_omega_1_98),
      cmocka_unit_test(two_rates_keep_waves_up_to_a_cell_reynolds_number_of_15),
      cmocka_unit_test(rates_of_moments_keep_waves_up_to_omega_1_98),
      cmocka_unit_test(recursive_regularisation_keeps_waves_at_all_these_rates),
      cmocka_unit_test(so_do_it_and_two_rates_on_the_full_lattice_of_space),
      cmocka_unit_test(on_axes_and_corners_two_rates_keep_waves_up_to_a_cell_reynolds_number_of_10),
      cmocka_unit_test(the_magic_parameter_of_walls_makes_rates_of_moments_grow_waves),
      cmocka_unit_test(every_rate_can_be_given),
  };
  return cmocka_run_group_tests(tests, open_world, close_world);
}
