/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=120 */
/* Patches of bodies: the face of a box has the bits of a side of the domain. Inflow through a patch is its flow rate,
 * unchanged by the balance of walls. Loads of the parts of a body add up to its force and torque. All kernels give
 * the same bits; a pressure drives the flow of a duct. */
#include "core/messages/collective.h"
#include "lbm/boundaries/body_shape_impl.h"
#include "lbm/boundaries/shapes/shapes_impl.h"
#include "lbm/sides/patch.h"
#include "tests/lbm/lbm_common.h"

enum { SOLID = 4 }; /* cells of a body in front of the fluid */

static gab_patch box_patch(const char *name, size_t body, const double lo[3], const double hi[3],
                           gab_side condition)
{
  gab_patch made = {
      .path = "patch", .side = GAB_PATCH_ON_BODY, .body = body, .faces = 1, .condition = condition};
  snprintf(made.name, sizeof made.name, "%s", name);
  memcpy(made.lo, lo, sizeof made.lo);
  memcpy(made.hi, hi, sizeof made.hi);
  if (made.condition.density == 0) made.condition.density = 1;
  return made;
}

static void set_rates(flow *it)
{
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  REQUIRE_OK(gab_lbm_sum_sides(it->lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(it->lbm, sums, NULL));
}

/* ---------------------------------------------------------------- compared with a side */

typedef struct shifted {
  int64_t by;
  uint64_t sum;
} shifted;

static void hash_shifted(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  shifted *it = user;
  const double numbers[7] = {
      (double)(cell[0] - it->by), (double)cell[1], (double)cell[2], density, u[0], u[1], u[2]};
  if (fluid) it->sum += gab_hash64(numbers, sizeof numbers, 1);
}

static uint64_t hash_of(gab_world *world, const flow_case *given, int64_t shift)
{
  flow it = flow_open(world, given);
  shifted at = {.by = shift};
  set_rates(&it);
  flow_run(&it, 25);
  flow_visit(&it, hash_shifted, &at);
  REQUIRE_OK(gab_world_sum_u64(world, &at.sum, 1));
  flow_close(&it);
  return at.sum;
}

static void a_face_is_a_side(gab_world *world, int dimension, gab_wall wall)
{
  const int32_t depth = dimension == 3 ? 8 : 1;
  const gab_side inlet = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.03, 0.01}, .ramp_steps = 9, .density = 1};
  const gab_body plates[2] = {
      {.shape = GAB_SHAPE_BOX, .wall = wall, .lo = {-9, -99, -99}, .hi = {SOLID, 99, 99}},
      {.shape = GAB_SHAPE_BOX, .wall = wall, .lo = {SOLID + 12, -99, -99}, .hi = {99, 99, 99}}};
  const double lo[3] = {-99, -99, -99}, hi[3] = {99, 99, 99};
  static gab_patches patches;
  flow_case side = {.dimension = dimension, .cells = {12, 8, depth}, .block = {4, 4, depth == 1 ? 1 : 4}};
  side.options.omega = 1.3;
  side.options.sides[GAB_SIDE_X_MIN] = side.options.sides[GAB_SIDE_X_MAX] = inlet;
  flow_case body = side;
  body.cells[0] += 2 * SOLID;
  body.bodies = plates;
  body.body_count = 2;
  body.options.sides[GAB_SIDE_X_MIN] = body.options.sides[GAB_SIDE_X_MAX] = (gab_side){.kind = GAB_SIDE_WALL};
  patches = (gab_patches){.count = 2,
                          .on_bodies = 2,
                          .list = {box_patch("in", 0, lo, hi, inlet), box_patch("out", 1, lo, hi, inlet)}};
  body.options.patches = &patches;
  CHECK(hash_of(world, &side, 0) == hash_of(world, &body, SOLID));
}

/* ---------------------------------------------------------------- mass and loads */

enum { FIRST = GAB_SIDE_COUNT };

/* A sphere with outflow and a box with inflow, in a closed box. */
static flow_case jet_in_a_box(gab_patches *patches, gab_body bodies[2], const char *kernel)
{
  const double lo[3] = {0, 0, 8}, hi[3] = {99, 99, 99}, low[3] = {-99, -99, -99};
  bodies[0] = (gab_body){.shape = GAB_SHAPE_SPHERE,
                         .wall = GAB_WALL_INTERPOLATED,
                         .centre = {7.3, 8.1, 7.9},
                         .radius = 3.7,
                         .spin = {0, 0, 0.002},
                         .spin_centre = {7.3, 8.1, 7.9}};
  bodies[1] = (gab_body){
      .shape = GAB_SHAPE_BOX, .wall = GAB_WALL_INTERPOLATED, .lo = {20.3, -9, -9}, .hi = {99, 99, 99}};
  *patches = (gab_patches){.count = 3, .on_bodies = 3};
  patches->list[0] = box_patch("jet", 0, lo, hi,
                               (gab_side){.kind = GAB_SIDE_VELOCITY,
                                          .velocity = {0.01},
                                          .on_body = GAB_BODY_VELOCITY_NORMAL,
                                          .flow_rate = 0.7,
                                          .ramp_steps = 30});
  patches->list[1] = box_patch("rest", 0, low, hi, (gab_side){.kind = GAB_SIDE_WALL});
  patches->list[2] = box_patch("drain", 1, low, hi,
                               (gab_side){.kind = GAB_SIDE_VELOCITY,
                                          .velocity = {-0.01},
                                          .on_body = GAB_BODY_VELOCITY_NORMAL,
                                          .flow_rate = -0.7,
                                          .ramp_steps = 30});
  flow_case made = {
      .dimension = 3, .cells = {24, 16, 16}, .block = {8, 8, 8}, .bodies = bodies, .body_count = 2};
  made.options.omega = 1.1;
  made.options.kernel = kernel;
  made.options.patches = patches;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) made.options.sides[side].kind = GAB_SIDE_WALL;
  return made;
}

static void check_loads(flow *it, double rate)
{
  gab_side_load parts[GAB_MOST_CONDITIONS];
  gab_body_load whole[2];
  REQUIRE_OK(gab_lbm_side_loads(it->lbm, parts));
  REQUIRE_OK(gab_lbm_loads(it->lbm, whole));
  /* after a ramp sound waves are still present, and interpolated walls are of second order */
  CHECK(fabs(parts[FIRST].flow / rate - 1) < 0.15);
  CHECK(fabs(parts[FIRST + 2].flow / rate + 1) < 0.15);
  CHECK(fabs(parts[FIRST + 1].flow) < 0.15 * rate); /* error of an interpolated wall */
  for (int axis = 0; axis < 3; axis++) {
    const double force = parts[FIRST].force[axis] + parts[FIRST + 1].force[axis],
                 torque = parts[FIRST].torque[axis] + parts[FIRST + 1].torque[axis];
    CHECK(fabs(force - whole[0].force[axis]) < 1e-14);
    CHECK(fabs(torque - whole[0].torque[axis]) < 1e-13);
    CHECK(fabs(parts[FIRST + 2].force[axis] - whole[1].force[axis]) < 1e-14);
  }
  CHECK(whole[0].force[2] != 0 && parts[FIRST].force[2] != whole[0].force[2]);
}

static uint64_t run_jet(gab_world *world, const char *kernel)
{
  static gab_patches patches;
  gab_body bodies[2];
  gab_lbm_integrals before, after;
  const flow_case given = jet_in_a_box(&patches, bodies, kernel);
  flow it = flow_open(world, &given);
  set_rates(&it);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
  flow_run(&it, 79);
  gab_lbm_request_side_loads(it.lbm);
  flow_run(&it, 1);
  check_loads(&it, 0.7);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
  CHECK(fabs(after.mass - before.mass) < 1e-12 * before.mass);
  CHECK(gab_lbm_balances_walls(it.lbm));
  uint64_t hash = flow_hash(&it);
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  flow_close(&it);
  return hash;
}

/* ---------------------------------------------------------------- pressure */

typedef struct duct_flow {
  double rate;
  int64_t x;
} duct_flow;

static void add_rate(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  duct_flow *it = user;
  if (fluid && cell[0] == it->x) it->rate += density * u[0];
}

/* Plane Poiseuille flow between two faces of given pressure, at a fraction of a cell behind the last centres. @return
 * its flow rate divided by the exact one */
static double pressure_drives(gab_world *world, const char *kernel, double share)
{
  enum { LENGTH = 64, HEIGHT = 8 };
  const double drop = 0.004, low[3] = {-99, -99, -99}, hi[3] = {99, 99, 99}, omega = 1.2;
  const double first = SOLID + 0.5 - share, last = LENGTH - SOLID - 0.5 + share;
  const gab_body plates[2] = {
      {.shape = GAB_SHAPE_BOX, .wall = GAB_WALL_INTERPOLATED, .lo = {-9, -99, -99}, .hi = {first, 99, 99}},
      {.shape = GAB_SHAPE_BOX, .wall = GAB_WALL_INTERPOLATED, .lo = {last, -99, -99}, .hi = {99, 99, 99}}};
  static gab_patches patches;
  patches = (gab_patches){
      .count = 2,
      .on_bodies = 2,
      .list = {box_patch("in", 0, low, hi, (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1 + drop}),
               box_patch("out", 1, low, hi, (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1})}};
  flow_case given = {
      .dimension = 2, .cells = {LENGTH, HEIGHT, 1}, .block = {8, 4, 1}, .bodies = plates, .body_count = 2};
  given.options.omega = omega;
  given.options.kernel = kernel;
  given.options.patches = &patches;
  for (int side = 0; side < 4; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  flow it = flow_open(world, &given);
  duct_flow seen = {.x = LENGTH / 2};
  flow_run(&it, 6000);
  flow_visit(&it, add_rate, &seen);
  gab_exact_sum all = {0};
  gab_exact_add(&all, seen.rate);
  REQUIRE_OK(gab_world_sum_exact(world, &all, 1));
  flow_close(&it);
  const double viscosity = (1 / omega - 0.5) / 3, gradient = drop / 3 / (last - first);
  return gab_exact_value(&all) / (gradient * HEIGHT * HEIGHT * HEIGHT / (12 * viscosity));
}

/* ---------------------------------------------------------------- next to an open side */

/* Above a slope that ends at an open side, which reads what the patch sends along it. @param[in] normal_axis  of the side */
static uint64_t hash_beside_open_side(gab_world *world, const char *kernel, int normal_axis)
{
  const double low[3] = {-99, -99, -99}, hi[3] = {99, 99, 99};
  const double along = 1 / sqrt(0.04 + 2 * 0.49);
  gab_body slope = {.shape = GAB_SHAPE_OWN,
                    .wall = GAB_WALL_INTERPOLATED,
                    .own = &gab_shape_half_space,
                    .lo = {-99, -99, -99},
                    .hi = {99, 99, 99},
                    .numbers = {4.1, 4.2, 4.4}};
  for (int axis = 0; axis < 3; axis++) slope.numbers[3 + axis] = along * (axis == normal_axis ? 0.2 : 0.7);
  static gab_patches patches;
  patches = (gab_patches){
      .count = 1,
      .on_bodies = 1,
      .list = {box_patch("drain", 0, low, hi, (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1.003})}};
  flow_case given = {
      .dimension = 3, .cells = {12, 12, 12}, .block = {6, 6, 6}, .bodies = &slope, .body_count = 1};
  given.options.omega = 1.2;
  given.options.kernel = kernel;
  given.options.patches = &patches;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  for (int side = 2 * normal_axis; side < 2 * normal_axis + 2; side++)
    given.options.sides[side] = (gab_side){.kind = GAB_SIDE_PRESSURE, .density = 1};
  flow it = flow_open(world, &given);
  flow_run(&it, 9);
  uint64_t hash = flow_hash(&it);
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  flow_close(&it);
  return hash;
}

static void kernels_agree_beside_open_sides(gab_world *world)
{
  for (int axis = 0; axis < 3; axis++) {
    const uint64_t expected = hash_beside_open_side(world, "in_place", axis);
    CHECK(hash_beside_open_side(world, "sparse", axis) == expected);
    CHECK(hash_beside_open_side(world, "vector", axis) == expected);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int dimension = 2; dimension <= 3; dimension++) {
    a_face_is_a_side(world, dimension, GAB_WALL_STAIRCASE);
    a_face_is_a_side(world, dimension, GAB_WALL_INTERPOLATED);
  }
  CHECK(run_jet(world, "in_place") == run_jet(world, "sparse"));
  kernels_agree_beside_open_sides(world);
  const double shares[] = {0.5, 0.3, 0.7};
  for (int i = 0; i < 3; i++) {
    const double dense = pressure_drives(world, "in_place", shares[i]);
    CHECK(fabs(dense - 1) < 0.04);
    if (i == 1) CHECK(pressure_drives(world, "sparse", shares[i]) == dense);
  }
  return test_end(&world);
}
