/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=120 */
/* Small waves in a uniform flow that enters and leaves a refined region, at any angle, do not grow with the magic
 * parameter bounded for borders between levels, at any cell Reynolds number; without the bound they grow. Called with
 * "long": more steps, angles, shapes, collisions and dimensions. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

typedef struct border_case {
  int dimension;
  const gab_collision *collision;
  double magic, reynolds, speed, degrees; /* Reynolds number of a coarse cell; angle to the border */
  bool corners;                           /* a refined square or cube, otherwise a whole stripe */
} border_case;

enum { BLOCK = 6, BLOCKS = 4 };
static const double amplitude = 1e-8;

static gab_mark mark_middle(void *user, int level, const gab_box *cells)
{
  const border_case *given = user;
  if (level > 0) return GAB_MARK_KEEP;
  for (int axis = 0; axis < (given->corners ? given->dimension : 1); axis++) {
    const int64_t middle = (cells->lo[axis] + cells->hi[axis]) / 2;
    if (middle < BLOCK || middle > (BLOCKS - 1) * BLOCK) return GAB_MARK_KEEP;
  }
  return GAB_MARK_REFINE;
}

/* Odd about the middle, so that their mean, which would never decay, is 0. */
static void small_waves(void *user, const double centre[3], gab_lbm_state *state)
{
  const border_case *given = user;
  int64_t cell[2][3];
  for (int axis = 0; axis < 3; axis++) cell[0][axis] = cell[1][axis] = (int64_t)floor(2 * centre[axis]);
  cell[1][0] = (int64_t)floor(2 * (BLOCKS * BLOCK - centre[0]));
  for (int axis = 0; axis < given->dimension; axis++)
    state->velocity[axis] +=
        amplitude * (noise(2 + (uint64_t)axis, cell[0]) - noise(2 + (uint64_t)axis, cell[1]));
}

/* In 3D the flow has a component along the third axis. */
static void velocity_of(const border_case *given, double velocity[3])
{
  const double angle = given->degrees * 3.14159265358979323846 / 180;
  velocity[0] = given->speed * cos(angle);
  velocity[1] = given->speed * sin(angle) * (given->dimension == 3 ? 0.8 : 1);
  velocity[2] = given->speed * sin(angle) * (given->dimension == 3 ? 0.6 : 0);
}

typedef struct difference {
  double velocity[3], squares, cells;
} difference;

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  difference *it = user;
  (void)cell;
  (void)fluid;
  (void)density;
  for (int axis = 0; axis < 3; axis++)
    it->squares += (u[axis] - it->velocity[axis]) * (u[axis] - it->velocity[axis]);
  it->cells++;
}

static double waves_in(gab_world *world, const flow *it, const border_case *given)
{
  difference seen = {.cells = 0};
  velocity_of(given, seen.velocity);
  flow_visit(it, compare, &seen);
  gab_exact_sum sums[2];
  gab_exact_clear(&sums[0]);
  gab_exact_clear(&sums[1]);
  gab_exact_add(&sums[0], seen.squares);
  gab_exact_add(&sums[1], seen.cells);
  REQUIRE_OK(gab_world_sum_exact(world, sums, 2));
  return sqrt(gab_exact_value(&sums[0]) / gab_exact_value(&sums[1])) / amplitude;
}

static flow border_open(gab_world *world, border_case *given, double border_speed)
{
  flow made = {0};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    const bool is_flat = axis >= given->dimension, is_short = axis > 0 && !given->corners;
    options.grid.roots[axis] = is_flat ? 1 : is_short ? 2 : BLOCKS;
    options.cells[axis] = is_flat ? 1 : BLOCK;
    options.periodic[axis] = !is_flat;
  }
  gab_lbm_options flow_options = {.collision = given->collision,
                                  .magic = given->magic,
                                  .border_speed = border_speed,
                                  .initial = small_waves,
                                  .initial_user = given};
  flow_options.omega = 1 / (0.5 + 3 * given->speed / given->reynolds);
  velocity_of(given, flow_options.velocity);
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &flow_options, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark_middle, given, 1, gab_balance_distribute, NULL, NULL));
  return made;
}

/* Ratio of the amplitudes of waves after all steps and after half of them. */
static double growth(gab_world *world, border_case given, double border_speed, int steps)
{
  flow it = border_open(world, &given, border_speed);
  flow_run(&it, steps / 2);
  const double before = waves_in(world, &it, &given);
  flow_run(&it, steps / 2);
  const double after = waves_in(world, &it, &given);
  flow_close(&it);
  return after / before;
}

static void expect_decay(gab_world *world, border_case given, int steps)
{
  const double sound = 1.25; /* long waves decay slowly, and alternate between pressure and velocity */
  const double grown = growth(world, given, given.speed, steps);
  if (grown < sound) return;
  fprintf(stderr,
          "%dD, %s, magic %.3g, cell Reynolds number %g, speed %g, %g degrees, %s: waves grow "
          "by %g in %d steps\n",
          given.dimension, given.collision->name, given.magic, given.reynolds, given.speed, given.degrees,
          given.corners ? "corners" : "stripe", grown, steps / 2);
  _Exit(1);
}

static void quick(gab_world *world)
{
  const border_case across = {2, &gab_collision_trt, 3.0 / 16, 20, 0.05, 0, false};
  REQUIRE(growth(world, across, 0, 500) > 10);
  for (double reynolds = 10; reynolds < 1e4; reynolds *= 10) {
    expect_decay(world, (border_case){2, &gab_collision_trt, 0.25, reynolds, 0.1, 0, false}, 600);
    expect_decay(world, (border_case){2, &gab_collision_trt, 3.0 / 16, reynolds, 0.1, 30, true}, 300);
  }
  expect_decay(world, (border_case){2, &gab_collision_mrt, 3.0 / 16, 30, 0.1, 0, false}, 600);
  expect_decay(world, (border_case){3, &gab_collision_trt, 3.0 / 16, 30, 0.1, 30, false}, 60);
}

static void thorough(gab_world *world)
{
  const double magic[2] = {3.0 / 16, 0.25};
  for (int variant = 0; variant < 2 * 2 * 4 * 3 * 2; variant++) {
    const double degrees = 22.5 * (variant / 2 % 4), reynolds[3] = {10, 30, 1000};
    border_case given = {.dimension = 2,
                         .collision = variant / 24 % 2 ? &gab_collision_mrt : &gab_collision_trt,
                         .magic = magic[variant / 48],
                         .reynolds = reynolds[variant / 8 % 3],
                         .speed = 0.1,
                         .degrees = degrees,
                         .corners = variant % 2};
    expect_decay(world, given, 6000);
    given.dimension = 3;
    if (variant >= 48 || (given.collision == &gab_collision_mrt && given.reynolds > 30)) continue;
    expect_decay(world, given, given.corners ? 200 : 600);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (argc > 1 && strcmp(argv[1], "long") == 0) thorough(world);
  else quick(world);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}
