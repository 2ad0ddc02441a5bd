/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,4 long=1 timeout=120 */
/* Flows on forests of several levels: a uniform flow stays uniform to rounding, closed boxes conserve mass, periodic
 * ones momentum, at faces, edges and corners of refined regions, next to walls and bodies. The result does not depend
 * on owners, threads, kernels. Called with "long": more steps. */
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"
#include "tests/blockforest/random_levels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { EVERY_OWNER = 0, ROOT_ONLY = 1 };

typedef struct levels_case {
  flow_case flow;
  uint64_t seed;
  int max_level, percent;
  int owners;
} levels_case;

static void set_threads(int count)
{
#ifdef _OPENMP
  omp_set_num_threads(count);
#else
  (void)count;
#endif
}

/* As flow_open(), with random refinement. */
static flow levels_open(gab_world *world, const levels_case *given)
{
  const flow_case *what = &given->flow;
  flow made = {0};
  gab_forest_options options = {.grid.dimension = what->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = what->cells[axis] / what->block[axis];
    options.cells[axis] = what->block[axis];
    options.periodic[axis] =
        axis < what->dimension && what->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.cells[axis] = what->cells[axis];
  }
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = given->max_level; /* so that blocks without fluid exist whose children have fluid */
  REQUIRE_OK(gab_geometry_create(&domain, what->bodies, what->body_count, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &what->options, &made.lbm));
  leaves all = leaves_make(&options, given->seed, given->max_level, given->percent);
  leaves_drop_empty(&all, made.forest);
  REQUIRE_OK(
      leaves_populate(&all, made.forest, given->owners == ROOT_ONLY ? LEAVES_ON_ROOT : given->seed + 9));
  REQUIRE(gab_forest_is_valid(made.forest));
  leaves_release(&all);
  return made;
}

static const gab_lattice *space = &gab_lattice_d3q19; /* lattice of the cases in 3D */

static levels_case make_case(int dimension, uint64_t seed, int roots, int block)
{
  levels_case given = {.seed = seed, .max_level = 2, .percent = 30};
  given.flow.dimension = dimension;
  for (int axis = 0; axis < 3; axis++) {
    bool flat = axis == 2 && dimension == 2;
    given.flow.block[axis] = flat ? 1 : block;
    given.flow.cells[axis] = flat ? 1 : block * roots;
  }
  given.flow.options.omega = 1.7;
  if (dimension == 3) given.flow.options.lattice = space;
  return given;
}

static void set_all_sides(levels_case *given, gab_side_kind kind)
{
  for (int side = 0; side < 2 * given->flow.dimension; side++) given->flow.options.sides[side].kind = kind;
}

/* ------------------------------------------------------------------------------------------ uniform flow */

typedef struct uniform {
  double velocity[3], worst;
} uniform;

static void compare_cell(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  uniform *it = user;
  (void)cell;
  if (!fluid) return;
  it->worst = fmax(it->worst, fabs(density - 1));
  for (int axis = 0; axis < 3; axis++) it->worst = fmax(it->worst, fabs(u[axis] - it->velocity[axis]));
}

static void uniform_flow(gab_world *world, int dimension, const gab_collision *collision, uint64_t seed,
                         const char *kernel, int steps)
{
  levels_case given = make_case(dimension, seed, 3, 4);
  const double angle = 0.7 * (double)seed, deep = dimension == 3 ? 0.03 : 0;
  uniform it = {.velocity = {0.05 * cos(angle), 0.05 * sin(angle), deep}};
  memcpy(given.flow.options.velocity, it.velocity, sizeof it.velocity);
  given.flow.options.kernel = kernel;
  given.flow.options.collision = collision;
  flow flow_ = levels_open(world, &given);
  flow_run(&flow_, steps);
  flow_visit(&flow_, compare_cell, &it);
  REQUIRE_NEAR(it.worst, 0, 1e-14);
  flow_close(&flow_);
}

/* ------------------------------------------------------------------------------------------ conservation */

static void fine_noise(void *user, const double centre[3], gab_lbm_state *state)
{
  const bool *flat = user;
  int64_t cell[3];
  for (int axis = 0; axis < 3; axis++) cell[axis] = (int64_t)floor(8 * centre[axis]);
  state->density += 0.01 * noise(1, cell);
  for (int axis = 0; axis < (*flat ? 2 : 3); axis++)
    state->velocity[axis] += 0.02 * noise(2 + (uint64_t)axis, cell);
}

static bool in_plane = true, in_space = false;

static void add_noise(levels_case *given)
{
  given->flow.options.initial = fine_noise;
  given->flow.options.initial_user = given->flow.dimension == 2 ? &in_plane : &in_space;
}

static void conserve(gab_world *world, const levels_case *given, bool momentum_too, int steps)
{
  (void)world;
  flow it = levels_open(world, given);
  gab_lbm_integrals before, after;
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
  flow_run(&it, steps);
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &after));
  REQUIRE(after.kinetic_energy < before.kinetic_energy && after.strain > 0);
  const double tolerance = given->flow.options.precision == GAB_PRECISION_FLOAT ? 1e-5 : 1e-13;
  REQUIRE_NEAR(after.mass / before.mass, 1, tolerance);
  REQUIRE(fabs(before.mass / before.volume - 1) < 0.01); /* except for noise the density is 1 */
  for (int axis = 0; axis < 3 && momentum_too; axis++)
    REQUIRE_NEAR(after.momentum[axis], before.momentum[axis], 0.1 * before.mass * tolerance);
  flow_close(&it);
}

/* Every `stride`-th case from the first on: the odd ones are in 3D. */
static void closed_boxes_keep_their_mass(gab_world *world, int steps, int first, int stride)
{
  const gab_body bodies[2] = {{.shape = GAB_SHAPE_SPHERE, .centre = {5.3, 6.1, 5.2}, .radius = 2.3},
                              {.shape = GAB_SHAPE_BOX, .lo = {9.2, -1, -1}, .hi = {10.1, 7.3, 6}}};
  for (int variant = first; variant < 8; variant += stride) {
    levels_case given = make_case(2 + variant % 2, (uint64_t)variant, 3, 4);
    set_all_sides(&given, GAB_SIDE_WALL);
    if (variant >= 4) given.flow.options.sides[2].kind = GAB_SIDE_FREE_SLIP;
    if (variant >= 6) given.flow.options.sides[1].kind = GAB_SIDE_FREE_SLIP;
    if (variant / 2 % 2) {
      given.flow.bodies = bodies;
      given.flow.body_count = 2;
    } else if (variant % 2) /* a lid: next to a body it would drag mass */
      given.flow.options.sides[GAB_SIDE_Z_MAX] =
          (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {0.02, -0.01, 0}, .ramp_steps = 11};
    if (variant == 3 || variant == 4) given.flow.options.kernel = "vector";
    add_noise(&given);
    conserve(world, &given, false, given.flow.dimension == 3 ? steps / 10 : steps);
  }
}

static void periodic_boxes_keep_their_momentum(gab_world *world, int steps, int first, int stride)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_trt,
                                                    &gab_collision_mrt, &gab_collision_rr,
                                                    &gab_collision_smagorinsky};
  for (int variant = first; variant < 10; variant += stride) {
    if (gab_collision_check_lattice(collisions[variant / 2], space) != GAB_OK) continue;
    levels_case given = make_case(2 + variant % 2, 40 + (uint64_t)variant, 2 + variant % 3, 4);
    given.flow.options.collision = collisions[variant / 2];
    if (variant == 2) given.flow.options.precision = GAB_PRECISION_FLOAT;
    add_noise(&given);
    conserve(world, &given, true, given.flow.dimension == 3 ? steps / 10 : steps);
  }
}

/* ------------------------------------------------------------------------------------------ forces */

/* The momentum of bodies is the loss of the flow, also where borders between levels cross their surfaces. */
static void forces_are_what_the_flow_loses(gab_world *world, int dimension, uint64_t seed, gab_wall wall)
{
  const gab_body bodies[2] = {{.shape = GAB_SHAPE_SPHERE,
                               .wall = wall,
                               .centre = {6.3, 5.9, 6.2},
                               .radius = 3.1,
                               .velocity = {seed % 2 ? 0.02 : 0, 0.01, 0}},
                              {.shape = GAB_SHAPE_BOX, .lo = {9.2, -1, -1}, .hi = {10.1, 7.3, 6}}};
  levels_case given = make_case(dimension, seed, 3, 4);
  given.flow.bodies = bodies;
  given.flow.body_count = 2;
  add_noise(&given);
  flow it = levels_open(world, &given);
  gab_lbm_integrals before, after;
  double forces[2][3];
  for (int step = 0; step < 6; step++) {
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
    gab_lbm_request_forces(it.lbm);
    flow_run(&it, 1);
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
    REQUIRE_OK(gab_lbm_forces(it.lbm, forces));
    REQUIRE(forces[0][0] != 0 && forces[1][0] != 0);
    for (int axis = 0; axis < dimension; axis++)
      REQUIRE_NEAR(forces[0][axis] + forces[1][axis], before.momentum[axis] - after.momentum[axis], 1e-13);
  }
  flow_close(&it);
}

/* ------------------------------------------------------------------------------------------ one result */

typedef struct outcome {
  uint64_t checksum;
  double force[3];
  gab_lbm_integrals sums;
} outcome;

static outcome run(gab_world *world, const levels_case *given, int steps)
{
  outcome seen;
  memset(&seen, 0, sizeof seen);
  flow it = levels_open(world, given);
  flow_run(&it, steps);
  gab_lbm_request_forces(it.lbm);
  flow_run(&it, 1);
  REQUIRE_OK(gab_lbm_force(it.lbm, 0, seen.force));
  REQUIRE_OK(gab_lbm_integrate(it.lbm, true, &seen.sums));
  flow_run(&it, 1);
  REQUIRE_OK(gab_forest_checksum(it.forest, &seen.checksum));
  (void)world;
  flow_close(&it);
  return seen;
}

static void one_result(gab_world *world, int dimension, uint64_t seed)
{
  const gab_body body = {.shape = GAB_SHAPE_SPHERE,
                         .wall = GAB_WALL_INTERPOLATED,
                         .centre = {5.3, 6.1, 5.2},
                         .radius = 2.3,
                         .velocity = {0.01, 0, 0}};
  levels_case given = make_case(dimension, seed, 3, 6);
  given.flow.bodies = &body;
  given.flow.body_count = 1;
  set_all_sides(&given, GAB_SIDE_WALL);
  gab_side *sides = given.flow.options.sides;
  sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                     .velocity = {0.03, 0.01, 0},
                                     .profile = GAB_PROFILE_PARABOLIC,
                                     .ramp_steps = 20};
  sides[GAB_SIDE_X_MAX].kind = seed % 2 ? GAB_SIDE_OUTFLOW : GAB_SIDE_PRESSURE;
  sides[GAB_SIDE_Y_MIN].kind = GAB_SIDE_FREE_SLIP;
  given.flow.options.force[1] = 1e-5;
  add_noise(&given);
  const int steps = 8;
  given.owners = ROOT_ONLY;
  outcome wanted = run(world, &given, steps);
  REQUIRE(wanted.force[0] != 0 && wanted.sums.strain > 0);
  given.owners = EVERY_OWNER;
  outcome seen = run(world, &given, steps);
  REQUIRE(memcmp(&wanted, &seen, sizeof seen) == 0);
  set_threads(3);
  seen = run(world, &given, steps);
  set_threads(1);
  REQUIRE(memcmp(&wanted, &seen, sizeof seen) == 0);
  for (int fused_blocks = 1; fused_blocks <= 16; fused_blocks *= 4) {
    given.flow.options.kernel = fused_blocks == 4 ? "sparse" : NULL;
    given.flow.options.fused_blocks = fused_blocks;
    seen = run(world, &given, steps);
    REQUIRE(memcmp(&wanted, &seen, sizeof seen) == 0);
  }
  given.flow.options.kernel = "reference";
  seen = run(world, &given, steps);
  REQUIRE(memcmp(&wanted, &seen, sizeof seen) == 0);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  set_threads(1);
  const bool is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  for (uint64_t seed = 0; seed < 8; seed++)
    uniform_flow(world, 2, seed % 3 == 2 ? &gab_collision_rr : &gab_collision_trt, seed,
                 seed % 2 ? "vector" : "in_place", 100);
  for (uint64_t seed = 0; seed < 2; seed++)
    uniform_flow(world, 3, seed % 2 ? &gab_collision_rr : &gab_collision_trt, seed, "in_place", 15);
  closed_boxes_keep_their_mass(world, is_long ? 10000 : 150, 0, 1);
  periodic_boxes_keep_their_momentum(world, is_long ? 10000 : 150, 0, 1);
  for (uint64_t seed = 0; seed < (is_long ? 40 : 6); seed++) {
    forces_are_what_the_flow_loses(world, 2, seed, GAB_WALL_STAIRCASE);
    forces_are_what_the_flow_loses(world, 2, seed, GAB_WALL_INTERPOLATED);
    if (seed % 3 == 0) forces_are_what_the_flow_loses(world, 3, seed, GAB_WALL_INTERPOLATED);
  }
  for (uint64_t seed = 0; seed < 3; seed++) one_result(world, 2, seed);
  one_result(world, 3, 1);
  /* The same in 3D with populations across corners. */
  space = &gab_lattice_d3q27;
  for (uint64_t seed = 0; seed < 2; seed++)
    uniform_flow(world, 3, seed % 2 ? &gab_collision_rr : &gab_collision_trt, seed, "in_place", 15);
  closed_boxes_keep_their_mass(world, is_long ? 10000 : 150, 1, 2);
  periodic_boxes_keep_their_momentum(world, is_long ? 10000 : 150, 1, 2);
  for (uint64_t seed = 0; seed < (is_long ? 40 : 2); seed++)
    forces_are_what_the_flow_loses(world, 3, seed, seed % 2 ? GAB_WALL_STAIRCASE : GAB_WALL_INTERPOLATED);
  one_result(world, 3, 1);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
