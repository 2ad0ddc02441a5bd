/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 long=1 timeout=120 */
/* Sparse blocks, alone and next to dense blocks, give the bits of the reference with two grids in every state, in
 * the same cases as streaming in place; their memory is proportional to the fluid cells. */
#include "lbm/lbm_impl.h"
#include "tests/lbm/step/streaming_common.h"

static const families kinds = {.main = "sparse", .other = "auto"};

/* Many small bodies at random places, still and in motion, staircase and interpolated. */
enum { BODIES = 60 };
static void scatter_bodies(uint64_t seed, const int32_t cells[3], gab_body bodies[BODIES])
{
  for (uint64_t i = 0; i < BODIES; i++) {
    const uint64_t bits = gab_hash_counter(seed, i, 7);
    bodies[i] = (gab_body){.shape = GAB_SHAPE_SPHERE, .radius = 0.3 + 0.015625 * (double)(bits % 100)};
    if (bits >> 8 & 1) bodies[i].wall = GAB_WALL_INTERPOLATED;
    if (bits >> 9 & 1) bodies[i].velocity[0] = 0.01;
    for (int axis = 0; axis < 3; axis++)
      bodies[i].centre[axis] =
          0x1p-20 * (double)(gab_hash_counter(seed, i, (uint64_t)axis) >> 44) * (double)cells[axis];
  }
}

static void check_medium(gab_world *world, int dimension, int sides, gab_precision precision, uint64_t seed)
{
  gab_body bodies[BODIES];
  const bool deep = dimension == 3;
  flow_case given = {.dimension = dimension,
                     .cells = {12, 12, deep ? 8 : 1},
                     .block = {6, 6, deep ? 4 : 1},
                     .bodies = bodies,
                     .body_count = deep ? BODIES : BODIES / 2};
  scatter_bodies(seed, given.cells, bodies);
  set_sides(&given, sides);
  given.options.precision = precision;
  given.options.omega = 1.3;
  given.options.initial = deep ? noisy_state : noisy_plane;
  const int32_t plane[][3] = {{2, 3, 1}}, space[][3] = {{4, 6, 8}};
  check_case(world, &given, &kinds, deep ? space : plane, 1);
}

static size_t count_sparse(const flow *it)
{
  size_t count = 0;
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++)
    count += gab_lbm_block_of(it->lbm, gab_forest_block(it->forest, i))->sparse != NULL;
  return count;
}

/* A box that is full of fluid on one side and nearly filled by a body on the other. */
static flow_case half_filled(const gab_body *body)
{
  flow_case given = {
      .dimension = 3, .cells = {64, 32, 32}, .block = {32, 16, 16}, .bodies = body, .body_count = 1};
  for (int side = 0; side < 6; side++) given.options.sides[side].kind = GAB_SIDE_WALL;
  given.options.omega = 1;
  return given;
}
static const gab_body filling = {.shape = GAB_SHAPE_BOX, .lo = {34, 2, 2}, .hi = {62, 30, 30}};

static void expect_kinds(gab_world *world, const char *kernel, size_t least, size_t most)
{
  flow_case given = half_filled(&filling);
  given.options.kernel = kernel;
  flow it = flow_open(world, &given);
  uint64_t counts[2] = {count_sparse(&it), gab_forest_block_count(it.forest)};
  REQUIRE_OK(gab_world_sum_u64(world, counts, 2));
  REQUIRE(counts[1] == 8 && counts[0] >= least && counts[0] <= most);
  flow_close(&it);
}

/* Sparse blocks with all tables need less than one and a half times the memory of the populations; the field of
 * dense blocks alone needs more than four times as much. */
static void expect_memory_of_the_fluid(gab_world *world)
{
  flow_case given = half_filled(&filling);
  double share[2];
  for (int sparse = 0; sparse < 2; sparse++) {
    given.options.kernel = sparse ? "sparse" : "in_place";
    given.block[0] = 64;
    const gab_body all_through = {.shape = GAB_SHAPE_BOX, .lo = {-1, 2, 2}, .hi = {65, 30, 30}};
    given.bodies = &all_through;
    size_t fields = gab_memory_now(GAB_MEMORY_FIELD), all = gab_memory_now(GAB_MEMORY_USE_COUNT);
    flow it = flow_open(world, &given);
    fields = gab_memory_now(GAB_MEMORY_FIELD) - fields;
    all = gab_memory_now(GAB_MEMORY_USE_COUNT) - all;
    double fluid = (double)gab_lbm_count(it.lbm).fluid_cells;
    share[sparse] = fluid > 0 ? (double)(sparse ? all : fields) / (fluid * 19 * sizeof(double)) : 0;
    flow_close(&it);
  }
  if (share[0] > 0) REQUIRE(share[0] > 4 && share[1] < 3);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  set_threads(1);
  /* two of three variants; the others differ from these in one property only */
  for (int variant = 0; variant < 24; variant += 1 + variant % 3 / 2)
    check_flow(world, &kinds, gab_lattice_usual(2 + (variant & 1)), variant & 2 ? 1 : 0,
               gab_collision_at(variant / 8), variant & 4, (variant + variant / 4) % 4);
  check_flow(world, &kinds, &gab_lattice_d3q19, 2, &gab_collision_trt, true, 1);
  check_flow(world, &kinds, &gab_lattice_d2q9, 0, &gab_collision_rr, true, 2);
  check_flow(world, &kinds, &gab_lattice_d3q19, 1, &gab_collision_rr, false, 3);
  check_flow(world, &kinds, &gab_lattice_d3q19, 0, &gab_collision_smagorinsky, true, 2);
  for (int sides = 0; sides < 4; sides++)
    check_flow(world, &kinds, &gab_lattice_d3q27, sides % 2,
               sides % 2 ? &gab_collision_rr : &gab_collision_trt, sides / 2, sides);
  for (int sides = 0; sides < 4; sides++) {
    check_medium(world, 2 + sides % 2, sides, GAB_PRECISION_DOUBLE, (uint64_t)sides);
    check_medium(world, 3 - sides % 2, sides, sides & 2 ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE,
                 (uint64_t)(10 + sides));
    check_slabs(world, "sparse", 2 + sides % 2, sides);
  }
  check_slabs(world, "auto", 3, 2);
  expect_kinds(world, "auto", 4, 4);
  expect_kinds(world, "sparse", 8, 8);
  expect_kinds(world, "in_place", 0, 0);
  expect_memory_of_the_fluid(world);
  return test_end(&world);
}
