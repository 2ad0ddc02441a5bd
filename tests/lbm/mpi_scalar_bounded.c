/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=120 */
/* A bounded scalar (gab_lbm_scalar_options.bounded): a steep front in a uniform flow has no over- or undershoots, in
 * 2D and 3D, on one level and on two; without the bound it has some. Its sum is constant; a smooth wave has errors of
 * second order in the mean; values of an inlet and of a body are bounds, too. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>

typedef struct carried {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
} carried;

static gab_mark refine_some(void *user, int level, const gab_box *cells)
{
  const int64_t middle = *(const int64_t *)user;
  (void)level;
  return cells->lo[0] >= middle ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Four blocks along each axis, of `cells' in total. */
static carried make(gab_world *world, int dimension, int32_t cells, bool refined, const double velocity[3],
                    const gab_side *sides, const gab_body *body, const gab_lbm_scalar_options *options)
{
  const bool deep = dimension == 3;
  gab_forest_options grid = {.grid = {dimension, {4, 4, deep ? 4 : 1}},
                             .cells = {cells / 4, cells / 4, deep ? cells / 4 : 1},
                             .periodic = {!sides, !sides, deep && !sides},
                             .dx = 1.0 / cells,
                             .exists = gab_geometry_block_exists};
  gab_lbm_options flow = {
      .omega = 1.3, .kernel = "in_place", .velocity = {velocity[0], velocity[1], deep ? velocity[2] : 0}};
  gab_domain domain = gab_lbm_domain(&grid);
  int64_t middle = cells / 2;
  carried it;
  for (int side = 0; sides && side < 4; side++) flow.sides[side] = sides[side];
  domain.deepest = refined;
  REQUIRE_OK(gab_geometry_create(&domain, body, body != NULL, &it.geometry));
  grid.user = it.geometry;
  REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &flow, &it.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, options, refined, &it.scalar));
  REQUIRE_OK(gab_forest_build(it.forest, refined ? refine_some : NULL, &middle, refined,
                              gab_balance_distribute, NULL, NULL));
  return it;
}

static void drop(carried *it)
{
  gab_lbm_scalar_destroy(&it->scalar);
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
  gab_geometry_destroy(&it->geometry);
}

static void run(carried *it, int steps)
{
  for (int step = 0; step < steps; step++) {
    REQUIRE_OK(gab_lbm_step(it->lbm));
    REQUIRE_OK(gab_lbm_scalar_step(it->scalar));
  }
}

/* ---- a front */

static double box(void *user, const double at[3], double step)
{
  (void)user, (void)step;
  for (int axis = 0; axis < 3; axis++)
    if (at[axis] > 0.7 || (at[axis] < 0.3 && axis < 2)) return 0;
  return 1;
}

static void front(gab_world *world, int dimension, bool refined)
{
  const double velocity[3] = {0.07, 0.04, -0.05};
  for (int bounded = 0; bounded < 2; bounded++) {
    const gab_lbm_scalar_options options = {.name = "dye", .diffusivity = 3e-3, .bounded = bounded};
    carried it = make(world, dimension, dimension == 2 ? 32 : 16, refined, velocity, NULL, NULL, &options);
    gab_lbm_scalar_balance before, after;
    gab_lbm_scalar_set(it.scalar, box, NULL);
    REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &before, NULL));
    double least = 0, most = 1;
    for (int step = 0; step < 60; step++) {
      run(&it, 1);
      REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &after, NULL));
      least = fmin(least, after.least);
      most = fmax(most, after.most);
    }
    if (bounded) CHECK(least > -1e-14 && most < 1 + 1e-14);
    else CHECK(least < -0.03 && most > 1.03);
    CHECK(fabs(after.sum / before.sum - 1) < 1e-13);
    drop(&it);
  }
}

/* ---- a wave */

#define SPEED 0.1

static double wave(void *user, const double at[3], double step)
{
  const double pi = acos(-1.0), cells = *(const double *)user;
  return sin(2 * pi * (at[0] - SPEED * step / cells)) * sin(2 * pi * (at[1] + SPEED / 2 * step / cells));
}

/* Mean of the absolute difference. */
static double error_of(const carried *it, double cells, double step)
{
  gab_quantity items[2];
  double values[4096], sum = 0, volume = 0;
  gab_lbm_scalar_quantities(it->scalar, items);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const int32_t *size = gab_forest_get_options(it->forest)->cells;
    const double share = ldexp(1, -2 * gab_block_level(it->forest, block));
    REQUIRE_OK(items->evaluate(items->user, it->forest, block, values));
    for (int32_t y = 0; y < size[1]; y++)
      for (int32_t x = 0; x < size[0]; x++) {
        double at[3];
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        sum += share * fabs(values[y * size[0] + x] - wave(&cells, at, step));
        volume += share;
      }
  }
  return sum / volume;
}

static double wave_error(gab_world *world, int32_t cells, bool refined)
{
  const double velocity[3] = {SPEED, -SPEED / 2, 0};
  const gab_lbm_scalar_options options = {.name = "wave", .diffusivity = 1e-9, .bounded = true};
  double width = cells;
  carried it = make(world, 2, cells, refined, velocity, NULL, NULL, &options);
  gab_lbm_scalar_set(it.scalar, wave, &width);
  run(&it, 5 * cells);
  const double found = error_of(&it, width, 5 * cells);
  drop(&it);
  return found;
}

/* ---- an inlet, a body and an outlet: the flow around the body is divergence-free up to its errors */

static void channel(gab_world *world, bool refined)
{
  const gab_side sides[4] = {{.kind = GAB_SIDE_VELOCITY, .velocity = {0.05}},
                             {.kind = GAB_SIDE_OUTFLOW, .density = 1},
                             {.kind = GAB_SIDE_FREE_SLIP},
                             {.kind = GAB_SIDE_FREE_SLIP}};
  const gab_body body = {.shape = GAB_SHAPE_CYLINDER,
                         .axis = 2,
                         .wall = GAB_WALL_INTERPOLATED,
                         .centre = {0.52, 0.5},
                         .radius = 0.12};
  const gab_lbm_scalar_wall hot = {.kind = GAB_SCALAR_FIXED, .value = 1};
  const gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = 1e-3, .sides = {{GAB_SCALAR_FIXED, 0}}, .bodies = &hot, .bounded = true};
  carried it = make(world, 2, 32, refined, (double[3]){0.05}, sides, &body, &options);
  gab_lbm_scalar_balance found;
  gab_lbm_scalar_body passed;
  run(&it, 400);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &found, &passed));
  CHECK(found.least > -1e-3 && found.most < 1 + 1e-2 && found.most > 0.5 && passed.flux > 0);
  drop(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int refined = 0; refined < 2; refined++) {
    front(world, 2, refined);
    front(world, 3, refined);
    channel(world, refined);
    if (gab_world_processes(world) > 1) continue;
    const double coarse = wave_error(world, 32, refined), fine = wave_error(world, 64, refined);
    printf("wave on %d levels: errors %.3g, %.3g, order %.2f\n", refined + 1, coarse, fine,
           log2(coarse / fine));
    CHECK(coarse < 0.05 && log2(coarse / fine) > 1.8);
  }
  CHECK(gab_lbm_scalar_bounded_substeps(0.01, 2, 0, 0.1) == 1);
  CHECK(gab_lbm_scalar_bounded_substeps(0.01, 2, 2, 0.1) == 2);
  return test_end(&world);
}
