/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2 quick=2 timeout=60 */
/* The perforated walls of the tutorial apps/tutorial/flow.c have their documented impedance: a sound wave of normal
 * incidence is reflected with (Z - 1) / (Z + 1) of its pressure: fully at a wall without holes, not at all for Z = 1,
 * and with the other sign for less, at either side. */
#define main flow_main /* that of the tutorial, of which this test is the other user */
int flow_main(int argc, char **argv);
#include "apps/tutorial/flow.c"
#undef main

#include "tests/mpi_test.h"

enum {
  HEIGHT = 320,
  WIDTH = 4,
  BACK = 555
}; /* steps in which sound gets from the middle to a wall and back */

/* A wave of a thousandth of the pressure that goes to one side. */
static void one_wave(void *user, const double centre[3], gab_lbm_state *state)
{
  const double from = (centre[1] - HEIGHT / 2) / 12, high = 1e-3 * exp(-from * from / 2);
  state->density = 1 + high;
  state->velocity[1] = *(const double *)user * high / sqrt(3);
}

/* The reflected share. The area below a wave does not change as it gets wider. */
static double reflected(gab_world *world, double impedance, double direction)
{
  const gab_forest_options grid = {.grid = {.dimension = 2, .roots = {1, 8, 1}},
                                   .cells = {WIDTH, HEIGHT / 8, 1},
                                   .periodic = {true},
                                   .dx = 1};
  const gab_side side = {.kind = GAB_SIDE_OWN, .own = &sheet, .numbers = {impedance}};
  const gab_lbm_options flow = {
      .omega = 1.9, .initial = one_wave, .initial_user = &direction, .sides = {{0}, {0}, side, side}};
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_integrals before, after;
  REQUIRE_OK(gab_forest_create(world, &grid, &forest));
  REQUIRE_OK(gab_lbm_create(forest, NULL, &flow, &lbm));
  REQUIRE_OK(gab_balance_initial(forest, NULL, NULL));
  REQUIRE_OK(gab_lbm_integrate(lbm, false, &before));
  for (int step = 0; step < BACK; step++) REQUIRE_OK(gab_lbm_step(lbm));
  REQUIRE_OK(gab_lbm_integrate(lbm, false, &after));
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
  return (after.mass - HEIGHT * WIDTH) / (before.mass - HEIGHT * WIDTH);
}

int main(int argc, char **argv)
{
  static const double impedances[] = {1e300, 3, 1, 0.5};
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (int direction = -1; direction <= 1; direction += 2)
    for (int i = 0; i < 4; i++) {
      const double z = impedances[i], expected = i == 0 ? 1 : (z - 1) / (z + 1);
      const double got = reflected(world, z, direction);
      CHECK(fabs(got - expected) < (i == 0 ? 1e-9 : 2e-3));
    }
  return test_end(&world);
}
