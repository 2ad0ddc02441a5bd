/* gabion-test: np=1,2 timeout=60 labels=quick */
/* A local force (lbm/step/local_force.h): a channel driven by it has the exact parabola of Poiseuille, with all dense kernels
 * and to the same bits; a force that differs from cell to cell gives a box its momentum and no mass, in the plane and in space,
 * after odd and even steps; where it cannot act it is refused and has changed nothing. */
#include "lbm/step/local_force.h"

#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <math.h>

enum { WIDE = 8, HIGH = 16 };

typedef struct flow {
  gab_forest *forest;
  gab_lbm *lbm;
} flow;

static const double pushed = 1e-5, omega = 1.25;

static flow make(gab_world *world, int dimension, const char *kernel, bool walls)
{
  const int32_t deep = dimension == 3;
  const gab_forest_options grid = {.grid = {dimension, {2, 2, deep ? 2 : 1}},
                                   .cells = {WIDE / 2, HIGH / 2, deep ? 4 : 1},
                                   .periodic = {true, !walls, deep},
                                   .dx = 1};
  const gab_side wall = {.kind = walls ? GAB_SIDE_WALL : GAB_SIDE_PERIODIC};
  const gab_lbm_options options = {.omega = omega, .kernel = kernel, .sides = {{0}, {0}, wall, wall}};
  flow made;
  REQUIRE_OK(gab_forest_create(world, &grid, &made.forest));
  REQUIRE_OK(gab_lbm_create(made.forest, NULL, &options, &made.lbm));
  REQUIRE_OK(gab_balance_initial(made.forest, NULL, NULL));
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

static uint64_t channel(gab_world *world, const char *kernel)
{
  const gab_local_force force = {"a push", NULL, along_x};
  const double viscosity = (1 / omega - 0.5) / 3;
  flow it = make(world, 2, kernel, true);
  uint64_t checksum;
  for (int step = 0; step < 12001; step++) {
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_apply_local_force(it.lbm, &force));
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
  flow it = make(world, dimension, "in_place", false);
  const gab_local_force force = {"a push", it.forest, by_place};
  const double layers = dimension == 3 ? 8 : 1;
  for (int step = 1; step <= 3; step++) {
    gab_lbm_integrals found;
    REQUIRE_OK(gab_lbm_step(it.lbm));
    REQUIRE_OK(gab_lbm_apply_local_force(it.lbm, &force));
    REQUIRE_OK(gab_lbm_integrate(it.lbm, false, &found));
    const double x = step * 1e-6 * layers * HIGH * WIDE * (WIDE - 1) / 2,
                 y = step * 1e-6 * layers * WIDE * HIGH * (HIGH - 1) / 2;
    CHECK(fabs(found.momentum[0] / x - 1) < 1e-11 && fabs(found.momentum[1] / y - 1) < 1e-11);
    CHECK(fabs(found.mass / (layers * HIGH * WIDE) - 1) < 1e-14);
  }
  drop(&it);
}

static void is_refused(gab_world *world)
{
  uint64_t before, after;
  const gab_local_force force = {"a push", NULL, along_x};
  flow it = make(world, 2, "in_place", false);
  REQUIRE_OK(gab_forest_checksum(it.forest, &before));
  REQUIRE(gab_lbm_apply_local_force(it.lbm, &(gab_local_force){.name = "nothing"}) == GAB_ERR_ARGUMENT);
  REQUIRE_OK(gab_lbm_exchange_start(it.lbm));
  REQUIRE(gab_lbm_apply_local_force(it.lbm, &force) == GAB_ERR_STATE);
  REQUIRE_OK(gab_lbm_exchange_finish(it.lbm));
  REQUIRE(gab_lbm_apply_local_force(it.lbm, &force) == GAB_ERR_STATE);
  REQUIRE_OK(gab_forest_checksum(it.forest, &after));
  REQUIRE(before == after);
  REQUIRE_OK(gab_lbm_collide(it.lbm));
  REQUIRE_OK(gab_lbm_apply_local_force(it.lbm, &force));
  drop(&it);
  it = make(world, 2, "sparse", false);
  REQUIRE(gab_lbm_apply_local_force(it.lbm, &force) == GAB_ERR_STATE);
  REQUIRE(strstr(gab_error_message(), "in_place"));
  drop(&it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const uint64_t expected = channel(world, "reference");
  CHECK(channel(world, "in_place") == expected);
  CHECK(channel(world, "vector") == expected);
  box_gets_its_momentum(world, 2);
  box_gets_its_momentum(world, 3);
  is_refused(world);
  return test_end(&world);
}
