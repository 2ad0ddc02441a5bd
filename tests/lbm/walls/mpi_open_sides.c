/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 long=1 timeout=240 */
/* A uniform flow with small waves through empty boxes stays uniform: each kind of open side, collision, lattice, one
 * level and two, cell Reynolds numbers from 1 to 100. Called with "long": 10^5 steps. */
#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "tests/lbm/lbm_common.h"

typedef struct box_case {
  int dimension, levels; /* levels: 1 or 2; the half at the outlet is coarse */
  const gab_collision *collision;
  gab_side_kind outlet;
  double reynolds, speed; /* Reynolds number of a coarse cell */
  bool bare;              /* without the stabilisation of open sides */
  bool full;              /* D3Q27 */
} box_case;

enum { BLOCK = 6, BLOCKS = 4 };
static const double amplitude = 1e-6;

static gab_mark mark_first(void *user, int level, const gab_box *cells)
{
  const box_case *given = user;
  return level + 1 < given->levels && cells->lo[0] == BLOCK ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static void small_waves(void *user, const double centre[3], gab_lbm_state *state)
{
  const box_case *given = user;
  const int64_t cell[3] = {(int64_t)floor(2 * centre[0]), (int64_t)floor(2 * centre[1]),
                           (int64_t)floor(2 * centre[2])};
  for (int axis = 0; axis < given->dimension; axis++)
    state->velocity[axis] += amplitude * noise(2 + (uint64_t)axis, cell);
}

static flow box_open(gab_world *world, box_case *given)
{
  flow made = {0};
  gab_forest_options options = {.grid = {.dimension = given->dimension, .roots = {BLOCKS, 1, 1}}, .dx = 1};
  for (int axis = 0; axis < 3; axis++) options.cells[axis] = axis < given->dimension ? BLOCK : 1;
  gab_lbm_options wanted = {.collision = given->collision,
                            .omega = 1 / (0.5 + 3 * given->speed / given->reynolds),
                            .velocity = {given->speed},
                            .initial = small_waves,
                            .initial_user = given};
  for (int side = 2; side < 2 * given->dimension; side++) wanted.sides[side].kind = GAB_SIDE_FREE_SLIP;
  wanted.sides[GAB_SIDE_X_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {given->speed}};
  wanted.sides[GAB_SIDE_X_MAX].kind = given->outlet;
  wanted.lattice = given->full ? &gab_lattice_d3q27 : gab_lattice_usual(given->dimension);
  if (!given->bare) wanted.border_speed = gab_lbm_open_speed(&wanted, given->speed);
  if (given->levels > 1) wanted.border_speed = fmax(wanted.border_speed, given->speed);
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &wanted, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark_first, given, given->levels - 1, gab_balance_distribute, NULL,
                              NULL));
  return made;
}

typedef struct difference {
  double speed, largest;
} difference;

static void compare(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  difference *it = user;
  (void)cell;
  (void)fluid;
  (void)density;
  const double away = hypot(hypot(u[0] - it->speed, u[1]), u[2]);
  if (!(away <= it->largest)) it->largest = away;
}

/* The largest difference from the uniform flow after some steps, divided by the initial amplitude of the waves. */
static double waves_after(gab_world *world, box_case given, int steps)
{
  flow it = box_open(world, &given);
  flow_run(&it, steps);
  difference seen = {.speed = given.speed};
  flow_visit(&it, compare, &seen);
  flow_close(&it);
  double largest = isfinite(seen.largest) ? seen.largest / amplitude : 1e300;
  REQUIRE_OK(gab_world_max_f64(world, &largest, 1));
  return largest;
}

static void expect_uniform(gab_world *world, box_case given, int steps)
{
  const double most = 0.5, waves = waves_after(world, given, steps);
  if (!(waves < most))
    fprintf(stderr,
            "%dD%s, %d levels, %s, outlet %d, cell Reynolds number %g, speed %g: waves are %g times as "
            "large as at first after %d steps\n",
            given.dimension, given.full ? " (D3Q27)" : "", given.levels, given.collision->name,
            (int)given.outlet, given.reynolds, given.speed, waves, steps);
  CHECK(waves < most);
}

static void all_boxes(gab_world *world, const int steps[2], const double *reynolds, int count)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_srt,
                                                    &gab_collision_mrt, &gab_collision_rr};
  static const gab_side_kind outlets[] = {GAB_SIDE_OUTFLOW, GAB_SIDE_PRESSURE};
  for (int variant = 0; variant < 2 * 2 * 4 * 2 * count; variant++) {
    const box_case given = {.dimension = 2 + variant % 2,
                            .levels = 1 + variant / 2 % 2,
                            .collision = collisions[variant / 4 % 4],
                            .outlet = outlets[variant / 16 % 2],
                            .reynolds = reynolds[variant / 32],
                            .speed = 0.06};
    /* Grows slowly: gabion check warns of it. */
    const bool grows = given.dimension == 3 && given.levels > 1 && given.collision == &gab_collision_srt &&
                       given.outlet == GAB_SIDE_OUTFLOW && given.reynolds > 50;
    if (!grows) expect_uniform(world, given, steps[given.dimension - 2]);
  }
}

static void full_lattice(gab_world *world, int steps, double reynolds)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_rr};
  for (int variant = 0; variant < 8; variant++)
    expect_uniform(world,
                   (box_case){.dimension = 3,
                              .levels = 1 + variant / 2 % 2,
                              .collision = collisions[variant / 4],
                              .outlet = variant % 2 ? GAB_SIDE_PRESSURE : GAB_SIDE_OUTFLOW,
                              .reynolds = reynolds,
                              .speed = 0.06,
                              .full = true},
                   steps);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const bool is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  const double reynolds[] = {1, 5, 10, 15, 20, 50, 100};
  const bool is_alone = gab_members_count(gab_world_members(world)) == 1;
  if (is_long) all_boxes(world, (const int[2]){100000, 100000}, reynolds, 7);
  else if (is_alone) all_boxes(world, (const int[2]){3000, 600}, (const double[]){1, 16.8, 100}, 3);
  else all_boxes(world, (const int[2]){1500, 600}, (const double[]){50}, 1);
  full_lattice(world, is_long ? 100000 : 600, 16.8);
  full_lattice(world, is_long ? 100000 : 600, 100);
  /* Cases with slowly growing waves. */
  static const struct {
    const gab_collision *collision;
    double reynolds;
    bool full;
  } slow[] = {{&gab_collision_trt, 4, false}, {&gab_collision_rr, 3, false}, {&gab_collision_trt, 5, true}};
  for (int i = 0; i < (is_alone ? 3 : 0); i++)
    expect_uniform(world,
                   (box_case){.dimension = 3,
                              .levels = 1,
                              .collision = slow[i].collision,
                              .outlet = GAB_SIDE_PRESSURE,
                              .reynolds = slow[i].reynolds,
                              .speed = 0.06,
                              .full = slow[i].full},
                   10000);
  /* The stabilisation of the library is necessary. */
  const box_case bare = {.dimension = 2,
                         .levels = 1,
                         .collision = &gab_collision_trt,
                         .outlet = GAB_SIDE_OUTFLOW,
                         .reynolds = 20,
                         .speed = 0.06,
                         .bare = true};
  if (is_alone) REQUIRE(waves_after(world, bare, 1000) > 100);
  return test_end(&world);
}
