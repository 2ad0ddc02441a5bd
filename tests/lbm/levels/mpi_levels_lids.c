/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 long=1 timeout=240 */
/* Sides that move in their plane add no mass to a closed box, also where borders between levels end at their edges. A
 * single step from rest conserves mass to rounding: with one border and with several, for any side, direction and
 * pair of levels, on lattices with and without space diagonals. Some hundred steps conserve it too, also with a slow
 * start. A box that moves with its flow stays uniform, and all kernels give the same bits. One process runs every
 * fifth case, two processes every 13th; all of them with GABION_TEST_EVERY_CASE in the environment
 * (script_every_case_long.sh). Called with "print": mass made by each case, divided by the speed and the mass of a
 * cell. */
#include "blockforest/adaptation/adapt.h"
#include "tests/install/own/d3q15.h"
#include "tests/lbm/lbm_common.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { ROOTS = 3, BLOCK = 4 };

/* Root blocks lo <= r < hi along each axis are refined. */
typedef struct region {
  int lo[3], hi[3];
  int levels; /* below level 0; with 2 the finest is in the corner block of the region */
} region;

static gab_mark mark_region(void *user, int level, const gab_box *cells)
{
  const region *it = user;
  for (int axis = 0; axis < 3; axis++) {
    const int64_t end = (int64_t)it->hi[axis] * BLOCK << level;
    if (cells->lo[axis] < ((int64_t)it->lo[axis] * BLOCK << level) || cells->lo[axis] >= end)
      return GAB_MARK_KEEP;
    if (level > 0 && it->lo[axis] > 0 && cells->lo[axis] < end - BLOCK) return GAB_MARK_KEEP;
    if (level > 0 && it->lo[axis] == 0 && cells->lo[axis] >= BLOCK) return GAB_MARK_KEEP;
  }
  return GAB_MARK_REFINE;
}

static flow open_flow(gab_world *world, const flow_case *given, const region *refined)
{
  flow made = {0};
  region mark = *refined;
  gab_forest_options options = {.grid.dimension = given->dimension, .dx = 1};
  for (int axis = 0; axis < 3; axis++) {
    options.grid.roots[axis] = given->cells[axis] / given->block[axis];
    options.cells[axis] = given->block[axis];
    options.periodic[axis] =
        axis < given->dimension && given->options.sides[2 * axis].kind == GAB_SIDE_PERIODIC;
    made.cells[axis] = given->cells[axis];
  }
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = refined->levels;
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &given->options, &made.lbm));
  REQUIRE_OK(
      gab_forest_build(made.forest, mark_region, &mark, refined->levels, gab_balance_distribute, NULL, NULL));
  REQUIRE(gab_forest_is_valid(made.forest));
  return made;
}

/* ------------------------------------------------------------------------------------------ cases */

static flow_case closed_box(const gab_lattice *lattice)
{
  flow_case made = {.dimension = lattice->dimension, .options = {.lattice = lattice, .omega = 1.4}};
  for (int axis = 0; axis < 3; axis++) {
    const bool flat = axis >= lattice->dimension;
    made.block[axis] = flat ? 1 : BLOCK;
    made.cells[axis] = flat ? 1 : ROOTS * BLOCK;
    if (flat) continue;
    made.options.sides[2 * axis].kind = made.options.sides[2 * axis + 1].kind = GAB_SIDE_WALL;
  }
  return made;
}

/* In its plane: along one axis, the other, or between. */
static void move_side(flow_case *given, int side, int way, double speed)
{
  gab_side *moved = &given->options.sides[side];
  const int first = (side / 2 + 1) % 3, second = (side / 2 + 2) % 3;
  *moved = (gab_side){.kind = GAB_SIDE_VELOCITY};
  if (given->dimension == 2) moved->velocity[side < 2 ? 1 : 0] = speed;
  else {
    moved->velocity[first] = way == 1 ? 0 : speed;
    moved->velocity[second] = way == 0 ? 0 : way == 1 ? speed : -0.4 * speed;
  }
}

/* Over some steps, with another number for each side. */
static void start_slowly(flow_case *given)
{
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if (given->options.sides[side].kind == GAB_SIDE_VELOCITY)
      given->options.sides[side].ramp_steps = 2.5 + side / 2.0;
}
enum { SLOW_STEPS = 4 }; /* some ramps end within these steps, others do not */

/* 0 to 5: all blocks below or above a border across an axis. Then: a layer, with two borders; a corner; an edge along
 * x; the middle of a side; the middle of an edge; the same on three levels. */
enum { REGIONS = 12 };
static region region_of(int number)
{
  region made = {.hi = {ROOTS, ROOTS, ROOTS}, .levels = 1};
  if (number < 6 && number % 2 == 0) made.hi[number / 2] = 1;
  else if (number < 6) made.lo[number / 2] = ROOTS - 1;
  else if (number == 6) made.lo[1] = 1, made.hi[1] = 2;
  else if (number == 7) made.hi[0] = made.hi[1] = made.hi[2] = 1;
  else if (number == 8) made.lo[1] = made.lo[2] = 2;
  else if (number == 9) made.lo[0] = made.lo[1] = 1, made.hi[0] = made.hi[1] = 2;
  else if (number == 10) made.lo[1] = made.lo[2] = 2, made.lo[0] = 1, made.hi[0] = 2;
  else made.hi[0] = 2, made.hi[1] = 1, made.levels = 2;
  return made;
}

static bool printing;

/* 5 and 13 are coprime to the numbers of sides, ways and regions; two processes wait for each other in each of many
 * small steps. */
static bool is_left_out(gab_world *world)
{
  static int number;
  const int every = gab_world_processes(world) > 1 ? 13 : 5;
  if (printing || getenv("GABION_TEST_EVERY_CASE")) return false;
  return number++ % every != 0;
}

/* From rest. @return mass added by the steps */
static double mass_made(gab_world *world, const flow_case *given, const region *refined, int steps)
{
  gab_lbm_integrals before, after;
  flow it = open_flow(world, given, refined);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
  flow_run(&it, steps);
  REQUIRE_OK(gab_lbm_check_finite(it.lbm, NULL));
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
  CHECK(after.kinetic_energy > 0);
  flow_close(&it);
  return after.mass - before.mass;
}

static void one_step(gab_world *world, const gab_lattice *lattice)
{
  const double speed = 0.05;
  const bool flat = lattice->dimension == 2;
  for (int side = 0; side < 2 * lattice->dimension; side++)
    for (int way = 0; way < (flat ? 1 : 3); way++)
      for (int number = 0; number < REGIONS; number++) {
        if (is_left_out(world)) continue;
        flow_case given = closed_box(lattice);
        const region refined = region_of(number);
        move_side(&given, side, way, speed);
        const double made = mass_made(world, &given, &refined, 1);
        if (printing && fabs(made) > 1e-12 && gab_world_rank(world) == 0)
          printf("%s, side %d, way %d, region %d: %.6f / 288\n", lattice->name, side, way, number,
                 288 * made / speed);
        else CHECK(fabs(made) < 1e-12);
      }
}

/* During and after the ramps; in 3D a third of the sides for each region. */
static void ramps(gab_world *world, const gab_lattice *lattice)
{
  const double speed = 0.05;
  for (int side = 0; side < 2 * lattice->dimension; side++)
    for (int number = 0; number < REGIONS; number++) {
      if ((lattice->dimension == 3 && (side + number) % 3 != 0) || is_left_out(world)) continue;
      flow_case given = closed_box(lattice);
      const region refined = region_of(number);
      move_side(&given, side, 2, speed);
      start_slowly(&given);
      const double made = mass_made(world, &given, &refined, SLOW_STEPS);
      if (printing && fabs(made) > 1e-11 && gab_world_rank(world) == 0)
        printf("%s, side %d, ramp, region %d: %.6f / 288\n", lattice->name, side, number, 288 * made / speed);
      else CHECK(fabs(made) < 1e-11);
    }
}

/* Neighbours other than a wall at rest: a free-slip side, or another moving side, along the edge or in any direction. */
static void beside_others(gab_world *world, const gab_lattice *lattice)
{
  const double speed = 0.05;
  for (int variant = 0; variant < 6; variant++)
    for (int number = 0; number < REGIONS; number++) {
      const bool slowly = variant >= 3;
      if ((slowly && number % 3 != 2) || is_left_out(world)) continue;
      flow_case given = closed_box(lattice);
      const region refined = region_of(number);
      move_side(&given, GAB_SIDE_Z_MAX, 2, speed);
      if (variant % 3 == 0) given.options.sides[GAB_SIDE_X_MIN].kind = GAB_SIDE_FREE_SLIP;
      if (variant % 3 == 1) given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_FREE_SLIP;
      if (variant % 3 == 2) {
        move_side(&given, GAB_SIDE_X_MIN, 0, 0.3 * speed);
        move_side(&given, GAB_SIDE_Z_MAX, 1, speed);
      }
      if (slowly) start_slowly(&given);
      const double made = mass_made(world, &given, &refined, slowly ? SLOW_STEPS : 1);
      const double most = slowly ? 1e-11 : 1e-12;
      if (printing && fabs(made) > most && gab_world_rank(world) == 0)
        printf("%s, beside %d, region %d: %.6f / 288\n", lattice->name, variant, number, 288 * made / speed);
      else CHECK(fabs(made) < most);
    }
}

/* The sum of the ramp of a side over some steps, of `parts` sub-steps each, divided by that of one step of full
 * speed. */
static double ramp_sum(double ramp_steps, int steps, int parts)
{
  double sum = 0;
  for (int i = 0; i < steps * parts; i++) {
    const double time = (double)i / parts;
    sum += (time >= ramp_steps ? 1 : (1 - cos(acos(-1) * time / ramp_steps)) / 2) / parts;
  }
  return sum;
}

/* Inflow of a velocity side is velocity times area, also where a border ends at two of its edges; with a ramp, in
 * each sub-step of the cells at the side. */
static void inlets_let_in_as_much_as_away_from_borders(gab_world *world, const gab_lattice *lattice,
                                                       double ramp_steps)
{
  enum { WIDE = ROOTS * BLOCK };
  const double speed = 0.05, area = WIDE * WIDE;
  const int steps = ramp_steps > 0 ? SLOW_STEPS : 1;
  const double coarse = ramp_sum(ramp_steps, steps, 1), fine = ramp_sum(ramp_steps, steps, 2);
  double let_in[4];
  for (int k = 0; k < 4; k++) {
    flow_case given = closed_box(lattice);
    region refined = {.hi = {ROOTS, ROOTS, ROOTS}, .levels = k == 0 ? 0 : 1};
    if (k >= 2) refined = region_of(k);
    given.options.sides[GAB_SIDE_Z_MIN] = (gab_side){.kind = GAB_SIDE_VELOCITY,
                                                     .velocity = {0, ramp_steps > 0 ? 0.5 * speed : 0, speed},
                                                     .ramp_steps = ramp_steps};
    let_in[k] = mass_made(world, &given, &refined, steps) / speed;
  }
  const double of_both = (coarse * (ROOTS - 1) + fine) / ROOTS;
  for (int k = 0; k < 4; k++) {
    const double expected = area * (k == 0 ? coarse : k == 1 ? fine : of_both);
    if (printing && gab_world_rank(world) == 0)
      printf("%s, inlet, ramp %g, region %d: %.6f / 288 too much\n", lattice->name, ramp_steps, k,
             288 * (let_in[k] - expected));
    else CHECK(fabs(let_in[k] - expected) < 1e-9);
  }
}

/* ------------------------------------------------------------------------------------------ many steps */

static void noise_in_space(void *user, const double centre[3], gab_lbm_state *state)
{
  noisy_state(user, centre, state);
  state->density = 1; /* so that the added mass can be compared */
}

static void many_steps(gab_world *world, const gab_lattice *lattice, int steps)
{
  for (int number = 0; number < REGIONS; number += 5) {
    flow_case given = closed_box(lattice);
    const region refined = region_of(number == 5 ? 2 : number);
    move_side(&given, GAB_SIDE_Z_MAX, 2, 0.05);
    given.options.initial = noise_in_space;
    const double made = mass_made(world, &given, &refined, steps);
    if (printing && gab_world_rank(world) == 0)
      printf("%s, %d steps, region %d: %.2e of the mass\n", lattice->name, steps, number,
             made / (ROOTS * ROOTS * ROOTS * BLOCK * BLOCK * BLOCK));
    else CHECK(fabs(made) < 1e-13 * ROOTS * ROOTS * ROOTS * BLOCK * BLOCK * BLOCK);
  }
}

/* ------------------------------------------------------------------------------------------ conservation */

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

static void a_box_that_moves_along_stays_uniform(gab_world *world, const gab_lattice *lattice)
{
  for (int number = 0; number < REGIONS; number++) {
    if (is_left_out(world)) continue;
    flow_case given = closed_box(lattice);
    const region refined = region_of(number);
    uniform it = {.velocity = {0.03, -0.02, 0.04}};
    memcpy(given.options.velocity, it.velocity, sizeof it.velocity);
    for (int side = 0; side < GAB_SIDE_COUNT; side++) {
      given.options.sides[side] = (gab_side){.kind = GAB_SIDE_VELOCITY};
      memcpy(given.options.sides[side].velocity, it.velocity, sizeof it.velocity);
    }
    flow moved = open_flow(world, &given, &refined);
    flow_run(&moved, 5);
    flow_visit(&moved, compare_cell, &it);
    CHECK(it.worst < 1e-14);
    flow_close(&moved);
  }
}

static void kernels_agree(gab_world *world, const gab_lattice *lattice)
{
  static const char *const kernels[] = {NULL, "reference", "vector", "in_place", "sparse"};
  const region refined = region_of(10);
  uint64_t wanted = 0;
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
    uint64_t seen;
    flow_case given = closed_box(lattice);
    move_side(&given, GAB_SIDE_Z_MAX, 2, 0.05);
    move_side(&given, GAB_SIDE_Y_MAX, 1, 0.02);
    given.options.sides[GAB_SIDE_Z_MAX].ramp_steps = 6;
    given.options.initial = noise_in_space;
    given.options.kernel = kernels[k];
    flow it = open_flow(world, &given, &refined);
    flow_run(&it, 4);
    REQUIRE_OK(gab_forest_checksum(it.forest, &seen));
    if (k == 0) wanted = seen;
    CHECK(seen == wanted);
    flow_close(&it);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
#ifdef _OPENMP
  omp_set_num_threads(1); /* the grids are small, and many tests run at once */
#endif
  REQUIRE_OK(gab_lattice_register(&d3q15));
  const gab_lattice *const all[] = {&gab_lattice_d2q9, &gab_lattice_d3q19, &gab_lattice_d3q27, &d3q15};
  printing = argc > 1 && strcmp(argv[1], "print") == 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    one_step(world, all[i]);
    ramps(world, all[i]);
    if (all[i]->dimension == 2) continue;
    beside_others(world, all[i]);
    a_box_that_moves_along_stays_uniform(world, all[i]);
    inlets_let_in_as_much_as_away_from_borders(world, all[i], 0);
    inlets_let_in_as_much_as_away_from_borders(world, all[i], 6);
    many_steps(world, all[i], 300);
  }
  kernels_agree(world, &gab_lattice_d3q27);
  return test_end(&world);
}
