/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=2 timeout=60 */
/* A local force (lbm/step/local_force.h): a channel driven by it has the exact parabola of Poiseuille, with equal
 * bits for all dense kernels, also with blocks computed twice; a force that varies between cells adds its momentum
 * and no mass to a box, in 2D and 3D, on one and two levels; a refined channel flows as with the force of the
 * kernels. Unsupported cases are refused. */
#include "lbm/step/local_force.h"

#include "blockforest/adaptation/adapt.h"
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>

enum { WIDE = 8, HIGH = 16 };

typedef struct flow {
  gab_forest *forest;
  gab_lbm *lbm;
} flow;

static const double omega = 1.25;
static double pushed = 1e-5;

static gab_mark refine_first(void *user, int level, const gab_box *cells)
{
  (void)user, (void)level;
  return cells->lo[0] == 0 && cells->lo[1] == 0 && cells->lo[2] == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
}

static gab_status share_out(void *context, gab_proxies *proxies)
{
  const gab_balance_options options = {0};
  (void)context;
  return gab_balance_proxies(proxies, &options, NULL);
}

/* @param[in] uniform  force of the kernels */
static flow make(gab_world *world, int dimension, const char *kernel, bool walls, bool refined,
                 double uniform)
{
  const int32_t deep = dimension == 3;
  const gab_forest_options grid = {.grid = {dimension, {2, 2, deep ? 2 : 1}},
                                   .cells = {WIDE / 2, HIGH / 2, deep ? 4 : 1},
                                   .periodic = {true, !walls, deep},
                                   .dx = 1};
  const gab_side wall = {.kind = walls ? GAB_SIDE_WALL : GAB_SIDE_PERIODIC};
  const gab_lbm_options options = {
      .omega = omega, .kernel = kernel, .sides = {{0}, {0}, wall, wall}, .force = {uniform, 0, 0}};
  flow made;
  REQUIRE_OK(gab_forest_create(world, &grid, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &options, &made.lbm));
  REQUIRE_OK(
      gab_forest_build(made.forest, refined ? refine_first : NULL, NULL, refined, share_out, NULL, NULL));
  return made;
}

static void drop(flow *it)
{
  gab_lbm_destroy(&it->lbm);
  gab_forest_destroy(&it->forest);
}

static void along_x(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                    double *const force[3])
{
  (void)user, (void)block, (void)first;
  for (int32_t i = 0; i < count; i++) force[0][i] = pushed;
}

static uint64_t channel(gab_world *world, const char *kernel, bool twice)
{
  const gab_local_force force = {"a push", NULL, along_x};
  const double viscosity = (1 / omega - 0.5) / 3;
  flow it = make(world, 2, kernel, true, false, 0);
  uint64_t checksum;
  REQUIRE_OK(gab_lbm_set_local_force(it.lbm, &force));
  for (int step = 0; step < 12001; step++) {
    if (twice && step < 10) REQUIRE_OK(gab_lbm_request_recomputation(it.lbm, 1));
    REQUIRE_OK(gab_lbm_step(it.lbm));
    if (twice && step < 10) REQUIRE_OK(gab_lbm_check_recomputed(it.lbm, false));
  }
  for (size_t b = 0; b < gab_forest_block_count(it.forest); b++) {
    const gab_block *block = gab_forest_block(it.forest, b);
    const gab_box cells = gab_block_cells(it.forest, block), all = {{0, 0, 0}, {WIDE / 2, HIGH / 2, 1}};
    double velocity[WIDE / 2 * HIGH / 2 * 3], density[WIDE / 2 * HIGH / 2];
    REQUIRE_OK(gab_lbm_macroscopic(it.lbm, block, &all, density, velocity));
    for (int i = 0; i < WIDE / 2 * HIGH / 2; i++) {
      const double y = (double)(cells.lo[1] + i / (WIDE / 2)) + 0.5;
      const double u = velocity[3 * i] - 0.5 * pushed / density[i],
                   expected = pushed / (2 * viscosity) * y * (HIGH - y);
      CHECK(fabs(u / expected - 1) < 1e-9);
    }
  }
  REQUIRE_OK(gab_forest_checksum(it.forest, &checksum));
  drop(&it);
  return checksum;
}

/* Largest difference of a velocity from that with the force of the kernels, of which gab_lbm_macroscopic() has
 * already subtracted half; divided by the largest velocity. */
static double refined_channel(gab_world *world)
{
  const gab_local_force force = {"a push", NULL, along_x};
  flow local = make(world, 2, "in_place", true, true, 0),
       kernel = make(world, 2, "in_place", true, true, pushed);
  double most[2] = {0, 0};
  REQUIRE_OK(gab_lbm_set_local_force(local.lbm, &force));
  for (int step = 0; step < 4000; step++) {
    REQUIRE_OK(gab_lbm_step(local.lbm));
    REQUIRE_OK(gab_lbm_step(kernel.lbm));
  }
  for (size_t b = 0; b < gab_forest_block_count(local.forest); b++) {
    const gab_block *mine = gab_forest_block(local.forest, b), *other = gab_forest_block(kernel.forest, b);
    const gab_box all = {{0, 0, 0}, {WIDE / 2, HIGH / 2, 1}};
    const double half = ldexp(0.5 * pushed, -gab_block_level(local.forest, mine));
    double u[WIDE / 2 * HIGH / 2 * 3], u_kernel[WIDE / 2 * HIGH / 2 * 3], density[WIDE / 2 * HIGH / 2];
    REQUIRE(gab_block_get_id(mine) == gab_block_get_id(other));
    REQUIRE_OK(gab_lbm_macroscopic(local.lbm, mine, &all, density, u));
    REQUIRE_OK(gab_lbm_macroscopic(kernel.lbm, other, &all, NULL, u_kernel));
    for (int i = 0; i < WIDE / 2 * HIGH / 2; i++) {
      most[0] = fmax(most[0], fabs(u[3 * i] - half / density[i] - u_kernel[3 * i]));
      most[1] = fmax(most[1], u_kernel[3 * i]);
    }
  }
  drop(&local);
  drop(&kernel);
  REQUIRE_OK(gab_world_max_f64(world, most, 2));
  return most[0] / most[1];
}

/* The kernels have the product of velocity and force in addition. */
static void refined_channels(gab_world *world)
{
  const double fast = refined_channel(world);
  pushed /= 10;
  const double slow = refined_channel(world);
  pushed *= 10;
  CHECK(fast < 1e-4);
  CHECK(slow < 0.15 * fast);
}

static void by_place(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                     double *const force[3])
{
  const gab_forest *forest = user;
  const gab_box cells = gab_block_cells(forest, block);
  for (int32_t i = 0; i < count; i++) {
    force[0][i] = 1e-6 * (double)(cells.lo[0] + first[0] + i);
    force[1][i] = 1e-6 * (double)(cells.lo[1] + first[1]);
  }
}

static void box_gets_its_momentum(gab_world *world, int dimension)
{
  flow it = make(world, dimension, "in_place", false, false, 0);
  const gab_local_force force = {"a push", it.forest, by_place};
  const double layers = dimension == 3 ? 8 : 1;
  REQUIRE_OK(gab_lbm_set_local_force(it.lbm, &force));
  for (int step = 1; step <= 4; step++) {
    gab_lbm_integrals found;
    if (step == 4) REQUIRE_OK(gab_lbm_set_local_force(it.lbm, NULL)); /* the momentum stays */
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &found));
    const double steps = step < 4 ? step : 3, x = steps * 1e-6 * layers * HIGH * WIDE * (WIDE - 1) / 2,
                 y = steps * 1e-6 * layers * WIDE * HIGH * (HIGH - 1) / 2;
    CHECK(fabs(found.momentum[0] / x - 1) < 1e-11 && fabs(found.momentum[1] / y - 1) < 1e-11);
    CHECK(fabs(found.mass / (layers * HIGH * WIDE) - 1) < 1e-14);
  }
  drop(&it);
}

static void refined_box_gets_its_momentum(gab_world *world, int dimension)
{
  flow it = make(world, dimension, "in_place", false, true, 0);
  const gab_local_force force = {"a push", NULL, along_x};
  const double layers = dimension == 3 ? 8 : 1;
  REQUIRE_OK(gab_lbm_set_local_force(it.lbm, &force));
  for (int step = 1; step <= 20; step++) {
    gab_lbm_integrals found;
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &found));
    CHECK(fabs(found.momentum[0] / (step * pushed * layers * HIGH * WIDE) - 1) < 1e-11);
    CHECK(fabs(found.mass / (layers * HIGH * WIDE) - 1) < 1e-13);
  }
  drop(&it);
}

static void is_refused(gab_world *world)
{
  const gab_local_force force = {"a push", NULL, along_x};
  flow it = make(world, 2, "in_place", false, false, 0);
  REQUIRE(gab_lbm_set_local_force(it.lbm, &(gab_local_force){.name = "nothing"}) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_lbm_exchange_start(it.lbm));
  REQUIRE(gab_lbm_set_local_force(it.lbm, &force) == GAB_ERR_STATE);
  REQUIRE_OK(gab_lbm_exchange_finish(it.lbm));
  REQUIRE(gab_lbm_set_local_force(it.lbm, &force) == GAB_ERR_STATE);
  REQUIRE_OK(gab_lbm_collide(it.lbm));
  REQUIRE_OK(gab_lbm_set_local_force(it.lbm, &force));
  drop(&it);
  it = make(world, 2, "auto", false, false, 0);
  REQUIRE(gab_lbm_set_local_force(it.lbm, &force) == GAB_ERR_ARGUMENT);
  REQUIRE(strstr(gab_error_message(), "in_place"));
  drop(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint64_t expected = channel(world, "reference", false);
  CHECK(channel(world, "in_place", false) == expected);
  CHECK(channel(world, "in_place", true) == expected);
  CHECK(channel(world, "vector", false) == expected);
  refined_channels(world);
  for (int dimension = 2; dimension <= 3; dimension++) {
    box_gets_its_momentum(world, dimension);
    refined_box_gets_its_momentum(world, dimension);
  }
  is_refused(world);
  return test_end(&world);
}
