/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=120 */
/* A scalar at bodies and at sides with a flow through them (lbm/scalar/scalar.h). Between two circles with values,
 * and inside a heated circle, temperature and fluxes have errors of second and of first order. The sum changes by the
 * fluxes of walls, sides and sources, on one level and on two. Inflow of an inlet leaves by the outlet, and a uniform
 * value stays uniform to the last bit. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>
#include <stdio.h>

typedef struct heated {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
} heated;

static gab_mark refine_some(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Four blocks along each axis, of `cells' in total. */
static heated make(gab_world *world, int32_t cells, const gab_side sides[4], const gab_body *bodies,
                   size_t count, bool refined, double speed, const gab_lbm_scalar_options *options)
{
  const gab_forest_options grid = {.grid = {2, {4, 4, 1}},
                                   .cells = {cells / 4, cells / 4, 1},
                                   .dx = 1.0 / cells,
                                   .exists = gab_geometry_block_exists};
  gab_forest_options with = grid;
  gab_domain domain = gab_lbm_domain(&grid);
  gab_lbm_options flow = {.omega = 1.3, .kernel = "in_place", .velocity = {speed}};
  heated it;
  for (int side = 0; side < 4; side++) flow.sides[side] = sides[side];
  domain.deepest = refined;
  REQUIRE_OK(gab_geometry_create(&domain, bodies, count, &it.geometry));
  with.user = it.geometry;
  REQUIRE_OK(gab_forest_create(world, &with, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &flow, &it.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, options, refined, &it.scalar));
  REQUIRE_OK(gab_forest_build(it.forest, refined ? refine_some : NULL, NULL, refined, gab_balance_distribute,
                              NULL, NULL));
  return it;
}

static void drop(heated *it)
{
  gab_lbm_scalar_destroy(&it->scalar);
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
  gab_geometry_destroy(&it->geometry);
}

static const gab_side walls[4] = {
    {.kind = GAB_SIDE_WALL}, {.kind = GAB_SIDE_WALL}, {.kind = GAB_SIDE_WALL}, {.kind = GAB_SIDE_WALL}};

/* ---- conduction at circles: the flow is at rest and is not stepped */

/* The centre is neither in the middle nor at a corner of a cell. */
static const double centre[2] = {0.5037, 0.4951};
#define INNER 0.17
#define OUTER 0.43

typedef double exact_fn(double radius);

static double between_circles(double r) { return log(r / OUTER) / log(INNER / OUTER); }
static double around_a_source(double r) { return 1 + (OUTER * OUTER - r * r) / 4; }

static double radius_of(const double at[3]) { return hypot(at[0] - centre[0], at[1] - centre[1]); }

/* Largest difference in fluid cells. */
static double error_of(gab_world *world, const heated *it, exact_fn *exact)
{
  double found = 0;
  gab_quantity items[2];
  double values[4096];
  gab_lbm_scalar_quantities(it->scalar, items);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const int32_t *cells = gab_forest_get_options(it->forest)->cells;
    REQUIRE(gab_quantity_block_values(it->forest, items) <= 4096);
    REQUIRE_OK(items->evaluate(items->user, it->forest, block, values));
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        const double value = values[y * cells[0] + x];
        if (!isnan(value)) found = fmax(found, fabs(value - exact(radius_of(at))));
      }
  }
  REQUIRE_OK(gab_world_max_f64(world, &found, 1));
  return found;
}

static void conduct(heated *it, int steps)
{
  for (int step = 0; step < steps; step++) REQUIRE_OK(gab_lbm_scalar_step(it->scalar));
}

typedef struct errors {
  double value, flux, area;
} errors;

/* Temperature 1 at the inner circle and 0 at the outer one; or equal temperatures, and a uniform heat source. */
static errors errors_between(gab_world *world, int32_t cells)
{
  const double pi = acos(-1.0), diffusivity = 0.24;
  const gab_body bodies[2] = {{.shape = GAB_SHAPE_CYLINDER,
                               .axis = 2,
                               .centre = {centre[0], centre[1]},
                               .radius = INNER,
                               .wall = GAB_WALL_INTERPOLATED},
                              {.shape = GAB_SHAPE_CYLINDER,
                               .axis = 2,
                               .centre = {centre[0], centre[1]},
                               .radius = OUTER,
                               .wall = GAB_WALL_INTERPOLATED,
                               .inside_is_fluid = true}};
  const gab_lbm_scalar_wall at[2] = {{.kind = GAB_SCALAR_FIXED, .value = 1}, {.kind = GAB_SCALAR_FIXED}};
  const gab_lbm_scalar_options options = {.name = "heat", .diffusivity = diffusivity, .bodies = at};
  heated it = make(world, cells, walls, bodies, 2, false, 0, &options);
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body found[2];
  conduct(&it, 4 * cells * cells / 3);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, found));
  const double exact = 2 * pi * diffusivity / log(OUTER / INNER);
  CHECK(fabs(found[0].flux + found[1].flux) < 1e-8 * exact);
  const errors made = {error_of(world, &it, between_circles), fabs(found[0].flux / exact - 1),
                       fabs(found[0].area / (2 * pi * INNER * cells) - 1)};
  drop(&it);
  return made;
}

static double unit_source(void *user, const double at[3], double step)
{
  (void)at, (void)step;
  return *(const double *)user;
}

/* Heat of a source in a circle leaves by a flux, or a transfer coefficient, at its wall. */
static errors errors_inside(gab_world *world, int32_t cells, bool transfers)
{
  const double diffusivity = 0.24;
  double source = diffusivity / cells / cells; /* so that Laplace T is -1 in the units of the circle */
  const gab_body body = {.shape = GAB_SHAPE_CYLINDER,
                         .axis = 2,
                         .centre = {centre[0], centre[1]},
                         .radius = OUTER,
                         .wall = GAB_WALL_INTERPOLATED,
                         .inside_is_fluid = true};
  const double passes = diffusivity * OUTER / 2 / cells;
  /* The temperature at the wall is 1: outside it is 0.9, with a coefficient of ten times the flux. */
  const gab_lbm_scalar_wall at = {.kind = transfers ? GAB_SCALAR_TRANSFER : GAB_SCALAR_FIXED,
                                  .value = transfers ? 0.9 : 1,
                                  .transfer = 10 * passes};
  const gab_lbm_scalar_options options = {.name = "heat",
                                          .diffusivity = diffusivity,
                                          .bodies = &at,
                                          .source = unit_source,
                                          .source_user = &source,
                                          .substeps = transfers ? 2 : 1};
  heated it = make(world, cells, walls, &body, 1, false, 0, &options);
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body found;
  gab_lbm_scalar_fill(it.scalar, 1);
  conduct(&it, (transfers ? 12 : 4) * cells * cells / 3);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, &found));
  CHECK(fabs(found.flux + balance.source) < 1e-3 * balance.source);
  const errors made = {error_of(world, &it, around_a_source), fabs(balance.source / source - balance.volume),
                       0};
  CHECK(made.flux < 1e-9 * balance.volume);
  drop(&it);
  return made;
}

static void conducts_at_circles(gab_world *world)
{
  const errors coarse = errors_between(world, 20), fine = errors_between(world, 40);
  CHECK(coarse.value < 0.01 && log2(coarse.value / fine.value) > 1.7);
  CHECK(fine.flux < 4e-3 && coarse.flux < 1.5e-2);
  CHECK(fine.area < 0.01);
  const errors rough = errors_inside(world, 20, false), smooth = errors_inside(world, 40, false);
  CHECK(log2(rough.value / smooth.value) > 1.7);
  const errors leaks = errors_inside(world, 20, true), less = errors_inside(world, 40, true);
  if (gab_world_is_root(world)) {
    printf("between circles on 20 cells: error %.2g, of the flux %.2g, of the area %.2g\n", coarse.value,
           coarse.flux, coarse.area);
    printf("between circles on 40 cells: error %.2g, of the flux %.2g, of the area %.2g\n", fine.value,
           fine.flux, fine.area);
    printf("source in a circle: errors %.2g, %.2g; with a transfer coefficient %.2g, %.2g\n", rough.value,
           smooth.value, leaks.value, less.value);
  }
  CHECK(leaks.value < 6e-3 && less.value < 0.6 * leaks.value);
}

/* ---- change of the sum */

static double spot(void *user, const double at[3], double step)
{
  (void)user, (void)step;
  return 1 + sin(7 * at[0] + 3 * at[1]) + 0.5 * cos(11 * at[1]);
}

static double growing(void *user, const double at[3], double step)
{
  (void)user;
  return 1e-4 * at[0] * (1 + 0.1 * step);
}

/* A channel with a body of each kind of wall and each kind of side. */
static void walls_account_for_the_sum(gab_world *world, bool refined, bool varies)
{
  const gab_side sides[4] = {{.kind = GAB_SIDE_VELOCITY, .velocity = {0.05}},
                             {.kind = GAB_SIDE_OUTFLOW, .density = 1},
                             {.kind = GAB_SIDE_WALL},
                             {.kind = GAB_SIDE_FREE_SLIP}};
  gab_body bodies[3];
  const gab_lbm_scalar_wall at[3] = {{.kind = GAB_SCALAR_FIXED, .value = 3},
                                     {.kind = GAB_SCALAR_FLUX, .value = 0.01},
                                     {.kind = GAB_SCALAR_TRANSFER, .value = -1, .transfer = 0.02}};
  const gab_lbm_scalar_options options = {
      .name = "heat",
      .diffusivity = 0.05,
      .sides = {{GAB_SCALAR_FIXED, 2}, {0}, {GAB_SCALAR_FLUX, 0.02}, {GAB_SCALAR_TRANSFER, 5}},
      .transfer = {[3] = 0.03},
      .bodies = at,
      .source = growing,
      .source_varies = varies,
  };
  for (int i = 0; i < 3; i++)
    bodies[i] = (gab_body){.shape = GAB_SHAPE_CYLINDER,
                           .axis = 2,
                           .wall = i == 1 ? GAB_WALL_STAIRCASE : GAB_WALL_INTERPOLATED,
                           .centre = {0.26 * i + 0.24, i == 1 ? 0.7 : 0.25},
                           .radius = 0.09};
  heated it = make(world, 32, sides, bodies, 3, refined, 0.05, &options);
  gab_lbm_scalar_balance before, after;
  gab_lbm_scalar_body found[3];
  double passed = 0;
  gab_lbm_scalar_set(it.scalar, spot, NULL);
  for (int step = 0; step < 20; step++) {
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_scalar_step(it.scalar));
  }
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &before, found));
  gab_lbm_set_step(it.lbm, 21); /* with the flow unchanged, one step later */
  REQUIRE_OK(gab_lbm_scalar_step(it.scalar));
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &after, NULL));
  for (int side = 0; side < 4; side++) passed += before.sides[side];
  for (int i = 0; i < 3; i++) passed += found[i].flux;
  passed += before.source;
  CHECK(fabs(before.sides[2] / 32 - 0.02) < 1e-14 && before.side_areas[2] == 32);
  CHECK(fabs(found[1].flux / found[1].area - 0.01) < 1e-14);
  CHECK(found[0].flux > 0 && found[2].flux < 0 && before.sides[0] > 3 && before.sides[1] < -1);
  CHECK(fabs(after.sum - before.sum - passed) < 1e-10);
  CHECK(before.volume == after.volume && before.least < before.most);
  drop(&it);
}

/* No scalar is carried into a solid cell, and the outflow equals the inflow. */
static void uniform_stays(gab_world *world)
{
  const gab_side sides[4] = {{.kind = GAB_SIDE_VELOCITY, .velocity = {0.05}},
                             {.kind = GAB_SIDE_PRESSURE, .density = 1},
                             {.kind = GAB_SIDE_FREE_SLIP},
                             {.kind = GAB_SIDE_FREE_SLIP}};
  const gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = 0.05, .sides = {{GAB_SCALAR_FIXED, 1}}, .zero = 293};
  heated it = make(world, 16, sides, NULL, 0, true, 0.05, &options);
  gab_lbm_scalar_balance balance;
  gab_quantity items[2];
  double values[64];
  gab_lbm_scalar_fill(it.scalar, 1);
  for (int step = 0; step < 30; step++) {
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_scalar_step(it.scalar));
  }
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, NULL));
  CHECK(fabs(balance.most - 1) < 1e-12 && fabs(balance.least - 1) < 1e-12);
  CHECK(fabs(balance.sides[0] / (16 * 0.05) - 1) < 1e-11 &&
        fabs(balance.sides[1] / balance.sides[0] + 1) < 1e-11);
  gab_lbm_scalar_quantities(it.scalar, items);
  if (gab_forest_block_count(it.forest) > 0) {
    REQUIRE_OK(items->evaluate(items->user, it.forest, gab_forest_block(it.forest, 0), values));
    CHECK(fabs(values[0] - 294) < 1e-10);
  }
  drop(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (gab_world_processes(world) == 1) conducts_at_circles(world);
  for (int varies = 0; varies < 2; varies++) walls_account_for_the_sum(world, false, varies);
  walls_account_for_the_sum(world, true, false);
  uniform_stays(world);
  CHECK(gab_lbm_scalar_substeps(0.05, 2, 0, 0.1) == 1 && gab_lbm_scalar_substeps(0.05, 2, 2, 0.1) == 4);
  CHECK(gab_lbm_scalar_substeps(0.0011, 2, 0, 0.1) == 5 && gab_lbm_scalar_substeps(0.25, 2, 0, 0) == 1);
  return test_end(&world);
}
