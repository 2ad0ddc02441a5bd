/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* The torque on bodies is the loss of angular momentum of the flow, to rounding, in 2D and 3D, on staircases and
 * moving interpolated walls, in dense and sparse blocks. It has the same bits for any blocks. About another point it
 * differs by the offset times the force. A body across a periodic side has the torque of the same body inside. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

typedef struct spin_of_flow {
  gab_exact_sum sum[3];
} spin_of_flow;

/* Populations move along their direction c, so x × c is unchanged; a collision conserves the momentum of its cell. */
static void add_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  spin_of_flow *it = user;
  double x[3];
  for (int axis = 0; axis < 3; axis++) x[axis] = (double)cell[axis] + 0.5;
  for (int axis = 0; axis < 3 && fluid; axis++) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    gab_exact_add(&it->sum[axis], density * x[b] * u[c]);
    gab_exact_add(&it->sum[axis], -density * x[c] * u[b]);
  }
}

static void angular_momentum(gab_world *world, const flow *it, double found[3])
{
  spin_of_flow all;
  for (int axis = 0; axis < 3; axis++) gab_exact_clear(&all.sum[axis]);
  flow_visit(it, add_cell, &all);
  REQUIRE_OK(gab_world_sum_exact(world, all.sum, 3));
  for (int axis = 0; axis < 3; axis++) found[axis] = gab_exact_value(&all.sum[axis]);
}

enum { CELLS = 18, BODIES = 3 };

/* A box closed by bodies, with two more inside. All torques are about one point. */
static void make_bodies(gab_wall wall, int dimension, gab_body bodies[BODIES])
{
  const gab_body made[BODIES] = {{.shape = GAB_SHAPE_BOX,
                                  .wall = wall,
                                  .inside_is_fluid = true,
                                  .lo = {1.3, 1.6, dimension == 3 ? 1.4 : -INFINITY},
                                  .hi = {16.8, 16.5, dimension == 3 ? 16.7 : INFINITY}},
                                 {.shape = GAB_SHAPE_SPHERE,
                                  .wall = wall,
                                  .centre = {6.3, 7.2, 8.1},
                                  .radius = 3.1,
                                  .spin = {0, 0, 0.004},
                                  .spin_centre = {6.3, 7.2, 8.1}},
                                 {.shape = GAB_SHAPE_CYLINDER,
                                  .wall = wall,
                                  .centre = {12.4, 11.2, 9.3},
                                  .radius = 2.2,
                                  .length = 5,
                                  .axis = 2}};
  memcpy(bodies, made, sizeof made);
  for (int k = 0; k < BODIES; k++) {
    bodies[k].has_torque_point = true;
    memset(bodies[k].torque_point, 0, sizeof bodies[k].torque_point);
  }
}

static flow open_box(gab_world *world, int dimension, const gab_body bodies[BODIES], int block, bool sparse)
{
  flow_case given = {.dimension = dimension, .bodies = bodies, .body_count = BODIES};
  for (int axis = 0; axis < 3; axis++) {
    given.cells[axis] = axis < dimension ? CELLS : 1;
    given.block[axis] = axis < dimension ? block : 1;
  }
  given.options = (gab_lbm_options){.omega = 1.6,
                                    .initial = dimension == 3 ? noisy_state : noisy_plane,
                                    .kernel = sparse ? "sparse" : NULL};
  for (int side = 0; side < 2 * dimension; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  return flow_open(world, &given);
}

/* @param[out] loads  of the last step */
static void run_box(gab_world *world, int dimension, gab_wall wall, int block, bool sparse,
                    gab_body_load loads[BODIES])
{
  gab_body bodies[BODIES];
  make_bodies(wall, dimension, bodies);
  flow it = open_box(world, dimension, bodies, block, sparse);
  for (int step = 0; step < 5; step++) {
    double before[3], after[3];
    angular_momentum(world, &it, before);
    gab_lbm_request_forces(it.lbm);
    flow_run(&it, 1);
    angular_momentum(world, &it, after);
    REQUIRE_OK(gab_lbm_loads(it.lbm, loads));
    for (int axis = dimension == 2 ? 2 : 0; axis < 3; axis++) {
      double given = 0;
      for (int k = 0; k < BODIES; k++) {
        CHECK(loads[k].torque[axis] != 0);
        given += loads[k].torque[axis];
      }
      REQUIRE_NEAR(given, before[axis] - after[axis], 1e-11);
    }
    for (int axis = 0; axis < 2 && dimension == 2; axis++) CHECK(loads[0].torque[axis] == 0);
  }
  flow_close(&it);
}

static void flow_loses_what_bodies_get(gab_world *world)
{
  for (int dimension = 2; dimension <= 3; dimension++)
    for (int wall = 0; wall < 2; wall++) {
      gab_body_load seen[3][BODIES];
      run_box(world, dimension, (gab_wall)wall, 9, false, seen[0]);
      run_box(world, dimension, (gab_wall)wall, 6, false, seen[1]);
      run_box(world, dimension, (gab_wall)wall, 9, true, seen[2]);
      CHECK(memcmp(seen[0], seen[1], sizeof seen[0]) == 0);
      CHECK(memcmp(seen[0], seen[2], sizeof seen[0]) == 0);
    }
}

/* ------------------------------------------------------------------------------------------ other points */

static gab_body_load of_disc(gab_world *world, const gab_body *disc, const double force[3])
{
  gab_body_load load;
  flow_case given = {
      .dimension = 2, .cells = {24, 24, 1}, .block = {12, 8, 1}, .bodies = disc, .body_count = 1};
  given.options = (gab_lbm_options){.omega = 1.2};
  memcpy(given.options.force, force, sizeof given.options.force);
  flow it = flow_open(world, &given);
  flow_run(&it, 20);
  gab_lbm_request_forces(it.lbm);
  flow_run(&it, 1);
  REQUIRE_OK(gab_lbm_loads(it.lbm, &load));
  flow_close(&it);
  return load;
}

static void points_and_periods(gab_world *world)
{
  const double force[3] = {1e-4, 3e-5, 0};
  gab_body disc = {.shape = GAB_SHAPE_SPHERE,
                   .wall = GAB_WALL_INTERPOLATED,
                   .centre = {11.25, 12.5, 0},
                   .radius = 4.3,
                   .spin = {0, 0, 1e-3},
                   .spin_centre = {11.25, 12.5, 0}};
  const gab_body_load own = of_disc(world, &disc, force);
  disc.has_torque_point = true;
  disc.torque_point[0] = 40;
  disc.torque_point[1] = -7;
  const gab_body_load other = of_disc(world, &disc, force);
  const double arm[2] = {11.25 - 40, 12.5 + 7};
  CHECK(memcmp(own.force, other.force, sizeof own.force) == 0);
  REQUIRE_NEAR(other.torque[2], own.torque[2] + arm[0] * own.force[1] - arm[1] * own.force[0],
               1e-13 * fabs(other.torque[2]));
  disc.has_torque_point = false;
  for (int axis = 0; axis < 2; axis++) {
    disc.centre[axis] -= 12;
    disc.spin_centre[axis] -= 12;
  }
  const gab_body_load across = of_disc(world, &disc, force);
  CHECK(fabs(own.torque[2]) > 1e-3);
  REQUIRE_NEAR(across.torque[2], own.torque[2], 1e-12 * fabs(own.torque[2]));
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  flow_loses_what_bodies_get(world);
  points_and_periods(world);
  return test_end(&world);
}
