/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=1 timeout=120 */
/* A scalar with a turbulent Prandtl number (lbm/scalar/scalar.h). In uniform shear the eddy viscosity is known: a wave across it decays
 * with D + (C dx)^2 |S| / number, with errors of second order, and the flux between a body and a lid with values follows from it. The sum
 * stays on two levels. A flow without eddy viscosity is refused. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>

typedef struct sheared {
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
} sheared;

static const double diffusivity = 0.02, number = 0.1, lid = 0.1;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

/* Walls all around or periodic along x; the upper one moves. */
static sheared make(gab_world *world, int32_t cells, double constant, bool refined, bool closed,
                    const gab_body *body, gab_lbm_initial_fn initial, void *user,
                    const gab_lbm_scalar_options *options)
{
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {cells / 2, cells / 2, 1}, .periodic = {!closed}, .dx = 1};
  const gab_side wall = {.kind = GAB_SIDE_WALL}, none = {0};
  const gab_lbm_options flow = {.omega = 1.6,
                                .collision = &gab_collision_smagorinsky,
                                .smagorinsky = constant,
                                .sides = {closed ? wall : none, closed ? wall : none, wall,
                                          (gab_side){.kind = GAB_SIDE_VELOCITY, .velocity = {lid}}},
                                .initial = initial,
                                .initial_user = user};
  gab_domain domain = gab_lbm_domain(&grid);
  sheared it;
  domain.deepest = refined;
  REQUIRE_OK(gab_geometry_create(&domain, body, body != NULL, &it.geometry));
  REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, it.geometry, &flow, &it.lbm));
  REQUIRE_OK(gab_lbm_scalar_create(it.forest, it.lbm, options, refined, &it.scalar));
  REQUIRE_OK(gab_forest_build(it.forest, refined ? refine_first : NULL, NULL, refined, gab_balance_distribute,
                              NULL, NULL));
  return it;
}

static void drop(sheared *it)
{
  gab_lbm_scalar_destroy(&it->scalar);
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
  gab_geometry_destroy(&it->geometry);
}

static void run(sheared *it, int steps)
{
  for (int step = 0; step < steps; step++) {
    REQUIRE_OK(gab_lbm_step(it->lbm));
    REQUIRE_OK(gab_lbm_scalar_step(it->scalar));
  }
  REQUIRE_OK(gab_lbm_scalar_check_finite(it->scalar));
}

/* ---- a wave across uniform shear */

typedef struct wave {
  double height, floor; /* of the lid, and of the wall at rest */
  double amplitude;
} wave;

static void shear(void *user, const double centre[3], gab_lbm_state *state)
{
  const wave *by = user;
  state->velocity[0] = lid * (centre[1] - by->floor) / (by->height - by->floor);
}

/* Adiabatic at both ends. */
static double wave_at(void *user, const double centre[3], double step)
{
  const wave *by = user;
  (void)step;
  return by->amplitude * cos(acos(-1.0) * centre[1] / by->height);
}

static double largest_error(gab_world *world, const sheared *it, wave *by)
{
  double found = 0;
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    const gab_field *now = gab_block_data(block, gab_lbm_scalar_data(it->scalar));
    for (int32_t y = 0; y < now->shape.cells[1]; y++)
      for (int32_t x = 0; x < now->shape.cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(it->forest, block, x, y, 0, at);
        found = fmax(found, fabs(gab_field_get(now, x, y, 0, 0) - wave_at(by, at, 0)));
      }
  }
  REQUIRE_OK(gab_world_max_f64(world, &found, 1));
  return found;
}

/* The constant is such that eddies add 0.6 to D, whatever the width of cells. */
static double constant_of(double gradient) { return sqrt(0.6 * diffusivity * number / gradient); }

static double wave_error(gab_world *world, int fine, bool bounded)
{
  const int32_t cells = 16 * fine;
  const int steps = 200 * fine * fine;
  const gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = diffusivity, .turbulent_prandtl = number, .bounded = bounded};
  const double k = acos(-1.0) / cells;
  wave by = {.height = cells, .amplitude = 1};
  sheared it = make(world, cells, constant_of(lid / cells), false, false, NULL, shear, &by, &options);
  run(&it, 100); /* until stresses are those of the shear */
  gab_lbm_scalar_set(it.scalar, wave_at, &by);
  run(&it, steps);
  by.amplitude = exp(-1.6 * diffusivity * k * k * steps);
  CHECK(by.amplitude < 0.8);
  const double error = largest_error(world, &it, &by);
  drop(&it);
  return error;
}

/* ---- walls */

/* A plate fills the lower quarter: value 0 there, 1 at the lid. */
static void conducts(gab_world *world)
{
  enum { CELLS = 16, FLOOR = 4 };
  const double exact = 1.6 * diffusivity * CELLS / (CELLS - FLOOR);
  const gab_body plate = {
      .shape = GAB_SHAPE_BOX, .lo = {-1, -1}, .hi = {CELLS + 1, FLOOR}, .wall = GAB_WALL_STAIRCASE};
  const gab_lbm_scalar_wall cold = {.kind = GAB_SCALAR_FIXED};
  gab_lbm_scalar_options options = {
      .name = "heat", .diffusivity = diffusivity, .turbulent_prandtl = number, .bodies = &cold};
  options.sides[3] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, 1};
  wave by = {.height = CELLS, .floor = FLOOR};
  sheared it =
      make(world, CELLS, constant_of(lid / (CELLS - FLOOR)), false, false, &plate, shear, &by, &options);
  gab_lbm_scalar_balance balance;
  gab_lbm_scalar_body wall;
  run(&it, 6000);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &balance, &wall));
  CHECK(fabs(balance.sides[3] / exact - 1) < 2e-5); /* the square of strain over rate is 6e-5 */
  CHECK(fabs(wall.flux / balance.sides[3] + 1) < 1e-5);
  drop(&it);
}

/* ---- conservation */

static double spots(void *user, const double centre[3], double step)
{
  (void)user, (void)step;
  return 1 + sin(centre[0] + 2 * centre[1]);
}

static void sum_stays(gab_world *world, bool bounded)
{
  const gab_lbm_scalar_options options = {.name = "salt",
                                          .diffusivity = diffusivity,
                                          .turbulent_prandtl = 0.1,
                                          .bounded = bounded,
                                          .substeps = 3};
  sheared it = make(world, 16, 0.5, true, true, NULL, NULL, NULL, &options);
  gab_lbm_scalar_balance before, after;
  gab_lbm_scalar_set(it.scalar, spots, NULL);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &before, NULL));
  run(&it, 60);
  REQUIRE_OK(gab_lbm_scalar_get_balance(it.scalar, &after, NULL));
  CHECK(fabs(after.sum / before.sum - 1) < 1e-13);
  drop(&it);
}

static void is_refused(gab_world *world)
{
  const gab_forest_options grid = {
      .grid = {2, {2, 2, 1}}, .cells = {4, 4, 1}, .periodic = {true, true}, .dx = 1};
  const gab_lbm_options flow = {.omega = 1.3};
  const gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.02, .turbulent_prandtl = 0.7};
  sheared it = {0};
  REQUIRE_OK(gab_forest_create(world, &grid, &it.forest));
  REQUIRE_OK(gab_lbm_create(it.forest, NULL, &flow, &it.lbm));
  CHECK(gab_lbm_scalar_create(it.forest, it.lbm, &options, 0, &it.scalar) == GAB_ERR_INPUT && !it.scalar);
  gab_lbm_destroy(&it.lbm);
  gab_forest_destroy(&it.forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int bounded = 0; bounded < 2; bounded++) {
    const double coarse = wave_error(world, 1, bounded), fine = wave_error(world, 2, bounded);
    CHECK(coarse < 2e-3 && log2(coarse / fine) > 1.8);
    sum_stays(world, bounded);
  }
  conducts(world);
  is_refused(world);
  return test_end(&world);
}
