/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 timeout=240 */
/* A border between levels across the outline of a patch: the inflow is velocity times area, and a patch that moves in
 * its plane adds no mass, for any distance of the border from the outline, also during a ramp. On lattices with space
 * diagonals moving patches are exact except where the border crosses a corner of the outline. One process runs every
 * 53rd case, two processes every 131st; all of them with GABION_TEST_EVERY_CASE in the environment. Called with
 * "print": mass made by each case, divided by the speed and the mass of a cell. */
#include "blockforest/adaptation/adapt.h"
#include "tests/lbm/lbm_common.h"

enum { ROOTS = 3, BLOCK = 8, SIZE = ROOTS * BLOCK };

/* Root blocks lo <= r < hi along each axis are refined. */
typedef struct region {
  int lo[3], hi[3];
} region;

static gab_mark mark_region(void *user, int level, const gab_box *cells)
{
  const region *it = user;
  for (int axis = 0; axis < 3; axis++)
    if (level > 0 || cells->lo[axis] < (int64_t)it->lo[axis] * BLOCK ||
        cells->lo[axis] >= (int64_t)it->hi[axis] * BLOCK)
      return GAB_MARK_KEEP;
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
    made.cells[axis] = given->cells[axis];
  }
  gab_domain domain = gab_lbm_domain(&options);
  domain.deepest = 1;
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &made.geometry));
  options.exists = gab_geometry_block_exists;
  options.weight = gab_geometry_block_weight;
  options.user = made.geometry;
  REQUIRE_OK(gab_forest_create(world, &options, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, made.geometry, &given->options, &made.lbm));
  REQUIRE_OK(gab_forest_build(made.forest, mark_region, &mark, 1, gab_balance_distribute, NULL, NULL));
  return made;
}

static flow_case box_of(const gab_lattice *lattice)
{
  flow_case made = {.dimension = lattice->dimension, .options = {.lattice = lattice, .omega = 1.4}};
  for (int axis = 0; axis < 3; axis++) {
    const bool flat = axis >= lattice->dimension;
    made.block[axis] = flat ? 1 : BLOCK;
    made.cells[axis] = flat ? 1 : SIZE;
    if (!flat) made.options.sides[2 * axis].kind = made.options.sides[2 * axis + 1].kind = GAB_SIDE_WALL;
  }
  return made;
}

static double mass_made(gab_world *world, const flow_case *given, const region *refined, int steps)
{
  gab_lbm_integrals before, after;
  flow it = open_flow(world, given, refined);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
  flow_run(&it, steps);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
  flow_close(&it);
  return after.mass - before.mass;
}

static bool printing;

static bool is_left_out(gab_world *world)
{
  static int number;
  const int every = gab_world_processes(world) > 1 ? 131 : 53;
  return !printing && !getenv("GABION_TEST_EVERY_CASE") && number++ % every != 0;
}

/* A patch from row lo to hi along y, and over some or all of z; with a velocity along an axis. */
typedef struct patch_case {
  const gab_lattice *lattice;
  int region, way, lo, hi;
  bool ramps;
} patch_case;

/* All blocks below the border, all above it, a column in the middle of the domain, and a corner of it. */
enum { REGIONS = 4 };
static const region regions[REGIONS] = {
    {{0, 0, 0}, {3, 1, 3}}, {{0, 1, 0}, {3, 3, 3}}, {{0, 1, 1}, {2, 2, 2}}, {{0, 0, 0}, {1, 1, 1}}};

static bool has_diagonals_of_space(const gab_lattice *lattice)
{
  bool has = false;
  for (int q = 0; q < lattice->q; q++)
    has = has || (lattice->c[q][0] != 0 && lattice->c[q][1] != 0 && lattice->c[q][2] != 0);
  return has;
}

static void mass_is_that_of_the_area(gab_world *world, const patch_case *it)
{
  static gab_patches patches;
  const double speed = 0.01;
  flow_case given = box_of(it->lattice);
  const gab_domain domain = {
      .dimension = given.dimension, .cells = {given.cells[0], given.cells[1], given.cells[2]}, .dx = 1};
  gab_side moves = {.kind = GAB_SIDE_VELOCITY, .ramp_steps = it->ramps ? 2.5 : 0};
  moves.velocity[it->way] = speed;
  patches = (gab_patches){.count = 1,
                          .list = {{.name = "p",
                                    .side = GAB_SIDE_X_MIN,
                                    .condition = moves,
                                    .lo = {0, it->lo, it->lo % 3 == 0 ? -1 : it->lo - 1},
                                    .hi = {0, it->hi, it->lo % 3 == 1 ? 99 : it->hi + 2}}}};
  REQUIRE_OK(gab_patches_complete(&patches, &domain));
  given.options.patches = &patches;
  const double made = mass_made(world, &given, &regions[it->region], it->ramps ? 4 : 1);
  const double error = made / speed - (it->way == 0 ? (double)patches.list[0].faces : 0);
  const double allowed = it->way > 0 && has_diagonals_of_space(it->lattice) ? 1.01 / 36 : 1e-9;
  if (printing && fabs(error) > 1e-9 && gab_world_rank(world) == 0)
    printf("%s region %d way %d rows %d to %d%s: %+.5f / 24\n", it->lattice->name, it->region, it->way,
           it->lo, it->hi, it->ramps ? " ramp" : "", 24 * error);
  else CHECK(printing || fabs(error) < (it->ramps ? 4 : 1) * allowed);
}

static void masses_are_those_of_the_areas(gab_world *world)
{
  for (int l = 0; gab_lattice_at(l); l++)
    for (int region = 0; region < REGIONS; region++)
      for (int way = 0; way < gab_lattice_at(l)->dimension; way++)
        for (int lo = 0; lo < 20; lo++)
          for (int ramps = 0; ramps <= (way > 0); ramps++) {
            const patch_case it = {.lattice = gab_lattice_at(l),
                                   .region = region,
                                   .way = way,
                                   .lo = lo,
                                   .hi = lo + 5,
                                   .ramps = ramps};
            if (!is_left_out(world)) mass_is_that_of_the_area(world, &it);
          }
}

/* One inflow, one outflow, both with outlines at borders. */
static void boxes_with_flow_rates_keep_their_mass(gab_world *world, int dimension, int region)
{
  static gab_patches patches;
  flow_case given = box_of(gab_lattice_usual(dimension));
  const gab_domain domain = {
      .dimension = dimension, .cells = {given.cells[0], given.cells[1], given.cells[2]}, .dx = 1};
  const gab_side in = {.kind = GAB_SIDE_VELOCITY, .velocity = {0.01}, .flow_rate = 0.21},
                 out = {.kind = GAB_SIDE_VELOCITY, .velocity = {0, 0.01}, .flow_rate = -0.21};
  patches = (gab_patches){
      .count = 2,
      .list = {
          {.name = "in",
           .side = GAB_SIDE_X_MIN,
           .condition = in,
           .region = GAB_PATCH_DISC,
           .centre = {0, 10, 11},
           .radius = 3},
          {.name = "out", .side = GAB_SIDE_Y_MAX, .condition = out, .lo = {8, 0, 5}, .hi = {20, 0, 16}}}};
  REQUIRE_OK(gab_patches_complete(&patches, &domain));
  given.options.patches = &patches;
  gab_lbm_integrals before, after;
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  flow it = open_flow(world, &given, &regions[region]);
  REQUIRE_OK(gab_lbm_sum_sides(it.lbm, sums));
  REQUIRE_NEAR(gab_exact_value(&sums[6].flow), 0.01 * (double)patches.list[0].faces, 1e-14);
  REQUIRE_OK(gab_lbm_set_flow_rates(it.lbm, sums, NULL));
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &before));
  flow_run(&it, 20);
  REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &after));
  REQUIRE_NEAR(after.mass / before.mass, 1, 1e-13);
  CHECK(after.kinetic_energy > 0);
  flow_close(&it);
}

/* Free-slip patches in walls, or the reverse. */
static void slippery_patches_keep_the_mass(gab_world *world, const gab_lattice *lattice, int region, int lo)
{
  static gab_patches patches;
  flow_case given = box_of(lattice);
  const gab_domain domain = {
      .dimension = given.dimension, .cells = {given.cells[0], given.cells[1], given.cells[2]}, .dx = 1};
  const gab_side_kind inside = lo % 2 ? GAB_SIDE_FREE_SLIP : GAB_SIDE_WALL;
  patches = (gab_patches){.count = 1,
                          .list = {{.name = "p",
                                    .side = GAB_SIDE_X_MIN,
                                    .condition = {.kind = inside},
                                    .lo = {0, lo, lo % 3 == 0 ? -1 : lo - 1},
                                    .hi = {0, lo + 5, lo % 3 == 1 ? 99 : lo + 7}}}};
  REQUIRE_OK(gab_patches_complete(&patches, &domain));
  given.options.patches = &patches;
  given.options.initial = given.dimension == 2 ? noisy_plane : noisy_state;
  given.options.sides[GAB_SIDE_X_MIN].kind = lo % 2 ? GAB_SIDE_WALL : GAB_SIDE_FREE_SLIP;
  const double made = mass_made(world, &given, &regions[region], 2);
  if (printing && fabs(made) > 1e-9 && gab_world_rank(world) == 0)
    printf("%s region %d slips from row %d: %.3e\n", lattice->name, region, lo, made);
  else CHECK(printing || fabs(made) < 1e-9);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  printing = argc > 1;
  for (int l = 0; gab_lattice_at(l); l++)
    for (int region = 0; region < REGIONS; region++)
      for (int lo = 0; lo < 20; lo++)
        if (!is_left_out(world)) slippery_patches_keep_the_mass(world, gab_lattice_at(l), region, lo);
  if (argc > 2) return test_end(&world);
  masses_are_those_of_the_areas(world);
  for (int region = 0; region < REGIONS && !printing; region++) {
    boxes_with_flow_rates_keep_their_mass(world, 2, region);
    if (region % 2 == 0) boxes_with_flow_rates_keep_their_mass(world, 3, region);
  }
  return test_end(&world);
}
