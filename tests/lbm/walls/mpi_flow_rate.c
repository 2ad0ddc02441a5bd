/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 */
/* Sides with a flow rate have exactly that inflow, for any profile, with bodies in the side and on levels; their
 * scale is part of the state. */
#include "tests/lbm/lbm_common.h"

static const gab_body step = {.shape = GAB_SHAPE_BOX, .lo = {-3, -3, -3}, .hi = {6, 5.4, 30}};

static flow_case case_of(int dimension, gab_profile profile)
{
  flow_case given = {.dimension = dimension,
                     .cells = {16, 24, dimension == 2 ? 1 : 16},
                     .block = {8, 8, dimension == 2 ? 1 : 8},
                     .bodies = &step,
                     .body_count = 1,
                     .options = {.omega = 1.2}};
  for (int side = 0; side < 2 * dimension; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.sides[GAB_SIDE_X_MIN] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.01}, .profile = profile, .flow_rate = 0.11};
  given.options.sides[GAB_SIDE_X_MAX] =
      (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.02}, .flow_rate = -0.07};
  return given;
}

static double mass_of(flow *it)
{
  gab_lbm_integrals now;
  REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &now));
  return now.mass;
}

static void set_rates(flow *it)
{
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(it->lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(it->lbm, sums, NULL));
}

static void mass_grows_by_the_flow_rates(gab_world *world, int dimension, gab_profile profile)
{
  flow_case given = case_of(dimension, profile);
  flow it = flow_open(world, &given);
  CHECK(gab_lbm_step(it.lbm) == GAB_ERR_STATE && strstr(gab_error_message(), "boundaries.x_min"));
  set_rates(&it);
  const double before = mass_of(&it);
  flow_run(&it, 10);
  REQUIRE_NEAR(mass_of(&it) - before, 10 * (0.11 - 0.07), 1e-11);
  flow_close(&it);
}

/* A side with a body at its foot: 19 of 24 cells are fluid. */
static void sums_are_those_of_the_grid(gab_world *world)
{
  flow_case given = case_of(2, GAB_PROFILE_CONSTANT);
  flow it = flow_open(world, &given);
  gab_side_sums sums[GAB_MOST_CONDITIONS], once[GAB_MOST_CONDITIONS] = {0};
  REQUIRE_OK(gab_lbm_sum_sides(it.lbm, sums));
  CHECK(gab_exact_value(&sums[GAB_SIDE_X_MIN].area) == 19 &&
        gab_exact_value(&sums[GAB_SIDE_X_MAX].area) == 24);
  REQUIRE_NEAR(gab_exact_value(&sums[GAB_SIDE_X_MIN].flow), 19 * 0.01, 1e-15);
  REQUIRE_NEAR(gab_exact_value(&sums[GAB_SIDE_X_MAX].flow), -24 * 0.02, 1e-15);
  CHECK(gab_exact_value(&sums[GAB_SIDE_X_MIN].wetted) == 2);
  CHECK(gab_lbm_passes_fluid(it.lbm, GAB_SIDE_X_MIN) && !gab_lbm_passes_fluid(it.lbm, GAB_SIDE_Y_MIN));
  const gab_box all = {{0, 0, 0}, {16, 24, 1}};
  gab_lbm_add_side_sums(it.lbm, 0, &all, once);
  CHECK(gab_exact_value(&once[GAB_SIDE_X_MIN].flow) == gab_exact_value(&sums[GAB_SIDE_X_MIN].flow));
  REQUIRE_OK(gab_lbm_set_flow_rates(it.lbm, sums, NULL));
  REQUIRE_NEAR(gab_lbm_side_factor(it.lbm, GAB_SIDE_X_MIN, 3), 0.11 / (19 * 0.01), 1e-14);
  CHECK(gab_lbm_side_peak(it.lbm, GAB_SIDE_X_MIN) == gab_lbm_side_factor(it.lbm, GAB_SIDE_X_MIN, 0));
  flow_close(&it);
}

static void scales_are_part_of_the_state(gab_world *world)
{
  flow_case given = case_of(2, GAB_PROFILE_PARABOLIC);
  flow it = flow_open(world, &given), other = flow_open(world, &given);
  flow_image image;
  set_rates(&it);
  flow_run(&it, 3);
  flow_pack(&it, &image);
  gab_reader rest = gab_reader_of_buffer(&image.rest);
  REQUIRE_OK(gab_lbm_unpack_state(other.lbm, &rest));
  CHECK(gab_lbm_side_factor(other.lbm, GAB_SIDE_X_MIN, 0) == gab_lbm_side_factor(it.lbm, GAB_SIDE_X_MIN, 0));
  flow_image_release(&image);
  flow_close(&it);
  flow_close(&other);
}

/* Without walls a force f gives the fluid the momentum n f in n steps. */
static void a_force_may_change(gab_world *world)
{
  const double first[3] = {1e-5, 0, 0}, second[3] = {-2e-5, 0, 0};
  flow_case given = {.dimension = 2, .cells = {24, 8, 1}, .block = {8, 8, 1}, .options = {.omega = 1.2}};
  flow fixed = flow_open(world, &given);
  CHECK(gab_lbm_set_force(fixed.lbm, first) == GAB_ERR_STATE);
  flow_close(&fixed);
  given.options.force_varies = true;
  flow it = flow_open(world, &given);
  gab_lbm_integrals now;
  REQUIRE_OK(gab_lbm_set_force(it.lbm, first));
  flow_run(&it, 10);
  REQUIRE_OK(gab_lbm_set_force(it.lbm, second));
  flow_run(&it, 4);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &now));
  /* by populations alone; the velocity differs by half a step of the present force */
  REQUIRE_NEAR(now.momentum[0] / now.mass, 10 * 1e-5 - 4 * 2e-5, 2e-5);
  flow_close(&it);
}

static void refuse(gab_world *world, const flow_case *given, const char *words)
{
  int failed = -1;
  flow it = flow_open(world, given);
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(it.lbm, sums));
  CHECK(gab_lbm_set_flow_rates(it.lbm, sums, &failed) == GAB_ERR_INPUT && strstr(gab_error_message(), words));
  CHECK(failed == GAB_SIDE_X_MIN);
  flow_close(&it);
}

static void impossible_rates_are_refused(gab_world *world)
{
  static const gab_body plug = {.shape = GAB_SHAPE_BOX, .lo = {-3, -3, -3}, .hi = {2, 30, 30}};
  flow_case given = case_of(2, GAB_PROFILE_CONSTANT);
  given.bodies = &plug;
  refuse(world, &given, "no factor makes");
  given = case_of(2, GAB_PROFILE_CONSTANT);
  given.options.sides[GAB_SIDE_X_MIN].flow_rate = 19 * 0.3;
  refuse(world, &given, "Mach");
}

int main(int argc, char **argv)
{
  static const gab_profile profiles[] = {GAB_PROFILE_CONSTANT, GAB_PROFILE_PARABOLIC, GAB_PROFILE_DUCT};
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int i = 0; i < 3; i++) mass_grows_by_the_flow_rates(world, dimension, profiles[i]);
  sums_are_those_of_the_grid(world);
  scales_are_part_of_the_state(world);
  impossible_rates_are_refused(world);
  a_force_may_change(world);
  return test_end(&world);
}
