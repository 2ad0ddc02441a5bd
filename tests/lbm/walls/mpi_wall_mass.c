/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 timeout=240 */
/* If no side determines the mass, bodies conserve it to rounding: interpolated, half-way and moving ones, with each
 * collision, on each lattice, also a user-defined one, on one level and on several, in double and in float, with all
 * kernels to the last bit. The mass is that of the cells and that which the walls return in the next step. With an
 * open side walls are not balanced. */
#include "blockforest/adaptation/adapt.h"
#include "lbm/lbm_impl.h"
#include "tests/install/own/d3q15.h"
#include "tests/lbm/lbm_common.h"

enum { STEPS = 14, BODIES = 3 };

typedef enum wall_kind {
  WALL_INTERPOLATED,
  WALL_HALF_WAY,
  WALL_MOVES, /* interpolated: a cylinder along its axis, a ball through its surface */
  WALL_HALF_WAY_MOVES,
  WALL_KINDS
} wall_kind;

/* A ball cut by a side, a cylinder along x, and a plate. */
static void set_bodies(gab_body bodies[BODIES], int dimension, wall_kind kind)
{
  const gab_wall wall =
      kind == WALL_HALF_WAY || kind == WALL_HALF_WAY_MOVES ? GAB_WALL_STAIRCASE : GAB_WALL_INTERPOLATED;
  const double speed = kind == WALL_MOVES || kind == WALL_HALF_WAY_MOVES ? 0.02 : 0;
  bodies[0] = (gab_body){.shape = GAB_SHAPE_SPHERE,
                         .wall = wall,
                         .centre = {7.3, 5.2, 4.4},
                         .radius = 2.3,
                         .velocity = {speed, -speed, 0}};
  bodies[1] = (gab_body){.shape = dimension == 3 ? GAB_SHAPE_CYLINDER : GAB_SHAPE_SPHERE,
                         .wall = wall,
                         .centre = {3.1, 8.8, 5.2},
                         .radius = 1.9,
                         .axis = 0,
                         .velocity = {dimension == 3 ? speed : 0, 0, 0}};
  bodies[2] =
      (gab_body){.shape = GAB_SHAPE_BOX, .wall = wall, .lo = {12.3, 2.6, 2.2}, .hi = {14.9, 4.4, 7.7}};
  if (dimension == 3) bodies[1].length = 100;
}

static flow_case case_of(const gab_lattice *lattice, const gab_collision *collision, const gab_body *bodies)
{
  const bool deep = lattice->dimension == 3;
  flow_case made = {.dimension = lattice->dimension,
                    .cells = {16, 12, deep ? 8 : 1},
                    .block = {8, 6, deep ? 4 : 1},
                    .bodies = bodies,
                    .body_count = BODIES};
  made.options = (gab_lbm_options){.lattice = lattice, .collision = collision, .omega = 1.5};
  made.options.force[0] = 1e-4;
  made.options.force[1] = 3e-5;
  made.options.initial = deep ? noisy_state : noisy_plane;
  made.options.sides[GAB_SIDE_Y_MIN].kind = GAB_SIDE_WALL;
  made.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_FREE_SLIP;
  return made;
}

static double mass_of(flow *it)
{
  gab_lbm_integrals sums;
  REQUIRE_OK(gab_lbm_integrate(it->lbm, false, &sums));
  return sums.mass;
}

/* @return relative change of the mass @param[out] cells  that of the cells alone */
static double change(flow *it, double *cells)
{
  const double start = mass_of(it);
  flow_run(it, STEPS);
  REQUIRE_OK(gab_lbm_check_finite(it->lbm, NULL));
  const double end = mass_of(it);
  *cells = (end + gab_wall_balance_mass(it->lbm)) / start - 1;
  return end / start - 1;
}

/* ------------------------------------------------------------------------------------------ one level */

static void check_kernels(gab_world *world, const flow_case *given, uint64_t wanted)
{
  static const char *const kernels[] = {"reference", "vector", "sparse", "in_place"};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    flow_case other = *given;
    uint64_t found;
    if (given->options.lattice == &d3q15 && strcmp(kernels[i], "vector") == 0) continue; /* there is none */
    other.options.kernel = kernels[i];
    flow it = flow_open(world, &other);
    flow_run(&it, STEPS);
    REQUIRE_OK(gab_forest_checksum(it.forest, &found));
    CHECK(found == wanted);
    flow_close(&it);
  }
}

static void keeps_mass(gab_world *world, const gab_lattice *lattice, const gab_collision *collision,
                       wall_kind kind, gab_precision precision)
{
  gab_body bodies[BODIES];
  double cells;
  uint64_t checksum;
  set_bodies(bodies, lattice->dimension, kind);
  flow_case given = case_of(lattice, collision, bodies);
  given.options.precision = precision;
  flow it = flow_open(world, &given);
  const double found = change(&it, &cells);
  if (fabs(found) > (precision == GAB_PRECISION_DOUBLE ? 2e-14 : 2e-8) || fabs(cells) > 2e-4)
    fprintf(stderr, "%s, %s, wall %d: %.3g, cells %.3g\n", lattice->name, collision->name, kind, found,
            cells);
  CHECK(fabs(found) <= (precision == GAB_PRECISION_DOUBLE ? 2e-14 : 2e-8));
  CHECK(fabs(cells) <= 2e-4);
  CHECK(gab_lbm_balances_walls(it.lbm) == (kind != WALL_HALF_WAY));
  REQUIRE_OK(gab_forest_checksum(it.forest, &checksum));
  flow_close(&it);
  if (collision == &gab_collision_trt && kind != WALL_HALF_WAY) check_kernels(world, &given, checksum);
}

static void on_one_level(gab_world *world)
{
  const gab_lattice *const all[] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27, &d3q15};
  for (size_t l = 0; l < sizeof all / sizeof *all; l++)
    for (int c = 0; gab_collision_at(c); c++) {
      const gab_collision *collision = gab_collision_at(c);
      if (gab_collision_check_lattice(collision, all[l]) != GAB_OK) continue;
      for (int kind = 0; kind < WALL_KINDS; kind++)
        keeps_mass(world, all[l], collision, (wall_kind)kind, GAB_PRECISION_DOUBLE);
    }
  keeps_mass(world, &gab_lattice_d2q9, &gab_collision_trt, WALL_INTERPOLATED, GAB_PRECISION_FLOAT);
}

/* ------------------------------------------------------------------------------------------ levels */

static gab_mark mark_half(void *user, int level, const gab_box *cells)
{
  (void)user;
  return level == 0 && cells->lo[0] < 8 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static flow open_levels(gab_world *world, const flow_case *given)
{
  flow made = {0};
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
  }
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = 1;
  REQUIRE_OK(gab_geometry_create(&domain, given->bodies, given->body_count, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &given->options, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark_half, NULL, 1, gab_balance_distribute, NULL, NULL));
  return made;
}

/* Walls that cross a border give the same bits with all kernels. */
static void check_kernels_on_levels(gab_world *world, const flow_case *given)
{
  static const char *const kernels[] = {"in_place", "reference", "vector"};
  uint64_t found[3];
  for (size_t i = 0; i < 3; i++) {
    flow_case other = *given;
    other.options.kernel = kernels[i];
    flow it = open_levels(world, &other);
    flow_run(&it, STEPS);
    REQUIRE_OK(gab_forest_checksum(it.forest, &found[i]));
    CHECK(found[i] == found[0]);
    flow_close(&it);
  }
}

/* The ball crosses the border. */
static void on_two_levels(gab_world *world)
{
  const gab_lattice *const all[] = {&gab_lattice_d2q9, &gab_lattice_d3q19};
  for (size_t l = 0; l < 2; l++)
    for (int kind = 0; kind < WALL_KINDS; kind++) {
      gab_body bodies[BODIES];
      double cells;
      set_bodies(bodies, all[l]->dimension, (wall_kind)kind);
      flow_case given = case_of(all[l], &gab_collision_trt, bodies);
      given.options.initial = NULL;
      flow it = open_levels(world, &given);
      const double found = change(&it, &cells);
      if (fabs(found) > 2e-14)
        fprintf(stderr, "levels, %s, wall %d: %.3g, cells %.3g\n", all[l]->name, kind, found, cells);
      CHECK(fabs(found) <= 2e-14);
      flow_close(&it);
      if (kind == WALL_MOVES) check_kernels_on_levels(world, &given);
    }
}

/* ------------------------------------------------------------------------------------------ state */

/* A state contains the balance: a restored flow continues with the same bits. */
static void state_has_the_balance(gab_world *world)
{
  gab_body bodies[BODIES];
  flow_image image;
  uint64_t checksum[2];
  set_bodies(bodies, 2, WALL_INTERPOLATED);
  const flow_case given = case_of(&gab_lattice_d2q9, &gab_collision_trt, bodies);
  flow first = flow_open(world, &given), second = flow_open(world, &given);
  flow_run(&first, STEPS);
  CHECK(gab_wall_balance_mass(first.lbm) != 0);
  flow_pack(&first, &image);
  flow_restore(&second, &image);
  flow_image_release(&image);
  flow_run(&first, 5);
  flow_run(&second, 5);
  REQUIRE_OK(gab_forest_checksum(first.forest, &checksum[0]));
  REQUIRE_OK(gab_forest_checksum(second.forest, &checksum[1]));
  CHECK(checksum[0] == checksum[1]);
  CHECK(gab_wall_balance_mass(first.lbm) == gab_wall_balance_mass(second.lbm));
  flow_close(&first);
  flow_close(&second);
}

static void open_sides_set_the_mass(gab_world *world)
{
  static const gab_side_kind open[] = {GAB_SIDE_PRESSURE, GAB_SIDE_OUTFLOW};
  gab_body bodies[BODIES];
  set_bodies(bodies, 2, WALL_INTERPOLATED);
  for (int i = 0; i < 2; i++) {
    flow_case given = case_of(&gab_lattice_d2q9, &gab_collision_trt, bodies);
    given.options.sides[GAB_SIDE_X_MIN].kind = GAB_SIDE_VELOCITY;
    given.options.sides[GAB_SIDE_X_MAX].kind = open[i];
    flow it = flow_open(world, &given);
    CHECK(!gab_lbm_balances_walls(it.lbm));
    flow_close(&it);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_lattice_register(&d3q15));
  on_one_level(world);
  on_two_levels(world);
  state_has_the_balance(world);
  open_sides_set_the_mass(world);
  return test_end(&world);
}
