/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* Loads of sides and patches: their flows are the change of the mass, and the forces on sides and bodies are the loss
 * of momentum of the flow, both to rounding. With all kinds of open sides, in 2D and 3D, dense and sparse, on levels
 * that do not meet at an open side. A given flow rate or pressure is measured. The bits do not depend on
 * blocks. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

enum { SIZE = 16 };
static const gab_body rod = {.shape = GAB_SHAPE_SPHERE, .centre = {6.4, 7.3, 8.2}, .radius = 2.6};

static flow_case stream(int dimension, gab_side_kind end, int block)
{
  flow_case given = {.dimension = dimension, .bodies = &rod, .body_count = 1};
  for (int axis = 0; axis < 3; axis++) {
    given.cells[axis] = axis < dimension ? SIZE : 1;
    given.block[axis] = axis < dimension ? block : 1;
  }
  given.options = (gab_lbm_options){.omega = 1.5, .initial = dimension == 3 ? noisy_state : noisy_plane};
  for (int side = 0; side < 2 * dimension; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.sides[0] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                      .velocity = {0.04, 0.01, 0},
                                      .profile = GAB_PROFILE_PARABOLIC,
                                      .ramp_steps = 9};
  given.options.sides[1] = (gab_side){.kind = end, .density = 1.002, .advection = 0.03};
  given.options.sides[3].kind = GAB_SIDE_FREE_SLIP;
  return given;
}

/* @param[out] loads  of the last step */
static void balance(gab_world *world, flow *it, int dimension, int steps, gab_side_load *loads)
{
  for (int step = 0; step < steps; step++) {
    gab_lbm_integrals before, after;
    gab_body_load body;
    double mass = 0, momentum[3] = {0, 0, 0};
    REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &before));
    gab_lbm_request_side_loads(it->lbm);
    flow_run(it, 1);
    REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &after));
    REQUIRE_OK(gab_lbm_side_loads(it->lbm, loads));
    REQUIRE_OK(gab_lbm_loads(it->lbm, &body));
    for (int k = 0; k < gab_lbm_condition_count(gab_lbm_get_options(it->lbm)); k++) {
      mass += loads[k].flow;
      for (int axis = 0; axis < 3; axis++) momentum[axis] += loads[k].force[axis];
    }
    CHECK(step == 0 || (loads[0].flow > 0 && loads[1].flow != 0));
    CHECK(loads[2].flow == 0 && fabs(loads[3].flow) < 1e-12);
    REQUIRE_NEAR(mass, after.mass - before.mass, 2e-14 * before.mass);
    for (int axis = 0; axis < dimension; axis++)
      REQUIRE_NEAR(body.force[axis] + momentum[axis], before.momentum[axis] - after.momentum[axis],
                   1e-14 * before.mass);
  }
  (void)world;
}

static void all_is_balanced(gab_world *world)
{
  static const gab_side_kind ends[] = {GAB_SIDE_PRESSURE, GAB_SIDE_OUTFLOW, GAB_SIDE_CONVECTIVE};
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int end = 0; end < 3; end++) {
      gab_side_load seen[3][GAB_MOST_CONDITIONS];
      memset(seen, 0, sizeof seen);
      for (int variant = 0; variant < 3; variant++) {
        flow_case given = stream(dimension, ends[end], variant == 1 ? 4 : 8);
        if (variant == 2) given.options.kernel = "sparse";
        flow it = flow_open(world, &given);
        balance(world, &it, dimension, 6, seen[variant]);
        flow_close(&it);
      }
      CHECK(memcmp(seen[0], seen[1], sizeof seen[0]) == 0);
      CHECK(memcmp(seen[0], seen[2], sizeof seen[0]) == 0);
      CHECK(seen[0][0].area == (dimension == 2 ? SIZE : SIZE * SIZE));
    }
}

/* ------------------------------------------------------------------------------------------ levels */

static gab_mark mark_middle(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] >= 4 && cells->hi[0] <= 12 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* The middle of the channel is finer: walls have two levels, both ends have one. */
static void levels_are_balanced(gab_world *world)
{
  gab_side_load loads[GAB_MOST_CONDITIONS];
  flow_case given = stream(2, GAB_SIDE_PRESSURE, 4);
  flow it = {0};
  gab_forest_options options = {.grid = {.dimension = 2, .roots = {4, 4, 1}}, .cells = {4, 4, 1}, .dx = 1};
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = 1;
  REQUIRE_OK(gab_geometry_create(&domain, given.bodies, given.body_count, &it.geometry));
  options.exists = gab_geometry_block_exists;
  options.user = it.geometry;
  given.options.deepest = 1;
  REQUIRE_OK(gab_forest_create(world, &options, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &given.options, &it.lbm));
  REQUIRE_OK(gab_forest_build(it.forest, mark_middle, NULL, 1, gab_balance_distribute, NULL, NULL));
  for (int step = 0; step < 6; step++) {
    gab_lbm_integrals before, after;
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
    gab_lbm_request_side_loads(it.lbm);
    flow_run(&it, 1);
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
    REQUIRE_OK(gab_lbm_side_loads(it.lbm, loads));
    REQUIRE_NEAR(loads[0].flow + loads[1].flow, after.mass - before.mass, 2e-14 * before.mass);
    CHECK(step == 0 || loads[0].flow > 0); /* it starts at 0 */
  }
  flow_close(&it);
}

/* ------------------------------------------------------------------------------------------ given values */

/* Poiseuille flow from a flow rate to a pressure: both are measured, and so are the driving pressure and the friction
 * of the walls. */
static void given_is_measured(gab_world *world)
{
  enum { LENGTH = 24, HEIGHT = 8 };
  const double rate = 0.2, nu = (1 / 1.2 - 0.5) / 3;
  gab_side_load loads[GAB_MOST_CONDITIONS];
  flow_case given = {.dimension = 2, .cells = {LENGTH, HEIGHT, 1}, .block = {8, 8, 1}};
  given.options = (gab_lbm_options){.omega = 1.2};
  given.options.sides[0] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                      .velocity = {0.02, 0, 0},
                                      .profile = GAB_PROFILE_PARABOLIC,
                                      .flow_rate = rate};
  given.options.sides[1] = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1};
  given.options.sides[2].kind = given.options.sides[3].kind = GAB_SIDE_WALL;
  flow it = flow_open(world, &given);
  REQUIRE(gab_lbm_side_loads(it.lbm, loads) == GAB_ERR_STATE);
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(it.lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(it.lbm, sums, NULL));
  flow_run(&it, 4000);
  gab_lbm_request_side_loads(it.lbm);
  flow_run(&it, 1);
  REQUIRE_OK(gab_lbm_side_loads(it.lbm, loads));
  const double drop = 12 * nu * rate / pow(HEIGHT, 3) * LENGTH;
  REQUIRE_NEAR(loads[0].flow, rate, 1e-13);
  REQUIRE_NEAR(loads[1].flow, -rate, 1e-6);
  REQUIRE_NEAR(loads[1].pressure, 0, 0.02 * drop);
  REQUIRE_NEAR(loads[0].pressure, drop, 0.03 * drop);
  /* Links in the edges count as parts of the ends. */
  REQUIRE_NEAR(loads[2].force[0], drop * HEIGHT / 2, 0.03 * drop * HEIGHT);
  REQUIRE_NEAR(loads[3].force[0], drop * HEIGHT / 2, 0.03 * drop * HEIGHT);
  flow_close(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  all_is_balanced(world);
  levels_are_balanced(world);
  given_is_measured(world);
  return test_end(&world);
}
