/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 quick=1 timeout=200 */
/* Small waves around interpolated bodies across borders between levels decay, for random positions of the body and
 * random levels of the blocks. Called with "long": all collisions, more rates, positions and shapes, 20 000 steps in
 * 2D. */
#include "tests/lbm/lbm_common.h"
#include "tests/blockforest/random_levels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

typedef enum shape { BALL, HOLE, CYLINDER, RING } shape;
static const char *const shape_names[] = {"ball", "hole", "tilted cylinder", "ring"};

typedef struct waves {
  int dimension;
  const gab_collision *collision;
  double omega;
  shape kind;
  int first, count, steps; /* of seeds, each a body and blocks; steps of the coarsest level */
} waves;

enum { ROOTS = 3, BLOCK = 4, DEEPEST = 2, PERCENT = 30 };
static const double amplitude = 1e-6;

/* A number in [0, 1). */
static double drawn(uint64_t seed, uint64_t number) { return gab_hash_uniform(seed, 991, number); }

/* numbers: a point of the axis, its direction, radius; of a ring also the radius of its tube. */
static double along_axis(const double n[GAB_SHAPE_NUMBERS], const double point[3], double *across)
{
  double along = 0, square = 0;
  for (int axis = 0; axis < 3; axis++) along += (point[axis] - n[axis]) * n[3 + axis];
  for (int axis = 0; axis < 3; axis++) {
    const double away = point[axis] - n[axis] - along * n[3 + axis];
    square += away * away;
  }
  *across = sqrt(square) - n[6];
  return along;
}
static double cylinder_distance(const gab_body *body, const double point[3])
{
  double across;
  (void)along_axis(body->numbers, point, &across);
  return across;
}
static double ring_distance(const gab_body *body, const double point[3])
{
  double across;
  const double along = along_axis(body->numbers, point, &across);
  return sqrt(across * across + along * along) - body->numbers[7];
}

static gab_body body_of(const waves *it, uint64_t seed)
{
  static const gab_body_shape cylinder = {.name = "tilted", .doc = "Tilted.", .distance = cylinder_distance};
  static const gab_body_shape ring = {.name = "ring", .doc = "A ring.", .distance = ring_distance};
  const double length = ROOTS * BLOCK;
  gab_body made = {.shape = GAB_SHAPE_SPHERE,
                   .wall = GAB_WALL_INTERPOLATED,
                   .inside_is_fluid = it->kind == HOLE,
                   .radius = 2.2 + 1.6 * drawn(seed, 9)};
  double square = 0;
  for (int axis = 0; axis < it->dimension; axis++) made.centre[axis] = 5 + 2 * drawn(seed, (uint64_t)axis);
  if (it->kind < CYLINDER) return made;
  made.shape = GAB_SHAPE_OWN;
  made.own = it->kind == RING ? &ring : &cylinder;
  for (int axis = 0; axis < 3; axis++) {
    made.numbers[axis] = made.centre[axis];
    made.numbers[3 + axis] = drawn(seed, 20 + (uint64_t)axis) - 0.5;
    square += made.numbers[3 + axis] * made.numbers[3 + axis];
    made.lo[axis] = axis < it->dimension ? 0.3 : -INFINITY;
    made.hi[axis] = axis < it->dimension ? length - 0.3 : INFINITY;
  }
  for (int axis = 0; axis < 3; axis++) made.numbers[3 + axis] /= sqrt(square);
  made.numbers[6] = it->kind == RING ? 3.4 : 0.8 * made.radius;
  made.numbers[7] = 1.3;
  return made;
}

static void small_waves(void *user, const double centre[3], gab_lbm_state *state)
{
  const waves *it = user;
  int64_t cell[3];
  for (int axis = 0; axis < 3; axis++) cell[axis] = (int64_t)floor(8 * centre[axis]);
  state->density += amplitude * noise(1, cell);
  for (int axis = 0; axis < it->dimension; axis++)
    state->velocity[axis] += amplitude * noise(2 + (uint64_t)axis, cell);
}

static flow open_waves(gab_world *world, waves *it, const gab_body *body, uint64_t seed)
{
  flow made = {0};
  gab_forest_options options = {.grid.dimension = it->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    const bool is_flat = axis >= it->dimension;
    options.grid.roots[axis] = is_flat ? 1 : ROOTS;
    options.cells[axis] = is_flat ? 1 : BLOCK;
    options.periodic[axis] = !is_flat;
  }
  gab_lbm_options flow_options = {
      .omega = it->omega, .collision = it->collision, .initial = small_waves, .initial_user = it};
  if (it->dimension == 3) flow_options.lattice = &gab_lattice_d3q19;
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = DEEPEST;
  REQUIRE_OK(gab_geometry_create(&domain, body, 1, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &flow_options, &made.lbm));
  leaves all = leaves_make(&options, seed, DEEPEST, PERCENT);
  leaves_drop_empty(&all, made.forest);
  REQUIRE_OK(leaves_populate(&all, made.forest, LEAVES_ON_ROOT));
  leaves_release(&all);
  return made;
}

static double energy_of(const flow *it)
{
  gab_lbm_integrals seen;
  REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &seen));
  return seen.kinetic_energy;
}

/* After all steps the energy is less than after half of them; an energy near rounding is ignored. */
static void waves_die_out(gab_world *world, waves it)
{
  for (int i = 0; i < it.count; i++) {
    const uint64_t seed = (uint64_t)(it.first + i);
    const gab_body body = body_of(&it, seed);
    flow around = open_waves(world, &it, &body, seed);
    const double first = energy_of(&around);
    flow_run(&around, it.steps / 2);
    const double half = energy_of(&around);
    flow_run(&around, it.steps / 2);
    const double all = energy_of(&around);
    const bool decays = half < first && all < fmax(half, 1e-16 * first);
    if (!decays)
      printf("%dD, %s, omega %g, %s, seed %d: energy %.3g, %.3g after half of the steps, %.3g at first\n",
             it.dimension, it.collision->name, it.omega, shape_names[it.kind], it.first + i, all, half,
             first);
    CHECK(decays);
    flow_close(&around);
  }
}

/* These grow if the second node of a wall is extrapolated from the first (the first two and the one in 3D), or if a
 * slope from the wall is divided by any distance (the third). */
static void quick(gab_world *world)
{
  const gab_collision *trt = &gab_collision_trt;
  waves_die_out(world, (waves){2, trt, 1.84, BALL, 82, 1, 800});
  waves_die_out(world, (waves){2, trt, 1.84, BALL, 90, 1, 800});
  waves_die_out(world, (waves){2, trt, 1.84, BALL, 114, 1, 800});
  waves_die_out(world, (waves){2, trt, 1.7, BALL, 0, 10, 800});
  waves_die_out(world, (waves){2, &gab_collision_rr, 1.84, HOLE, 16, 4, 800});
  waves_die_out(world, (waves){3, trt, 1.7, BALL, 4, 1, 64});
}

static void thorough(gab_world *world)
{
  const gab_collision *all[] = {&gab_collision_trt, &gab_collision_rr, &gab_collision_srt, &gab_collision_mrt,
                                &gab_collision_smagorinsky};
  const double omegas[] = {0.7, 1.2, 1.7, 1.84};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
    for (size_t i = 0; i < sizeof omegas / sizeof omegas[0]; i++)
      for (int kind = BALL; kind < CYLINDER; kind++) /* may cover no cell of the plane */
        waves_die_out(world, (waves){2, all[k], omegas[i], (shape)kind, 300, 4, 20000});
  for (int kind = BALL; kind <= RING; kind++)
    if (kind != HOLE)
      waves_die_out(world, (waves){3, all[kind], kind == RING ? 1.7 : 1.84, (shape)kind, 500, 4, 160});
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
  if (argc > 1 && strcmp(argv[1], "long") == 0) thorough(world);
  else quick(world);
  return test_end(&world);
}
