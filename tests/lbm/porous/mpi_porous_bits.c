/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* Porous regions give the same bits with every kernel, in blocks of any size, fused and sparse, after a restore, and computed twice; they
 * keep the mass of a closed box to rounding, next to a body and with a local force. Sides know the velocity of the flow. Impossible regions and neighbours are refused. */
#include "core/messages/collective.h"
#include "lbm/collision/rheology.h"
#include "lbm/porous/porous.h"
#include "lbm/step/local_force.h"
#include "tests/lbm/lbm_common.h"

enum { STEPS = 12 };

static const gab_porous_region regions[] = {
    {.shape = {.name = "ball", .shape = GAB_SHAPE_SPHERE, .centre = {5, 4, 4}, .radius = 3},
     .linear = {0.4, 0.4, 0.4},
     .quadratic = {6, 6, 6}},
    {.shape = {.name = "slab", .shape = GAB_SHAPE_BOX, .lo = {8, -1, -1}, .hi = {10, 9, 9}},
     .linear = {0.01, 1.6, 0.2},
     .quadratic = {0.5, 1, 3}}};
static const gab_body body = {.name = "body",
                              .shape = GAB_SHAPE_SPHERE,
                              .wall = GAB_WALL_STAIRCASE,
                              .centre = {4, 2, 4},
                              .radius = 1.6};

static flow_case case_of(const char *kernel, int32_t size)
{
  const gab_side wall = {.kind = GAB_SIDE_WALL};
  return (flow_case){.dimension = 3,
                     .cells = {12, 8, 8},
                     .block = {size == 0 ? 4 : size, size == 0 ? 8 : size, size == 0 ? 8 : size},
                     .bodies = &body,
                     .body_count = 1,
                     .options = {.omega = 1.3,
                                 .kernel = kernel,
                                 .force = {1e-4, 0, 2e-5},
                                 .sides = {wall, wall, wall, wall, wall, wall},
                                 .initial = noisy_state,
                                 .porous = regions,
                                 .porous_count = 2}};
}

static uint64_t hash_of(gab_world *world, flow *it)
{
  uint64_t sum = flow_hash(it);
  REQUIRE_OK(gab_world_sum_u64(world, &sum, 1));
  return sum;
}

static uint64_t run(gab_world *world, const char *kernel, int32_t size, int fused)
{
  flow_case given = case_of(kernel, size);
  given.options.fused_blocks = fused;
  flow of = flow_open(world, &given);
  flow_run(&of, STEPS);
  const uint64_t hash = hash_of(world, &of);
  flow_close(&of);
  return hash;
}

static void push(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                 double *const force[3])
{
  (void)user, (void)block;
  for (int32_t i = 0; i < count; i++) force[1][i] = 1e-4 * (1 + first[0] + i);
}

/* @return its hash */
static uint64_t run_with_force(gab_world *world, const char *kernel, bool twice)
{
  const gab_local_force force = {"a push", NULL, push};
  const flow_case given = case_of(kernel, 4);
  gab_lbm_integrals first, last;
  flow of = flow_open(world, &given);
  flow_image image;
  REQUIRE_OK(gab_lbm_set_local_force(of.lbm, &force));
  REQUIRE_OK(gab_lbm_integrate(of.lbm, false, &first));
  for (int step = 0; step < STEPS; step++) {
    if (twice) REQUIRE_OK(gab_lbm_request_recomputation(of.lbm, 1));
    REQUIRE_OK(gab_lbm_step(of.lbm));
    if (twice) REQUIRE_OK(gab_lbm_check_recomputed(of.lbm, false));
  }
  REQUIRE_OK(gab_lbm_integrate(of.lbm, false, &last));
  CHECK(fabs(last.mass / first.mass - 1) < 1e-14);
  flow_pack(&of, &image);
  flow_run(&of, STEPS);
  const uint64_t straight = hash_of(world, &of);
  flow_restore(&of, &image);
  flow_run(&of, STEPS);
  CHECK(hash_of(world, &of) == straight);
  flow_image_release(&image);
  flow_close(&of);
  return straight;
}

/* With a local force that the drag balances, the velocity with half of it is that of the law. */
static void force_and_drag_balance(gab_world *world)
{
  const gab_local_force force = {"a push", NULL, push};
  const gab_porous_region region = {
      .shape = {.name = "all", .shape = GAB_SHAPE_BOX, .lo = {-1, -1, -1}, .hi = {99, 99, 99}},
      .linear = {1.1, 1.1, 1.1}};
  flow_case given = {.dimension = 2,
                     .cells = {4, 4, 1},
                     .block = {1, 2, 1},
                     .options = {.omega = 1.2, .kernel = "in_place", .porous = &region, .porous_count = 1}};
  flow of = flow_open(world, &given);
  gab_porous_load load;
  REQUIRE_OK(gab_lbm_set_local_force(of.lbm, &force)); /* 1e-4 in all cells, since blocks are one cell wide */
  flow_run(&of, 200);
  REQUIRE_OK(gab_lbm_porous_loads(of.lbm, &load));
  CHECK(fabs(load.velocity[1] / (1e-4 / 1.1) - 1) < 1e-10 && fabs(load.force[1] / 16e-4 - 1) < 1e-10);
  flow_close(&of);
}

/* ------------------------------------------------------------------------------------------ sides */

/* A uniform flow at an angle that the drag slows: body force and drag balance. */
static flow_case uniform_case(const gab_porous_region *region, const gab_side sides[GAB_SIDE_COUNT])
{
  flow_case given = {.dimension = 2,
                     .cells = {8, 4, 1},
                     .block = {2, 4, 1},
                     .options = {.omega = 1.2,
                                 .velocity = {0.02, 0.01, 0},
                                 .force = {0.02 * region->linear[0], 0.01 * region->linear[0], 0},
                                 .porous = region,
                                 .porous_count = 1}};
  memcpy(given.options.sides, sides, sizeof given.options.sides);
  return given;
}

static const gab_porous_region everywhere = {
    .shape = {.name = "all", .shape = GAB_SHAPE_BOX, .lo = {-9, -9, -9}, .hi = {99, 99, 99}},
    .linear = {0.8, 0.8, 0.8}};

/* Each side has its flow, edges included. */
static void flow_passes_sides(gab_world *world)
{
  const gab_side side = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.02, 0.01, 0}};
  const gab_side sides[GAB_SIDE_COUNT] = {side, side, side, side};
  const flow_case given = uniform_case(&everywhere, sides);
  gab_side_load loads[GAB_MOST_CONDITIONS];
  flow of = flow_open(world, &given);
  gab_lbm_request_side_loads(of.lbm);
  flow_run(&of, 1);
  REQUIRE_OK(gab_lbm_side_loads(of.lbm, loads));
  for (int k = 0; k < 4; k++)
    CHECK(fabs(loads[k].flow / (k < 2 ? 4 * 0.02 : 8 * 0.01) - (k % 2 ? -1 : 1)) < 1e-10);
  flow_close(&of);
}

static bool velocity_is_right;

/* Throws back as a wall that moves with the fluid. */
static double moving_wall(const gab_boundary_link *at)
{
  const int8_t *c = at->lattice->c[at->q];
  velocity_is_right =
      velocity_is_right && fabs(at->velocity[0] - 0.02) < 1e-13 && fabs(at->velocity[1] - 0.01) < 1e-13;
  return at->sent[gab_lattice_opposite(at->q)] +
         6 * at->lattice->weight[at->q] * (c[0] * at->velocity[0] + c[1] * at->velocity[1]);
}

/* Conditions have the velocity of the flow, with half of the drag. */
static void conditions_see_the_flow(gab_world *world, const char *kernel)
{
  static const gab_boundary moving = {
      .name = "own_moving", .doc = "A wall that moves along.", .arrives = moving_wall};
  const gab_side side = {.kind = GAB_SIDE_OWN, .own = &moving};
  const gab_side sides[GAB_SIDE_COUNT] = {side, side};
  flow_case given = uniform_case(&everywhere, sides);
  given.options.kernel = kernel;
  velocity_is_right = true;
  flow of = flow_open(world, &given);
  flow_run(&of, STEPS);
  CHECK(velocity_is_right);
  flow_close(&of);
}

/* ------------------------------------------------------------------------------------------ refusals */

/* Outlets that take the drag for pressure, but not a cell away from it. That blocks refuse them: apps/porous_regions.sh. */
static void outlets_are_found(gab_world *world)
{
  static const gab_side_kind outlets[] = {GAB_SIDE_OUTFLOW, GAB_SIDE_CHARACTERISTIC, GAB_SIDE_CONVECTIVE,
                                          GAB_SIDE_PRESSURE};
  for (int k = 0; k < 8; k++) {
    const gab_side sides[GAB_SIDE_COUNT] = {{.kind = GAB_SIDE_VELOCITY, .velocity = {0.02, 0, 0}},
                                            {.kind = outlets[k % 4], .density = 1, .advection = 0.02}};
    gab_porous_region region = everywhere;
    if (k >= 4) region.shape.hi[0] = 7;
    const flow_case given = uniform_case(&region, sides);
    gab_forest *forest;
    gab_lbm *lbm;
    const gab_forest_options grid = {
        .grid = {2, {2, 1, 1}}, .cells = {4, 4, 1}, .periodic = {false, true, true}, .dx = 1};
    REQUIRE_OK(gab_forest_create(world, &grid, &forest));
    REQUIRE_OK(gab_lbm_create(forest, NULL, &given.options, &lbm));
    size_t found = 9;
    const char *place = "";
    const gab_box last = {{4, 0, 0}, {8, 4, 1}}, first = {{0, 0, 0}, {4, 4, 1}};
    CHECK(gab_lbm_porous_meets_outlet(lbm, 0, &last, &found, &place) == (k < 3));
    CHECK(k >= 3 || (found == 0 && strcmp(place, "boundaries.x_max") == 0));
    CHECK(!gab_lbm_porous_meets_outlet(lbm, 0, &first, &found, &place));
    gab_lbm_destroy(&lbm);
    gab_forest_destroy(&forest);
  }
}

static void impossible_is_refused(gab_world *world)
{
  gab_porous_region wrong = regions[0];
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true, true}, .dx = 1};
  gab_lbm_options options = {.omega = 1.2, .porous = &wrong, .porous_count = 1};
  for (int k = 0; k < 5; k++) {
    gab_forest *forest;
    gab_lbm *lbm;
    wrong = regions[0];
    if (k == 3) options.collision = &gab_collision_smagorinsky;
    if (k == 4) options.collision = &gab_collision_rheology;
    if (k == 0) wrong.linear[1] = -1;
    if (k == 1) wrong.quadratic[0] = INFINITY;
    if (k == 2) wrong.shape.radius = 0;
    REQUIRE_OK(gab_forest_create(world, &grid, &forest));
    REQUIRE(gab_lbm_create(forest, NULL, &options, &lbm) == GAB_ERR_INPUT);
    gab_forest_destroy(&forest);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint64_t expected = run(world, "in_place", 0, 1), forced = run_with_force(world, "in_place", false);
  CHECK(run(world, "in_place", 4, 1) == expected);
  CHECK(run(world, "in_place", 4, 3) == expected);
  CHECK(run(world, "in_place", 2, 4) == expected);
  CHECK(run(world, "vector", 4, 1) == expected);
  CHECK(run(world, "reference", 2, 1) == expected);
  CHECK(run(world, "sparse", 4, 1) == expected);
  CHECK(run(world, "sparse", 0, 1) == expected);
  CHECK(forced != expected && run_with_force(world, "vector", true) == forced);
  force_and_drag_balance(world);
  flow_passes_sides(world);
  conditions_see_the_flow(world, "in_place");
  conditions_see_the_flow(world, "sparse");
  impossible_is_refused(world);
  outlets_are_found(world);
  return test_end(&world);
}
