/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
#include "lbm/setup/lbm_config.h"
#include "core/base/log.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/sides/side_turbulence_impl.h"
#include "lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A domain of 40 x 20 (x 10) cells of width 0.1. */
static gab_domain domain_of(int dimension)
{
  return (gab_domain){.dimension = dimension, .cells = {40, 20, dimension == 3 ? 10 : 1}, .dx = 0.1};
}

static gab_status read_text_as(const char *text, int dimension, gab_lbm_setup *setup)
{
  gab_config *config;
  bool periodic[3];
  gab_domain domain = domain_of(dimension);
  REQUIRE_OK(gab_config_create(&config));
  REQUIRE_OK(gab_lbm_declare(config));
  gab_status status = gab_config_load_text(config, "test.yaml", text, strlen(text));
  if (status == GAB_OK) status = gab_config_check(config);
  if (status == GAB_OK) status = gab_lbm_periodic_from_config(config, dimension, periodic);
  if (status == GAB_OK) memcpy(domain.periodic, periodic, sizeof periodic);
  *setup = (gab_lbm_setup){0};
  if (status == GAB_OK) status = gab_lbm_setup_from_config(config, &domain, NULL, setup);
  if (status == GAB_OK) status = gab_lbm_setup_check_bodies(setup, &domain, NULL);
  gab_config_destroy(&config);
  return status;
}

static void expect_refused(const char *text, int dimension, const char *message)
{
  gab_lbm_setup setup;
  gab_status status = read_text_as(text, dimension, &setup);
  if (status != GAB_ERR_INPUT || !strstr(gab_error_message(), message))
    fail_msg("status %d, message \"%s\" lacks \"%s\"", status, gab_error_message(), message);
}

static void rates_of_moments_and_the_magic_parameter_exclude_each_other(void **state)
{
  (void)state;
  gab_lbm_setup setup;
  REQUIRE_OK(read_text_as(
      "lbm: {collision: mrt, rate_energy_flux: 1.3, rate_third: 1.7}\nfluid: {omega: 1.5}\n", 3, &setup));
  REQUIRE(setup.options.magic == 0 && setup.options.mrt.energy_flux == 1.3 && setup.options.mrt.third == 1.7);
  gab_lbm_setup_release(&setup);
  REQUIRE_OK(read_text_as("lbm: {collision: mrt, magic: 0.25}\nfluid: {omega: 1.5}\n", 3, &setup));
  REQUIRE(setup.options.magic == 0.25);
  gab_lbm_setup_release(&setup);
  expect_refused("lbm: {collision: mrt, magic: 0.25, rate_energy_flux: 1.3}\nfluid: {omega: 1.5}\n", 2,
                 "lbm.magic, 0.25, gives this rate");
}

static void a_channel_in_physical_units_reaches_the_lattice(void **state)
{
  (void)state;
  gab_lbm_setup setup;
  REQUIRE_OK(
      read_text_as("lbm: {collision: srt, precision: float, kernel: reference}\n"
                   "fluid: {reynolds: 100, velocity: 2, length: 0.5, density: 1000, acceleration: [0.5, 0]}\n"
                   "units: {lattice_velocity: 0.05}\n"
                   "boundaries:\n"
                   "  x_min: {type: velocity, velocity: [2, 0], profile: parabolic, ramp_time: 0.25}\n"
                   "  x_max: {type: pressure, pressure: 40}\n"
                   "  y_min: {type: wall}\n"
                   "  y_max: {type: free_slip}\n"
                   "bodies:\n"
                   "  - {type: cylinder, name: rod, centre: [1, 1], radius: 0.4}\n"
                   "  - {type: box, lo: [3, 0], hi: [3.5, 0.5], wall: staircase}\n",
                   2, &setup));
  /* dt = dx * 0.05 / 2, nu = 2 * 0.5 / 100 */
  REQUIRE_NEAR(setup.units.dt, 0.0025, 1e-18);
  REQUIRE_NEAR(setup.viscosity, 0.01, 1e-17);
  REQUIRE_NEAR(setup.reynolds, 100, 1e-12);
  REQUIRE_NEAR(setup.options.omega, 1 / (3 * 0.01 * 0.0025 / 0.01 + 0.5), 1e-14);
  REQUIRE_NEAR(setup.options.force[0], 0.5 * 0.0025 * 0.0025 / 0.1, 1e-18);
  REQUIRE(setup.options.collision == &gab_collision_srt && setup.options.precision == GAB_PRECISION_FLOAT);
  REQUIRE(strcmp(setup.options.kernel, "reference") == 0);
  const gab_side *sides = setup.options.sides;
  REQUIRE(sides[GAB_SIDE_X_MIN].kind == GAB_SIDE_VELOCITY && sides[GAB_SIDE_X_MAX].kind == GAB_SIDE_PRESSURE);
  REQUIRE(sides[GAB_SIDE_Y_MIN].kind == GAB_SIDE_WALL && sides[GAB_SIDE_Y_MAX].kind == GAB_SIDE_FREE_SLIP);
  REQUIRE(sides[GAB_SIDE_X_MIN].profile == GAB_PROFILE_PARABOLIC);
  REQUIRE_NEAR(sides[GAB_SIDE_X_MIN].velocity[0], 0.05, 1e-15);
  REQUIRE_NEAR(sides[GAB_SIDE_X_MIN].ramp_steps, 100, 1e-10);
  REQUIRE_NEAR(sides[GAB_SIDE_X_MAX].density, 1 + 3 * 40 / (1000 * 1600.0), 1e-14);
  REQUIRE(setup.body_count == 2 && strcmp(setup.bodies[0].name, "rod") == 0);
  REQUIRE(setup.bodies[0].shape == GAB_SHAPE_CYLINDER && setup.bodies[0].wall == GAB_WALL_INTERPOLATED);
  REQUIRE(setup.bodies[1].shape == GAB_SHAPE_BOX && setup.bodies[1].wall == GAB_WALL_STAIRCASE);
  gab_lbm_setup_release(&setup);
}

/* Every kernel can be chosen by its name, and a wrong name lists all of them. */
static void every_kernel_that_is_listed_can_be_chosen(void **state)
{
  (void)state;
  static const char *const known[] = {"auto", "in_place", "sparse", "vector", "reference"};
  enum { KNOWN = sizeof known / sizeof known[0] };
  char text[120];
  for (int i = 0; i < KNOWN; i++) {
    gab_lbm_setup setup;
    gab_lbm_kernel_choice choice;
    REQUIRE(gab_kernel_family_at(i) && strcmp(gab_kernel_family_at(i)->name, known[i]) == 0);
    snprintf(text, sizeof text, "lbm: {kernel: %s}\nfluid: {omega: 1.5}\n", known[i]);
    REQUIRE_OK(read_text_as(text, 2, &setup));
    REQUIRE(strcmp(setup.options.kernel, known[i]) == 0);
    REQUIRE_OK(gab_lbm_choose_kernel(&setup.options, (const int32_t[3]){20, 20, 1}, &choice));
    const char *family = i == 0 ? "in_place" : known[i];
    REQUIRE(strncmp(choice.name, family, strlen(family)) == 0 && choice.name[strlen(family)] == '/');
    setup.options.kernel = "fastest";
    REQUIRE(gab_lbm_choose_kernel(&setup.options, (const int32_t[3]){20, 20, 1}, &choice) == GAB_ERR_INPUT);
    REQUIRE(strstr(gab_error_message(), known[i]));
    gab_lbm_setup_release(&setup);
    expect_refused("lbm: {kernel: fastest}\nfluid: {omega: 1.5}\n", 2, known[i]);
  }
  REQUIRE(!gab_kernel_family_at(-1) && !gab_kernel_family_at(KNOWN));
}

static void mixed_precision_stores_floats_and_computes_in_double(void **state)
{
  (void)state;
  gab_lbm_setup setup;
  static const struct {
    const char *text;
    gab_precision stored;
    bool mixed;
  } cases[] = {{"double", GAB_PRECISION_DOUBLE, false},
               {"float", GAB_PRECISION_FLOAT, false},
               {"mixed", GAB_PRECISION_FLOAT, true}};
  for (int i = 0; i < 3; i++) {
    char text[120];
    snprintf(text, sizeof text, "lbm: {precision: %s}\nfluid: {omega: 1.5}\n", cases[i].text);
    REQUIRE_OK(read_text_as(text, 2, &setup));
    REQUIRE(setup.options.precision == cases[i].stored && setup.options.mixed == cases[i].mixed);
    gab_lbm_setup_release(&setup);
  }
}

static void two_of_time_step_viscosity_and_omega_give_the_third(void **state)
{
  (void)state;
  gab_lbm_setup a, b, c;
  REQUIRE_OK(read_text_as("fluid: {viscosity: 0.02}\nunits: {dt: 0.05}\n", 2, &a));
  char text[200];
  snprintf(text, sizeof text, "fluid: {viscosity: 0.02, omega: %.17g}\n", a.options.omega);
  REQUIRE_OK(read_text_as(text, 2, &b));
  snprintf(text, sizeof text, "fluid: {omega: %.17g}\nunits: {dt: 0.05}\n", a.options.omega);
  REQUIRE_OK(read_text_as(text, 2, &c));
  REQUIRE_NEAR(b.units.dt, 0.05, 1e-14);
  gab_lbm_setup_release(&b);
  REQUIRE_NEAR(c.viscosity, 0.02, 1e-14);
  REQUIRE_OK(read_text_as("fluid: {omega: 1.5}\n", 2, &b));
  REQUIRE_NEAR(b.units.dt, 1, 0);
  REQUIRE(a.units.are_given && !b.units.are_given);
  REQUIRE_OK(read_text_as("fluid: {omega: 1.5}\nunits: {dt: 1}\n", 2, &b));
  REQUIRE(b.units.are_given);
  gab_lbm_setup_release(&a);
  gab_lbm_setup_release(&b);
  gab_lbm_setup_release(&c);
  expect_refused("fluid: {omega: 1.5, viscosity: 1}\nunits: {dt: 1}\n", 2, "give omega already");
  expect_refused("units: {dt: 1}\n", 2, "needs viscosity, reynolds or omega");
  expect_refused("fluid: {viscosity: 1}\n", 2, "needs dt or lattice_velocity");
  expect_refused("fluid: {viscosity: 1, reynolds: 5}\nunits: {dt: 1}\n", 2, "not both");
  expect_refused("fluid: {reynolds: 5}\nunits: {dt: 1}\n", 2, "needs fluid.velocity");
}

static void cells_across_a_body_are_those_of_the_level_that_covers_it(void **state)
{
  (void)state;
  const gab_domain domain = {.dimension = 3, .cells = {64, 64, 64}, .dx = 1};
  const gab_body body = {.shape = GAB_SHAPE_SPHERE, .centre = {10, 10, 10}, .radius = 0.4};
  gab_lbm_setup setup = {.options = {.omega = 1}, .bodies = (gab_body *)(uintptr_t)&body, .body_count = 1};
  gab_criterion criteria[] = {
      {.kind = GAB_CRITERION_BOX, .level = 2, .lo = {9, 9, 9}, .hi = {11, 11, 11}},
      {.kind = GAB_CRITERION_BOX, .level = 3, .lo = {9, 9, 10}, .hi = {11, 11, 11}}, /* half of it */
      {.kind = GAB_CRITERION_VORTICITY, .level = 3},                                 /* not at the start */
      {.kind = GAB_CRITERION_BODIES, .level = 1}};
  gab_refinement_setup refinement = {.max_level = 3, .criteria = criteria, .count = 4};
  assert_int_equal(gab_refinement_level_at(&refinement, &domain, &body), 2);
  REQUIRE_OK(gab_lbm_setup_check_bodies(&setup, &domain, &refinement)); /* 3.2 cells */
  assert_int_equal(gab_lbm_setup_check_bodies(&setup, &domain, NULL), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "0.8 cells across"));
  criteria[0].level = 1; /* 1.6 cells */
  assert_int_equal(gab_lbm_setup_check_bodies(&setup, &domain, &refinement), GAB_ERR_INPUT);
}

static void impossible_flows_are_refused_with_place_and_numbers(void **state)
{
  (void)state;
  expect_refused("fluid: {omega: 2.0}\n", 2, "test.yaml:1:");
  expect_refused("fluid: {omega: 1.0}\nboundaries:\n  x_min: {type: wall}\n", 2, "both are or none");
  expect_refused("fluid: {omega: 1.0}\nboundaries:\n  z_min: {type: wall}\n  z_max: {type: wall}\n", 2,
                 "no sides along z");
  expect_refused("fluid: {omega: 1.0}\nboundaries:\n  x_min: {type: wal}\n  x_max: {type: wall}\n", 2, "wal");
  expect_refused("fluid: {omega: 1.0, velocity: 0.5, length: 1}\nunits: {lattice_velocity: 0.3}\n", 2,
                 "Mach");
  expect_refused("fluid: {omega: 1.0}\nbodies:\n  - {type: sphere, centre: [1, 1], radius: 0.05}\n", 2,
                 "cells across");
  expect_refused("fluid: {omega: 1.0}\nbodies:\n  - {type: box, lo: [1, 1], hi: [1, 2]}\n", 2,
                 "lower corner");
  expect_refused(
      "fluid: {omega: 1.0}\nbodies:\n  - {type: mask, file: a.png, lo: [0, 0, 0], hi: [1, 1, 1]}\n", 3,
      "only be a body in 2D");
  expect_refused("fluid: {omega: 1.0, acceleration: [0, 1]}\n", 3, "3 dimensions");
  expect_refused("fluid: {omega: 1.0}\nlbm: {lattice: d3q19}\n", 2, "D2Q9");
  expect_refused("fluid: {omega: 1.0}\nlbm: {lattice: d3q15}\n", 2, "d3q27");
}

static void sponges_without_effect_or_too_strong_are_refused(void **state)
{
  (void)state;
  const char *const with =
      "fluid: {omega: 1.0}\nboundaries:\n  x_min: {type: wall}\n  x_max: {type: outflow, ";
  static const struct {
    const char *keys, *message;
  } wrong[] = {{"sponge_damping: 3}\n", "has no effect without boundaries.x_max.sponge_thickness"},
               {"sponge_velocity: [0.1, 0]}\n", "has no effect without"},
               {"sponge_thickness: 0.2}\n", "is 2 cells, less than 4"},
               {"sponge_thickness: 0.5, sponge_damping: 0}\n", "the sponge has no effect"},
               {"sponge_thickness: 0.5, sponge_damping: 9}\n",
                "more than 0.5: a layer of 5 cells can have 1.44 at most"}};
  expect_refused(
      "fluid: {omega: 1.0}\nboundaries:\n  x_min: {type: velocity, velocity: [0.1, 0], turbulence_intensity: 0.1}\n"
      "  x_max: {type: outflow}\n",
      2, "needs turbulence_length");
  expect_refused(
      "fluid: {omega: 1.0}\nboundaries:\n  x_min: {type: velocity, velocity: [0.1, 0], turbulence_intensity: 0.1, "
      "turbulence_length: 0.1}\n  x_max: {type: outflow}\n",
      2, "is 1 cells, less than 2");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", with, wrong[i].keys);
    expect_refused(text, 2, wrong[i].message);
  }
  gab_lbm_setup setup; /* the default is the maximum of the layer, but at most 4 */
  for (int cells = 5; cells < 40; cells += 10) {
    char text[512];
    snprintf(text, sizeof text, "%ssponge_thickness: %g}\n", with, 0.1 * cells);
    REQUIRE_OK(read_text_as(text, 2, &setup));
    const double rate = setup.options.sides[GAB_SIDE_X_MAX].sponge.rate;
    assert_true(cells < 14 ? fabs(rate - 0.5) < 1e-12 : fabs(rate - 12 * sqrt(1 / 3.) / cells) < 1e-12);
    gab_lbm_setup_release(&setup);
  }
}

static double speed_of(const char *inlet)
{
  char text[512];
  gab_lbm_setup setup;
  snprintf(
      text, sizeof text,
      "fluid: {omega: 1.0}\nunits: {dt: 0.1}\nboundaries:\n  x_min: {type: velocity, %s}\n  x_max: {type: outflow}\n",
      inlet);
  REQUIRE_OK(read_text_as(text, 2, &setup));
  const double speed = setup.speed;
  gab_lbm_setup_release(&setup);
  return speed;
}

/* As a plain velocity of mean and three rms values, of the mean velocity of the side, at the largest factor in time. */
static void fluctuations_of_an_inlet_count_as_speed(void **state)
{
  (void)state;
  const char *const turbulent = "turbulence_intensity: 0.2, turbulence_length: 0.4";
  char inlet[200];
  REQUIRE_NEAR(speed_of("velocity: [0.1, 0]"), 0.1, 1e-15);
  snprintf(inlet, sizeof inlet, "velocity: [0.1, 0], %s", turbulent);
  REQUIRE_NEAR(speed_of(inlet), 0.1 + 3 * 0.2 * 0.1, 1e-15);
  snprintf(inlet, sizeof inlet, "velocity: [0.1, 0], factor: 0.5, %s", turbulent);
  REQUIRE_NEAR(speed_of(inlet), 0.5 * (0.1 + 3 * 0.2 * 0.1), 1e-15);
  snprintf(inlet, sizeof inlet, "velocity: [0.1, 0], shape: 0.25 + y / 2, %s",
           turbulent); /* up to 1.225, in the mean 0.75 */
  REQUIRE_NEAR(speed_of(inlet), 1.225 * 0.1 + 3 * 0.2 * 0.75 * 0.1, 1e-12);
  expect_refused(
      "fluid: {omega: 1.0}\nunits: {dt: 0.1}\nboundaries:\n  x_min: {type: velocity, velocity: [0.12, 0], "
      "turbulence_intensity: 0.25, turbulence_length: 0.4}\n  x_max: {type: outflow}\n",
      2, "boundaries.x_min.velocity: the Mach number on the lattice is 0.364");
  expect_refused(
      "fluid: {omega: 1.0}\nunits: {dt: 0.1}\nboundaries:\n  x_min: {type: velocity, flow_rate: 0.24, "
      "turbulence_intensity: 0.25, turbulence_length: 0.4}\n  x_max: {type: outflow}\n",
      2, "or lower the turbulence");
}

static void stresses_of_an_inlet_are_read_in_order_and_are_those_of_velocities(void **state)
{
  (void)state;
  static const struct {
    const char *keys, *message;
  } wrong[] = {{"turbulence_stresses: [1e-4, 1e-4, 0], turbulence_length: 0.4, turbulence_intensity: 0.1",
                "turbulence_"},
               {"turbulence_stresses: [1e-4, 1e-4, 0]", "needs turbulence_length"},
               {"turbulence_stresses: [1e-4, 1e-4, 0, 0], turbulence_length: 0.4",
                "has 4 numbers; in 2D it needs xx, yy, xy"},
               {"turbulence_stresses: [1e-4, 1e-4, 1e-4], turbulence_length: 0.4", "not positive definite"},
               {"turbulence_stresses: [1e-4, -1e-4, 0], turbulence_length: 0.4", "not positive definite"},
               {"turbulence_stresses: [0, 1e-4, 0], turbulence_length: 0.4", "not positive definite"}};
  char text[512];
  gab_lbm_setup setup;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(
        text, sizeof text,
        "fluid: {omega: 1.0}\nunits: {dt: 0.1}\nboundaries:\n  x_min: {type: velocity, velocity: [0.1, 0], %s}\n  x_max: {type: "
        "outflow}\n",
        wrong[i].keys);
    expect_refused(text, 2, wrong[i].message);
  }
  REQUIRE_OK(read_text_as(
      "fluid: {omega: 1.0}\nunits: {dt: 0.05}\nboundaries:\n  x_min: {type: velocity, velocity: [0.1, 0, 0], turbulence_length: 0.3, "
      "turbulence_stresses: [9e-4, 4e-4, 2e-4, -1e-4, 5e-5, 2e-5]}\n  x_max: {type: outflow}\n",
      3, &setup));
  static const double asked[3][3] = {{9e-4, -1e-4, 5e-5}, {-1e-4, 4e-4, 2e-5}, {5e-5, 2e-5, 2e-4}};
  for (int a = 0; a < 9; a++)
    REQUIRE_NEAR(setup.options.sides[GAB_SIDE_X_MIN].turbulence->stress[a / 3][a % 3],
                 asked[a / 3][a % 3] / 4, 1e-18);
  REQUIRE_NEAR(setup.speed, 0.05 + 3 * sqrt(1.05e-3 / 4), 1e-12); /* the largest sum of a row */
  gab_lbm_setup_release(&setup);
}

static void a_log_law_in_an_edge_with_free_slip_needs_few_links(void **state)
{
  (void)state;
  static const char *const with =
      "boundaries: {y_min: {type: wall, roughness_length: 0.01}, y_max: {type: wall}, z_min: {type: free_slip}, z_max: {type: "
      "free_slip}}\nfluid: {omega: 1.2}\nlbm: {lattice: %s}\n";
  char text[512];
  gab_lbm_setup setup;
  snprintf(text, sizeof text, with, "d3q27");
  assert_int_equal(read_text_as(text, 3, &setup), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "boundaries.y_min.roughness_length: beside a free-slip side"));
  snprintf(text, sizeof text, with, "d3q19");
  REQUIRE_OK(read_text_as(text, 3, &setup));
  gab_lbm_setup_release(&setup);
}

static void lattices_of_space_are_chosen_by_name(void **state)
{
  (void)state;
  gab_lbm_setup setup;
  REQUIRE_OK(read_text_as("fluid: {omega: 1.2}\n", 3, &setup));
  assert_ptr_equal(setup.options.lattice, &gab_lattice_d3q19);
  gab_lbm_setup_release(&setup);
  REQUIRE_OK(read_text_as("fluid: {omega: 1.2}\nlbm: {lattice: d3q27, collision: rr}\n", 3, &setup));
  assert_ptr_equal(setup.options.lattice, &gab_lattice_d3q27);
  gab_lbm_setup_release(&setup);
  assert_int_equal(read_text_as("fluid: {omega: 1.2}\nlbm: {lattice: d2q9}\n", 3, &setup), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "D3Q19 or D3Q27"));
  assert_int_equal(read_text_as("fluid: {omega: 1.2}\nlbm: {lattice: d3q27, collision: mrt}\n", 3, &setup),
                   GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "MRT is not defined on the lattice D3Q27"));
}

static void taylor_green_vortices_come_with_their_gradient(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    gab_lbm_setup setup;
    REQUIRE_OK(read_text_as("fluid: {omega: 1.2}\ninitial: {type: taylor_green, velocity: 0.005}\n",
                            dimension, &setup));
    const double at[3] = {0.93, 0.41, 0.27}, h = 1e-5;
    gab_lbm_state here = {.density = 1};
    setup.options.initial(setup.options.initial_user, at, &here);
    double divergence = here.gradient[0][0] + here.gradient[1][1] + here.gradient[2][2];
    REQUIRE_NEAR(divergence, 0, 1e-16);
    for (int j = 0; j < dimension; j++) {
      double more[3] = {at[0], at[1], at[2]}, less[3] = {at[0], at[1], at[2]};
      gab_lbm_state above = {.density = 1}, below = {.density = 1};
      more[j] += h;
      less[j] -= h;
      setup.options.initial(setup.options.initial_user, more, &above);
      setup.options.initial(setup.options.initial_user, less, &below);
      for (int i = 0; i < 3; i++)
        REQUIRE_NEAR(here.gradient[i][j], (above.velocity[i] - below.velocity[i]) / (2 * h) * 0.1, 1e-9);
    }
    gab_lbm_setup_release(&setup);
  }
}

int main(void)
{
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_of_moments_and_the_magic_parameter_exclude_each_other),
      cmocka_unit_test(a_channel_in_physical_units_reaches_the_lattice),
      cmocka_unit_test(every_kernel_that_is_listed_can_be_chosen),
      cmocka_unit_test(mixed_precision_stores_floats_and_computes_in_double),
      cmocka_unit_test(two_of_time_step_viscosity_and_omega_give_the_third),
      cmocka_unit_test(cells_across_a_body_are_those_of_the_level_that_covers_it),
      cmocka_unit_test(impossible_flows_are_refused_with_place_and_numbers),
      cmocka_unit_test(sponges_without_effect_or_too_strong_are_refused),
      cmocka_unit_test(fluctuations_of_an_inlet_count_as_speed),
      cmocka_unit_test(stresses_of_an_inlet_are_read_in_order_and_are_those_of_velocities),
      cmocka_unit_test(a_log_law_in_an_edge_with_free_slip_needs_few_links),
      cmocka_unit_test(lattices_of_space_are_chosen_by_name),
      cmocka_unit_test(taylor_green_vortices_come_with_their_gradient),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
