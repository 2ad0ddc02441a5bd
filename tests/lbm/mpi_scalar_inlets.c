/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=1 timeout=120 */
/* Inflow of a scalar through a velocity side or patch (lbm/scalar/scalar.h) is its flow rate times the value and its
 * factor in time, to rounding: on one level, and where a border between levels meets the inlet. The sum changes by
 * the fluxes. */
#include "lbm/scalar/scalar.h"

#include "blockforest/adaptation/adapt.h"
#include "lbm/sides/patch.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>

enum { CELLS = 16, STEPS = 20 };

#define RATE  0.3
#define VALUE 2.0

typedef struct inlet {
  int dimension, side;
  gab_profile profile;
  double ramp_steps;
  bool is_patch, refined, bounded;
} inlet;

static gab_mark refine_some(void *user, int level, const gab_box *cells)
{
  const inlet *it = user;
  const int axis = it->side / 2, along = axis == 0;
  (void)level;
  return cells->lo[axis] == (it->side % 2 ? 3 * CELLS / 4 : 0) && cells->lo[along] < CELLS / 2
             ? GAB_MARK_REFINE
             : GAB_MARK_KEEP;
}

static double spot(void *user, const double at[3], double step)
{
  (void)user, (void)step;
  return 1 + sin(7 * at[0] + 3 * at[1]) + 0.5 * cos(11 * at[1]);
}

/* An outlet opposite the inlet, and walls. */
static void set_sides(const inlet *with, const gab_domain *domain, gab_patches *patches,
                      gab_lbm_options *flow)
{
  gab_side in = {
      .kind = GAB_SIDE_VELOCITY, .profile = with->profile, .flow_rate = RATE, .ramp_steps = with->ramp_steps};
  in.velocity[with->side / 2] = with->side % 2 ? -0.02 : 0.02;
  in.velocity[with->side / 2 == 0] = 0.01;
  for (int side = 0; side < 2 * with->dimension; side++) flow->sides[side].kind = GAB_SIDE_WALL;
  flow->sides[with->side ^ 1] = (gab_side){.kind = GAB_SIDE_OUTFLOW, .density = 1};
  if (!with->is_patch) {
    flow->sides[with->side] = in;
    return;
  }
  *patches = (gab_patches){
      .count = 1, .list = {{.name = "nozzle", .path = "nozzle", .side = with->side, .condition = in}}};
  for (int axis = 0; axis < 3; axis++) {
    patches->list[0].lo[axis] = 5.0 / CELLS;
    patches->list[0].hi[axis] = 12.0 / CELLS;
  }
  REQUIRE_OK(gab_patches_complete(patches, domain));
  flow->patches = patches;
}

static void moves(gab_lbm *lbm, gab_lbm_scalar *scalar)
{
  REQUIRE_OK(gab_lbm_step(lbm));
  REQUIRE_OK(gab_lbm_scalar_step(scalar));
}

static double passes(gab_lbm_scalar *scalar, const inlet *with, double *sum)
{
  gab_lbm_scalar_balance found;
  double all = 0;
  REQUIRE_OK(gab_lbm_scalar_get_balance(scalar, &found, NULL));
  for (int side = 0; side < 2 * with->dimension; side++) all += found.sides[side];
  *sum = found.sum;
  return all;
}

static void rate_is_carried(gab_world *world, inlet with)
{
  const int32_t depth = with.dimension == 3 ? CELLS : 1, blocks = with.dimension == 3 ? 4 : 1;
  const gab_forest_options grid = {.grid = {with.dimension, {4, 4, blocks}},
                                   .cells = {CELLS / 4, CELLS / 4, depth / blocks},
                                   .dx = 1.0 / CELLS};
  gab_lbm_options flow = {.omega = 1.3, .kernel = "in_place"};
  gab_domain domain = gab_lbm_domain(&grid);
  gab_lbm_scalar_options options = {.name = "heat", .diffusivity = 0.03, .bounded = with.bounded};
  const gab_lbm_scalar_wall at_patch = {.kind = GAB_SCALAR_FIXED, .value = VALUE};
  static gab_patches patches;
  gab_geometry *geometry;
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_scalar *scalar;
  gab_side_sums sums[GAB_MOST_CONDITIONS];
  gab_lbm_scalar_balance balance;
  set_sides(&with, &domain, &patches, &flow);
  if (with.is_patch) options.patches = &at_patch;
  else options.sides[with.side] = (gab_lbm_scalar_side){GAB_SCALAR_FIXED, VALUE};
  domain.deepest = with.refined;
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &geometry));
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  REQUIRE_OK(gab_lbm_create(forest, geometry, &flow, &lbm));
  REQUIRE_OK(gab_lbm_scalar_create(forest, lbm, &options, with.refined, &scalar));
  REQUIRE_OK(gab_forest_build(forest, with.refined ? refine_some : NULL, &with, with.refined,
                              gab_balance_distribute, NULL, NULL));
  REQUIRE_OK(gab_lbm_sum_sides(lbm, sums));
  REQUIRE_OK(gab_lbm_set_flow_rates(lbm, sums, NULL));
  gab_lbm_scalar_fill(scalar, VALUE);
  for (int step = 0; step < STEPS; step++) moves(lbm, scalar);

  /* There is no conduction at the inlet while its value is everywhere. */
  gab_lbm_scalar_fill(scalar, VALUE);
  REQUIRE_OK(gab_lbm_scalar_get_balance(scalar, &balance, NULL));
  const double ramp = STEPS < with.ramp_steps ? 0.5 * (1 - cos(acos(-1.0) * STEPS / with.ramp_steps)) : 1;
  CHECK(fabs(balance.sides[with.side] / (RATE * ramp * VALUE) - 1) < 1e-12);

  double before, after;
  gab_lbm_scalar_set(scalar, spot, NULL);
  if (!with.bounded) { /* steps of Heun's method */
    const double passed = passes(scalar, &with, &before);
    gab_lbm_set_step(lbm, STEPS + 1); /* with the flow unchanged, one step later */
    REQUIRE_OK(gab_lbm_scalar_step(scalar));
    (void)passes(scalar, &with, &after);
    CHECK(fabs(after - before - passed) < 1e-10 * fabs(before));
  }
  gab_lbm_scalar_destroy(&scalar);
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
  gab_geometry_destroy(&geometry);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int refined = 0; refined < 2; refined++)
    for (int is_patch = 0; is_patch < 2; is_patch++) {
      const inlet steady = {.dimension = 2, .side = 0, .is_patch = is_patch, .refined = refined};
      inlet grows = steady;
      grows.ramp_steps = 2 * STEPS + 7;
      grows.profile = GAB_PROFILE_PARABOLIC;
      grows.side = 3;
      rate_is_carried(world, steady);
      rate_is_carried(world, grows);
      grows.bounded = true;
      rate_is_carried(world, grows);
      grows.bounded = false;
      grows.dimension = 3;
      rate_is_carried(world, grows);
    }
  return test_end(&world);
}
